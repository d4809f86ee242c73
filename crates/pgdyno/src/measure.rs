//! How do threads, clocks and channels become one measurement?

use crate::cli::CommandError;
use analysis::outage::OutageDetector;
use load::driver::{self, Address, Clock, DriveResult, DriverContext, StartGate};
use load::ledger::{self, LedgerConsumer, LedgerProducer};
use load::{IntervalRecorder, LoadEvent, Shard, TransactionLog, Workload};
use model::{Interval, Measurement, Nanos, Record};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use stack::host;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

/// Everything a run needs, found out beforehand.
#[derive(Debug)]
pub struct LoadConfig {
    pub work: Arc<Workload>,
    /// Where PostgreSQL listens, by door and host: one, or a second for the replicas; none if it is not asked.
    pub postgres: Vec<Vec<Address>>,
    /// Where the HTTP services listen, in the workload's order.
    pub services: Vec<Address>,
    pub driver: Driver,
    /// This long before a due moment, waiting becomes spinning.
    pub spin: Nanos,
    /// Every record is told to the watcher.
    pub log: bool,
    /// Set to end the run without waiting for what is under way, which is cancelled.
    pub abandon: Arc<AtomicBool>,
}

/// Which of the drivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    Epoll,
    IoUring,
}

impl Driver {
    /// io_uring pays where answers come many at a time, in a closed model. Where arrivals come one by one, or each brings
    /// a connection of its own, epoll sends sooner; measured, see docs/bench.md.
    pub fn for_load(many: bool) -> Driver {
        if many && driver::uring::is_available() { Driver::IoUring } else { Driver::Epoll }
    }

    /// As reports name it.
    pub fn name(self) -> &'static str {
        match self {
            Driver::Epoll => "epoll",
            Driver::IoUring => "io_uring",
        }
    }
}

/// Told what happens while it happens, on the thread that called [`run`].
pub trait LoadListener {
    /// The window begins at this moment of the clock.
    fn on_begin(&mut self, _at: Nanos) {}
    /// Another second, all threads together; `began` is when the window did.
    fn on_tick(&mut self, _interval: &Interval, _began: Nanos) {}
    /// Called some hundred times per second, whatever happens.
    fn poll(&mut self) {}
    /// What came after the last whole second.
    fn on_rest(&mut self, _interval: &Interval) {}
    fn on_event(&mut self, _said: LoadEvent) {}
    /// Records of one thread in the order of their ends. On a thread of its own while [`Ready::log`].
    fn on_records(&mut self, _thread: usize, _records: &[Record], _began: Nanos) {}
}

/// Why nothing was measured.
#[derive(Debug)]
pub enum MeasureError {
    /// The system refused what a driver needs.
    System(io::Error),
    /// No client could connect; what was said of it went to the watcher.
    NoClientConnected,
    /// `stop` was set before the window began.
    Stopped,
}

/// How often the watcher is served.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Between the opening of the gate and the window, so that all threads see it in time.
const START_DELAY: Nanos = Nanos::from_millis(5);
/// Intervals of one thread under way to the watcher.
const INTERVALS_IN_FLIGHT: usize = 3;

/// What the threads tell a ledger through, and where it comes out: whoever empties it must do so before [`run_kept`] begins,
/// for threads wait until what they are about to use has been written. `system`: the servers' `system_identifier`.
pub fn taps(ready: &LoadConfig, system: u64) -> (Vec<LedgerProducer>, LedgerConsumer) {
    let work = &ready.work;
    let threads: Vec<_> = (0..work.plan().threads).map(|k| work.clients_of_thread(k)).collect();
    ledger::ledger_channel(&threads, system)
}

/// Runs the workload on its threads; `stop` ends it early, and keeps what was measured until then.
pub fn run(
    ready: &LoadConfig,
    clock: Clock,
    watch: &mut dyn LoadListener,
    stop: &AtomicBool,
) -> Result<Measurement, MeasureError> {
    run_with_ledger(ready, Vec::new(), clock, watch, stop)
}

/// The same, telling a ledger of every write with a key: by the [`taps`] of its threads, or none where there is no ledger. Its
/// moments are those of `clock`. When this returns, nothing more comes out.
pub fn run_with_ledger(
    ready: &LoadConfig,
    taps: Vec<LedgerProducer>,
    clock: Clock,
    watch: &mut dyn LoadListener,
    stop: &AtomicBool,
) -> Result<Measurement, MeasureError> {
    let mut taps = taps.into_iter();
    let threads = ready.work.plan().threads;
    let gate = StartGate::new(usize::from(threads));
    let (says, said) = channel();
    thread::scope(|scope| {
        let mut lines = Vec::new();
        let mut handles = Vec::new();
        for k in 0..threads {
            let (line, mut tally) = ThreadChannel::new(ready, k);
            lines.push(line);
            if let Some(mut tap) = taps.next() {
                // While clients connect: it is written long before the window begins.
                tap.prepare();
                tally = tally.with_ledger(tap);
            }
            let shard = Shard::new(ready.work.clone(), k, tally);
            let ground = DriverContext {
                postgres: &ready.postgres,
                services: &ready.services,
                clock,
                gate: &gate,
                stop,
                abandon: &ready.abandon,
                spin: ready.spin,
                events: says.clone(),
            };
            let name = thread::Builder::new().name(format!("load-{k}"));
            let driver = ready.driver;
            let handle = name.spawn_scoped(scope, move || match driver {
                Driver::Epoll => driver::epoll::drive(shard, &ground),
                Driver::IoUring => driver::uring::drive(shard, &ground),
            });
            handles.push(handle.map_err(MeasureError::System)?);
        }
        let merged = ready.work.interval();
        let mut desk =
            Collector { lines, events: said, merged, gaps: OutageDetector::default(), listener: watch };
        let began = desk.open_gate(&gate, &clock, stop, ready.work.plan().reconnect);
        let host = host::HostMonitor::start();
        while !handles.iter().all(thread::ScopedJoinHandle::is_finished) {
            thread::sleep(POLL_INTERVAL);
            desk.serve(began.as_ref().copied().unwrap_or_default());
        }
        let driven: io::Result<Vec<DriveResult<IntervalRecorder>>> =
            handles.into_iter().map(|it| it.join().expect("a driver does not panic")).collect();
        let driven = driven.map_err(MeasureError::System)?;
        Ok(desk.close(driven, began?, clock, host))
    })
}

/// What runs between one thread and the watcher.
struct ThreadChannel {
    filled: Receiver<Box<Interval>>,
    empty: SyncSender<Box<Interval>>,
    waiting: VecDeque<Box<Interval>>,
    log: Option<RecordChannel>,
}

/// A thread's records on their way to the watcher, and emptied ones back.
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
        let tally = IntervalRecorder::new(
            ready.work.clients_of_thread(k),
            ready.work.interval(),
            limit,
            filled,
            take_empty,
            tally_log,
        );
        (ThreadChannel { filled: take_filled, empty, waiting: VecDeque::new(), log: line_log }, tally)
    }
}

/// Where the threads' reports come together.
struct Collector<'a> {
    lines: Vec<ThreadChannel>,
    events: Receiver<LoadEvent>,
    merged: Interval,
    gaps: OutageDetector,
    listener: &'a mut dyn LoadListener,
}

impl Collector<'_> {
    /// Waits until every client has been connected or refused, and opens the gate: the moment the window begins.
    fn open_gate(
        &mut self,
        gate: &StartGate,
        clock: &Clock,
        stop: &AtomicBool,
        reconnect: bool,
    ) -> Result<Nanos, MeasureError> {
        while !gate.is_settled() {
            if stop.load(Ordering::Relaxed) {
                return Err(MeasureError::Stopped);
            }
            thread::sleep(Duration::from_millis(1));
            self.serve(Nanos::ZERO);
        }
        if gate.connected() == 0 && !reconnect {
            stop.store(true, Ordering::Relaxed);
            return Err(MeasureError::NoClientConnected);
        }
        let began = clock.now() + START_DELAY;
        gate.open(began);
        self.listener.on_begin(began);
        Ok(began)
    }

    /// Passes on what has come.
    fn serve(&mut self, began: Nanos) {
        self.listener.poll();
        while let Ok(said) = self.events.try_recv() {
            self.listener.on_event(said);
        }
        for (k, line) in self.lines.iter_mut().enumerate() {
            line.waiting.extend(line.filled.try_iter());
            if let Some(RecordChannel { filled, empty }) = &line.log {
                for mut records in filled.try_iter() {
                    self.listener.on_records(k, &records, began);
                    records.clear();
                    // A thread that has ended needs none back.
                    let _ = empty.try_send(records);
                }
            }
        }
        // A second is told once all threads have told theirs.
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
            self.merged.merge(&second);
            self.gaps.second(&*second);
            self.listener.on_tick(&second, began);
        }
    }

    /// Everything together.
    fn close(
        mut self,
        driven: Vec<DriveResult<IntervalRecorder>>,
        began: Nanos,
        clock: Clock,
        host: host::HostMonitor,
    ) -> Measurement {
        let ends = driven.iter().map(|it| it.shard.window_end()).max().expect("there is a thread");
        let ended = driven.iter().map(|it| it.finished).max().expect("there is a thread");
        let window = if ends == Nanos::MAX { ended } else { ends.min(ended) } - began;
        let aborted = driven.iter().map(|it| it.shard.aborted_clients()).sum();
        let exhausted = driven.iter().map(|it| it.exhausted).sum();
        let efforts = driven.iter().map(|it| it.effort).collect();
        let mut clients = Vec::new();
        let mut lasts = Vec::new();
        for it in driven {
            let (interval, counts) = it.shard.recorder.finish(clock.now());
            clients.extend(counts);
            lasts.push(interval);
        }
        self.serve(began);
        let left = self.lines.iter_mut().flat_map(|it| it.waiting.drain(..)).chain(lasts);
        let rest = left.reduce(|mut all, it| {
            all.merge(&it);
            all
        });
        if let Some(rest) = rest {
            self.merged.merge(&rest);
            self.gaps.second(&*rest);
            self.listener.on_rest(&rest);
        }
        let seen = host.stop();
        let connecting = began - START_DELAY;
        let interval = Interval { from: began, to: began + window, ..self.merged };
        Measurement {
            window,
            interval,
            outages: self.gaps.finish(window),
            clients,
            thread_usage: efforts,
            connect_time: connecting,
            aborted_clients: aborted,
            jitter: seen.jitter,
            suspended: seen.suspended,
            steal_time: seen.stolen,
            exhausted_connects: exhausted,
        }
    }
}

/// Files that a thread needs beside its connections.
const OTHER_FILES: u64 = 16;

/// Asks for as many files as clients and threads need, if that is allowed without privilege; complains when it is not.
pub fn raise_file_limit(clients: u32, threads: u16) -> Result<(), CommandError> {
    let needed = u64::from(clients) + u64::from(threads) * OTHER_FILES;
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
