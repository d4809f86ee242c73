//! Parser and judge of `--fail-if` conditions on a comparison
//!
//! Examples: `p99 > +10%`, `tps < -5%`, `errors > 1%`, `p99 of transfer > 200ms`. A condition has a figure, optionally
//! an operation, a relation and a bound. A bound with a sign applies to the change relative to the base; for shares,
//! the change is in percentage points. A bound without a sign applies to the run's figure. A condition is met only if
//! the whole confidence interval is beyond the bound.

use crate::verdict::rule::{quoted, unknown_operation};
use model::comparison::{
    self, CellComparison, Change, ConditionOutcome, ConditionUnit, Metric, MetricComparison, MetricKind,
};
use model::matrix::ChangeVerdict;
use model::{GrammarDiagnostic, message};

/// One condition of `--fail-if`.
#[derive(Clone, Debug, PartialEq)]
pub struct FailCondition {
    text: String,
    metric: Metric,
    /// Name of the operation; `None` for all operations.
    operation: Option<String>,
    above: bool,
    bound: Bound,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    /// Bound on the ratio minus 1, or on the difference of shares.
    Change(f64),
    /// Bound on the run's figure.
    Level(f64),
}

/// Parses one condition. `operations` are the names in all runs.
pub fn parse(text: &str, operations: &[String]) -> Result<FailCondition, GrammarDiagnostic> {
    let reject = |part, message| Err(GrammarDiagnostic::in_part(text, part, message));
    let Some(sign) = text.rfind(['>', '<']) else {
        return reject(text.trim(), message!("condition-form", text = quoted(text.trim())));
    };
    let (left, right) = (text[..sign].trim(), text[sign + 1..].trim());
    let (name, operation) = match left.split_once(" of ") {
        None => (left, None),
        Some((name, operation)) => {
            let operation = operation.trim();
            if !operations.iter().any(|it| it == operation) {
                return reject(operation, unknown_operation(operation, operations));
            }
            (name.trim(), Some(operation.to_owned()))
        }
    };
    let Some(metric) = Metric::ALL.into_iter().find(|it| it.name() == name) else {
        let names = Metric::ALL.map(Metric::name).join(", ");
        return reject(name, message!("objective-metric", text = quoted(name), names));
    };
    if operation.is_some() && metric.kind() == MetricKind::Processors {
        return reject(left, message!("condition-operation", name));
    }
    let Some(bound) = bound(metric, right) else {
        let text = quoted(right);
        let message = match metric.kind() {
            MetricKind::Seconds => message!("condition-time", text),
            MetricKind::Share => message!("condition-share", text),
            MetricKind::Rate => message!("condition-rate", text),
            MetricKind::Processors => message!("condition-cpus", text),
        };
        return reject(right, message);
    };
    let above = text[sign..].starts_with('>');
    Ok(FailCondition { text: text.trim().to_owned(), metric, operation, above, bound })
}

fn bound(metric: Metric, text: &str) -> Option<Bound> {
    let number = |text: &str| {
        let plain = text.trim_end();
        let fits = plain.starts_with(|it: char| it.is_ascii_digit() || it == '.');
        plain.parse().ok().filter(|it: &f64| fits && it.is_finite())
    };
    let signed = [('+', 1.0), ('-', -1.0)];
    if let Some((sign, factor)) = signed.into_iter().find(|it| text.starts_with(it.0)) {
        let percentage = number(text.strip_prefix(sign)?.strip_suffix('%')?)? / 100.0;
        return Some(Bound::Change(factor * percentage));
    }
    let level = match metric.kind() {
        MetricKind::Rate => number(text.strip_suffix("/s").unwrap_or(text)),
        MetricKind::Processors => number(text),
        MetricKind::Share => number(text.strip_suffix('%')?).map(|it| it / 100.0),
        MetricKind::Seconds => {
            let units = [("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0)];
            units.iter().find_map(|(unit, size)| Some(number(text.strip_suffix(unit)?)? * size))
        }
    };
    level.map(Bound::Level)
}

impl FailCondition {
    /// Judges the condition for the cell with index `number`. A cell with a single operation has only the figures of
    /// all operations together.
    pub fn judge(
        &self,
        number: usize,
        cell: &CellComparison,
        only_operation: Option<&str>,
    ) -> comparison::ConditionResult {
        let operation = self.operation.as_deref().filter(|it| Some(*it) != only_operation);
        let is_judged =
            |it: &&MetricComparison| it.metric == self.metric && it.operation.as_deref() == operation;
        let figure = cell.figures.iter().find(is_judged);
        let (value, interval, unit, bound) = match (self.bound, figure) {
            (Bound::Change(bound), figure) => {
                let (value, interval) = figure.map_or((None, None), change);
                let points = self.metric.kind() == MetricKind::Share;
                let unit = if points { ConditionUnit::Points } else { ConditionUnit::Relative };
                (value, interval, unit, bound)
            }
            (Bound::Level(bound), figure) => {
                let level = figure.map(|it| it.run);
                let value = level.map(|it| it.value);
                // With too few trials for an interval, judge the value itself.
                let interval = level.and_then(|it| it.interval.or(Some((it.value, it.value))));
                (value, interval, self.unit(), bound)
            }
        };
        // Ignore a change if there are too few trials to prove it.
        let believed = figure
            .filter(|it| it.verdict != ChangeVerdict::TooFewRuns || matches!(self.bound, Bound::Level(_)));
        let outcome = match (figure, interval.filter(|_| believed.is_some())) {
            (None, _) => ConditionOutcome::Absent,
            (_, Some((low, high))) if self.exceeds(low, bound) && self.exceeds(high, bound) => {
                ConditionOutcome::Holds
            }
            (_, Some((low, high))) if !self.exceeds(low, bound) && !self.exceeds(high, bound) => {
                ConditionOutcome::DoesNotHold
            }
            _ => ConditionOutcome::Unknown,
        };
        comparison::ConditionResult {
            text: self.text.clone(),
            cell: number,
            outcome,
            value,
            interval,
            bound,
            unit,
        }
    }

    fn exceeds(&self, value: f64, bound: f64) -> bool {
        if self.above { value > bound } else { value < bound }
    }

    fn unit(&self) -> ConditionUnit {
        match self.metric.kind() {
            MetricKind::Rate => ConditionUnit::PerSecond,
            MetricKind::Seconds => ConditionUnit::Seconds,
            MetricKind::Share => ConditionUnit::Share,
            MetricKind::Processors => ConditionUnit::Processors,
        }
    }
}

/// Change and its interval in the unit of a condition; 0 is no change.
fn change(comparison: &MetricComparison) -> (Option<f64>, Option<(f64, f64)>) {
    match comparison.change {
        Change::Ratio { value, interval } => {
            (value.map(|it| it - 1.0), interval.map(|(low, high)| (low - 1.0, high - 1.0)))
        }
        Change::Difference { value, interval } => (Some(value), interval),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::comparison::{MetricEstimate, TestMethod};

    fn operations() -> Vec<String> {
        ["pay", "look of love"].map(str::to_owned).to_vec()
    }

    #[test]
    fn parses_conditions() {
        for (text, metric, operation, above, bound) in [
            ("p99 > +10%", Metric::P99, None, true, Bound::Change(0.1)),
            (" tps<-5% ", Metric::Tps, None, false, Bound::Change(-0.05)),
            ("errors > 1%", Metric::Errors, None, true, Bound::Level(0.01)),
            ("errors > +0.5%", Metric::Errors, None, true, Bound::Change(0.005)),
            ("p99.9 of look of love > 200ms", Metric::P999, Some("look of love"), true, Bound::Level(0.2)),
            ("service p99 of pay > 1.5 s", Metric::ServiceP99, Some("pay"), true, Bound::Level(1.5)),
            ("tps < 500/s", Metric::Tps, None, false, Bound::Level(500.0)),
            ("server cpu > 1.5", Metric::ServerCpu, None, true, Bound::Level(1.5)),
        ] {
            let condition = parse(text, &operations()).expect(text);
            let got = (condition.metric, condition.operation.as_deref(), condition.above, condition.bound);
            assert_eq!(got, (metric, operation, above, bound), "{text}");
        }
    }

    #[test]
    fn reports_diagnostics_with_position() {
        for (text, offset, expected, message) in [
            ("", 0, "", "condition-form"),
            ("p99 +10%", 0, "p99 +10%", "condition-form"),
            ("p98 > +10%", 0, "p98", "objective-metric"),
            ("p99 > 10%", 6, "10%", "condition-time"),
            ("p99 > +10", 6, "+10", "condition-time"),
            ("p99 > +-10%", 6, "+-10%", "condition-time"),
            ("p99 > +infinity%", 6, "+infinity%", "condition-time"),
            ("p99 >", 5, "", "condition-time"),
            ("errors > 5", 9, "5", "condition-share"),
            ("tps < 5ms", 6, "5ms", "condition-rate"),
            ("server cpu > many", 13, "many", "condition-cpus"),
            ("p99 of buy > 1s", 7, "buy", "rule-operation"),
            ("server cpu of pay > 1", 0, "server cpu of pay", "condition-operation"),
        ] {
            let diagnostic = parse(text, &operations()).expect_err(text);
            let part = &text[diagnostic.span.clone()];
            assert_eq!(
                (diagnostic.span.start, part, diagnostic.message.id.as_ref()),
                (offset, expected, message),
                "{text}"
            );
        }
    }

    /// Cell whose p99 is 100 ms in the base and `run` ms in the run. `interval` is the interval of the ratio.
    fn cell(run: f64, interval: Option<(f64, f64)>, verdict: ChangeVerdict) -> CellComparison {
        let level = |value| MetricEstimate { value, interval: Some((value * 0.9, value * 1.1)), trials: 5 };
        let figure = MetricComparison {
            metric: Metric::P99,
            operation: None,
            base: level(0.1),
            run: level(run),
            change: Change::Ratio { value: Some(run / 0.1), interval },
            method: TestMethod::Trials { base: 5, run: 5 },
            p: Some(0.01),
            verdict,
        };
        CellComparison { base: Vec::new(), run: Vec::new(), figures: vec![figure] }
    }

    #[test]
    fn is_met_only_if_the_whole_interval_exceeds_the_bound() {
        for (text, interval, verdict, expected) in [
            ("p99 > +10%", Some((1.11, 1.3)), ChangeVerdict::Higher, ConditionOutcome::Holds),
            ("p99 > +10%", Some((1.09, 1.3)), ChangeVerdict::Higher, ConditionOutcome::Unknown),
            ("p99 > +10%", Some((0.95, 1.09)), ChangeVerdict::NoEvidence, ConditionOutcome::DoesNotHold),
            ("p99 > +10%", Some((0.9, 1.2)), ChangeVerdict::NoEvidence, ConditionOutcome::Unknown),
            ("p99 < -10%", Some((0.5, 0.89)), ChangeVerdict::Lower, ConditionOutcome::Holds),
            ("p99 < -10%", Some((0.9, 1.2)), ChangeVerdict::NoEvidence, ConditionOutcome::DoesNotHold),
            ("p99 > +10%", None, ChangeVerdict::NoEvidence, ConditionOutcome::Unknown),
            ("p99 > +10%", Some((1.5, 1.6)), ChangeVerdict::TooFewRuns, ConditionOutcome::Unknown),
            ("p99 > 100ms", None, ChangeVerdict::TooFewRuns, ConditionOutcome::Holds),
            ("p99 > 125ms", None, ChangeVerdict::NoEvidence, ConditionOutcome::Unknown),
            ("p99 > 200ms", None, ChangeVerdict::NoEvidence, ConditionOutcome::DoesNotHold),
            ("p50 > +10%", Some((1.5, 1.6)), ChangeVerdict::Higher, ConditionOutcome::Absent),
            ("p99 of pay > +10%", Some((1.5, 1.6)), ChangeVerdict::Higher, ConditionOutcome::Holds),
            ("p99 of look of love > +10%", Some((1.5, 1.6)), ChangeVerdict::Higher, ConditionOutcome::Absent),
        ] {
            let condition = parse(text, &operations()).expect(text);
            let result = condition.judge(3, &cell(0.13, interval, verdict), Some("pay"));
            assert_eq!((result.outcome, result.cell), (expected, 3), "{text} {interval:?}");
        }
    }
}
