//! Samples all parts of the stack until stopped
//!
//! Each queried server has a separate thread, so that a hanging server delays no other. One thread reads all files. The
//! threads have a low priority and separate sessions. They never block on the receiver of the observations.

mod attached;
mod local;
mod pages;
mod session;

use crate::chain::RunningNode;
use crate::client::{Address, Target};
use crate::component;
use crate::limits::Group;
use crate::page::SampledPage;
use crate::probe::{Probe, ProbeRequest, ProbeTarget, Reading};
use crate::supervisor::Supervisor;
use model::message::Message;
use model::plan::{self, MetricsHost};
use model::product::{self, Product, Role};
use model::server_log::DeadlockGroup;
use model::{LogEvent, Nanos, Sample, SplitMix64};
use rustix::time::{ClockId, clock_gettime};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::atomic::AtomicU32;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Part of the stack to sample. Fields that are `None` are not sampled.
#[derive(Clone, Debug)]
pub struct SamplingTarget {
    /// Name of the node in samples and events.
    pub node: String,
    pub kind: SamplingTargetKind,
    /// Direct login to PostgreSQL or to the console of a pooler, never through a pooler.
    pub target: Option<Target>,
    /// Statistics socket of a balancer.
    pub stats_socket: Option<PathBuf>,
    /// Pages of a service, or the metrics of another host.
    pub pages: Vec<SampledPage>,
    /// Process id of the node's main process, whose descendants belong to the node. The id is updated when the node
    /// restarts; 0 means that no process runs.
    pub pid: Option<Arc<AtomicU32>>,
    /// True if the main process only waits for its child, and the child is the node. See `Supervisor::is_isolated`.
    pub apart: bool,
    /// Control group of the node; all processes in the group belong to the node.
    pub group: Option<Group>,
    /// Address of an attached node. The program that listens there, if it is on this machine, belongs to the node.
    pub listener: Option<Address>,
    /// File to which the node's log is written.
    pub log: Option<PathBuf>,
}

/// Kind of a [`SamplingTarget`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SamplingTargetKind {
    Host,
    Generator,
    /// Another host, on which nodes of the stack run.
    RemoteHost,
    /// Host of this stack whose nodes share limits.
    SharedHost,
    Node(&'static Product),
}

/// Result of sampling.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// Readings from one response.
    Samples(Vec<Sample>),
    Event(LogEvent),
    /// Details of a deadlock, which is also an event.
    Deadlock(DeadlockGroup),
    /// A probe has no readings; reported once per probe and node. `probe` is `connection` if the server cannot be
    /// queried at all, and `log` for the node's log.
    Missing {
        node: String,
        probe: &'static str,
        reason: Message,
    },
    /// Origin of a node's figures; reported once per node and origin.
    Note {
        node: String,
        message: Message,
    },
}

/// Threads that sample until they are stopped. Dropping the sampler also stops the threads, but discards the cost.
#[derive(Debug)]
pub struct Sampler {
    threads: Vec<JoinHandle<ThreadCost>>,
    stop: Arc<StopSignal>,
    started: Instant,
}

/// Cost of sampling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SamplingCost {
    /// Duration of sampling.
    pub wall: Nanos,
    /// CPU time of the sampler's threads in this process.
    pub own_cpu: Nanos,
    /// CPU time of the sampler's sessions in PostgreSQL servers on this machine.
    ///
    /// Zero for servers on other machines. Excludes the consoles of poolers and balancers, whose cost cannot be
    /// separated from their other work.
    pub server_cpu: Nanos,
}

impl SamplingTarget {
    /// Returns the target for this machine.
    pub fn host() -> SamplingTarget {
        SamplingTarget::new("host", SamplingTargetKind::Host)
    }

    /// Returns the target for this process.
    pub fn generator() -> SamplingTarget {
        let pid = Some(Arc::new(AtomicU32::new(std::process::id())));
        SamplingTarget { pid, ..SamplingTarget::new("generator", SamplingTargetKind::Generator) }
    }

    /// Returns the targets for the other hosts on which these nodes run.
    pub fn remote_hosts<'a>(nodes: impl IntoIterator<Item = &'a plan::Node>) -> Vec<SamplingTarget> {
        let nodes: Vec<plan::Node> = nodes.into_iter().cloned().collect();
        let target = |host: &MetricsHost| SamplingTarget {
            pages: vec![SampledPage::of_host(&host.url)],
            ..SamplingTarget::new(&host.name, SamplingTargetKind::RemoteHost)
        };
        MetricsHost::all(&nodes).iter().map(target).collect()
    }

    /// Returns the targets for the hosts whose nodes share limits.
    pub fn shared_hosts(supervisor: &Supervisor) -> Vec<SamplingTarget> {
        let target = |(name, group): (String, Group)| SamplingTarget {
            group: Some(group),
            ..SamplingTarget::new(&name, SamplingTargetKind::SharedHost)
        };
        supervisor.host_groups().into_iter().map(target).collect()
    }

    /// Returns the target for a node of a chain. PostgreSQL is queried in the application's `database`, because some
    /// values are per database.
    pub fn for_running(running: &RunningNode, database: &str, supervisor: &Supervisor) -> SamplingTarget {
        let product = running.plan.kind.product();
        let of_postgres = |target: &Target| {
            if product.role == Role::Server { target.in_database(database) } else { target.clone() }
        };
        SamplingTarget {
            target: running.admin.as_ref().map(of_postgres),
            stats_socket: running.statistics.clone(),
            pages: running.pages.clone(),
            pid: running.node.and_then(|it| supervisor.pid_handle(it)),
            apart: running.node.is_some_and(|it| supervisor.is_isolated(it)),
            group: running.node.and_then(|it| supervisor.group(it)).cloned(),
            listener: running.is_attached().then(|| running.endpoint.address.clone()),
            log: running.log.clone(),
            ..SamplingTarget::new(&running.plan.name, SamplingTargetKind::Node(product))
        }
    }

    /// Creates a target without an endpoint.
    pub fn new(node: &str, kind: SamplingTargetKind) -> SamplingTarget {
        let (target, stats_socket, pid, group, listener, log) = (None, None, None, None, None, None);
        let (node, apart, pages) = (node.to_owned(), false, Vec::new());
        SamplingTarget { node, kind, target, stats_socket, pages, pid, apart, group, listener, log }
    }
}

impl SamplingTargetKind {
    pub const POSTGRES: SamplingTargetKind = SamplingTargetKind::Node(&product::POSTGRESQL);

    fn product(self) -> Option<&'static Product> {
        match self {
            SamplingTargetKind::Node(it) => Some(it),
            SamplingTargetKind::Host
            | SamplingTargetKind::Generator
            | SamplingTargetKind::RemoteHost
            | SamplingTargetKind::SharedHost => None,
        }
    }

    /// Returns the target of the probes that query the node's server or console.
    fn probe_target(self) -> Option<ProbeTarget> {
        self.product().and_then(|product| match product.role {
            Role::Server => Some(ProbeTarget::Postgres),
            Role::Service => None,
            Role::Pooler | Role::Balancer | Role::Manager | Role::Store => {
                Some(ProbeTarget::Product(product))
            }
        })
    }
}

impl Sampler {
    /// Starts sampling.
    ///
    /// `now` is the clock of the run. Observations are sent to `out` without blocking, ordered by time for each node
    /// and probe. Logs are followed from their current end.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the receiver ends with the last sender, which this function owns"
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
                // The system under test has priority. If the kernel refuses the nice value, sampling continues.
                let _ = rustix::process::nice(5);
                let servers = run(&stop);
                ThreadCost { own_cpu: nanos(clock_gettime(ClockId::ThreadCPUTime)), servers }
            };
            let thread = std::thread::Builder::new().name(name).spawn(body);
            threads.push(thread.expect("the system has room for a thread"));
        };
        let hosts = pages::known_hosts();
        for point in &points {
            for page in point.pages.clone() {
                let node = page.node.as_deref().unwrap_or(&point.node);
                let collector = Collector::new(node, now.clone(), out.clone());
                let hosts = Arc::clone(&hosts);
                let run = move |stop: &StopSignal| pages::run(page, collector, hosts, stop);
                spawn(format!("ask {}", point.node), Box::new(run));
            }
            let Some(probe_target) = point.kind.probe_target() else { continue };
            let collector = Collector::new(&point.node, now.clone(), out.clone());
            if let Some(target) = point.target.clone() {
                let main = point.pid.clone();
                let run = move |stop: &StopSignal| {
                    session::run(&target, probe_target, main.as_deref(), collector, stop)
                };
                spawn(format!("ask {}", point.node), Box::new(run));
            } else if let Some(socket) = point.stats_socket.clone() {
                let ask = move |question| match question {
                    ProbeRequest::Stats(command) => Some(session::stats(&socket, command)),
                    _ => None,
                };
                let run = move |stop: &StopSignal| session::run_texts(&ask, probe_target, collector, stop);
                spawn(format!("ask {}", point.node), Box::new(run));
            }
        }
        let watched: Vec<(SamplingTarget, Collector)> = points
            .into_iter()
            .map(|target| {
                let collector = Collector::new(&target.node, now.clone(), out.clone());
                (target, collector)
            })
            .collect();
        // Open the logs here, so that no line written from now on is missed.
        let local = local::LocalSampler::new(watched);
        spawn("watch files".to_owned(), Box::new(move |stop: &StopSignal| local.run(stop)));
        Sampler { threads, stop, started: Instant::now() }
    }

    /// Runs all probes a last time and stops. A hanging server delays this by at most two seconds, a hanging host by at
    /// most seven.
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
            cost.own_cpu += spent.own_cpu;
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
    /// CPU time of sampling as a share of one CPU, 0 and more: 0.01 is one per cent.
    pub fn cpu_share(&self) -> f64 {
        if self.wall == Nanos::ZERO {
            return 0.0;
        }
        (self.own_cpu + self.server_cpu).as_secs_f64() / self.wall.as_secs_f64()
    }
}

/// CPU time of one thread.
#[derive(Clone, Copy, Debug)]
struct ThreadCost {
    own_cpu: Nanos,
    servers: Nanos,
}

/// Signal that wakes all threads at once.
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

    /// Waits until the given time or the stop, whichever is earlier.
    fn wait(&self, deadline: Instant) {
        let set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        let left = deadline.saturating_duration_since(Instant::now());
        drop(self.wake.wait_timeout_while(set, left, |set| !*set));
    }
}

/// Sender of the readings that one thread collects from a node.
struct Collector {
    node: String,
    now: Box<dyn Fn() -> Nanos + Send>,
    out: Sender<Observation>,
    /// Probes that were already reported as missing.
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
        let sample = |reading: Reading| Sample {
            at,
            node: Cow::Owned(self.node.clone()),
            series: Cow::Borrowed(reading.series.name),
            label: Cow::Owned(reading.label),
            value: reading.value,
        };
        if !readings.is_empty() {
            self.send(Observation::Samples(readings.into_iter().map(sample).collect()));
        }
    }

    fn missing(&mut self, probe: &'static str, reason: impl FnOnce() -> Message) {
        if !self.reported_missing.contains(&probe) {
            self.reported_missing.push(probe);
            self.send(Observation::Missing { node: self.node.clone(), probe, reason: reason() });
        }
    }

    /// Sends an observation. A missing receiver is not an error.
    fn send(&self, observation: Observation) {
        let _ = self.out.send(observation);
    }
}

/// Probe with its next due time.
struct DueProbe {
    probe: &'static Probe,
    ask: ProbeRequest,
    started: Instant,
    /// Regular due time. The probe runs at `next`, which is this time plus a random delay.
    regular: Instant,
    next: Instant,
    random: SplitMix64,
    /// True if the server rejected the query; the query is not repeated.
    disabled: bool,
}

/// Number of rows from which a probe runs less often, so that large responses do not increase the cost.
const CHEAP_ROWS: usize = 250;
/// Shortest interval of a slow probe, and its interval as a share of the time since sampling started. A slow probe begins with
/// short intervals, so that a short window has enough samples.
const SLOW_INTERVAL_MIN: Duration = Duration::from_secs(1);
const SLOW_INTERVAL_SHARE: f64 = 0.25;
/// Longest random delay of a query. At regular intervals, sampling would see clients with constant pauses in only a few of
/// their states.
const RANDOM_DELAY_MAX: Duration = Duration::from_millis(100);

impl DueProbe {
    /// Lists probes that a server of this version supports, all due now.
    fn all(target: ProbeTarget, version: u32) -> Vec<DueProbe> {
        let now = Instant::now();
        let its = component::probes().filter(|it| it.target == target).enumerate();
        its.filter_map(|(index, probe)| {
            let ask = (probe.request)(version)?;
            let random = SplitMix64(index as u64);
            Some(DueProbe { probe, ask, started: now, regular: now, next: now, random, disabled: false })
        })
        .collect()
    }

    /// Schedules the next run after a response of `size` rows or processes; skips due times that have passed.
    fn schedule_next(&mut self, size: usize) {
        self.schedule_after(Instant::now(), size);
    }

    /// Schedules the next run after a response that arrived at `now`.
    fn schedule_after(&mut self, now: Instant, size: usize) {
        let early_interval = (now - self.started).mul_f64(SLOW_INTERVAL_SHARE).max(SLOW_INTERVAL_MIN);
        let step = self.probe.period.min(early_interval) * (size / CHEAP_ROWS + 1) as u32;
        self.regular = if self.regular + step > now { self.regular + step } else { now + step };
        // Files contain counters, and are read together.
        self.next = match self.ask {
            ProbeRequest::Sql(_) | ProbeRequest::Console(_) | ProbeRequest::Stats(_) => {
                self.regular + RANDOM_DELAY_MAX.mul_f64(self.random.uniform())
            }
            _ => self.regular,
        };
    }

    fn postpone(&mut self, pause: Duration) {
        self.regular = Instant::now() + pause;
        self.next = self.regular;
    }
}

fn nanos(time: rustix::time::Timespec) -> Nanos {
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due_probe(target: ProbeTarget, name: &str) -> DueProbe {
        let mut all = DueProbe::all(target, 150_000).into_iter();
        all.find(|due| due.probe.name == name).expect("the probe exists")
    }

    #[test]
    fn slow_probes_begin_with_short_intervals() {
        for (name, age, expected) in [
            ("pg_scans", 0, 1_000),
            ("pg_scans", 8, 2_000),
            ("pg_scans", 100, 5_000),
            ("pg_database", 100, 1_000),
            ("pg_activity", 0, 100),
        ] {
            let mut due = due_probe(ProbeTarget::Postgres, name);
            let now = due.started + Duration::from_secs(age);
            due.regular = now;
            due.schedule_after(now, 1);
            assert_eq!(due.regular - now, Duration::from_millis(expected), "{name} after {age} s");
        }
    }

    #[test]
    fn only_queries_have_random_delays() {
        let delays = |target, name| {
            let mut due = due_probe(target, name);
            let delay = |_| {
                due.schedule_after(due.next, 1);
                due.next - due.regular
            };
            (0..100).map(delay).collect::<Vec<Duration>>()
        };
        let random = delays(ProbeTarget::Postgres, "pg_activity");
        assert!(random.iter().all(|delay| *delay <= RANDOM_DELAY_MAX), "{random:?}");
        let mean = random.iter().sum::<Duration>() / random.len() as u32;
        assert!((40..60).contains(&mean.as_millis()), "{mean:?}");
        assert!(delays(ProbeTarget::Host, "host_cpu").iter().all(Duration::is_zero));
    }
}
