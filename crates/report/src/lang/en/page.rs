//! English: what a page says.

use super::{En, NUMBERS as EN, answer};
use crate::lang::Lang;
use crate::lang::page::{Answer, PageWords, Question, Room, Seat, Standing, Term, Word};
use crate::page::number::{said, utc};
use model::account::RunState;
use model::chart::{ChartKind, ChartUnit, TrackKind};
use model::plan::{
    Cache, Choice, Content, Dataset, Entrance, Limits, Load, LoadModel, Manager, Stage, Sync, Think,
};
use model::summary::QueryMode;
use model::{EventKind, Nanos, Spacing};

impl PageWords for En {
    fn word(&self, it: Word) -> &'static str {
        match it {
            Word::Skip => "Skip to the content",
            Word::Contents => "Contents",
            Word::Language => "Language",
            Word::Theme => "Colours",
            Word::ThemeAuto => "As the system",
            Word::ThemeLight => "Light",
            Word::ThemeDark => "Dark",
            Word::Print => "Print",
            Word::Good => "good",
            Word::Doubt => "doubtful",
            Word::Bad => "bad",
            Word::Baseline => "baseline",
            Word::Trial => "Trial",
            Word::ZoomOut => "Show the whole time",
            Word::ChartHelp => "Drag to zoom in, double-click to zoom out; arrow keys move the cursor",
            Word::Time => "Time",
            Word::ShowTable => "Show the numbers",
            Word::HideTable => "Hide the numbers",
            Word::MoreRows => "More rows",
            Word::Marks => "Events",
            Word::Evidence => "Evidence",
            Word::Figure => "Figure",
            Word::Worse => "worse",
            Word::Same => "the same",
            Word::Better => "better",
            Word::AllColumns => "All columns",
            Word::FewColumns => "Fewer columns",
            Word::Copy => "Copy",
            Word::Copied => "Copied",
            Word::Seconds => "s",
            Word::Milliseconds => "ms",
            Word::Microseconds => "µs",
            Word::Bytes => "B",
            Word::Kibibytes => "KiB",
            Word::Mebibytes => "MiB",
            Word::Gibibytes => "GiB",
            Word::Tebibytes => "TiB",
            Word::PerSecond => "/s",
            Word::Thousand => "k",
            Word::Million => "M",
            Word::Live => "Running now",
            Word::Connecting => "Connecting …",
            Word::Lost => "Connection lost; trying again",
            Word::Ended => "The run has ended",
            Word::Stop => "Stop the run",
            Word::StopSure => "Stop this run? What was measured is kept.",
            Word::StopNo => "Let it run",
            Word::Stopping => "Stopping …",
            Word::StopFailed => "The run could not be stopped",
            Word::NoScript => {
                "This page draws itself by its own script, which this browser does not run. `pgdyno report RUN --format md` writes the same as text."
            }
            Word::CannotUnpack => "This browser cannot unpack the page; one of 2023 or later can.",
            Word::LeftOut => "The rest is left out here for want of room; the HTML report has it.",
        }
    }

    fn term(&self, it: Term) -> &'static str {
        match it {
            Term::Goals => "Goals and load",
            Term::Stack => "The system: where time goes and where the queue is",
            Term::Results => "Results by operation",
            Term::Matrix => "All cells",
            Term::Charts => "Over time",
            Term::Statements => "Most expensive statements",
            Term::Advice => "Indexes",
            Term::Findings => "Findings",
            Term::Doubts => "Reasons for doubt",
            Term::Stand => "Test stand",
            Term::Repeat => "Repeat it",
            Term::Load => "load",
            Term::Window => "measured",
            Term::Operations => "operations",
            Term::Dataset => "data",
            Term::StopRules => "stop rules",
            Term::Operation => "operation",
            Term::Total => "all",
            Term::Offered => "offered/s",
            Term::Delivered => "delivered/s",
            Term::Goodput => "goodput/s",
            Term::Failed => "failed",
            Term::Dropped => "dropped",
            Term::Code => "failure",
            Term::Count => "count",
            Term::Effect => "effect",
            Term::Statement => "statement",
            Term::Calls => "calls",
            Term::TotalSeconds => "total, s",
            Term::MeanMillis => "mean, ms",
            Term::SharePercent => "share, %",
            Term::RowsOfStatement => "rows",
            Term::Hit => "blocks hit",
            Term::Read => "blocks read",
            Term::Node => "node",
            Term::Version => "version",
            Term::Program => "program",
            Term::Entrance => "entrance",
            Term::LimitsOfNode => "limits",
            Term::CellsOfNode => "cells",
            Term::Command => "command",
            Term::File => "experiment file",
            Term::Generator => "generator",
            Term::Running => "running",
            Term::OnlyCell => "the only cell",
            Term::Objectives => "objectives",
            Term::Trials => "trials",
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

    fn question(&self, it: &Question<'_>) -> String {
        match it {
            Question::One { way, load } => match &load.model {
                LoadModel::Closed { clients, .. } => {
                    format!("How much does {way} hold with {}?", count(*clients as usize, "client"))
                }
                users @ LoadModel::Users { .. } => {
                    format!("How much does {way} hold with {}?", count(users.clients() as usize, "user"))
                }
                LoadModel::Open { schedule, .. } => format!("Does {way} hold {schedule}?"),
            },
            Question::Matrix { axes, baseline } => {
                let beside = baseline.map_or(String::new(), |it| format!(", compared with {it}"));
                format!("How does throughput change with {}{beside}?", list(axes))
            }
        }
    }

    fn answer(&self, it: &Answer<'_>) -> String {
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
                    Think::Constant(it) => (it > Nanos::ZERO).then(|| format!("thinking {}", EN.chosen(it))),
                    Think::Exponential { mean } => {
                        Some(format!("thinking {} on average (exponential)", EN.chosen(mean)))
                    }
                    Think::LogNormal { median, sigma } => {
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
        if it.connect_each {
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
            Cache::Warm => "warm caches",
            Cache::Cold => "cold caches",
            Cache::AsIs => "caches as loading left them",
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

    fn way(&self, it: Option<Entrance>) -> &'static str {
        it.map_or("as its address tells", |it| self.entrance(it))
    }

    fn room(&self, it: &Room) -> String {
        match it {
            Room::Pool(mode, size) => format!("{} mode, pool {size}", super::matrix::mode(*mode)),
            Room::MaxConn(bound) => format!("maxconn {bound}"),
            Room::Slots(slots) => format!("{slots} slots"),
        }
    }

    fn processors(&self, used: f64, of: Option<f64>) -> String {
        let of = of.map_or(String::new(), |it| format!(" of {}", self.number(&it.to_string())));
        format!("uses {}{of} CPU", self.number(&format!("{used:.2}")))
    }

    fn held_back(&self, share: f64) -> String {
        format!("held back by its quota in {} of periods", EN.percent(share, 0))
    }

    fn standing(&self, it: Standing) -> &'static str {
        match it {
            Standing::Processor => "the processor is the limit here",
            Standing::Pool => "the pool is the limit here",
            Standing::Queue => "the queue stands here",
        }
    }

    fn occupied(&self, busy: Option<f64>, queue: Option<f64>) -> Option<String> {
        let busy = busy.map(|it| format!("{} at work", said(it, self)));
        let queue = queue.map(|it| format!("{} waiting", said(it, self)));
        let parts: Vec<String> = [busy, queue].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    fn spent(&self, it: Nanos) -> String {
        format!("{} of each transaction", self.time(it))
    }

    fn seat(&self, name: &str, it: Seat, at_first: bool) -> String {
        let seat = match it {
            Seat::Primary => "primary",
            Seat::Replica => "replica",
        };
        format!("{name}, {seat}{}", if at_first { " at first" } else { "" })
    }

    fn followed(&self, it: Sync) -> String {
        match it {
            Sync::Async => "log, no commit waits".to_owned(),
            Sync::First(k) => format!("log, commits wait for the first {k}"),
            Sync::Any(k) => format!("log, commits wait for any {k}"),
        }
    }

    fn manages(&self, it: &Manager) -> Vec<String> {
        match it {
            Manager::Ours(it) => {
                let which = match it.choice {
                    Choice::Advanced => "promotes the replica that has most",
                    Choice::Laggard => "promotes the replica that has least",
                };
                let mut lines =
                    vec![format!("{which} when the primary is silent for {}", EN.chosen(it.patience))];
                lines.extend((!it.fence).then(|| "does not kill the old primary first".to_owned()));
                lines
            }
            Manager::Patroni(it) => vec![
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
            let the = if node == self.term(Term::Generator) { "the " } else { "" };
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

    fn track(&self, it: TrackKind) -> String {
        let word = match it {
            TrackKind::Offered => "offered",
            TrackKind::Delivered => "delivered",
            TrackKind::Quantile(q) | TrackKind::SendLag(q) => return super::quantile(q),
            TrackKind::Max => "max",
            TrackKind::Failed => "failed",
            TrackKind::Unknown => "unknown",
            TrackKind::Refused => "refused",
            TrackKind::Dropped => "dropped",
            TrackKind::InFlight => "in flight",
            TrackKind::Waited => "waited for a client",
            TrackKind::ClientsActive => "clients active",
            TrackKind::ClientsWaiting => "clients waiting",
            TrackKind::ServersActive => "servers active",
            TrackKind::ServersIdle => "servers idle",
            TrackKind::Queue => "queue",
            TrackKind::Sessions => "sessions",
            TrackKind::Limit => "limit",
            TrackKind::Processors => "used",
            TrackKind::Host => "whole machine",
            TrackKind::Read => "read",
            TrackKind::Written => "written",
            TrackKind::Waiting => "waiting",
            TrackKind::ReplicationLag => "behind",
            TrackKind::Visible => "visible",
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
            EventKind::Healed => "healed",
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
    fn stages(&self, stages: &[Stage], numbers: &str) -> String {
        let rate = |it: &Stage, how: &str| {
            let rate = it.spawn_rate.map(|it| self.number(&it.to_string()));
            rate.map_or(String::new(), |it| format!(" ({how}{it}/s)"))
        };
        match stages {
            [only] => {
                format!("{numbers} user{}{}", if numbers == "1" { "" } else { "s" }, rate(only, "coming at "))
            }
            all => {
                let stage = |it: &Stage| {
                    let users = self.number(&it.users.to_string());
                    format!("{users}{} for {}", rate(it, ""), EN.span(it.lasting))
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
