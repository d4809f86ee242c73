//! Additional clients that show how a failover affects new and connected clients
//!
//! The clients of a closed load keep their sessions, and after a failover they first wait for their own timeouts. They
//! therefore do not see what a new client sees. In a trial with faults, new clients additionally open a connection at a
//! fixed rate, execute one transaction and disconnect. Their writes are in the ledger, so a split brain that only new
//! connections reach is detected. Readers, new and connected, show when reads were possible.

use crate::cli::CommandError;
use crate::measure::{self, LoadConfig, LoadListener};
use crate::run::workload::{self, AdditionalLoad, LoadInputs};
use load::driver::Clock;
use load::ledger::LedgerProducer;
use model::durability::{AccessKind, ClientKind};
use model::plan::{FeedOrder, LoadModel, Operation, Setup, SqlTarget};
use model::{Nanos, Outcome, Record, Spacing};
use stack::client::Target;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;
use wire::pg::Login;

/// Time limit for a new client's login, and for its transaction including the login.
const TIMEOUT: Nanos = Nanos::from_secs(1);
/// Number of sessions that new clients abandon at full rate, see [`AdditionalLoad::abandon_max`].
const ABANDON_MAX: u32 = 40;
/// Number of connected readers.
const CONNECTED_READERS: u32 = 4;
/// Number of clients of the control within the trial, and their think time if the load has none.
const CONTROL_CLIENTS: u32 = 4;
const CONTROL_THINK: Nanos = Nanos::from_millis(2);
/// Difference of the control's seed, so that it does not repeat the load's requests.
const CONTROL_SEED: u64 = 0x0063_6f6e_7472_6f6c;
/// Schedules last longer than any trial, because the end of the trial ends the load.
const HOURS: u32 = 1000;
/// Interval at which the start of the trial's window is checked.
const START_POLL_INTERVAL: Duration = Duration::from_millis(1);
/// Interval at which the end of the trial's load is checked.
const END_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Additional loads of a trial.
#[derive(Debug)]
pub struct ClientProbes {
    /// Writes of new clients. `None` if no operation with a ledger can run in addition to the load.
    writers: Option<LoadConfig>,
    /// Number of the first client of `writers`.
    first_writer: u32,
    /// Writes of connected clients whose commits wait for no standby, and the number of the first of them. Only for an
    /// attached cluster, in which pgdyno cannot block the replication of a control of its own.
    control: Option<(u32, LoadConfig)>,
    readers: Vec<(ClientKind, LoadConfig)>,
}

/// Times of successful reads, by kind of client.
#[derive(Debug, Default)]
pub struct ReadTimes(pub Vec<(ClientKind, Vec<Nanos>)>);

impl ClientProbes {
    /// Prepares the additional clients of a trial; `None` if the setup has none.
    pub fn prepare(
        setup: &Setup,
        inputs: &LoadInputs<'_>,
        seed: u64,
    ) -> Result<Option<ClientProbes>, CommandError> {
        let rate = setup.load.new_clients;
        let has_ledger = setup.operations.iter().any(|it| it.ledger.is_some());
        if rate == 0 || setup.faults.is_empty() || !has_ledger {
            return Ok(None);
        }
        let first_writer = workload::client_count(&setup.load);
        let writers = writer_setup(setup, rate);
        let prepare = |setup: &Setup, first_client, abandon_max| {
            let additional = Some(AdditionalLoad { first_client, abandon_max });
            let inputs = LoadInputs { additional, ..*inputs };
            workload::prepare(setup, &inputs, !seed).map(|it| it.config)
        };
        let writers = writers.map(|it| prepare(&it, first_writer, Some(ABANDON_MAX))).transpose()?;
        let first_control = first_writer + 2 * rate;
        let control = match setup.stack.attached_servers().is_empty() {
            true => None,
            false => control_load(setup, inputs, first_control, seed)?.map(|it| (first_control, it)),
        };
        let mut readers = Vec::new();
        for client in [ClientKind::New, ClientKind::Connected] {
            let Some(reader) = reader_setup(setup, rate, client) else { continue };
            let abandon_max = (client == ClientKind::New).then_some(ABANDON_MAX);
            readers.push((client, prepare(&reader, 0, abandon_max)?));
        }
        let clients: u32 = 4 * rate + CONNECTED_READERS + CONTROL_CLIENTS + first_writer;
        let services = u32::from(inputs.web.is_some()) + u32::from(!inputs.replicas.is_empty()) + 1;
        measure::raise_file_limit(clients.saturating_mul(services), setup.load.threads + 4)?;
        Ok(Some(ClientProbes { writers, first_writer, control, readers }))
    }

    /// Number of the first client that writes over a new connection; `None` if there are none.
    pub fn first_writer(&self) -> Option<u32> {
        self.writers.is_some().then_some(self.first_writer)
    }

    /// Number of the first client of the control within the trial; `None` if there is none.
    pub fn first_control(&self) -> Option<u32> {
        self.control.as_ref().map(|it| it.0)
    }

    /// Loads that need ledger producers, in order.
    pub fn writers(&self) -> impl Iterator<Item = &LoadConfig> {
        self.writers.iter().chain(self.control.iter().map(|it| &it.1))
    }

    /// Starts the clients when `window_start` returns a time. `stop` ends them. `taps` are the ledger producers of the
    /// writers.
    pub fn start<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        taps: Vec<LedgerProducer>,
        clock: Clock,
        stop: &'scope AtomicBool,
        window_start: impl Fn() -> Option<Nanos> + Copy + Send + 'scope,
    ) -> RunningProbes<'scope> {
        // Each of these loads has one thread.
        let mut taps = taps.into_iter();
        let writers = self.writers().map(|it| (ClientKind::New, AccessKind::Write, it));
        let readers = self.readers.iter().map(|it| (it.0, AccessKind::Read, &it.1));
        let threads = writers.chain(readers).map(|(client, access, config)| {
            let tap = if access == AccessKind::Write { taps.next() } else { None };
            let run = move || {
                while window_start().is_none() && !stop.load(Ordering::Relaxed) {
                    std::thread::sleep(START_POLL_INTERVAL);
                }
                let mut successes = SuccessLog::default();
                // Each load has its own flag, because a load without a connected client sets it.
                let ended = AtomicBool::new(false);
                std::thread::scope(|inner| {
                    let watcher = inner.spawn(|| {
                        while !stop.load(Ordering::Relaxed) && !ended.load(Ordering::Relaxed) {
                            std::thread::sleep(END_POLL_INTERVAL);
                        }
                        ended.store(true, Ordering::Relaxed);
                    });
                    // Without a connected client there are no successes, which is a result too.
                    let _ = measure::run_with_ledger(
                        config,
                        tap.into_iter().collect(),
                        clock,
                        &mut successes,
                        &ended,
                    );
                    ended.store(true, Ordering::Relaxed);
                    watcher.join().expect("the watcher does not panic");
                });
                successes.0
            };
            (client, access, scope.spawn(run))
        });
        RunningProbes(threads.collect())
    }
}

/// Running additional loads.
pub struct RunningProbes<'scope>(Vec<(ClientKind, AccessKind, ScopedJoinHandle<'scope, Vec<Nanos>>)>);

impl RunningProbes<'_> {
    /// Waits for the end of all loads, which the flag passed to [`ClientProbes::start`] causes.
    pub fn finish(self) -> ReadTimes {
        let mut reads = ReadTimes::default();
        for (client, access, thread) in self.0 {
            let times = thread.join().expect("a load does not panic");
            if access == AccessKind::Read {
                reads.0.push((client, times));
            }
        }
        reads
    }
}

/// Times of all successful transactions.
#[derive(Debug, Default)]
struct SuccessLog(Vec<Nanos>);

impl LoadListener for SuccessLog {
    fn on_records(&mut self, _thread: usize, records: &[Record], _start: Nanos) {
        self.0.extend(records.iter().filter(|it| it.outcome == Outcome::Ok).map(|it| it.finished));
    }
}

/// Setup whose load is `rate` new clients per second.
fn new_client_setup(setup: &Setup, rate: u32, operations: Vec<Operation>) -> Setup {
    let mut setup = Setup { operations, ..setup.clone() };
    let load = &mut setup.load;
    load.model = LoadModel::Open {
        schedule: format!("const({rate}, {HOURS}h)"),
        arrivals: Spacing::Even,
        max_in_flight: 2 * rate,
    };
    let limit = |given: Option<Nanos>| Some(given.map_or(TIMEOUT, |it| it.min(TIMEOUT)));
    (load.duration, load.transactions, load.traffic) = (None, None, None);
    (load.threads, load.reconnect, load.slack) = (1, true, Nanos::ZERO);
    (load.timeout, load.connect_timeout) = (limit(load.timeout), limit(load.connect_timeout));
    setup
}

/// Setup of the writers: all operations with a ledger, except those whose rows must be used only once.
fn writer_setup(setup: &Setup, rate: u32) -> Option<Setup> {
    let is_once = |operation: &Operation| {
        let feed = setup.feeds.iter().find(|feed| Some(&feed.name) == operation.feed.as_ref());
        feed.is_some_and(|it| it.order == FeedOrder::Once)
    };
    let written = |it: &&Operation| it.ledger.is_some() && !is_once(it);
    let operations: Vec<Operation> = setup
        .operations
        .iter()
        .filter(written)
        .map(|it| Operation { weight: it.weight.max(1), rate: None, schedule: None, ..it.clone() })
        .collect();
    (!operations.is_empty()).then(|| new_client_setup(setup, rate, operations))
}

/// Load of the control: the operations with a ledger, by clients whose sessions begin with `synchronous_commit = local`.
fn control_load(
    setup: &Setup,
    inputs: &LoadInputs<'_>,
    first_client: u32,
    seed: u64,
) -> Result<Option<LoadConfig>, CommandError> {
    let Some(mut control) = writer_setup(setup, 1) else { return Ok(None) };
    let load = &mut control.load;
    let think = match setup.load.model {
        LoadModel::Closed { think, .. } => think,
        _ => CONTROL_THINK,
    };
    load.model = LoadModel::Closed { clients: CONTROL_CLIENTS, think };
    load.reconnect = false;
    (load.timeout, load.connect_timeout) = (setup.load.timeout, setup.load.connect_timeout);
    let without_wait = |target: &&Target| {
        let mut login = Login::clone(&target.login);
        login.parameters.push(("synchronous_commit".to_owned(), "local".to_owned()));
        Target { login: Arc::new(login), ..Target::clone(target) }
    };
    let targets: Vec<Target> = inputs.postgres.iter().map(without_wait).collect();
    let targets: Vec<&Target> = targets.iter().collect();
    let additional = Some(AdditionalLoad { first_client, abandon_max: None });
    let inputs = LoadInputs { postgres: &targets, additional, ..*inputs };
    workload::prepare(&control, &inputs, seed ^ CONTROL_SEED).map(|it| Some(it.config))
}

/// Setup of the readers; `None` if the load contains no SQL, because it is not known how to read from its service.
fn reader_setup(setup: &Setup, rate: u32, client: ClientKind) -> Option<Setup> {
    let mut statements = setup.operations.iter().filter(|it| it.kind.is_sql());
    statements.next()?;
    let from_replicas = setup.operations.iter().any(|it| it.target == SqlTarget::Replica);
    let target = if from_replicas { SqlTarget::Replica } else { SqlTarget::Primary };
    let read = Operation { target, ..Operation::script("read", 1, "SELECT 1") };
    let mut reader = Setup { on_start: None, ..new_client_setup(setup, rate, vec![read]) };
    if client == ClientKind::Connected {
        let load = &mut reader.load;
        if let LoadModel::Open { max_in_flight, .. } = &mut load.model {
            *max_in_flight = CONNECTED_READERS;
        }
        load.reconnect = false;
        (load.timeout, load.connect_timeout) = (setup.load.timeout, setup.load.connect_timeout);
    }
    Some(reader)
}
