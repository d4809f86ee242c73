//! Command line of `pgdyno bench`
//!
//! It accepts pgbench's options with pgbench's rules, and further options. All diagnostics are collected, each with a
//! correction.

mod diagnostic;
mod getopt;
mod rules;
mod table;
mod value;

pub use table::{arguments, usage};

use super::secret;
use crate::cli::{OptionDiagnostic, language};
use crate::connect_commands::shell_quote;
use crate::fleet::options::FleetOptions;
use load::driver::Driver;
use load::script::builtin::Builtin;
use model::summary::{PartitionMethod, QueryMode};
use model::{Curve, Nanos, PerSecond, Spacing};
use report::lang::Lang;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use wire::http::{Method, Url};

/// Command that the options select.
#[derive(Clone, Debug, PartialEq)]
pub enum BenchCommand {
    Help,
    Version,
    ListBuiltins,
    ShowScript(&'static Builtin),
    Initialise(Box<InitOptions>),
    Run(Box<BenchOptions>),
}

/// Server options, as given on the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetOptions {
    pub host: Option<String>,
    pub port: Option<String>,
    pub user: Option<String>,
    /// Database name, connection string or URI.
    pub database: Option<String>,
}

/// Options of a run, which is `pgdyno bench` without `-i`.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchOptions {
    pub target: TargetOptions,
    /// Options of an HTTP service to measure instead of PostgreSQL.
    pub http: Option<HttpOptions>,
    /// Scripts in the order given. At least one, with a total weight above 0.
    pub scripts: Vec<WeightedScript>,
    /// Number of clients, which is also the in-flight cap. At least 1.
    pub clients: u32,
    /// Number of threads, 1..=clients.
    pub threads: u32,
    pub mode: QueryMode,
    pub pace: ArrivalModel,
    /// Largest backlog over all threads, for the open model only.
    pub max_backlog: u32,
    pub end: RunEnd,
    /// Latency limit (`-L`). Transactions above the limit are counted. In the open model, arrivals that cannot be sent
    /// within the limit are dropped.
    pub latency_limit: Option<Nanos>,
    /// Maximum number of attempts per transaction; 0 for no limit.
    pub max_tries: u32,
    /// True if each transaction opens a new connection (`-C`).
    pub reconnect: bool,
    /// Maximum number of simultaneous logins. At least 1.
    pub max_connecting: u32,
    pub vacuum: Vacuum,
    /// Scale (`-s`); `None` to read it from the database.
    pub scale: Option<u32>,
    /// Variables (`-D name=value`), in the order given.
    pub defines: Vec<(String, String)>,
    pub seed: SeedOption,
    /// Driver; `None` selects the driver that suits the load.
    pub driver: Option<Driver>,
    /// Busy-wait time: a thread busy-waits instead of sleeping for this time before each due time. Zero disables
    /// busy-waiting.
    pub spin: Nanos,
    /// Minimum time between two wake-ups of a thread. Zero lets it wake up whenever something is due or arrives.
    pub slack: Nanos,
    pub per_command: bool,
    pub failures_detailed: bool,
    pub verbose_errors: bool,
    /// True if the run ends as soon as a client aborts.
    pub exit_on_abort: bool,
    pub debug: bool,
    pub progress: Option<ProgressReport>,
    pub log: Option<LogOptions>,
    /// Options as shell words, for the run file. They contain neither the server's address nor passwords.
    pub arguments: Vec<String>,
    /// Objectives (`--objective`) as written, in the order given.
    pub objectives: Vec<String>,
    pub save: Option<SaveOptions>,
    pub json: bool,
    pub strict: bool,
    pub allow_shell: bool,
    /// True if the program was called as `pgbench`. Scripts may then run shell commands, unset variables are sent as NULL,
    /// and the server's messages keep their form.
    pub as_pgbench: bool,
    /// Hosts on other machines on which load is permitted, separated by commas.
    pub yes_load: Option<String>,
    /// Language of the output that pgbench does not have.
    pub lang: &'static Lang,
    /// Agents that generate the load; `None` if this process does.
    pub fleet: Option<FleetOptions>,
}

/// HTTP request (`--http`) and the criteria for its response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpOptions {
    pub url: Url,
    pub method: Method,
    /// Headers as written, `Name: value`.
    pub headers: Vec<String>,
    pub body: Option<String>,
    /// Statuses that count as success; if empty, 200..=399.
    pub expect: Vec<RangeInclusive<u16>>,
    /// Timeout for the first byte of a response.
    pub first_byte_timeout: Option<Nanos>,
    pub response_timeout: Option<Nanos>,
    /// File with the trusted certificates; `None` for the system's certificates.
    pub roots: Option<String>,
    /// True if the certificate is not verified.
    pub insecure: bool,
}

/// Trigger that starts transactions.
#[derive(Clone, Debug, PartialEq)]
pub enum ArrivalModel {
    /// The end of the client's previous transaction, plus `think`.
    Closed { think: Nanos },
    /// A constant rate per second.
    Rate { rate: PerSecond, spacing: Spacing },
    /// A schedule in Yandex.Tank's grammar.
    Schedule { text: String, curve: Curve, spacing: Spacing },
}

impl ArrivalModel {
    pub fn is_open(&self) -> bool {
        !matches!(self, ArrivalModel::Closed { .. })
    }
}

/// Condition that ends the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// End after this number of transactions per client, at least 1.
    Transactions(u32),
    /// End after this number of seconds, at least 1.
    Seconds(u32),
    /// End when the schedule's last arrival has an outcome. Only with [`ArrivalModel::Schedule`].
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
    /// File name; `-` is standard input.
    File(String),
}

/// Tables to vacuum before the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vacuum {
    Nothing,
    /// Vacuums branches and tellers, and truncates the history.
    Small,
    /// Also vacuums the accounts.
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedOption {
    /// Seed from the clock. `explicit` is true if the user requested it.
    Time {
        explicit: bool,
    },
    /// Seed from the operating system's random numbers.
    Rand,
    Fixed(u64),
}

/// Progress report (`-P`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgressReport {
    /// Interval in seconds, at least 1.
    pub every: u32,
    /// True to print Unix time instead of the time since the start.
    pub timestamp: bool,
}

/// Run file that stores the measurement (`--save`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaveOptions {
    /// Name of the run's experiment, `[a-z0-9-]{1,64}`.
    pub name: String,
    pub directory: PathBuf,
}

/// Transaction log (`-l`).
#[derive(Clone, Debug, PartialEq)]
pub struct LogOptions {
    pub prefix: String,
    pub form: LogForm,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LogForm {
    All,
    /// Share of all transactions that are logged, above 0 and at most 1.
    Sampled(f64),
    /// Seconds that one line aggregates, at least 1.
    Aggregated(u32),
}

/// Options of the initialization (`-i`).
#[derive(Clone, Debug, PartialEq)]
pub struct InitOptions {
    pub target: TargetOptions,
    /// Hosts on which load is permitted, as in [`BenchOptions::yes_load`].
    pub yes_load: Option<String>,
    /// Letters of `dtgGvpf` in their order. `-n` and `--foreign-keys` are already applied.
    pub steps: Vec<char>,
    pub scale: u32,
    /// Fill factor in percent, 10..=100.
    pub fill_factor: u32,
    pub quiet: bool,
    pub lang: &'static Lang,
    pub unlogged: bool,
    pub tablespace: Option<String>,
    pub index_tablespace: Option<String>,
    /// Partitions of `pgbench_accounts`; the count is at least 1.
    pub partitions: Option<(PartitionMethod, u32)>,
}

/// Parses the arguments after the command's name. `env` looks up environment variables.
pub fn parse(
    args: &[String],
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<BenchCommand, Vec<OptionDiagnostic>> {
    let mut draft = table::Draft::default();
    let mut diagnostics = Vec::new();
    if let Some(seed) = env("PGBENCH_RANDOM_SEED") {
        let source = "PGBENCH_RANDOM_SEED environment variable";
        diagnostics.extend(value::seed(&seed, source).map(|it| draft.seed = Some(it)).err());
    }
    if let Some(code) = env(language::VARIABLE).filter(|it| !it.is_empty()) {
        let source = format!("{} environment variable", language::VARIABLE);
        diagnostics.extend(value::lang(&code, &source).map(|it| draft.lang = Some(it)).err());
    }
    for word in getopt::read(args, &table::spellings()) {
        let taken = match word {
            Ok(getopt::Argument::Option { option, value }) => {
                let option = &table::TABLE[option];
                draft.arguments.extend(shell_words(option, &value));
                draft.set_option(option, &value)
            }
            Ok(getopt::Argument::Operand(it)) => draft.set_operand(it),
            Err(misread) => Err(diagnostic::from_parse_error(&misread)),
        };
        diagnostics.extend(taken.err());
        if let Some(answer) = draft.immediate.take() {
            return if diagnostics.is_empty() { Ok(answer) } else { Err(diagnostics) };
        }
    }
    let command = rules::resolve(draft, &mut diagnostics);
    if diagnostics.is_empty() { Ok(command) } else { Err(diagnostics) }
}

/// Shell words of an option. Values that may be passwords are hidden. Empty for options with the server's address.
fn shell_words(option: &table::Opt, value: &str) -> Vec<String> {
    let value = match option.long {
        "host" | "port" | "username" => return Vec::new(),
        "define" | "header" => {
            let sign = if option.long == "define" { '=' } else { ':' };
            value.split_once(sign).map_or_else(
                || value.to_owned(),
                |(name, text)| format!("{name}{sign}{}", secret::hide(name, text)),
            )
        }
        "body" => secret::hide(value, value),
        "http" => secret::hide_query(value),
        _ => value.to_owned(),
    };
    match (option.short, value.as_str()) {
        (Some(letter), "") => vec![format!("-{letter}")],
        (Some(letter), value) => vec![format!("-{letter}"), shell_quote(value)],
        (None, "") => vec![format!("--{}", option.long)],
        (None, value) => vec![format!("--{}={}", option.long, shell_quote(value))],
    }
}

#[cfg(test)]
mod tests;
