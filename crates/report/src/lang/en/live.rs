//! English: what is said while a run goes on.

use super::{En, NUMBERS};
use crate::lang::live::{LiveHeading, LiveWords};
use crate::live::{Activity, FinishedTrial, Milestone, TrialEnd, decimals};
use model::live::{LiveSecond, NodeCpu, PoolState};
use model::plan::LoadScale;
use model::{Nanos, PerSecond, RetainReason, StaleRunDirectory};

impl LiveWords for En {
    fn run_begins(&self, trials: usize, cells: usize, seed: u64, lasting: Nanos) -> String {
        let plural = |n: usize, noun: &str| format!("{n} {noun}{}", if n == 1 { "" } else { "s" });
        let (trials, cells) = (plural(trials, "trial"), plural(cells, "cell"));
        format!("{trials} of {cells} in the order of seed {seed}; about {} under load", span(lasting))
    }

    fn search_begins(&self, cells: usize, seed: u64, each: Nanos) -> String {
        let cells = if cells == 1 { "one cell".to_owned() } else { format!("{cells} cells") };
        format!("searching the maximum of {cells}, seed {seed}; {} under load each time", span(each))
    }

    fn run_note(&self, it: &str) -> String {
        format!("note: {it}")
    }

    fn run_scraped(&self, url: &str) -> String {
        format!("a Prometheus can scrape {url}")
    }

    fn run_broken_off(&self, why: &str) -> String {
        format!("the run was broken off: {why}")
    }

    fn run_kept(&self, path: &str, took: Nanos) -> String {
        format!("{path} after {}", span(took))
    }

    fn only_cell(&self) -> &'static str {
        "the one cell"
    }

    fn doing(&self, it: &Activity) -> String {
        match it {
            Activity::SettingUp => "setting up".to_owned(),
            Activity::Fetching { major } => format!("fetching PostgreSQL {major}"),
            Activity::Starting { node } => format!("starting {node}"),
            Activity::Dropping => "dropping what was loaded before".to_owned(),
            Activity::Loading { sent, of } => format!("loading: {sent} of {of} rows"),
            Activity::Keys => "building keys".to_owned(),
            Activity::Statistics => "taking statistics".to_owned(),
            Activity::Restored { took } => format!("the data is as it was after {:.1} s", took.as_secs_f64()),
            Activity::DataUnchanged => "the data is as it was: nothing was written".to_owned(),
            Activity::Warmed => "the caches are ready".to_owned(),
            Activity::WarmingUp => "warming up".to_owned(),
            Activity::Measuring { second, of } => format!("{second} of {:.0} s", of.as_secs_f64()),
        }
    }

    fn milestone(&self, it: &Milestone) -> String {
        match it {
            Milestone::Ready { node, took } => format!("{node} is ready after {:.1} s", took.as_secs_f64()),
            Milestone::AlreadyLoaded { rows } => format!("{rows} rows are there already"),
            Milestone::Loaded { rows, took, rate } => {
                let took = took.as_secs_f64();
                format!("{rows} rows loaded in {took:.1} s, {:.0} per second", rate.0)
            }
            Milestone::CacheNotCold => {
                "the caches stay warm: neither the server nor its files are ours".to_owned()
            }
            Milestone::StaleDirectory(it) => leftover(it),
        }
    }

    fn trial_finished(&self, it: &FinishedTrial) -> String {
        let end = &it.end;
        let figures = it.figures.as_ref().map(|it| {
            let p99 = it.p99.map_or(String::new(), |it| format!(", p99 {}", self.live_time(it)));
            let failed = if it.failed > 0 { format!(", {} failed", it.failed) } else { String::new() };
            // A step of a search says why in its own words.
            let told = matches!(end, TrialEnd::NotCounted(_));
            let invalid = it.invalid.as_ref().filter(|_| !told);
            let valid = invalid.map_or(String::new(), |it| format!(", INVALID: {}", self.reason(it)));
            let outage = it.outage.as_ref().map_or(String::new(), |it| format!(", {}", self.doubt(it, 0)));
            format!("{}{p99}{failed}{outage}{valid}", self.live_rate(it.rate))
        });
        match (end, figures) {
            (TrialEnd::Complete, figures) => figures.unwrap_or_default(),
            (TrialEnd::Held, figures) => format!("{}: held", figures.unwrap_or_default()),
            (TrialEnd::TooMuch, figures) => format!("{}: too much", figures.unwrap_or_default()),
            (TrialEnd::NotCounted(why), figures) => {
                let why = if why.is_empty() { String::new() } else { format!(": {why}") };
                format!("{}: does not count{why}", figures.unwrap_or_default())
            }
            (TrialEnd::Stopped { rule, second }, figures) => {
                format!("{}, stopped by {rule} after second {second}", figures.unwrap_or_default())
            }
            (TrialEnd::Interrupted, None) => "interrupted before it began".to_owned(),
            (TrialEnd::Interrupted, Some(figures)) => format!("{figures}, interrupted"),
            (TrialEnd::Skipped(why), _) => format!("skipped: {why}"),
            (TrialEnd::Failed(why), _) => format!("failed: {why}"),
        }
    }

    fn live_heading(&self, it: LiveHeading) -> &'static str {
        match it {
            LiveHeading::Rate => "rate",
            LiveHeading::Median => "p50",
            LiveHeading::P99 => "p99",
            LiveHeading::Processors => "CPU",
        }
    }

    fn live_rate(&self, it: PerSecond) -> String {
        format!("{:.0} tps", it.0)
    }

    fn live_time(&self, it: Nanos) -> String {
        let millis = it.as_millis_f64();
        format!("{millis:.*} ms", decimals(millis))
    }

    fn live_counts(&self, it: &LiveSecond) -> String {
        let counts = [(it.dropped, "dropped"), (it.refused, "refused")];
        let counts = counts.iter().filter(|it| it.0 > 0).map(|(n, what)| format!(", {n} {what}"));
        format!("{} failed{}, {} in flight", it.failed, counts.collect::<String>(), it.in_flight)
    }

    fn live_pool(&self, it: &PoolState) -> String {
        let waiting = it.waiting.map(|it| format!("{it:.0} waiting"));
        let busy = it.busy.map(|it| format!("{it:.0} servers busy"));
        let told: Vec<String> = waiting.into_iter().chain(busy).collect();
        format!("{}: {}", it.node, told.join(", "))
    }

    fn live_used(&self, it: &NodeCpu, of: Option<f64>) -> String {
        let of = of.map_or(String::new(), |of| format!(" of {of}"));
        format!("{} {:.2}{of}", it.node, it.processors)
    }

    fn live_left(&self, it: Nanos) -> String {
        format!("about {} left", span(it))
    }

    fn live_step(&self, trial: usize) -> String {
        format!("step {trial}; what it shows decides how many follow")
    }

    fn at_level(&self, cell: &str, scale: LoadScale, level: f64) -> String {
        let level = match scale {
            LoadScale::Rate => format!("{} per second", NUMBERS.three(level)),
            LoadScale::Clients => format!("{level:.0} client{}", if level == 1.0 { "" } else { "s" }),
        };
        if cell.is_empty() { level } else { format!("{cell}, {level}") }
    }

    fn live_lost(&self, lines: u64) -> String {
        format!("({lines} lines could not be shown in time)")
    }
}

/// Whole seconds that have passed.
fn span(it: Nanos) -> String {
    NUMBERS.span(Nanos::from_secs(it.0 / 1_000_000_000))
}

fn leftover(it: &StaleRunDirectory) -> String {
    let directory = it.directory.display();
    let Some(because) = &it.retained else {
        return format!("removed {directory}, left by a run that was killed");
    };
    let why = match because {
        RetainReason::InUse { pid, program } => format!("process {pid} ({program}) uses it"),
        RetainReason::NotInspectable { pid, program } => {
            format!("process {pid} ({program}) may use it and cannot be inspected")
        }
        RetainReason::MountOrSocket(it) => format!("{} is mounted or listened on", it.display()),
        RetainReason::System(it) => it.clone(),
    };
    format!("{directory}, left by a run that was killed, is not removed: {why}")
}
