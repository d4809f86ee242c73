//! Which arrivals are one thread's, and when is its next one due?

use super::ramp::{Ramp, ramps};
use crate::random::Prng;
use model::{Curve, Nanos, Spacing};

/// One thread's share of a schedule's arrivals, in the order of time.
///
/// Thread k of T takes arrivals k, k+T, k+2T, …; all threads together take the same arrivals for every T. Nothing is
/// allocated after `new`. An arrival costs about 10 ns, a Poisson one 20 ns and 3 ns more for each further thread.
#[derive(Clone, Debug)]
pub struct Arrivals {
    ramps: Box<[Ramp]>,
    /// The ramp that holds the next arrival; its predecessors are done.
    ramp_index: usize,
    threads: u64,
    position: Position,
    next: Option<Nanos>,
}

/// Where the next arrival lies.
#[derive(Clone, Debug)]
enum Position {
    /// As a number, counted from the first arrival of ramp `at`.
    Even { n: u64 },
    /// As a value of the curve's integral.
    Poisson {
        process: PoissonProcess,
        /// The integral at the begin of ramp `at`.
        begin: f64,
    },
}

impl Arrivals {
    /// The arrivals of thread `part.0` of `part.1`, by moments since the schedule's begin. `seed` decides Poisson's
    /// chance and must be the same in all threads.
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

    /// When the next arrival is due, since the schedule's begin; `None` after the last.
    #[inline]
    pub fn peek(&self) -> Option<Nanos> {
        self.next
    }

    /// Takes the next arrival.
    #[inline]
    pub fn pop(&mut self) {
        if self.next.is_some() {
            self.advance(self.threads);
        }
    }

    /// Goes on by `n` arrivals of all threads.
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

/// A Poisson process of intensity 1, which the inverse of the curve's integral stretches to one of the curve's.
///
/// Its gaps are −ln of even numbers from (0, 1], so the sum of some gaps is −ln of a product: whoever wants only every
/// T-th arrival takes one logarithm for it. Products run over blocks of fixed length, so that all sums are rounded alike
/// for every T.
#[derive(Clone, Debug)]
struct PoissonProcess {
    rng: Prng,
    /// At the end of the last whole block.
    sum: f64,
    /// Of the current block, and its factors so far.
    product: f64,
    factor_count: u32,
}

impl PoissonProcess {
    /// The least factor is 2⁻⁵², so the least product is 2⁻⁸³²: no underflow (2⁻¹⁰²²).
    const BLOCK: u32 = 16;

    fn new(seed: u64) -> PoissonProcess {
        PoissonProcess { rng: Prng::seeded(seed), sum: 0.0, product: 1.0, factor_count: 0 }
    }

    /// Goes on by `n` arrivals; returns where the last of them lies.
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
