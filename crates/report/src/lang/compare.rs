//! Sentences of a comparison of runs

use super::Lang;
use crate::say;
use model::comparison::{
    Change, ConditionOutcome, ConditionResult, ConditionUnit, Difference, DifferenceSubject, Metric,
    MetricKind, RunComparison, TestMethod,
};
use model::matrix::ChangeVerdict;

impl Lang {
    /// Name of a metric, without its unit.
    pub fn metric(&self, metric: Metric) -> String {
        match metric {
            Metric::Tps => say!(self, "compare-metric-tps"),
            Metric::P50 => say!(self, "compare-metric-p50"),
            Metric::P90 => say!(self, "compare-metric-p90"),
            Metric::P99 => say!(self, "compare-metric-p99"),
            Metric::P999 => say!(self, "compare-metric-p999"),
            Metric::ServiceP50 => say!(self, "compare-metric-service-p50"),
            Metric::ServiceP99 => say!(self, "compare-metric-service-p99"),
            Metric::Errors => say!(self, "compare-metric-errors"),
            Metric::Differences => say!(self, "compare-metric-differences"),
            Metric::GeneratorCpu => say!(self, "compare-metric-generator-cpu"),
            Metric::PoolerCpu => say!(self, "compare-metric-pooler-cpu"),
            Metric::ServerCpu => say!(self, "compare-metric-server-cpu"),
        }
    }

    /// Verdict on the change of a metric: slower, higher, no evidence.
    pub fn metric_verdict(&self, metric: Metric, verdict: ChangeVerdict) -> String {
        let higher = match verdict {
            ChangeVerdict::NoEvidence => return say!(self, "compare-no-evidence"),
            ChangeVerdict::TooFewRuns => return say!(self, "compare-too-few"),
            ChangeVerdict::Higher => true,
            ChangeVerdict::Lower => false,
        };
        match (metric.kind(), higher) {
            (MetricKind::Rate, true) | (MetricKind::Seconds, false) => say!(self, "compare-faster"),
            (MetricKind::Rate, false) | (MetricKind::Seconds, true) => say!(self, "compare-slower"),
            (MetricKind::Share | MetricKind::Processors, true) => say!(self, "compare-higher"),
            (MetricKind::Share | MetricKind::Processors, false) => say!(self, "compare-lower"),
        }
    }

    /// Formats a value of this metric, with its unit.
    pub fn metric_value(&self, metric: Metric, value: f64) -> String {
        match metric.kind() {
            MetricKind::Seconds => self.numbers().seconds(value),
            MetricKind::Share => self.numbers().percent(value, 3),
            MetricKind::Rate | MetricKind::Processors => self.numbers().three(value),
        }
    }

    /// Formats a change in per cent, or in percentage points; empty if unknown.
    pub fn change(&self, change: &Change) -> String {
        match change {
            Change::Ratio { value, .. } => value.map_or(String::new(), |ratio| self.numbers().change(ratio)),
            Change::Difference { value, .. } => self.percentage_points(*value),
        }
    }

    /// Formats the interval of the change, in the same unit.
    pub fn change_interval(&self, change: &Change) -> String {
        match (change, change.interval()) {
            (_, None) => String::new(),
            (Change::Ratio { .. }, Some(interval)) => self.numbers().changes(interval),
            (Change::Difference { .. }, Some((low, high))) => {
                let [from, to] = &self.numbers().range;
                let points = format!("{from}{}{to}{}", self.signed_points(low), self.signed_points(high));
                say!(self, "compare-percentage-points", points)
            }
        }
    }

    fn percentage_points(&self, share: f64) -> String {
        say!(self, "compare-percentage-points", points = self.signed_points(share))
    }

    /// Formats a share in percentage points, with its sign.
    fn signed_points(&self, share: f64) -> String {
        self.number(&format!("{:+.3}", 100.0 * share))
    }

    /// Question of a comparison. `runs` is empty if the base's cells are compared with each other. `baselines` are the
    /// names of the baseline cells.
    pub fn comparison_question(&self, base: &str, runs: &[&str], baselines: &[String]) -> String {
        let cell = baselines.first().filter(|it| !it.is_empty());
        match runs {
            [] => say!(self, "compare-question-cells", base, baselines = baselines.len(), cell),
            runs => say!(self, "compare-question-runs", base, runs = runs.join(", ")),
        }
    }

    /// Describes one run in one sentence.
    pub fn comparison_answer(&self, comparison: &RunComparison) -> String {
        let counts = FigureCount::from_comparison(comparison);
        let result = if counts.figures == 0 {
            say!(self, "compare-answer-nothing")
        } else if counts.too_few == counts.figures {
            say!(self, "compare-answer-too-few")
        } else {
            let mut changes = Vec::new();
            if counts.better > 0 {
                changes.push(say!(self, "compare-answer-better", count = counts.better));
            }
            if counts.worse > 0 {
                changes.push(say!(self, "compare-answer-worse", count = counts.worse));
            }
            if counts.other > 0 {
                changes.push(say!(self, "compare-answer-other", count = counts.other));
            }
            match changes.as_slice() {
                [] => say!(self, "compare-answer-no-evidence", figures = counts.figures),
                changes => {
                    say!(
                        self,
                        "compare-answer-changes",
                        figures = counts.figures,
                        changes = changes.join(", ")
                    )
                }
            }
        };
        say!(self, "compare-answer", run = &comparison.run.name, result, confounders = counts.confounders)
    }

    /// Reports `count` differences that affect the figures apart from the tested change.
    pub fn confounders(&self, count: usize) -> String {
        say!(self, "compare-confounders", count)
    }

    /// Describes a difference between runs. `cells` are the cells with this difference; empty if all cells have it.
    pub fn difference_of_runs(&self, difference: &Difference, cells: &[&str]) -> String {
        let value =
            |value: &Option<String>| value.clone().unwrap_or_else(|| say!(self, "compare-absent-value"));
        let cells = (!cells.is_empty()).then(|| cells.join(", "));
        say!(
            self,
            "compare-difference",
            path = &difference.path,
            base = value(&difference.base),
            run = value(&difference.run),
            cells,
            expected = difference.expected
        )
    }

    /// Name of what differs between runs.
    pub fn difference_subject(&self, subject: DifferenceSubject) -> String {
        let subject = match subject {
            DifferenceSubject::Transport => "transport",
            DifferenceSubject::Server => "server",
            DifferenceSubject::Limit | DifferenceSubject::NotApplied => "limits",
            DifferenceSubject::Machine => "machine",
            DifferenceSubject::Dataset => "dataset",
            DifferenceSubject::Load => "load",
            DifferenceSubject::Operation => "operations",
            DifferenceSubject::Setting => "settings",
            DifferenceSubject::Generator => "pgdyno",
            DifferenceSubject::Objective => "objectives",
        };
        say!(self, "compare-subject", subject)
    }

    pub fn test_method(&self, method: &TestMethod) -> String {
        let numbers = self.numbers();
        match *method {
            TestMethod::Trials { base, run } => say!(self, "compare-method-trials", base, run),
            TestMethod::Pairs { pairs } => say!(self, "compare-method-pairs", pairs),
            TestMethod::Ranks { base, run } => say!(self, "compare-method-ranks", base, run),
            TestMethod::Blocks { base, run } => say!(
                self,
                "compare-method-blocks",
                base_count = base.count,
                run_count = run.count,
                base_seconds = numbers.fixed(base.length, 0),
                run_seconds = numbers.fixed(run.length, 0),
                base_correlation = numbers.fixed(base.correlation, 2),
                run_correlation = numbers.fixed(run.correlation, 2)
            ),
            TestMethod::None { base, run } => say!(self, "compare-method-none", base, run),
        }
    }

    /// Reports an excluded trial. `repetition` is the number of the trial, from 0.
    pub fn excluded_trial(&self, of_base: bool, cell: &str, repetition: u32, reason: &str) -> String {
        let cell = Some(cell).filter(|name| !name.is_empty());
        say!(self, "compare-excluded-trial", of_base, cell, trial = repetition + 1, reason)
    }

    pub fn unmatched_cells(&self, of_base: bool, cells: &[&str]) -> String {
        say!(self, "compare-unmatched-cells", of_base, cells = cells.join(", "))
    }

    /// Result of a condition. `cell` is empty if there is only one cell.
    pub fn condition(&self, condition: &ConditionResult, cell: &str) -> String {
        let numbers = self.numbers();
        let format = |value: f64| match condition.unit {
            ConditionUnit::Relative => numbers.change(1.0 + value),
            ConditionUnit::Points => self.percentage_points(value),
            ConditionUnit::Seconds => numbers.seconds(value),
            ConditionUnit::Share => numbers.percent(value, 3),
            ConditionUnit::PerSecond | ConditionUnit::Processors => numbers.three(value),
        };
        let outcome = match condition.outcome {
            ConditionOutcome::Holds => say!(self, "compare-condition-met"),
            ConditionOutcome::DoesNotHold => say!(self, "compare-condition-not-met"),
            ConditionOutcome::Unknown => say!(self, "compare-condition-unknown"),
            ConditionOutcome::Absent => say!(self, "compare-condition-absent"),
        };
        let (low, high) = condition.interval.unzip();
        say!(
            self,
            "compare-condition",
            condition = &condition.text,
            cell = Some(cell).filter(|name| !name.is_empty()),
            outcome,
            value = condition.value.map(format),
            low = low.map(format),
            high = high.map(format)
        )
    }

    /// Legend of the figures. `figures` is the number of figures that were tested together.
    pub fn comparison_legend(&self, seed: u64, figures: usize) -> String {
        say!(self, "compare-legend", seed = seed.to_string(), figures)
    }

    pub fn history_question(&self, experiment: &str) -> String {
        say!(self, "compare-history-question", experiment)
    }

    /// Answer of a history. `too_few` is true if there are too few runs to detect any change.
    pub fn history_answer(&self, runs: usize, changes: usize, too_few: bool) -> String {
        match (changes, too_few) {
            (0, true) => say!(self, "compare-history-too-few", runs),
            (0, false) => say!(self, "compare-history-no-evidence", runs),
            (_, _) => say!(self, "compare-history-changes", changes, runs),
        }
    }

    /// Describes a change that begins with `run`. `before` and `after` have the unit of [`Lang::metric_value`].
    pub fn change_point(&self, metric: Metric, run: &str, before: f64, after: f64, p: f64) -> String {
        say!(
            self,
            "compare-change-point",
            metric = self.metric(metric),
            run,
            before = self.metric_value(metric, before),
            after = self.metric_value(metric, after),
            change = self.numbers().change(after / before),
            p = self.numbers().fixed(p, 4)
        )
    }
}

/// Numbers of figures by their verdict relative to the base.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct FigureCount {
    figures: usize,
    better: usize,
    worse: usize,
    /// Number of changed figures for which neither direction is better.
    other: usize,
    too_few: usize,
    /// Number of confounders: differences that affect the figures but are not the tested change.
    confounders: usize,
}

impl FigureCount {
    fn from_comparison(comparison: &RunComparison) -> FigureCount {
        let mut counts = FigureCount {
            confounders: comparison.differences.iter().filter(|it| it.is_confounder()).count(),
            ..FigureCount::default()
        };
        for figure in comparison.cells.iter().flat_map(|cell| &cell.figures) {
            counts.figures += 1;
            let count = match (figure.verdict, figure.metric.higher_is_better()) {
                (ChangeVerdict::NoEvidence, _) => continue,
                (ChangeVerdict::TooFewRuns, _) => &mut counts.too_few,
                (_, None) => &mut counts.other,
                (verdict, Some(higher)) if (verdict == ChangeVerdict::Higher) == higher => &mut counts.better,
                _ => &mut counts.worse,
            };
            *count += 1;
        }
        counts
    }
}
