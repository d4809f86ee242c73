//! Findings on nodes that the load did not pass through
//!
//! Transactions counted by poolers and PostgreSQL are compared with those that clients completed. No limit is
//! attributed to an unused node.

use super::{CellTrials, Finding, TrialFacts};
use crate::facts::samples::{self, maximum, sums, total_growth};
use model::finding::{Bound, Circumstance};
use model::plan::{Node, NodeKind};
use model::product::Role;

/// Fewest completed transactions with which a node is judged.
const ENOUGH: f64 = 100.0;
/// Share of the completed transactions below which a node counts as unused. Each transaction of a client is at least
/// one transaction of every node on its path. A half allows for late counts.
const DIRECT: f64 = 0.5;
/// Share for a path with a service, which may answer most requests without its database.
const BEHIND_SERVICE: f64 = 0.01;
/// Most transactions of the monitoring that may not be counted yet, as a share of the completed transactions.
const NOISE: f64 = 0.05;
/// Shortest time between a server's first and last answer with which it is judged, seconds.
const SHORTEST: f64 = 2.0;
/// Delay with which PostgreSQL sessions report statistics, seconds; see the manual on the cumulative statistics system.
const LATE: f64 = 1.0;

/// Transactions that a node counted in a trial, and those that clients completed in the same time.
struct Counts {
    counted: f64,
    completed: f64,
    /// Possible error of `counted`.
    noise: f64,
}

/// A finding for each pooler and server that the load did not pass through.
pub fn nodes(cell: &CellTrials<'_>) -> Vec<Finding> {
    let nodes = &cell.setup.stack.nodes;
    // All reads may go to replicas, which are not nodes of the path.
    let replicas = cell.setup.stack.replication.is_some();
    let service = nodes.iter().any(|it| matches!(it.kind, NodeKind::Service(_)));
    let least = if service { BEHIND_SERVICE } else { DIRECT };
    let unused = |it: &Counts| {
        let judged = it.completed >= ENOUGH && it.noise <= NOISE * it.completed;
        judged && it.counted - it.noise < least * it.completed
    };
    let of_node = |node: &Node| {
        let known = cell.trials.iter().filter(|it| !stays_open(it, cell));
        let known = known.filter(|it| !(is_server(node) && has_sessions(it, node)));
        let known: Vec<_> =
            known.filter_map(|it| Some((counts(it, node)?, it.summary?.total.counts.ok))).collect();
        let it = Circumstance::NotUsed {
            node: node.name.clone(),
            transactions: known.iter().map(|it| it.1).sum(),
            counted: known.iter().map(|it| it.0.counted).sum::<f64>().round() as u64,
            trials: known.len() as u32,
            total_trials: cell.trials.len() as u32,
        };
        let all = !known.is_empty() && known.iter().all(|it| unused(&it.0));
        all.then_some(Finding::Circumstance { cell: cell.number, circumstance: it })
    };
    nodes.iter().filter(|it| !(replicas && is_server(it))).filter_map(of_node).collect()
}

fn is_server(node: &Node) -> bool {
    node.kind.role() == Role::Server
}

/// True if a finding attributes a limit to one of the nodes that these findings name.
pub fn blames(it: &Finding, cell: &CellTrials<'_>, unused: &[Finding]) -> bool {
    let is_unused = |name: &str| {
        unused.iter().any(|it| {
            matches!(it, Finding::Circumstance { circumstance: Circumstance::NotUsed { node, .. }, .. } if node == name)
        })
    };
    let server = || cell.server().is_some_and(|it| is_unused(&it.name));
    match it {
        Finding::PoolerBound { node, .. }
        | Finding::PoolBound { node, .. }
        | Finding::QueueInPooler { node, .. }
        | Finding::QueueInBalancer { node, .. }
        | Finding::ServerBound { node, .. } => is_unused(node),
        Finding::SessionsWait { .. } => server(),
        Finding::Bound { bound: by, .. } => match by {
            Bound::Service { node, .. }
            | Bound::ServicePool { node, .. }
            | Bound::ServiceThreads { node, .. }
            | Bound::Reads { node, .. }
            | Bound::Writes { node, .. }
            | Bound::Memory { node, .. } => is_unused(node),
            Bound::WalFlush { .. }
            | Bound::SyncReplicas { .. }
            | Bound::RowLocks { .. }
            | Bound::Scans { .. }
            | Bound::Checkpoints { .. }
            // Its evidence is the idle CPU time of PostgreSQL.
            | Bound::Clients { .. } => server(),
        },
        _ => false,
    }
}

/// True if clients had sessions at a server. PostgreSQL 15 counts the transactions of statements that touch no table only
/// when the session ends or counts something else, so that its counters do not show that the load came through.
fn has_sessions(trial: &TrialFacts<'_>, node: &Node) -> bool {
    maximum(&sums(trial.samples, &node.name, samples::PG_SESSIONS, |_| true)).is_some_and(|it| it >= 1.0)
}

/// True if transactions stayed open for half of a trial. Counters only include transactions that have ended.
fn stays_open(trial: &TrialFacts<'_>, cell: &CellTrials<'_>) -> bool {
    let window = trial.summary.map_or(0.0, |it| it.window.as_secs_f64());
    let oldest = cell
        .server()
        .and_then(|it| maximum(&sums(trial.samples, &it.name, samples::PG_LONGEST_TRANSACTION, |_| true)));
    oldest.is_some_and(|it| it >= window / 2.0)
}

/// `None` if the node was not sampled, or not for long enough.
fn counts(trial: &TrialFacts<'_>, node: &Node) -> Option<Counts> {
    if is_server(node) { of_server(trial, &node.name) } else { of_pooler(trial, node) }
}

fn of_server(trial: &TrialFacts<'_>, node: &str) -> Option<Counts> {
    let moments = sums(trial.samples, node, samples::PG_COMMITS, |_| true);
    let (from, to) = (moments.first()?.0.as_secs_f64(), moments.last()?.0.as_secs_f64() - LATE);
    if to - from < SHORTEST - LATE {
        return None;
    }
    let all = total_growth(trial.samples, node, samples::PG_COMMITS)?
        + total_growth(trial.samples, node, samples::PG_ROLLBACKS)?;
    let own = total_growth(trial.samples, node, samples::PG_MONITOR_TRANSACTIONS)?;
    let noise = own / (to + LATE - from) * LATE;
    Some(Counts { counted: (all - own).max(0.0), completed: completed(trial, from, to)?, noise })
}

fn of_pooler(trial: &TrialFacts<'_>, node: &Node) -> Option<Counts> {
    let product = node.kind.product();
    let shortest = product.pooler.as_ref()?.counter_interval;
    let counted = samples::POOL_TRANSACTIONS;
    if !product.reports(counted) {
        return None;
    }
    // The console reports no transactions of a database that no client has used.
    let asked = if product.reports(samples::POOL_SIZE) { samples::POOL_SIZE } else { counted };
    let moments = sums(trial.samples, &node.name, asked, |_| true);
    let (from, to) = (moments.first()?.0.as_secs_f64(), moments.last()?.0.as_secs_f64());
    let all = sums(trial.samples, &node.name, counted, |_| true);
    // The first use of a database creates its first row.
    let counted = all.last().map_or(0.0, |last| last.1 - if all.len() > 1 { all[0].1 } else { 0.0 });
    if to - from < shortest {
        return None;
    }
    Some(Counts { counted, completed: completed(trial, from, to)?, noise: 0.0 })
}

/// Transactions that clients completed between two times of the window, in seconds, counting the whole seconds between
/// them.
fn completed(trial: &TrialFacts<'_>, from: f64, to: f64) -> Option<f64> {
    let summary = trial.summary?;
    if trial.delivered.is_empty() {
        return Some(summary.total.counts.ok as f64 * (to - from) / summary.window.as_secs_f64());
    }
    let between = trial.delivered.iter().take(to.max(0.0) as usize).skip(from.ceil() as usize);
    Some(between.sum())
}
