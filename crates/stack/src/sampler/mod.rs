//! How is every part of the stack doing, from now until we are told to stop?
//!
//! One thread for each server that is asked, so that one that hangs holds nobody up, and one for all files. They are of
//! low priority, have sessions of their own, and never wait for whoever takes the observations.

mod local;
mod session;

use crate::chain::{RunningNode, with_path};
use crate::client::Target;
use crate::limits::Group;
use crate::probe::{Probe, ProbeRequest, ProbeTarget, Reading};
use crate::supervisor::Supervisor;
use model::plan::{self, AttachedRole};
use model::{LogEvent, Nanos, Sample};
use rustix::time::{ClockId, clock_gettime};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::atomic::AtomicU32;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wire::http::Url;

/// Something to watch. What is `None` is not watched.
#[derive(Clone, Debug)]
pub struct SamplingTarget {
    /// The node's name in samples and events.
    pub node: String,
    pub kind: SamplingTargetKind,
    /// Where PostgreSQL, or the console of a pooler, answers, and as whom we ask. Never through a pooler.
    pub target: Option<Target>,
    /// HAProxy's, as a file.
    pub stats_socket: Option<PathBuf>,
    /// A service's, as `services/README.md` has it.
    pub stats_page: Option<Url>,
    /// The node's own process; its descendants belong to it. Whoever restarts the node stores the new number; 0: none.
    pub pid: Option<Arc<AtomicU32>>,
    /// That process only waits, and what it began is the node: see [`Supervisor::is_apart`].
    pub apart: bool,
    /// The control group that the node runs in; its processes are then all of the node's.
    pub group: Option<Group>,
    /// A file to which the node's log is written.
    pub log: Option<PathBuf>,
}

/// What a [`Point`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SamplingTargetKind {
    Host,
    Generator,
    Postgres,
    PgBouncer,
    Odyssey,
    HaProxy,
    Service,
}

/// What was seen, or could not be.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// All readings of one answer.
    Samples(Vec<Sample>),
    Event(LogEvent),
    /// Told once for a probe of a node. `probe` is `connection` where the server cannot be asked at all, `log` for that.
    Missing {
        node: String,
        probe: &'static str,
        reason: String,
    },
}

/// Watches until it is stopped; dropped, it stops and forgets what it cost.
#[derive(Debug)]
pub struct Sampler {
    threads: Vec<JoinHandle<ThreadCost>>,
    stop: Arc<StopSignal>,
    started: Instant,
}

/// What watching has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SamplingCost {
    /// How long it lasted.
    pub wall: Nanos,
    /// Processor time of our own threads.
    pub own_cpu: Nanos,
    /// Processor time of the sessions that answered us in PostgreSQL servers of this machine. Zero for others'; what the
    /// consoles of poolers and balancers cost cannot be told from their work.
    pub server_cpu: Nanos,
}

impl SamplingTarget {
    /// This machine.
    pub fn host() -> SamplingTarget {
        SamplingTarget::new("host", SamplingTargetKind::Host)
    }

    /// This process.
    pub fn generator() -> SamplingTarget {
        let pid = Some(Arc::new(AtomicU32::new(std::process::id())));
        SamplingTarget { pid, ..SamplingTarget::new("generator", SamplingTargetKind::Generator) }
    }

    /// A node of a chain. PostgreSQL is asked in `database`, the application's: some of its figures are of one database.
    pub fn for_running(running: &RunningNode, database: &str, supervisor: &Supervisor) -> SamplingTarget {
        let kind = match &running.plan.kind {
            plan::NodeKind::Postgres(_) => SamplingTargetKind::Postgres,
            plan::NodeKind::PgBouncer(_) => SamplingTargetKind::PgBouncer,
            plan::NodeKind::Odyssey(_) => SamplingTargetKind::Odyssey,
            plan::NodeKind::HaProxy(_) => SamplingTargetKind::HaProxy,
            plan::NodeKind::Service(_) => SamplingTargetKind::Service,
            plan::NodeKind::Attached(it) => match it.role {
                AttachedRole::Postgres => SamplingTargetKind::Postgres,
                AttachedRole::PgBouncer => SamplingTargetKind::PgBouncer,
                AttachedRole::Odyssey => SamplingTargetKind::Odyssey,
                AttachedRole::Balancer => SamplingTargetKind::HaProxy,
            },
        };
        let of_postgres = |it: &Target| {
            if kind == SamplingTargetKind::Postgres { it.in_database(database) } else { it.clone() }
        };
        let stats_page = match &running.plan.kind {
            plan::NodeKind::Service(it) => {
                running.url.as_ref().zip(it.stats_path.as_deref()).map(|(url, path)| with_path(url, path))
            }
            _ => None,
        };
        SamplingTarget {
            target: running.admin.as_ref().map(of_postgres),
            stats_socket: running.statistics.clone(),
            stats_page,
            pid: running.node.and_then(|it| supervisor.pid_handle(it)),
            apart: running.node.is_some_and(|it| supervisor.is_isolated(it)),
            group: running.node.and_then(|it| supervisor.group(it)).cloned(),
            log: running.log.clone(),
            ..SamplingTarget::new(&running.plan.name, kind)
        }
    }

    /// A node of which nothing is known yet.
    pub fn new(node: &str, kind: SamplingTargetKind) -> SamplingTarget {
        let (target, stats_socket, stats_page, pid, group, log) = (None, None, None, None, None, None);
        let (node, apart) = (node.to_owned(), false);
        SamplingTarget { node, kind, target, stats_socket, stats_page, pid, apart, group, log }
    }
}

impl SamplingTargetKind {
    /// What the probes of its server or console are for.
    fn probe_target(self) -> Option<ProbeTarget> {
        match self {
            SamplingTargetKind::Postgres => Some(ProbeTarget::Postgres),
            SamplingTargetKind::PgBouncer => Some(ProbeTarget::PgBouncer),
            SamplingTargetKind::Odyssey => Some(ProbeTarget::Odyssey),
            SamplingTargetKind::HaProxy => Some(ProbeTarget::HaProxy),
            SamplingTargetKind::Service => Some(ProbeTarget::Service),
            SamplingTargetKind::Host | SamplingTargetKind::Generator => None,
        }
    }
}

impl Sampler {
    /// Begins to watch. `now` is the clock of the run; observations go to `out` without waiting, in the order of time for
    /// each node and probe. Logs are followed from their present end.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the receiver ends with the last sender, which is ours"
    )]
    pub fn start(
        points: Vec<SamplingTarget>,
        now: impl Fn() -> Nanos + Send + Clone + 'static,
        out: Sender<Observation>,
    ) -> Sampler {
        let stop = Arc::new(StopSignal::default());
        let mut threads = Vec::new();
        let mut spawn = |name: String, run: Box<dyn FnOnce(&StopSignal) -> Nanos + Send>| {
            let stop = Arc::clone(&stop);
            let body = move || {
                // Whoever is measured comes first. Being refused that is no reason to see nothing.
                let _ = rustix::process::nice(5);
                let servers = run(&stop);
                ThreadCost { ours: nanos(clock_gettime(ClockId::ThreadCPUTime)), servers }
            };
            let thread = std::thread::Builder::new().name(name).spawn(body);
            threads.push(thread.expect("the system has room for a thread"));
        };
        for point in &points {
            let Some(on) = point.kind.probe_target() else { continue };
            let desk = Collector::new(&point.node, now.clone(), out.clone());
            if let Some(target) = point.target.clone() {
                let run = move |stop: &StopSignal| session::run(&target, on, desk, stop);
                spawn(format!("ask {}", point.node), Box::new(run));
            } else if let Some(socket) = point.stats_socket.clone() {
                let ask = move |question| match question {
                    ProbeRequest::Stats(command) => Some(session::stats(&socket, command)),
                    _ => None,
                };
                let run = move |stop: &StopSignal| session::run_texts(&ask, on, desk, stop);
                spawn(format!("ask {}", point.node), Box::new(run));
            } else if let Some(url) = point.stats_page.clone() {
                let ask = move |question| (question == ProbeRequest::Page).then(|| session::page(&url));
                let run = move |stop: &StopSignal| session::run_texts(&ask, on, desk, stop);
                spawn(format!("ask {}", point.node), Box::new(run));
            }
        }
        let watched: Vec<(SamplingTarget, Collector)> = points
            .into_iter()
            .map(|it| {
                let desk = Collector::new(&it.node, now.clone(), out.clone());
                (it, desk)
            })
            .collect();
        // Opened here, so that nothing written from now on is missed.
        let local = local::LocalSampler::new(watched);
        spawn("watch files".to_owned(), Box::new(move |stop: &StopSignal| local.run(stop)));
        Sampler { threads, stop, started: Instant::now() }
    }

    /// Asks everything a last time and ends. A server that hangs delays it by at most two seconds.
    pub fn stop(mut self) -> SamplingCost {
        let mut cost = self.end();
        cost.wall = self.started.elapsed().into();
        cost
    }

    fn end(&mut self) -> SamplingCost {
        self.stop.set();
        let mut cost = SamplingCost::default();
        for thread in self.threads.drain(..) {
            let spent = thread.join().unwrap_or_else(|it| std::panic::resume_unwind(it));
            cost.own_cpu += spent.ours;
            cost.server_cpu += spent.servers;
        }
        cost
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        if !self.threads.is_empty() {
            self.end();
        }
    }
}

impl SamplingCost {
    /// Of one processor, 0 and more: 0.01 is one per cent.
    pub fn cpu_share(&self) -> f64 {
        if self.wall == Nanos::ZERO {
            return 0.0;
        }
        (self.own_cpu + self.server_cpu).as_secs_f64() / self.wall.as_secs_f64()
    }
}

/// What one thread has cost.
#[derive(Clone, Copy, Debug)]
struct ThreadCost {
    ours: Nanos,
    servers: Nanos,
}

/// Wakes every thread at once.
#[derive(Debug, Default)]
struct StopSignal {
    set: Mutex<bool>,
    wake: Condvar,
}

impl StopSignal {
    fn set(&self) {
        *self.set.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.wake.notify_all();
    }

    fn is_set(&self) -> bool {
        *self.set.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the moment or the end, whichever comes first.
    fn wait(&self, until: Instant) {
        let set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        let left = until.saturating_duration_since(Instant::now());
        drop(self.wake.wait_timeout_while(set, left, |set| !*set));
    }
}

/// Where a thread hands in what it saw of one node.
struct Collector {
    node: String,
    now: Box<dyn Fn() -> Nanos + Send>,
    out: Sender<Observation>,
    /// Probes that are known to be missing.
    reported_missing: Vec<&'static str>,
}

impl Collector {
    fn new(node: &str, now: impl Fn() -> Nanos + Send + 'static, out: Sender<Observation>) -> Collector {
        Collector { node: node.to_owned(), now: Box::new(now), out, reported_missing: Vec::new() }
    }

    fn now(&self) -> Nanos {
        (self.now)()
    }

    fn samples(&self, at: Nanos, readings: Vec<Reading>) {
        let sample = |it: Reading| Sample {
            at,
            node: Cow::Owned(self.node.clone()),
            series: Cow::Borrowed(it.series.name),
            label: Cow::Owned(it.label),
            value: it.value,
        };
        if !readings.is_empty() {
            self.send(Observation::Samples(readings.into_iter().map(sample).collect()));
        }
    }

    fn missing(&mut self, probe: &'static str, why: impl FnOnce() -> String) {
        if !self.reported_missing.contains(&probe) {
            self.reported_missing.push(probe);
            self.send(Observation::Missing { node: self.node.clone(), probe, reason: why() });
        }
    }

    /// Nobody listening any more is no mistake of ours.
    fn send(&self, observation: Observation) {
        let _ = self.out.send(observation);
    }
}

/// A probe and when it is to be asked next.
struct DueProbe {
    probe: &'static Probe,
    ask: ProbeRequest,
    next: Instant,
    /// It was refused: not to be asked again.
    disabled: bool,
}

/// Answers of more rows, or nodes of more processes, are asked for less often, so that the cost does not grow with them.
const CHEAP_ROWS: usize = 250;

impl DueProbe {
    /// The probes that a server of this version can answer, due at once.
    fn all(on: ProbeTarget, version: u32) -> Vec<DueProbe> {
        let now = Instant::now();
        let its = crate::probe::ALL.iter().filter(|it| it.target == on);
        its.filter_map(|&probe| {
            Some(DueProbe { probe, ask: (probe.request)(version)?, next: now, disabled: false })
        })
        .collect()
    }

    /// After an answer of `size` rows or processes: moments that have passed are left out.
    fn asked(&mut self, size: usize) {
        let step = self.probe.period * (size / CHEAP_ROWS + 1) as u32;
        let now = Instant::now();
        self.next = if self.next + step > now { self.next + step } else { now + step };
    }

    fn postpone(&mut self, pause: Duration) {
        self.next = Instant::now() + pause;
    }
}

fn nanos(it: rustix::time::Timespec) -> Nanos {
    Nanos(it.tv_sec as u64 * 1_000_000_000 + it.tv_nsec as u64)
}
