//! Changes of figures from one run to another, with their significance
//!
//! *Resampling.* Requests of one trial share its cache, its plans and its noise, so they are never resampled. With four
//! or more trials on each side, ranks of trials decide ([`ranks`]); this is exact for any distribution. If trials of
//! both sides alternate in time and there are at least six pairs, ranks of their differences decide, because drift
//! common to both sides then cancels. With fewer trials, but at least three in total, Student's distribution is used,
//! which assumes that the logarithms are about normal. One trial on each side does not show how far two equal trials
//! differ. An interval from blocks of seconds ([`blocks`]) is then displayed, but no difference is claimed. With the
//! option `by_time`, the comparison is limited to these two intervals of time, and blocks decide.
//!
//! *Multiple comparisons.* A comparison has ten figures for each operation of each cell. All of them together keep a
//! false discovery rate of 5 % (Benjamini and Hochberg 1995, in [`crate::stats::repeats::decide`]). On average, at most
//! one of twenty comparisons of equal systems then claims any difference. Ranks of few trials cannot reach such a small
//! p. Their p is that of Student's test, and the exact interval must also exclude "no change".

mod blocks;
mod differences;
mod fail_condition;
#[cfg(test)]
pub(crate) mod tests;
mod trial_figures;

pub use differences::{RunEnvironment, differences};
pub use fail_condition::{FailCondition, parse};
pub use trial_figures::{
    BucketCounts, FigureValue, OperationFigures, TimeBin, TrialCollector, TrialFigures, processors,
};

use crate::stats::ranks;
use crate::stats::repeats;
use crate::stats::student::{MeanDifference, Moments, pooled, welch};
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
    /// True if blocks of seconds decide for any number of trials.
    pub by_time: bool,
    /// Paths of intended differences. A path includes everything below it.
    pub expected: &'a [String],
    pub conditions: &'a [FailCondition],
    pub seed: u64,
}

/// Minimum number of trials on each side for which ranks decide.
const RANK_TRIALS_MIN: usize = 4;
/// Minimum number of pairs of trials for which ranks of differences decide.
const PAIRS_MIN: usize = 6;

/// Comparison of each of `runs` with `base`. Without `runs`, comparison of the cells of `base` with their baselines, or
/// with the first cell.
pub fn compare(base: &ComparedRun<'_>, runs: &[ComparedRun<'_>], options: &CompareOptions<'_>) -> Comparison {
    let beside = |run: &ComparedRun<'_>| {
        compare_run(base, run, &matching_cells(base.experiment, run.experiment), options)
    };
    let mut all: Vec<RunComparison> = runs.iter().map(beside).collect();
    if runs.is_empty() {
        let baseline = base.experiment.baseline.clone().unwrap_or(Baseline::Single(0));
        let cells = 0..base.experiment.cells.len();
        let pairs: Vec<(usize, usize)> =
            cells.filter_map(|cell| Some((baseline.counterpart(cell)?, cell))).collect();
        all.push(compare_run(base, base, &pairs, options));
    }
    Comparison { base: base.source.clone(), runs: all, seed: options.seed }
}

/// Indices of cells that have equal labels in both experiments. If each experiment has a single cell, these two form a
/// pair.
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
    let mut cells = Vec::new();
    let mut tested: Vec<TestResult> = Vec::new();
    for (base_cell, run_cell) in pairs {
        let (a, b) = (&base.trials[*base_cell], &run.trials[*run_cell]);
        let (figures, tests) = figures(a, b, options);
        let label = |side: &ComparedRun<'_>, cell: usize| side.experiment.cells[cell].label.clone();
        cells.push(CellComparison { base: label(base, *base_cell), run: label(run, *run_cell), figures });
        tested.extend(tests);
    }
    let all = cells.iter_mut().flat_map(|it| &mut it.figures);
    decide(all.collect(), &tested);
    let mut conditions = Vec::new();
    for condition in options.conditions {
        for (number, (cell, (_, run_number))) in cells.iter().zip(pairs).enumerate() {
            let operations = &run.experiment.cells[*run_number].setup.operations;
            let only = operations.first().filter(|_| operations.len() == 1).map(|it| it.name.as_str());
            conditions.push(condition.judge(number, cell, only));
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

/// Evidence for a change in one figure.
#[derive(Clone, Copy, Debug)]
struct TestResult {
    p: f64,
    higher: bool,
    /// True if the interval supports the claim.
    is_confirmed: bool,
}

/// Decides all figures together. `tests` has one test for each figure with a p-value, in the same order.
fn decide(figures: Vec<&mut MetricComparison>, tests: &[TestResult]) {
    let compared = |test: &TestResult| repeats::RatioEstimate {
        ratio: None,
        interval: None,
        p: test.p,
        higher: test.higher,
        least_p: 0.0,
    };
    let verdicts = repeats::decide(&tests.iter().map(compared).collect::<Vec<_>>());
    let tested = figures.into_iter().filter(|it| it.p.is_some());
    for ((figure, test), verdict) in tested.zip(tests).zip(verdicts) {
        figure.verdict = if test.is_confirmed { verdict } else { ChangeVerdict::NoEvidence };
    }
}

/// Comparisons of all figures that both sides have.
fn figures(
    base: &[TrialFigures],
    run: &[TrialFigures],
    options: &CompareOptions<'_>,
) -> (Vec<MetricComparison>, Vec<TestResult>) {
    let pairs = pairs(base, run);
    let mut operations: Vec<Option<String>> = Vec::new();
    for group in base.iter().flat_map(|it| &it.groups) {
        if !operations.contains(&group.operation) {
            operations.push(group.operation.clone());
        }
    }
    let (mut all, mut tests) = (Vec::new(), Vec::new());
    for operation in operations {
        for metric in Metric::ALL {
            let both = FigurePair { base, run, pairs: &pairs, metric, operation: operation.as_deref() };
            if let Some((figure, test)) = both.figure(options) {
                all.push(figure);
                tests.extend(test);
            }
        }
    }
    (all, tests)
}

/// Pairs of trials that were measured alternately, as indices. Empty if there are too few pairs, or if a pair did not
/// end before the next one began.
fn pairs(base: &[TrialFigures], run: &[TrialFigures]) -> Vec<(usize, usize)> {
    let position_of = |repetition: u32| run.iter().position(|it| it.repetition == repetition);
    let all: Vec<(usize, usize)> =
        base.iter().enumerate().filter_map(|(n, it)| Some((n, position_of(it.repetition)?))).collect();
    let begun = |it: &(usize, usize)| [base[it.0].begun_ms, run[it.1].begun_ms];
    let is_separate = |it: &[(usize, usize)]| begun(&it[0]).iter().max() < begun(&it[1]).iter().min();
    if all.len() >= PAIRS_MIN && all.windows(2).all(is_separate) { all } else { Vec::new() }
}

/// One figure of both sides, before any test.
struct FigurePair<'a> {
    base: &'a [TrialFigures],
    run: &'a [TrialFigures],
    pairs: &'a [(usize, usize)],
    metric: Metric,
    operation: Option<&'a str>,
}

/// Change on the scale on which it is computed, and its evidence.
struct ChangeEstimate {
    value: f64,
    interval: (f64, f64),
    test: Option<TestResult>,
    method: TestMethod,
}

impl FigurePair<'_> {
    /// Comparison of the figure and its test; `None` if a side lacks the figure.
    fn figure(&self, options: &CompareOptions<'_>) -> Option<(MetricComparison, Option<TestResult>)> {
        let [a, b] = [self.base, self.run].map(|it| self.values(it));
        let (base, run) =
            (self.metric_level(self.base, &a, options)?, self.metric_level(self.run, &b, options)?);
        let (base_trials, run_trials) = (a.len() as u32, b.len() as u32);
        let measured = |figures: &[FigureValue]| figures.iter().all(|it| self.to_scale(it.value).is_finite());
        let has_zero = !(measured(&a) && measured(&b));
        let (change, method, test) = if has_zero && !options.by_time {
            self.zero_figure_change(&a, &b, options.seed)
        } else {
            match self.estimate_change(&a, &b, options) {
                Some(it) => (self.change(it.value, Some(it.interval)), it.method, it.test),
                None => {
                    let value = self.to_scale(run.value) - self.to_scale(base.value);
                    (self.change(value, None), TestMethod::None { base: base_trials, run: run_trials }, None)
                }
            }
        };
        let figure = MetricComparison {
            metric: self.metric,
            operation: self.operation.map(str::to_owned),
            base,
            run,
            change,
            method,
            p: test.map(|it| it.p),
            verdict: ChangeVerdict::TooFewRuns,
        };
        Some((figure, test))
    }

    fn values(&self, trials: &[TrialFigures]) -> Vec<FigureValue> {
        trials.iter().filter_map(|it| it.value(self.metric, self.operation)).collect()
    }

    /// Converts a value to the scale of the tests: a logarithm for ratios, the value itself for shares.
    fn to_scale(&self, value: f64) -> f64 {
        if self.metric.kind() == MetricKind::Share { value } else { value.ln() }
    }

    fn unscale(&self, measure: f64) -> f64 {
        if self.metric.kind() == MetricKind::Share { measure } else { measure.exp() }
    }

    fn change(&self, value: f64, interval: Option<(f64, f64)>) -> Change {
        let interval = interval.map(|(low, high)| (self.unscale(low), self.unscale(high)));
        match self.metric.kind() {
            MetricKind::Share => Change::Difference { value, interval },
            _ => Change::Ratio { value: Some(value.exp()).filter(|it| it.is_finite()), interval },
        }
    }

    fn moments(&self, values: &[FigureValue]) -> Moments {
        let measures: Vec<f64> = values.iter().map(|it| self.to_scale(it.value)).collect();
        let floor = values.iter().map(|it| it.floor).sum::<f64>() / values.len() as f64;
        Moments::from_values(&measures, floor)
    }

    fn resampled(&self, trials: &[TrialFigures], seed: u64) -> Option<BootstrapEstimate> {
        if self.metric.kind() == MetricKind::Processors {
            return None;
        }
        let groups: Vec<&OperationFigures> =
            trials.iter().filter_map(|it| it.group(self.operation)).collect();
        blocks::resample(&groups, self.metric, seed)
    }

    /// Level of a metric over the trials of one side; `None` without values.
    fn metric_level(
        &self,
        trials: &[TrialFigures],
        values: &[FigureValue],
        options: &CompareOptions<'_>,
    ) -> Option<MetricEstimate> {
        let plain: Vec<f64> = values.iter().map(|it| it.value).collect();
        let estimate = repeats::estimate(&plain)?;
        let unscaled = |it: (f64, f64)| (self.unscale(it.0), self.unscale(it.1));
        let interval = if options.by_time {
            self.resampled(trials, options.seed).map(|it| unscaled(it.mean_difference().interval()))
        } else if plain.len() >= PAIRS_MIN {
            // With fewer values, the median has no 95 % interval.
            estimate.interval
        } else if plain.len() > 1 && plain.iter().all(|it| self.to_scale(*it).is_finite()) {
            let moments = self.moments(values);
            let error = (moments.variance / moments.count).sqrt();
            Some(unscaled(
                MeanDifference { difference: moments.mean, error, degrees_of_freedom: moments.count - 1.0 }
                    .interval(),
            ))
        } else {
            None
        };
        Some(MetricEstimate { value: estimate.median, interval, trials: estimate.runs })
    }

    fn estimate_change(
        &self,
        a: &[FigureValue],
        b: &[FigureValue],
        options: &CompareOptions<'_>,
    ) -> Option<ChangeEstimate> {
        if options.by_time || a.len() + b.len() < 3 {
            return self.by_time(options);
        }
        self.by_pairs().or_else(|| self.by_ranks(a, b)).or_else(|| {
            let spread = pooled(&self.moments(a), &self.moments(b))?;
            let method = TestMethod::FewTrials { base: a.len() as u32, run: b.len() as u32 };
            Some(by_student(spread, method))
        })
    }

    fn by_pairs(&self) -> Option<ChangeEstimate> {
        let figure_of = |trial: &TrialFigures| trial.value(self.metric, self.operation);
        let both = self
            .pairs
            .iter()
            .filter_map(|it| Some((figure_of(&self.base[it.0])?, figure_of(&self.run[it.1])?)));
        let (a, b): (Vec<FigureValue>, Vec<FigureValue>) = both.unzip();
        let differences: Vec<f64> =
            a.iter().zip(&b).map(|(a, b)| self.to_scale(b.value) - self.to_scale(a.value)).collect();
        let shift = ranks::paired_shift(&differences)?;
        let floors = a.iter().zip(&b).map(|(a, b)| a.floor.hypot(b.floor)).sum::<f64>();
        let moments = Moments::from_values(&differences, floors / differences.len() as f64);
        let error = (moments.variance / moments.count).sqrt();
        let spread =
            MeanDifference { difference: moments.mean, error, degrees_of_freedom: moments.count - 1.0 };
        Some(by_rank(shift, spread, TestMethod::Pairs { pairs: differences.len() as u32 }))
    }

    fn by_ranks(&self, a: &[FigureValue], b: &[FigureValue]) -> Option<ChangeEstimate> {
        if a.len().min(b.len()) < RANK_TRIALS_MIN {
            return None;
        }
        let measures =
            |figures: &[FigureValue]| figures.iter().map(|it| self.to_scale(it.value)).collect::<Vec<_>>();
        let shift = ranks::two_sample_shift(&measures(a), &measures(b))?;
        let spread = welch(&self.moments(a), &self.moments(b))?;
        Some(by_rank(shift, spread, TestMethod::Trials { base: a.len() as u32, run: b.len() as u32 }))
    }

    fn by_time(&self, options: &CompareOptions<'_>) -> Option<ChangeEstimate> {
        let a = self.resampled(self.base, options.seed)?;
        let b = self.resampled(self.run, options.seed.wrapping_add(1))?;
        let estimate =
            by_student(blocks::difference(&a, &b), TestMethod::Blocks { base: a.blocks, run: b.blocks });
        // The seconds of one trial on each side do not show how another trial would differ.
        Some(if options.by_time { estimate } else { ChangeEstimate { test: None, ..estimate } })
    }

    /// Change if one side's figure is 0, which has no logarithm.
    fn zero_figure_change(
        &self,
        a: &[FigureValue],
        b: &[FigureValue],
        seed: u64,
    ) -> (Change, TestMethod, Option<TestResult>) {
        let plain = |figures: &[FigureValue]| figures.iter().map(|it| it.value).collect::<Vec<_>>();
        let (base, run) = (a.len() as u32, b.len() as u32);
        let found = repeats::compare(&plain(a), &plain(b), seed);
        let change = |interval| Change::Ratio { value: found.and_then(|it| it.ratio), interval };
        match found.filter(|_| a.len().min(b.len()) >= RANK_TRIALS_MIN) {
            Some(ratio) => {
                let test = TestResult { p: ratio.p, higher: ratio.higher, is_confirmed: true };
                (change(ratio.interval), TestMethod::Trials { base, run }, Some(test))
            }
            None => (change(None), TestMethod::None { base, run }, None),
        }
    }
}

fn by_student(estimate: MeanDifference, method: TestMethod) -> ChangeEstimate {
    let test = TestResult { p: estimate.p(), higher: estimate.difference > 0.0, is_confirmed: true };
    ChangeEstimate { value: estimate.difference, interval: estimate.interval(), test: Some(test), method }
}

fn by_rank(shift: ranks::ShiftEstimate, spread: MeanDifference, method: TestMethod) -> ChangeEstimate {
    let holds = shift.interval.0 > 0.0 || shift.interval.1 < 0.0;
    let test = TestResult { p: spread.p(), higher: shift.value > 0.0, is_confirmed: holds };
    ChangeEstimate { value: shift.value, interval: shift.interval, test: Some(test), method }
}
