//! Length of a run, as far as it is known before the run

use experiment::Plan;
use model::Nanos;
use model::plan::Goal;

#[derive(Debug, PartialEq, Eq)]
pub struct RunLength {
    /// Number of trials of each cell; in a search, number of searches.
    pub repeat: u32,
    /// Number of trials; `None` if the number depends on results.
    pub trials: Option<usize>,
    /// Load time of one trial of each cell, including the warm-up and the ramp.
    pub durations: Vec<Nanos>,
    /// Load time of all trials. If their number depends on results, the load time of one trial of each cell per
    /// repetition.
    pub load: Nanos,
}

impl RunLength {
    pub fn new(plan: &Plan) -> RunLength {
        let experiment = &plan.experiment;
        // Without a search, these goals hold a level once in each cell.
        let holds_once = experiment.goal.max_search().is_none();
        let (repeat, trials, ramp) = match &experiment.goal {
            Goal::Confirm(confirm) if holds_once => (1, Some(experiment.cells.len()), confirm.ramp),
            Goal::Soak(_) if holds_once => (1, Some(experiment.cells.len()), Nanos::ZERO),
            _ => (experiment.repeat, experiment.trials(), Nanos::ZERO),
        };
        let durations: Vec<Nanos> = plan.durations.iter().map(|it| *it + ramp).collect();
        let once: u64 = durations.iter().map(|it| it.0).sum();
        RunLength { repeat, trials, durations, load: Nanos(once * u64::from(repeat)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check;
    use std::path::Path;

    #[test]
    fn computes_the_length_of_a_run() {
        let check = |goal: &str, load: &str, (trials, seconds): (Option<usize>, u64)| {
            let text = format!(
                "stack: {{ postgres: {{}} }}\noperations: {{ one: {{ sql: SELECT 1 }} }}\n{load}\n{goal}\n\
                 objectives: [ \"errors < 1%\" ]\nmatrix: {{ postgres.max_connections: [50, 60] }}\n"
            );
            let plan = check::plan(Path::new("a.yaml"), &text, &[], false).expect("the file is valid");
            let length = RunLength::new(&plan);
            assert_eq!((length.trials, length.load), (trials, Nanos::from_secs(seconds)), "{goal} {load}");
        };
        let open = "load: { model: open, max_in_flight: 4 }";
        let closed = "load: { model: closed, clients: 2, duration: 5s, warmup: 1s }";
        check("repeat: 3", closed, (Some(6), 36));
        check("find: { confirm: { level: 20, ramp: 10s, hold: 30s } }", open, (Some(2), 80));
        check("find: { soak: { level: 20, duration: 2h } }", open, (Some(2), 4 * 3600));
        check("find: { max: { from: 10, window: 5s } }", open, (None, 10));
        let share = "find: { confirm: { share: 100%, ramp: 10s, hold: 30s, max: { from: 10, window: 5s } } }";
        check(share, open, (None, 10));
    }
}
