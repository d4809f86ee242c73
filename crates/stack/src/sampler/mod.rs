//! How is every part of the stack doing, from now until we are told to stop?
//!
//! One thread for each server that is asked, so that one that hangs holds nobody up, and one for all files. They are of
//! low priority, have sessions of their own, and never wait for whoever takes the observations.

mod local;
mod session;

use crate::ask::Target;
use crate::chain::{Running, at};
use crate::limits::Group;
use crate::probe::{Ask, On, Probe, Reading};
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
pub struct Point {
    /// The node's name in samples and events.
    pub node: String,
    pub kind: Kind,
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
pub enum Kind {
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
        why: String,
    },
}

/// Watches until it is stopped; dropped, it stops and forgets what it cost.
#[derive(Debug)]
pub struct Sampler {
    threads: Vec<JoinHandle<Spent>>,
    stop: Arc<Stop>,
    started: Instant,
}

/// What watching has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// How long it lasted.
    pub wall: Nanos,
    /// Processor time of our own threads.
    pub ours: Nanos,
    /// Processor time of the sessions that answered us in PostgreSQL servers of this machine. Zero for others'; what the
    /// consoles of poolers and balancers cost cannot be told from their work.
    pub servers: Nanos,
}

impl Point {
    /// This machine.
    pub fn host() -> Point {
        Point::of("host", Kind::Host)
    }

    /// This process.
    pub fn generator() -> Point {
        let pid = Some(Arc::new(AtomicU32::new(std::process::id())));
        Point { pid, ..Point::of("generator", Kind::Generator) }
    }

    /// A node of a chain. PostgreSQL is asked in `database`, the application's: some of its figures are of one database.
    pub fn of_running(running: &Running, database: &str, supervisor: &Supervisor) -> Point {
        let kind = match &running.plan.kind {
            plan::Kind::Postgres(_) => Kind::Postgres,
            plan::Kind::PgBouncer(_) => Kind::PgBouncer,
            plan::Kind::Odyssey(_) => Kind::Odyssey,
            plan::Kind::HaProxy(_) => Kind::HaProxy,
            plan::Kind::Service(_) => Kind::Service,
            plan::Kind::Attached(it) => match it.role {
                AttachedRole::Postgres => Kind::Postgres,
                AttachedRole::PgBouncer => Kind::PgBouncer,
                AttachedRole::Odyssey => Kind::Odyssey,
                AttachedRole::Balancer => Kind::HaProxy,
            },
        };
        let of_postgres =
            |it: &Target| if kind == Kind::Postgres { it.in_database(database) } else { it.clone() };
        let stats_page = match &running.plan.kind {
            plan::Kind::Service(it) => {
                running.url.as_ref().zip(it.stats.as_deref()).map(|(url, path)| at(url, path))
            }
            _ => None,
        };
        Point {
            target: running.admin.as_ref().map(of_postgres),
            stats_socket: running.statistics.clone(),
            stats_page,
            pid: running.node.and_then(|it| supervisor.present(it)),
            apart: running.node.is_some_and(|it| supervisor.is_apart(it)),
            group: running.node.and_then(|it| supervisor.group(it)).cloned(),
            log: running.log.clone(),
            ..Point::of(&running.plan.name, kind)
        }
    }

    /// A node of which nothing is known yet.
    pub fn of(node: &str, kind: Kind) -> Point {
        let (target, stats_socket, stats_page, pid, group, log) = (None, None, None, None, None, None);
        let (node, apart) = (node.to_owned(), false);
        Point { node, kind, target, stats_socket, stats_page, pid, apart, group, log }
    }
}

impl Kind {
    /// What the probes of its server or console are for.
    fn on(self) -> Option<On> {
        match self {
            Kind::Postgres => Some(On::Postgres),
            Kind::PgBouncer => Some(On::PgBouncer),
            Kind::Odyssey => Some(On::Odyssey),
            Kind::HaProxy => Some(On::HaProxy),
            Kind::Service => Some(On::Service),
            Kind::Host | Kind::Generator => None,
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
        points: Vec<Point>,
        now: impl Fn() -> Nanos + Send + Clone + 'static,
        out: Sender<Observation>,
    ) -> Sampler {
        let stop = Arc::new(Stop::default());
        let mut threads = Vec::new();
        let mut spawn = |name: String, run: Box<dyn FnOnce(&Stop) -> Nanos + Send>| {
            let stop = Arc::clone(&stop);
            let body = move || {
                // Whoever is measured comes first. Being refused that is no reason to see nothing.
                let _ = rustix::process::nice(5);
                let servers = run(&stop);
                Spent { ours: nanos(clock_gettime(ClockId::ThreadCPUTime)), servers }
            };
            let thread = std::thread::Builder::new().name(name).spawn(body);
            threads.push(thread.expect("the system has room for a thread"));
        };
        for point in &points {
            let Some(on) = point.kind.on() else { continue };
            let desk = Desk::new(&point.node, now.clone(), out.clone());
            if let Some(target) = point.target.clone() {
                let run = move |stop: &Stop| session::run(&target, on, desk, stop);
                spawn(format!("ask {}", point.node), Box::new(run));
            } else if let Some(socket) = point.stats_socket.clone() {
                let ask = move |question| match question {
                    Ask::Stats(command) => Some(session::stats(&socket, command)),
                    _ => None,
                };
                let run = move |stop: &Stop| session::run_texts(&ask, on, desk, stop);
                spawn(format!("ask {}", point.node), Box::new(run));
            } else if let Some(url) = point.stats_page.clone() {
                let ask = move |question| (question == Ask::Page).then(|| session::page(&url));
                let run = move |stop: &Stop| session::run_texts(&ask, on, desk, stop);
                spawn(format!("ask {}", point.node), Box::new(run));
            }
        }
        let watched: Vec<(Point, Desk)> = points
            .into_iter()
            .map(|it| {
                let desk = Desk::new(&it.node, now.clone(), out.clone());
                (it, desk)
            })
            .collect();
        // Opened here, so that nothing written from now on is missed.
        let local = local::Local::new(watched);
        spawn("watch files".to_owned(), Box::new(move |stop: &Stop| local.run(stop)));
        Sampler { threads, stop, started: Instant::now() }
    }

    /// Asks everything a last time and ends. A server that hangs delays it by at most two seconds.
    pub fn stop(mut self) -> Cost {
        let mut cost = self.end();
        cost.wall = self.started.elapsed().into();
        cost
    }

    fn end(&mut self) -> Cost {
        self.stop.set();
        let mut cost = Cost::default();
        for thread in self.threads.drain(..) {
            let spent = thread.join().unwrap_or_else(|it| std::panic::resume_unwind(it));
            cost.ours += spent.ours;
            cost.servers += spent.servers;
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

impl Cost {
    /// Of one processor, 0 and more: 0.01 is one per cent.
    pub fn share(&self) -> f64 {
        if self.wall == Nanos::ZERO {
            return 0.0;
        }
        (self.ours + self.servers).as_secs_f64() / self.wall.as_secs_f64()
    }
}

/// What one thread has cost.
#[derive(Clone, Copy, Debug)]
struct Spent {
    ours: Nanos,
    servers: Nanos,
}

/// Wakes every thread at once.
#[derive(Debug, Default)]
struct Stop {
    set: Mutex<bool>,
    wake: Condvar,
}

impl Stop {
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
struct Desk {
    node: String,
    now: Box<dyn Fn() -> Nanos + Send>,
    out: Sender<Observation>,
    /// Probes that are known to be missing.
    told: Vec<&'static str>,
}

impl Desk {
    fn new(node: &str, now: impl Fn() -> Nanos + Send + 'static, out: Sender<Observation>) -> Desk {
        Desk { node: node.to_owned(), now: Box::new(now), out, told: Vec::new() }
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
        if !self.told.contains(&probe) {
            self.told.push(probe);
            self.send(Observation::Missing { node: self.node.clone(), probe, why: why() });
        }
    }

    /// Nobody listening any more is no mistake of ours.
    fn send(&self, observation: Observation) {
        let _ = self.out.send(observation);
    }
}

/// A probe and when it is to be asked next.
struct Due {
    probe: &'static Probe,
    ask: Ask,
    next: Instant,
    /// It was refused: not to be asked again.
    over: bool,
}

/// Answers of more rows, or nodes of more processes, are asked for less often, so that the cost does not grow with them.
const CHEAP: usize = 250;

impl Due {
    /// The probes that a server of this version can answer, due at once.
    fn all(on: On, version: u32) -> Vec<Due> {
        let now = Instant::now();
        let its = crate::probe::ALL.iter().filter(|it| it.on == on);
        its.filter_map(|&probe| Some(Due { probe, ask: (probe.ask)(version)?, next: now, over: false }))
            .collect()
    }

    /// After an answer of `size` rows or processes: moments that have passed are left out.
    fn asked(&mut self, size: usize) {
        let step = self.probe.period * (size / CHEAP + 1) as u32;
        let now = Instant::now();
        self.next = if self.next + step > now { self.next + step } else { now + step };
    }

    fn later(&mut self, pause: Duration) {
        self.next = Instant::now() + pause;
    }
}

fn nanos(it: rustix::time::Timespec) -> Nanos {
    Nanos(it.tv_sec as u64 * 1_000_000_000 + it.tv_nsec as u64)
}
