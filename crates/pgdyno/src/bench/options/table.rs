//! Table of all options, for the parser and for `--help`

use super::getopt::{Spelling, ValueRule};
use super::value::{self, INT_MAX, MAX_BACKLOG, int};
use super::{BenchCommand, OptionDiagnostic, SeedOption, Source, TargetOptions, WeightedScript};
use crate::fleet::options::{LabelSelector, NatsArgs};
use load::driver::Driver;
use model::summary::{PartitionMethod, QueryMode};
use model::{Curve, Nanos, PerSecond, Spacing};
use report::findings::paragraph;
use report::lang::Lang;
use std::fmt::Write;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use wire::http::{Method, Url};

/// Definition of one option.
pub struct Opt {
    pub short: Option<char>,
    pub long: &'static str,
    /// Placeholder of the value; empty for an option without a value, in brackets for an optional one.
    pub value: &'static str,
    pub phase: Phase,
    /// Sections and lines in `--help`. A line that begins with a blank continues the previous line.
    pub help: &'static [(Section, &'static str)],
    pub set: fn(&mut Draft, &str) -> Result<(), OptionDiagnostic>,
}

/// Phase to which an option applies: initialization (`-i`), run, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Initialise,
    Run,
    /// Runs with `--http`, without `-i`.
    Http,
    Both,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    Initialise,
    Scripts,
    Run,
    /// Options that pgbench does not have.
    Extended,
    /// Options of load generators on other machines.
    Agents,
    Http,
    Common,
}

/// Options parsed so far. Combinations are not checked yet.
#[derive(Debug, Default)]
pub struct Draft {
    /// First option of each phase, with its full name.
    pub first_of_run: Option<&'static str>,
    pub first_of_init: Option<&'static str>,
    /// Command that takes effect at once, regardless of the following options.
    pub immediate: Option<BenchCommand>,
    pub target: TargetOptions,
    pub operands: Vec<String>,
    pub debug: bool,
    pub no_vacuum: bool,
    pub scale: Option<u32>,

    pub init: bool,
    pub steps: Option<String>,
    pub fill_factor: Option<u32>,
    pub quiet: bool,
    pub foreign_keys: bool,
    pub unlogged: bool,
    pub tablespace: Option<String>,
    pub index_tablespace: Option<String>,
    pub partitions: u32,
    pub partition_method: Option<PartitionMethod>,

    pub scripts: Vec<WeightedScript>,
    pub clients: Option<u32>,
    pub threads: Option<u32>,
    pub reconnect: bool,
    pub defines: Vec<(String, String)>,
    pub log: bool,
    pub latency_limit: Option<Nanos>,
    pub mode: QueryMode,
    pub progress: Option<u32>,
    pub per_command: bool,
    pub rate: Option<PerSecond>,
    pub transactions: Option<u32>,
    pub seconds: Option<u32>,
    pub vacuum_all: bool,
    pub aggregate: Option<u32>,
    pub failures_detailed: bool,
    pub log_prefix: Option<String>,
    pub max_tries: Option<u32>,
    pub progress_timestamp: bool,
    pub seed: Option<SeedOption>,
    pub sampling: Option<f64>,
    pub verbose_errors: bool,
    pub exit_on_abort: bool,

    pub schedule: Option<(String, Curve)>,
    pub arrivals: Option<Spacing>,
    pub max_backlog: Option<u32>,
    pub think: Option<Nanos>,
    pub driver: Option<Driver>,
    pub spin: Option<Nanos>,
    pub slack: Option<Nanos>,
    pub max_connecting: Option<u32>,
    pub arguments: Vec<String>,
    pub objectives: Vec<String>,
    pub save: Option<String>,
    pub out: Option<PathBuf>,
    pub json: bool,
    pub strict: bool,
    pub allow_shell: bool,
    pub yes_load: Option<String>,
    pub agents: Option<u16>,
    pub local_agents: Option<u16>,
    pub select: Vec<LabelSelector>,
    pub nats: NatsArgs,

    /// First option that requires `--http`.
    pub first_of_http: Option<&'static str>,
    /// True if `--http` was given, even with an invalid URL.
    pub has_http: bool,
    pub url: Option<Url>,
    pub method: Option<Method>,
    pub headers: Vec<String>,
    pub body: Option<String>,
    pub expect: Vec<RangeInclusive<u16>>,
    pub begin_within: Option<Nanos>,
    pub end_within: Option<Nanos>,
    pub roots: Option<String>,
    pub insecure: bool,
    pub lang: Option<&'static Lang>,
}

impl Draft {
    pub fn set_option(&mut self, opt: &Opt, value: &str) -> Result<(), OptionDiagnostic> {
        let first = match opt.phase {
            Phase::Initialise => &mut self.first_of_init,
            Phase::Run => &mut self.first_of_run,
            Phase::Http => {
                self.first_of_http.get_or_insert(opt.long);
                &mut self.first_of_run
            }
            Phase::Both => return (opt.set)(self, value),
        };
        first.get_or_insert(opt.long);
        (opt.set)(self, value)
    }

    /// Sets an operand. The only allowed operand is the database.
    pub fn set_operand(&mut self, operand: String) -> Result<(), OptionDiagnostic> {
        self.operands.push(operand);
        match &self.operands[..] {
            [_, second] => Err(OptionDiagnostic::new(
                format!("too many command-line arguments (first is \"{second}\")"),
                match self.save {
                    Some(_) => {
                        "name one database; the name of the stored run is attached, as in --save=nightly"
                    }
                    None => "name one database, after or before the options",
                },
            )),
            _ => Ok(()),
        }
    }

    fn script(&mut self, source: Source, weight: u32) -> Result<(), OptionDiagnostic> {
        self.scripts.push(WeightedScript { source, weight });
        match self.scripts.len() {
            129 => Err(OptionDiagnostic::new(
                "at most 128 SQL scripts are allowed",
                "leave some of -b, -f, -S, -N out",
            )),
            _ => Ok(()),
        }
    }
}

type Set = fn(&mut Draft, &str) -> Result<(), OptionDiagnostic>;

const fn opt(
    short: char,
    long: &'static str,
    value: &'static str,
    phase: Phase,
    help: &'static [(Section, &'static str)],
    set: Set,
) -> Opt {
    let short = if short == NONE { None } else { Some(short) };
    Opt { short, long, value, phase, help, set }
}

/// Placeholder for an option without a letter.
const NONE: char = '\0';

macro_rules! switch {
    ($field:ident) => {
        |draft, _| {
            draft.$field = true;
            Ok(())
        }
    };
}

macro_rules! read {
    ($field:ident = $read:expr) => {
        |draft, text| {
            draft.$field = Some($read(text)?);
            Ok(())
        }
    };
}

fn text(text: &str) -> Result<String, OptionDiagnostic> {
    Ok(text.to_owned())
}

#[rustfmt::skip]
pub static TABLE: &[Opt] = &[
    // The order is the order in --help.
    opt('i', "initialize", "", Phase::Both,
        &[(Section::Initialise, "create and fill pgbench's tables instead of measuring")],
        switch!(init)),
    opt('I', "init-steps", "STEPS", Phase::Initialise,
        &[(Section::Initialise, "initialization steps, letters of dtgGvpf (default: dtgvp)")],
        read!(steps = value::init_steps)),
    opt('F', "fillfactor", "NUM", Phase::Initialise,
        &[(Section::Initialise, "fill pages of the tables to NUM percent")],
        read!(fill_factor = |it| int(it, "-F/--fillfactor", 10..=100))),
    opt('n', "no-vacuum", "", Phase::Both,
        &[(Section::Initialise, "do not vacuum after filling"), (Section::Run, "do not vacuum before the run")],
        switch!(no_vacuum)),
    opt('q', "quiet", "", Phase::Initialise,
        &[(Section::Initialise, "report progress every 5 seconds")],
        switch!(quiet)),
    opt('s', "scale", "NUM", Phase::Both,
        &[(Section::Initialise, "create NUM times 100,000 accounts"), (Section::Run, "value of :scale in custom scripts")],
        read!(scale = |it| int(it, "-s/--scale", 1..=INT_MAX))),
    opt(NONE, "foreign-keys", "", Phase::Initialise,
        &[(Section::Initialise, "create foreign keys between the tables")],
        switch!(foreign_keys)),
    opt(NONE, "index-tablespace", "TABLESPACE", Phase::Initialise,
        &[(Section::Initialise, "tablespace of the indexes")],
        read!(index_tablespace = text)),
    opt(NONE, "partition-method", "range|hash", Phase::Initialise,
        &[(Section::Initialise, "partitioning of pgbench_accounts (default: range)")],
        read!(partition_method = value::partition_method)),
    opt(NONE, "partitions", "NUM", Phase::Initialise,
        &[(Section::Initialise, "number of partitions of pgbench_accounts (default: 0)")],
        |draft, it| { draft.partitions = int(it, "--partitions", 0..=INT_MAX)?; Ok(()) }),
    opt(NONE, "tablespace", "TABLESPACE", Phase::Initialise,
        &[(Section::Initialise, "tablespace of the tables")],
        read!(tablespace = text)),
    opt(NONE, "unlogged-tables", "", Phase::Initialise,
        &[(Section::Initialise, "create unlogged tables")],
        switch!(unlogged)),

    opt('b', "builtin", "NAME[@W]", Phase::Run,
        &[(Section::Scripts, "add a built-in script with weight W (default: 1); \"-b list\" lists them")],
        |draft, value_text| {
            if value_text == "list" {
                draft.immediate = Some(BenchCommand::ListBuiltins);
                return Ok(());
            }
            let (name, weight) = value::weighted(value_text)?;
            draft.script(Source::Builtin(value::builtin(name)?), weight)
        }),
    opt('f', "file", "FILE[@W]", Phase::Run,
        &[(Section::Scripts, "add the script FILE with weight W; - is standard input")],
        |draft, value_text| {
            let (name, weight) = value::weighted(value_text)?;
            draft.script(Source::File(name.to_owned()), weight)
        }),
    opt('N', "skip-some-updates", "", Phase::Run,
        &[(Section::Scripts, "same as -b simple-update")],
        |draft, _| draft.script(Source::Builtin(value::builtin("simple-update")?), 1)),
    opt('S', "select-only", "", Phase::Run,
        &[(Section::Scripts, "same as -b select-only")],
        |draft, _| draft.script(Source::Builtin(value::builtin("select-only")?), 1)),

    opt('c', "client", "NUM", Phase::Run,
        &[(Section::Run, "number of clients (default: 1)")],
        read!(clients = |it| int(it, "-c/--clients", 1..=INT_MAX))),
    opt('C', "connect", "", Phase::Run,
        &[(Section::Run, "open a new connection for each transaction")],
        switch!(reconnect)),
    opt('D', "define", "NAME=VALUE", Phase::Run,
        &[(Section::Run, "define the variable :NAME for custom scripts")],
        |draft, it| { draft.defines.push(value::define(it)?); Ok(()) }),
    opt('j', "jobs", "NUM", Phase::Run,
        &[(Section::Run, "number of threads (default: 1)")],
        read!(threads = |it| int(it, "-j/--jobs", 1..=INT_MAX))),
    opt('l', "log", "", Phase::Run,
        &[(Section::Run, "write each transaction to a log file")],
        switch!(log)),
    opt('L', "latency-limit", "NUM", Phase::Run,
        &[(Section::Run, "count transactions above NUM ms; drop arrivals later than that")],
        read!(latency_limit = value::latency_limit)),
    opt('M', "protocol", "MODE", Phase::Run,
        &[(Section::Run, "query protocol: simple, extended or prepared (default: simple)")],
        |draft, it| { draft.mode = value::query_mode(it)?; Ok(()) }),
    opt('P', "progress", "NUM", Phase::Run,
        &[(Section::Run, "report progress every NUM seconds")],
        read!(progress = |it| int(it, "-P/--progress", 1..=INT_MAX))),
    opt('r', "report-per-command", "", Phase::Run,
        &[(Section::Run, "report latency, failures and retries of each command")],
        switch!(per_command)),
    opt('R', "rate", "NUM", Phase::Run,
        &[(Section::Run, "open-loop: NUM arrivals per second")],
        read!(rate = value::rate)),
    opt('t', "transactions", "NUM", Phase::Run,
        &[(Section::Run, "transactions per client (default: 10)")],
        read!(transactions = |it| int(it, "-t/--transactions", 1..=INT_MAX))),
    opt('T', "time", "NUM", Phase::Run,
        &[(Section::Run, "duration of the run, in seconds")],
        read!(seconds = |it| int(it, "-T/--time", 1..=INT_MAX))),
    opt('v', "vacuum-all", "", Phase::Run,
        &[(Section::Run, "vacuum all four standard tables before the run")],
        switch!(vacuum_all)),
    opt(NONE, "aggregate-interval", "NUM", Phase::Run,
        &[(Section::Run, "log one line per NUM seconds, not one per transaction")],
        read!(aggregate = |it| int(it, "--aggregate-interval", 1..=INT_MAX))),
    opt(NONE, "exit-on-abort", "", Phase::Run,
        &[(Section::Run, "end the run without a report as soon as a client aborts")],
        switch!(exit_on_abort)),
    opt(NONE, "failures-detailed", "", Phase::Run,
        &[(Section::Run, "report serialization failures and deadlocks separately")],
        switch!(failures_detailed)),
    opt(NONE, "log-prefix", "PREFIX", Phase::Run,
        &[(Section::Run, "prefix of log file names (default: pgbench_log)")],
        read!(log_prefix = text)),
    opt(NONE, "max-tries", "NUM", Phase::Run,
        &[(Section::Run, "maximum tries of a transaction that fails by serialization or deadlock (default: 1, no retry; 0: unlimited)")],
        read!(max_tries = value::tries)),
    opt(NONE, "progress-timestamp", "", Phase::Run,
        &[(Section::Run, "report progress with Unix timestamps")],
        switch!(progress_timestamp)),
    opt(NONE, "random-seed", "SEED", Phase::Run,
        &[(Section::Run, "random seed: a number, \"time\" (default) or \"rand\"")],
        read!(seed = |it| value::seed(it, "--random-seed option"))),
    opt(NONE, "sampling-rate", "NUM", Phase::Run,
        &[(Section::Run, "share of transactions to log, such as 0.01")],
        read!(sampling = value::sampling)),
    opt(NONE, "show-script", "NAME", Phase::Run,
        &[(Section::Run, "show a built-in script and exit")],
        read!(immediate = |it| Ok::<_, OptionDiagnostic>(BenchCommand::ShowScript(value::builtin(it)?)))),
    opt(NONE, "verbose-errors", "", Phase::Run,
        &[(Section::Run, "print every error")],
        switch!(verbose_errors)),

    opt(NONE, "schedule", "EXPR", Phase::Run,
        &[(Section::Extended, "open-loop: line(1,200,200s) const(200,1m) step(a,b,inc,dur)")],
        read!(schedule = value::schedule)),
    opt(NONE, "arrivals", "even|poisson", Phase::Run,
        &[(Section::Extended, "spacing of arrivals (default: poisson with -R, else even)")],
        read!(arrivals = |spacing| match spacing {
            "even" => Ok(Spacing::Even),
            "poisson" => Ok(Spacing::Poisson),
            _ => Err(OptionDiagnostic::new(format!("invalid spacing of arrivals: \"{spacing}\""), "write --arrivals=even or --arrivals=poisson")),
        })),
    opt(NONE, "max-in-flight", "NUM", Phase::Run,
        &[(Section::Extended, "same as -c: at most NUM transactions in flight")],
        read!(clients = |it| int(it, "--max-in-flight", 1..=INT_MAX))),
    opt(NONE, "max-backlog", "NUM", Phase::Run,
        &[(Section::Extended, "open-loop: largest backlog of arrivals; further arrivals are dropped and counted (default: 1000000)")],
        read!(max_backlog = |it| int(it, "--max-backlog", 0..=MAX_BACKLOG))),
    opt(NONE, "think", "TIME", Phase::Run,
        &[(Section::Extended, "closed-loop: think time between transactions, such as 50ms")],
        read!(think = |it| value::duration(it, "think"))),
    opt(NONE, "driver", Driver::CHOICES, Phase::Run,
        &[(Section::Extended, "kernel interface for connections (default: auto)")],
        |draft, it| { draft.driver = value::driver(it)?; Ok(()) }),
    opt(NONE, "spin", "TIME", Phase::Run,
        &[(Section::Extended, "busy-wait this long before a scheduled send (default: 30us)")],
        read!(spin = |it| value::duration(it, "spin"))),
    opt(NONE, "no-spin", "", Phase::Run,
        &[(Section::Extended, "never busy-wait: less CPU, later sends")],
        |draft, _| { draft.spin = Some(Nanos::ZERO); Ok(()) }),
    opt(NONE, "slack", "TIME", Phase::Run,
        &[(Section::Extended, "open-loop: wake up at most once per TIME: less CPU, later sends, longer response times (default: 0)")],
        read!(slack = |it| value::duration(it, "slack"))),
    opt(NONE, "max-connecting", "NUM", Phase::Run,
        &[(Section::Extended, "concurrent connection attempts (default: 64)")],
        read!(max_connecting = |it| int(it, "--max-connecting", 1..=INT_MAX))),
    opt(NONE, "objective", "TEXT", Phase::Run,
        &[(Section::Extended, "judge the result: 'p99 < 5ms', 'errors < 1%', 'tps > 500'; exit with status 99 if violated; repeatable")],
        |draft, it| { draft.objectives.push(it.to_owned()); Ok(()) }),
    opt(NONE, "save", "[=NAME]", Phase::Run,
        &[(Section::Extended, "store the run under NAME (default: bench) for pgdyno report, compare, runs, history and export")],
        |draft, it| { draft.save = Some(value::run_name(it)?); Ok(()) }),
    opt(NONE, "out", "DIR", Phase::Run,
        &[(Section::Extended, "directory of the stored run (default: runs)")],
        |draft, it| { draft.out = Some(it.into()); Ok(()) }),
    opt(NONE, "json", "", Phase::Run,
        &[(Section::Extended, "print one JSON document")],
        switch!(json)),
    opt(NONE, "strict", "", Phase::Run,
        &[(Section::Extended, "exit with status 3 if the measurement is invalid")],
        switch!(strict)),
    opt(NONE, "lang", "LANG", Phase::Run,
        &[(Section::Extended, "language of output that pgbench does not have, such as en (default: PGDYNO_LANG, else en)")],
        read!(lang = |it| value::lang(it, "--lang option"))),
    opt(NONE, "allow-shell", "", Phase::Both,
        &[(Section::Extended, "allow \\shell and \\setshell in scripts")],
        switch!(allow_shell)),
    opt(NONE, "yes-load", "HOST", Phase::Both,
        &[(Section::Extended, "allow load on HOST or HOST:PORT, on another machine")],
        |draft, it| { draft.yes_load = Some(it.to_owned()); Ok(()) }),

    opt(NONE, "agents", "NUM", Phase::Run,
        &[(Section::Agents, "generate the load on NUM agents instead of this machine")],
        read!(agents = |text| value::agents(text, "--agents"))),
    opt(NONE, "local-agents", "NUM", Phase::Run,
        &[(Section::Agents, "start a temporary NATS server and NUM agents on this machine")],
        read!(local_agents = |text| value::agents(text, "--local-agents"))),
    opt(NONE, "nats", "URL", Phase::Run,
        &[(Section::Agents, "NATS servers (default: NATS_URL, else nats://127.0.0.1:4222)")],
        |draft, it| { draft.nats.url = Some(it.to_owned()); Ok(()) }),
    opt(NONE, "creds", "FILE", Phase::Run,
        &[(Section::Agents, "NATS credentials file (default: NATS_CREDS)")],
        |draft, it| { draft.nats.credentials = Some(it.into()); Ok(()) }),
    opt(NONE, "label", "NAME=VALUE", Phase::Run,
        &[(Section::Agents, "use only agents with this label, such as zone=a or zone=a,b; repeatable")],
        |draft, it| { draft.select.push(value::selector(it)?); Ok(()) }),

    opt(NONE, "http", "URL", Phase::Run,
        &[(Section::Http, "measure this service instead of PostgreSQL: http://host:port/path, https://..., unix:/socket:/path")],
        |draft, url| {
            draft.has_http = true;
            draft.url = Some(value::url(url)?);
            Ok(())
        }),
    opt(NONE, "method", "METHOD", Phase::Http,
        &[(Section::Http, "GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS (default: POST with --body, else GET)")],
        read!(method = value::method)),
    opt(NONE, "header", "NAME: VALUE", Phase::Http,
        &[(Section::Http, "send this header; ${name} is the value of -D name=value")],
        |draft, it| { draft.headers.push(it.to_owned()); Ok(()) }),
    opt(NONE, "body", "TEXT", Phase::Http,
        &[(Section::Http, "send this body; ${name} is escaped as in a JSON string")],
        read!(body = text)),
    opt(NONE, "expect", "STATUSES", Phase::Http,
        &[(Section::Http, "successful statuses, such as 200,404 or 200-299 (default: 200-399)")],
        |draft, it| { draft.expect = value::statuses(it)?; Ok(()) }),
    opt(NONE, "first-byte", "TIME", Phase::Http,
        &[(Section::Http, "timeout of the first byte of a response, such as 500ms")],
        read!(begin_within = |it| value::duration(it, "first-byte"))),
    opt(NONE, "timeout", "TIME", Phase::Http,
        &[(Section::Http, "timeout of a whole response, such as 2s")],
        read!(end_within = |it| value::duration(it, "timeout"))),
    opt(NONE, "cacert", "FILE", Phase::Http,
        &[(Section::Http, "trust the CA certificates in FILE, not the system's")],
        read!(roots = text)),
    opt(NONE, "insecure", "", Phase::Http,
        &[(Section::Http, "do not verify the certificate of the service")],
        switch!(insecure)),

    opt('d', "debug", "", Phase::Both,
        &[(Section::Common, "print the settings of the run, and each statement")],
        switch!(debug)),
    opt(NONE, "dbname", "DBNAME", Phase::Both,
        &[(Section::Common, "database, connection string or URI")],
        |draft, it| draft.set_operand(it.to_owned())),
    opt('h', "host", "HOSTNAME", Phase::Both,
        &[(Section::Common, "server host, or directory of its socket")],
        |draft, it| { draft.target.host = Some(it.to_owned()); Ok(()) }),
    opt('p', "port", "PORT", Phase::Both,
        &[(Section::Common, "server port")],
        |draft, it| { draft.target.port = Some(it.to_owned()); Ok(()) }),
    opt('U', "username", "USERNAME", Phase::Both,
        &[(Section::Common, "database user")],
        |draft, it| { draft.target.user = Some(it.to_owned()); Ok(()) }),
    opt('V', "version", "", Phase::Both,
        &[(Section::Common, "print the version and exit")],
        |draft, _| { draft.immediate = Some(BenchCommand::Version); Ok(()) }),
    opt('?', "help", "", Phase::Both,
        &[(Section::Common, "print this help and exit")],
        |draft, _| { draft.immediate = Some(BenchCommand::Help); Ok(()) }),
];

pub fn spellings() -> Vec<Spelling> {
    let spelling = |option: &Opt| Spelling {
        short: option.short,
        long: option.long,
        value: match option.value {
            "" => ValueRule::None,
            value if value.starts_with('[') => ValueRule::Optional,
            _ => ValueRule::Required,
        },
        preferred: option
            .help
            .iter()
            .all(|it| !matches!(it.0, Section::Extended | Section::Agents | Section::Http)),
    };
    TABLE.iter().map(spelling).collect()
}

/// Width of `--help` in columns. As in pgbench, it does not depend on the terminal.
const COLUMNS: usize = 80;

/// clap's definitions of the options, for completions and the manual. The options are not parsed by clap, but by
/// pgbench's rules.
pub fn arguments() -> clap::Command {
    let options = TABLE.iter().map(|option| {
        let help: Vec<&str> = option.help.iter().map(|(_, help)| *help).collect();
        let mut arg = clap::Arg::new(option.long).long(option.long).help(help.join("; "));
        arg = match option.value {
            "" => arg.action(clap::ArgAction::Count),
            value => arg.value_name(value).action(clap::ArgAction::Append),
        };
        option.short.into_iter().fold(arg, clap::Arg::short)
    });
    clap::Command::new("pgdyno bench")
        .about("Benchmark a server, with the options and scripts of pgbench")
        .disable_help_flag(true)
        .disable_version_flag(true)
        .args(options)
        .arg(clap::Arg::new("database").value_name("DBNAME").help("Database name, connection string or URI"))
}

/// Text of `--help`. `program` is the name by which the program was called.
pub fn usage(program: &str) -> String {
    const SECTIONS: [(Section, &str); 7] = [
        (Section::Initialise, "Initialization options:"),
        (Section::Scripts, "Options to select what to run (default: -b tpcb-like):"),
        (Section::Run, "Benchmarking options, same as pgbench:"),
        (Section::Extended, "Benchmarking options that pgbench does not have:"),
        (Section::Agents, "Options to generate the load on agents:"),
        (Section::Http, "Options to measure an HTTP service:"),
        (Section::Common, "Common options:"),
    ];
    let mut out = format!(
        "{program} is a benchmarking tool for PostgreSQL, compatible with pgbench.\n\nUsage:\n  \
         {program} [OPTION]... [DBNAME]\n"
    );
    for (section, title) in SECTIONS {
        write!(out, "\n{title}\n").expect("writing to a String cannot fail");
        for option in TABLE {
            let Some((_, help)) = option.help.iter().find(|(place, _)| *place == section) else { continue };
            let short = option.short.map_or("    ".to_owned(), |letter| format!("-{letter}, "));
            let value = match option.value {
                "" => String::new(),
                value if value.starts_with('[') => value.to_owned(),
                value => format!("={value}"),
            };
            let name = format!("{short}--{}{value}", option.long);
            out += &paragraph(&format!("  {name:<34}"), help, COLUMNS);
        }
    }
    out + "\nDBNAME may be a connection string or a URI. PGHOST, PGPORT, PGUSER, PGDATABASE,\n\
           PGSSLMODE, .pgpass and service files work as in libpq.\n\
           Report bugs to the developers of pgdyno.\n"
}
