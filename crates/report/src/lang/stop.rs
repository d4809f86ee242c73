//! Sentences about stop rules and objectives

use super::number::{Numbers, quantile};
use super::{Lang, cell_name};
use crate::say;
use model::objective::{ObjectiveResult, ObjectiveSummary, ObjectiveUnit, ObjectiveVerdict};
use model::stop::{StopEvent, TankDifference};

impl Lang {
    /// Sentence about a stop rule whose series never had a value.
    pub fn rule_without_values(&self, rule: &str) -> String {
        say!(self, "stop-never-measured", rule)
    }

    pub fn fired(&self, event: &StopEvent) -> String {
        say!(
            self,
            "stop-fired",
            rule = &event.rule,
            second = event.at_second,
            cause_second = event.cause_second,
            rate = self.numbers().fixed(event.rate_at_cause.0, 0)
        )
    }

    /// Describes a difference between pgdyno's stop rule and Yandex.Tank's.
    pub fn difference(&self, difference: &TankDifference) -> String {
        let numbers = self.numbers();
        match difference {
            TankDifference::MaskOfX { mask } => say!(self, "stop-tank-mask", mask, length = mask.len()),
            TankDifference::OtherQuantile { percent } => {
                say!(self, "stop-tank-quantile", percent = numbers.plain(*percent))
            }
            TankDifference::TimesOfFailures => say!(self, "stop-tank-failed-times"),
            TankDifference::RoundedLimit { limit_ms } => {
                say!(self, "stop-tank-rounded", limit = numbers.plain(*limit_ms))
            }
            TankDifference::MeanOfPercents => say!(self, "stop-tank-mean"),
            TankDifference::MissingMetric => say!(self, "stop-tank-missing"),
            TankDifference::InstancesShare => say!(self, "stop-tank-instances"),
            TankDifference::NotInTank => say!(self, "stop-tank-unknown-rule"),
        }
    }

    pub fn judged(&self, result: &ObjectiveResult) -> String {
        let objective = &result.objective;
        match (result.verdict, self.measured_objective(result)) {
            (ObjectiveVerdict::Met, Some(measured)) => say!(self, "stop-objective-met", objective, measured),
            (ObjectiveVerdict::Violated, measured) => {
                let measured = measured.unwrap_or_else(|| say!(self, "stop-lower-quantile"));
                say!(self, "stop-objective-violated", objective, measured)
            }
            (ObjectiveVerdict::Unknown, Some(measured)) if result.ended_early => {
                say!(self, "stop-objective-ended-early", objective, measured)
            }
            (ObjectiveVerdict::Unknown, Some(measured)) => {
                say!(self, "stop-objective-unanswered", objective, measured)
            }
            (ObjectiveVerdict::Met | ObjectiveVerdict::Unknown, _) => {
                let reason = self.too_few(result);
                say!(self, "stop-objective-not-measured", objective, reason)
            }
        }
    }

    /// An objective's summary. `names` lists the names of the cells.
    pub fn objective_summary(&self, summary: &ObjectiveSummary, names: &[String]) -> String {
        let objective = &summary.objective;
        let each = verdicts(summary).into_iter().enumerate().map(|(number, (verdict, trials))| {
            let verdict = match verdict {
                ObjectiveVerdict::Met => say!(self, "stop-met"),
                ObjectiveVerdict::Violated => say!(self, "stop-violated"),
                ObjectiveVerdict::Unknown => say!(self, "stop-unknown"),
            };
            match number {
                0 => say!(self, "stop-trials-first", verdict, trials),
                _ => say!(self, "stop-trials-next", verdict, trials),
            }
        });
        let verdicts = each.collect::<Vec<_>>().join(", ");
        if verdicts.is_empty() {
            return say!(self, "stop-summary-none", objective);
        }
        let Some(worst) = &summary.worst else { return say!(self, "stop-summary", objective, verdicts) };
        let cell = Some(cell_name(names, worst.cell)).filter(|name| !name.is_empty());
        if summary.met + summary.violated == 0 && worst.result.measured.is_none() {
            let reason = self.too_few(&worst.result);
            return say!(self, "stop-summary-not-measured", objective, verdicts, reason);
        }
        let figure =
            self.measured_objective(&worst.result).unwrap_or_else(|| say!(self, "stop-lower-quantile"));
        say!(self, "stop-summary-worst", objective, verdicts, cell, figure)
    }

    /// An objective's measured value and its number of samples; `None` if the value was not measured.
    fn measured_objective(&self, result: &ObjectiveResult) -> Option<String> {
        let value = measured(self.numbers(), result, result.measured?);
        Some(say!(self, "stop-measured", value, samples = self.samples(result)))
    }

    /// States that there are too few samples for an objective's value. For a quantile, it also states the nearest
    /// quantile that is known.
    fn too_few(&self, result: &ObjectiveResult) -> String {
        if result.unit == ObjectiveUnit::Count {
            return say!(self, "failover-not-read");
        }
        let Some(too_few) = &result.too_few else {
            return say!(self, "stop-too-few-samples", samples = self.samples(result));
        };
        let numbers = self.numbers();
        let [needed, count] = [too_few.needed, result.samples].map(|it| numbers.count(it));
        let nearest =
            too_few.nearest.map(|(share, value)| format!("{} = {}", quantile(share), numbers.seconds(value)));
        say!(
            self,
            "stop-quantile-not-measurable",
            quantile = quantile(too_few.quantile),
            needed,
            count,
            nearest
        )
    }

    /// Number of samples on which an objective's value is based.
    fn samples(&self, result: &ObjectiveResult) -> String {
        let count = result.samples;
        match result.unit {
            ObjectiveUnit::Seconds => say!(self, "stop-samples", count),
            ObjectiveUnit::Share => say!(self, "stop-arrivals", count),
            ObjectiveUnit::PerSecond => say!(self, "stop-transactions", count),
            ObjectiveUnit::Count => say!(self, "stop-writes", count),
        }
    }
}

/// Lists the verdicts that occurred, with their numbers.
fn verdicts(summary: &ObjectiveSummary) -> Vec<(ObjectiveVerdict, u32)> {
    let all = [
        (ObjectiveVerdict::Met, summary.met),
        (ObjectiveVerdict::Violated, summary.violated),
        (ObjectiveVerdict::Unknown, summary.unknown),
    ];
    all.into_iter().filter(|it| it.1 > 0).collect()
}

/// An objective's value: `5.47 ms`, or `> 6 s` if only a lower bound is known.
fn measured(numbers: &Numbers, result: &ObjectiveResult, value: f64) -> String {
    let value = match result.unit {
        ObjectiveUnit::Seconds => numbers.seconds(value),
        ObjectiveUnit::Share => numbers.percent(value, 3),
        ObjectiveUnit::PerSecond => numbers.fixed(value, 1) + &numbers.per_second,
        ObjectiveUnit::Count => numbers.count(value as u64),
    };
    match (result.is_lower_bound, result.unit) {
        (false, _) => value,
        (true, ObjectiveUnit::Seconds) => format!(">{}{value}", numbers.gap),
        (true, _) => format!("≥{}{value}", numbers.gap),
    }
}
