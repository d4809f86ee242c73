//! Which arrivals are one thread's, and when is its next one due?

use super::ramp::{Ramp, ramps};
use crate::random::Prng;
use model::{Curve, Nanos, Spacing};

/// One thread's share of a schedule's arrivals, in the order of time.
///
/// Thread k of T takes arrivals k, k+T, k+2T, …; all threads together take the same arrivals for every T. Nothing is
/// allocated after `new`; the cost of an arrival is one inversion of the curve and, for Poisson, T logarithms.
#[derive(Clone, Debug)]
pub struct Arrivals {
    ramps: Box<[Ramp]>,
    /// The ramp that holds the next arrival; its predecessors are done.
    at: usize,
    threads: u64,
    place: Place,
    next: Option<Nanos>,
}

/// Where the next arrival lies.
#[derive(Clone, Debug)]
enum Place {
    /// As a number, counted from the first arrival of ramp `at`.
    Even { n: u64 },
    /// As a value of the curve's integral, counted from the begin of ramp `at`: a Poisson process of intensity 1,
    /// which the inverse of the integral stretches to one of the curve's.
    Poisson { area: f64, chance: Prng },
}

impl Arrivals {
    /// The arrivals of thread `part.0` of `part.1`, by moments since the schedule's begin. `seed` decides Poisson's
    /// chance and must be the same in all threads.
    pub fn new(curve: &Curve, spacing: Spacing, seed: u64, part: (u32, u32)) -> Arrivals {
        let (thread, threads) = (u64::from(part.0), u64::from(part.1));
        assert!(thread < threads, "threads are counted from 0");
        let place = match spacing {
            Spacing::Even => Place::Even { n: 0 },
            Spacing::Poisson => Place::Poisson { area: 0.0, chance: Prng::seeded(seed) },
        };
        let mut all = Arrivals { ramps: ramps(curve).into(), at: 0, threads, place, next: None };
        all.step(match spacing {
            Spacing::Even => thread,
            Spacing::Poisson => thread + 1,
        });
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
            self.step(self.threads);
        }
    }

    /// Goes on by `n` arrivals of all threads.
    #[inline]
    fn step(&mut self, n: u64) {
        self.next = match &mut self.place {
            Place::Even { n: due } => {
                *due += n;
                loop {
                    let Some(ramp) = self.ramps.get(self.at) else { break None };
                    if *due < ramp.count() {
                        break Some(ramp.time_of(*due as f64));
                    }
                    *due -= ramp.count();
                    self.at += 1;
                }
            }
            Place::Poisson { area, chance } => 'found: {
                for _ in 0..n {
                    // One by one, so that the sums are rounded alike in every thread.
                    *area += exponential(chance);
                    loop {
                        let Some(ramp) = self.ramps.get(self.at) else { break 'found None };
                        if *area < ramp.area {
                            break;
                        }
                        *area -= ramp.area;
                        self.at += 1;
                    }
                }
                self.ramps.get(self.at).map(|ramp| ramp.time_of(*area))
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

/// Exponentially distributed with mean 1.
#[inline]
fn exponential(chance: &mut Prng) -> f64 {
    -(-chance.f64()).ln_1p()
}

#[cfg(test)]
mod tests;
