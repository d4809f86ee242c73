//! What holds the throughput where it is?

use super::clients::pool;
use super::queue::busy;
use super::samples::{self, mean, sums};
use super::{Cell, Finding, TrialFacts};
use crate::matrix::clients;
use model::plan::{Kind, Node};
use std::collections::BTreeMap;

/// Share of the processors it may use from which on a node has no reserve.
const FULL: f64 = 0.9;
/// Share of a quota's periods in which a node that is held back by it, and not by chance, used it up.
const HELD_BACK: f64 = 0.5;
/// Share of a pool that is lent from which on it is full.
const LENT: f64 = 0.9;
/// Share of a pool below which most of it does nothing. Between two statements of its client a server is not at work, so
/// that even a pool that holds everything up is not all at work.
const IDLE: f64 = 0.5;
/// Share of active sessions that wait for one thing.
const WAITS: f64 = 0.5;
/// Fewer active sessions are no queue.
const ACTIVE: f64 = 2.0;

/// Processors of a node.
struct Cpu {
    used: f64,
    /// How many it could use.
    of: f64,
    throttled: Option<f64>,
    stood_still: Option<f64>,
}

impl Cpu {
    /// `None` when its use was not measured.
    fn of(cell: &Cell<'_>, node: &Node) -> Option<Cpu> {
        let used = cell.median(|it| samples::processors(it.samples, &node.name))?;
        let throttled = cell.median(|it| samples::throttled(it.samples, &node.name));
        let stood_still = cell.median(|it| samples::stood_still(it.samples, &node.name));
        let applied =
            |it: &&TrialFacts<'_>| !it.not_applied.iter().any(|it| it.node == node.name && it.limit == "cpu");
        let limit = node.limits.cpu.filter(|_| cell.trials.iter().all(applied));
        let threads = match &node.kind {
            Kind::PgBouncer(_) => Some(1.0),
            Kind::Odyssey(it) => Some(f64::from(it.workers)),
            _ => None,
        };
        let of = match (limit, threads) {
            (Some(limit), Some(threads)) => Some(limit.min(threads)),
            (one, other) => one.or(other),
        };
        Some(Cpu { used, of: of?, throttled, stood_still })
    }

    fn full(&self) -> bool {
        self.used >= FULL * self.of || self.throttled.is_some_and(|it| it >= HELD_BACK)
    }
}

/// A pooler without processor time looks like a full pool in its console: servers are lent, but do nothing. PostgreSQL's own
/// view tells the two apart. A session in a transaction, but without a statement, waits for the pooler or the client.
pub fn pooler_or_pool(cell: &Cell<'_>) -> Option<Finding> {
    let node = cell.pooler()?;
    let (_, pool) = pool(cell)?;
    let size = f64::from(pool);
    let cpu = Cpu::of(cell, node)?;
    let server = cell.server()?;
    let active = cell.median(|it| samples::sessions(it.samples, &server.name, "active"))?;
    let series = match node.kind {
        Kind::PgBouncer(_) => samples::PGBOUNCER_SV_ACTIVE,
        _ => samples::ODYSSEY_SV_ACTIVE,
    };
    let lent = cell.median(|it| mean(&sums(it.samples, &node.name, series, |_| true)));
    if cpu.full() && active < IDLE * size {
        return Some(Finding::PoolerBound {
            cell: cell.number,
            node: node.name.clone(),
            cpu: cpu.used,
            of_cpu: cpu.of,
            throttled: cpu.throttled,
            stood_still: cpu.stood_still,
            pool,
            lent,
            active,
        });
    }
    let (lent, busy) = (lent?, cell.median(busy)?);
    let full = lent >= LENT * size && busy >= IDLE * size && clients(cell.setup) > pool;
    // Where they wait for each other's locks, more servers would wait.
    (full && !cpu.full() && sessions_wait(cell).is_none()).then(|| Finding::PoolBound {
        cell: cell.number,
        node: node.name.clone(),
        pool,
        lent,
        busy,
        cpu: cpu.used,
        of_cpu: cpu.of,
    })
}

/// Only where PostgreSQL has a limit of its own: what is full on a shared machine may be anybody's.
pub fn server(cell: &Cell<'_>) -> Option<Finding> {
    let node = cell.server()?;
    let cpu = Cpu::of(cell, node)?;
    cpu.full().then(|| Finding::ServerBound {
        cell: cell.number,
        node: node.name.clone(),
        cpu: cpu.used,
        of_cpu: cpu.of,
        throttled: cpu.throttled,
        stood_still: cpu.stood_still,
    })
}

/// `running` is waiting for nothing.
pub fn sessions_wait(cell: &Cell<'_>) -> Option<Finding> {
    let node = &cell.server()?.name;
    let active = cell.median(|it| samples::sessions(it.samples, node, "active"))?;
    let mut events: BTreeMap<&str, ()> = BTreeMap::new();
    for trial in &cell.trials {
        let waits = trial.samples.iter().filter(|it| it.node == *node && it.series == samples::PG_WAITS);
        events.extend(waits.map(|it| (&*it.label, ())));
    }
    let share = |event: &str| {
        cell.median(|it| {
            let all: f64 = sums(it.samples, node, samples::PG_WAITS, |_| true).iter().map(|it| it.1).sum();
            let of: f64 =
                sums(it.samples, node, samples::PG_WAITS, |it| it == event).iter().map(|it| it.1).sum();
            (all > 0.0).then(|| of / all)
        })
    };
    let shares = events.into_keys().filter(|it| *it != "running").filter_map(|it| Some((it, share(it)?)));
    let (event, share) = shares.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let finding = || Finding::SessionsWait { cell: cell.number, event: event.to_owned(), share, active };
    (share >= WAITS && active >= ACTIVE).then(finding)
}
