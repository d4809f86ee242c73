//! What changed from one run to another, and can that be said?
//!
//! *What is resampled.* Requests of one trial share its cache, its plans and its neighbours, so they are never resampled.
//! With four trials of both or more, ranks of trials decide ([`ranks`]): exact, whatever their distribution; where trials
//! of both alternate in time, ranks of the differences of at least six pairs, so that what drifts in both is nobody's. With
//! fewer, but three together, Student's distribution takes their place: it needs trials whose logarithms scatter about
//! normally. With one of each nothing tells how far two trials of the same would be apart: an interval by blocks of seconds
//! ([`blocks`]) is shown, but nothing is claimed, unless the user asks for a comparison of just these stretches of time.
//!
//! *Many figures.* A comparison looks at ten figures of each operation of each cell. All of them together keep a false
//! discovery rate of 5 % (Benjamini and Hochberg 1995, by [`crate::repeats::decide`]), so that of twenty comparisons of
//! equals at most one claims anything at all. Ranks of few trials cannot be that sure: p is that of Student's test, and
//! besides the exact interval must not hold "no change".

mod blocks;
mod condition;
mod differ;
mod ranks;
pub(crate) mod student;
#[cfg(test)]
pub(crate) mod tests;
mod trial;

pub use condition::{Condition, parse};
pub use differ::{Stand, differences};
pub use trial::{Bin, Counts, Gather, Group, Trial, Value, processors};

use crate::repeats;
use blocks::Resampled;
use model::comparison::{
    Beside, Cell, Change, Comparison, Figure, Label, LeftOut, Level, Method, Metric, MetricKind, Source,
};
use model::matrix::Verdict;
use model::plan::Experiment;
use student::{Moments, Spread, pooled, welch};

/// One run, as far as it is compared.
#[derive(Clone, Debug)]
pub struct Side<'a> {
    pub source: Source,
    pub experiment: &'a Experiment,
    pub stand: Stand<'a>,
    /// By cell of the experiment: valid trials, by repetition.
    pub trials: Vec<Vec<Trial>>,
    /// [`LeftOut::of_base`] is set here.
    pub left_out: Vec<LeftOut>,
}

/// How it is compared.
#[derive(Clone, Debug, Default)]
pub struct Wanted<'a> {
    /// Blocks of seconds decide, however many trials there are.
    pub by_time: bool,
    /// Paths of differences that were made on purpose; such a path stands for all below it.
    pub expected: &'a [String],
    pub conditions: &'a [Condition],
    pub seed: u64,
}

/// With so few trials of either, ranks tell nothing.
const RANKS: usize = 4;
/// The same of pairs.
const PAIRS: usize = 6;

/// Each of `runs` beside `base`. Without any, the base's cells beside its baseline.
pub fn compare(base: &Side<'_>, runs: &[Side<'_>], wanted: &Wanted<'_>) -> Comparison {
    let beside = |run: &Side<'_>| beside(base, run, &counterparts(base.experiment, run.experiment), wanted);
    let mut all: Vec<Beside> = runs.iter().map(beside).collect();
    if runs.is_empty() {
        let baseline = base.experiment.baseline.unwrap_or_default();
        let others = (0..base.experiment.cells.len()).filter(|it| *it != baseline);
        let pairs: Vec<(usize, usize)> = others.map(|it| (baseline, it)).collect();
        all.push(self::beside(base, base, &pairs, wanted));
    }
    Comparison { base: base.source.clone(), runs: all, seed: wanted.seed }
}

/// Indices of cells that are the same in both: by label. Where each has but one, those.
fn counterparts(base: &Experiment, run: &Experiment) -> Vec<(usize, usize)> {
    let of = |label: &Label| run.cells.iter().position(|it| it.label == *label);
    let same: Vec<(usize, usize)> =
        base.cells.iter().enumerate().filter_map(|(n, it)| Some((n, of(&it.label)?))).collect();
    match (same.is_empty(), base.cells.len(), run.cells.len()) {
        (true, 1, 1) => vec![(0, 0)],
        _ => same,
    }
}

fn beside(base: &Side<'_>, run: &Side<'_>, pairs: &[(usize, usize)], wanted: &Wanted<'_>) -> Beside {
    let within = std::ptr::eq(base, run);
    let mut cells = Vec::new();
    let mut tested: Vec<Test> = Vec::new();
    for (base_cell, run_cell) in pairs {
        let (a, b) = (&base.trials[*base_cell], &run.trials[*run_cell]);
        let (figures, tests) = figures(a, b, wanted);
        let label = |side: &Side<'_>, cell: usize| side.experiment.cells[cell].label.clone();
        cells.push(Cell { base: label(base, *base_cell), run: label(run, *run_cell), figures });
        tested.extend(tests);
    }
    let all = cells.iter_mut().flat_map(|it| &mut it.figures);
    decide(all.collect(), &tested);
    let mut conditions = Vec::new();
    for condition in wanted.conditions {
        for (number, (cell, (_, of_run))) in cells.iter().zip(pairs).enumerate() {
            let operations = &run.experiment.cells[*of_run].setup.operations;
            let only = operations.first().filter(|_| operations.len() == 1).map(|it| it.name.as_str());
            conditions.push(condition.judge(number, cell, only));
        }
    }
    let without = |side: &Side<'_>, of: fn(&(usize, usize)) -> usize| -> Vec<Label> {
        let known = |number: usize| pairs.iter().any(|it| of(it) == number);
        let cells = side.experiment.cells.iter().enumerate().filter(|it| !known(it.0) && !within);
        cells.map(|it| it.1.label.clone()).collect()
    };
    let left_out = |side: &Side<'_>, of_base| {
        let all = side.left_out.clone().into_iter();
        all.map(move |it| LeftOut { of_base, ..it }).collect::<Vec<_>>()
    };
    let mut left = left_out(base, true);
    if !within {
        left.extend(left_out(run, false));
    }
    Beside {
        run: run.source.clone(),
        differences: differ::beside(base, run, pairs, wanted.expected),
        only_base: without(base, |it| it.0),
        only_run: without(run, |it| it.1),
        cells,
        left_out: left,
        conditions,
    }
}

/// What speaks for a change.
#[derive(Clone, Copy, Debug)]
struct Test {
    p: f64,
    higher: bool,
    /// The interval agrees.
    holds: bool,
}

/// One test by figure that has a p, in their order.
fn decide(figures: Vec<&mut Figure>, tests: &[Test]) {
    let compared = |it: &Test| repeats::Compared {
        ratio: None,
        interval: None,
        p: it.p,
        higher: it.higher,
        least_p: 0.0,
    };
    let verdicts = repeats::decide(&tests.iter().map(compared).collect::<Vec<_>>());
    let tested = figures.into_iter().filter(|it| it.p.is_some());
    for ((figure, test), verdict) in tested.zip(tests).zip(verdicts) {
        figure.verdict = if test.holds { verdict } else { Verdict::NoEvidence };
    }
}

/// All that both have.
fn figures(base: &[Trial], run: &[Trial], wanted: &Wanted<'_>) -> (Vec<Figure>, Vec<Test>) {
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
            let both = Both { base, run, pairs: &pairs, metric, operation: operation.as_deref() };
            if let Some((figure, test)) = both.figure(wanted) {
                all.push(figure);
                tests.extend(test);
            }
        }
    }
    (all, tests)
}

/// Indices of trials that were measured side by side; empty unless every pair ended before the next one began, or where
/// they are too few to decide anything.
fn pairs(base: &[Trial], run: &[Trial]) -> Vec<(usize, usize)> {
    let of = |repetition: u32| run.iter().position(|it| it.repetition == repetition);
    let all: Vec<(usize, usize)> =
        base.iter().enumerate().filter_map(|(n, it)| Some((n, of(it.repetition)?))).collect();
    let begun = |it: &(usize, usize)| [base[it.0].begun_ms, run[it.1].begun_ms];
    let apart = |it: &[(usize, usize)]| begun(&it[0]).iter().max() < begun(&it[1]).iter().min();
    if all.len() >= PAIRS && all.windows(2).all(apart) { all } else { Vec::new() }
}

/// One figure of both, before anything is known of it.
struct Both<'a> {
    base: &'a [Trial],
    run: &'a [Trial],
    pairs: &'a [(usize, usize)],
    metric: Metric,
    operation: Option<&'a str>,
}

/// A change in the measure in which it is computed, and what speaks for it.
struct Found {
    value: f64,
    interval: (f64, f64),
    test: Option<Test>,
    method: Method,
}

impl Both<'_> {
    /// `None` where a side does not have it.
    fn figure(&self, wanted: &Wanted<'_>) -> Option<(Figure, Option<Test>)> {
        let [a, b] = [self.base, self.run].map(|it| self.values(it));
        let (base, run) = (self.level(self.base, &a, wanted)?, self.level(self.run, &b, wanted)?);
        let (of_base, of_run) = (a.len() as u32, b.len() as u32);
        let measured = |it: &[Value]| it.iter().all(|it| self.measure(it.value).is_finite());
        let of_nothing = !(measured(&a) && measured(&b));
        let (change, method, test) = if of_nothing && !wanted.by_time {
            self.of_nothing(&a, &b, wanted.seed)
        } else {
            match self.found(&a, &b, wanted) {
                Some(it) => (self.change(it.value, Some(it.interval)), it.method, it.test),
                None => {
                    let value = self.measure(run.value) - self.measure(base.value);
                    (self.change(value, None), Method::None { base: of_base, run: of_run }, None)
                }
            }
        };
        let figure = Figure {
            metric: self.metric,
            operation: self.operation.map(str::to_owned),
            base,
            run,
            change,
            method,
            p: test.map(|it| it.p),
            verdict: Verdict::TooFewRuns,
        };
        Some((figure, test))
    }

    fn values(&self, trials: &[Trial]) -> Vec<Value> {
        trials.iter().filter_map(|it| it.value(self.metric, self.operation)).collect()
    }

    /// Ratios are differences of logarithms; of shares the differences themselves count.
    fn measure(&self, value: f64) -> f64 {
        if self.metric.kind() == MetricKind::Share { value } else { value.ln() }
    }

    fn back(&self, measure: f64) -> f64 {
        if self.metric.kind() == MetricKind::Share { measure } else { measure.exp() }
    }

    fn change(&self, value: f64, interval: Option<(f64, f64)>) -> Change {
        let interval = interval.map(|(low, high)| (self.back(low), self.back(high)));
        match self.metric.kind() {
            MetricKind::Share => Change::Difference { value, interval },
            _ => Change::Ratio { value: Some(value.exp()).filter(|it| it.is_finite()), interval },
        }
    }

    fn moments(&self, values: &[Value]) -> Moments {
        let measures: Vec<f64> = values.iter().map(|it| self.measure(it.value)).collect();
        let floor = values.iter().map(|it| it.floor).sum::<f64>() / values.len() as f64;
        Moments::of(&measures, floor)
    }

    fn resampled(&self, trials: &[Trial], seed: u64) -> Option<Resampled> {
        if self.metric.kind() == MetricKind::Processors {
            return None;
        }
        let groups: Vec<&Group> = trials.iter().filter_map(|it| it.group(self.operation)).collect();
        blocks::resample(&groups, self.metric, seed)
    }

    /// `None` without values.
    fn level(&self, trials: &[Trial], values: &[Value], wanted: &Wanted<'_>) -> Option<Level> {
        let plain: Vec<f64> = values.iter().map(|it| it.value).collect();
        let it = repeats::estimate(&plain)?;
        let told = |it: (f64, f64)| (self.back(it.0), self.back(it.1));
        let interval = if wanted.by_time {
            self.resampled(trials, wanted.seed).map(|it| told(it.spread().interval()))
        } else if plain.len() >= PAIRS {
            // Fewer values cannot hold their median with 95 %.
            it.interval
        } else if plain.len() > 1 && plain.iter().all(|it| self.measure(*it).is_finite()) {
            let it = self.moments(values);
            let error = (it.variance / it.count).sqrt();
            Some(told(Spread { difference: it.mean, error, freedom: it.count - 1.0 }.interval()))
        } else {
            None
        };
        Some(Level { value: it.median, interval, trials: it.runs })
    }

    fn found(&self, a: &[Value], b: &[Value], wanted: &Wanted<'_>) -> Option<Found> {
        if wanted.by_time || a.len() + b.len() < 3 {
            return self.by_time(wanted);
        }
        self.by_pairs().or_else(|| self.by_ranks(a, b)).or_else(|| {
            let spread = pooled(&self.moments(a), &self.moments(b))?;
            let method = Method::FewTrials { base: a.len() as u32, run: b.len() as u32 };
            Some(by_student(spread, method))
        })
    }

    fn by_pairs(&self) -> Option<Found> {
        let of = |trial: &Trial| trial.value(self.metric, self.operation);
        let both = self.pairs.iter().filter_map(|it| Some((of(&self.base[it.0])?, of(&self.run[it.1])?)));
        let (a, b): (Vec<Value>, Vec<Value>) = both.unzip();
        let differences: Vec<f64> =
            a.iter().zip(&b).map(|(a, b)| self.measure(b.value) - self.measure(a.value)).collect();
        let shift = ranks::of_pairs(&differences)?;
        let floors = a.iter().zip(&b).map(|(a, b)| a.floor.hypot(b.floor)).sum::<f64>();
        let it = Moments::of(&differences, floors / differences.len() as f64);
        let error = (it.variance / it.count).sqrt();
        let spread = Spread { difference: it.mean, error, freedom: it.count - 1.0 };
        Some(by_rank(shift, spread, Method::Pairs { pairs: differences.len() as u32 }))
    }

    fn by_ranks(&self, a: &[Value], b: &[Value]) -> Option<Found> {
        if a.len().min(b.len()) < RANKS {
            return None;
        }
        let measures = |it: &[Value]| it.iter().map(|it| self.measure(it.value)).collect::<Vec<_>>();
        let shift = ranks::between(&measures(a), &measures(b))?;
        let spread = welch(&self.moments(a), &self.moments(b))?;
        Some(by_rank(shift, spread, Method::Trials { base: a.len() as u32, run: b.len() as u32 }))
    }

    fn by_time(&self, wanted: &Wanted<'_>) -> Option<Found> {
        let a = self.resampled(self.base, wanted.seed)?;
        let b = self.resampled(self.run, wanted.seed.wrapping_add(1))?;
        let it = by_student(blocks::between(&a, &b), Method::Blocks { base: a.blocks, run: b.blocks });
        // Seconds of one trial of each do not tell what another trial would bring.
        Some(if wanted.by_time { it } else { Found { test: None, ..it } })
    }

    /// A side has a figure of 0, which no logarithm takes.
    fn of_nothing(&self, a: &[Value], b: &[Value], seed: u64) -> (Change, Method, Option<Test>) {
        let plain = |it: &[Value]| it.iter().map(|it| it.value).collect::<Vec<_>>();
        let (base, run) = (a.len() as u32, b.len() as u32);
        let found = repeats::difference(&plain(a), &plain(b), seed);
        let change = |interval| Change::Ratio { value: found.and_then(|it| it.ratio), interval };
        match found.filter(|_| a.len().min(b.len()) >= RANKS) {
            Some(it) => {
                let test = Test { p: it.p, higher: it.higher, holds: true };
                (change(it.interval), Method::Trials { base, run }, Some(test))
            }
            None => (change(None), Method::None { base, run }, None),
        }
    }
}

fn by_student(it: Spread, method: Method) -> Found {
    let test = Test { p: it.p(), higher: it.difference > 0.0, holds: true };
    Found { value: it.difference, interval: it.interval(), test: Some(test), method }
}

fn by_rank(it: ranks::Shift, spread: Spread, method: Method) -> Found {
    let holds = it.interval.0 > 0.0 || it.interval.1 < 0.0;
    let test = Test { p: spread.p(), higher: it.value > 0.0, holds };
    Found { value: it.value, interval: it.interval, test: Some(test), method }
}
