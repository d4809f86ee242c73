//! Changes of figures from one run to another, with their significance
//!
//! [`repeats`] estimates and tests each change. The matrix of a run and the comparison of runs both use [`changes`], so
//! a pair of cells has the same change and the same verdict in both. One trial on each side does not show how far two
//! equal trials differ, so no difference is claimed. With the option `by_time`, blocks of seconds decide ([`blocks`]),
//! and the result holds only for the measured intervals of time.
//!
//! A comparison has up to twelve figures for each operation of each cell. The false discovery rate over all these
//! figures is 5 %. On average, at most one of twenty comparisons of equal systems then claims any difference.

mod blocks;
mod differences;
mod fail_condition;
#[cfg(test)]
pub(crate) mod tests;
mod trial_figures;

pub use differences::{RunEnvironment, differences};
pub use fail_condition::{FailCondition, parse};
pub use trial_figures::{BucketCounts, FigureValue, OperationFigures, TimeBin, TrialCollector, TrialFigures};

use crate::stats::repeats::{self, ChangeEstimate, Samples, Scale};
use crate::stats::student::MeanDifference;
use blocks::BootstrapEstimate;
use model::comparison::{
    CellComparison, CellLabel, Change, Comparison, ExcludedTrial, Metric, MetricComparison, MetricEstimate,
    MetricKind, RunComparison, RunRef, TestMethod,
};
use model::matrix::ChangeVerdict;
use model::plan::{Baseline, Experiment};

/// Data of one run for the comparison.
#[derive(Clone, Debug)]
pub struct ComparedRun<'a> {
    pub source: RunRef,
    pub experiment: &'a Experiment,
    pub environment: RunEnvironment<'a>,
    /// Valid trials in order of repetition, by cell of the experiment.
    pub trials: Vec<Vec<TrialFigures>>,
    /// Trials without figures. The comparison sets [`ExcludedTrial::from_base`].
    pub left_out: Vec<ExcludedTrial>,
}

/// Options of a comparison.
#[derive(Clone, Debug, Default)]
pub struct CompareOptions<'a> {
    /// Index pairs of the base's cells to compare if there is no other run, base first. If empty, each cell is compared
    /// with its baseline, or with the first cell.
    pub cells: &'a [(usize, usize)],
    /// True if blocks of seconds determine the verdicts, for any number of trials.
    pub by_time: bool,
    /// Paths of intended differences. A path includes all settings below it.
    pub expected: &'a [String],
    pub conditions: &'a [FailCondition],
    pub seed: u64,
}

/// Relative difference between a quantile of the service time and the same quantile of the response time up to which the
/// former adds no information.
const REPEATED_MAX: f64 = 2e-3;

/// Comparison of each of `runs` with `base`. If `runs` is empty, comparison of the cells of `base` with their
/// baselines, or with the first cell.
pub fn compare(base: &ComparedRun<'_>, runs: &[ComparedRun<'_>], options: &CompareOptions<'_>) -> Comparison {
    let compare_with_base = |run: &ComparedRun<'_>| {
        compare_run(base, run, &matching_cells(base.experiment, run.experiment), options)
    };
    let mut all: Vec<RunComparison> = runs.iter().map(compare_with_base).collect();
    if runs.is_empty() {
        let baseline = base.experiment.baseline.clone().unwrap_or(Baseline::Single(0));
        let cells = 0..base.experiment.cells.len();
        let with_baseline: Vec<(usize, usize)> =
            cells.filter_map(|cell| Some((baseline.counterpart(cell)?, cell))).collect();
        let pairs = if options.cells.is_empty() { &with_baseline } else { options.cells };
        all.push(compare_run(base, base, pairs, options));
    }
    Comparison { base: base.source.clone(), runs: all, seed: options.seed }
}

/// Index pairs of cells with equal labels. If no labels are equal and each experiment has a single cell, these two
/// cells form a pair.
fn matching_cells(base: &Experiment, run: &Experiment) -> Vec<(usize, usize)> {
    let run_cell = |label: &CellLabel| run.cells.iter().position(|it| it.label == *label);
    let same: Vec<(usize, usize)> =
        base.cells.iter().enumerate().filter_map(|(n, it)| Some((n, run_cell(&it.label)?))).collect();
    match (same.is_empty(), base.cells.len(), run.cells.len()) {
        (true, 1, 1) => vec![(0, 0)],
        _ => same,
    }
}

fn compare_run(
    base: &ComparedRun<'_>,
    run: &ComparedRun<'_>,
    pairs: &[(usize, usize)],
    options: &CompareOptions<'_>,
) -> RunComparison {
    let within = std::ptr::eq(base, run);
    let trials: Vec<(&[TrialFigures], &[TrialFigures])> = pairs
        .iter()
        .map(|(base_cell, run_cell)| (base.trials[*base_cell].as_slice(), run.trials[*run_cell].as_slice()))
        .collect();
    let label = |side: &ComparedRun<'_>, cell: usize| side.experiment.cells[cell].label.clone();
    let cells: Vec<CellComparison> = pairs
        .iter()
        .zip(changes(&trials, options))
        .map(|((base_cell, run_cell), figures)| CellComparison {
            base: label(base, *base_cell),
            run: label(run, *run_cell),
            figures,
        })
        .collect();
    let mut conditions = Vec::new();
    for condition in options.conditions {
        for (number, (cell, (_, run_number))) in cells.iter().zip(pairs).enumerate() {
            let operations = &run.experiment.cells[*run_number].setup.operations;
            let only_operation =
                operations.first().filter(|_| operations.len() == 1).map(|it| it.name.as_str());
            conditions.push(condition.judge(number, cell, only_operation));
        }
    }
    let without = |side: &ComparedRun<'_>, index: fn(&(usize, usize)) -> usize| -> Vec<CellLabel> {
        let known = |number: usize| pairs.iter().any(|it| index(it) == number);
        let cells = side.experiment.cells.iter().enumerate().filter(|it| !known(it.0) && !within);
        cells.map(|it| it.1.label.clone()).collect()
    };
    let left_out = |side: &ComparedRun<'_>, from_base| {
        let all = side.left_out.clone().into_iter();
        all.map(move |it| ExcludedTrial { from_base, ..it }).collect::<Vec<_>>()
    };
    let mut left = left_out(base, true);
    if !within {
        left.extend(left_out(run, false));
    }
    RunComparison {
        run: run.source.clone(),
        differences: differences::cell_differences(base, run, pairs, options.expected),
        only_base: without(base, |it| it.0),
        only_run: without(run, |it| it.1),
        cells,
        excluded: left,
        conditions,
    }
}

/// Changes of all figures between pairs of cells, base first. The false discovery rate is controlled across all
/// verdicts. Each pair has the trials of its two cells in order of repetition.
pub fn changes(
    pairs: &[(&[TrialFigures], &[TrialFigures])],
    options: &CompareOptions<'_>,
) -> Vec<Vec<MetricComparison>> {
    let compared: Vec<Vec<(MetricComparison, ChangeEstimate)>> =
        pairs.iter().map(|(base, run)| figures(base, run, options)).collect();
    let all: Vec<ChangeEstimate> = compared.iter().flatten().map(|it| it.1).collect();
    let mut verdicts = repeats::decide(&all).into_iter();
    let mut decided = |(figure, _)| MetricComparison {
        verdict: verdicts.next().expect("each change has its verdict"),
        ..figure
    };
    compared.into_iter().map(|figures| figures.into_iter().map(&mut decided).collect()).collect()
}

/// Comparisons of all figures that both sides have, without verdicts.
fn figures(
    base: &[TrialFigures],
    run: &[TrialFigures],
    options: &CompareOptions<'_>,
) -> Vec<(MetricComparison, ChangeEstimate)> {
    let alternating = are_alternating(base, run);
    let mut operations: Vec<Option<&str>> = Vec::new();
    for group in base.iter().flat_map(|it| &it.groups) {
        if !operations.contains(&group.operation.as_deref()) {
            operations.push(group.operation.as_deref());
        }
    }
    let mut all = Vec::new();
    for operation in operations {
        for metric in Metric::ALL {
            let both = FigurePair { base, run, alternating, metric, operation };
            if !both.repeats_response_time() {
                all.extend(both.figure(options));
            }
        }
    }
    all
}

/// True if the trials of both sides were measured alternately, and each pair of trials ended before the next pair
/// began.
fn are_alternating(base: &[TrialFigures], run: &[TrialFigures]) -> bool {
    let begun: Vec<[u64; 2]> = base.iter().zip(run).map(|(a, b)| [a.begun_ms, b.begun_ms]).collect();
    base.len() == run.len()
        && base.iter().zip(run).all(|(a, b)| a.repetition == b.repetition)
        && begun.windows(2).all(|it| it[0].iter().max() < it[1].iter().min())
}

/// Figures of the base and of the run for one pair of cells.
#[derive(Clone, Copy)]
struct FigurePair<'a> {
    base: &'a [TrialFigures],
    run: &'a [TrialFigures],
    alternating: bool,
    metric: Metric,
    operation: Option<&'a str>,
}

impl FigurePair<'_> {
    /// Comparison of the figure, without its verdict; `None` if a side lacks the figure.
    fn figure(&self, options: &CompareOptions<'_>) -> Option<(MetricComparison, ChangeEstimate)> {
        let [a, b] = [self.base, self.run].map(|it| self.values(it));
        let (base, run) = (self.level(self.base, &a, options)?, self.level(self.run, &b, options)?);
        let estimate = if options.by_time {
            self.by_time(base.value, run.value, options)
        } else {
            let floors = a.iter().chain(&b).map(|it| it.floor).sum::<f64>();
            let [base_values, run_values] = [&a, &b].map(|it| plain(it));
            let samples = Samples {
                base: &base_values,
                run: &run_values,
                paired: self.alternating && a.len() == self.base.len() && b.len() == self.run.len(),
                scale: self.scale(),
                floor: floors / (a.len() + b.len()) as f64,
            };
            repeats::compare(&samples, options.seed)?
        };
        let ChangeEstimate { value, interval, p, method, .. } = estimate;
        let change = match self.scale() {
            Scale::Ratio => Change::Ratio { value, interval },
            Scale::Difference => Change::Difference { value: value.unwrap_or_default(), interval },
        };
        let operation = self.operation.map(str::to_owned);
        let verdict = ChangeVerdict::TooFewRuns;
        let figure =
            MetricComparison { metric: self.metric, operation, base, run, change, method, p, verdict };
        Some((figure, estimate))
    }

    fn scale(&self) -> Scale {
        if self.metric.kind() == MetricKind::Share { Scale::Difference } else { Scale::Ratio }
    }

    fn values(&self, trials: &[TrialFigures]) -> Vec<FigureValue> {
        figure_values(trials, self.metric, self.operation)
    }

    /// True for a quantile of the service time that equals that of the response time, because no transaction waited
    /// before it was sent.
    fn repeats_response_time(&self) -> bool {
        let of_response = match self.metric {
            Metric::ServiceP50 => Metric::P50,
            Metric::ServiceP99 => Metric::P99,
            _ => return false,
        };
        let time = |trial: &TrialFigures, metric| trial.value(metric, self.operation).map(|it| it.value);
        self.base.iter().chain(self.run).all(|trial| {
            let both = time(trial, of_response).zip(time(trial, self.metric));
            both.is_some_and(|(response, service)| (response / service - 1.0).abs() <= REPEATED_MAX)
        })
    }

    fn resampled(&self, trials: &[TrialFigures], seed: u64) -> Option<BootstrapEstimate> {
        if self.metric.kind() == MetricKind::Processors || self.metric == Metric::Differences {
            return None;
        }
        let groups: Vec<&OperationFigures> =
            trials.iter().filter_map(|it| it.group(self.operation)).collect();
        blocks::resample(&groups, self.metric, seed)
    }

    /// Median of a metric over the trials of one side, with its interval; `None` without values.
    fn level(
        &self,
        trials: &[TrialFigures],
        values: &[FigureValue],
        options: &CompareOptions<'_>,
    ) -> Option<MetricEstimate> {
        let estimate = repeats::estimate(&plain(values))?;
        let interval = match options.by_time {
            true => self.resampled(trials, options.seed).map(|blocks| {
                let difference = self.scale().measure(estimate.median);
                let (low, high) = MeanDifference { difference, ..blocks.mean_difference() }.interval();
                (self.scale().unmeasure(low), self.scale().unmeasure(high))
            }),
            false => estimate.interval,
        };
        Some(MetricEstimate { value: estimate.median, interval, trials: estimate.runs })
    }

    /// Change between the values of both sides, with the standard error computed from blocks of seconds.
    fn by_time(&self, base: f64, run: f64, options: &CompareOptions<'_>) -> ChangeEstimate {
        let scale = self.scale();
        let value = Some(scale.change(base, run)).filter(|it| it.is_finite());
        let (base, run) = (self.base.len() as u32, self.run.len() as u32);
        let unknown = ChangeEstimate {
            value,
            interval: None,
            p: None,
            higher: false,
            is_confirmed: false,
            method: TestMethod::None { base, run },
        };
        let (Some(a), Some(b), Some(value)) = (
            self.resampled(self.base, options.seed),
            self.resampled(self.run, options.seed.wrapping_add(1)),
            value,
        ) else {
            return unknown;
        };
        let spread = MeanDifference { difference: scale.measure(value), ..blocks::difference(&a, &b) };
        let (low, high) = spread.interval();
        ChangeEstimate {
            interval: Some((scale.unmeasure(low), scale.unmeasure(high))),
            p: Some(spread.p()),
            higher: spread.difference > 0.0,
            is_confirmed: low > 0.0 || high < 0.0,
            method: TestMethod::Blocks { base: a.blocks, run: b.blocks },
            ..unknown
        }
    }
}

/// Values of a metric, one per trial.
///
/// If a quantile is known in some trials only, the others contribute a lower bound. Otherwise p50 and p99 would be
/// medians over different sets of trials, and p50 could exceed p99. Empty if no trial has the metric. Trials with
/// neither a value nor a lower bound are left out.
pub fn figure_values(trials: &[TrialFigures], metric: Metric, operation: Option<&str>) -> Vec<FigureValue> {
    let known: Vec<FigureValue> = trials.iter().filter_map(|it| it.value(metric, operation)).collect();
    if known.is_empty() {
        return known;
    }
    let bounded =
        |it: &TrialFigures| it.value(metric, operation).or_else(|| it.lower_bound(metric, operation));
    trials.iter().filter_map(bounded).collect()
}

fn plain(values: &[FigureValue]) -> Vec<f64> {
    values.iter().map(|it| it.value).collect()
}
