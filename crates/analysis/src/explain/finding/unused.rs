//! Findings on nodes that the load did not pass through
//!
//! The rule compares the transactions that poolers and PostgreSQL count with those that clients completed. For
//! balancers, it compares sessions instead. No limit is attributed to an unused node.

use super::{CellTrials, Finding, TrialFacts};
use crate::facts::samples::{self, maximum, sums, total_growth};
use model::finding::{Bound, Circumstance, UsageCounter};
use model::plan::{Node, NodeKind};
use model::product::Role;

/// Minimum number of completed transactions for a node to be judged.
const TRANSACTIONS_MIN: f64 = 100.0;
/// Share of the completed transactions below which a node counts as unused. Each client transaction causes at least one
/// transaction in every node on its path. A share of one half allows for late counts.
const USED_SHARE_MIN: f64 = 0.5;
/// Share of the completed transactions below which a node behind a service counts as unused. A service may respond to
/// most requests without its database.
const USED_SHARE_MIN_BEHIND_SERVICE: f64 = 0.01;
/// Largest accepted error from the monitoring's own transactions, as a share of the completed transactions.
const NOISE_SHARE_MAX: f64 = 0.05;
/// Minimum time between a server's first and last sample for the server to be judged, in seconds.
const SAMPLED_SECONDS_MIN: f64 = 2.0;
/// Delay with which PostgreSQL sessions report statistics, in seconds. Source: PostgreSQL manual, "The Cumulative
/// Statistics System".
const REPORT_DELAY_SECONDS: f64 = 1.0;

/// Number of transactions or sessions that a node counted in a trial, and number of transactions that clients completed
/// in the same time.
struct Counts {
    counter: UsageCounter,
    counted: f64,
    completed: f64,
    /// Largest possible error of `counted`, in transactions.
    noise: f64,
}

/// Findings on the poolers, balancers and servers that the load did not pass through in any of the trials.
pub fn nodes(cell: &CellTrials<'_>) -> Vec<Finding> {
    let unused_node = |node: &Node| {
        let known = cell.trials.iter().filter_map(|it| Some((*it, judged_counts(it, node)?)));
        let known: Vec<(&TrialFacts<'_>, Counts)> = known.collect();
        let (_, first) = known.first()?;
        let circumstance = Circumstance::NotUsed {
            node: node.name.clone(),
            transactions: known.iter().filter_map(|it| Some(it.0.summary?.total.counts.ok)).sum(),
            counter: first.counter,
            node_count: known.iter().map(|it| it.1.counted).sum::<f64>().round() as u64,
            trials: known.len() as u32,
            total_trials: cell.trials.len() as u32,
        };
        let all = known.iter().all(|(trial, counts)| is_unused(trial, counts));
        all.then_some(Finding::Circumstance { cell: cell.number, circumstance })
    };
    cell.setup.stack.nodes.iter().filter_map(unused_node).collect()
}

/// Names of the nodes that the load of a trial did not pass through.
pub fn unused_nodes(trial: &TrialFacts<'_>) -> Vec<String> {
    let unused = |node: &&Node| judged_counts(trial, node).is_some_and(|counts| is_unused(trial, &counts));
    trial.setup.stack.nodes.iter().filter(unused).map(|it| it.name.clone()).collect()
}

/// Counts of a node in a trial; `None` if they cannot show whether the load passed through the node.
fn judged_counts(trial: &TrialFacts<'_>, node: &Node) -> Option<Counts> {
    // Replicas may serve all reads, but the rule only looks at the primary.
    let replicas = trial.setup.stack.replication.is_some();
    let hidden = is_server(node) && (replicas || has_sessions(trial, node));
    if hidden || stays_open(trial) { None } else { counts(trial, node) }
}

fn is_unused(trial: &TrialFacts<'_>, usage: &Counts) -> bool {
    let service = trial.setup.stack.nodes.iter().any(|it| matches!(it.kind, NodeKind::Service(_)));
    let least = match usage.counter {
        UsageCounter::Sessions => 1.0,
        UsageCounter::Transactions if service => USED_SHARE_MIN_BEHIND_SERVICE * usage.completed,
        UsageCounter::Transactions => USED_SHARE_MIN * usage.completed,
    };
    usage.completed >= TRANSACTIONS_MIN
        && usage.noise <= NOISE_SHARE_MAX * usage.completed
        && usage.counted - usage.noise < least
}

fn is_server(node: &Node) -> bool {
    node.kind.role() == Role::Server
}

/// True if the finding attributes a limit to a node that `unused` reports.
pub fn is_attributed_to_unused(finding: &Finding, cell: &CellTrials<'_>, unused: &[Finding]) -> bool {
    let is_unused = |name: &str| {
        unused.iter().any(|finding| {
            matches!(finding, Finding::Circumstance { circumstance: Circumstance::NotUsed { node, .. }, .. } if node == name)
        })
    };
    let server = || cell.server().is_some_and(|it| is_unused(&it.name));
    match finding {
        Finding::PoolerBound { node, .. }
        | Finding::PoolBound { node, .. }
        | Finding::QueueInPooler { node, .. }
        | Finding::QueueInBalancer { node, .. }
        | Finding::ServerBound { node, .. } => is_unused(node),
        Finding::SessionsWait { .. } => server(),
        Finding::Bound { bound, .. } => match bound {
            Bound::Service { node, .. }
            | Bound::ServicePool { node, .. }
            | Bound::ServiceThreads { node, .. }
            | Bound::Reads { node, .. }
            | Bound::Writes { node, .. }
            | Bound::Memory { node, .. } => is_unused(node),
            Bound::HostCpu { nodes, .. } => nodes.iter().all(|it| is_unused(it)),
            Bound::WalFlush { .. }
            | Bound::SyncReplicas { .. }
            | Bound::RowLocks { .. }
            | Bound::Locks { .. }
            | Bound::AvoidableWork { .. }
            | Bound::ResultReading { .. }
            | Bound::DelayedAcknowledgements { .. }
            | Bound::Scans { .. }
            | Bound::Checkpoints { .. }
            // The evidence for this bound is PostgreSQL's idle CPU time.
            | Bound::Clients { .. } => server(),
        },
        _ => false,
    }
}

/// True if clients had sessions at a server at the end of a trial. PostgreSQL 15 counts a transaction that touches no
/// table only when the session ends or reports other statistics. Until then, the server's counters do not show that the
/// load reached the server. Sessions that ended earlier, such as pgdyno's own sessions before the trial, are already
/// counted.
fn has_sessions(trial: &TrialFacts<'_>, node: &Node) -> bool {
    let sampled = sums(trial.samples, &node.name, samples::PG_COMMITS, |_| true);
    let end = sampled.last().map_or(0.0, |it| it.0.as_secs_f64()) - REPORT_DELAY_SECONDS;
    let sessions = sums(trial.samples, &node.name, samples::PG_SESSIONS, |_| true);
    sessions.iter().any(|(moment, count)| moment.as_secs_f64() >= end && *count >= 1.0)
}

/// True if transactions stayed open for half of a trial. Counters include only transactions that have ended.
fn stays_open(trial: &TrialFacts<'_>) -> bool {
    let window = trial.summary.map_or(0.0, |it| it.window.as_secs_f64());
    let oldest = trial
        .server()
        .and_then(|it| maximum(&sums(trial.samples, &it.name, samples::PG_LONGEST_TRANSACTION, |_| true)));
    oldest.is_some_and(|it| it >= window / 2.0)
}

/// Counts of a node in a trial; `None` if it was not sampled, or not for long enough.
fn counts(trial: &TrialFacts<'_>, node: &Node) -> Option<Counts> {
    if is_server(node) {
        server_counts(trial, &node.name)
    } else {
        pooler_counts(trial, node).or_else(|| balancer_counts(trial, &node.name))
    }
}

fn server_counts(trial: &TrialFacts<'_>, node: &str) -> Option<Counts> {
    let moments = sums(trial.samples, node, samples::PG_COMMITS, |_| true);
    let (from, to) =
        (moments.first()?.0.as_secs_f64(), moments.last()?.0.as_secs_f64() - REPORT_DELAY_SECONDS);
    if to - from < SAMPLED_SECONDS_MIN - REPORT_DELAY_SECONDS {
        return None;
    }
    let all = total_growth(trial.samples, node, samples::PG_COMMITS)?
        + total_growth(trial.samples, node, samples::PG_ROLLBACKS)?;
    let monitoring = total_growth(trial.samples, node, samples::PG_MONITOR_TRANSACTIONS)?;
    let noise = monitoring / (to + REPORT_DELAY_SECONDS - from) * REPORT_DELAY_SECONDS;
    let (counter, counted) = (UsageCounter::Transactions, (all - monitoring).max(0.0));
    Some(Counts { counter, counted, completed: completed(trial, from, to)?, noise })
}

fn pooler_counts(trial: &TrialFacts<'_>, node: &Node) -> Option<Counts> {
    let product = node.kind.product();
    let shortest = product.pooler.as_ref()?.counter_interval;
    let counted = samples::POOL_TRANSACTIONS;
    if !product.reports(counted) {
        return None;
    }
    // The console has no row for a database that no client has used.
    let series = if product.reports(samples::POOL_SIZE) { samples::POOL_SIZE } else { counted };
    let moments = sums(trial.samples, &node.name, series, |_| true);
    let (from, to) = (moments.first()?.0.as_secs_f64(), moments.last()?.0.as_secs_f64());
    let all = sums(trial.samples, &node.name, counted, |_| true);
    // If there is only one sample, the row is new and counts from 0.
    let counted = all.last().map_or(0.0, |last| last.1 - if all.len() > 1 { all[0].1 } else { 0.0 });
    if to - from < shortest {
        return None;
    }
    let counter = UsageCounter::Transactions;
    Some(Counts { counter, counted, completed: completed(trial, from, to)?, noise: 0.0 })
}

/// Sessions of a balancer's frontends: the maximum number of open sessions plus the number of new sessions. A balancer
/// counts no transactions, and it counts a session's bytes only when the session ends.
fn balancer_counts(trial: &TrialFacts<'_>, node: &str) -> Option<Counts> {
    let frontend_sums = |series| sums(trial.samples, node, series, |it| it.ends_with("/FRONTEND"));
    let (open, begun) =
        (frontend_sums(samples::BALANCER_SESSIONS), frontend_sums(samples::BALANCER_SESSIONS_BEGUN));
    let (from, to) = (open.first()?.0.as_secs_f64(), open.last()?.0.as_secs_f64());
    let counted = maximum(&open)? + begun.last()?.1 - begun.first()?.1;
    (to - from >= SAMPLED_SECONDS_MIN).then_some(Counts {
        counter: UsageCounter::Sessions,
        counted: counted.max(0.0),
        completed: completed(trial, from, to)?,
        noise: 0.0,
    })
}

/// Number of transactions that clients completed between two times of the window, given in seconds. Only whole seconds
/// between the two times count.
fn completed(trial: &TrialFacts<'_>, from: f64, to: f64) -> Option<f64> {
    let summary = trial.summary?;
    if trial.delivered.is_empty() {
        return Some(summary.total.counts.ok as f64 * (to - from) / summary.window.as_secs_f64());
    }
    let between = trial.delivered.iter().take(to.max(0.0) as usize).skip(from.ceil() as usize);
    Some(between.sum())
}
