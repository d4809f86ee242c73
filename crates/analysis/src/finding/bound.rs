//! Do processors, or a pool of servers, hold the throughput where it is?

use super::queue::busy;
use super::samples::{self, mean, sums};
use super::waits::sessions_wait;
use super::{Cell, Finding, clients};
use crate::matrix::clients;
use model::finding::Missing;
use model::matrix::NotApplied;
use model::plan::{Kind, Node};

/// Share of the processors it may use from which on a node has no reserve.
const FULL: f64 = 0.9;
/// Share of a quota's periods in which a node that is held back by it, and not by chance, used it up.
const HELD_BACK: f64 = 0.5;
/// Share of a pool that is lent from which on it is full.
const LENT: f64 = 0.9;
/// Share of a pool below which most of it does nothing. Between two statements of its client a server is not at work, so
/// that even a pool that holds everything up is not all at work.
const IDLE: f64 = 0.5;

/// Processors of a node.
pub struct Cpu {
    pub used: f64,
    /// How many it could use.
    pub of: f64,
    pub throttled: Option<f64>,
    pub stood_still: Option<f64>,
}

impl Cpu {
    /// `None` where nothing bounds it: what is full on a shared machine may be anybody's.
    pub fn of(cell: &Cell<'_>, node: &Node) -> Result<Option<Cpu>, Missing> {
        let applied = |limit: &str| {
            let fails = |it: &NotApplied| it.node == node.name && it.limit == limit;
            !cell.trials.iter().any(|it| it.not_applied.iter().any(fails))
        };
        // Each copy of a service has its own.
        let (threads, copies) = match &node.kind {
            Kind::PgBouncer(_) => (Some(1.0), 1.0),
            Kind::Odyssey(it) => (Some(f64::from(it.workers)), 1.0),
            Kind::Service(it) => (None, f64::from(it.copies)),
            _ => (None, 1.0),
        };
        let quota = node.limits.cpu.filter(|_| applied("cpu")).map(|it| it * copies);
        let pinned = node.limits.cpus.len() as f64;
        let pinned = (pinned > 0.0 && applied("cpus")).then_some(pinned);
        let Some(of) = [quota, pinned, threads].into_iter().flatten().min_by(f64::total_cmp) else {
            return Ok(None);
        };
        let used = cell.median(|it| samples::processors(it.samples, &node.name)).ok_or(Missing::Group)?;
        let throttled = cell.median(|it| samples::throttled(it.samples, &node.name));
        let stood_still = cell.median(|it| samples::stood_still(it.samples, &node.name));
        Ok(Some(Cpu { used, of, throttled, stood_still }))
    }

    pub fn full(&self) -> bool {
        self.used >= FULL * self.of || self.throttled.is_some_and(|it| it >= HELD_BACK)
    }
}

/// A pooler without processor time looks like a full pool in its console: servers are lent, but do nothing. PostgreSQL's own
/// view tells the two apart. A session in a transaction, but without a statement, waits for the pooler or the client.
pub fn pooler(cell: &Cell<'_>) -> Result<Vec<Finding>, Missing> {
    let Some((node, pool, cpu)) = pooled(cell)? else { return Ok(Vec::new()) };
    let active = active(cell)?;
    let bound = cpu.full() && active < IDLE * f64::from(pool);
    let finding = || Finding::PoolerBound {
        cell: cell.number,
        node: node.name.clone(),
        cpu: cpu.used,
        of_cpu: cpu.of,
        throttled: cpu.throttled,
        stood_still: cpu.stood_still,
        pool,
        lent: lent(cell, node),
        active,
    };
    Ok(bound.then(finding).into_iter().collect())
}

pub fn pool(cell: &Cell<'_>) -> Result<Vec<Finding>, Missing> {
    let Some((node, pool, cpu)) = pooled(cell)? else { return Ok(Vec::new()) };
    active(cell)?;
    let lent = lent(cell, node).ok_or(Missing::Console)?;
    let busy = cell.median(busy).ok_or(Missing::Server)?;
    let size = f64::from(pool);
    let full = lent >= LENT * size && busy >= IDLE * size && clients(cell.setup) > pool;
    // Where they wait for each other's locks, more servers would wait.
    let bound = full && !cpu.full() && sessions_wait(cell).is_none();
    let finding = || Finding::PoolBound {
        cell: cell.number,
        node: node.name.clone(),
        pool,
        lent,
        busy,
        cpu: cpu.used,
        of_cpu: cpu.of,
    };
    Ok(bound.then(finding).into_iter().collect())
}

/// The pooler, its pool's size and its processors.
fn pooled<'a>(cell: &Cell<'a>) -> Result<Option<(&'a Node, u32, Cpu)>, Missing> {
    let Some((node, (_, size))) = cell.pooler().zip(clients::pool(cell)) else { return Ok(None) };
    Ok(Cpu::of(cell, node)?.map(|cpu| (node, size, cpu)))
}

/// Servers given to clients, by the pooler's console.
fn lent(cell: &Cell<'_>, node: &Node) -> Option<f64> {
    let series = match node.kind {
        Kind::PgBouncer(_) => samples::PGBOUNCER_SV_ACTIVE,
        _ => samples::ODYSSEY_SV_ACTIVE,
    };
    cell.median(|it| mean(&sums(it.samples, &node.name, series, |_| true)))
}

fn active(cell: &Cell<'_>) -> Result<f64, Missing> {
    let server = cell.server().ok_or(Missing::Server)?;
    cell.median(|it| samples::sessions(it.samples, &server.name, "active")).ok_or(Missing::Server)
}

/// Where nothing bounds PostgreSQL the machine does, and its own rule tells of that.
pub fn server(cell: &Cell<'_>) -> Result<Vec<Finding>, Missing> {
    let node = cell.server().ok_or(Missing::Server)?;
    let full = |node: &Node| Ok(Cpu::of(cell, node)?.filter(Cpu::full).map(|it| (node.name.clone(), it)));
    let replicas: Vec<Option<(String, Cpu)>> =
        replicas(cell, node).iter().map(full).collect::<Result<_, _>>()?;
    // Of replicas, which are alike, the one that has most to do.
    let replica = replicas.into_iter().flatten().max_by(|a, b| a.1.used.total_cmp(&b.1.used));
    let finding = |(node, cpu): (String, Cpu)| Finding::ServerBound {
        cell: cell.number,
        node,
        cpu: cpu.used,
        of_cpu: cpu.of,
        throttled: cpu.throttled,
        stood_still: cpu.stood_still,
    };
    Ok(full(node)?.into_iter().chain(replica).map(finding).collect())
}

/// The others of the primary's kind.
fn replicas(cell: &Cell<'_>, primary: &Node) -> Vec<Node> {
    let stack = &cell.setup.stack;
    let limits = stack.replication.as_ref().map(|it| it.limits.clone()).unwrap_or_default();
    let replica = |name| Node { name, limits: limits.clone(), ..primary.clone() };
    stack.replicas().into_iter().map(replica).collect()
}
