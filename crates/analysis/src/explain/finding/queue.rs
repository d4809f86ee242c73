//! Findings on queues of waiting transactions

use super::{CellTrials, Finding, TrialFacts};
use crate::facts::samples::{self, maximum, mean, sums};
use crate::facts::usage::busy_sessions;
use model::Nanos;
use model::plan::NodeKind;

/// Smallest reported share of waiting clients.
const WAITING_SHARE_MIN: f64 = 0.05;

/// Minimum number of waiting clients that counts as a queue.
fn queue_min(cell: &CellTrials<'_>) -> f64 {
    (WAITING_SHARE_MIN * f64::from(cell.setup.load.model.clients())).max(1.0)
}

pub fn in_balancer(cell: &CellTrials<'_>) -> Option<Finding> {
    let (node, maxconn) = cell.setup.stack.nodes.iter().find_map(|node| match &node.kind {
        NodeKind::Balancer(balancer) => Some((node, balancer.maxconn)),
        _ => None,
    })?;
    // A balancer may have a queue for each server, and a queue for requests that are not assigned to a server.
    let mean_of = |series: &'static str| {
        move |it: &TrialFacts<'_>| mean(&sums(it.samples, &node.name, series, |_| true))
    };
    let waiting = cell.median(mean_of(samples::BALANCER_QUEUE))?;
    (waiting >= queue_min(cell)).then(|| Finding::QueueInBalancer {
        cell: cell.number,
        node: node.name.clone(),
        waiting,
        wait: cell.median(|trial| {
            let is_backend = |label: &str| label.ends_with("BACKEND");
            mean(&sums(trial.samples, &node.name, samples::BALANCER_QUEUE_TIME, is_backend))
        }),
        maxconn,
    })
}

/// Finding on a queue in a pooler. If the pooler does not report waiting clients, their number is in-flight
/// transactions minus PostgreSQL's busy sessions.
pub fn in_pooler(cell: &CellTrials<'_>) -> Option<Finding> {
    let node = cell.pooler()?;
    let in_flight = cell.median(transactions_in_flight)?;
    let busy = cell.median(busy_sessions);
    let gauge = |series: &'static str, reduce: fn(&[(Nanos, f64)]) -> Option<f64>| {
        cell.median(|it| reduce(&sums(it.samples, &node.name, series, |_| true)))
    };
    let waiting = match node.kind.product().reports(samples::POOL_CLIENTS_WAITING) {
        true => Some(gauge(samples::POOL_CLIENTS_WAITING, mean)?),
        false => None,
    };
    let queued = match waiting {
        Some(waiting) => waiting,
        None => in_flight - busy?,
    };
    (queued >= queue_min(cell)).then(|| Finding::QueueInPooler {
        cell: cell.number,
        node: node.name.clone(),
        waiting,
        longest_wait: gauge(samples::POOL_LONGEST_WAIT, maximum),
        in_flight,
        busy,
    })
}

/// Mean number of in-flight transactions, by Little's law: throughput × mean service time.
fn transactions_in_flight(trial: &TrialFacts<'_>) -> Option<f64> {
    let summary = trial.valid()?;
    Some(summary.total.tps.0 * summary.total.service.mean?.as_secs_f64())
}
