//! Russian.

mod bench;
mod live;

use super::number::Numbers;
use super::{Label, Words};
use crate::preview::SchedulePreview;
use model::summary::{BenchPlan, CpuCost, Doubt, FailureClass, Fairness, InvalidReason, Server};
use std::sync::LazyLock;

/// Decimal comma, thin spaces between thousands, plurals by number.
#[derive(Clone, Copy, Debug)]
pub struct Ru;

static NUMBERS: LazyLock<&Numbers> =
    LazyLock::new(|| super::find("ru").expect("it is in the table").numbers());

impl std::ops::Deref for Ru {
    type Target = super::Lang;

    fn deref(&self) -> &super::Lang {
        super::find("ru").expect("it is in the table")
    }
}

impl Words for Ru {
    fn label(&self, it: Label) -> &'static str {
        match it {
            Label::Count => "число",
            Label::Mean => "среднее",
            Label::Max => "максимум",
            Label::Response => "время ответа, мс",
            Label::Service => "время обслуживания, мс",
            Label::ResponseOfScript => "ответ, мс, скрипт",
            Label::ServiceOfScript => "обслуж., мс, скрипт",
            Label::Connecting => "подключение, мс",
            Label::BacklogWait => "ожидание клиента, мс",
            Label::SendLag => "опоздание отправки, мкс",
            Label::Jitter => "джиттер таймера, мкс",
            Label::ArrivalsPerSecond => "заявок/с",
            Label::Statements => "команды, мс, скрипт",
            Label::Failures => "ошибки",
            Label::Effect => "изменения в базе",
            Label::Dropped => "отброшено",
            Label::Clients => "по клиентам",
            Label::Generator => "генератор",
            Label::Measured => "что измерено",
            Label::Verdict => "итог",
            Label::Note => "оговорка",
            Label::Valid => "достоверно",
            Label::Invalid => "НЕДОСТОВЕРНО",
            Label::Interval => "95\u{a0}%",
            Label::VsBaseline => "отношение",
            Label::Path => "путь",
            Label::Cell => "ячейка",
            Label::Beside => "против",
            Label::Transport => "транспорт",
            Label::Runs => "измерений",
        }
    }

    fn effect(&self, class: FailureClass) -> &'static str {
        match class {
            FailureClass::Failed => "нет",
            FailureClass::Unknown => "неизвестно: обрыв связи",
            FailureClass::Refused => "не было соединения",
        }
    }

    fn dropped(&self, dropped: u64, arrivals: u64) -> String {
        bench::dropped(dropped, arrivals)
    }

    fn fairness(&self, it: &Fairness) -> String {
        bench::fairness(it)
    }

    fn generator(&self, cost: &CpuCost, busiest: f64) -> String {
        bench::generator(cost, busiest)
    }

    fn measured(&self, server: &Server, plan: &BenchPlan) -> String {
        bench::measured(server, plan)
    }

    fn preview(&self, it: &SchedulePreview) -> String {
        bench::preview(it)
    }

    fn reason(&self, it: &InvalidReason) -> String {
        bench::reason(it)
    }

    fn nothing_succeeded(&self, first: Option<&str>) -> String {
        let why = first.map_or(String::new(), |it| format!(": {it}"));
        format!("НЕ УДАЛОСЬ: ни одна транзакция не завершилась успешно{why}")
    }

    fn valid_but(&self, why: &str) -> String {
        format!("достоверно, но с оговоркой: {why}")
    }

    fn doubt(&self, it: &Doubt, clients: u32) -> String {
        bench::doubt(it, clients)
    }
}

/// The form that goes with a number: 1 запуск, 2 запуска, 5 запусков.
pub(crate) fn plural(n: u64, one: &'static str, few: &'static str, many: &'static str) -> &'static str {
    match (n % 10, n % 100) {
        (1, it) if it != 11 => one,
        (2..=4, it) if !(12..=14).contains(&it) => few,
        _ => many,
    }
}

/// The form of the genitive and the prepositional: из 1 заявки, в 21 измерении, до 2 транзакций.
pub(crate) fn oblique(n: u64, one: &'static str, many: &'static str) -> &'static str {
    plural(n, one, many, many)
}

/// A number and what it counts: 20 100 заявок.
pub(crate) fn counted(n: u64, one: &'static str, few: &'static str, many: &'static str) -> String {
    format!("{} {}", NUMBERS.count(n), plural(n, one, few, many))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals() {
        for (n, form) in [
            (0, "запусков"),
            (1, "запуск"),
            (2, "запуска"),
            (5, "запусков"),
            (11, "запусков"),
            (12, "запусков"),
            (14, "запусков"),
            (21, "запуск"),
            (104, "запуска"),
            (111, "запусков"),
            (1112, "запусков"),
        ] {
            assert_eq!(plural(n, "запуск", "запуска", "запусков"), form, "{n}");
        }
    }

    #[test]
    fn after_prepositions() {
        for (n, form) in
            [(1, "измерении"), (2, "измерениях"), (11, "измерениях"), (21, "измерении"), (111, "измерениях")]
        {
            assert_eq!(oblique(n, "измерении", "измерениях"), form, "{n}");
        }
        assert_eq!(counted(20_101, "заявка", "заявки", "заявок"), "20\u{202f}101 заявка");
    }
}
