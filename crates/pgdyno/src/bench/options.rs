//! What does the user want of `pgdyno bench`?
//!
//! pgbench's options with pgbench's rules, and ours. All mistakes are collected; each says what to write instead.

mod diagnostic;
mod getopt;
mod rules;
mod table;
mod value;

pub use diagnostic::OptionDiagnostic;
pub use table::usage;

use crate::cli::language;
use load::script::builtin::Builtin;
use model::summary::{PartitionMethod, QueryMode};
use model::{Curve, Nanos, PerSecond, Spacing};
use report::lang::Lang;
use std::ops::RangeInclusive;
use wire::http::{Method, Url};

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum BenchCommand {
    Help,
    Version,
    ListBuiltins,
    ShowScript(&'static Builtin),
    Initialise(Box<InitOptions>),
    Run(Box<BenchOptions>),
}

/// Which server, as far as the command line says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetOptions {
    pub host: Option<String>,
    pub port: Option<String>,
    pub user: Option<String>,
    /// A database's name, a connection string or a URI.
    pub database: Option<String>,
}

/// A run: `pgdyno bench` without `-i`.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchOptions {
    pub target: TargetOptions,
    /// Of an HTTP service, which is asked instead of PostgreSQL.
    pub http: Option<HttpOptions>,
    /// In the order given; at least one, with a total weight above 0.
    pub scripts: Vec<WeightedScript>,
    /// Clients, which is also the greatest number of transactions in flight. At least 1.
    pub clients: u32,
    /// 1..=clients.
    pub threads: u32,
    pub mode: QueryMode,
    pub pace: ArrivalModel,
    /// Arrivals that may wait for a client, over all threads. Of the open model only.
    pub max_backlog: u32,
    pub until: RunEnd,
    /// `-L`: transactions above it are counted; in the open model, arrivals later than it are dropped.
    pub latency_limit: Option<Nanos>,
    /// 0: without bound.
    pub max_tries: u32,
    /// `-C`: a new connection for each transaction.
    pub connect_each: bool,
    /// Log-ins under way at the same time. At least 1.
    pub max_connecting: u32,
    pub vacuum: Vacuum,
    /// `-s`; `None`: as found in the database.
    pub scale: Option<u32>,
    /// `-D name=value`, in the order given.
    pub defines: Vec<(String, String)>,
    pub seed: SeedOption,
    pub driver: DriverOption,
    /// How long before a due moment waiting becomes spinning; zero: never.
    pub spin: Nanos,
    pub per_command: bool,
    pub failures_detailed: bool,
    pub verbose_errors: bool,
    pub debug: bool,
    pub progress: Option<ProgressReport>,
    pub log: Option<LogOptions>,
    pub json: bool,
    pub strict: bool,
    pub allow_shell: bool,
    /// Hosts of other machines that may be loaded, divided by commas.
    pub yes_load: Option<String>,
    /// Of what pgbench does not print.
    pub lang: &'static dyn Lang,
}

/// `--http`: the request that is asked of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpOptions {
    pub url: Url,
    pub method: Method,
    /// As written, `Name: value`.
    pub headers: Vec<String>,
    pub body: Option<String>,
    /// Statuses that are no failure; empty: 200..=399.
    pub expect: Vec<RangeInclusive<u16>>,
    /// An answer that has not begun within this time is given up; then one that has not ended.
    pub first_byte_timeout: Option<Nanos>,
    pub response_timeout: Option<Nanos>,
    /// Whose certificates are trusted: a file; `None`: the system's.
    pub roots: Option<String>,
    /// The service's certificate is not checked.
    pub insecure: bool,
}

/// What makes transactions start.
#[derive(Clone, Debug, PartialEq)]
pub enum ArrivalModel {
    /// The client's previous one, plus `think`.
    Closed { think: Nanos },
    /// A moment: so many per second.
    Rate { rate: PerSecond, spacing: Spacing },
    /// A moment: a schedule in Yandex.Tank's grammar.
    Schedule { text: String, curve: Curve, spacing: Spacing },
}

impl ArrivalModel {
    pub fn is_open(&self) -> bool {
        !matches!(self, ArrivalModel::Closed { .. })
    }
}

/// When the run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// Each client has run so many transactions. At least 1.
    Transactions(u32),
    /// So many seconds have passed. At least 1.
    Seconds(u32),
    /// The schedule's last arrival has its outcome. With [`Pace::Schedule`] only.
    ScheduleEnds,
}

/// One script and its weight in the mix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightedScript {
    pub source: Source,
    pub weight: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Builtin(&'static Builtin),
    /// `-` is standard input.
    File(String),
}

/// What is vacuumed before the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vacuum {
    Nothing,
    /// Branches and tellers; the history is truncated.
    Small,
    /// The accounts too.
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedOption {
    /// From the clock; `told` when the user asked for it by name.
    Time {
        explicit: bool,
    },
    /// From the operating system.
    Rand,
    Fixed(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriverOption {
    Auto,
    Epoll,
    IoUring,
}

/// `-P`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgressReport {
    /// Seconds, at least 1.
    pub every: u32,
    /// Unix time instead of the time since the start.
    pub timestamp: bool,
}

/// `-l`.
#[derive(Clone, Debug, PartialEq)]
pub struct LogOptions {
    pub prefix: String,
    pub form: LogForm,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LogForm {
    All,
    /// A share of all transactions, above 0 and at most 1.
    Sampled(f64),
    /// One line per so many seconds, at least 1.
    Aggregated(u32),
}

/// `-i`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitOptions {
    pub target: TargetOptions,
    /// As [`Options::yes_load`].
    pub yes_load: Option<String>,
    /// Letters of `dtgGvpf` in the order in which they are done; `-n` and `--foreign-keys` are already worked in.
    pub steps: Vec<char>,
    pub scale: u32,
    /// Percent, 10..=100.
    pub fill_factor: u32,
    pub quiet: bool,
    pub unlogged: bool,
    pub tablespace: Option<String>,
    pub index_tablespace: Option<String>,
    /// Of `pgbench_accounts`; the count is at least 1.
    pub partitions: Option<(PartitionMethod, u32)>,
}

/// Reads the arguments after the command's name. `env` looks a variable of the environment up.
pub fn parse(
    args: &[String],
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<BenchCommand, Vec<OptionDiagnostic>> {
    let mut draft = table::Draft::default();
    let mut mistakes = Vec::new();
    if let Some(seed) = env("PGBENCH_RANDOM_SEED") {
        let source = "PGBENCH_RANDOM_SEED environment variable";
        mistakes.extend(value::seed(&seed, source).map(|it| draft.seed = Some(it)).err());
    }
    if let Some(code) = env(language::VARIABLE).filter(|it| !it.is_empty()) {
        let source = format!("{} environment variable", language::VARIABLE);
        mistakes.extend(value::lang(&code, &source).map(|it| draft.lang = Some(it)).err());
    }
    for word in getopt::read(args, &table::spellings()) {
        let taken = match word {
            Ok(getopt::Argument::Option { option, value }) => draft.set_option(&table::TABLE[option], &value),
            Ok(getopt::Argument::Operand(it)) => draft.set_operand(it),
            Err(misread) => Err(diagnostic::from_parse_error(&misread)),
        };
        mistakes.extend(taken.err());
        if let Some(answer) = draft.immediate.take() {
            return if mistakes.is_empty() { Ok(answer) } else { Err(mistakes) };
        }
    }
    let command = rules::resolve(draft, &mut mistakes);
    if mistakes.is_empty() { Ok(command) } else { Err(mistakes) }
}

#[cfg(test)]
mod tests;
