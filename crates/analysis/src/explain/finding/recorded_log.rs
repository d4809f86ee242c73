//! Findings on loads of recorded requests: missing requests, and the recorded response times

use super::{CellTrials, Finding, TrialFacts};
use model::Nanos;
use model::plan::{LoadModel, RecordedTimes};

/// Maximum number of operations whose recorded response times are reported.
const OPERATIONS_MAX: usize = 10;

/// Findings on a cell with a load of recorded requests.
pub fn findings(cell: &CellTrials<'_>) -> Vec<Finding> {
    let LoadModel::Log { log, .. } = &cell.setup.load.model else { return Vec::new() };
    let (requests, missing) = (log.requests, log.missing.total());
    let is_measured = cell.trials.iter().any(|it| it.summary.is_some());
    let mut found = Vec::new();
    if missing > 0 && is_measured {
        let share = log.missing_share();
        found.push(Finding::RequestsMissing { cell: cell.number, requests, missing, share });
    }
    let mut times: Vec<&RecordedTimes> = log.times.iter().collect();
    times.sort_by_key(|it| std::cmp::Reverse(it.count));
    found.extend(times.into_iter().take(OPERATIONS_MAX).filter_map(|it| response_times(cell, it)));
    found
}

/// Recorded response times of an operation with those that were measured.
fn response_times(cell: &CellTrials<'_>, recorded: &RecordedTimes) -> Option<Finding> {
    let number = usize::from(recorded.operation);
    let measured = |trial: &&TrialFacts<'_>| {
        let response = &trial.valid()?.scripts.get(number)?.group.response;
        Some((response.p50?, response.p99))
    };
    let mut all: Vec<(Nanos, Option<Nanos>)> = cell.trials.iter().filter_map(measured).collect();
    all.sort();
    let (measured_p50, measured_p99) = *all.get(all.len().saturating_sub(1) / 2)?;
    Some(Finding::RecordedResponseTimes {
        cell: cell.number,
        operation: cell.setup.operations.get(number)?.name.clone(),
        count: recorded.count,
        recorded_p50: recorded.p50,
        recorded_p99: recorded.p99,
        measured_p50,
        measured_p99,
    })
}
