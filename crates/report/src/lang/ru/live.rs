//! Russian: what is said while a run goes on.

use super::{Ru, plural};
use crate::lang::live::{Heading, LiveWords};
use crate::lang::number::with_comma;
use crate::live::{Doing, End, Finished, Milestone, decimals};
use model::live::{Pool, Second, Used};
use model::{Nanos, PerSecond};

impl LiveWords for Ru {
    fn run_begins(&self, trials: usize, cells: usize, seed: u64, lasting: Nanos) -> String {
        let of_trials = plural(trials as u64, "измерение", "измерения", "измерений");
        let of_cells = plural(cells as u64, "ячейка", "ячейки", "ячеек");
        format!(
            "{} {of_trials}, {} {of_cells}, порядок по зерну {seed}; под нагрузкой около {}",
            count(trials as u64),
            count(cells as u64),
            span(lasting)
        )
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

    fn doing(&self, it: &Doing) -> String {
        match it {
            Doing::SettingUp => "подготовка".to_owned(),
            Doing::Fetching { major } => format!("скачивается PostgreSQL {major}"),
            Doing::Starting { node } => format!("запускается {node}"),
            Doing::Dropping => "удаляется загруженное раньше".to_owned(),
            Doing::Loading { sent, of } => {
                let rows = plural(*of, "строки", "строк", "строк");
                format!("загружено {} из {} {rows}", count(*sent), count(*of))
            }
            Doing::Keys => "строятся ключи и индексы".to_owned(),
            Doing::Statistics => "собирается статистика".to_owned(),
            Doing::Restored { took } => format!("данные восстановлены за {}", seconds(*took)),
            Doing::Warmed => "кеши готовы".to_owned(),
            Doing::WarmingUp => "прогрев".to_owned(),
            Doing::Measuring { second, of } => {
                format!("{} из {} с", count(*second), with_comma(&format!("{:.0}", of.as_secs_f64())))
            }
        }
    }

    fn milestone(&self, it: &Milestone) -> String {
        let of_rows = |n: u64| format!("{} {}", count(n), plural(n, "строка", "строки", "строк"));
        match it {
            Milestone::Ready { node, took } => format!("{node}: готовность через {}", seconds(*took)),
            Milestone::There { rows } => format!("уже на месте: {}", of_rows(*rows)),
            Milestone::Loaded { rows, took, rate } => {
                let rate = with_comma(&format!("{:.0}", rate.0));
                format!("загрузка: {} за {}, {rate} в секунду", of_rows(*rows), seconds(*took))
            }
            Milestone::NotCold => {
                "кеши остаются тёплыми: ни сервер, ни его файлы нам не принадлежат".to_owned()
            }
        }
    }

    fn trial_finished(&self, it: &Finished) -> String {
        let figures = it.figures.as_ref().map(|it| {
            let p99 = it.p99.map_or(String::new(), |it| format!(", p99 {}", self.live_time(it)));
            let failed =
                if it.failed > 0 { format!(", отказов: {}", count(it.failed)) } else { String::new() };
            let valid = if it.valid { "" } else { ", НЕДОСТОВЕРНО" };
            format!("{}{p99}{failed}{valid}", self.live_rate(it.rate))
        });
        match (&it.end, figures) {
            (End::Complete, figures) => figures.unwrap_or_default(),
            (End::Stopped, figures) => format!("{}, остановлено правилом", figures.unwrap_or_default()),
            (End::Interrupted, None) => "прервано до начала".to_owned(),
            (End::Interrupted, Some(figures)) => format!("{figures}, прервано"),
            (End::Skipped(why), _) => format!("пропущено: {why}"),
            (End::Failed(why), _) => format!("не удалось: {why}"),
        }
    }

    fn live_heading(&self, it: Heading) -> &'static str {
        match it {
            Heading::Rate => "выполнено",
            Heading::Median => "p50",
            Heading::P99 => "p99",
            Heading::Processors => "ЦП",
        }
    }

    fn live_rate(&self, it: PerSecond) -> String {
        format!("{} транз/с", with_comma(&format!("{:.0}", it.0)))
    }

    fn live_time(&self, it: Nanos) -> String {
        let millis = it.as_millis_f64();
        format!("{} мс", with_comma(&format!("{millis:.*}", decimals(millis))))
    }

    fn live_counts(&self, it: &Second) -> String {
        let counts = [(it.dropped, "отброшено"), (it.refused, "отказано в соединении")];
        let counts = counts.iter().filter(|it| it.0 > 0).map(|(n, what)| format!(", {what}: {}", count(*n)));
        format!(
            "отказов: {}{}, в работе: {}",
            count(it.failed),
            counts.collect::<String>(),
            count(it.in_flight)
        )
    }

    fn live_pool(&self, it: &Pool) -> String {
        let whole = |it: f64| with_comma(&format!("{it:.0}"));
        let waiting = it.waiting.map(|it| format!("ждут {}", whole(it)));
        let busy = it.busy.map(|it| format!("занято серверов {}", whole(it)));
        let told: Vec<String> = waiting.into_iter().chain(busy).collect();
        format!("{}: {}", it.node, told.join(", "))
    }

    fn live_used(&self, it: &Used, of: Option<f64>) -> String {
        let of = of.map_or(String::new(), |of| format!(" из {}", with_comma(&of.to_string())));
        format!("{} {}{of}", it.node, with_comma(&format!("{:.2}", it.processors)))
    }

    fn live_left(&self, it: Nanos) -> String {
        format!("осталось около {}", span(it))
    }

    fn live_lost(&self, lines: u64) -> String {
        format!(
            "(не удалось вовремя показать: {} {})",
            count(lines),
            plural(lines, "строка", "строки", "строк")
        )
    }
}

fn count(n: u64) -> String {
    with_comma(&n.to_string())
}

fn seconds(it: Nanos) -> String {
    format!("{} с", with_comma(&format!("{:.1}", it.as_secs_f64())))
}

/// `2 ч 5 мин`, `3 мин 20 с`, `12 с`.
fn span(it: Nanos) -> String {
    let seconds = it.0 / 1_000_000_000;
    match seconds {
        0..60 => format!("{seconds} с"),
        60..3600 => format!("{} мин {} с", seconds / 60, seconds % 60),
        _ => format!("{} ч {} мин", seconds / 3600, seconds % 3600 / 60),
    }
}
