//! Load configuration from a cell's setup

use crate::bench::{http, ready};
use crate::cli::CommandError;
use crate::feed_requests;
use crate::measure::{self, LoadConfig, LoadPart, load_address};
use crate::operation_steps::{self, add_operation};
use crate::recording::{self, MappedRecording};
use load::driver::{Address, Driver};
use load::feed::{DrawOrder, Feed};
use load::ledger::KeyedScript;
use load::random::SeedSequence;
use load::script::call::SecretLookup;
use load::script::{Diagnostic, Mode, Program, ProgramBuilder};
use load::{
    Hosts, InitialValue, LoadPlan, MeasuredCommands, PostgresEndpoint, Replay, RngSeeds, Service, Workload,
    schedule,
};
use model::message;
use model::plan::{FeedOrder, Load, LoadModel, Operation, OperationKind, RecordingFile, Setup, SqlTarget};
use model::row_table::Rows;
use model::summary;
use model::{Nanos, PerSecond, Schedule, ScriptId, Spacing, Stream, UserRamp};
use report::lang::english;
use stack::client::{self, Target};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use wire::http::{Host, Url};
use wire::pg::{Login, Transport};
use wire::tls::{HttpsClient as Tls, TlsIdentity};

/// Maximum size of the backlog. Further arrivals are dropped and counted.
const BACKLOG_MAX: u32 = 100_000;
/// Maximum number of simultaneous logins.
const CONNECTING_MAX: u32 = 64;
/// Default timeout of a login, if the load does not set one.
const LOGIN_TIMEOUT: Nanos = Nanos::from_secs(30);
/// Default drain time after the window, if the load has no timeout.
const DRAIN: Nanos = Nanos::from_secs(10);
/// Busy-wait time: a thread busy-waits instead of sleeping for this time before each due time.
const SPIN: Nanos = Nanos::from_micros(30);

/// Text of a schedule of recorded times, as in the experiment file.
const RECORDED: &str = "recorded";

/// The load of a trial, ready to start.
#[derive(Debug)]
pub struct PreparedLoad {
    pub config: LoadConfig,
    pub plan: summary::BenchPlan,
}

/// Targets and inputs of a load.
#[derive(Clone, Copy, Debug)]
pub struct LoadInputs<'a> {
    /// PostgreSQL targets; empty if the chain has no PostgreSQL server. Of several targets, the primary is used.
    pub postgres: &'a [&'a Target],
    /// Replica targets; empty without replicas. Servers that are no longer replicas are skipped.
    pub replicas: &'a [&'a Target],
    /// Secret that seals the tokens of operations with a ledger; `None` without a ledger.
    pub secret: Option<u64>,
    /// Target of HTTP requests.
    pub web: Option<&'a HttpTarget>,
    /// Rows, in the order of the plan's feeds.
    pub feeds: &'a [Rows],
    /// Predefined script variables, such as `:rows`.
    pub variables: &'a [(&'a str, i64)],
    /// Number of transactions of each client; `None` if only the load's duration limits it.
    pub transactions: Option<u64>,
    /// Data for a load that runs in addition to the trial's load.
    pub additional: Option<AdditionalLoad>,
    /// Flag that ends the load without completing transactions in flight.
    pub abandoned: &'a Arc<AtomicBool>,
    /// Part of the load that this process generates.
    pub part: LoadPart,
    /// Driver; `None` selects the driver that suits the load.
    pub driver: Option<Driver>,
    /// Look-up of `${env:NAME}` in requests.
    pub secrets: SecretLookup<'a>,
}

/// Properties of a load that runs in addition to the trial's load.
#[derive(Clone, Copy, Debug)]
pub struct AdditionalLoad {
    /// Number of the load's first client.
    pub first_client: u32,
    /// Limit for the sessions that clients abandon after a timeout: [`LoadPlan::abandon_max`].
    pub abandon_max: Option<u32>,
}

/// Target of HTTP requests.
#[derive(Clone, Debug)]
pub struct HttpTarget {
    pub url: Url,
    pub address: client::Address,
}

pub fn prepare(setup: &Setup, inputs: &LoadInputs<'_>, seed: u64) -> Result<PreparedLoad, CommandError> {
    let load = &setup.load;
    let program = compile(setup, inputs)?;
    let keyed = keyed_operations(setup, &program);
    let row_scripts = feed_requests::row_scripts(setup, inputs.feeds);
    let schedule = match feed_requests::arrival_list(setup, inputs.feeds, &row_scripts) {
        Some(list) => Schedule::Listed(Arc::new(list)),
        None => schedule(setup),
    };
    let replay = replay(load)?;
    let clients = replay.as_ref().map_or(client_count(load), Replay::clients);
    let threads = u32::from(inputs.part.thread_count(load.threads)).min(clients);
    let threads = u16::try_from(threads).expect("the lesser of two");
    let own_threads = inputs.part.threads(threads);
    let speaks = |kind: fn(&OperationKind) -> bool| setup.operations.iter().any(|it| kind(&it.kind));
    let (sql, replicas) = endpoints(setup, inputs);
    let web = inputs.web.filter(|_| speaks(|it| !it.is_sql()));
    let each = [!sql.hosts.is_empty(), !replicas.hosts.is_empty(), web.is_some()].map(u32::from);
    let own_clients = inputs.part.client_count(clients, threads);
    measure::raise_file_limit(own_clients.saturating_mul(each.iter().sum()), own_threads.len() as u16)?;
    let plan = LoadPlan {
        seeds: seeding(&program, inputs.variables, clients, threads, seed),
        program,
        mode: mode(setup),
        schedule,
        duration: load.duration,
        transactions: inputs.transactions,
        clients,
        threads,
        max_tries: load.max_tries,
        latency_limit: None,
        backlog_max: BACKLOG_MAX,
        drain: load.timeout.unwrap_or(DRAIN),
        reconnect: load.reconnect,
        connecting_max: inputs.additional.map_or(CONNECTING_MAX, |_| clients),
        connect_timeout: load.connect_timeout.unwrap_or(LOGIN_TIMEOUT),
        timeout: load.timeout,
        abandon_max: inputs.additional.and_then(|it| it.abandon_max),
        verbose: false,
        reports_steps: false,
        measured: MeasuredCommands::Steps,
    };
    let batched = !load.model.is_open() && !load.reconnect;
    let driver = inputs.driver.unwrap_or_else(|| Driver::for_load(batched));
    let described = describe(setup, &plan, driver, seed);
    let (postgres, hosts): (Option<PostgresEndpoint>, Option<Vec<Address>>) = sql.to_endpoint().unzip();
    let (services, addresses) = web.map(|it| service(it, load)).transpose()?.into_iter().unzip();
    let feeds = setup.feeds.iter().zip(inputs.feeds).map(|(feed, rows)| {
        let fixed = feed_requests::row_of_only_tag(setup, feed, rows).map(|row| DrawOrder::Fixed { row });
        let feed = Feed::new(rows.clone(), fixed.unwrap_or_else(|| order(feed.order, seed)));
        match inputs.part {
            LoadPart::Agent { agent, agents } => feed.with_process((agent, agents)),
            LoadPart::All | LoadPart::Coordinator { .. } => feed,
        }
    });
    let work = Workload::with_services(plan, postgres, services).with_feeds(feeds.collect());
    let work = work.with_first_client(inputs.additional.map_or(0, |it| it.first_client));
    let work = work.with_row_scripts(row_scripts);
    let mut work = work.require_variables().quoting_texts();
    if let Some(replay) = replay {
        work = work.with_replay(replay);
    }
    if let Some(mix) = &load.traffic {
        work = work.with_mix(recording::mix(open_recording(&mix.recording)?));
    }
    let mut host_addresses: Vec<Vec<Address>> = hosts.into_iter().collect();
    if let Some((replicas, hosts)) = replicas.to_endpoint() {
        let mut to: Vec<SqlTarget> = setup.operations.iter().map(|it| it.target).collect();
        to.resize(work.plan().program.scripts.len(), SqlTarget::Any);
        work = work.with_replicas(replicas, &to);
        host_addresses.push(hosts);
    }
    if let Some(keyed) = keyed {
        work = match inputs.secret {
            Some(secret) => work.with_ledger(secret, keyed),
            None => work.with_decoys(seed, keyed),
        };
    }
    let work = Arc::new(work);
    let ready = LoadConfig {
        work,
        threads: own_threads,
        postgres: host_addresses,
        services: addresses,
        driver,
        spin: if setup.load.slack == Nanos::ZERO { SPIN } else { Nanos::ZERO },
        slack: setup.load.slack,
        log: inputs.additional.is_some(),
        abandon: Arc::clone(inputs.abandoned),
    };
    Ok(PreparedLoad { config: ready, plan: described })
}

/// Candidate hosts and the required role. The set may be empty.
#[derive(Clone, Copy, Debug)]
struct HostSet<'a> {
    hosts: &'a [&'a Target],
    wanted: SqlTarget,
}

impl HostSet<'_> {
    /// Endpoint, and the addresses of all hosts. All hosts share the login of the first host.
    fn to_endpoint(self) -> Option<(PostgresEndpoint, Vec<Address>)> {
        let first = self.hosts.first()?;
        let transport = match &first.address {
            client::Address::Unix(_) => Transport::Unix,
            client::Address::Tcp(_) => Transport::Tcp,
        };
        let addresses: Vec<Address> = self.hosts.iter().map(|it| endpoint_address(it)).collect();
        let Ok(count @ 2..) = u16::try_from(addresses.len()) else {
            return Some((PostgresEndpoint::new(Arc::clone(&first.login), transport), addresses));
        };
        let mut login = Login::clone(&first.login);
        login.keep_parameters = true;
        let hosts = Hosts { count, target_role: self.wanted };
        Some((PostgresEndpoint::with_hosts(login.into(), transport, hosts), addresses))
    }
}

/// Targets for SQL: the hosts of the first endpoint, and the replicas if some operations use them.
fn endpoints<'a>(setup: &Setup, inputs: &LoadInputs<'a>) -> (HostSet<'a>, HostSet<'a>) {
    let none = HostSet { hosts: &[], wanted: SqlTarget::Any };
    let primary = HostSet { hosts: inputs.postgres, wanted: SqlTarget::Primary };
    let replicas = HostSet { hosts: inputs.replicas, wanted: SqlTarget::Replica };
    let mut sql = setup.operations.iter().filter(|it| it.kind.is_sql()).peekable();
    if sql.peek().is_none() {
        return (none, none);
    }
    let to: Vec<SqlTarget> = sql.map(|it| it.target).collect();
    if inputs.replicas.is_empty() || to.iter().all(|it| *it == SqlTarget::Primary) {
        (primary, none)
    } else if to.iter().all(|it| *it == SqlTarget::Replica) {
        (replicas, none)
    } else {
        (primary, replicas)
    }
}

/// Keyed script of each operation, or `None` for an operation without a ledger. The whole result is `None` if no
/// operation has a ledger.
fn keyed_operations(setup: &Setup, program: &Program) -> Option<Vec<Option<KeyedScript>>> {
    let keyed_script = |it: &Operation| it.ledger.as_ref().and_then(|_| KeyedScript::from_program(program));
    let mut keyed: Vec<Option<KeyedScript>> = setup.operations.iter().map(keyed_script).collect();
    keyed.resize_with(program.scripts.len(), || None);
    keyed.iter().any(Option::is_some).then_some(keyed)
}

/// Sessions of the load's recording; `None` if the load is no replay.
fn replay(load: &Load) -> Result<Option<Replay>, CommandError> {
    let LoadModel::Replay { recording, speed } = &load.model else { return Ok(None) };
    Ok(Some(recording::replay(open_recording(recording)?, *speed)))
}

fn open_recording(file: &RecordingFile) -> Result<MappedRecording, CommandError> {
    recording::open(&file.path).map_err(|reason| {
        let path = file.path.display().to_string();
        CommandError::new(message!("error-of", subject = path, error = reason))
    })
}

/// Address of a server, or its host name if the address may change.
fn endpoint_address(target: &Target) -> Address {
    target.host.clone().map_or_else(|| load_address(&target.address), Address::Named)
}

fn service(web: &HttpTarget, load: &Load) -> Result<(Service, Address), CommandError> {
    let service = Service {
        tls: http_tls(&web.url)?,
        connect_timeout: load.connect_timeout.unwrap_or(LOGIN_TIMEOUT),
        first_byte_timeout: load.first_byte_timeout,
        cookies: load.cookies,
        response_timeout: load.timeout,
        ..Service::without_tls(&web.url.host_header())
    };
    Ok((service, load_address(&web.address)))
}

/// TLS settings for an HTTPS service. Its certificate is verified as in browsers.
fn http_tls(url: &Url) -> Result<Option<Tls>, CommandError> {
    match &url.host {
        Host::Tcp(name, _) if url.tls => {
            let roots = http::system_certificates()?;
            let identity = TlsIdentity { roots: Some(&roots), ..TlsIdentity::default() };
            Tls::new(name, &identity).map(Some).map_err(|it| CommandError::new(&it))
        }
        _ => Ok(None),
    }
}

/// Draw order of a feed. All cells of a repetition have the same seed, so that they draw the same rows.
fn order(order: FeedOrder, seed: u64) -> DrawOrder {
    match order {
        FeedOrder::Sequential => DrawOrder::Sequential,
        FeedOrder::Shuffled => DrawOrder::Shuffled { seed: seed as i64 },
        FeedOrder::Random => DrawOrder::Random,
        FeedOrder::Zipfian { s } => DrawOrder::Zipfian { s },
        FeedOrder::Once => DrawOrder::Once,
    }
}

/// Largest number of clients.
pub fn client_count(load: &Load) -> u32 {
    load.model.clients()
}

/// Predefined variables of scripts: the number of the dataset's rows.
pub fn variables(setup: &Setup) -> Vec<(&'static str, i64)> {
    let rows = setup.dataset.as_ref().and_then(|it| stack::dataset::total_rows(&it.content));
    rows.map(|it| ("rows", it as i64)).into_iter().collect()
}

/// Protocol with which a setup's statements are sent.
pub fn mode(setup: &Setup) -> Mode {
    ready::mode(setup.load.query_mode)
}

/// Program with one script per operation. The function uses only the feeds, the variables and the secrets of `inputs`.
pub fn compile(setup: &Setup, inputs: &LoadInputs<'_>) -> Result<Program, CommandError> {
    let given = inputs.variables.iter().map(|it| it.0);
    let mut predefined: Vec<&str> = given.chain(["client_id", "default_seed", "random_seed"]).collect();
    if setup.operations.iter().any(|it| it.ledger.is_some()) {
        predefined.extend(KeyedScript::VARIABLE_NAMES);
    }
    if let Some(on_start) = &setup.on_start {
        let columns =
            setup.feeds.iter().zip(inputs.feeds).filter(|it| Some(&it.0.name) == on_start.feed.as_ref());
        predefined.extend(columns.flat_map(|it| it.1.columns()).map(String::as_str));
        predefined.extend(on_start.assigned_variables());
    }
    let mut maker = ProgramBuilder::new(mode(setup), &predefined).with_secrets(inputs.secrets);
    let draws = |operation: &Operation| {
        let name = operation.feed.as_ref()?;
        let number = setup.feeds.iter().position(|feed| feed.name == *name)?;
        Some((number as u16, inputs.feeds[number].columns()))
    };
    for operation in &setup.operations {
        add_operation(&mut maker, operation, draws(operation));
    }
    if let Some(on_start) = &setup.on_start {
        add_operation(&mut maker, on_start, draws(on_start));
        maker.execute_last_on_start();
    }
    let to_error = |all: &[Diagnostic]| {
        let lines = all.iter().map(|diagnostic| {
            let Diagnostic { file, line, message, .. } = diagnostic;
            let place = if *line > 0 { format!("{file}:{line}: ") } else { String::new() };
            format!("{place}{}; {}", english().message(message), english().help(message))
        });
        CommandError::new(lines.collect::<Vec<_>>().join("\n"))
    };
    let program = maker.finish().map_err(|it| to_error(&it))?;
    if program.undefined.is_empty() { Ok(program) } else { Err(to_error(&program.undefined)) }
}

/// Schedule of the load. Its texts were already checked with the experiment.
fn schedule(setup: &Setup) -> Schedule {
    let parse = |text: &str| schedule::parse(text).expect("the schedule was checked");
    match &setup.load.model {
        LoadModel::Closed { think, .. } => Schedule::Closed { think: *think },
        LoadModel::Users { stages, think, pacing, rate_max } => Schedule::Users(UserRamp {
            stages: stages.clone(),
            think: *think,
            pacing: *pacing,
            rate_max: rate_max.map(PerSecond),
        }),
        LoadModel::Log { .. } => unreachable!("its arrivals are listed"),
        LoadModel::Replay { recording, speed } => {
            Schedule::Recorded { duration: recording.duration_at(*speed) }
        }
        LoadModel::Open { schedule: text, arrivals: spacing, .. } => {
            let spacing = *spacing;
            let scheduled =
                setup.operations.iter().enumerate().filter_map(|(n, it)| Some((n, it.schedule.as_ref()?)));
            let streams = scheduled.map(|(n, text)| Stream {
                curve: parse(text),
                spacing,
                script: Some(ScriptId(n as u16)),
            });
            let mut streams: Vec<Stream> = streams.collect();
            // The load's schedule applies to operations without their own schedule. If all operations have one, the
            // load's schedule only determines the duration.
            let is_drawn = setup.operations.iter().any(|it| it.schedule.is_none());
            match (is_drawn.then(|| parse(text)), streams.is_empty()) {
                (Some(curve), true) => Schedule::Open { curve, spacing },
                (mix, _) => {
                    streams.extend(mix.map(|curve| Stream { curve, spacing, script: None }));
                    Schedule::Streams(streams)
                }
            }
        }
    }
}

fn seeding(program: &Program, variables: &[(&str, i64)], clients: u32, threads: u16, seed: u64) -> RngSeeds {
    let mut seeds = SeedSequence::new(seed);
    let clients = (0..clients).map(|_| seeds.client_rng()).collect();
    let hash_seed = seeds.default_seed();
    let script_rngs = (0..threads).map(|_| seeds.thread_rngs().choose).collect();
    let predefined = [("default_seed", hash_seed), ("random_seed", seed as i64)];
    let known = predefined.into_iter().chain(variables.iter().copied());
    let mut variables: Vec<_> =
        known.filter_map(|(name, it)| Some((program.slot(name)?, InitialValue::Int(it)))).collect();
    variables.extend(program.slot("client_id").map(|slot| (slot, InitialValue::Client)));
    RngSeeds { clients, script_rngs, arrivals: seed, other: !seed, variables }
}

/// Description of the load for the report.
fn describe(setup: &Setup, plan: &LoadPlan, driver: Driver, seed: u64) -> summary::BenchPlan {
    let load = &setup.load;
    let open = |schedule, arrivals| summary::LoadModelSummary::Open { schedule, arrivals, slack: load.slack };
    summary::BenchPlan {
        scripts: operation_steps::operations(setup),
        scale: 1,
        partitions: None,
        query_mode: load.query_mode,
        clients: plan.clients,
        threads: plan.threads.into(),
        max_tries: load.max_tries.into(),
        end: load.duration.map_or(summary::EndCondition::ScheduleEnds, summary::EndCondition::Time),
        model: match &load.model {
            LoadModel::Closed { think, .. } => summary::LoadModelSummary::Closed { think: *think },
            LoadModel::Users { .. } => summary::LoadModelSummary::Closed { think: Nanos::ZERO },
            LoadModel::Open { schedule, arrivals, .. } => open(schedule.clone(), *arrivals),
            LoadModel::Log { .. } => open(RECORDED.to_owned(), Spacing::Even),
            LoadModel::Replay { recording, speed } => {
                summary::LoadModelSummary::Replay { recording: recording.name(), speed: *speed }
            }
        },
        reconnect: load.reconnect,
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
