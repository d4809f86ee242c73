//! Do processors, or a pool of servers, hold the throughput where it is?

use super::queue::busy_sessions;
use super::samples::{self, mean, sums};
use super::waits::sessions_wait;
use super::{CellTrials, Finding, clients};
use crate::matrix::clients;
use model::finding::MissingInput;
use model::matrix::UnappliedLimit;
use model::plan::{Node, NodeKind};

/// Share of the processors it may use from which on a node has no reserve.
const SATURATED_SHARE: f64 = 0.9;
/// Share of a quota's periods in which a node that is held back by it, and not by chance, used it up.
const THROTTLED_SHARE: f64 = 0.5;
/// Share of a pool that is lent from which on it is full.
const POOL_FULL_SHARE: f64 = 0.9;
/// Share of a pool below which most of it does nothing. Between two statements of its client a server is not at work, so
/// that even a pool that holds everything up is not all at work.
const POOL_IDLE_SHARE: f64 = 0.5;

/// Processors of a node.
pub struct CpuUsage {
    pub used: f64,
    /// How many it could use.
    pub available: f64,
    pub throttled: Option<f64>,
    pub throttled_cpus: Option<f64>,
}

impl CpuUsage {
    /// `None` where nothing bounds it: what is full on a shared machine may be anybody's.
    pub fn measure(cell: &CellTrials<'_>, node: &Node) -> Result<Option<CpuUsage>, MissingInput> {
        let applied = |limit: &str| {
            let fails = |it: &UnappliedLimit| it.node == node.name && it.limit == limit;
            !cell.trials.iter().any(|it| it.not_applied.iter().any(fails))
        };
        // Each copy of a service has its own.
        let (threads, copies) = match &node.kind {
            NodeKind::PgBouncer(_) => (Some(1.0), 1.0),
            NodeKind::Odyssey(it) => (Some(f64::from(it.workers)), 1.0),
            NodeKind::Service(it) => (None, f64::from(it.copies)),
            _ => (None, 1.0),
        };
        let quota = node.limits.cpu.filter(|_| applied("cpu")).map(|it| it * copies);
        let pinned = node.limits.cpus.len() as f64;
        let pinned = (pinned > 0.0 && applied("cpus")).then_some(pinned);
        let Some(of) = [quota, pinned, threads].into_iter().flatten().min_by(f64::total_cmp) else {
            return Ok(None);
        };
        let used =
            cell.median(|it| samples::processors(it.samples, &node.name)).ok_or(MissingInput::Group)?;
        let throttled = cell.median(|it| samples::throttled_share(it.samples, &node.name));
        let stood_still = cell.median(|it| samples::throttled_processors(it.samples, &node.name));
        Ok(Some(CpuUsage { used, available: of, throttled, throttled_cpus: stood_still }))
    }

    pub fn is_saturated(&self) -> bool {
        self.used >= SATURATED_SHARE * self.available
            || self.throttled.is_some_and(|it| it >= THROTTLED_SHARE)
    }
}

/// A pooler without processor time looks like a full pool in its console: servers are lent, but do nothing. PostgreSQL's own
/// view tells the two apart. A session in a transaction, but without a statement, waits for the pooler or the client.
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
        lent: lent_servers(cell, node),
        active,
    };
    Ok(bound.then(finding).into_iter().collect())
}

pub fn pool(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let Some((node, pool, cpu)) = pooler_usage(cell)? else { return Ok(Vec::new()) };
    active(cell)?;
    let lent = lent_servers(cell, node).ok_or(MissingInput::Console)?;
    let busy = cell.median(busy_sessions).ok_or(MissingInput::Server)?;
    let size = f64::from(pool);
    let full = lent >= POOL_FULL_SHARE * size && busy >= POOL_IDLE_SHARE * size && clients(cell.setup) > pool;
    // Where they wait for each other's locks, more servers would wait.
    let bound = full && !cpu.is_saturated() && sessions_wait(cell).is_none();
    let finding = || Finding::PoolBound {
        cell: cell.number,
        node: node.name.clone(),
        pool,
        lent,
        busy,
        cpu: cpu.used,
        of_cpu: cpu.available,
    };
    Ok(bound.then(finding).into_iter().collect())
}

/// The pooler, its pool's size and its processors.
fn pooler_usage<'a>(cell: &CellTrials<'a>) -> Result<Option<(&'a Node, u32, CpuUsage)>, MissingInput> {
    let Some((node, (_, size))) = cell.pooler().zip(clients::pool(cell)) else { return Ok(None) };
    Ok(CpuUsage::measure(cell, node)?.map(|cpu| (node, size, cpu)))
}

/// Servers given to clients, by the pooler's console.
fn lent_servers(cell: &CellTrials<'_>, node: &Node) -> Option<f64> {
    let series = match node.kind {
        NodeKind::PgBouncer(_) => samples::PGBOUNCER_SV_ACTIVE,
        _ => samples::ODYSSEY_SV_ACTIVE,
    };
    cell.median(|it| mean(&sums(it.samples, &node.name, series, |_| true)))
}

fn active(cell: &CellTrials<'_>) -> Result<f64, MissingInput> {
    let server = cell.server().ok_or(MissingInput::Server)?;
    cell.median(|it| samples::sessions(it.samples, &server.name, "active")).ok_or(MissingInput::Server)
}

/// Where nothing bounds PostgreSQL the machine does, and its own rule tells of that.
pub fn server(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let node = cell.server().ok_or(MissingInput::Server)?;
    let full = |node: &Node| {
        Ok(CpuUsage::measure(cell, node)?.filter(CpuUsage::is_saturated).map(|it| (node.name.clone(), it)))
    };
    let replicas: Vec<Option<(String, CpuUsage)>> =
        replicas(cell, node).iter().map(full).collect::<Result<_, _>>()?;
    // Of replicas, which are alike, the one that has most to do.
    let replica = replicas.into_iter().flatten().max_by(|a, b| a.1.used.total_cmp(&b.1.used));
    let finding = |(node, cpu): (String, CpuUsage)| Finding::ServerBound {
        cell: cell.number,
        node,
        cpu: cpu.used,
        cpu_limit: cpu.available,
        throttled: cpu.throttled,
        throttled_cpu: cpu.throttled_cpus,
    };
    Ok(full(node)?.into_iter().chain(replica).map(finding).collect())
}

/// The others of the primary's kind.
fn replicas(cell: &CellTrials<'_>, primary: &Node) -> Vec<Node> {
    let stack = &cell.setup.stack;
    let limits = stack.replication.as_ref().map(|it| it.limits.clone()).unwrap_or_default();
    let replica = |name| Node { name, limits: limits.clone(), ..primary.clone() };
    stack.replica_names().into_iter().map(replica).collect()
}
