//! Bounded sample of a sequence

use model::SplitMix64;

/// Uniform sample of a sequence whose length is unknown. Source: algorithm R, J. Vitter, "Random Sampling with a
/// Reservoir" (1985).
#[derive(Debug)]
pub(super) struct Reservoir<T> {
    rng: SplitMix64,
    capacity: usize,
    seen: u64,
    /// Elements with their positions in the sequence.
    kept: Vec<(u64, T)>,
}

impl<T> Reservoir<T> {
    pub fn new(capacity: usize, seed: u64) -> Reservoir<T> {
        Reservoir { rng: SplitMix64(seed), capacity, seen: 0, kept: Vec::new() }
    }

    pub fn add(&mut self, element: T) {
        let position = self.seen;
        self.seen += 1;
        if self.kept.len() < self.capacity {
            self.kept.push((position, element));
            return;
        }
        let place = self.rng.below(self.seen);
        if let Some(kept) = usize::try_from(place).ok().and_then(|place| self.kept.get_mut(place)) {
            *kept = (position, element);
        }
    }

    /// Elements in the order of the sequence.
    pub fn finish(mut self) -> Vec<T> {
        self.kept.sort_unstable_by_key(|kept| kept.0);
        self.kept.into_iter().map(|kept| kept.1).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(length: u64, capacity: usize, seed: u64) -> Vec<u64> {
        let mut reservoir = Reservoir::new(capacity, seed);
        (0..length).for_each(|element| reservoir.add(element));
        reservoir.finish()
    }

    #[test]
    fn keeps_short_sequences() {
        assert_eq!(sample(3, 5, 1), [0, 1, 2]);
        assert_eq!(sample(3, 0, 1), [] as [u64; 0]);
    }

    #[test]
    fn samples_uniformly_and_in_order() {
        let mut counts = [0u32; 100];
        for seed in 0..2_000 {
            let all = sample(100, 10, seed * 7_919);
            assert_eq!(all.len(), 10);
            assert!(all.is_sorted());
            all.iter().for_each(|element| counts[*element as usize] += 1);
        }
        // Each element is expected 200 times, with a standard deviation of 13.4.
        let (least, most) = (counts.iter().min(), counts.iter().max());
        assert!(least > Some(&140) && most < Some(&260), "{least:?} to {most:?}");
        assert_eq!(sample(100, 10, 7), sample(100, 10, 7));
    }
}
