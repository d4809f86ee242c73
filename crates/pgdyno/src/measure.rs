//! Measurement driver: threads, clocks and channels

use crate::cli::CommandError;
use analysis::facts::outage::OutageDetector;
use analysis::facts::statement_rows::EmptyStatementDetector;
use load::driver::{Address, Clock, DriveResult, Driver, DriverContext, StartGate};
use load::ledger::{self, LedgerConsumer, LedgerProducer};
use load::{IntervalRecorder, LoadEvent, Shard, TransactionLog, Workload};
use model::message::Message;
use model::{Interval, LatencyHistogram, Measurement, Nanos, Record, Sample, ThreadUsage};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use stack::client;
use stack::host;
use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

/// Configuration of a load run.
#[derive(Debug)]
pub struct LoadConfig {
    pub work: Arc<Workload>,
    /// Threads of the workload that this process runs: all of them, or an agent's share.
    pub threads: Range<u16>,
    /// Addresses of PostgreSQL, by endpoint and host. A second endpoint is for the replicas. Empty if the load contains
    /// no SQL.
    pub postgres: Vec<Vec<Address>>,
    /// Addresses of the HTTP services, in the workload's order.
    pub services: Vec<Address>,
    pub driver: Driver,
    /// Busy-wait time: a thread busy-waits instead of sleeping for this time before each due time.
    pub spin: Nanos,
    /// Minimum time between two wake-ups of a thread: see [`DriverContext::slack`].
    pub slack: Nanos,
    /// True if the listener receives every record.
    pub log: bool,
    /// Flag that ends the run and cancels transactions in flight.
    pub abandon: Arc<AtomicBool>,
}

/// Part of a load that a process generates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadPart {
    #[default]
    All,
    /// Part of agent number `agent` of `agents`.
    Agent { agent: u16, agents: u16 },
    /// Nothing, because `agents` agents generate the load.
    Coordinator { agents: u16 },
}

impl LoadPart {
    /// Number of threads of all processes together: at least one for each agent.
    pub fn thread_count(self, requested: u16) -> u16 {
        match self {
            LoadPart::All => requested,
            LoadPart::Agent { agents, .. } | LoadPart::Coordinator { agents } => requested.max(agents),
        }
    }

    /// Threads of this process, of `threads` threads. The shares of agents differ by at most one.
    pub fn threads(self, threads: u16) -> Range<u16> {
        match self {
            LoadPart::All => 0..threads,
            LoadPart::Coordinator { .. } => 0..0,
            LoadPart::Agent { agent, agents } => {
                let bound = |agent: u16| (u32::from(threads) * u32::from(agent) / u32::from(agents)) as u16;
                bound(agent)..bound(agent + 1)
            }
        }
    }

    /// Number of clients of this process, of `clients` clients on `threads` threads.
    pub fn client_count(self, clients: u32, threads: u16) -> u32 {
        // As in pgbench, the first threads have one client more.
        let (each, more) = (clients / u32::from(threads), clients % u32::from(threads));
        let before = |thread: u16| u32::from(thread) * each + u32::from(thread).min(more);
        let range = self.threads(threads);
        before(range.end) - before(range.start)
    }
}

/// Listener for the events of a measurement. [`run`] calls it on its caller's thread.
pub trait LoadListener {
    /// Called when all clients were connected or refused, and again every millisecond until it returns the start of the
    /// window, by the run's clock. `connected` is the number of connected clients.
    fn start_time(&mut self, _connected: u32, now: Nanos) -> Option<Nanos> {
        Some(now + START_DELAY)
    }
    /// Called when the start time of the window is known. The argument is this time by the run's clock.
    fn on_begin(&mut self, _at: Nanos) {}
    /// Called with each second, after the data of all threads were merged. `start` is the start of the window.
    fn on_tick(&mut self, _interval: &Interval, _start: Nanos) {}
    /// Called with samples that agents measured, before the tick of their second.
    fn on_samples(&mut self, _samples: Vec<Sample>) {}
    /// Called about a hundred times per second.
    fn poll(&mut self) {}
    /// Called with the partial second at the end of the measurement.
    fn on_rest(&mut self, _interval: &Interval) {}
    fn on_event(&mut self, _event: LoadEvent) {}
    /// Called with records of one thread, in the order of their ends, if [`LoadConfig::log`] is set.
    fn on_records(&mut self, _thread: usize, _records: &[Record], _start: Nanos) {}
}

/// Listener that discards the events.
#[derive(Debug)]
pub struct IgnoreEvents;

impl LoadListener for IgnoreEvents {}

/// Reasons why nothing was measured.
#[derive(Debug)]
pub enum MeasureError {
    /// The operating system did not provide a resource that a driver requires.
    System(io::Error),
    /// No client could connect. The listener received the errors.
    NoClientConnected,
    /// `stop` was set before the window began.
    Stopped,
    /// The agents could not measure, for this reason.
    Agents(Message),
}

/// Interval at which the listener is called.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Time from the opening of the gate to the start of the window. Within this time, all threads notice the start.
const START_DELAY: Nanos = Nanos::from_millis(5);
/// Maximum number of a thread's intervals that the listener has not received yet.
const INTERVALS_IN_FLIGHT: usize = 3;

impl LoadConfig {
    /// True if other processes run further threads of the workload.
    fn is_share(&self) -> bool {
        self.threads.len() < usize::from(self.work.plan().threads)
    }
}

/// Address of a server in the form of the load.
pub fn load_address(address: &client::Address) -> Address {
    match address {
        client::Address::Unix(path) => Address::Unix(path.clone()),
        client::Address::Tcp(it) => Address::Tcp(*it),
    }
}

/// Creates a ledger producer for each thread of the loads, in their order, and their consumer. The consumer must be drained while
/// [`run_with_ledger`] runs, because threads block until their reservations are written. `system` is the servers'
/// `system_identifier`.
pub fn taps(loads: &[&LoadConfig], system: u64) -> (Vec<LedgerProducer>, LedgerConsumer) {
    let clients = |load: &&LoadConfig| {
        let work = Arc::clone(&load.work);
        (0..work.plan().threads).map(move |k| work.clients_of_thread(k))
    };
    let threads: Vec<_> = loads.iter().flat_map(clients).collect();
    ledger::ledger_channel(&threads, system)
}

/// Runs the workload on its threads. `stop` ends the load early; the results so far are returned.
pub fn run(
    ready: &LoadConfig,
    clock: Clock,
    watch: &mut dyn LoadListener,
    stop: &AtomicBool,
) -> Result<Measurement, MeasureError> {
    run_with_ledger(ready, Vec::new(), clock, watch, stop)
}

/// Runs the workload like [`run`], and records every keyed write in a ledger. `taps` are the producers from [`taps`],
/// or empty without a ledger. Times in the ledger are readings of `clock`. After this function returns, no entry
/// follows.
pub fn run_with_ledger(
    ready: &LoadConfig,
    taps: Vec<LedgerProducer>,
    clock: Clock,
    watch: &mut dyn LoadListener,
    stop: &AtomicBool,
) -> Result<Measurement, MeasureError> {
    let mut taps = taps.into_iter();
    let begun = clock.now();
    let gate = StartGate::new(ready.threads.len());
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        let mut lines = Vec::new();
        let mut handles = Vec::new();
        for k in ready.threads.clone() {
            let (line, mut recorder) = ThreadChannel::new(ready, k);
            lines.push(line);
            if let Some(mut tap) = taps.next() {
                // Reserve sequence numbers while clients connect, long before the window begins.
                tap.prepare();
                recorder = recorder.with_ledger(tap);
            }
            let shard = Shard::new(ready.work.clone(), k, recorder);
            let ground = DriverContext {
                postgres: &ready.postgres,
                services: &ready.services,
                clock,
                gate: &gate,
                stop,
                abandon: &ready.abandon,
                spin: ready.spin,
                slack: ready.slack,
                events: sender.clone(),
            };
            let name = thread::Builder::new().name(format!("load-{k}"));
            let driver = ready.driver;
            let handle = name.spawn_scoped(scope, move || driver.drive_measured(shard, &ground));
            handles.push(handle.map_err(MeasureError::System)?);
        }
        let mut collector = Collector {
            lines,
            first_thread: usize::from(ready.threads.start),
            events: receiver,
            totals: Totals::new(&ready.work),
            listener: watch,
        };
        let needs_client = !ready.work.plan().reconnect && !ready.is_share();
        let start = collector.open_gate(&gate, &clock, stop, needs_client);
        let host = host::HostMonitor::start();
        while !handles.iter().all(thread::ScopedJoinHandle::is_finished) {
            thread::sleep(POLL_INTERVAL);
            collector.serve(start.as_ref().map(|it| it.window).unwrap_or_default());
        }
        let driven: io::Result<Vec<DriveResult<IntervalRecorder>>> =
            handles.into_iter().map(|it| it.join().expect("a driver does not panic")).collect();
        let driven = driven.map_err(MeasureError::System)?;
        Ok(collector.close(driven, (begun, &start?), clock, host))
    })
}

/// Channels between one thread and the listener.
struct ThreadChannel {
    filled: Receiver<Box<Interval>>,
    empty: SyncSender<Box<Interval>>,
    waiting: VecDeque<Box<Interval>>,
    log: Option<RecordChannel>,
}

/// Channels that pass a thread's records to the listener, and return the empty buffers.
struct RecordChannel {
    filled: Receiver<Vec<Record>>,
    empty: SyncSender<Vec<Record>>,
}

impl ThreadChannel {
    fn new(ready: &LoadConfig, k: u16) -> (ThreadChannel, IntervalRecorder) {
        let (filled, take_filled) = sync_channel(INTERVALS_IN_FLIGHT);
        let (empty, take_empty) = sync_channel(INTERVALS_IN_FLIGHT);
        for _ in 0..INTERVALS_IN_FLIGHT {
            empty.send(Box::new(ready.work.interval())).expect("the channel has this much room");
        }
        let (line_log, tally_log) = if ready.log {
            let (filled, take_filled) = sync_channel(16);
            let (empty, take_empty) = sync_channel(16);
            (
                Some(RecordChannel { filled: take_filled, empty }),
                Some(TransactionLog::new(filled, take_empty)),
            )
        } else {
            (None, None)
        };
        let limit = ready.work.plan().latency_limit.unwrap_or(Nanos::MAX);
        let recorder = IntervalRecorder::new(
            ready.work.clients_of_thread(k),
            ready.work.interval(),
            limit,
            filled,
            take_empty,
            tally_log,
        );
        (ThreadChannel { filled: take_filled, empty, waiting: VecDeque::new(), log: line_log }, recorder)
    }
}

/// Merged measurement of all seconds so far.
#[derive(Debug)]
pub struct Totals {
    merged: Interval,
    gaps: OutageDetector,
    empty_statements: EmptyStatementDetector,
}

impl Totals {
    pub fn new(work: &Workload) -> Totals {
        Totals {
            merged: work.interval(),
            gaps: OutageDetector::default(),
            empty_statements: EmptyStatementDetector::default(),
        }
    }

    /// Adds one second, or the rest at the end, of all threads together.
    pub fn add(&mut self, second: &Interval) {
        self.merged.merge(second);
        self.gaps.second(second);
        self.empty_statements.second(&second.answers);
    }

    /// Measurement of the window that began at `start`. `process` has everything that is not counted in intervals.
    pub fn finish(self, start: Nanos, process: ProcessMeasurement) -> Measurement {
        let window = process.window;
        Measurement {
            window,
            interval: Interval { from: start, to: start + window, ..self.merged },
            outages: self.gaps.finish(window),
            empty_statements: self.empty_statements.finish(),
            clients: process.clients,
            thread_usage: process.thread_usage,
            connect_time: process.connect_time,
            aborted_clients: process.aborted_clients,
            jitter: process.jitter,
            suspended: process.suspended,
            steal_time: process.steal_time,
            exhausted_connects: process.exhausted_connects,
        }
    }
}

/// Part of a [`Measurement`] that a process measures besides its intervals; the fields have the same meaning.
#[derive(Clone, Debug)]
pub struct ProcessMeasurement {
    pub window: Nanos,
    pub clients: Vec<u64>,
    pub thread_usage: Vec<ThreadUsage>,
    pub connect_time: Nanos,
    pub aborted_clients: u32,
    pub jitter: LatencyHistogram,
    pub suspended: Nanos,
    pub steal_time: Option<Nanos>,
    pub exhausted_connects: u64,
}

/// Times at which a load begins, by the run's clock.
struct LoadStart {
    /// Time at which all clients had been connected or refused.
    settled: Nanos,
    window: Nanos,
}

/// Collects and merges the reports of the threads.
struct Collector<'a> {
    lines: Vec<ThreadChannel>,
    /// Number of the first thread among those of all processes.
    first_thread: usize,
    events: Receiver<LoadEvent>,
    totals: Totals,
    listener: &'a mut dyn LoadListener,
}

impl Collector<'_> {
    /// Waits until every client is connected or refused, and opens the gate. With `needs_client`, fails if no client is
    /// connected.
    fn open_gate(
        &mut self,
        gate: &StartGate,
        clock: &Clock,
        stop: &AtomicBool,
        needs_client: bool,
    ) -> Result<LoadStart, MeasureError> {
        self.wait_until(stop, |_| gate.is_settled().then_some(()))?;
        // The reason for the last refusal may have arrived after the last look.
        self.serve(Nanos::ZERO);
        let (connected, settled) = (gate.connected(), clock.now());
        if connected == 0 && needs_client {
            stop.store(true, Ordering::Relaxed);
            return Err(MeasureError::NoClientConnected);
        }
        let window = self.wait_until(stop, |listener| listener.start_time(connected, clock.now()))?;
        gate.open(window);
        self.listener.on_begin(window);
        Ok(LoadStart { settled, window })
    }

    /// Calls `ready` every millisecond until it returns a value. Meanwhile, reports are passed on to the listener.
    fn wait_until<T>(
        &mut self,
        stop: &AtomicBool,
        ready: impl Fn(&mut dyn LoadListener) -> Option<T>,
    ) -> Result<T, MeasureError> {
        loop {
            if let Some(value) = ready(self.listener) {
                return Ok(value);
            }
            if stop.load(Ordering::Relaxed) {
                return Err(MeasureError::Stopped);
            }
            thread::sleep(Duration::from_millis(1));
            self.serve(Nanos::ZERO);
        }
    }

    /// Passes pending reports on to the listener.
    fn serve(&mut self, start: Nanos) {
        self.listener.poll();
        while let Ok(event) = self.events.try_recv() {
            self.listener.on_event(event);
        }
        for (k, line) in self.lines.iter_mut().enumerate() {
            line.waiting.extend(line.filled.try_iter());
            if let Some(RecordChannel { filled, empty }) = &line.log {
                for mut records in filled.try_iter() {
                    self.listener.on_records(self.first_thread + k, &records, start);
                    records.clear();
                    // Ignore a thread that has ended, because it needs no buffer.
                    let _ = empty.try_send(records);
                }
            }
        }
        // A second is complete when all threads have reported it.
        while self.lines.iter().all(|it| !it.waiting.is_empty()) {
            let mut second: Option<Box<Interval>> = None;
            for line in &mut self.lines {
                let mut part = line.waiting.pop_front().expect("looked above");
                match &mut second {
                    None => second = Some(part.clone()),
                    Some(second) => second.merge(&part),
                }
                part.clear();
                let _ = line.empty.try_send(part);
            }
            let second = second.expect("there is a thread");
            self.totals.add(&second);
            self.listener.on_tick(&second, start);
        }
    }

    /// Merges the results of all threads.
    fn close(
        mut self,
        driven: Vec<DriveResult<IntervalRecorder>>,
        (begun, start): (Nanos, &LoadStart),
        clock: Clock,
        host: host::HostMonitor,
    ) -> Measurement {
        let ends = driven.iter().map(|it| it.shard.window_end()).max().expect("there is a thread");
        let ended = driven.iter().map(|it| it.finished).max().expect("there is a thread");
        let window = if ends == Nanos::MAX { ended } else { ends.min(ended) } - start.window;
        let aborted_clients = driven.iter().map(|it| it.shard.aborted_clients()).sum();
        let exhausted_connects = driven.iter().map(|it| it.exhausted).sum();
        let thread_usage = driven.iter().map(|it| it.effort).collect();
        let mut clients = Vec::new();
        let mut last_intervals = Vec::new();
        for thread in driven {
            let (interval, counts) = thread.shard.recorder.finish(clock.now());
            clients.extend(counts);
            last_intervals.push(interval);
        }
        self.serve(start.window);
        let left = self.lines.iter_mut().flat_map(|it| it.waiting.drain(..)).chain(last_intervals);
        let rest = left.reduce(|mut all, interval| {
            all.merge(&interval);
            all
        });
        if let Some(rest) = rest {
            self.totals.add(&rest);
            self.listener.on_rest(&rest);
        }
        let host_report = host.stop();
        let process = ProcessMeasurement {
            window,
            clients,
            thread_usage,
            connect_time: start.settled - begun,
            aborted_clients,
            jitter: host_report.jitter,
            suspended: host_report.suspended,
            steal_time: host_report.stolen,
            exhausted_connects,
        };
        self.totals.finish(start.window, process)
    }
}

/// File descriptors that a thread needs besides its connections.
const OTHER_FILES: u64 = 16;

/// Raises the soft limit on open files to the number that connections and threads need. Fails if the hard limit is too
/// low.
pub fn raise_file_limit(connections: u32, threads: u16) -> Result<(), CommandError> {
    let needed = u64::from(connections) + u64::from(threads) * OTHER_FILES;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|it| it >= needed) {
        return Ok(());
    }
    if maximum.is_none_or(|it| it >= needed) {
        let raised = Rlimit { current: maximum.or(Some(needed)), maximum };
        return setrlimit(Resource::Nofile, raised)
            .map_err(|error| CommandError::new(format!("could not raise the limit of open files: {error}")));
    }
    let limit = maximum.unwrap_or_default();
    Err(CommandError::new(format!("need at least {needed} open files, but system limit is {limit}"))
        .with_hint("Reduce number of clients, or use limit/ulimit to increase the system limit."))
}

#[cfg(test)]
mod tests;
