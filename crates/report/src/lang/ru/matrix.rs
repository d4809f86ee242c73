//! Russian: what stands in a matrix and below it.

use super::NUMBERS as RU;
use super::{counted, plural};
use crate::lang::told::{self, CountSize, PathCount};
use model::matrix::{ChangeVerdict, Figure, Hop, Placement, TrialStatus, UnappliedLimit};
use model::plan::{PoolMode, Transport};

pub fn figure(it: Figure) -> &'static str {
    match it {
        Figure::Tps => "транз/с",
        Figure::P50 => "p50, мс",
        Figure::P99 => "p99, мс",
        Figure::Errors => "ошибки/1000",
        Figure::Dropped => "отброш./1000",
        Figure::Refused => "отказов",
        Figure::Deadlocks => "дедлоки/1000",
        Figure::Served => "обслужено",
        Figure::Starved => "обделено",
        Figure::PoolerCpu => "ЦП перед PG",
        Figure::ServerCpu => "ЦП PG",
        Figure::TimeToSteady => "до 90\u{a0}%, с",
    }
}

pub fn verdict(it: ChangeVerdict) -> &'static str {
    match it {
        ChangeVerdict::NoEvidence => "не доказано",
        ChangeVerdict::Lower => "ниже",
        ChangeVerdict::Higher => "выше",
        ChangeVerdict::TooFewRuns => "мало измерений",
    }
}

pub fn mode(it: PoolMode) -> &'static str {
    match it {
        PoolMode::Session => "режим сеансов",
        PoolMode::Transaction => "режим транзакций",
        PoolMode::Statement => "режим операторов",
    }
}

pub fn entrance(it: Transport) -> &'static str {
    match it {
        Transport::Unix => "Unix-сокет",
        Transport::Tcp => "TCP",
        Transport::Tls => "TLS",
    }
}

pub fn path(hops: &[Hop], generator: &Placement, arrow: &str) -> String {
    let words = PathCount {
        generator: "генератор",
        way: |it| it.map_or("как указано в адресе", entrance),
        mode,
        size: |it| match it {
            CountSize::Pool(size) => format!("пул {size}"),
            CountSize::Slots(size) => counted(size.into(), "слот", "слота", "слотов"),
            CountSize::MaxConn(size) => format!("maxconn {size}"),
        },
        placement,
    };
    told::path(&words, hops, generator, arrow)
}

fn placement(it: &Placement) -> String {
    let numbers = it.cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let cores = if it.cpus.len() == 1 { "на ядре" } else { "на ядрах" };
    match (it.cpu, numbers.as_str()) {
        (None, "") => "любые ядра".to_owned(),
        (None, numbers) => format!("{cores} {numbers}"),
        (Some(cpu), "") => format!("{}\u{a0}ЦП", RU.plain(cpu)),
        (Some(cpu), numbers) => format!("{}\u{a0}ЦП {cores} {numbers}", RU.plain(cpu)),
    }
}

pub fn status(it: &TrialStatus) -> String {
    match it {
        TrialStatus::Done | TrialStatus::Stopped { .. } => "ничего не измерено".to_owned(),
        TrialStatus::Interrupted => "прервано".to_owned(),
        TrialStatus::Skipped { reason: why } => format!("пропущено: {why}"),
        TrialStatus::Failed { reason: why } => format!("не удалось: {why}"),
    }
}

pub fn left_out(left_out: u64, of: u64, why: &str) -> String {
    let what = plural(left_out, "измерение", "измерения", "измерений");
    format!("не учтено {left_out} {what} из {of}: {why}")
}

/// Of one reason.
pub fn not_applied(limits: &[&UnappliedLimit]) -> String {
    let (each, why) = told::limits(limits);
    format!("показатели получены без ограничений, которые не удалось применить: {each}: {why}")
}

pub fn legend(baseline: Option<&str>, seed: u64, too_few: bool) -> String {
    let beside = match baseline {
        Some(baseline) => format!(
            "; отношение — к {baseline}: различия — по перестановочному тесту измерений при доле ложных открытий 5\u{a0}%, \
             интервалы — бутстрепом с начальным числом {seed}"
        ),
        None => String::new(),
    };
    let too_few = match too_few {
        true => "; если измерений в ячейке меньше четырёх, никакое различие доказать нельзя",
        false => "",
    };
    format!("медианы достоверных измерений и их доверительные интервалы 95\u{a0}%{beside}{too_few}")
}
