//! Merged arrivals of several schedules

use super::Arrivals;
use model::{Nanos, Schedule, ScriptId, SplitMix64, Stream};

/// One thread's share of all arrivals of a schedule, in time order.
///
/// Simultaneous arrivals are in the order of their schedules. Nothing is allocated after `new`.
#[derive(Clone, Debug)]
pub struct Streams {
    streams: Box<[(Arrivals, Option<ScriptId>)]>,
    /// Index of the stream with the next arrival.
    next: usize,
}

impl Streams {
    /// Share of thread `part.0` of `part.1`; `None` if arrivals are not scheduled.
    ///
    /// For every number of threads, all threads together take the same arrivals. `seed` is as in [`Arrivals::new`].
    pub fn new(schedule: &Schedule, seed: u64, part: (u16, u16)) -> Option<Streams> {
        let (k, threads) = (u32::from(part.0), u32::from(part.1));
        let arrivals = |n: usize, stream: &Stream| {
            // Assign the first arrivals of the streams to different threads, and use a separate random sequence for
            // each stream.
            let thread = (k as usize + n) % threads as usize;
            let seed = seed.wrapping_add((n as u64).wrapping_mul(SplitMix64::STEP));
            (Arrivals::new(&stream.curve, stream.spacing, seed, (thread as u32, threads)), stream.script)
        };
        let each: Vec<_> = match schedule {
            Schedule::Closed { .. } | Schedule::Users(_) | Schedule::Recorded { .. } => return None,
            Schedule::Open { curve, spacing } => {
                vec![(Arrivals::new(curve, *spacing, seed, (k, threads)), None)]
            }
            Schedule::Streams(streams) => streams.iter().enumerate().map(|(n, it)| arrivals(n, it)).collect(),
        };
        let mut all = Streams { streams: each.into(), next: 0 };
        all.select_next();
        Some(all)
    }

    /// Time of the next arrival, relative to the schedule's start, and its script (`None` if the script is drawn by
    /// weight). Returns `None` after the last arrival.
    #[inline]
    pub fn peek(&self) -> Option<(Nanos, Option<ScriptId>)> {
        let (arrivals, script) = self.streams.get(self.next)?;
        arrivals.peek().map(|at| (at, *script))
    }

    /// Removes the next arrival.
    #[inline]
    pub fn pop(&mut self) {
        if let Some((arrivals, _)) = self.streams.get_mut(self.next) {
            arrivals.pop();
        }
        if self.streams.len() > 1 {
            self.select_next();
        }
    }

    fn select_next(&mut self) {
        let due = |it: &(Arrivals, Option<ScriptId>)| it.0.peek().unwrap_or(Nanos::MAX);
        self.next = (0..self.streams.len()).min_by_key(|&n| due(&self.streams[n])).unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Curve, PerSecond, Spacing};
    use proptest::prelude::*;

    fn stream(rate: f64, secs: u64, spacing: Spacing, script: Option<u16>) -> Stream {
        let duration = Nanos::from_secs(secs);
        let curve = Curve::Ramp { from: PerSecond(rate), to: PerSecond(rate), duration };
        Stream { curve, spacing, script: script.map(ScriptId) }
    }

    fn all(schedule: &Schedule, threads: u16) -> Vec<(Nanos, Option<ScriptId>)> {
        let mut all = Vec::new();
        for k in 0..threads {
            let mut streams = Streams::new(schedule, 3, (k, threads)).expect("arrivals are scheduled");
            let mut last = Nanos::ZERO;
            while let Some(due) = streams.peek() {
                assert!(due.0 >= last, "arrivals are in time order");
                last = due.0;
                all.push(due);
                streams.pop();
            }
            streams.pop();
        }
        all.sort();
        all
    }

    #[test]
    fn each_operation_has_its_own_arrivals() {
        // Rates per second, each multiplied by three below.
        let rates = [10, 10, 6, 5, 1, 1, 1];
        let streams =
            rates.iter().zip(0..).map(|(it, n)| stream(f64::from(3 * it), 60, Spacing::Even, Some(n)));
        let all = all(&Schedule::Streams(streams.collect()), 2);
        for (n, rate) in (0..).zip(rates) {
            let count = all.iter().filter(|it| it.1 == Some(ScriptId(n))).count();
            assert_eq!(count, 60 * 3 * rate as usize, "operation {n}");
        }
    }

    #[test]
    fn arrivals_do_not_depend_on_thread_count() {
        let one = (0.0_f64..40.0, 0_u64..4, any::<bool>(), proptest::option::of(0_u16..5));
        proptest!(|(streams in proptest::collection::vec(one, 0..6), threads in 2_u16..9)| {
            let spacing = |even| if even { Spacing::Even } else { Spacing::Poisson };
            let streams = streams.into_iter().map(|(rate, secs, even, script)| stream(rate, secs, spacing(even), script));
            let schedule = Schedule::Streams(streams.collect());
            prop_assert_eq!(all(&schedule, threads), all(&schedule, 1));
        });
    }

    #[test]
    fn streams_use_independent_random_numbers() {
        let alike = Schedule::Streams(vec![stream(100.0, 10, Spacing::Poisson, None); 2]);
        let mut moments: Vec<Nanos> = all(&alike, 1).into_iter().map(|it| it.0).collect();
        let count = moments.len();
        moments.dedup();
        assert_eq!(moments.len(), count);
    }
}
