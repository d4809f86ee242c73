//! From a cell's plan to what the load needs: which workload, against whom?

use crate::bench::{http, ready};
use crate::measure::{self, Driver, Ready};
use crate::voice::Trouble;
use load::driver::Address;
use load::feed::{Feed, Order};
use load::ledger::Keyed;
use load::random::Seeds;
use load::script::{Diagnostic, Head, Maker, Program};
use load::{Hosts, Initial, Plan, Postgres, Seeding, Service, Workload, schedule};
use model::plan::{FeedOrder, Load, LoadModel, Operation, Setup, To, Work};
use model::rows::Rows;
use model::summary;
use model::{Nanos, PerSecond, Schedule, ScriptId, Stream, Users};
use stack::ask::{self, Target};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use wire::http::{Host, Url};
use wire::pg::{Login, Transport};
use wire::tls::{Identity, Web as Tls};

/// Arrivals that may wait for a client; further ones are dropped, and counted.
const BACKLOG: u32 = 100_000;
/// Log-ins under way at the same time.
const CONNECTING: u32 = 64;
/// A log-in that takes longer is given up, where the load does not say how long it may take.
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

/// Who is asked, and what with.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Who answers SQL, if anybody does; of several, whoever is the primary.
    pub postgres: &'a [&'a Target],
    /// The same of the replicas, where there are any; of several, those that are none any more are passed by.
    pub replicas: &'a [&'a Target],
    /// Seals what is written by operations with a ledger; `None` where none is kept.
    pub secret: Option<u64>,
    /// Who answers HTTP requests.
    pub web: Option<&'a Web>,
    /// By the plan's feeds.
    pub feeds: &'a [Rows],
    /// What scripts may use without setting it, such as `:rows`.
    pub variables: &'a [(&'a str, i64)],
    /// Set to end the load without waiting for what is under way.
    pub abandoned: &'a Arc<AtomicBool>,
}

/// Where requests go.
#[derive(Clone, Debug)]
pub struct Web {
    pub url: Url,
    pub address: ask::Address,
}

pub fn prepare(setup: &Setup, asked: &Asked<'_>, seed: u64) -> Result<Loaded, Trouble> {
    let load = &setup.load;
    let program = compile(setup, asked)?;
    let keyed = keyed(setup, &program);
    let schedule = schedule(setup)?;
    let clients = clients(load);
    let threads = u16::try_from(u32::from(load.threads).min(clients)).expect("the lesser of two");
    let speaks = |kind: fn(&Work) -> bool| setup.operations.iter().any(|it| kind(&it.work));
    let (sql, replicas) = doors(setup, asked);
    let web = asked.web.filter(|_| speaks(|it| !matches!(it, Work::Script { .. })));
    let each = [!sql.hosts.is_empty(), !replicas.hosts.is_empty(), web.is_some()].map(u32::from);
    measure::allow_files(clients.saturating_mul(each.iter().sum()), threads)?;
    let plan = Plan {
        seeds: seeding(&program, asked.variables, clients, threads, seed),
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
        connect_timeout: load.connect_timeout.unwrap_or(LOG_IN),
        timeout: load.timeout,
        verbose: false,
        statements: false,
    };
    let many = !load.model.is_open() && !load.connect_each;
    let driver = Driver::suited(many);
    let described = describe(setup, &plan, driver, seed);
    let (postgres, hosts): (Option<Postgres>, Option<Vec<Address>>) = sql.door().unzip();
    let (services, addresses) = web.map(|it| service(it, load)).transpose()?.into_iter().unzip();
    let feeds =
        setup.feeds.iter().zip(asked.feeds).map(|(it, rows)| Feed::new(rows.clone(), order(it.order, seed)));
    let work = Workload::of(plan, postgres, services).with_feeds(feeds.collect());
    let mut work = work.requiring_variables().quoting_texts();
    let mut doors: Vec<Vec<Address>> = hosts.into_iter().collect();
    if let Some((replicas, hosts)) = replicas.door() {
        let to: Vec<To> = setup.operations.iter().map(|it| it.to).collect();
        work = work.with_replicas(replicas, &to);
        doors.push(hosts);
    }
    if let Some(keyed) = keyed {
        work = match asked.secret {
            Some(secret) => work.with_ledger(secret, keyed),
            None => work.with_decoys(seed, keyed),
        };
    }
    let work = Arc::new(work);
    let ready = Ready {
        work,
        postgres: doors,
        services: addresses,
        driver,
        spin: SPIN,
        log: false,
        abandon: Arc::clone(asked.abandoned),
    };
    Ok(Loaded { ready, plan: described })
}

/// Of these, whoever is wanted; nobody where there are none.
#[derive(Clone, Copy, Debug)]
struct Led<'a> {
    hosts: &'a [&'a Target],
    wanted: To,
}

impl Led<'_> {
    /// One log-in, that of the first, will do for all.
    fn door(self) -> Option<(Postgres, Vec<Address>)> {
        let first = self.hosts.first()?;
        let transport = match &first.address {
            ask::Address::Unix(_) => Transport::Unix,
            ask::Address::Tcp(_) => Transport::Tcp,
        };
        let addresses: Vec<Address> = self.hosts.iter().map(|it| of(&it.address)).collect();
        let Ok(count @ 2..) = u16::try_from(addresses.len()) else {
            return Some((Postgres::new(Arc::clone(&first.login), transport), addresses));
        };
        let mut login = Login::clone(&first.login);
        login.keep_parameters = true;
        let hosts = Hosts { count, wanted: self.wanted };
        Some((Postgres::among(login.into(), transport, hosts), addresses))
    }
}

/// Whom SQL is sent to: by the first door, and by that of the replicas where some of it goes elsewhere.
fn doors<'a>(setup: &Setup, asked: &Asked<'a>) -> (Led<'a>, Led<'a>) {
    let nobody = Led { hosts: &[], wanted: To::Any };
    let primary = Led { hosts: asked.postgres, wanted: To::Primary };
    let replicas = Led { hosts: asked.replicas, wanted: To::Replica };
    let mut sql = setup.operations.iter().filter(|it| matches!(it.work, Work::Script { .. })).peekable();
    if sql.peek().is_none() {
        return (nobody, nobody);
    }
    let to: Vec<To> = sql.map(|it| it.to).collect();
    if asked.replicas.is_empty() || to.iter().all(|it| *it == To::Primary) {
        (primary, nobody)
    } else if to.iter().all(|it| *it == To::Replica) {
        (replicas, nobody)
    } else {
        (primary, replicas)
    }
}

/// By operation, those whose writes have tokens; `None` where none has.
fn keyed(setup: &Setup, program: &Program) -> Option<Vec<Option<Keyed>>> {
    let its = |it: &Operation| it.ledger.as_ref().and_then(|_| Keyed::of(program));
    let keyed: Vec<Option<Keyed>> = setup.operations.iter().map(its).collect();
    keyed.iter().any(Option::is_some).then_some(keyed)
}

fn of(address: &ask::Address) -> Address {
    match address {
        ask::Address::Unix(path) => Address::Unix(path.clone()),
        ask::Address::Tcp(it) => Address::Tcp(*it),
    }
}

fn service(web: &Web, load: &Load) -> Result<(Service, Address), Trouble> {
    let service = Service {
        tls: web_tls(&web.url)?,
        connect_within: load.connect_timeout.unwrap_or(LOG_IN),
        begin_within: load.first_byte_timeout,
        cookies: load.cookies,
        end_within: load.timeout,
        ..Service::plain(&web.url.host_header())
    };
    Ok((service, of(&web.address)))
}

/// Of a service that is there: its certificate is checked as browsers do.
fn web_tls(url: &Url) -> Result<Option<Tls>, Trouble> {
    match &url.host {
        Host::Tcp(name, _) if url.tls => {
            let roots = http::trusted()?;
            let identity = Identity { roots: Some(&roots), ..Identity::default() };
            Tls::new(name, &identity).map(Some).map_err(|it| Trouble::new(it.to_string()))
        }
        _ => Ok(None),
    }
}

/// The seed is the repetition's, so that all cells of one meet the same rows.
fn order(it: FeedOrder, seed: u64) -> Order {
    match it {
        FeedOrder::Sequential => Order::Sequential,
        FeedOrder::Shuffled => Order::Shuffled { seed: seed as i64 },
        FeedOrder::Random => Order::Random,
        FeedOrder::Zipfian { s } => Order::Zipfian { s },
        FeedOrder::Once => Order::Once,
    }
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

fn compile(setup: &Setup, asked: &Asked<'_>) -> Result<Program, Trouble> {
    let given = asked.variables.iter().map(|it| it.0);
    let mut predefined: Vec<&str> = given.chain(["client_id", "default_seed", "random_seed"]).collect();
    if setup.operations.iter().any(|it| it.ledger.is_some()) {
        predefined.extend(Keyed::VARIABLES);
    }
    let mut maker = Maker::new(ready::mode(setup.load.query_mode), &predefined).with_secrets(http::secret);
    for it in &setup.operations {
        let feed = it.feed.as_ref().and_then(|name| setup.feeds.iter().position(|feed| feed.name == *name));
        let draws = feed.map(|number| (number as u16, asked.feeds[number].columns()));
        let head = Head { name: &it.name, weight: it.weight, draws };
        match &it.work {
            Work::Script { text, .. } => maker.pgbench(&head, text, false),
            Work::Http(steps) => maker.http(&head, 0, &it.sets, steps),
            Work::Ammo => maker.ammo(&head, 0),
        }
    }
    let told =
        |all: &[Diagnostic]| Trouble::new(all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
    let program = maker.finish().map_err(|it| told(&it))?;
    if program.undefined.is_empty() { Ok(program) } else { Err(told(&program.undefined)) }
}

fn schedule(setup: &Setup) -> Result<Schedule, Trouble> {
    let parse =
        |text: &str| schedule::parse(text).map_err(|it| Trouble::new(format!("schedule {text}: {it:?}")));
    Ok(match &setup.load.model {
        LoadModel::Closed { think, .. } => Schedule::Closed { think: *think },
        LoadModel::Users { stages, think, pacing, rate_max } => Schedule::Users(Users {
            stages: stages.clone(),
            think: *think,
            pacing: *pacing,
            rate_max: rate_max.map(PerSecond),
        }),
        LoadModel::Open { schedule: text, arrivals: spacing, .. } => {
            let spacing = *spacing;
            let own =
                setup.operations.iter().enumerate().filter_map(|(n, it)| Some((n, it.schedule.as_ref()?)));
            let own = own.map(|(n, text)| {
                Ok(Stream { curve: parse(text)?, spacing, script: Some(ScriptId(n as u16)) })
            });
            let mut own: Vec<Stream> = own.collect::<Result<_, Trouble>>()?;
            // The load's schedule is that of operations without one; where there are none, it only says how long.
            let is_drawn = setup.operations.iter().any(|it| it.schedule.is_none());
            let mix = is_drawn.then(|| parse(text)).transpose()?;
            match (mix, own.is_empty()) {
                (Some(curve), true) => Schedule::Open { curve, spacing },
                (mix, _) => {
                    own.extend(mix.map(|curve| Stream { curve, spacing, script: None }));
                    Schedule::Streams(own)
                }
            }
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

#[cfg(test)]
mod generated;
#[cfg(test)]
mod simulated;
#[cfg(test)]
mod tests;
