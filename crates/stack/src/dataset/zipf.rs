//! Integers by Zipf's law

use model::SplitMix64;

/// Zipfian distribution of ranks 1..=n; rank k has the weight k⁻ˢ.
///
/// Rejection-inversion: W. Hörmann and G. Derflinger, "Rejection-inversion to generate variates from monotone discrete
/// distributions" (1996). A value takes about one draw for any `n` and `s`, and needs no table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Zipf {
    n: f64,
    s: f64,
    /// Integral of x⁻ˢ up to 1.5, minus the weight of rank 1.
    low: f64,
    /// Integral of x⁻ˢ up to n + 0.5.
    high: f64,
    /// Largest difference between rank and drawn value at which a draw is accepted without the rejection test.
    accept_below: f64,
}

impl Zipf {
    /// Creates the distribution. `n` ≥ 1 and `s` > 1; exact up to n = 2⁵³.
    pub fn new(n: u64, s: f64) -> Zipf {
        let n = n as f64;
        let mut zipf = Zipf { n, s, low: 0.0, high: 0.0, accept_below: 0.0 };
        zipf.low = zipf.integral(1.5) - 1.0;
        zipf.high = zipf.integral(n + 0.5);
        zipf.accept_below = 2.0 - zipf.inverse(zipf.integral(2.5) - 2f64.powf(-s));
        zipf
    }

    pub fn sample(&self, chance: &mut SplitMix64) -> u64 {
        loop {
            let area = self.high + chance.uniform() * (self.low - self.high);
            let x = self.inverse(area);
            let k = (x + 0.5).floor().clamp(1.0, self.n);
            if k - x <= self.accept_below || area >= self.integral(k + 0.5) - k.powf(-self.s) {
                return k as u64;
            }
        }
    }

    /// Returns (1 − x¹⁻ˢ) ÷ (s − 1), which increases with x.
    fn integral(&self, x: f64) -> f64 {
        (1.0 - x.powf(1.0 - self.s)) / (self.s - 1.0)
    }

    fn inverse(&self, area: f64) -> f64 {
        (1.0 - area * (self.s - 1.0)).powf(1.0 / (1.0 - self.s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::row_rng::row_rng;

    /// Tests the frequencies with χ² over the first ten ranks and the rest.
    #[test]
    fn frequencies_follow_zipf_law() {
        for (n, s) in [(100, 1.01), (1000, 1.2), (1_000_000, 1.5), (20, 3.0), (11, 1.001)] {
            let zipf = Zipf::new(n, s);
            let (draws, mut counts) = (200_000u64, [0u64; 11]);
            for row in 0..draws {
                let k = zipf.sample(&mut row_rng(7, row));
                assert!((1..=n).contains(&k), "{k} of {n}");
                counts[(k as usize - 1).min(10)] += 1;
            }
            let weight = |k: u64| (k as f64).powf(-s);
            let all: f64 = (1..=n).map(weight).sum();
            let share = |at: usize| match at {
                10 => (11..=n).map(weight).sum::<f64>() / all,
                _ => weight(at as u64 + 1) / all,
            };
            let deviation = |at: usize| {
                let expected = share(at) * draws as f64;
                (counts[at] as f64 - expected).powi(2) / expected
            };
            let chi2: f64 = (0..11).map(deviation).sum();
            // 29.59 is the 0.999 quantile of χ² with 10 degrees of freedom.
            assert!(chi2 < 29.59, "n {n}, s {s}: χ² {chi2:.1}, {counts:?}");
        }
    }

    #[test]
    fn single_rank_always_gives_one() {
        let zipf = Zipf::new(1, 1.5);
        assert!((0..100).all(|row| zipf.sample(&mut row_rng(1, row)) == 1));
    }
}
