//! Russian: stop rules and objectives.

use super::NUMBERS as RU;
use super::{counted, oblique, plural};
use crate::lang::told::{self, verdicts};
use model::objective::{ObjectiveResult, ObjectiveSummary, ObjectiveUnit, ObjectiveVerdict};
use model::stop::{StopEvent, TankDifference};

pub fn fired(it: &StopEvent) -> String {
    format!(
        "{} остановило нагрузку после секунды {}; началось это на секунде {}, при {}\u{a0}транз/с",
        it.rule,
        RU.count(it.at_second),
        RU.count(it.cause_second),
        RU.fixed(it.rate_at_cause.0, 0)
    )
}

pub fn difference(it: &TankDifference) -> String {
    match it {
        TankDifference::MaskOfX { mask } => {
            let length = mask.len() as u64;
            format!(
                "здесь `{mask}` — любой код, кроме 0, как и сказано в руководстве Yandex.Tank; сам Tank с июня 2024 года \
                 сравнивает коды целиком и находит только те, в которых {length} {}",
                plural(length, "знак", "знака", "знаков")
            )
        }
        TankDifference::OtherQuantile { percent } => format!(
            "Yandex.Tank не хранит квантиль {}, и его правило никогда бы не сработало; ему известны 25, 50, 75, 80, 90, \
             95, 98, 99 и 100",
            RU.plain(*percent)
        ),
        TankDifference::TimesOfFailures => {
            "здесь время есть только у успешных транзакций; Yandex.Tank учитывает и время неудачных".to_owned()
        }
        TankDifference::RoundedLimit { limit_ms } => format!(
            "Yandex.Tank округляет {}\u{a0}мс до границы столбца своей гистограммы; здесь предел точен до 0,1\u{a0}%",
            RU.plain(*limit_ms)
        ),
        TankDifference::MeanOfPercents => {
            "здесь усредняются проценты отдельных секунд, а секунды без ответов пропускаются; Yandex.Tank считает такую \
             секунду за 1\u{a0}%, а в новейших версиях делит суммы за окно"
                .to_owned()
        }
        TankDifference::MissingMetric => {
            "здесь секунда без значения ничего не меняет; Yandex.Tank читает её как 0".to_owned()
        }
        TankDifference::InstancesShare => {
            "здесь это доля клиентов; Yandex.Tank с Pandora требует для этого правила `startup: once`".to_owned()
        }
        TankDifference::NotInTank => "Yandex.Tank не знает этого правила".to_owned(),
    }
}

/// Where a lower quantile than the one asked for has enough samples, and is above the bound.
const ABOVE: &str = "даже меньший квантиль уже выше";

pub fn judged(it: &ObjectiveResult) -> String {
    match (it.verdict, measured(it)) {
        (ObjectiveVerdict::Met, Some(measured)) => format!("соблюдено: {}: {measured}", it.objective),
        (ObjectiveVerdict::Violated, Some(measured)) => format!("НАРУШЕНО: {}: {measured}", it.objective),
        (ObjectiveVerdict::Violated, None) => format!("НАРУШЕНО: {}: {ABOVE}", it.objective),
        (ObjectiveVerdict::Unknown, Some(measured)) => {
            format!("неизвестно: {}: {measured}, и до конца ответов не было", it.objective)
        }
        (ObjectiveVerdict::Met | ObjectiveVerdict::Unknown, _) => {
            format!(
                "неизвестно: {}: данных мало ({}); измеряйте дольше",
                it.objective,
                samples(it.samples, it.unit)
            )
        }
    }
}

/// `p99 < 200ms: соблюдено в 20 измерениях, НАРУШЕНО в 2, неизвестно в 1; хуже всего в session/200: 1,03 с (2345 замеров)`.
pub fn tally(it: &ObjectiveSummary, names: &[String]) -> String {
    let told: Vec<String> = verdicts(it)
        .into_iter()
        .enumerate()
        .map(|(number, (what, count))| {
            let what = match what {
                ObjectiveVerdict::Met => "соблюдено",
                ObjectiveVerdict::Violated => "НАРУШЕНО",
                ObjectiveVerdict::Unknown => "неизвестно",
            };
            match number {
                0 => format!("{what} в {count} {}", oblique(count.into(), "измерении", "измерениях")),
                _ => format!("{what} в {count}"),
            }
        })
        .collect();
    if told.is_empty() {
        return format!("{}: ничего не измерено", it.objective);
    }
    let worst = it.worst.as_ref().map_or(String::new(), |it| {
        let name = told::name(names, it.cell);
        let figure = measured(&it.result).unwrap_or_else(|| ABOVE.to_owned());
        let of = if name.is_empty() { String::new() } else { format!(" в {name}") };
        format!("; хуже всего{of}: {figure}")
    });
    format!("{}: {}{worst}", it.objective, told.join(", "))
}

/// `12,3 мс (10 000 замеров)`.
fn measured(it: &ObjectiveResult) -> Option<String> {
    it.measured.map(|value| format!("{} ({})", told::measured(&RU, it, value), samples(it.samples, it.unit)))
}

/// What an objective's figure was computed from.
fn samples(of: u64, unit: ObjectiveUnit) -> String {
    match unit {
        ObjectiveUnit::Seconds => counted(of, "замер", "замера", "замеров"),
        ObjectiveUnit::Share => counted(of, "заявка", "заявки", "заявок"),
        ObjectiveUnit::PerSecond => counted(of, "транзакция", "транзакции", "транзакций"),
    }
}
