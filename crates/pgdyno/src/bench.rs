//! `pgdyno bench`: a drop-in replacement for pgbench with lower overhead

pub mod connect;
mod guard;
pub mod http;
mod initialise;
pub mod logfile;
pub mod options;
mod password;
mod plan;
pub mod prepare;
pub mod ready;
mod scripts;
mod watch;

use crate::cli::{CommandError, Terminal};
use crate::clock;
use crate::exit_status::ExitStatus;
use crate::measure::{self, MeasureError};
use crate::signals::Signals;
use crate::terminal;
use connect::ConnectedServer;
use load::driver::Clock;
use load::script::{Program, builtin};
use model::Summary;
use model::summary::Server;
use model::validity::{Doubt, Verdict};
use options::{BenchCommand, BenchOptions, InitOptions, SeedOption, Source};
use prepare::Tables;
use ready::PreparedBench;
use report::json_document::to_json;
use stack::interrupt::with_interrupt;
use stack::location;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use watch::BenchDisplay;

/// Runs the command. `program` is the name that messages begin with.
pub fn main(program: &str, args: &[String]) -> ExitStatus {
    let terminal = Terminal { program: program.to_owned() };
    let command = match options::parse(args, &env) {
        Ok(it) => it,
        Err(diagnostics) => {
            terminal.print_diagnostics(&diagnostics);
            return usage_status(&terminal);
        }
    };
    match command {
        BenchCommand::Help => out!("{}", options::usage(program)),
        BenchCommand::Version => outln!("pgbench (PostgreSQL) 15, by pgdyno {}", env!("CARGO_PKG_VERSION")),
        BenchCommand::ListBuiltins => {
            let listed = builtin::ALL.map(|it| format!("  {:>13}: {}\n", it.name, it.description));
            errln!("Available builtin scripts:\n{}", listed.concat());
        }
        BenchCommand::ShowScript(it) => errln!("-- {}: {}\n{}", it.name, it.description, it.text),
        BenchCommand::Initialise(it) => return to_status(initialise(&it, &terminal), &terminal),
        BenchCommand::Run(it) => return to_status(run(&it, &terminal), &terminal),
    }
    ExitStatus::Success
}

fn env(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn initialise(options: &InitOptions, terminal: &Terminal) -> Result<ExitStatus, CommandError> {
    let Some(settings) = connect::settings(&options.target, terminal, options.lang) else {
        return Ok(usage_status(terminal));
    };
    let (connected, mut connection) = connect::open(&settings, options.lang)?;
    let location = location::locate_server(&connected.target.address, &mut connection);
    let (address, yes_load) = (&connected.server.address, options.yes_load.as_deref());
    if options.steps.iter().any(|it| "dgG".contains(*it)) {
        guard::check_drop_allowed(&mut connection, &location, address, yes_load)?;
    }
    guard::check_load_allowed(&location, address, yes_load, terminal)?;
    with_interrupt(&listen()?.interrupted, || initialise::run(options, &mut connection))?;
    Ok(ExitStatus::Success)
}

fn to_status(done: Result<ExitStatus, CommandError>, terminal: &Terminal) -> ExitStatus {
    done.unwrap_or_else(|error| error.print(terminal))
}

fn run(options: &BenchOptions, terminal: &Terminal) -> Result<ExitStatus, CommandError> {
    if let Some(http_options) = &options.http {
        return http::run(options, http_options, terminal);
    }
    let program = scripts::compile(options, terminal);
    let settings = connect::settings(&options.target, terminal, options.lang);
    let (Some(program), Some(settings)) = (program, settings) else {
        return Ok(usage_status(terminal));
    };
    let seed = ready::seed(options.seed, clock::unix_time())?;
    if options.seed != (SeedOption::Time { explicit: false }) {
        terminal.info(&format!("setting random seed to {seed}"));
    }
    let (connected, mut connection) = connect::open(&settings, options.lang)?;
    let location = location::locate_server(&connected.target.address, &mut connection);
    guard::check_load_allowed(&location, &connected.server.address, options.yes_load.as_deref(), terminal)?;
    guard::warn_if_shared(&mut connection, terminal);
    if !options.json {
        outln!("{}", report::bench::banner(&connected.server.version));
    }
    let signals = listen()?;
    let builtin = options.scripts.iter().any(|it| matches!(it.source, Source::Builtin(_)));
    let inspect = || prepare::inspect_tables(&mut connection, &connected.server.database, &terminal.program);
    let tables = builtin.then(|| with_interrupt(&signals.interrupted, inspect)).transpose()?;
    if let (Some(tables), Some(_)) = (tables, options.scale) {
        let scale = tables.scale;
        terminal.warning(&format!("scale option ignored, using count from pgbench_branches table ({scale})"));
    }
    with_interrupt(&signals.interrupted, || prepare::vacuum(&mut connection, options.vacuum, terminal));
    drop(connection);
    let (summary, complete) = measure(options, program, &connected, tables, seed, &signals, terminal)?;
    if let Some(change) = connected.address_change() {
        terminal.warning(&options.lang.message(&change));
    }
    Ok(print_result(options, &summary, complete, terminal))
}

/// Prints the result and returns the exit status.
fn print_result(
    options: &BenchOptions,
    summary: &Summary,
    complete: bool,
    terminal: &Terminal,
) -> ExitStatus {
    if options.json {
        terminal::json(&to_json(summary));
    } else {
        out!("{}", text(options, summary));
    }
    if !complete {
        terminal.error("Run was aborted; the above results are incomplete.");
    }
    status(summary, complete, options.strict)
}

/// Installs the signal handlers.
pub fn listen() -> Result<Signals, CommandError> {
    let signals = Signals::default().listen();
    signals.map_err(|it| CommandError::new(format!("cannot handle Ctrl-C: {it}")))
}

/// Measures a server. Returns the summary, and true if the run completed.
pub fn measure(
    options: &BenchOptions,
    program: Program,
    connected: &ConnectedServer,
    tables: Option<Tables>,
    seed: u64,
    signals: &Signals,
    terminal: &Terminal,
) -> Result<(Summary, bool), CommandError> {
    let scale = plan::scale(options, tables);
    if options.debug {
        let Server { address, database, transport, .. } = &connected.server;
        terminal.info(&format!(
            "server {address} ({transport:?}), database {database}, scale {scale}, seed {seed}"
        ));
        let (clients, threads, pace, until) =
            (options.clients, options.threads, &options.pace, options.until);
        terminal.info(&format!("{clients} clients on {threads} threads, {pace:?}, until {until:?}"));
    }
    let prepared = ready::prepare(options, program, connected, scale, seed)?;
    run_prepared(
        options,
        prepared,
        (&connected.server, &connected.description),
        tables,
        seed,
        signals,
        terminal,
    )
}

/// Measures a prepared load. `named` is the server's name in messages.
fn run_prepared(
    options: &BenchOptions,
    PreparedBench { load: mut ready, samples }: PreparedBench,
    (server, named): (&Server, &str),
    tables: Option<Tables>,
    seed: u64,
    signals: &Signals,
    terminal: &Terminal,
) -> Result<(Summary, bool), CommandError> {
    let plan = plan::plan(options, &ready, tables, seed);
    let epoch = clock::unix_time();
    let logs = logfile::create_all(options, epoch, samples)?;
    let mut show =
        BenchDisplay::new(options, terminal, named.to_owned(), Arc::clone(&ready.work), epoch, logs);
    ready.abandon = Arc::clone(&signals.abandoned);
    let interrupted = &signals.interrupted;
    let watch = clock::StepDetector::start();
    let measured = measure::run(&ready, Clock::start(), &mut show, interrupted).map_err(|measure_error| {
        match measure_error {
            MeasureError::System(error) => CommandError::new(format!("cannot start the run: {error}")),
            MeasureError::NoClientConnected => CommandError::new("no client could connect"),
            MeasureError::Stopped => CommandError::new("stopped before the run began"),
        }
    })?;
    let (messages, logged) = show.finish();
    let complete = measured.aborted_clients == 0 && !interrupted.load(Ordering::Relaxed);
    let mut summary = analysis::verdict::summarise(&measured, server.clone(), plan);
    analysis::verdict::add_clock_step(&mut summary, watch.step());
    if !logged {
        analysis::verdict::add_incomplete_log(&mut summary);
    }
    summary.set_messages(|code| messages.find(code));
    Ok((summary, complete))
}

/// Text of the report for a terminal.
pub fn text(options: &BenchOptions, summary: &Summary) -> String {
    let failures_detailed = options.failures_detailed;
    let style = report::bench::BenchStyle { failures_detailed, progress: options.progress.is_some() };
    report::bench::render(summary, style, options.lang)
}

/// Status for wrong options or scripts. A program that is called as `pgbench` returns pgbench's own.
fn usage_status(terminal: &Terminal) -> ExitStatus {
    if terminal.program == "pgbench" { ExitStatus::Failed } else { ExitStatus::Incomplete }
}

/// Status of a run. As in pgbench, retriable failures are not errors.
fn status(summary: &Summary, complete: bool, strict: bool) -> ExitStatus {
    let counts = &summary.total.counts;
    let errors = counts.failed + counts.unknown - counts.serialization - counts.deadlock;
    let unlogged = summary.validity.doubts.contains(&Doubt::LogIncomplete);
    let has_errors = !complete || errors > 0 || !summary.connects.refused.is_empty() || unlogged;
    let status = if has_errors { ExitStatus::Incomplete } else { ExitStatus::Success };
    status.min(validity_status(summary, strict))
}

/// Status of a complete measurement.
pub fn validity_status(summary: &Summary, strict: bool) -> ExitStatus {
    match summary.validity.verdict {
        _ if summary.total.counts.ok == 0 => ExitStatus::Incomplete,
        Verdict::Invalid if strict => ExitStatus::Invalid,
        _ => ExitStatus::Success,
    }
}
