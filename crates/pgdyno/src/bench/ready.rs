//! Load configuration from the options: workload, file limit and seeds

use super::connect::ConnectedServer;
use super::options::{ArrivalModel, BenchOptions, RunEnd, SeedOption};
use crate::cli::CommandError;
use crate::measure::{self, LoadPart, load_address};
use load::driver::{Address, Driver};
use load::random::{Prng, SeedSequence};
use load::script::{self, Program};
use load::{InitialValue, LoadPlan, PostgresEndpoint, RngSeeds, Service, Workload};
use model::summary::QueryMode;
use model::{Curve, Nanos, Schedule};
use std::fs::File;
use std::io::Read;
use std::sync::Arc;
use wire::pg::Transport;

/// A run that is ready to start. `samples` contains one random generator per thread, which selects the transactions to
/// log.
#[derive(Debug)]
pub struct PreparedBench {
    pub load: measure::LoadConfig,
    pub samples: Vec<Prng>,
}

/// Drain time after the end of a run. Transactions that are still in flight after this time count as unknown.
const DRAIN: Nanos = Nanos::from_secs(10);
/// Timeout for a login.
const CONNECT_TIMEOUT: Nanos = Nanos::from_secs(30);
/// Duration of a constant rate if the user gave no duration. Another condition then ends the run.
const UNBOUNDED: Nanos = Nanos::from_secs(365 * 24 * 3600);

/// Prepares a run. `scale` is the value of `:scale`, unless `-D` sets this variable.
pub fn prepare(
    options: &BenchOptions,
    program: Program,
    connected: &ConnectedServer,
    scale: u32,
    seed: u64,
    part: LoadPart,
) -> Result<PreparedBench, CommandError> {
    let address = load_address(&connected.target.address);
    let transport = match &address {
        Address::Unix(_) => Transport::Unix,
        Address::Tcp(_) | Address::Named(_) => Transport::Tcp,
    };
    let targets = BenchTargets {
        postgres: Some((PostgresEndpoint::new(Arc::clone(&connected.target.login), transport), address)),
        services: Vec::new(),
    };
    prepare_for(options, program, targets, scale, seed, part)
}

/// Targets of a run, and their addresses.
#[derive(Debug)]
pub struct BenchTargets {
    pub postgres: Option<(PostgresEndpoint, Address)>,
    pub services: Vec<(Service, Address)>,
}

/// Prepares a run against the given targets.
pub fn prepare_for(
    options: &BenchOptions,
    program: Program,
    targets: BenchTargets,
    scale: u32,
    seed: u64,
    part: LoadPart,
) -> Result<PreparedBench, CommandError> {
    let threads = u16::try_from(options.threads).map_err(|_| {
        CommandError::new(format!("{} threads are too many", options.threads))
            .with_hint("use fewer, as in -j 2")
    })?;
    let threads = part.thread_count(threads);
    let driver = driver(options)?;
    // Without PostgreSQL, no sessions are opened, but the driver may still reserve files for sessions.
    let sessions = u32::from(targets.postgres.is_some() || driver.properties().reserves_files);
    let clients = part.client_count(options.clients, threads);
    let connections = clients.saturating_mul(sessions + targets.services.len() as u32);
    measure::raise_file_limit(connections, part.threads(threads).len() as u16)?;
    let (seeds, samples) = seeding(options, &program, threads, scale, seed);
    let schedule = match &options.pace {
        ArrivalModel::Closed { think } => Schedule::Closed { think: *think },
        ArrivalModel::Rate { rate, spacing } => {
            let duration = match options.end {
                RunEnd::Seconds(seconds) => Nanos::from_secs(seconds.into()),
                RunEnd::Transactions(_) | RunEnd::ScheduleEnds => UNBOUNDED,
            };
            Schedule::Open { curve: Curve::Ramp { from: *rate, to: *rate, duration }, spacing: *spacing }
        }
        ArrivalModel::Schedule { curve, spacing, .. } => {
            Schedule::Open { curve: curve.clone(), spacing: *spacing }
        }
    };
    let plan = LoadPlan {
        program,
        mode: mode(options.mode),
        schedule,
        duration: match options.end {
            RunEnd::Seconds(seconds) => Some(Nanos::from_secs(seconds.into())),
            RunEnd::Transactions(_) | RunEnd::ScheduleEnds => None,
        },
        transactions: match options.end {
            RunEnd::Transactions(each) => Some(each.into()),
            RunEnd::Seconds(_) | RunEnd::ScheduleEnds => None,
        },
        clients: options.clients,
        threads,
        max_tries: u16::try_from(options.max_tries).unwrap_or(u16::MAX),
        latency_limit: options.latency_limit,
        backlog_max: options.max_backlog,
        drain: DRAIN,
        reconnect: options.reconnect,
        connecting_max: options.max_connecting,
        connect_timeout: CONNECT_TIMEOUT,
        timeout: None,
        abandon_max: None,
        verbose: options.verbose_errors,
        reports_steps: options.debug,
        measured: match options.per_command {
            true => load::MeasuredCommands::All,
            false => load::MeasuredCommands::None,
        },
        seeds,
    };
    let (postgres, address) = targets.postgres.unzip();
    let (services, addresses) = targets.services.into_iter().unzip();
    let work = Workload::with_services(plan, postgres, services);
    let ready = measure::LoadConfig {
        work: Arc::new(if options.as_pgbench { work.sending_null() } else { work }),
        threads: part.threads(threads),
        postgres: address.map(|it| vec![it]).into_iter().collect(),
        services: addresses,
        driver,
        spin: options.spin,
        slack: options.slack,
        log: options.log.is_some(),
        abandon: Arc::default(),
    };
    Ok(PreparedBench { load: ready, samples })
}

pub fn mode(mode: QueryMode) -> script::Mode {
    match mode {
        QueryMode::Simple => script::Mode::Simple,
        QueryMode::Extended => script::Mode::Extended,
        QueryMode::Prepared => script::Mode::Prepared,
    }
}

fn driver(options: &BenchOptions) -> Result<Driver, CommandError> {
    let batched = !options.pace.is_open() && !options.reconnect;
    let driver = options.driver.unwrap_or_else(|| Driver::for_load(batched));
    match driver.properties().requirement {
        Some(requirement) if !(requirement.is_met)() => Err(CommandError::new(format!(
            "{} is not available: it requires {}",
            driver.name(),
            requirement.text
        ))
        .with_hint("use --driver=auto")),
        _ => Ok(driver),
    }
}

/// Seeds in pgbench's order, so that equal seeds yield equal numbers.
fn seeding(
    options: &BenchOptions,
    program: &Program,
    threads: u16,
    scale: u32,
    seed: u64,
) -> (RngSeeds, Vec<Prng>) {
    let mut seeds = SeedSequence::new(seed);
    let clients = (0..options.clients).map(|_| seeds.client_rng()).collect();
    let defined = |name: &str| options.defines.iter().any(|(it, _)| it == name);
    let mut variables = Vec::new();
    let mut set =
        |name: &str, value: InitialValue| variables.extend(program.slot(name).map(|slot| (slot, value)));
    // If a name is defined several times, the last definition is used.
    options.defines.iter().for_each(|(name, value)| set(name, InitialValue::Text(value.clone())));
    if !defined("scale") {
        set("scale", InitialValue::Int(scale.into()));
    }
    if !defined("client_id") {
        set("client_id", InitialValue::Client);
    }
    if !defined("default_seed") {
        set("default_seed", InitialValue::Int(seeds.default_seed()));
    }
    if !defined("random_seed") {
        set("random_seed", InitialValue::Int(seed as i64));
    }
    let threads: Vec<_> = (0..threads).map(|_| seeds.thread_rngs()).collect();
    let samples = threads.iter().map(|it| it.sample).collect();
    let script_rngs = threads.iter().map(|it| it.choose).collect();
    (RngSeeds { clients, script_rngs, arrivals: seed, other: !seed, variables }, samples)
}

/// Seed of all random numbers. `now` is the Unix time.
pub fn seed(option: SeedOption, now: Nanos) -> Result<u64, CommandError> {
    match option {
        SeedOption::Fixed(it) => Ok(it),
        SeedOption::Time { .. } => Ok(now.0 / 1000),
        SeedOption::Rand => {
            let mut bytes = [0; 8];
            File::open("/dev/urandom")
                .and_then(|mut it| it.read_exact(&mut bytes))
                .map_err(|error| CommandError::new(format!("could not generate random seed: {error}")))?;
            Ok(u64::from_ne_bytes(bytes))
        }
    }
}

#[cfg(test)]
mod tests;
