//! Merged arrivals of several schedules

use super::Arrivals;
use model::{ArrivalList, Nanos, Schedule, ScriptId, SplitMix64, Stream};
use std::sync::Arc;

/// One thread's share of all arrivals of a schedule, in time order.
///
/// Simultaneous arrivals are in the order of their schedules. Nothing is allocated after `new`.
#[derive(Clone, Debug)]
pub struct Streams {
    streams: Box<[(Arrivals, Option<ScriptId>)]>,
    /// Index of the stream with the next arrival.
    next: usize,
    /// Listed arrivals, instead of streams.
    listed: Option<ListedShare>,
}

/// One thread's share of listed arrivals.
#[derive(Clone, Debug)]
struct ListedShare {
    list: Arc<ArrivalList>,
    /// Number of the next arrival, and the distance to the one after it.
    next: usize,
    step: usize,
}

/// Arrival relative to the schedule's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrival {
    pub at: Nanos,
    /// Script; `None` if it is drawn by weight.
    pub script: Option<ScriptId>,
    /// Row of the script's feed; `None` if it is drawn.
    pub row: Option<u64>,
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
        let mut listed = None;
        let each: Vec<_> = match schedule {
            Schedule::Closed { .. } | Schedule::Users(_) | Schedule::Recorded { .. } => return None,
            Schedule::Listed(list) => {
                let (next, step) = (k as usize, threads as usize);
                listed = Some(ListedShare { list: Arc::clone(list), next, step });
                Vec::new()
            }
            Schedule::Open { curve, spacing } => {
                vec![(Arrivals::new(curve, *spacing, seed, (k, threads)), None)]
            }
            Schedule::Streams(streams) => streams.iter().enumerate().map(|(n, it)| arrivals(n, it)).collect(),
        };
        let mut all = Streams { streams: each.into(), next: 0, listed };
        all.select_next();
        Some(all)
    }

    /// Next arrival; `None` after the last one.
    #[inline]
    pub fn peek(&self) -> Option<Arrival> {
        if let Some(share) = &self.listed {
            let next = share.list.arrivals.get(share.next)?;
            return Some(Arrival { at: next.at, script: Some(next.script), row: Some(next.row.into()) });
        }
        let (arrivals, script) = self.streams.get(self.next)?;
        arrivals.peek().map(|at| Arrival { at, script: *script, row: None })
    }

    /// Removes the next arrival.
    #[inline]
    pub fn pop(&mut self) {
        if let Some(share) = &mut self.listed {
            share.next += share.step;
            return;
        }
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
    use model::{Curve, ListedArrival, PerSecond, Spacing};
    use proptest::prelude::*;

    fn stream(rate: f64, secs: u64, spacing: Spacing, script: Option<u16>) -> Stream {
        let duration = Nanos::from_secs(secs);
        let curve = Curve::Ramp { from: PerSecond(rate), to: PerSecond(rate), duration };
        Stream { curve, spacing, script: script.map(ScriptId) }
    }

    fn all(schedule: &Schedule, threads: u16) -> Vec<Arrival> {
        let mut all = Vec::new();
        for k in 0..threads {
            let mut streams = Streams::new(schedule, 3, (k, threads)).expect("arrivals are scheduled");
            let mut last = Nanos::ZERO;
            while let Some(due) = streams.peek() {
                assert!(due.at >= last, "arrivals are in time order");
                last = due.at;
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
            let count = all.iter().filter(|it| it.script == Some(ScriptId(n))).count();
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
    fn listed_arrivals_keep_their_rows() {
        let arrival = |n: u32| ListedArrival {
            at: Nanos::from_millis(u64::from(n / 3)),
            row: 100 - n,
            script: ScriptId((n % 2) as u16),
        };
        let list = ArrivalList { duration: Nanos::from_secs(1), arrivals: (0..100).map(arrival).collect() };
        let schedule = Schedule::Listed(Arc::new(list));
        assert_eq!(schedule.duration(), Some(Nanos::from_secs(1)));
        let expected = all(&schedule, 1);
        assert_eq!(expected.len(), 100);
        assert!(expected.contains(&Arrival {
            at: Nanos::from_millis(33),
            script: Some(ScriptId(1)),
            row: Some(1)
        }));
        for threads in [2, 3, 7] {
            assert_eq!(all(&schedule, threads), expected);
        }
    }

    #[test]
    fn streams_use_independent_random_numbers() {
        let alike = Schedule::Streams(vec![stream(100.0, 10, Spacing::Poisson, None); 2]);
        let mut moments: Vec<Nanos> = all(&alike, 1).into_iter().map(|it| it.at).collect();
        let count = moments.len();
        moments.dedup();
        assert_eq!(moments.len(), count);
    }
}
