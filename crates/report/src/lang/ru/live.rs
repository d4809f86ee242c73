//! Russian: what is said while a run goes on.

use super::{NUMBERS as RU, Ru, counted, oblique};
use crate::lang::live::{LiveHeading, LiveWords};
use crate::live::{Activity, FinishedTrial, Milestone, TrialEnd, decimals};
use model::live::{LiveSecond, NodeCpu, PoolState};
use model::plan::LoadScale;
use model::{Nanos, PerSecond, RetainReason, StaleRunDirectory};

impl LiveWords for Ru {
    fn run_begins(&self, trials: usize, cells: usize, seed: u64, lasting: Nanos) -> String {
        let trials = counted(trials as u64, "измерение", "измерения", "измерений");
        let cells = counted(cells as u64, "ячейка", "ячейки", "ячеек");
        let lasting = span(lasting);
        format!("{trials}, {cells}, порядок по начальному числу {seed}; под нагрузкой около {lasting}")
    }

    fn search_begins(&self, cells: usize, seed: u64, each: Nanos) -> String {
        let cells = format!("{} {}", RU.count(cells as u64), oblique(cells as u64, "ячейки", "ячеек"));
        let each = span(each);
        format!("поиск максимума для {cells}, начальное число {seed}; каждый раз под нагрузкой {each}")
    }

    fn run_note(&self, it: &str) -> String {
        format!("примечание: {it}")
    }

    fn run_scraped(&self, url: &str) -> String {
        format!("Prometheus может забирать показатели с {url}")
    }

    fn run_broken_off(&self, why: &str) -> String {
        format!("прогон оборвался: {why}")
    }

    fn run_kept(&self, path: &str, took: Nanos) -> String {
        format!("{path}, прошло {}", span(took))
    }

    fn only_cell(&self) -> &'static str {
        "единственная ячейка"
    }

    fn doing(&self, it: &Activity) -> String {
        match it {
            Activity::SettingUp => "подготовка".to_owned(),
            Activity::Fetching { major } => format!("скачивается PostgreSQL {major}"),
            Activity::Starting { node } => format!("запускается {node}"),
            Activity::Dropping => "удаляется загруженное раньше".to_owned(),
            Activity::Loading { sent, of } => {
                let rows = oblique(*of, "строки", "строк");
                format!("загружено {} из {} {rows}", RU.count(*sent), RU.count(*of))
            }
            Activity::Keys => "строятся ключи и индексы".to_owned(),
            Activity::Statistics => "собирается статистика".to_owned(),
            Activity::Restored { took } => format!("данные восстановлены за {}", seconds(*took)),
            Activity::DataUnchanged => "данные прежние: в них не писали".to_owned(),
            Activity::Warmed => "кэши готовы".to_owned(),
            Activity::WarmingUp => "прогрев".to_owned(),
            Activity::Measuring { second, of } => {
                format!("{} из {}\u{a0}с", RU.count(*second), RU.fixed(of.as_secs_f64(), 0))
            }
        }
    }

    fn milestone(&self, it: &Milestone) -> String {
        let of_rows = |n: u64| counted(n, "строка", "строки", "строк");
        match it {
            Milestone::Ready { node, took } => format!("{node}: запуск занял {}", seconds(*took)),
            Milestone::AlreadyLoaded { rows } => format!("уже на месте: {}", of_rows(*rows)),
            Milestone::Loaded { rows, took, rate } => {
                let rate = RU.fixed(rate.0, 0);
                format!("загрузка: {} за {}, {rate} в секунду", of_rows(*rows), seconds(*took))
            }
            Milestone::CacheNotCold => {
                "кэши остаются прогретыми: ни сервер, ни его файлы нам не принадлежат".to_owned()
            }
            Milestone::StaleDirectory(it) => leftover(it),
        }
    }

    fn trial_finished(&self, it: &FinishedTrial) -> String {
        let end = &it.end;
        let figures = it.figures.as_ref().map(|it| {
            let p99 = it.p99.map_or(String::new(), |it| format!(", p99 {}", self.live_time(it)));
            let failed = if it.failed > 0 {
                format!(", ошибок: {}", RU.count(it.failed))
            } else {
                String::new()
            };
            // A step of a search says why in its own words.
            let told = matches!(end, TrialEnd::NotCounted(_));
            let invalid = it.invalid.as_ref().filter(|_| !told);
            let valid = invalid.map_or(String::new(), |it| format!(", НЕДОСТОВЕРНО: {}", self.reason(it)));
            let outage = it.outage.as_ref().map_or(String::new(), |it| format!(", {}", self.doubt(it, 0)));
            format!("{}{p99}{failed}{outage}{valid}", self.live_rate(it.rate))
        });
        match (end, figures) {
            (TrialEnd::Complete, figures) => figures.unwrap_or_default(),
            (TrialEnd::Held, figures) => format!("{}: выдержано", figures.unwrap_or_default()),
            (TrialEnd::TooMuch, figures) => format!("{}: слишком много", figures.unwrap_or_default()),
            (TrialEnd::NotCounted(why), figures) => {
                let why = if why.is_empty() { String::new() } else { format!(": {why}") };
                format!("{}: не учитывается{why}", figures.unwrap_or_default())
            }
            (TrialEnd::Stopped { rule, second }, figures) => format!(
                "{}, остановлено по правилу {rule} после секунды {}",
                figures.unwrap_or_default(),
                RU.count(*second)
            ),
            (TrialEnd::Interrupted, None) => "прервано до начала".to_owned(),
            (TrialEnd::Interrupted, Some(figures)) => format!("{figures}, прервано"),
            (TrialEnd::Skipped(why), _) => format!("пропущено: {why}"),
            (TrialEnd::Failed(why), _) => format!("не удалось: {why}"),
        }
    }

    fn live_heading(&self, it: LiveHeading) -> &'static str {
        match it {
            LiveHeading::Rate => "выполнено",
            LiveHeading::Median => "p50",
            LiveHeading::P99 => "p99",
            LiveHeading::Processors => "ЦП",
        }
    }

    fn live_rate(&self, it: PerSecond) -> String {
        format!("{}\u{a0}транз/с", RU.fixed(it.0, 0))
    }

    fn live_time(&self, it: Nanos) -> String {
        let millis = it.as_millis_f64();
        format!("{}\u{a0}мс", RU.fixed(millis, decimals(millis)))
    }

    fn live_counts(&self, it: &LiveSecond) -> String {
        let counts = [(it.dropped, "отброшено"), (it.refused, "отказов в соединении")];
        let counts =
            counts.iter().filter(|it| it.0 > 0).map(|(n, what)| format!(", {what}: {}", RU.count(*n)));
        format!(
            "ошибок: {}{}, в работе: {}",
            RU.count(it.failed),
            counts.collect::<String>(),
            RU.count(it.in_flight)
        )
    }

    fn live_pool(&self, it: &PoolState) -> String {
        let whole = |it: f64| RU.fixed(it, 0);
        let waiting = it.waiting.map(|it| format!("ждут {}", whole(it)));
        let busy = it.busy.map(|it| format!("занято серверов {}", whole(it)));
        let told: Vec<String> = waiting.into_iter().chain(busy).collect();
        format!("{}: {}", it.node, told.join(", "))
    }

    fn live_used(&self, it: &NodeCpu, of: Option<f64>) -> String {
        let of = of.map_or(String::new(), |of| format!(" из {}", RU.plain(of)));
        format!("{} {}{of}", it.node, RU.fixed(it.processors, 2))
    }

    fn live_left(&self, it: Nanos) -> String {
        format!("осталось около {}", span(it))
    }

    fn live_step(&self, trial: usize) -> String {
        format!("шаг {}; сколько их будет, решает измеренное", RU.count(trial as u64))
    }

    fn at_level(&self, cell: &str, scale: LoadScale, level: f64) -> String {
        let level = match scale {
            LoadScale::Rate => format!("{} в секунду", RU.three(level)),
            LoadScale::Clients => counted(level as u64, "клиент", "клиента", "клиентов"),
        };
        if cell.is_empty() { level } else { format!("{cell}, {level}") }
    }

    fn live_lost(&self, lines: u64) -> String {
        format!("(не удалось вовремя показать: {})", counted(lines, "строка", "строки", "строк"))
    }
}

fn seconds(it: Nanos) -> String {
    RU.with_unit(&format!("{:.1}", it.as_secs_f64()), &RU.seconds)
}

/// Whole seconds that have passed.
fn span(it: Nanos) -> String {
    RU.span(Nanos::from_secs(it.0 / 1_000_000_000))
}

fn leftover(it: &StaleRunDirectory) -> String {
    let directory = it.directory.display();
    let Some(because) = &it.retained else {
        return format!("каталог {directory} удалён: он остался от прерванного запуска");
    };
    let why = match because {
        RetainReason::InUse { pid, program } => format!("его использует процесс {pid} ({program})"),
        RetainReason::NotInspectable { pid, program } => {
            format!("его может использовать процесс {pid} ({program}), а проверить это нельзя")
        }
        RetainReason::MountOrSocket(it) => {
            format!("{} — точка монтирования или открытый сокет", it.display())
        }
        RetainReason::System(it) => it.clone(),
    };
    format!("каталог {directory} остался от прерванного запуска и не удалён: {why}")
}
