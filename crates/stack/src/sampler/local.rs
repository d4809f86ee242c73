//! Samples the files of this machine: processes, control groups and logs

use super::attached::AttachedProcesses;
use super::{Collector, DueProbe, Observation, SamplingTarget, SamplingTargetKind, StopSignal};
use crate::component::{self, Component};
use crate::limits::{Group, cpu_limit_texts};
use crate::log_parser::{LogFollower, LogFormat};
use crate::probe::{Probe, ProbeRequest, ProbeResponse, ProbeTarget, Reading};
use model::product::Role;
use model::{Nanos, SeriesKind};
use std::collections::HashMap;
use std::fs::read_to_string;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Cost of reading the files of one process (`ROWS_PER_PROCESS`) or of one thread (`ROWS_PER_THREAD`), expressed as a
/// number of rows of a query result.
///
/// With 200 processes, the process files are read every third second and the thread files every tenth second. Either
/// takes 0.2 % of a CPU.
const ROWS_PER_PROCESS: usize = 3;
const ROWS_PER_THREAD: usize = 12;
/// Interval between two reads of the logs.
const LOG_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Sampler of all probes that read files.
pub(super) struct LocalSampler {
    nodes: Vec<SampledNode>,
}

struct SampledNode {
    point: SamplingTarget,
    collector: Collector,
    schedule: Vec<DueProbe>,
    threads: LifetimeSum,
    attached: Option<AttachedProcesses>,
    log: Option<LogFollower>,
}

impl LocalSampler {
    pub(super) fn new(points: Vec<(SamplingTarget, Collector)>) -> LocalSampler {
        let nodes = points.into_iter().map(|(point, collector)| SampledNode::new(point, collector)).collect();
        LocalSampler { nodes }
    }

    /// Reads until stopped, then once more. Returns zero, because files cost servers no CPU time.
    pub(super) fn run(mut self, stop: &StopSignal) -> Nanos {
        loop {
            let last = stop.is_set();
            for node in &mut self.nodes {
                node.round(last);
                node.read_log(last);
            }
            if last {
                return Nanos::ZERO;
            }
            let next = self.nodes.iter().filter_map(SampledNode::next).min();
            stop.wait(next.unwrap_or_else(|| Instant::now() + Duration::from_secs(60)));
        }
    }
}

impl SampledNode {
    fn new(point: SamplingTarget, collector: Collector) -> SampledNode {
        let mut applies = Vec::new();
        if point.kind == SamplingTargetKind::Host {
            applies.push(ProbeTarget::Host);
        }
        if point.group.is_some() {
            applies.push(ProbeTarget::Group);
        }
        if point.listener.is_some() {
            applies.push(ProbeTarget::Attached);
        }
        if point.group.is_some() || point.pid.is_some() || point.listener.is_some() {
            applies.extend([ProbeTarget::Process, ProbeTarget::Thread]);
        }
        let dues = applies.into_iter().flat_map(|it| DueProbe::all(it, 0)).collect();
        let format = point.kind.product().and_then(component::for_product).map(Component::log_format);
        let follow =
            |(path, format): (&PathBuf, LogFormat)| LogFollower::from_end(path.clone(), format, &point.node);
        let log = point.log.as_ref().zip(format).map(follow);
        let address = point.listener.clone().zip(point.kind.product());
        let attached =
            address.map(|(address, product)| AttachedProcesses::new(&point.node, address, product));
        SampledNode { point, collector, schedule: dues, threads: LifetimeSum::default(), attached, log }
    }

    fn next(&self) -> Option<Instant> {
        let log = self.log.as_ref().map(|_| Instant::now() + LOG_POLL_INTERVAL);
        self.schedule.iter().filter(|it| !it.disabled).map(|it| it.next).chain(log).min()
    }

    fn read_log(&mut self, last: bool) {
        let Some(log) = &mut self.log else { return };
        let pid = self.point.pid.as_ref().map(|it| it.load(Ordering::Relaxed));
        log.reader.main_pid = pid.filter(|it| *it != 0);
        let at = self.collector.now();
        let mut events = Vec::new();
        let read = log.poll(at, &mut events);
        if last {
            log.finish(at, &mut events);
        }
        events.into_iter().for_each(|it| self.collector.send(Observation::Event(it)));
        log.take_deadlocks(at).into_iter().for_each(|it| self.collector.send(Observation::Deadlock(it)));
        if let Err(error) = read {
            self.collector.missing("log", || (&error).into());
            self.log = None;
        }
    }

    fn round(&mut self, everything: bool) {
        let SampledNode { point, collector, schedule: dues, threads, attached, .. } = self;
        let now = Instant::now();
        let mut processes = None;
        for due in dues.iter_mut().filter(|it| !it.disabled && (everything || it.next <= now)) {
            let mut readings = Vec::new();
            let read = |answer: &ProbeResponse, out: &mut Vec<Reading>| (due.probe.read)(answer, out);
            let mut size = 0;
            let done = match due.probe.target {
                ProbeTarget::Host => {
                    let ProbeRequest::Files(files) = due.ask else { continue };
                    let texts = files.iter().map(|it| read_to_string(it).unwrap_or_default());
                    read(&ProbeResponse::Texts(texts.collect()), &mut readings)
                }
                ProbeTarget::Group => {
                    let files = point.group.iter().flat_map(Group::files);
                    let texts =
                        files.map(|(source, path)| (source, read_to_string(path).unwrap_or_default()));
                    read(&ProbeResponse::Group(texts.collect()), &mut readings)
                }
                ProbeTarget::Process => {
                    let pids =
                        processes.get_or_insert_with(|| all_processes(point, attached.as_mut(), collector));
                    size = pids.len() * ROWS_PER_PROCESS;
                    readings = of_living(due.probe, due.ask, pids);
                    Ok(())
                }
                ProbeTarget::Thread => {
                    let pids =
                        processes.get_or_insert_with(|| all_processes(point, attached.as_mut(), collector));
                    size = pids.len() * ROWS_PER_THREAD;
                    readings = threads.take(due.probe, of_threads(due.probe, due.ask, pids));
                    Ok(())
                }
                ProbeTarget::Attached => {
                    let Some(attached) = attached.as_mut() else { continue };
                    let pids = attached.main_processes(collector).to_vec();
                    match limits_in_common(&pids).filter(|_| attached.is_product) {
                        Some(texts) => read(&ProbeResponse::Texts(texts), &mut readings),
                        None => Ok(()),
                    }
                }
                ProbeTarget::Postgres
                | ProbeTarget::Product(_)
                | ProbeTarget::Page(_)
                | ProbeTarget::Exporter => continue,
            };
            due.schedule_next(size);
            match done {
                Ok(()) => collector.samples(collector.now(), readings),
                Err(error) => {
                    collector.missing(due.probe.name, || (&error).into());
                    due.disabled = true;
                }
            }
        }
    }
}

/// Texts of the CPU limits of these processes; `None` if their limits differ, or without a process.
fn limits_in_common(pids: &[u32]) -> Option<Vec<String>> {
    let mut all = pids.iter().map(|pid| {
        let mut texts = cpu_limit_texts(*pid);
        // Other lines of the status differ between processes.
        texts[0] = texts[0].lines().filter(|line| line.starts_with("Cpus_allowed_list:")).collect();
        texts
    });
    let first = all.next().filter(|texts| !texts[0].is_empty())?;
    all.all(|texts| texts == first).then_some(first)
}

/// Lists process ids of all processes of a node.
fn all_processes(
    point: &SamplingTarget,
    attached: Option<&mut AttachedProcesses>,
    collector: &mut Collector,
) -> Vec<u32> {
    if let Some(group) = &point.group {
        return group.processes();
    }
    let mut is_product = true;
    let mut found = match attached {
        Some(attached) => {
            let pids = attached.main_processes(collector).to_vec();
            is_product = attached.is_product;
            pids
        }
        None => {
            let pid = point.pid.as_ref().map_or(0, |it| it.load(Ordering::Relaxed));
            if pid == 0 { Vec::new() } else { vec![pid] }
        }
    };
    // The generator's children are the keeper and thereby the whole stack.
    if point.kind == SamplingTargetKind::Generator {
        return found;
    }
    // Search only one generation, because the postmaster is the parent of all server processes. A search for all
    // descendants would cost as much as reading their files.
    let generations = match point.kind {
        SamplingTargetKind::Node(it) if it.role == Role::Server && is_product => 1 + usize::from(point.apart),
        _ => usize::MAX,
    };
    let mut last = 0..found.len();
    for _ in 0..generations {
        let known = found.len();
        for parent in last {
            let parent = found[parent];
            // The file lists only children that the first thread forked; `proc_pid_task(5)`.
            let text = read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
            found.extend(text.split_whitespace().filter_map(|it| it.parse::<u32>().ok()));
        }
        last = known..found.len();
        if last.is_empty() {
            break;
        }
    }
    found
}

/// Sums the readings of all processes that exist now.
fn of_living(probe: &'static Probe, ask: ProbeRequest, pids: &[u32]) -> Vec<Reading> {
    let mut sums = vec![None; probe.series.len()];
    for pid in pids {
        let values = one(probe, ask, &format!("/proc/{pid}"));
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum = add(*sum, value);
        }
    }
    readings(probe, &sums)
}

/// Lists each thread id with its values, in the order of the probe's series.
fn of_threads(probe: &'static Probe, ask: ProbeRequest, pids: &[u32]) -> Vec<(u32, Vec<Option<f64>>)> {
    let mut found = Vec::new();
    for pid in pids {
        let entries = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        for thread in entries.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok()) {
            found.push((thread, one(probe, ask, &format!("/proc/{pid}/task/{thread}"))));
        }
    }
    found
}

/// Lists values that a probe reads in one directory, in the order of its series. Empty if the process has just ended.
fn one(probe: &'static Probe, ask: ProbeRequest, directory: &str) -> Vec<Option<f64>> {
    let text = |it: &&str| read_to_string(format!("{directory}/{it}")).unwrap_or_default();
    let entries =
        |name: &str| std::fs::read_dir(format!("{directory}/{name}")).map(|it| it.count().to_string());
    let texts = match ask {
        ProbeRequest::Files(files) => files.iter().map(text).collect(),
        ProbeRequest::Entries(subdirectory) => vec![entries(subdirectory).unwrap_or_default()],
        _ => return Vec::new(),
    };
    let mut out = Vec::new();
    let _ = (probe.read)(&ProbeResponse::Texts(texts), &mut out);
    let value = |name: &str| out.iter().find(|it| it.series.name == name).map(|it| it.value);
    probe.series.iter().map(|it| value(it.name)).collect()
}

fn add(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    }
}

fn readings(probe: &'static Probe, values: &[Option<f64>]) -> Vec<Reading> {
    let both = probe.series.iter().zip(values);
    both.filter_map(|(series, value)| Some(Reading { series, label: String::new(), value: (*value)? }))
        .collect()
}

/// Sum over all threads that ever existed, so that a counter does not decrease when a thread ends.
#[derive(Default)]
struct LifetimeSum {
    living: HashMap<u32, Vec<Option<f64>>>,
    gone: Vec<Option<f64>>,
}

impl LifetimeSum {
    fn take(&mut self, probe: &'static Probe, now: Vec<(u32, Vec<Option<f64>>)>) -> Vec<Reading> {
        self.gone.resize(probe.series.len(), None);
        let mut before = std::mem::take(&mut self.living);
        for (id, values) in now {
            // The kernel reused the id, so the counter starts again.
            let restarted = |previous: &Vec<Option<f64>>| {
                values.iter().zip(previous).any(|(now, previous)| now < previous)
            };
            let known = before.remove(&id);
            let ended_unread = values.iter().all(Option::is_none);
            match known {
                Some(previous) if ended_unread || restarted(&previous) => self.retire(probe, &previous),
                _ => {}
            }
            if !ended_unread {
                self.living.insert(id, values);
            }
        }
        before.into_values().for_each(|it| self.retire(probe, &it));
        let mut sums = self.gone.clone();
        for values in self.living.values() {
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum = add(*sum, *value));
        }
        readings(probe, &sums)
    }

    fn retire(&mut self, probe: &'static Probe, last: &[Option<f64>]) {
        for ((sum, value), series) in self.gone.iter_mut().zip(last).zip(probe.series) {
            if series.kind == SeriesKind::Counter {
                *sum = add(*sum, *value);
            }
        }
    }
}
