//! Arrival times of one thread

use super::ramp::{Ramp, ramps};
use crate::random::Prng;
use model::{Curve, Nanos, Spacing};

/// One thread's share of a schedule's arrivals, in time order.
///
/// Thread k of T takes arrivals k, k+T, k+2T, …. For every T, all threads together take the same arrivals. Nothing is
/// allocated after `new`. An arrival costs about 10 ns; a Poisson arrival costs 20 ns, plus 3 ns per further thread.
#[derive(Clone, Debug)]
pub struct Arrivals {
    ramps: Box<[Ramp]>,
    /// Index of the ramp that contains the next arrival.
    ramp_index: usize,
    threads: u64,
    position: Position,
    next: Option<Nanos>,
}

/// Position of the next arrival.
#[derive(Clone, Debug)]
enum Position {
    /// Number of the arrival, counted from the first arrival of ramp `ramp_index`.
    Even { n: u64 },
    /// Poisson process over the integral of the rate curve.
    Poisson {
        process: PoissonProcess,
        /// Integral at the start of ramp `ramp_index`.
        begin: f64,
    },
}

impl Arrivals {
    /// Arrivals of thread `part.0` of `part.1`, as times since the schedule's start.
    ///
    /// `seed` determines the Poisson process and must be the same in all threads.
    pub fn new(curve: &Curve, spacing: Spacing, seed: u64, part: (u32, u32)) -> Arrivals {
        let (thread, threads) = (u64::from(part.0), u64::from(part.1));
        assert!(thread < threads, "threads are counted from 0");
        let (place, first) = match spacing {
            Spacing::Even => (Position::Even { n: 0 }, thread),
            Spacing::Poisson => {
                (Position::Poisson { process: PoissonProcess::new(seed), begin: 0.0 }, thread + 1)
            }
        };
        let mut all =
            Arrivals { ramps: ramps(curve).into(), ramp_index: 0, threads, position: place, next: None };
        all.advance(first);
        all
    }

    /// Time of the next arrival, relative to the schedule's start; `None` after the last arrival.
    #[inline]
    pub fn peek(&self) -> Option<Nanos> {
        self.next
    }

    /// Removes the next arrival.
    #[inline]
    pub fn pop(&mut self) {
        if self.next.is_some() {
            self.advance(self.threads);
        }
    }

    /// Skips `n` of the arrivals of all threads together.
    fn advance(&mut self, n: u64) {
        self.next = match &mut self.position {
            Position::Even { n: due } => {
                *due += n;
                loop {
                    let Some(ramp) = self.ramps.get(self.ramp_index) else { break None };
                    if *due < ramp.count {
                        break Some(ramp.time_of_arrival(*due as f64));
                    }
                    *due -= ramp.count;
                    self.ramp_index += 1;
                }
            }
            Position::Poisson { process, begin } => {
                let due = process.step(n);
                loop {
                    let Some(ramp) = self.ramps.get(self.ramp_index) else { break None };
                    if due < *begin + ramp.expected {
                        break Some(ramp.time_of_arrival(due - *begin));
                    }
                    *begin += ramp.expected;
                    self.ramp_index += 1;
                }
            }
        };
    }
}

impl Iterator for Arrivals {
    type Item = Nanos;

    fn next(&mut self) -> Option<Nanos> {
        let due = self.peek();
        self.pop();
        due
    }
}

/// Poisson process of intensity 1, transformed to the curve's rate by the inverse of the curve's integral.
///
/// The intervals are −ln of uniform numbers from (0, 1], so a sum of intervals is −ln of a product. A thread that takes
/// every T-th arrival thus needs one logarithm per arrival of its own. Products have a fixed number of factors, so that
/// sums are rounded identically for every T.
#[derive(Clone, Debug)]
struct PoissonProcess {
    rng: Prng,
    /// Sum at the end of the last complete block.
    sum: f64,
    /// Product of the current block's factors, and their number.
    product: f64,
    factor_count: u32,
}

impl PoissonProcess {
    /// Number of factors per block. The smallest factor is 2⁻⁵², so the smallest product is 2⁻⁸³². It does not
    /// underflow (limit 2⁻¹⁰²²).
    const BLOCK: u32 = 16;

    fn new(seed: u64) -> PoissonProcess {
        PoissonProcess { rng: Prng::seeded(seed), sum: 0.0, product: 1.0, factor_count: 0 }
    }

    /// Advances by `n` arrivals and returns the position of the last one.
    #[inline]
    fn step(&mut self, n: u64) -> f64 {
        for _ in 0..n {
            if self.factor_count == PoissonProcess::BLOCK {
                self.sum -= self.product.ln();
                (self.product, self.factor_count) = (1.0, 0);
            }
            self.product *= 1.0 - self.rng.f64();
            self.factor_count += 1;
        }
        self.sum - self.product.ln()
    }
}

#[cfg(test)]
mod tests;
