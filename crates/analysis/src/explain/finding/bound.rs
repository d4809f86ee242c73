//! Findings on saturated CPUs and exhausted server pools

use super::waits::{BOUND_SHARE_MIN, sessions_wait};
use super::{CellTrials, Finding, clients};
use crate::facts::SampleView;
use crate::facts::samples::{self, mean, sums};
use crate::facts::usage::busy_sessions;
use model::finding::MissingInput;
use model::matrix::UnappliedLimit;
use model::plan::{Node, NodePart, Pooler};
use model::product::Role;

/// Share of the available CPUs above which a node is saturated.
pub(super) const SATURATED_SHARE: f64 = 0.9;
/// Share of the available CPUs above which sessions that wait for a CPU show that the node is CPU-bound at times. As with
/// pools, queues of random arrivals grow long before all CPUs are always in use.
const CPU_QUEUE_SHARE: f64 = 0.75;
/// Used share of the CPUs from which work of the CPU may limit the throughput.
const BUSY_SHARE: f64 = 0.75;
/// Mean number of sessions that wait for a CPU while others run, which shows such a queue.
const CPU_QUEUE_MIN: f64 = 1.0;
/// Share of throttled periods above which a CPU quota limits the node. Chance does not explain such a large share.
const THROTTLED_SHARE: f64 = 0.5;
/// Share of a pool's server connections that are assigned to clients, above which the pool is exhausted.
const POOL_FULL_SHARE: f64 = 0.9;
/// Share of a pool's server connections in use above which waiting clients show that the pool is exhausted at times. Queues
/// grow long before all connections are always in use: three connections violate a p99 of six service times at 80 %.
const POOL_QUEUE_SHARE: f64 = 0.75;
/// Mean number of waiting clients that shows such a queue.
const POOL_QUEUE_MIN: f64 = 1.0;
/// Share of busy server connections below which a pool does not limit the throughput. Even the connections of a
/// limiting pool are sometimes idle, between two statements of a client.
const POOL_IDLE_SHARE: f64 = 0.5;

/// CPU usage of a node.
pub struct CpuUsage {
    pub used: f64,
    /// Number of CPUs that the node can use.
    pub available: f64,
    /// True if the CPUs to which the node is pinned limit it. Its instances share these CPUs.
    pub by_pinning: bool,
    pub throttled: Option<f64>,
    pub throttled_cpus: Option<f64>,
}

impl CpuUsage {
    /// CPU usage of a node. `None` if no quota, pinning or number of threads limits its CPUs: other programs may then
    /// have saturated them. The limits of an attached node are those that its processes have.
    pub fn measure(cell: &CellTrials<'_>, node: &Node) -> Result<Option<CpuUsage>, MissingInput> {
        let threads = node.kind.pooler().and_then(Pooler::usable_cpus);
        let (name, instances) = (node.name.clone(), vec![node.name.clone()]);
        CpuUsage::of_part(cell, &NodePart { name, limits: &node.limits, instances }, threads)
    }

    /// CPU usage of all instances of a part of a node. `threads` is the number of its threads, if they are limited.
    pub fn of_part(
        cell: &CellTrials<'_>,
        part: &NodePart<'_>,
        threads: Option<f64>,
    ) -> Result<Option<CpuUsage>, MissingInput> {
        let applied = |limit: &str| {
            let fails = |it: &UnappliedLimit| part.instances.contains(&it.node) && it.limit == limit;
            !cell.trials.iter().any(|it| it.not_applied.iter().any(fails))
        };
        let copies = part.instances.len() as f64;
        let quota = part.limits.cpu.filter(|_| applied("cpu")).map(|it| it * copies);
        let pinned = part.limits.cpus.len() as f64;
        let pinned = (pinned > 0.0 && applied("cpus")).then_some(pinned);
        let usable = |samples: SampleView<'_>, node: &str| {
            mean(&sums(samples, node, samples::PROCESS_CPU_LIMIT, |_| true))
        };
        let found = cell.median(|trial| part.instances.iter().map(|name| usable(trial.samples, name)).sum());
        let Some(limit) = [quota, pinned, threads, found].into_iter().flatten().min_by(f64::total_cmp) else {
            return Ok(None);
        };
        let sum = |figure: fn(SampleView<'_>, &str) -> Option<f64>| {
            cell.median(|trial| part.instances.iter().map(|name| figure(trial.samples, name)).sum())
        };
        let used = sum(samples::processors).ok_or(MissingInput::Group)?;
        let throttled = sum(samples::throttled_share).map(|it| it / copies);
        let throttled_cpus = sum(samples::throttled_processors);
        let by_pinning = pinned == Some(limit);
        Ok(Some(CpuUsage { used, available: limit, by_pinning, throttled, throttled_cpus }))
    }

    /// True if work of these CPUs may limit the throughput.
    pub fn is_busy(&self) -> bool {
        self.is_saturated() || self.used >= BUSY_SHARE * self.available
    }

    pub fn is_saturated(&self) -> bool {
        self.used >= SATURATED_SHARE * self.available
            || self.throttled.is_some_and(|it| it >= THROTTLED_SHARE)
    }
}

/// Findings on a CPU-bound or pool-bound pooler. The console of a CPU-bound pooler shows a full pool, although its
/// server connections are idle. PostgreSQL's sessions distinguish the two cases: a session that is idle in transaction
/// waits for the pooler or the client.
pub fn pooler(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let Some((node, pool, cpu)) = pooler_usage(cell)? else { return Ok(Vec::new()) };
    let active = active(cell)?;
    let bound = cpu.is_saturated() && active < POOL_IDLE_SHARE * f64::from(pool);
    let finding = || Finding::PoolerBound {
        cell: cell.number,
        node: node.name.clone(),
        cpu: cpu.used,
        cpu_limit: cpu.available,
        throttled: cpu.throttled,
        throttled_cpu: cpu.throttled_cpus,
        pool,
        in_use: servers_in_use(cell, node),
        active,
    };
    Ok(bound.then(finding).into_iter().collect())
}

/// Findings on CPU-bound balancers.
pub fn balancers(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let mut found = Vec::new();
    for node in cell.setup.stack.nodes.iter().filter(|it| it.kind.role() == Role::Balancer) {
        let cpu = CpuUsage::measure(cell, node)?.filter(CpuUsage::is_saturated);
        found.extend(cpu.map(|cpu| server_bound(cell, node.name.clone(), &cpu, None)));
    }
    Ok(found)
}

fn server_bound(cell: &CellTrials<'_>, node: String, cpu: &CpuUsage, queue: Option<f64>) -> Finding {
    Finding::ServerBound {
        cell: cell.number,
        node,
        cpu: cpu.used,
        cpu_limit: cpu.available,
        throttled: cpu.throttled,
        throttled_cpu: cpu.throttled_cpus,
        queue,
    }
}

pub fn pool(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let Some((node, pool, cpu)) = pooler_usage(cell)? else { return Ok(Vec::new()) };
    active(cell)?;
    let in_use = servers_in_use(cell, node).ok_or(MissingInput::Console)?;
    let busy = cell.median(busy_sessions).ok_or(MissingInput::Server)?;
    let size = f64::from(pool);
    let queue =
        cell.median(|it| mean(&sums(it.samples, &node.name, samples::POOL_CLIENTS_WAITING, |_| true)));
    let full_share = match queue.filter(|_| node.kind.product().reports(samples::POOL_CLIENTS_WAITING)) {
        // At low utilisation, random service times of few connections cause such a queue.
        Some(waiting) if waiting >= BOUND_SHARE_MIN * (waiting + in_use) => POOL_IDLE_SHARE,
        Some(waiting) if waiting >= POOL_QUEUE_MIN => POOL_QUEUE_SHARE,
        _ => POOL_FULL_SHARE,
    };
    let full = in_use >= full_share * size
        && busy >= POOL_IDLE_SHARE * size
        && cell.setup.load.model.clients() > pool;
    // If sessions wait for locks of other sessions, additional server connections would wait too.
    let bound = full && !cpu.is_saturated() && sessions_wait(cell).is_none();
    let finding = || Finding::PoolBound {
        cell: cell.number,
        node: node.name.clone(),
        pool,
        setting: node.kind.pooler().and_then(|it| it.server_connections().1).map(str::to_owned),
        in_use,
        busy,
        cpu: cpu.used,
        cpu_limit: cpu.available,
    };
    Ok(bound.then(finding).into_iter().collect())
}

/// The pooler, its pool size and its CPU usage; `None` without a pooler.
fn pooler_usage<'a>(cell: &CellTrials<'a>) -> Result<Option<(&'a Node, u32, CpuUsage)>, MissingInput> {
    let Some((node, (_, size))) = cell.pooler().zip(clients::pool(cell)) else { return Ok(None) };
    Ok(CpuUsage::measure(cell, node)?.map(|cpu| (node, size, cpu)))
}

/// Number of server connections assigned to clients, from the pooler's console.
fn servers_in_use(cell: &CellTrials<'_>, node: &Node) -> Option<f64> {
    cell.median(|it| mean(&sums(it.samples, &node.name, samples::POOL_SERVERS_ACTIVE, |_| true)))
}

fn active(cell: &CellTrials<'_>) -> Result<f64, MissingInput> {
    let server = cell.server().ok_or(MissingInput::Server)?;
    cell.median(|it| samples::sessions(it.samples, &server.name, "active")).ok_or(MissingInput::Server)
}

/// Findings on CPU-bound servers whose CPUs are limited. Without such a limit, the machine is the bottleneck, which
/// another rule reports.
pub fn server(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let node = cell.server().ok_or(MissingInput::Server)?;
    let full = |node: &Node| {
        let Some(cpu) = CpuUsage::measure(cell, node)? else { return Ok(None) };
        let queue = if cpu.is_saturated() { None } else { cpu_queue(cell, node, &cpu) };
        Ok((cpu.is_saturated() || queue.is_some()).then(|| (node.name.clone(), cpu, queue)))
    };
    let replicas: Vec<Option<(String, CpuUsage, Option<f64>)>> =
        replicas(cell, node).iter().map(full).collect::<Result<_, _>>()?;
    // All replicas have the same setup, so only the busiest one is reported.
    let replica = replicas.into_iter().flatten().max_by(|a, b| a.1.used.total_cmp(&b.1.used));
    let finding = |(node, cpu, queue): (String, CpuUsage, Option<f64>)| server_bound(cell, node, &cpu, queue);
    Ok(full(node)?.into_iter().chain(replica).map(finding).collect())
}

/// Mean number of sessions that run or wait for a CPU; `None` if they do not queue. A session without a wait event does
/// one or the other.
fn cpu_queue(cell: &CellTrials<'_>, node: &Node, cpu: &CpuUsage) -> Option<f64> {
    let runnable = cell.median(|it| samples::runnable_sessions(it.samples, &node.name))?;
    let queues = runnable >= cpu.available + CPU_QUEUE_MIN && cpu.used >= CPU_QUEUE_SHARE * cpu.available;
    queues.then_some(runnable)
}

/// Nodes that represent the replicas, with the kind of the primary.
pub(super) fn replicas(cell: &CellTrials<'_>, primary: &Node) -> Vec<Node> {
    let stack = &cell.setup.stack;
    let limits = stack.replication.as_ref().map(|it| it.limits.clone()).unwrap_or_default();
    let replica = |name| Node { name, limits: limits.clone(), ..primary.clone() };
    stack.replica_names().into_iter().map(replica).collect()
}
