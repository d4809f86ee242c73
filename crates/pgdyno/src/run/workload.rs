//! From a cell's plan to what the load needs: which workload, against whom?

use crate::bench::ready;
use crate::measure::{self, Driver, Ready};
use crate::voice::Trouble;
use load::random::Seeds;
use load::script::{self, Program, Source};
use load::{Initial, Plan, Seeding, Workload, driver, schedule};
use model::plan::{Load, LoadModel, Operation, Setup};
use model::summary;
use model::{Nanos, Schedule};
use stack::ask::{self, Target};
use std::sync::Arc;
use wire::pg::Transport;

/// Arrivals that may wait for a client; further ones are dropped, and counted.
const BACKLOG: u32 = 100_000;
/// Log-ins under way at the same time.
const CONNECTING: u32 = 64;
/// A log-in that takes longer is given up.
const LOG_IN: Nanos = Nanos::from_secs(30);
/// After the window, what is under way may take this long where no timeout says it.
const DRAIN: Nanos = Nanos::from_secs(10);
/// Before a due moment, waiting becomes spinning.
const SPIN: Nanos = Nanos::from_micros(30);

/// A trial's load, ready to begin.
#[derive(Debug)]
pub struct Loaded {
    pub ready: Ready,
    pub plan: summary::Plan,
}

/// `variables` are what scripts may use without setting it, such as `:rows`.
pub fn prepare(
    setup: &Setup,
    entry: &Target,
    variables: &[(&str, i64)],
    seed: u64,
) -> Result<Loaded, Trouble> {
    let load = &setup.load;
    let program = compile(setup, variables)?;
    let schedule = schedule(load)?;
    let clients = clients(load);
    let threads = u16::try_from(u32::from(load.threads).min(clients)).expect("the lesser of two");
    measure::allow_files(clients, threads)?;
    let plan = Plan {
        seeds: seeding(&program, variables, clients, threads, seed),
        program,
        mode: ready::mode(load.query_mode),
        schedule,
        duration: load.duration,
        transactions: None,
        clients,
        threads,
        max_tries: load.max_tries,
        latency_limit: None,
        backlog_max: BACKLOG,
        drain: load.timeout.unwrap_or(DRAIN),
        reconnect: load.connect_each,
        connecting_max: CONNECTING,
        connect_timeout: LOG_IN,
        timeout: load.timeout,
        verbose: false,
        statements: false,
    };
    let many = matches!(load.model, LoadModel::Closed { .. }) && !load.connect_each;
    let driver = Driver::suited(many);
    let described = describe(setup, &plan, driver, seed);
    let (address, transport) = match &entry.address {
        ask::Address::Unix(path) => (driver::Address::Unix(path.clone()), Transport::Unix),
        ask::Address::Tcp(it) => (driver::Address::Tcp(*it), Transport::Tcp),
    };
    let work = Arc::new(Workload::new(plan, Arc::clone(&entry.login), transport));
    Ok(Loaded {
        ready: Ready { work, postgres: Some(address), services: Vec::new(), driver, spin: SPIN, log: false },
        plan: described,
    })
}

/// How many clients there are at most.
pub fn clients(load: &Load) -> u32 {
    load.model.clients()
}

/// The mix, in the order in which intervals have it.
pub fn operations(setup: &Setup) -> Vec<summary::Script> {
    let script =
        |it: &Operation| summary::Script { name: it.name.clone(), weight: it.weight, commands: Vec::new() };
    setup.operations.iter().map(script).collect()
}

fn compile(setup: &Setup, variables: &[(&str, i64)]) -> Result<Program, Trouble> {
    let texts: Vec<String> = setup.operations.iter().map(Operation::text).collect();
    let operations = setup.operations.iter().zip(&texts);
    let sources: Vec<Source> =
        operations.map(|(it, text)| Source { name: &it.name, text, weight: it.weight }).collect();
    let predefined: Vec<&str> = variables.iter().map(|it| it.0).collect();
    script::parse(&sources, ready::mode(setup.load.query_mode), false, &predefined).map_err(|mistakes| {
        Trouble::new(mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    })
}

fn schedule(load: &Load) -> Result<Schedule, Trouble> {
    Ok(match &load.model {
        LoadModel::Closed { think, .. } => Schedule::Closed { think: *think },
        LoadModel::Users { .. } => {
            return Err(Trouble::new(
                "this build does not run users in stages; write `clients` and `duration`",
            ));
        }
        LoadModel::Open { schedule: text, arrivals, .. } => {
            let curve = schedule::parse(text).map_err(|it| Trouble::new(format!("schedule: {it:?}")))?;
            Schedule::Open { curve, spacing: *arrivals }
        }
    })
}

fn seeding(program: &Program, variables: &[(&str, i64)], clients: u32, threads: u16, seed: u64) -> Seeding {
    let mut seeds = Seeds::new(seed);
    let clients = (0..clients).map(|_| seeds.client()).collect();
    let hash_seed = seeds.default_seed();
    let choices = (0..threads).map(|_| seeds.thread().choose).collect();
    let own = [("default_seed", hash_seed), ("random_seed", seed as i64)];
    let known = own.into_iter().chain(variables.iter().copied());
    let mut variables: Vec<_> =
        known.filter_map(|(name, it)| Some((program.slot(name)?, Initial::Int(it)))).collect();
    variables.extend(program.slot("client_id").map(|slot| (slot, Initial::Client)));
    Seeding { clients, choices, arrivals: seed, other: !seed, variables }
}

/// The load in a report's words.
fn describe(setup: &Setup, plan: &Plan, driver: Driver, seed: u64) -> summary::Plan {
    let load = &setup.load;
    summary::Plan {
        scripts: operations(setup),
        scale: 1,
        partitions: None,
        query_mode: load.query_mode,
        clients: plan.clients,
        threads: plan.threads.into(),
        max_tries: load.max_tries.into(),
        until: load.duration.map_or(summary::Until::ScheduleEnds, summary::Until::Time),
        model: match &load.model {
            LoadModel::Closed { think, .. } => summary::LoadModel::Closed { think: *think },
            LoadModel::Users { .. } => summary::LoadModel::Closed { think: Nanos::ZERO },
            LoadModel::Open { schedule, arrivals, .. } => {
                summary::LoadModel::Open { schedule: schedule.clone(), arrivals: *arrivals }
            }
        },
        connect_each: load.connect_each,
        latency_limit: None,
        seed,
        driver: driver.name().to_owned(),
    }
}
