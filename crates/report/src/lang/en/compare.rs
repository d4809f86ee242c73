//! English: what comparisons say.

use super::{En, NUMBERS as EN};
use crate::lang::compare::{CompareTerm, CompareWords, FigureCount};
use crate::page::number::three_digits;
use model::comparison::{
    Change, ConditionOutcome, ConditionResult, ConditionUnit, Difference, Metric, MetricKind, RunComparison,
    TestMethod,
};
use model::matrix::ChangeVerdict;

impl CompareWords for En {
    fn comparing(&self, it: CompareTerm) -> &'static str {
        match it {
            CompareTerm::Title => "Comparison",
            CompareTerm::Unlike => "Apples and oranges",
            CompareTerm::Conditions => "Conditions",
            CompareTerm::Figures => "Figures",
            CompareTerm::Differences => "What differs",
            CompareTerm::LeftOut => "What was left out",
            CompareTerm::Operation => "operation",
            CompareTerm::Figure => "figure",
            CompareTerm::Base => "base",
            CompareTerm::Run => "run",
            CompareTerm::Change => "change",
            CompareTerm::Interval => "95 %",
            CompareTerm::Verdict => "verdict",
            CompareTerm::Method => "by",
            CompareTerm::All => "all",
            CompareTerm::NoDifference => "nothing in plans, versions and machines",
            CompareTerm::History => "History",
            CompareTerm::Series => "Runs",
            CompareTerm::ChangePoints => "Changes",
            CompareTerm::When => "when",
            CompareTerm::Program => "pgdyno",
            CompareTerm::Server => "PostgreSQL",
            CompareTerm::Trials => "trials",
            CompareTerm::NothingElse => "nothing in plans, versions and machines changed with it",
        }
    }

    fn metric(&self, it: Metric) -> &'static str {
        match it {
            Metric::Tps => "delivered, tps",
            Metric::P50 => "response p50",
            Metric::P90 => "response p90",
            Metric::P99 => "response p99",
            Metric::P999 => "response p99.9",
            Metric::ServiceP99 => "service p99",
            Metric::Errors => "errors",
            Metric::GeneratorCpu => "CPU of the generator",
            Metric::PoolerCpu => "CPU before PostgreSQL",
            Metric::ServerCpu => "CPU of PostgreSQL",
        }
    }

    fn differs(&self, metric: Metric, verdict: ChangeVerdict) -> &'static str {
        let timely = matches!(metric.kind(), MetricKind::Rate | MetricKind::Seconds);
        let faster = (verdict == ChangeVerdict::Higher) == (metric.kind() == MetricKind::Rate);
        match verdict {
            ChangeVerdict::NoEvidence => "no evidence",
            ChangeVerdict::TooFewRuns => "too few",
            ChangeVerdict::Higher | ChangeVerdict::Lower if timely => {
                if faster {
                    "faster"
                } else {
                    "slower"
                }
            }
            ChangeVerdict::Higher => "higher",
            ChangeVerdict::Lower => "lower",
        }
    }

    fn measure(&self, metric: Metric, value: f64) -> String {
        match metric.kind() {
            MetricKind::Seconds => EN.seconds(value),
            MetricKind::Share => EN.percent(value, 3),
            MetricKind::Rate | MetricKind::Processors => self.number(&three_digits(value)),
        }
    }

    fn changed(&self, it: &Change) -> String {
        match it {
            Change::Ratio { value, .. } => value.map_or(String::new(), |it| EN.change(it)),
            Change::Difference { value, .. } => format!("{:+.3} pp", 100.0 * value),
        }
    }

    fn changed_interval(&self, it: &Change) -> String {
        match (it, it.interval()) {
            (_, None) => String::new(),
            (Change::Ratio { .. }, Some(it)) => EN.changes(it),
            (Change::Difference { .. }, Some((low, high))) => {
                format!("{:+.3} to {:+.3} pp", 100.0 * low, 100.0 * high)
            }
        }
    }

    fn comparison_question(&self, base: &str, runs: &[&str]) -> String {
        match runs {
            [] => format!("How do the cells of {base} stand beside its baseline?"),
            runs => format!("What changed from {base} to {}?", runs.join(", ")),
        }
    }

    fn comparison_answer(&self, it: &RunComparison) -> String {
        let counted = FigureCount::of(it);
        let FigureCount { figures, better, worse, other, too_few, unlike } = counted;
        let found = better + worse + other;
        let what = if figures == 0 {
            "nothing can be compared".to_owned()
        } else if too_few == figures {
            "there are too few trials to tell any difference".to_owned()
        } else if found == 0 {
            format!("no evidence of any difference in {figures} figures")
        } else {
            let parts = [(better, "better"), (worse, "worse"), (other, "otherwise different")];
            let told = parts.iter().filter(|it| it.0 > 0).map(|it| format!("{} {}", it.0, it.1));
            format!("of {figures} figures {}", told.collect::<Vec<_>>().join(", "))
        };
        let but = match unlike {
            0 => String::new(),
            1 => "; but one more difference changes the figures by itself".to_owned(),
            n => format!("; but {n} more differences change the figures by themselves"),
        };
        format!("{}: {what}{but}.", it.run.name)
    }

    fn unlike(&self, count: usize) -> String {
        match count {
            1 => "One difference changes the figures by itself, whatever else was changed:".to_owned(),
            n => format!("{n} differences change the figures by themselves, whatever else was changed:"),
        }
    }

    fn differing(&self, it: &Difference, cells: &[&str]) -> String {
        let told = |it: &Option<String>| it.clone().unwrap_or_else(|| "none".to_owned());
        let of = if cells.is_empty() { String::new() } else { format!(" ({})", cells.join(", ")) };
        let expected = if it.expected { ", on purpose" } else { "" };
        format!("{}: {} → {}{of}{expected}", it.path, told(&it.base), told(&it.run))
    }

    fn method(&self, it: &TestMethod) -> String {
        match it {
            TestMethod::Trials { base, run } => {
                format!("ranks of {base} and {run} trials, exact whatever their distribution")
            }
            TestMethod::Pairs { pairs } => {
                format!("ranks of the differences of {pairs} pairs of trials that were measured side by side")
            }
            TestMethod::FewTrials { base, run } => format!(
                "Student's distribution for {base} and {run} trials, if their logarithms scatter normally; four of \
                 each would need no such condition"
            ),
            TestMethod::Blocks { base, run } => format!(
                "{} and {} blocks of {:.0} and {:.0} s, resampled (correlation of neighbouring seconds {:.2} and \
                 {:.2}): of these stretches of time only; what another trial would bring is not known",
                base.count, run.count, base.seconds, run.seconds, base.correlation, run.correlation
            ),
            TestMethod::None { base, run } => format!("{base} and {run} trials are too few for an interval"),
        }
    }

    fn excluded(&self, of_base: bool, cell: &str, repetition: u32, why: &str) -> String {
        let of = if of_base { "base" } else { "run" };
        let cell = if cell.is_empty() { String::new() } else { format!(" {cell},") };
        format!("{of},{cell} trial {}: {why}", repetition + 1)
    }

    fn unmatched(&self, of_base: bool, cells: &[&str]) -> String {
        let of = if of_base { "base" } else { "run" };
        format!("only the {of} has {}", cells.join(", "))
    }

    fn condition(&self, it: &ConditionResult, cell: &str) -> String {
        let number = |value: f64| match it.unit {
            ConditionUnit::Relative => EN.change(1.0 + value),
            ConditionUnit::Points => format!("{:+.3} pp", 100.0 * value),
            ConditionUnit::Seconds => EN.seconds(value),
            ConditionUnit::Share => EN.percent(value, 3),
            ConditionUnit::PerSecond | ConditionUnit::Processors => three_digits(value),
        };
        let of = if cell.is_empty() { String::new() } else { format!(" ({cell})") };
        let value = it.value.map_or(String::new(), |it| format!(": {}", number(it)));
        let within = it
            .interval
            .map_or(String::new(), |(low, high)| format!(", between {} and {}", number(low), number(high)));
        let outcome = match it.outcome {
            ConditionOutcome::Yes => "met",
            ConditionOutcome::No => "not met",
            ConditionOutcome::Unknown => "cannot be said",
            ConditionOutcome::Absent => "cannot be said: the runs do not have this figure",
        };
        format!("{}{of}: {outcome}{value}{within}", it.text)
    }

    fn comparison_legend(&self, seed: u64, figures: usize) -> String {
        format!(
            "medians of the valid trials; changes with their intervals of 95 %; of all {figures} figures together a \
             false discovery rate of 5 %; seed {seed}"
        )
    }

    fn history_question(&self, experiment: &str) -> String {
        format!("When did the figures of {experiment} change?")
    }

    fn history_answer(&self, runs: usize, changes: usize, too_few: bool) -> String {
        match (changes, too_few) {
            (0, true) if runs == 1 => {
                "One run is too few to find a change: it takes five before and five after it.".to_owned()
            }
            (0, true) => {
                format!("{runs} runs are too few to find a change: it takes five before and five after it.")
            }
            (0, false) => format!("No evidence of any change in {runs} runs."),
            (1, _) => format!("One change in {runs} runs."),
            (n, _) => format!("{n} changes in {runs} runs."),
        }
    }

    fn change_point(&self, metric: Metric, run: &str, before: f64, after: f64, p: f64) -> String {
        let [from, to] = [before, after].map(|it| self.measure(metric, it));
        format!(
            "{} from {run} on: {from} → {to} ({}, p {p:.4})",
            self.metric(metric),
            EN.change(after / before)
        )
    }
}
