//! Contents of the servers' logs over the trials of a cell

use crate::facts::TrialFacts;
use model::server_log::{CellDeadlocks, CellLog, DeadlockGroup};
use std::cmp::Reverse;

/// Contents of the logs of each cell; cells without contents are left out. Counts cover all trials.
pub fn logs(trials: &[TrialFacts<'_>]) -> Vec<CellLog> {
    let cells = trials.iter().map(|it| it.cell + 1).max().unwrap_or(0);
    let log = |cell: usize| {
        let trials: Vec<&TrialFacts<'_>> = trials.iter().filter(|it| it.cell == cell).collect();
        CellLog { cell, deadlocks: deadlocks(&trials) }
    };
    (0..cells).map(log).filter(|it| *it != CellLog { cell: it.cell, ..CellLog::default() }).collect()
}

/// Deadlocks of a cell by their statements, the most frequent first. `trials` are in order of time.
pub fn deadlocks(trials: &[&TrialFacts<'_>]) -> Vec<CellDeadlocks> {
    let mut all: Vec<CellDeadlocks> = Vec::new();
    for trial in trials {
        for group in trial.deadlocks {
            match all.iter_mut().find(|it| it.group.is_like(group)) {
                Some(known) => known.group.merge(DeadlockGroup::clone(group)),
                None => {
                    all.push(CellDeadlocks { group: group.clone(), first_repetition: trial.repetition });
                }
            }
        }
    }
    all.sort_by_key(|it| Reverse(it.group.count));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::trial::{TestRun, experiment};
    use model::Nanos;

    fn group(statement: &str, count: u64, second: u64) -> DeadlockGroup {
        DeadlockGroup {
            node: "postgres".to_owned(),
            statements: vec![statement.to_owned(); 2],
            locks: vec![],
            relations: vec![],
            tuple: None,
            count,
            first: Nanos::from_secs(second),
        }
    }

    #[test]
    fn sums_deadlocks_over_trials() {
        let experiment = experiment(&["direct", "pooled"], None);
        let runs = [
            TestRun::new(1, 0).deadlocks(vec![group("a", 1, 5)]),
            TestRun::new(1, 1).deadlocks(vec![group("b", 3, 2), group("a", 1, 1)]),
            TestRun::new(1, 2).deadlocks(vec![group("a", 4, 7)]),
            TestRun::new(0, 0),
        ];
        let facts: Vec<TrialFacts<'_>> = runs.iter().map(|it| it.facts(&experiment)).collect();
        let shown: Vec<_> = logs(&facts)
            .into_iter()
            .flat_map(|log| log.deadlocks.into_iter().map(move |it| (log.cell, it)))
            .map(|(cell, it)| {
                (cell, it.group.statements[0].clone(), it.group.count, it.first_repetition, it.group.first.0 / 1_000_000_000)
            })
            .collect();
        assert_eq!(shown, [(1, "a".to_owned(), 6, 0, 5), (1, "b".to_owned(), 3, 1, 2)]);
    }
}
