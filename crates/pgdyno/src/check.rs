//! `pgdyno check`: prints the diagnostics of an experiment file, or a summary of its plan

mod describe;
mod feeds;
mod grammars;

pub use grammars::parse_rule;

use crate::cli::os_error_text;
use crate::diagnostics;
use crate::files;
use crate::terminal;
use analysis::verdict::rule::RuleContext;
use clap::Parser;
use experiment::{Diagnostics, Plan, Request};
use model::plan::{
    FailoverManager, Limits, LoadModel, Node, NodeKind, Replication, Setup, SyncMode, ThinkTime, Transport,
    UserStage,
};
use model::summary::QueryMode;
use model::{Nanos, Spacing};
use report::lang::english;
use std::fmt::Write as _;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Tells all mistakes in an experiment file, or what it would run. Starts nothing.
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno check")]
struct Args {
    /// The experiment, in YAML; `pgdyno init` writes one to begin with
    file: PathBuf,
    /// Set a value of the file, such as pooler.size=24 or load.clients=[8,16]; several times
    #[arg(long = "set", value_name = "PATH=VALUE")]
    sets: Vec<String>,
    /// Apply the file's section `quick`
    #[arg(long)]
    quick: bool,
}

/// Reasons why a file yields no plan.
#[derive(Debug)]
pub enum PlanError {
    /// The file cannot be read.
    Unreadable(String),
    Invalid(Diagnostics),
}

impl PlanError {
    /// Prints the error to standard error. The exit status is 2.
    pub fn print(&self, program: &str) -> ExitCode {
        match self {
            PlanError::Unreadable(why) => errln!("{program}: error: {why}"),
            PlanError::Invalid(all) => err!("{}", diagnostics::render(all, diagnostics::use_colour())),
        }
        ExitCode::from(2)
    }
}

/// Reads and plans an experiment file. Starts nothing.
pub fn read(path: &Path, sets: &[String], quick: bool) -> Result<Plan, PlanError> {
    read_with_text(path, sets, quick).map(|it| it.0)
}

/// Like [`read`], and returns the file's text too: a pipe can be read only once.
pub fn read_with_text(path: &Path, sets: &[String], quick: bool) -> Result<(Plan, String), PlanError> {
    let unreadable =
        |error| PlanError::Unreadable(format!("cannot read {}: {}", path.display(), os_error_text(&error)));
    let text = read_text(path).map_err(unreadable)?;
    let plan = plan(path, &text, sets, quick).map_err(PlanError::Invalid)?;
    Ok((plan, text))
}

/// Plan of an experiment file's text. `path` appears in diagnostics, and relative file names are relative to it.
pub fn plan(path: &Path, text: &str, sets: &[String], quick: bool) -> Result<Plan, Diagnostics> {
    let request = Request {
        path,
        text,
        sets,
        quick,
        grammars: grammars::ALL,
        read: &read_text,
        columns: &feeds::columns,
        form: &feeds::format_from_name,
    };
    experiment::read(&request)
}

/// Largest size, in bytes, of an experiment file or of a script that it names. The YAML parser needs ten times as much
/// memory.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// Text of an experiment file or script. Files above [`FILE_BYTES_MAX`] are rejected.
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut text = Vec::new();
    files::open(path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut text)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        let why =
            format!("it is longer than {} MiB; rows of data belong into a feed's file", FILE_BYTES_MAX >> 20);
        return Err(io::Error::other(why));
    }
    String::from_utf8(text).map_err(|error| {
        io::Error::other(format!(
            "it is not UTF-8 from byte {} on; save it as UTF-8",
            error.utf8_error().valid_up_to()
        ))
    })
}

/// Runs the command. The exit status is 2 for wrong arguments and for diagnostics in the file.
pub fn main(args: &[String]) -> ExitCode {
    let name = std::iter::once("pgdyno check");
    let args = match Args::try_parse_from(name.chain(args.iter().map(String::as_str))) {
        Ok(args) => args,
        Err(error) => return terminal::usage(&error),
    };
    match read(&args.file, &args.sets, args.quick) {
        Ok(plan) => {
            out!("{}", overview(&plan));
            ExitCode::SUCCESS
        }
        Err(refused) => refused.print("pgdyno check"),
    }
}

/// Summary of a plan, as lines of text.
pub fn overview(plan: &Plan) -> String {
    let it = &plan.experiment;
    let mut out = format!("{}\n\n", it.name);
    let mut chains: Vec<(String, usize)> = Vec::new();
    for cell in &it.cells {
        let chain = chain(&cell.setup);
        match chains.iter_mut().find(|it| it.0 == chain) {
            Some((_, count)) => *count += 1,
            None => chains.push((chain, 1)),
        }
    }
    for (i, (chain, count)) in chains.iter().enumerate() {
        let label = if i == 0 { "stack" } else { "" };
        let cells = match chains.len() {
            1 => String::new(),
            _ => format!("  ({count} cell{})", plural_suffix(*count)),
        };
        let _ = writeln!(out, "{label:10}{chain}{cells}");
    }
    section(&mut out, "mix", it.cells.iter().flat_map(|cell| describe::describe_mix(&cell.setup)));
    section(
        &mut out,
        "feeds",
        it.cells.iter().flat_map(|cell| cell.setup.feeds.iter().map(describe::describe_feed)),
    );
    section(&mut out, "load", it.cells.iter().map(|cell| load_words(&cell.setup)));
    let ordinary = || it.cells.iter().filter(|cell| cell.control_of.is_none());
    section(&mut out, "ledger", it.cells.iter().flat_map(|cell| describe::describe_ledgers(&cell.setup)));
    section(
        &mut out,
        "faults",
        ordinary().flat_map(|cell| cell.setup.faults.iter().map(describe::describe_fault)),
    );
    let searches = describe::describe_goal(&it.goal);
    section(&mut out, "find", searches.clone().into_iter());
    let count = it.cells.len() * it.repeat as usize;
    let what = if it.goal.max_search().is_none() { "trial" } else { "search" };
    let ending = if count > 1 && what == "search" { "es" } else { plural_suffix(count) };
    let controls = it.cells.len() - ordinary().count();
    let of_them = match controls {
        0 => String::new(),
        1 => " (1 is a positive control)".to_owned(),
        many => format!(" ({many} are positive controls)"),
    };
    let _ = writeln!(
        out,
        "{:10}{} cell{}{of_them} × {} = {count} {what}{ending}",
        "matrix",
        it.cells.len(),
        plural_suffix(it.cells.len()),
        it.repeat,
    );
    for cell in it.cells.iter().filter(|it| it.control_of.is_some()) {
        let faults: Vec<String> = cell.setup.faults.iter().map(describe::describe_fault).collect();
        let _ = writeln!(out, "{:10}nothing is promised; {}", "control", faults.join(", "));
    }
    if let Some(cell) = it.baseline.and_then(|i| it.cells.get(i)) {
        let label: Vec<String> = cell.label.iter().map(|(axis, it)| format!("{axis}: {it}")).collect();
        let _ = writeln!(out, "{:10}{}", "baseline", label.join(", "));
    }
    if it.goal.max_search().is_some() {
        let _ = writeln!(out, "{:10}what is measured decides how many trials a search takes", "time");
        return with_warnings(out, plan);
    }
    let whole =
        plan.durations.iter().map(|lasting| lasting.0 as f64 * f64::from(it.repeat)).sum::<f64>() / 1e9;
    let _ = writeln!(out, "{:10}{} under load; setting up comes on top", "time", format_duration(whole));
    with_warnings(out, plan)
}

/// Appends the seed and the warnings.
fn with_warnings(mut out: String, plan: &Plan) -> String {
    let _ = writeln!(out, "{:10}{}", "seed", plan.experiment.seed);
    for remark in warnings(plan) {
        let _ = writeln!(out, "{:10}{remark}", "note");
    }
    out
}

/// Writes lines under a label, each distinct line once.
fn section(out: &mut String, label: &str, lines: impl Iterator<Item = String>) {
    let mut all: Vec<String> = Vec::new();
    for line in lines {
        if !all.contains(&line) {
            let _ = writeln!(out, "{:10}{line}", if all.is_empty() { label } else { "" });
            all.push(line);
        }
    }
}

/// Warnings about probable mistakes, and about stop rules that Yandex.Tank interprets differently. Each warning appears
/// once, together with its rule.
pub fn warnings(plan: &Plan) -> Vec<String> {
    let mut all = plan.warnings.clone();
    for cell in &plan.experiment.cells {
        for text in &cell.setup.stop_rules {
            let warnings = analysis::verdict::rule::parse(text, &RuleContext::for_setup(&cell.setup))
                .map(|it| it.warnings);
            for it in warnings.unwrap_or_default() {
                let remark = format!("{text}: {}", english().difference(&it));
                if !all.contains(&remark) {
                    all.push(remark);
                }
            }
        }
    }
    all
}

fn plural_suffix(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}

/// Chain of nodes, such as `clients -tcp→ PRODUCT (transaction, pool of 20) -unix→ PostgreSQL 15`.
fn chain(setup: &Setup) -> String {
    let mut out = "clients".to_owned();
    for node in &setup.stack.nodes {
        let hop = match node.transport {
            Transport::Unix => "unix",
            Transport::Tcp => "tcp",
            Transport::Tls => "tls",
        };
        let _ = write!(out, " -{hop}→ {}", node_words(node));
    }
    if let Some(it) = setup.stack.replication.as_ref().filter(|it| it.replicas > 0) {
        let _ = write!(out, " ⇉ {}", replica_words(it));
    }
    out
}

/// Replication in one line, such as `2 replicas (any 1)`.
fn replica_words(it: &Replication) -> String {
    let sync = match it.sync {
        SyncMode::Async => "async".to_owned(),
        SyncMode::First(k) => format!("first {k}"),
        SyncMode::Any(k) => format!("any {k}"),
    };
    let own = matches!(it.manager, FailoverManager::Builtin(_));
    let manager = (!own).then(|| it.manager.product().to_owned());
    let facts: Vec<String> = [Some(sync), manager].into_iter().flatten().chain(limits(&it.limits)).collect();
    let ending = if it.replicas == 1 { "" } else { "s" };
    format!("{} replica{ending} ({})", it.replicas, facts.join(", "))
}

fn node_words(node: &Node) -> String {
    let (name, facts) = match &node.kind {
        NodeKind::Postgres(it) => {
            let name = it.version.map_or("PostgreSQL".to_owned(), |it| format!("PostgreSQL {it}"));
            (name, vec![format!("{} connections", it.max_connections)])
        }
        NodeKind::Pooler(it) => {
            (it.product.name.to_owned(), vec![it.mode.key().to_owned(), format!("pool of {}", it.size)])
        }
        NodeKind::Balancer(it) => {
            (it.product.name.to_owned(), it.maxconn.map(|it| format!("maxconn {it}")).into_iter().collect())
        }
        NodeKind::Service(it) => describe::describe_service(it, &node.name),
        NodeKind::Attached(_) => (format!("{} (attached)", node.name), Vec::new()),
    };
    let facts: Vec<String> = facts.into_iter().chain(limits(&node.limits)).collect();
    if facts.is_empty() { name } else { format!("{name} ({})", facts.join(", ")) }
}

/// Descriptions of a node's limits, such as `2 cpu`.
pub fn limits(it: &Limits) -> Vec<String> {
    let megabytes = |it: u64| format!("{} MB", it as f64 / f64::from(1 << 20));
    let mut all = Vec::new();
    all.extend(it.cpu.map(|it| format!("{it} cpu")));
    all.extend(it.memory.map(megabytes));
    all.extend(it.read_iops.map(|it| format!("{it} reads/s")));
    all.extend(it.write_iops.map(|it| format!("{it} writes/s")));
    all.extend(it.read_bps.map(|it| format!("read {}/s", megabytes(it))));
    all.extend(it.write_bps.map(|it| format!("write {}/s", megabytes(it))));
    if !it.cpus.is_empty() {
        let list: Vec<String> = it.cpus.iter().map(u32::to_string).collect();
        all.push(format!("on processor {}", list.join(", ")));
    }
    all
}

fn load_words(setup: &Setup) -> String {
    let it = &setup.load;
    let mut words = match &it.model {
        LoadModel::Closed { clients, think } => {
            let think = if *think == Nanos::ZERO {
                String::new()
            } else {
                format!(", thinking {}", format_duration(think.as_secs_f64()))
            };
            format!("closed, {clients} client{}{think}", plural_suffix(*clients as usize))
        }
        LoadModel::Users { stages, think, pacing, rate_max } => {
            users_words(stages, *think, *pacing, *rate_max)
        }
        LoadModel::Open { schedule, arrivals, max_in_flight } => {
            let spacing = match arrivals {
                Spacing::Even => "evenly spaced",
                Spacing::Poisson => "Poisson",
            };
            format!("open, {schedule}, {spacing}, at most {max_in_flight} at once")
        }
    };
    if let Some(duration) = it.duration {
        let _ = write!(words, ", {}", format_duration(duration.as_secs_f64()));
    }
    if it.warmup > Nanos::ZERO {
        let _ = write!(words, " after {} of warm-up", format_duration(it.warmup.as_secs_f64()));
    }
    let mode = match it.query_mode {
        QueryMode::Simple => "simple",
        QueryMode::Extended => "extended",
        QueryMode::Prepared => "prepared",
    };
    let _ = write!(words, ", {mode}");
    if it.reconnect {
        words += ", a connection each";
    }
    if it.cookies {
        words += ", with cookies";
    }
    words
}

/// Closed load in one line, such as `closed, 1000 users at 50/s for 1m30s, then 500 for 1m00s, thinking 1s on average
/// (exponential)`.
fn users_words(
    stages: &[UserStage],
    think: ThinkTime,
    pacing: Option<Nanos>,
    rate_max: Option<f64>,
) -> String {
    let time = |it: Nanos| format_duration(it.as_secs_f64());
    let stage = |stage: &UserStage| {
        let rate = stage.spawn_rate.map_or(String::new(), |it| format!(" at {it}/s"));
        match stages {
            [_] => format!("{} user{}{rate}", stage.users, plural_suffix(stage.users as usize)),
            _ => format!(
                "{} user{}{rate} for {}",
                stage.users,
                plural_suffix(stage.users as usize),
                time(stage.duration)
            ),
        }
    };
    let mut parts = vec![format!("closed, {}", stages.iter().map(stage).collect::<Vec<_>>().join(", then "))];
    parts.extend(match think {
        ThinkTime::Constant(Nanos::ZERO) => None,
        ThinkTime::Constant(it) => Some(format!("thinking {}", time(it))),
        ThinkTime::Exponential { mean } => Some(format!("thinking {} on average (exponential)", time(mean))),
        ThinkTime::LogNormal { median, sigma } => {
            Some(format!("thinking {} at the median (log-normal, σ {sigma})", time(median)))
        }
    });
    parts.extend(pacing.map(|it| format!("{} from start to start", time(it))));
    parts.extend(rate_max.map(|it| format!("at most {it}/s")));
    parts.join(", ")
}

/// Duration for people: `1h2m`, `3m20s`, `12s` or `0.5s`.
pub fn format_duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{}s", (seconds * 1000.0).round() / 1000.0),
        60..3600 => format!("{}m{:02}s", whole / 60, whole % 60),
        _ => format!("{}h{:02}m", whole / 3600, whole % 3600 / 60),
    }
}
