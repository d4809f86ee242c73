//! From what the user wants to what the load needs: which workload, how many files, which seeds?

use super::connect::Place;
use super::options::{Driver, Options, Pace, Seed, Until};
use crate::measure;
use crate::voice::Trouble;
use load::driver::{self, Address};
use load::random::{Prng, Seeds};
use load::script::{self, Program};
use load::{Initial, Plan, Postgres, Seeding, Service, Workload};
use model::summary::QueryMode;
use model::{Curve, Nanos, Schedule};
use stack::ask;
use std::fs::File;
use std::io::Read;
use std::sync::Arc;
use wire::pg::Transport;

/// A run that can begin, and what its log draws from, by thread.
#[derive(Debug)]
pub struct Prepared {
    pub ready: measure::Ready,
    pub samples: Vec<Prng>,
}

/// After the end of a run, what is under way may take this long; then it is Unknown.
const DRAIN: Nanos = Nanos::from_secs(10);
/// A log-in that takes longer is given up.
const CONNECT_TIMEOUT: Nanos = Nanos::from_secs(30);
/// A rate without an end: the run ends by other means.
const FOR_EVER: Nanos = Nanos::from_secs(365 * 24 * 3600);

/// `scale` is the value of `:scale` unless `-D` gives another.
pub fn prepare(
    options: &Options,
    program: Program,
    place: &Place,
    scale: u32,
    seed: u64,
) -> Result<Prepared, Trouble> {
    let (address, transport) = match &place.target.address {
        ask::Address::Unix(path) => (Address::Unix(path.clone()), Transport::Unix),
        ask::Address::Tcp(it) => (Address::Tcp(*it), Transport::Tcp),
    };
    let asked = Asked {
        postgres: Some((Postgres::new(Arc::clone(&place.target.login), transport), address)),
        services: Vec::new(),
    };
    prepare_for(options, program, asked, scale, seed)
}

/// Whom a run asks, and where they listen.
#[derive(Debug)]
pub struct Asked {
    pub postgres: Option<(Postgres, Address)>,
    pub services: Vec<(Service, Address)>,
}

/// The same for whomever is asked.
pub fn prepare_for(
    options: &Options,
    program: Program,
    asked: Asked,
    scale: u32,
    seed: u64,
) -> Result<Prepared, Trouble> {
    let threads = u16::try_from(options.threads).map_err(|_| {
        Trouble::new(format!("{} threads are too many", options.threads)).hint("use fewer, as in -j 2")
    })?;
    let driver = driver(options)?;
    // io_uring keeps a place for each connection that there could be, that of a session included.
    let sessions = u32::from(asked.postgres.is_some() || driver == measure::Driver::IoUring);
    let connections = options.clients.saturating_mul(sessions + asked.services.len() as u32);
    measure::allow_files(connections, threads)?;
    let (seeds, samples) = seeding(options, &program, scale, seed);
    let schedule = match &options.pace {
        Pace::Closed { think } => Schedule::Closed { think: *think },
        Pace::Rate { rate, spacing } => {
            let lasting = match options.until {
                Until::Seconds(seconds) => Nanos::from_secs(seconds.into()),
                Until::Transactions(_) | Until::ScheduleEnds => FOR_EVER,
            };
            Schedule::Open { curve: Curve::Ramp { from: *rate, to: *rate, lasting }, spacing: *spacing }
        }
        Pace::Schedule { curve, spacing, .. } => Schedule::Open { curve: curve.clone(), spacing: *spacing },
    };
    let plan = Plan {
        program,
        mode: mode(options.mode),
        schedule,
        duration: match options.until {
            Until::Seconds(seconds) => Some(Nanos::from_secs(seconds.into())),
            Until::Transactions(_) | Until::ScheduleEnds => None,
        },
        transactions: match options.until {
            Until::Transactions(each) => Some(each.into()),
            Until::Seconds(_) | Until::ScheduleEnds => None,
        },
        clients: options.clients,
        threads,
        max_tries: u16::try_from(options.max_tries).unwrap_or(u16::MAX),
        latency_limit: options.latency_limit,
        backlog_max: options.max_backlog,
        drain: DRAIN,
        reconnect: options.connect_each,
        connecting_max: options.max_connecting,
        connect_timeout: CONNECT_TIMEOUT,
        timeout: None,
        verbose: options.verbose_errors,
        statements: options.per_command,
        seeds,
    };
    let (postgres, address) = asked.postgres.unzip();
    let (services, addresses) = asked.services.into_iter().unzip();
    let ready = measure::Ready {
        work: Arc::new(Workload::of(plan, postgres, services)),
        postgres: address.map(|it| vec![it]).into_iter().collect(),
        services: addresses,
        driver,
        spin: options.spin,
        log: options.log.is_some(),
        abandon: Arc::default(),
    };
    Ok(Prepared { ready, samples })
}

pub fn mode(it: QueryMode) -> script::Mode {
    match it {
        QueryMode::Simple => script::Mode::Simple,
        QueryMode::Extended => script::Mode::Extended,
        QueryMode::Prepared => script::Mode::Prepared,
    }
}

fn driver(options: &Options) -> Result<measure::Driver, Trouble> {
    let many = !options.pace.is_open() && !options.connect_each;
    match options.driver {
        Driver::IoUring if !driver::uring::is_available() => {
            Err(Trouble::new("io_uring cannot be used here: the kernel is older than 6.1, or forbids it")
                .hint("use --driver=epoll"))
        }
        Driver::IoUring => Ok(measure::Driver::IoUring),
        Driver::Auto => Ok(measure::Driver::suited(many)),
        Driver::Epoll => Ok(measure::Driver::Epoll),
    }
}

/// In pgbench's order, so that the same seed draws the same numbers.
fn seeding(options: &Options, program: &Program, scale: u32, seed: u64) -> (Seeding, Vec<Prng>) {
    let mut seeds = Seeds::new(seed);
    let clients = (0..options.clients).map(|_| seeds.client()).collect();
    let defined = |name: &str| options.defines.iter().any(|(it, _)| it == name);
    let mut variables = Vec::new();
    let mut set = |name: &str, value: Initial| variables.extend(program.slot(name).map(|slot| (slot, value)));
    // The last definition of a name holds.
    options.defines.iter().for_each(|(name, value)| set(name, Initial::Text(value.clone())));
    if !defined("scale") {
        set("scale", Initial::Int(scale.into()));
    }
    if !defined("client_id") {
        set("client_id", Initial::Client);
    }
    if !defined("default_seed") {
        set("default_seed", Initial::Int(seeds.default_seed()));
    }
    if !defined("random_seed") {
        set("random_seed", Initial::Int(seed as i64));
    }
    let threads: Vec<_> = (0..options.threads).map(|_| seeds.thread()).collect();
    let samples = threads.iter().map(|it| it.sample).collect();
    let choices = threads.iter().map(|it| it.choose).collect();
    (Seeding { clients, choices, arrivals: seed, other: !seed, variables }, samples)
}

/// The number from which all chance comes. `now`: Unix time.
pub fn seed(wanted: Seed, now: Nanos) -> Result<u64, Trouble> {
    match wanted {
        Seed::Fixed(it) => Ok(it),
        Seed::Time { .. } => Ok(now.0 / 1000),
        Seed::Rand => {
            let mut bytes = [0; 8];
            File::open("/dev/urandom")
                .and_then(|mut it| it.read_exact(&mut bytes))
                .map_err(|error| Trouble::new(format!("could not generate random seed: {error}")))?;
            Ok(u64::from_ne_bytes(bytes))
        }
    }
}

#[cfg(test)]
mod tests;
