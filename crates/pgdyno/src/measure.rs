//! How do threads, clocks and channels become one measurement?

use crate::voice::Trouble;
use analysis::outage::Gaps;
use load::driver::{self, Address, Clock, Driven, Gate, Ground};
use load::ledger::{self, Drain, Tap};
use load::{Log, Said, Shard, Tally, Workload};
use model::{Interval, Measured, Nanos, Record};
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
pub struct Ready {
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
    pub fn suited(many: bool) -> Driver {
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
pub trait Watch {
    /// The window begins at this moment of the clock.
    fn begins(&mut self, _at: Nanos) {}
    /// Another second, all threads together; `began` is when the window did.
    fn tick(&mut self, _interval: &Interval, _began: Nanos) {}
    /// Called some hundred times per second, whatever happens.
    fn look(&mut self) {}
    /// What came after the last whole second.
    fn rest(&mut self, _interval: &Interval) {}
    fn said(&mut self, _said: Said) {}
    /// Records of one thread in the order of their ends. On a thread of its own while [`Ready::log`].
    fn log(&mut self, _thread: usize, _records: &[Record], _began: Nanos) {}
}

/// Why nothing was measured.
#[derive(Debug)]
pub enum Unmeasured {
    /// The system refused what a driver needs.
    System(io::Error),
    /// No client could connect; what was said of it went to the watcher.
    NobodyConnected,
    /// `stop` was set before the window began.
    Stopped,
}

/// How often the watcher is served.
const LOOK: Duration = Duration::from_millis(10);
/// Between the opening of the gate and the window, so that all threads see it in time.
const LEAD: Nanos = Nanos::from_millis(5);
/// Intervals of one thread under way to the watcher.
const INTERVALS: usize = 3;

/// What the threads tell a ledger through, and where it comes out: whoever empties it must do so before [`run_kept`] begins,
/// for threads wait until what they are about to use has been written. `system`: the servers' `system_identifier`.
pub fn taps(ready: &Ready, system: u64) -> (Vec<Tap>, Drain) {
    let work = &ready.work;
    let threads: Vec<_> = (0..work.plan().threads).map(|k| work.deal(k)).collect();
    ledger::taps(&threads, system)
}

/// Runs the workload on its threads; `stop` ends it early, and keeps what was measured until then.
pub fn run(
    ready: &Ready,
    clock: Clock,
    watch: &mut dyn Watch,
    stop: &AtomicBool,
) -> Result<Measured, Unmeasured> {
    run_kept(ready, Vec::new(), clock, watch, stop)
}

/// The same, telling a ledger of every write with a key: by the [`taps`] of its threads, or none where there is no ledger. Its
/// moments are those of `clock`. When this returns, nothing more comes out.
pub fn run_kept(
    ready: &Ready,
    taps: Vec<Tap>,
    clock: Clock,
    watch: &mut dyn Watch,
    stop: &AtomicBool,
) -> Result<Measured, Unmeasured> {
    let mut taps = taps.into_iter();
    let threads = ready.work.plan().threads;
    let gate = Gate::new(usize::from(threads));
    let (says, said) = channel();
    thread::scope(|scope| {
        let mut lines = Vec::new();
        let mut handles = Vec::new();
        for k in 0..threads {
            let (line, mut tally) = Line::new(ready, k);
            lines.push(line);
            if let Some(mut tap) = taps.next() {
                // While clients connect: it is written long before the window begins.
                tap.prepare();
                tally = tally.with_ledger(tap);
            }
            let shard = Shard::new(ready.work.clone(), k, tally);
            let ground = Ground {
                postgres: &ready.postgres,
                services: &ready.services,
                clock,
                gate: &gate,
                stop,
                abandon: &ready.abandon,
                spin: ready.spin,
                says: says.clone(),
            };
            let name = thread::Builder::new().name(format!("load-{k}"));
            let driver = ready.driver;
            let handle = name.spawn_scoped(scope, move || match driver {
                Driver::Epoll => driver::epoll::drive(shard, &ground),
                Driver::IoUring => driver::uring::drive(shard, &ground),
            });
            handles.push(handle.map_err(Unmeasured::System)?);
        }
        let merged = ready.work.interval();
        let mut desk = Desk { lines, said, merged, gaps: Gaps::default(), watch };
        let began = desk.open_gate(&gate, &clock, stop, ready.work.plan().reconnect);
        let host = host::Watch::start();
        while !handles.iter().all(thread::ScopedJoinHandle::is_finished) {
            thread::sleep(LOOK);
            desk.serve(began.as_ref().copied().unwrap_or_default());
        }
        let driven: io::Result<Vec<Driven<Tally>>> =
            handles.into_iter().map(|it| it.join().expect("a driver does not panic")).collect();
        let driven = driven.map_err(Unmeasured::System)?;
        Ok(desk.close(driven, began?, clock, host))
    })
}

/// What runs between one thread and the watcher.
struct Line {
    filled: Receiver<Box<Interval>>,
    empty: SyncSender<Box<Interval>>,
    waiting: VecDeque<Box<Interval>>,
    log: Option<Batches>,
}

/// A thread's records on their way to the watcher, and emptied ones back.
struct Batches {
    filled: Receiver<Vec<Record>>,
    empty: SyncSender<Vec<Record>>,
}

impl Line {
    fn new(ready: &Ready, k: u16) -> (Line, Tally) {
        let (filled, take_filled) = sync_channel(INTERVALS);
        let (empty, take_empty) = sync_channel(INTERVALS);
        for _ in 0..INTERVALS {
            empty.send(Box::new(ready.work.interval())).expect("the channel has this much room");
        }
        let (line_log, tally_log) = if ready.log {
            let (filled, take_filled) = sync_channel(16);
            let (empty, take_empty) = sync_channel(16);
            (Some(Batches { filled: take_filled, empty }), Some(Log::new(filled, take_empty)))
        } else {
            (None, None)
        };
        let limit = ready.work.plan().latency_limit.unwrap_or(Nanos::MAX);
        let tally =
            Tally::new(ready.work.deal(k), ready.work.interval(), limit, filled, take_empty, tally_log);
        (Line { filled: take_filled, empty, waiting: VecDeque::new(), log: line_log }, tally)
    }
}

/// Where the threads' reports come together.
struct Desk<'a> {
    lines: Vec<Line>,
    said: Receiver<Said>,
    merged: Interval,
    gaps: Gaps,
    watch: &'a mut dyn Watch,
}

impl Desk<'_> {
    /// Waits until every client has been connected or refused, and opens the gate: the moment the window begins.
    fn open_gate(
        &mut self,
        gate: &Gate,
        clock: &Clock,
        stop: &AtomicBool,
        reconnect: bool,
    ) -> Result<Nanos, Unmeasured> {
        while !gate.is_settled() {
            if stop.load(Ordering::Relaxed) {
                return Err(Unmeasured::Stopped);
            }
            thread::sleep(Duration::from_millis(1));
            self.serve(Nanos::ZERO);
        }
        if gate.connected() == 0 && !reconnect {
            stop.store(true, Ordering::Relaxed);
            return Err(Unmeasured::NobodyConnected);
        }
        let began = clock.now() + LEAD;
        gate.open(began);
        self.watch.begins(began);
        Ok(began)
    }

    /// Passes on what has come.
    fn serve(&mut self, began: Nanos) {
        self.watch.look();
        while let Ok(said) = self.said.try_recv() {
            self.watch.said(said);
        }
        for (k, line) in self.lines.iter_mut().enumerate() {
            line.waiting.extend(line.filled.try_iter());
            if let Some(Batches { filled, empty }) = &line.log {
                for mut records in filled.try_iter() {
                    self.watch.log(k, &records, began);
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
            self.watch.tick(&second, began);
        }
    }

    /// Everything together.
    fn close(
        mut self,
        driven: Vec<Driven<Tally>>,
        began: Nanos,
        clock: Clock,
        host: host::Watch,
    ) -> Measured {
        let ends = driven.iter().map(|it| it.shard.ends()).max().expect("there is a thread");
        let ended = driven.iter().map(|it| it.ended).max().expect("there is a thread");
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
            self.watch.rest(&rest);
        }
        let seen = host.stop();
        let connecting = began - LEAD;
        let interval = Interval { from: began, to: began + window, ..self.merged };
        Measured {
            window,
            interval,
            outages: self.gaps.finish(window),
            clients,
            efforts,
            connecting,
            aborted,
            jitter: seen.jitter,
            suspended: seen.suspended,
            stolen: seen.stolen,
            exhausted,
        }
    }
}

/// Files that a thread needs beside its connections.
const OTHER_FILES: u64 = 16;

/// Asks for as many files as clients and threads need, if that is allowed without privilege; complains when it is not.
pub fn allow_files(clients: u32, threads: u16) -> Result<(), Trouble> {
    let needed = u64::from(clients) + u64::from(threads) * OTHER_FILES;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|it| it >= needed) {
        return Ok(());
    }
    if maximum.is_none_or(|it| it >= needed) {
        let raised = Rlimit { current: maximum.or(Some(needed)), maximum };
        return setrlimit(Resource::Nofile, raised)
            .map_err(|error| Trouble::new(format!("could not raise the limit of open files: {error}")));
    }
    let limit = maximum.unwrap_or_default();
    Err(Trouble::new(format!("need at least {needed} open files, but system limit is {limit}"))
        .hint("Reduce number of clients, or use limit/ulimit to increase the system limit."))
}

#[cfg(test)]
mod tests;
