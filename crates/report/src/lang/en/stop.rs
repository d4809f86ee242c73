//! English: stop rules and objectives.

use super::NUMBERS;
use crate::lang::told::{self, verdicts};
use model::objective::{ObjectiveResult, ObjectiveSummary, ObjectiveUnit, ObjectiveVerdict};
use model::stop::{StopEvent, TankDifference};

pub fn fired(it: &StopEvent) -> String {
    format!(
        "{} stopped the load after second {}; it began in second {}, at {:.0} transactions per second",
        it.rule, it.at_second, it.cause_second, it.rate_at_cause.0
    )
}

pub fn difference(it: &TankDifference) -> String {
    match it {
        TankDifference::MaskOfX { mask } => format!(
            "`{mask}` is any code but 0 here, as Yandex.Tank's manual says; since June 2024 Tank itself compares whole \
             codes, and finds only those of {} characters",
            mask.len()
        ),
        TankDifference::OtherQuantile { percent } => format!(
            "Yandex.Tank does not keep quantile {percent}, so that its rule would never fire; it knows 25, 50, 75, 80, \
             90, 95, 98, 99 and 100"
        ),
        TankDifference::TimesOfFailures => {
            "only transactions that ended well have a time here; Yandex.Tank times failed ones too".to_owned()
        }
        TankDifference::RoundedLimit { limit_ms } => {
            format!("Yandex.Tank rounds {limit_ms} ms to a bin of its histogram; here it is exact to 0.1 %")
        }
        TankDifference::MeanOfPercents => {
            "the seconds' percentages are averaged here, those without responses left out; Yandex.Tank takes such a \
             second as 1 %, and in its newest versions divides the sums over the window"
                .to_owned()
        }
        TankDifference::MissingMetric => {
            "a second without a sample changes nothing here; Yandex.Tank reads it as 0".to_owned()
        }
        TankDifference::InstancesShare => {
            "the share is that of the clients here; with Pandora Yandex.Tank needs `startup: once` for it".to_owned()
        }
        TankDifference::NotInTank => "Yandex.Tank does not know this rule".to_owned(),
    }
}

pub fn judged(it: &ObjectiveResult) -> String {
    match (it.verdict, measured(it)) {
        (ObjectiveVerdict::Met, Some(measured)) => format!("kept: {}: {measured}", it.objective),
        (ObjectiveVerdict::Violated, Some(measured)) => format!("BROKEN: {}: {measured}", it.objective),
        (ObjectiveVerdict::Violated, None) => {
            format!("BROKEN: {}: a lower quantile is above already", it.objective)
        }
        (ObjectiveVerdict::Unknown, Some(measured)) => {
            format!("unknown: {}: {measured}, and nothing was answered to the end", it.objective)
        }
        (ObjectiveVerdict::Met | ObjectiveVerdict::Unknown, _) => {
            format!(
                "unknown: {}: {} {} are too few to tell; run longer",
                it.objective,
                it.samples,
                samples(it.unit)
            )
        }
    }
}

/// `p99 < 200ms: kept in 20 trials, BROKEN in 2, unknown in 1; worst in session/200: 1.03 s of 2345 samples`.
pub fn tally(it: &ObjectiveSummary, names: &[String]) -> String {
    let told: Vec<String> = verdicts(it)
        .into_iter()
        .enumerate()
        .map(|(number, (what, count))| {
            let what = match what {
                ObjectiveVerdict::Met => "kept",
                ObjectiveVerdict::Violated => "BROKEN",
                ObjectiveVerdict::Unknown => "unknown",
            };
            match (number, count) {
                (0, 1) => format!("{what} in 1 trial"),
                (0, count) => format!("{what} in {count} trials"),
                (_, count) => format!("{what} in {count}"),
            }
        })
        .collect();
    if told.is_empty() {
        return format!("{}: no trial was measured", it.objective);
    }
    let worst = it.worst.as_ref().map_or(String::new(), |it| {
        let name = told::name(names, it.cell);
        let figure = measured(&it.result).unwrap_or_else(|| "a lower quantile is above already".to_owned());
        let of = if name.is_empty() { String::new() } else { format!(" in {name}") };
        format!("; worst{of}: {figure}")
    });
    format!("{}: {}{worst}", it.objective, told.join(", "))
}

/// `12.3 ms of 10000 samples`.
fn measured(it: &ObjectiveResult) -> Option<String> {
    it.measured.map(|value| {
        format!("{} of {} {}", told::measured(&NUMBERS, it, value), it.samples, samples(it.unit))
    })
}

/// What an objective's figure was computed from.
fn samples(it: ObjectiveUnit) -> &'static str {
    match it {
        ObjectiveUnit::Seconds => "samples",
        ObjectiveUnit::Share => "arrivals",
        ObjectiveUnit::PerSecond => "transactions",
    }
}
