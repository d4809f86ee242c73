//! English: what a page says.

use super::{En, NUMBERS as EN, answer};
use crate::lang::page::{
    BottleneckRole, ConcurrencyLimit, PageAnswer, PageQuestion, PageTerm, PageWord, PageWords, ServerSeat,
};
use crate::page::number::{format, utc};
use model::chart::{ChartKind, ChartSeriesKind, ChartUnit};
use model::plan::{
    CacheState, Content, Dataset, FailoverManager, Limits, Load, LoadModel, PromotionPolicy, SyncMode,
    ThinkTime, UserStage,
};
use model::run_result::RunState;
use model::summary::QueryMode;
use model::{EventKind, Nanos, Spacing};

impl PageWords for En {
    fn word(&self, it: PageWord) -> &'static str {
        match it {
            PageWord::Skip => "Skip to the content",
            PageWord::Contents => "Contents",
            PageWord::Language => "Language",
            PageWord::Theme => "Colours",
            PageWord::ThemeAuto => "As the system",
            PageWord::ThemeLight => "Light",
            PageWord::ThemeDark => "Dark",
            PageWord::Print => "Print",
            PageWord::Good => "good",
            PageWord::Doubt => "doubtful",
            PageWord::Bad => "bad",
            PageWord::Baseline => "baseline",
            PageWord::Trial => "Trial",
            PageWord::ZoomOut => "Show the whole time",
            PageWord::ChartHelp => "Drag to zoom in, double-click to zoom out; arrow keys move the cursor",
            PageWord::Time => "Time",
            PageWord::ShowTable => "Show the numbers",
            PageWord::HideTable => "Hide the numbers",
            PageWord::MoreRows => "More rows",
            PageWord::Marks => "Events",
            PageWord::Evidence => "Evidence",
            PageWord::Figure => "Figure",
            PageWord::Worse => "worse",
            PageWord::Same => "the same",
            PageWord::Better => "better",
            PageWord::AllColumns => "All columns",
            PageWord::FewColumns => "Fewer columns",
            PageWord::Copy => "Copy",
            PageWord::Copied => "Copied",
            PageWord::Seconds => "s",
            PageWord::Milliseconds => "ms",
            PageWord::Microseconds => "µs",
            PageWord::Bytes => "B",
            PageWord::Kibibytes => "KiB",
            PageWord::Mebibytes => "MiB",
            PageWord::Gibibytes => "GiB",
            PageWord::Tebibytes => "TiB",
            PageWord::PerSecond => "/s",
            PageWord::Thousand => "k",
            PageWord::Million => "M",
            PageWord::Live => "Running now",
            PageWord::Connecting => "Connecting …",
            PageWord::Lost => "Connection lost; trying again",
            PageWord::Ended => "The run has ended",
            PageWord::Stop => "Stop the run",
            PageWord::StopSure => "Stop this run? What was measured is kept.",
            PageWord::StopNo => "Let it run",
            PageWord::Stopping => "Stopping …",
            PageWord::StopFailed => "The run could not be stopped",
            PageWord::NoScript => {
                "This page draws itself by its own script, which this browser does not run. `pgdyno report RUN --format md` writes the same as text."
            }
            PageWord::CannotUnpack => "This browser cannot unpack the page; one of 2023 or later can.",
            PageWord::LeftOut => "The rest is left out here for want of room; the HTML report has it.",
        }
    }

    fn term(&self, it: PageTerm) -> &'static str {
        match it {
            PageTerm::Goals => "Goals and load",
            PageTerm::Stack => "The system: where time goes and where the queue is",
            PageTerm::Results => "Results by operation",
            PageTerm::Matrix => "All cells",
            PageTerm::Charts => "Over time",
            PageTerm::Statements => "Most expensive statements",
            PageTerm::Advice => "Indexes",
            PageTerm::Findings => "Findings",
            PageTerm::Doubts => "Reasons for doubt",
            PageTerm::Stand => "Test stand",
            PageTerm::Repeat => "Repeat it",
            PageTerm::Load => "load",
            PageTerm::Window => "measured",
            PageTerm::Operations => "operations",
            PageTerm::Dataset => "data",
            PageTerm::StopRules => "stop rules",
            PageTerm::Operation => "operation",
            PageTerm::Total => "all",
            PageTerm::Offered => "offered/s",
            PageTerm::Delivered => "delivered/s",
            PageTerm::Goodput => "goodput/s",
            PageTerm::Failed => "failed",
            PageTerm::Dropped => "dropped",
            PageTerm::Code => "failure",
            PageTerm::Count => "count",
            PageTerm::Effect => "effect",
            PageTerm::Statement => "statement",
            PageTerm::Calls => "calls",
            PageTerm::TotalSeconds => "total, s",
            PageTerm::MeanMillis => "mean, ms",
            PageTerm::SharePercent => "share, %",
            PageTerm::RowsOfStatement => "rows",
            PageTerm::Hit => "blocks hit",
            PageTerm::Read => "blocks read",
            PageTerm::Node => "node",
            PageTerm::Version => "version",
            PageTerm::Program => "program",
            PageTerm::Entrance => "entrance",
            PageTerm::LimitsOfNode => "limits",
            PageTerm::CellsOfNode => "cells",
            PageTerm::Command => "command",
            PageTerm::File => "experiment file",
            PageTerm::Generator => "generator",
            PageTerm::Running => "running",
            PageTerm::OnlyCell => "the only cell",
            PageTerm::Objectives => "objectives",
            PageTerm::Trials => "trials",
        }
    }

    fn moment(&self, unix_ms: u64) -> String {
        let (year, month, day, hour, minute) = utc(unix_ms);
        format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
    }

    fn state(&self, it: RunState, reason: Option<&str>) -> Option<String> {
        let what = match it {
            RunState::Complete => return None,
            RunState::Running => "still running",
            RunState::Interrupted => "interrupted",
            RunState::Stopped => "stopped by a rule",
            RunState::Failed => "failed",
            RunState::Skipped => "skipped",
            RunState::Lost => "lost: its process was killed",
        };
        Some(reason.map_or(what.to_owned(), |it| format!("{what}: {it}")))
    }

    fn extent(&self, trials: usize, cells: usize) -> String {
        format!("{} of {}", count(trials, "trial"), count(cells, "cell"))
    }

    fn seed(&self, it: u64) -> String {
        format!("seed {it}")
    }

    fn question(&self, it: &PageQuestion<'_>) -> String {
        match it {
            PageQuestion::One { way, load } => match &load.model {
                LoadModel::Closed { clients, .. } => {
                    format!("How much does {way} hold with {}?", count(*clients as usize, "client"))
                }
                users @ LoadModel::Users { .. } => {
                    format!("How much does {way} hold with {}?", count(users.clients() as usize, "user"))
                }
                LoadModel::Open { schedule, .. } => format!("Does {way} hold {schedule}?"),
            },
            PageQuestion::Matrix { axes, baseline } => {
                let beside = baseline.map_or(String::new(), |it| format!(", compared with {it}"));
                format!("How does throughput change with {}{beside}?", list(axes))
            }
        }
    }

    fn answer(&self, it: &PageAnswer<'_>) -> String {
        answer::answer(it)
    }

    fn not_passed(&self, nodes: &[&str]) -> String {
        format!("The load did not pass through {}: nothing here is measured of it.", nodes.join(", "))
    }

    fn load(&self, it: &Load, sql: bool, at_once: &[u32]) -> String {
        let numbers: Vec<String> = at_once.iter().map(|it| self.number(&it.to_string())).collect();
        let numbers = alternatives(&numbers);
        let mut parts = match &it.model {
            LoadModel::Closed { think, .. } => {
                let plural = if at_once == [1] { "" } else { "s" };
                let mut parts = vec!["closed model".to_owned()];
                parts.extend((!at_once.is_empty()).then(|| format!("{numbers} client{plural}")));
                if *think > Nanos::ZERO {
                    parts.push(format!("thinking {}", EN.chosen(*think)));
                }
                parts
            }
            LoadModel::Users { stages, think, pacing, rate_max } => {
                let mut parts = vec!["closed model".to_owned(), self.stages(stages, &numbers)];
                parts.extend(match *think {
                    ThinkTime::Constant(it) => {
                        (it > Nanos::ZERO).then(|| format!("thinking {}", EN.chosen(it)))
                    }
                    ThinkTime::Exponential { mean } => {
                        Some(format!("thinking {} on average (exponential)", EN.chosen(mean)))
                    }
                    ThinkTime::LogNormal { median, sigma } => {
                        let sigma = self.number(&sigma.to_string());
                        Some(format!("thinking {} at the median (log-normal, σ {sigma})", EN.chosen(median)))
                    }
                });
                parts.extend(pacing.map(|it| format!("at least {} from start to start", EN.chosen(it))));
                parts.extend(rate_max.map(|it| format!("at most {}/s", self.number(&it.to_string()))));
                parts
            }
            LoadModel::Open { schedule, arrivals, .. } => {
                let arrivals = match arrivals {
                    Spacing::Even => "even arrivals",
                    Spacing::Poisson => "Poisson arrivals",
                };
                let most = format!("at most {numbers} in flight");
                let schedule = Some(schedule).filter(|it| !it.is_empty()).cloned();
                [Some("open model".to_owned()), schedule, Some(arrivals.to_owned()), Some(most)]
                    .into_iter()
                    .flatten()
                    .collect()
            }
        };
        let protocol = match it.query_mode {
            QueryMode::Simple => "simple protocol",
            QueryMode::Extended => "extended protocol",
            QueryMode::Prepared => "prepared statements",
        };
        parts.extend(sql.then(|| protocol.to_owned()));
        if it.reconnect {
            parts.push("a new connection for each transaction".to_owned());
        }
        parts.extend(it.timeout.map(|it| format!("given up after {}", EN.chosen(it))));
        if it.max_tries > 1 {
            parts.push(format!("up to {} tries", it.max_tries));
        }
        parts.join(", ")
    }

    fn window(&self, it: &Load, repeat: u32) -> String {
        let each = it.duration.map_or("until the schedule ends".to_owned(), |it| self.span(it));
        let warmup = match it.warmup {
            Nanos::ZERO => String::new(),
            it => format!(" after {} of warm-up", self.span(it)),
        };
        match repeat {
            1 => format!("once, {each}{warmup}"),
            n if it.duration.is_some() => format!("{n} times, {each} each{warmup}"),
            n => format!("{n} times, {each}{warmup}"),
        }
    }

    fn dataset(&self, it: &Dataset) -> String {
        let number = |it: u64| self.number(&it.to_string());
        let content = match &it.content {
            Content::Tickets { rows } => format!("book.tickets, {} rows", number(*rows)),
            Content::Profiles { users, per_user } => {
                format!("profiles, {} users with {} each", number(*users), number(*per_user))
            }
            Content::Pgbench { scale } => format!("pgbench's tables, scale {}", number((*scale).into())),
            Content::Delivery { scale } => {
                format!("delivery.send and delivery.receive, scale {}", EN.plain(*scale))
            }
            Content::Users { users } => format!("social.users, {} users", number(*users)),
            Content::Books { rows } => format!("book.bookv2, {} rows", number(*rows)),
            Content::Declared(tables) => tables
                .iter()
                .map(|it| format!("{}, {} rows", it.name, number(it.rows)))
                .collect::<Vec<_>>()
                .join("; "),
        };
        let cache = match it.cache {
            CacheState::Warm => "warm caches",
            CacheState::Cold => "cold caches",
            CacheState::AsIs => "caches as loading left them",
        };
        format!("{content}; {cache}; seed {}", it.seed)
    }

    fn limits(&self, it: &Limits) -> String {
        let mut parts = Vec::new();
        parts.extend(it.cpu.map(|it| format!("{} CPU", self.number(&it.to_string()))));
        if !it.cpus.is_empty() {
            let cpus: Vec<String> = it.cpus.iter().map(u32::to_string).collect();
            parts.push(format!("on CPU {}", cpus.join(",")));
        }
        parts.extend(it.memory.map(|it| format!("memory {}", self.bytes(it as f64))));
        let number = |it: u64| self.number(&it.to_string());
        parts.extend(it.read_iops.map(|it| format!("{} reads/s", number(it))));
        parts.extend(it.write_iops.map(|it| format!("{} writes/s", number(it))));
        parts.extend(it.read_bps.map(|it| format!("reading {}/s", self.bytes(it as f64))));
        parts.extend(it.write_bps.map(|it| format!("writing {}/s", self.bytes(it as f64))));
        parts.join(", ")
    }

    fn no_limit(&self, limit: &str, why: &str) -> String {
        if why.is_empty() {
            format!("{limit} is not limited")
        } else {
            format!("{limit} is not limited: {why}")
        }
    }

    fn times(&self, service: bool, which: &str) -> String {
        format!("{} {which}, ms", if service { "service" } else { "response" })
    }

    fn size(&self, which: &str) -> String {
        if which.is_empty() { "size of answers".to_owned() } else { format!("size {which}") }
    }

    fn room(&self, it: &ConcurrencyLimit) -> String {
        match it {
            ConcurrencyLimit::Pool(mode, size) => format!("{} mode, pool {size}", self.pool_mode(*mode)),
            ConcurrencyLimit::MaxConn(bound) => format!("maxconn {bound}"),
            ConcurrencyLimit::Slots(slots) => format!("{slots} slots"),
        }
    }

    fn processors(&self, used: f64, of: Option<f64>) -> String {
        let of = of.map_or(String::new(), |it| format!(" of {}", self.number(&it.to_string())));
        format!("uses {}{of} CPU", self.number(&format!("{used:.2}")))
    }

    fn held_back(&self, share: f64) -> String {
        format!("held back by its quota in {} of periods", EN.percent(share, 0))
    }

    fn standing(&self, it: BottleneckRole) -> &'static str {
        match it {
            BottleneckRole::Processor => "the processor is the limit here",
            BottleneckRole::Pool => "the pool is the limit here",
            BottleneckRole::Queue => "the queue stands here",
        }
    }

    fn occupied(&self, busy: Option<f64>, queue: Option<f64>) -> Option<String> {
        let busy = busy.map(|it| format!("{} at work", format(it, self)));
        let queue = queue.map(|it| format!("{} waiting", format(it, self)));
        let parts: Vec<String> = [busy, queue].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    fn spent(&self, it: Nanos) -> String {
        format!("{} of each transaction", self.time(it))
    }

    fn seat(&self, name: &str, it: ServerSeat, at_first: bool) -> String {
        let seat = match it {
            ServerSeat::Primary => "primary",
            ServerSeat::Replica => "replica",
        };
        format!("{name}, {seat}{}", if at_first { " at first" } else { "" })
    }

    fn followed(&self, it: SyncMode) -> String {
        match it {
            SyncMode::Async => "log, no commit waits".to_owned(),
            SyncMode::First(k) => format!("log, commits wait for the first {k}"),
            SyncMode::Any(k) => format!("log, commits wait for any {k}"),
        }
    }

    fn manages(&self, it: &FailoverManager) -> Vec<String> {
        match it {
            FailoverManager::Builtin(it) => {
                let which = match it.policy {
                    PromotionPolicy::Advanced => "promotes the replica that has most",
                    PromotionPolicy::Laggard => "promotes the replica that has least",
                };
                let mut lines =
                    vec![format!("{which} when the primary is silent for {}", EN.chosen(it.timeout))];
                lines.extend((!it.fence).then(|| "does not kill the old primary first".to_owned()));
                lines
            }
            FailoverManager::Patroni(it) => vec![
                format!(
                    "promotes a replica when the leader’s key has not been renewed for {}",
                    EN.chosen(it.ttl)
                ),
                count(it.etcd as usize, "server") + " of etcd",
            ],
        }
    }

    fn with_replicas(&self, n: usize, followed: &str, manager: &str) -> String {
        let replicas = if n == 1 { "1 replica".to_owned() } else { format!("{n} replicas") };
        format!(" with {replicas} ({followed}); {manager} promotes")
    }

    fn drawn(&self, way: &str, longest: Option<(&str, Nanos)>) -> String {
        let longest = longest.map_or(String::new(), |(node, time)| {
            let the = if node == self.term(PageTerm::Generator) { "the " } else { "" };
            format!("; a transaction spends most of its time in {the}{node}: {}", self.time(time))
        });
        format!("{way}{longest}")
    }

    fn shaded(&self, figure: &str, baseline: Option<&str>) -> String {
        let beside = baseline.map_or(String::new(), |it| format!(", better or worse than in {it}"));
        format!("{figure}{beside}")
    }

    fn chart(&self, it: ChartKind) -> &'static str {
        match it {
            ChartKind::Rate => "Offered and delivered",
            ChartKind::Response => "Response time",
            ChartKind::ResponseByOperation => "Response time by operation",
            ChartKind::Failures => "Failures by code",
            ChartKind::InFlight => "In flight and waiting for a client",
            ChartKind::Pooler => "Poolers and balancers",
            ChartKind::Connections => "Sessions of PostgreSQL",
            ChartKind::Processors => "Processors",
            ChartKind::Disk => "Disk",
            ChartKind::Waits => "What active sessions wait for",
            ChartKind::ReplicationLag => "Replication lag",
            ChartKind::Freshness => "Until replicas show what was acknowledged",
            ChartKind::SendLag => "The generator's own send lag",
        }
    }

    fn axis(&self, it: ChartUnit) -> &'static str {
        match it {
            ChartUnit::PerSecond => "per second",
            ChartUnit::Seconds => "seconds",
            ChartUnit::Count => "number",
            ChartUnit::Processors => "processors",
            ChartUnit::Bytes => "bytes",
            ChartUnit::BytesPerSecond => "bytes per second",
        }
    }

    fn track(&self, it: ChartSeriesKind) -> String {
        let word = match it {
            ChartSeriesKind::Offered => "offered",
            ChartSeriesKind::Delivered => "delivered",
            ChartSeriesKind::Quantile(q) | ChartSeriesKind::SendLag(q) => return super::quantile(q),
            ChartSeriesKind::Max => "max",
            ChartSeriesKind::Failed => "failed",
            ChartSeriesKind::Unknown => "unknown",
            ChartSeriesKind::Refused => "refused",
            ChartSeriesKind::Dropped => "dropped",
            ChartSeriesKind::InFlight => "in flight",
            ChartSeriesKind::Waited => "waited for a client",
            ChartSeriesKind::ClientsActive => "clients active",
            ChartSeriesKind::ClientsWaiting => "clients waiting",
            ChartSeriesKind::ServersActive => "servers active",
            ChartSeriesKind::ServersIdle => "servers idle",
            ChartSeriesKind::Queue => "queue",
            ChartSeriesKind::Sessions => "sessions",
            ChartSeriesKind::Limit => "limit",
            ChartSeriesKind::Processors => "used",
            ChartSeriesKind::Host => "whole machine",
            ChartSeriesKind::Read => "read",
            ChartSeriesKind::Written => "written",
            ChartSeriesKind::Waiting => "waiting",
            ChartSeriesKind::ReplicationLag => "behind",
            ChartSeriesKind::Visible => "visible",
        };
        word.to_owned()
    }

    fn event(&self, it: EventKind) -> &'static str {
        match it {
            EventKind::Deadlock => "deadlock",
            EventKind::TooManyConnections => "no slot free",
            EventKind::SlowStatement => "slow statement",
            EventKind::Fatal => "fatal",
            EventKind::Error => "error",
            EventKind::Lifecycle => "state",
            EventKind::Fault => "fault",
            EventKind::Reverted => "healed",
            EventKind::Promoted => "promoted",
            EventKind::Rejoined => "rejoined",
            EventKind::Other => "log",
        }
    }

    fn trial(&self, name: &str, repetition: u32) -> String {
        if name.is_empty() { format!("trial {repetition}") } else { format!("{name}, trial {repetition}") }
    }

    fn more_trials(&self, n: usize) -> String {
        count(n, "more trial")
    }

    fn all_steps(&self, n: usize) -> String {
        count(n, "step")
    }

    fn mean_in(&self, baseline: &str) -> String {
        format!("mean in {baseline}, ms")
    }

    fn in_trials(&self, trials: usize, of: usize, what: &str) -> String {
        if of == 1 { what.to_owned() } else { format!("in {trials} of {of} trials: {what}") }
    }

    fn machine(&self, key: &str) -> Option<&'static str> {
        Some(match key {
            "system" => "system",
            "kernel" => "kernel",
            "processor" | "cpu_model" => "processor",
            "processors" | "cpus" => "processors",
            "memory" => "memory",
            "files" => "open files (allowed, possible)",
            "ports" => "local ports",
            "clock_source" => "clock source",
            "governor" => "frequency governor",
            "cgroups" => "control groups",
            _ => return None,
        })
    }

    fn cells(&self, names: &[&str], of: usize) -> String {
        if names.len() == of { "all cells".to_owned() } else { names.join(", ") }
    }
}

impl En {
    /// `users in stages: 1000 (50/s) for 1m30s, 500 for 60 s`; `numbers` are those of a single stage.
    fn stages(&self, stages: &[UserStage], numbers: &str) -> String {
        let rate = |it: &UserStage, how: &str| {
            let rate = it.spawn_rate.map(|it| self.number(&it.to_string()));
            rate.map_or(String::new(), |it| format!(" ({how}{it}/s)"))
        };
        match stages {
            [only] => {
                format!("{numbers} user{}{}", if numbers == "1" { "" } else { "s" }, rate(only, "coming at "))
            }
            all => {
                let stage = |it: &UserStage| {
                    let users = self.number(&it.users.to_string());
                    format!("{users}{} for {}", rate(it, ""), EN.span(it.duration))
                };
                format!("users in stages: {}", all.iter().map(stage).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

pub(super) fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// `a`, `a and b`, `a, b and c`.
fn list(all: &[&str]) -> String {
    match all {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The same with `or`.
fn alternatives(all: &[String]) -> String {
    match all {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
