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
mod recording;
pub mod scripts;
mod secret;
mod setup;
mod watch;

use crate::cli::{CommandError, Terminal};
use crate::clock;
use crate::diagnostics;
use crate::exit_status::ExitStatus;
use crate::fleet::assignment::{AssignedLoad, Assignment, BenchLoad};
use crate::fleet::options::FleetOptions;
use crate::fleet::{Fleet, FleetLoad};
use crate::measure::{self, LoadListener, LoadPart, MeasureError};
use crate::run_report::RunReport;
use crate::signals::Signals;
use crate::{help, terminal};
use analysis::verdict::objective::{self, Objective};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use load::driver::Clock;
use load::script::builtin;
use model::message;
use model::objective::ObjectiveResult;
use model::summary::Server;
use model::validity::{Doubt, Verdict};
use model::{AgentPart, Summary};
pub use options::arguments;
use options::{BenchCommand, BenchOptions, InitOptions, SeedOption, Source};
use prepare::Tables;
use ready::PreparedBench;
use recording::{RecordedResult, Recording};
use report::json_document::{BenchDocument, to_json};
use report::lang::Lang;
use report::say;
use setup::RecordedSystem;
use stack::interrupt::with_interrupt;
use stack::location;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use watch::BenchDisplay;

/// Runs the command. `program` is the name with which messages begin.
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
        BenchCommand::Help => {
            outln!("{}", format!("{}\n{}", options::usage(program), help::examples(program)).trim_end());
        }
        BenchCommand::Version => outln!("pgbench (PostgreSQL) 15, by pgdyno {}", env!("CARGO_PKG_VERSION")),
        BenchCommand::ListBuiltins => {
            let listed = builtin::ALL.map(|it| format!("  {:>13}: {}\n", it.name, it.description));
            errln!("Available builtin scripts:\n{}", listed.concat());
        }
        BenchCommand::ShowScript(it) => errln!("-- {}: {}\n{}", it.name, it.description, it.text),
        BenchCommand::Initialise(it) => return to_status(initialise(&it, &terminal), &terminal),
        BenchCommand::Run(mut options) => {
            options.as_pgbench = program == "pgbench";
            options.allow_shell |= options.as_pgbench && options.fleet.is_none();
            return to_status(run(&options, args, &terminal), &terminal);
        }
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

fn run(options: &BenchOptions, args: &[String], terminal: &Terminal) -> Result<ExitStatus, CommandError> {
    if let Some(http_options) = &options.http {
        return http::run(options, http_options, args, terminal);
    }
    let compiled = scripts::compile(options, terminal);
    let names: Vec<String> = options.scripts.iter().map(|it| setup::script_name(it).to_owned()).collect();
    let objectives = parse_objectives(options, &names);
    let settings = connect::settings_with_environment(&options.target, terminal, options.lang);
    let (Some(compiled), Some(objectives), Some((settings, environment))) = (compiled, objectives, settings)
    else {
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
    let fleet = options.fleet.as_ref().map(|it| lease(it, &connected.target.address)).transpose()?;
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
    let scale = plan::scale(options, tables);
    if options.debug {
        print_settings(options, &connected.server, scale, seed, terminal);
    }
    let system = setup::postgres(options, &compiled, &connected);
    let part = fleet.as_ref().map_or(LoadPart::All, |it| LoadPart::Coordinator { agents: it.len() });
    let prepared = ready::prepare(options, compiled.program, &connected, scale, seed, part)?;
    let generators = fleet.map(|fleet| {
        let environment = connected.with_password(environment);
        let scripts = compiled.sources.iter().map(|it| STANDARD.encode(it)).collect();
        let load = BenchLoad { arguments: args.to_vec(), scripts, scale, environment };
        assign(fleet, load, &prepared, seed)
    });
    let bench = Bench {
        options,
        server: &connected.server,
        named: &connected.description,
        tables,
        objectives: &objectives,
        system,
        seed,
        signals: &signals,
        terminal,
        generators,
    };
    let result = bench.measure(prepared)?;
    if let Some(change) = connected.address_change() {
        terminal.warning(&options.lang.message(&change));
    }
    result.print(options, terminal)
}

/// Parses the objectives. `names` are the names of the scripts. Prints every diagnostic and returns `None` if there are
/// any.
fn parse_objectives(options: &BenchOptions, names: &[String]) -> Option<Vec<Objective>> {
    let parse = |text: &String| {
        objective::parse(text, names)
            .map_err(|error| {
                let found = diagnostics::in_argument("--objective", text, vec![error]);
                err!("{}", diagnostics::render(&found, diagnostics::use_colour(), options.lang));
            })
            .ok()
    };
    let parsed: Vec<Option<Objective>> = options.objectives.iter().map(parse).collect();
    parsed.into_iter().collect()
}

fn print_settings(options: &BenchOptions, server: &Server, scale: u32, seed: u64, terminal: &Terminal) {
    let Server { address, database, transport, .. } = server;
    terminal
        .info(&format!("server {address} ({transport:?}), database {database}, scale {scale}, seed {seed}"));
    let (clients, threads, pace, end) = (options.clients, options.threads, &options.pace, options.end);
    terminal.info(&format!("{clients} clients on {threads} threads, {pace:?}, until {end:?}"));
}

/// Installs the signal handlers.
pub fn listen() -> Result<Signals, CommandError> {
    let signals = Signals::default().listen();
    signals.map_err(|it| CommandError::new(format!("cannot handle Ctrl-C: {it}")))
}

/// A benchmark that is about to run.
struct Bench<'a> {
    options: &'a BenchOptions,
    server: &'a Server,
    /// Description of the server in messages.
    named: &'a str,
    tables: Option<Tables>,
    objectives: &'a [Objective],
    system: RecordedSystem,
    seed: u64,
    signals: &'a Signals,
    terminal: &'a Terminal,
    /// Agents that generate the load, with their assignment; `None` if this process generates it.
    generators: Option<(Fleet, Assignment)>,
}

/// Result of a benchmark.
struct BenchResult {
    summary: Summary,
    /// False if the user interrupted the run, or a client aborted.
    complete: bool,
    /// Thread whose client ended the run, if the run ends as soon as a client aborts.
    aborted_thread: Option<u16>,
    objectives: Vec<ObjectiveResult>,
    /// File of the stored run.
    stored: Option<PathBuf>,
}

impl Bench<'_> {
    fn measure(self, prepared: PreparedBench) -> Result<BenchResult, CommandError> {
        let Bench { options, server, named, tables, objectives, system, seed, signals, terminal, generators } =
            self;
        let PreparedBench { load: mut ready, samples } = prepared;
        let plan = plan::plan(options, &ready, tables, seed);
        let epoch = clock::unix_time();
        let logs = logfile::create_all(options, epoch, samples)?;
        let save = options.save.as_ref();
        let recording = save
            .map(|it| Recording::create(it, system, plan.scripts.clone(), seed, options.lang))
            .transpose()?;
        let work = Arc::clone(&ready.work);
        let (interrupted, abandoned) = (&signals.interrupted, &signals.abandoned);
        let stop: [&AtomicBool; 2] = [interrupted, abandoned];
        let mut show = BenchDisplay::new(options, terminal, named.to_owned(), work, epoch, logs, stop);
        ready.abandon = Arc::clone(abandoned);
        let watch = clock::StepDetector::start();
        let load_clock = Clock::start();
        let mut parts = Vec::new();
        let has_agents = generators.is_some();
        let run = |listener: &mut dyn LoadListener, stop: &AtomicBool| match generators {
            None => measure::run(&ready, load_clock, listener, stop),
            Some((mut fleet, assignment)) => {
                let load = FleetLoad {
                    assignment: &assignment,
                    feeds: Vec::new(),
                    work: &ready.work,
                    clock: load_clock,
                };
                let measured = fleet.run(load, listener, (stop, &ready.abandon))?;
                parts = measured.parts;
                Ok(measured.measurement)
            }
        };
        let (measured, aborted) = match &recording {
            Some(recording) => recording.measure(load_clock, interrupted, &mut show, has_agents, run),
            None => (run(&mut show, interrupted), None),
        };
        let measured = match measured {
            Ok(measured) => measured,
            Err(measure_error) => {
                recording.into_iter().for_each(Recording::discard);
                return Err(to_command_error(&measure_error));
            }
        };
        let aborted_thread = show.aborted_thread;
        let (messages, logged) = show.finish();
        let was_interrupted = interrupted.load(Ordering::Relaxed);
        let mut summary = analysis::verdict::summarise(&measured, server.clone(), plan);
        analysis::verdict::add_clock_step(&mut summary, watch.step());
        analysis::verdict::add_agents(&mut summary, &parts);
        parts.iter().for_each(|it| print_part(it, options.lang, terminal));
        if !logged {
            analysis::verdict::add_incomplete_log(&mut summary);
        }
        summary.set_messages(|code| messages.find(code));
        let objectives: Vec<ObjectiveResult> = objectives.iter().map(|it| it.judge(&summary)).collect();
        let recorded = RecordedResult {
            measured: &measured,
            summary: &summary,
            objectives: &objectives,
            interrupted: was_interrupted,
            aborted,
            agents: &parts,
        };
        let stored = recording.map(|it| it.finish(recorded)).transpose()?;
        let complete = measured.aborted_clients == 0 && !was_interrupted;
        Ok(BenchResult { summary, complete, aborted_thread, objectives, stored })
    }
}

/// Prints the part of one agent.
fn print_part(part: &AgentPart, lang: &Lang, terminal: &Terminal) {
    if let Some(reason) = &part.lost {
        let failed = message!("agents-failed", agent = &part.agent, reason = reason.clone());
        return terminal.error(&lang.message(&failed));
    }
    let numbers = lang.numbers();
    let [lag, clock] = [part.send_lag, part.clock_uncertainty].map(|time| time.map(|it| lang.time(it)));
    let (ok, arrivals) = (numbers.count(part.ok), numbers.count(part.arrivals));
    terminal.info(&say!(lang, "agents-part", agent = &part.agent, ok, arrivals, lag, clock));
}

/// Agents with the assignment of the load that was prepared.
fn assign(fleet: Fleet, load: BenchLoad, prepared: &PreparedBench, seed: u64) -> (Fleet, Assignment) {
    let (threads, driver) = (prepared.load.work.plan().threads, prepared.load.driver.name().to_owned());
    (fleet, Assignment { seed, threads, driver, load: AssignedLoad::Bench(load) })
}

/// Leases the agents that generate the load for this target.
fn lease(options: &FleetOptions, target: &stack::client::Address) -> Result<Fleet, CommandError> {
    let fleet = Fleet::lease(options)?;
    fleet.check_target(target)?;
    Ok(fleet)
}

fn to_command_error(measure_error: &MeasureError) -> CommandError {
    match measure_error {
        MeasureError::System(error) => CommandError::new(format!("cannot start the run: {error}")),
        MeasureError::NoClientConnected => {
            CommandError::new(message!("failure-no-client-connected", reason = None::<String>))
        }
        MeasureError::Stopped => CommandError::new(message!("bench-stopped-early")),
        MeasureError::Agents(reason) => CommandError::new(reason.clone()),
    }
}

impl BenchResult {
    /// Prints the result and returns the exit status.
    fn print(&self, options: &BenchOptions, terminal: &Terminal) -> Result<ExitStatus, CommandError> {
        let BenchResult { summary, complete, aborted_thread, objectives, stored } = self;
        if let Some(thread) = aborted_thread {
            // As in pgbench, the run has no report.
            terminal.error(&format!("Run was aborted due to an error in thread {thread}"));
            return Ok(ExitStatus::Incomplete);
        }
        let lang = if options.http.is_some() { options.lang.for_requests() } else { options.lang };
        if options.json {
            let run = stored.as_ref().map(|it| it.display().to_string());
            terminal::json(&to_json(&BenchDocument { summary, objectives, run }));
        } else {
            let style = report::bench::BenchStyle {
                failures_detailed: options.failures_detailed,
                progress: options.progress.is_some(),
                threads: options.debug,
            };
            out!("{}", report::bench::render(summary, objectives, style, lang));
        }
        if let Some(path) = stored.as_ref().filter(|_| !options.json) {
            RunReport::from_file(path)?.print_closing(path, lang);
        }
        if !complete {
            terminal.error("Run was aborted; the above results are incomplete.");
        }
        let objectives = objectives.iter().map(|it| ExitStatus::from(it.verdict));
        Ok(ExitStatus::first_of(objectives.chain([status(summary, *complete, options.strict)])))
    }
}

/// Exit status for wrong options or scripts. If the program was called as `pgbench`, it is pgbench's exit status.
fn usage_status(terminal: &Terminal) -> ExitStatus {
    if terminal.program == "pgbench" { ExitStatus::Failed } else { ExitStatus::Incomplete }
}

/// Exit status of a run. As in pgbench, retriable failures are not errors.
fn status(summary: &Summary, complete: bool, strict: bool) -> ExitStatus {
    let counts = &summary.total.counts;
    let errors = counts.failed + counts.unknown - counts.serialization - counts.deadlock;
    let unlogged = summary.validity.doubts.contains(&Doubt::LogIncomplete);
    let has_errors = !complete || errors > 0 || !summary.connects.refused.is_empty() || unlogged;
    let status = if has_errors { ExitStatus::Incomplete } else { ExitStatus::Success };
    status.min(validity_status(summary, strict))
}

/// Exit status of a complete measurement.
fn validity_status(summary: &Summary, strict: bool) -> ExitStatus {
    match summary.validity.verdict {
        _ if summary.total.counts.ok == 0 => ExitStatus::Incomplete,
        Verdict::Invalid if strict => ExitStatus::Invalid,
        _ => ExitStatus::Success,
    }
}
