//! Feeds: rows from which each transaction draws one
//!
//! Cyclic orders are striped over the threads: thread k of T makes draws k, k+T, …, so that all threads together draw the
//! same rows for every number of threads and agents, and share no counter. Only a feed that is drawn once has a counter,
//! which the threads of one process share.

use crate::random::{Prng, permute, zipfian};
use model::row_table::{Fields, Rows};
use std::sync::atomic::{AtomicU64, Ordering};

/// Rows and the order in which they are drawn.
#[derive(Debug)]
pub struct Feed {
    pub rows: Rows,
    pub order: DrawOrder,
    /// Number of draws of this process so far, for a single pass.
    draws: AtomicU64,
    /// Number of this process and number of all processes that draw in a single pass: process m of N makes draws m, m+N,
    /// ….
    process: (u64, u64),
}

/// Draws of one thread from one feed: its next draw, and the distance to the one after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawSequence {
    next: u64,
    step: u64,
}

impl DrawSequence {
    /// Draws of thread `part.0` of `part.1`.
    pub fn new(part: (u16, u16)) -> DrawSequence {
        DrawSequence { next: part.0.into(), step: part.1.into() }
    }

    #[inline]
    fn advance(&mut self) -> u64 {
        let draw = self.next;
        self.next += self.step;
        draw
    }
}

/// Order in which rows are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DrawOrder {
    /// Cyclic: from the first row to the last, then again from the first.
    Sequential,
    /// Permuted: every row once in an order derived from the seed, then every row again in another order.
    Shuffled { seed: i64 },
    /// Uniformly random, from the client's generator.
    Random,
    /// Zipfian distribution: rows with low numbers are drawn more often, as by `random_zipfian`. The parameter `s` is
    /// in [`crate::random::ZIPFIAN_MIN`]..=1000.
    Zipfian { s: f64 },
    /// Always the same row.
    Fixed { row: u64 },
    /// Single pass: from the first row to the last; then the feed is exhausted.
    Once,
}

impl Feed {
    /// Feed of `rows`, which must have at least one row and fewer than 2⁶³ rows.
    pub fn new(rows: Rows, order: DrawOrder) -> Feed {
        assert!(!rows.is_empty() && i64::try_from(rows.len()).is_ok(), "a feed has rows");
        Feed { rows, order, draws: AtomicU64::new(0), process: (0, 1) }
    }

    /// Leaves only the share of process `part.0` of `part.1` for a single pass. Other orders are striped over threads.
    pub fn with_process(self, part: (u16, u16)) -> Feed {
        Feed { process: (part.0.into(), part.1.into()), ..self }
    }

    /// Evenly spaced sample of at most a thousand rows.
    pub fn sample(&self) -> impl Iterator<Item = Fields<'_>> {
        let rows = self.rows.len();
        (0..rows.min(1000)).map(move |n| {
            self.rows.row((u128::from(n) * u128::from(rows) / u128::from(rows.min(1000))) as u64)
        })
    }

    /// Draws a row number for a thread; `None` if no row is left.
    #[inline]
    pub fn draw(&self, thread: &mut DrawSequence, rng: &mut Prng) -> Option<u64> {
        let rows = self.rows.len();
        match self.order {
            DrawOrder::Sequential => Some(thread.advance() % rows),
            DrawOrder::Shuffled { seed } => {
                let drawn = thread.advance();
                let round = (drawn / rows) as i64;
                Some(permute((drawn % rows) as i64, rows as i64, seed.wrapping_add(round)) as u64)
            }
            DrawOrder::Random => Some(rng.u64_range(0, rows - 1)),
            DrawOrder::Zipfian { s } => {
                let rank = zipfian(rng, 1, rows as i64, s)
                    .expect("the parameter was checked, the range is 1 or more");
                Some(rank as u64 - 1)
            }
            DrawOrder::Fixed { row } => Some(row),
            DrawOrder::Once => {
                // Relaxed ordering suffices, because draws must be distinct but need no order.
                let drawn = self.draws.fetch_add(1, Ordering::Relaxed);
                let (process, step) = self.process;
                Some(process + drawn * step).filter(|it| *it < rows)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::row_table::{RowFormat, RowLayout};
    use std::sync::Arc;

    fn feed(rows: u64, order: DrawOrder) -> Feed {
        let mut layout = RowLayout::new(RowFormat::Packed, vec!["it".into()]);
        (0..rows).for_each(|n| layout.push(4 * n));
        Feed::new(Rows::new(Arc::new(vec![0; 4 * rows as usize]), layout), order)
    }

    fn draws(feed: &Feed, count: usize) -> Vec<Option<u64>> {
        let mut rng = Prng::seeded(7);
        let mut sequence = DrawSequence::new((0, 1));
        (0..count).map(|_| feed.draw(&mut sequence, &mut rng)).collect()
    }

    #[test]
    fn threads_and_processes_draw_the_same_rows_as_one() {
        for order in [DrawOrder::Sequential, DrawOrder::Shuffled { seed: 3 }] {
            let feed = feed(10, order);
            for threads in [1_u16, 2, 3, 7] {
                let mut rng = Prng::seeded(7);
                let mut sequences: Vec<_> = (0..threads).map(|k| DrawSequence::new((k, threads))).collect();
                let drawn: Vec<_> =
                    (0..42).map(|n| feed.draw(&mut sequences[n % usize::from(threads)], &mut rng)).collect();
                assert_eq!(drawn, draws(&feed, 42), "{order:?} with {threads} threads");
            }
        }
        let processes = [0, 1, 2].map(|m| feed(10, DrawOrder::Once).with_process((m, 3)));
        let mut drawn: Vec<u64> = processes.iter().flat_map(|it| draws(it, 10)).flatten().collect();
        assert_eq!(drawn[..4], [0, 3, 6, 9]);
        drawn.sort_unstable();
        assert_eq!(drawn, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn draws_sequentially_and_once() {
        assert_eq!(draws(&feed(3, DrawOrder::Sequential), 5), [0, 1, 2, 0, 1].map(Some));
        assert_eq!(draws(&feed(2, DrawOrder::Once), 4), [Some(0), Some(1), None, None]);
        assert_eq!(draws(&feed(3, DrawOrder::Fixed { row: 1 }), 2), [Some(1); 2]);
    }

    #[test]
    fn each_shuffle_holds_every_row() {
        let shuffled = |seed| draws(&feed(100, DrawOrder::Shuffled { seed }), 200);
        let (all, other) = (shuffled(1), shuffled(2));
        let (first, second) = all.split_at(100);
        for round in [first, second] {
            let mut sorted: Vec<u64> = round.iter().map(|it| it.expect("there is no end")).collect();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..100).collect::<Vec<_>>());
        }
        assert!(first != second && all != other && all == shuffled(1));
    }

    #[test]
    fn random_draws_stay_within_rows() {
        let random = draws(&feed(10, DrawOrder::Random), 10_000);
        let count = |all: &[Option<u64>], row| all.iter().filter(|it| **it == Some(row)).count();
        assert!((0..10).all(|row| (850..1150).contains(&count(&random, row))));
        let zipf = draws(&feed(10, DrawOrder::Zipfian { s: 1.2 }), 10_000);
        assert!((0..9).all(|row| count(&zipf, row) > count(&zipf, row + 1)) && count(&zipf, 9) > 0);
    }

    #[test]
    fn threads_never_draw_the_same_row_twice() {
        let feed = feed(40_000, DrawOrder::Once);
        let mut drawn: Vec<u64> = std::thread::scope(|scope| {
            let draw_rows = || draws(&feed, 15_000).into_iter().flatten().collect::<Vec<_>>();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(draw_rows)).collect();
            threads.into_iter().flat_map(|it| it.join().expect("the thread does not panic")).collect()
        });
        drawn.sort_unstable();
        assert_eq!(drawn, (0..40_000).collect::<Vec<_>>());
    }
}
