//! Durations of the trials of a search

use super::{SearchTrack, TrackedTrial};
use model::Nanos;
use model::plan::{LoadScale, MaxSearch};
use model::search::StepPurpose;

/// Target number of arrivals in a window, with the default precision. 1,000 independent arrivals would determine p99, but
/// the response times of consecutive arrivals are correlated.
const ARRIVALS: f64 = 5_000.0;
/// Largest factor by which a window is lengthened to reach `ARRIVALS`.
const WINDOW_FACTOR_MAX: u64 = 3;
/// Target number of arrivals and largest factor if some trial violated an objective, such as a p99. A window of 5,000
/// arrivals often misses the rare clusters of long response times, so half of its results are too optimistic. Longer
/// windows correct that; more windows do not.
const TAIL_WINDOW: (f64, u64) = (10_000.0, 6);
/// Duration that a window keeps if a coarse precision needs fewer arrivals. In an overloaded server, the queries of the
/// monitoring take seconds, and counters need several samples.
const SAMPLED_WINDOW: Nanos = Nanos::from_secs(10);
/// Number of arrivals below which a window is lengthened by a factor of up to `SHORT_WINDOW_FACTOR_MAX`.
const SHORT_WINDOW_ARRIVALS: f64 = 1_100.0;
const SHORT_WINDOW_FACTOR_MAX: u64 = 8;
/// Shortest window. In a shorter one, no whole second remains after its start, so nothing could be judged.
const WINDOW_MIN: Nanos = Nanos::from_secs(2);
/// Factor by which a window exceeds the one that would give an objective just enough samples, and largest factor by which
/// a window is lengthened for that.
const SAMPLES_MARGIN: f64 = 1.3;
const SAMPLES_FACTOR_MAX: u64 = 30;

impl SearchTrack<'_> {
    /// Duration of a rest: a quarter of the window, in whole seconds because schedules require them.
    pub fn rest(&self) -> Nanos {
        Nanos::from_secs(self.max.window.0.div_ceil(4 * Nanos::from_secs(1).0)).max(WINDOW_MIN)
    }

    /// Duration of a trial at `level`.
    pub fn window(&self, level: f64, stage: StepPurpose) -> Nanos {
        // After a successful long hold, further holds only check the state of the system.
        let held =
            |it: &TrackedTrial| it.stage == StepPurpose::Hold && it.level == level && it.held == Some(true);
        let long = stage == StepPurpose::Hold && !self.trials.iter().any(held);
        let planned = (if long { self.max.hold } else { self.max.window }).max(WINDOW_MIN);
        if stage == StepPurpose::Ramp {
            return planned;
        }
        let planned = planned.max(self.judged_window(level));
        if self.max.scale == LoadScale::Clients {
            return planned;
        }
        let window = |arrivals: f64, longest: u64| {
            Nanos::from_secs((arrivals / level).ceil() as u64).min(Nanos(self.max.window.0 * longest))
        };
        let (arrivals, longest) =
            if self.has_tail_objective() { TAIL_WINDOW } else { (ARRIVALS, WINDOW_FACTOR_MAX) };
        let share = (MaxSearch::DEFAULT.precision / self.max.precision).min(1.0);
        let precise = window(arrivals, longest);
        let coarse = window(arrivals * share, longest).max(precise.min(SAMPLED_WINDOW));
        planned.max(coarse).max(window(SHORT_WINDOW_ARRIVALS, SHORT_WINDOW_FACTOR_MAX))
    }

    /// Duration of a trial at `level` that has enough samples for all objectives, according to the trials that had too few.
    fn judged_window(&self, level: f64) -> Nanos {
        let seconds = |trial: &TrackedTrial| {
            let fewer = if self.max.scale == LoadScale::Rate { trial.level / level } else { 1.0 };
            trial.window.as_secs_f64() * trial.lacking * SAMPLES_MARGIN * fewer
        };
        let longest = self.trials.iter().filter(|it| it.lacking > 1.0).map(seconds).fold(0.0, f64::max);
        Nanos::from_secs(longest.ceil() as u64)
            .min(Nanos(self.max.window.max(WINDOW_MIN).0 * SAMPLES_FACTOR_MAX))
    }
}
