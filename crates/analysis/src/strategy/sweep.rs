//! Order of the trials of a run
//!
//! The order is a pure function of the seed and the number of completed trials, so an interrupted run resumes where it
//! stopped.

use model::SplitMix64;

/// One measurement of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedTrial {
    /// Index into the experiment's cells.
    pub cell: usize,
    /// Repetition, from 0.
    pub repetition: u32,
}

/// Order of `repeat` trials of every cell: all cells once in a random order, then all again in another order.
///
/// Cells are interleaved because a machine drifts. If all repetitions of a cell were consecutive, the drift would look
/// like a difference between cells.
#[derive(Clone, Debug)]
pub struct Sweep {
    order: Vec<PlannedTrial>,
}

impl Sweep {
    pub fn new(cells: usize, repeat: u32, seed: u64) -> Sweep {
        let mut rng = SplitMix64(seed);
        let order = (0..repeat).flat_map(|repetition| {
            let mut cells: Vec<usize> = (0..cells).collect();
            // Fisher–Yates shuffle.
            for last in (1..cells.len()).rev() {
                cells.swap(last, rng.below(last as u64 + 1) as usize);
            }
            cells.into_iter().map(move |cell| PlannedTrial { cell, repetition })
        });
        Sweep { order: order.collect() }
    }

    /// Trial to measure after `done` trials; `None` if all are completed.
    pub fn next(&self, done: usize) -> Option<PlannedTrial> {
        self.order.get(done).copied()
    }

    /// Total number of trials.
    pub fn trials(&self) -> usize {
        self.order.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(cells: usize, repeat: u32, seed: u64) -> Vec<(u32, usize)> {
        let sweep = Sweep::new(cells, repeat, seed);
        (0..sweep.trials()).filter_map(|it| sweep.next(it)).map(|it| (it.repetition, it.cell)).collect()
    }

    #[test]
    fn runs_every_cell_once_per_repetition() {
        for seed in 0..50 {
            let mut all = order(7, 5, seed);
            assert!(all.is_sorted_by_key(|it| it.0), "seed {seed}: repetitions follow each other");
            all.sort_unstable();
            let expected: Vec<(u32, usize)> = (0..5).flat_map(|r| (0..7).map(move |c| (r, c))).collect();
            assert_eq!(all, expected, "seed {seed}");
        }
        assert_eq!(order(1, 2, 1), [(0, 0), (1, 0)]);
    }

    #[test]
    fn the_seed_determines_the_order() {
        assert_eq!(order(9, 3, 42), order(9, 3, 42));
        assert_ne!(order(9, 3, 42), order(9, 3, 43));
        let repetitions = order(9, 2, 42);
        let cells = |r| repetitions.iter().filter(|it| it.0 == r).map(|it| it.1).collect::<Vec<_>>();
        assert_ne!(cells(0), cells(1));
    }

    #[test]
    fn every_position_is_equally_likely() {
        let mut first = [0u32; 5];
        (0..5000).for_each(|seed| first[order(5, 1, seed)[0].1] += 1);
        // Binomial: 1000 ± 28; the limits are five standard deviations.
        assert!(first.iter().all(|&it| (860..1140).contains(&it)), "{first:?}");
    }
}
