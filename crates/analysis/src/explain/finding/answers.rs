//! Findings on responses that suggest error pages or missing rows

use super::{CellTrials, Finding, TrialFacts};
use crate::facts::sizes::{SizeSeries, is_mostly_smaller, populations};
use model::finding::SizeChange;
use model::plan::{OperationKind, Setup};
use model::{EmptyStatement, ReplayFigures, SizeHistogram};

/// Findings on drops in the response sizes of a cell, and on response sizes that form two groups.
pub fn size_changes(cell: &CellTrials<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for place in requests_with_answers(cell) {
        let courses =
            || cell.trials.iter().filter_map(|trial| trial.answers.iter().find(|it| request_id(it) == place));
        let fall = courses().find_map(SizeSeries::find_fall);
        let change = match fall {
            Some(drop) => Some((
                SizeChange::Fell { before_bytes: drop.before, after_bytes: drop.after, second: drop.second },
                drop.share,
            )),
            // Responses to a replayed log are compared with the recorded responses instead.
            None if is_replayed(cell, place.0) => None,
            None => populations(&total_sizes(&cell.trials, place)).map(|groups| {
                let (small_bytes, large_bytes) = (groups.small, groups.large);
                (SizeChange::TwoPopulations { small_bytes, large_bytes }, groups.share)
            }),
        };
        found.extend(change.map(|(change, share)| finding(cell, place, change, share)));
    }
    found
}

/// True if the operation replays a log that records response sizes.
fn is_replayed(cell: &CellTrials<'_>, operation: u16) -> bool {
    let mut figures = cell.trials.iter().flat_map(|trial| trial.replayed);
    figures.any(|it| it.operation == operation && it.sized > 0)
}

/// Findings on cells whose responses are much smaller than the responses to the same requests in another cell.
pub fn sizes_compared_with_other_cells(cells: &[CellTrials<'_>]) -> Vec<Finding> {
    let mut found = Vec::new();
    for cell in cells {
        for place in requests_with_answers(cell) {
            let sizes = total_sizes(&cell.trials, place);
            let smaller = |other: &&CellTrials<'_>| {
                sends_same_requests(cell.setup, other.setup)
                    && is_mostly_smaller(&sizes, &total_sizes(&other.trials, place))
            };
            let Some(other) = cells.iter().filter(|it| it.number != cell.number).find(smaller) else {
                continue;
            };
            let other_median = total_sizes(&other.trials, place).quantile(0.5);
            let (Some(bytes), Some(other_bytes)) = (sizes.quantile(0.5), other_median) else { continue };
            let change = SizeChange::SmallerThan { other_cell: other.number, bytes, other_bytes };
            found.push(finding(cell, place, change, 1.0));
        }
    }
    found
}

/// Minimum number of responses for a comparison with the recorded responses.
const REPLAYED_MIN: u64 = 200;
/// Smallest reported share of responses whose size differs from the recorded size.
const OTHER_SIZE: f64 = 0.25;
const OTHER_STATUS: f64 = 0.05;

/// Findings on operations whose responses differ from the recorded responses.
pub fn recorded_answers(cell: &CellTrials<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let all = || cell.trials.iter().flat_map(|it| it.replayed);
    for (number, operation) in (0..).zip(&cell.setup.operations) {
        let sum = |count: fn(&ReplayFigures) -> u64| -> u64 {
            all().filter(|it| it.operation == number).map(count).sum()
        };
        let Some(most) = all().filter(|it| it.operation == number).max_by_key(|it| it.sized) else {
            continue;
        };
        let answers = sum(|it| it.answers);
        if operation.kind.is_recorded() {
            found.extend(diverged(
                cell,
                &operation.name,
                [
                    answers,
                    sum(|it| it.failed),
                    sum(|it| it.succeeded),
                    sum(|it| it.other_status.saturating_sub(it.failed + it.succeeded)),
                    sum(|it| it.smaller),
                    sum(|it| it.larger),
                ],
            ));
            continue;
        }
        let (bytes, recorded_bytes) = (most.measured, most.recorded);
        let share = |part: u64, count: u64, share_min: f64| {
            let share = part as f64 / count as f64;
            (count >= REPLAYED_MIN && share >= share_min).then_some(share)
        };
        let sized = sum(|it| it.sized);
        let changes = [
            (sum(|it| it.smaller), SizeChange::SmallerThanRecorded { bytes, recorded_bytes }),
            (sum(|it| it.larger), SizeChange::LargerThanRecorded { bytes, recorded_bytes }),
        ];
        for (differing, change) in changes {
            let share = share(differing, sized, OTHER_SIZE);
            found.extend(share.map(|share| finding(cell, (number, 0), change, share)));
        }
        let other = share(sum(|it| it.other_status), answers, OTHER_STATUS);
        found.extend(other.map(|share| Finding::RecordedStatus {
            cell: cell.number,
            operation: operation.name.clone(),
            count: answers,
            share,
        }));
    }
    if found.is_empty() && cell.setup.load.is_recorded() {
        let sum = |count: fn(&ReplayFigures) -> u64| -> u64 { all().map(count).sum() };
        let (results, with_rows) = (sum(|it| it.answers), sum(|it| it.sized));
        // Requests that were not sent, or whose connection broke, have no result.
        let summaries = cell.trials.iter().filter_map(|it| it.summary);
        let requests: u64 = summaries.map(|it| it.total.counts.arrivals()).sum();
        let finding = Finding::ReplayAsRecorded { cell: cell.number, results, with_rows };
        // A transaction has one or more requests, so that it has all results only if it has not failed.
        let summaries = cell.trials.iter().filter_map(|it| it.summary);
        let failed: u64 = summaries.map(|it| it.total.counts.arrivals() - it.total.counts.ok).sum();
        let is_complete = results >= requests && (failed == 0 || cell.setup.load.traffic.is_none());
        found.extend((results > 0 && is_complete).then_some(finding));
    }
    found
}

/// Finding on a replayed statement if any of its results differs from the recorded result.
fn diverged(cell: &CellTrials<'_>, operation: &str, counts: [u64; 6]) -> Option<Finding> {
    let [results, failed, succeeded, other_errors, fewer_rows, more_rows] = counts;
    (counts[1..].iter().sum::<u64>() > 0).then(|| Finding::ReplayDiverged {
        cell: cell.number,
        operation: operation.to_owned(),
        results,
        failed,
        succeeded,
        other_errors,
        fewer_rows,
        more_rows,
    })
}

/// Findings on statements that return no rows, each with the trial in which the statement returned no rows most often.
pub fn empty_statements(cell: &CellTrials<'_>) -> Vec<Finding> {
    let mut all: Vec<EmptyStatement> = cell
        .trials
        .iter()
        .filter_map(|it| it.summary)
        .flat_map(|it| it.empty_statements.iter().copied())
        .collect();
    let key = |it: &EmptyStatement| (it.operation, it.command);
    all.sort_by(|a, b| key(a).cmp(&key(b)).then(b.share.total_cmp(&a.share)));
    all.dedup_by_key(|it| key(it));
    let found = all.into_iter().map(|empty| {
        let operation = cell.setup.operations.get(usize::from(empty.operation));
        Finding::NoRows {
            cell: cell.number,
            operation: operation.map_or(String::new(), |it| it.name.clone()),
            command: empty.command,
            statement: empty.statement,
            count: empty.count,
            share: empty.share,
            second: empty.second,
        }
    });
    found.collect()
}

fn sends_same_requests(one: &Setup, other: &Setup) -> bool {
    (&one.operations, &one.feeds, &one.dataset) == (&other.operations, &other.feeds, &other.dataset)
}

fn request_id(series: &SizeSeries) -> (u16, u16) {
    (series.operation, series.command)
}

/// Requests that received a response in any trial, ascending.
fn requests_with_answers(cell: &CellTrials<'_>) -> Vec<(u16, u16)> {
    let mut all: Vec<(u16, u16)> =
        cell.trials.iter().flat_map(|it| it.answers.iter().map(request_id)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn total_sizes(trials: &[&TrialFacts<'_>], place: (u16, u16)) -> SizeHistogram {
    let mut all = SizeHistogram::new();
    for series in trials.iter().flat_map(|it| it.answers).filter(|it| request_id(it) == place) {
        all.merge(&series.total());
    }
    all
}

fn finding(
    cell: &CellTrials<'_>,
    (operation, command): (u16, u16),
    change: SizeChange,
    share: f64,
) -> Finding {
    let known = cell.setup.operations.get(usize::from(operation));
    // Commands that compute variables before a request do not count as steps.
    let step = known.and_then(|operation| match &operation.kind {
        OperationKind::Http(steps) if steps.len() > 1 => {
            let number = usize::from(command).checked_sub(operation.sets.len())?;
            let step = steps.get(number)?;
            Some(step.name.clone().unwrap_or_else(|| format!("{} {}", step.method, step.target)))
        }
        _ => None,
    });
    let operation = known.map_or(String::new(), |it| it.name.clone());
    Finding::AnswerSizes { cell: cell.number, operation, step, change, share }
}
