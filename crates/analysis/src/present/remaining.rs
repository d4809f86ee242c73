//! Estimate of the time until a run ends, including the set-up of its trials

use model::Nanos;

/// Part of a run after its current trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemainingTrials {
    pub trials: u32,
    /// Time under load of these trials.
    pub load: Nanos,
    /// Mean time of a completed trial without load: set-up and teardown. `None` before the first one.
    pub overhead: Option<Nanos>,
}

/// Progress of the current trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrialProgress {
    /// Planned time under load.
    pub load: Nanos,
    /// Time since the set-up began.
    pub elapsed: Nanos,
    /// Time since the load began; `None` during set-up.
    pub under_load: Option<Nanos>,
}

/// Estimated time until the run ends. `current` is `None` between trials.
///
/// As long as no trial is complete, the current trial's setup time so far is the estimate for the other trials.
pub fn remaining(current: Option<TrialProgress>, after: RemainingTrials) -> Nanos {
    let difference = |whole: Nanos, part: Nanos| Nanos(whole.0.saturating_sub(part.0));
    let set_up = |trial: TrialProgress| difference(trial.elapsed, trial.under_load.unwrap_or_default());
    let each = after.overhead.or(current.map(set_up)).unwrap_or_default();
    let current_rest = current.map_or(Nanos::ZERO, |trial| match trial.under_load {
        Some(elapsed) => difference(trial.load, elapsed),
        None => trial.load + difference(each, trial.elapsed),
    });
    current_rest + after.load + Nanos(each.0 * u64::from(after.trials))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn includes_the_set_up() {
        let seconds = Nanos::from_secs;
        let trial = |load, elapsed, under_load: Option<u64>| {
            Some(TrialProgress {
                load: seconds(load),
                elapsed: seconds(elapsed),
                under_load: under_load.map(seconds),
            })
        };
        for (current, trials, overhead, expected) in [
            // (load, since the set-up began, since the load began), trials of 10 s that follow, their set-up.
            (trial(10, 0, None), 0, None, 10),
            // The load has not begun, however long the set-up takes.
            (trial(10, 60, None), 0, None, 10),
            (trial(10, 60, None), 2, None, 10 + 2 * (10 + 60)),
            (trial(10, 64, Some(4)), 2, None, 6 + 2 * (10 + 60)),
            (trial(10, 2, None), 2, Some(5), 10 + 3 + 2 * (10 + 5)),
            (trial(10, 9, None), 2, Some(5), 10 + 2 * (10 + 5)),
            (trial(10, 9, Some(4)), 2, Some(5), 6 + 2 * (10 + 5)),
            (trial(10, 90, Some(80)), 0, Some(5), 0),
            (None, 2, Some(5), 30),
            (None, 0, None, 0),
        ] {
            let overhead = overhead.map(seconds);
            let after = RemainingTrials { trials, load: seconds(10 * u64::from(trials)), overhead };
            assert_eq!(remaining(current, after), seconds(expected), "{current:?} {after:?}");
        }
    }
}
