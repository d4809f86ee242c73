//! Results of one operation, or of all operations, over several trials

use super::quantiles::{curve, quantiles};
use super::steps::step_results;
use crate::facts::sizes::figures;
use crate::facts::statement_rows::statement_rows;
use crate::verdict::objective::{self, ObjectiveMetric};
use crate::verdict::summary::merge_failures;
use model::plan::Setup;
use model::run_result::OperationResult;
use model::{
    AnswerSizes, CompactInterval, HistogramSum, Nanos, OperationSecond, PerSecond, SizeFigures,
    SizeHistogram, SizeUnit,
};

/// Measurement of one trial: all its seconds merged, and the length of its window.
#[derive(Clone, Copy, Debug)]
pub struct TrialPart<'a> {
    pub sum: &'a CompactInterval,
    pub window: Nanos,
}

/// Results of all operations together, followed by the results of each operation in the order of the setup. `None` if
/// `parts` is empty.
///
/// `steps` has the names of the individually measured commands, by operation; a command without a name is not a step.
pub fn operation_results(
    setup: &Setup,
    steps: &[Vec<String>],
    parts: &[TrialPart<'_>],
) -> Option<(OperationResult, Vec<OperationResult>)> {
    let window: f64 = parts.iter().map(|it| it.window.as_secs_f64()).sum();
    if window <= 0.0 {
        return None;
    }
    let names: Vec<String> = setup.operations.iter().map(|it| it.name.clone()).collect();
    let all: Vec<&OperationSecond> = parts.iter().flat_map(|it| &it.sum.scripts).collect();
    let longest = parts.iter().map(|it| it.window).max().unwrap_or_default();
    let total = operation_result("", &all, (window, longest), response_limit(setup, &names, None));
    let total = OperationResult { sizes: sizes(parts, |_| true), ..total };
    let mut answers: Vec<AnswerSizes> = Vec::new();
    parts.iter().for_each(|it| AnswerSizes::merge(&mut answers, &it.sum.answers));
    let rows = statement_rows(&answers);
    let each = names.iter().enumerate().map(|(number, name)| {
        let its: Vec<&OperationSecond> = parts.iter().filter_map(|it| it.sum.scripts.get(number)).collect();
        let limit =
            response_limit(setup, &names, Some(number)).or_else(|| response_limit(setup, &names, None));
        let sizes = sizes(parts, |it| usize::from(it) == number);
        let rows = rows.iter().filter(|it| usize::from(it.operation) == number).copied().collect();
        let commands = steps.get(number).map_or(&[][..], Vec::as_slice);
        let sequential = !setup.operations[number].kind.is_sql();
        let steps = step_results(commands, &its, sequential, longest);
        OperationResult { sizes, rows, steps, ..operation_result(name, &its, (window, longest), limit) }
    });
    Some((total, each.collect()))
}

/// Result of one operation, or of all operations. `window` is the total length of all windows, and `longest` is the
/// length of the longest window, in seconds.
fn operation_result(
    name: &str,
    parts: &[&OperationSecond],
    (window, longest): (f64, Nanos),
    limit: Option<Nanos>,
) -> OperationResult {
    let sum = |counter: fn(&OperationSecond) -> u64| -> u64 { parts.iter().map(|it| counter(it)).sum() };
    let rate = |count: f64| PerSecond(count / window);
    let (mut response, mut service) = (HistogramSum::new(), HistogramSum::new());
    for part in parts {
        response.add(&part.response);
        service.add(&part.service);
    }
    let delivered = sum(|it| it.ok - it.late) as f64;
    // The histogram also includes transactions that ended after the window. Their response times are assumed to have
    // the same distribution.
    let within = |limit: Nanos| 1.0 - response.count_above(limit) as f64 / response.count().max(1) as f64;
    OperationResult {
        name: name.to_owned(),
        offered: rate(sum(OperationSecond::arrivals) as f64),
        delivered: rate(delivered),
        goodput: limit.map(|it| rate(delivered * within(it))),
        count: response.count(),
        response: quantiles(&response, sum(OperationSecond::unanswered), longest),
        response_curve: curve(&response, sum(OperationSecond::unanswered)),
        service: quantiles(&service, 0, longest),
        failures: merge_failures(parts.iter().map(|it| (&it.failed, &it.unknown))),
        dropped: sum(|it| it.dropped),
        sizes: None,
        rows: Vec::new(),
        steps: Vec::new(),
    }
}

/// Sizes of the responses to HTTP requests of the operations that `selects` accepts; `None` without responses.
fn sizes(parts: &[TrialPart<'_>], selects: impl Fn(u16) -> bool) -> Option<SizeFigures> {
    let mut all = SizeHistogram::new();
    let answers = parts.iter().flat_map(|it| &it.sum.answers);
    let answers = answers.filter(|it| it.unit == SizeUnit::Bytes && selects(it.operation));
    answers.for_each(|it| all.merge(&it.sizes));
    figures(&all)
}

/// Smallest bound on response times among the objectives for this operation, or for all operations.
fn response_limit(setup: &Setup, names: &[String], operation: Option<usize>) -> Option<Nanos> {
    let objectives = setup.objectives.iter().filter_map(|it| objective::parse(it, names).ok());
    let bounds =
        objectives.filter(|it| it.operation == operation && it.step.is_none()).filter_map(|objective| {
            match objective.figure {
                ObjectiveMetric::Quantile(_) | ObjectiveMetric::Max => Some(objective.bound),
                ObjectiveMetric::Mean
                | ObjectiveMetric::Errors
                | ObjectiveMetric::Dropped
                | ObjectiveMetric::Tps => None,
            }
        });
    bounds.min_by(f64::total_cmp).map(Nanos::from_secs_f64)
}
