//! Findings on services limited by CPU, connections or threads

use super::bound::CpuUsage;
use super::{CellTrials, Finding, TrialFacts};
use crate::facts::samples::{self, growth, mean, sums};
use model::finding::{Bound, Circumstance, MissingInput};
use model::plan::{Node, NodeKind, Service};
use std::collections::BTreeSet;

/// Share of connections or threads in use above which they are exhausted.
const EXHAUSTED_SHARE: f64 = 0.9;
/// Mean number of waiting requests above which there is a queue.
const QUEUE_MIN: f64 = 1.0;
/// Share of waiting requests above which chance does not explain the waits.
const WAITED_SHARE_MIN: f64 = 0.1;
/// `SET` statements per transaction above which server connections alternate between sessions with different settings.
const SETS_PER_TRANSACTION_MIN: f64 = 0.05;

fn services<'a>(cell: &CellTrials<'a>) -> impl Iterator<Item = (&'a Node, &'a Service)> {
    let as_service = |node: &'a Node| match &node.kind {
        NodeKind::Service(service) => Some((node, service)),
        _ => None,
    };
    cell.setup.stack.nodes.iter().filter_map(as_service)
}

pub fn cpu(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let mut found = Vec::new();
    for (node, _) in services(cell) {
        let Some(cpu) = CpuUsage::measure(cell, node)? else { continue };
        found.extend(cpu.is_saturated().then(|| Finding::Bound {
            cell: cell.number,
            bound: Bound::Service {
                node: node.name.clone(),
                cpu: cpu.used,
                cpu_limit: cpu.available,
                throttled: cpu.throttled,
                throttled_cpu: cpu.throttled_cpus,
            },
        }));
    }
    Ok(found)
}

fn gauge(cell: &CellTrials<'_>, node: &Node, series: &str, label: &str) -> Option<f64> {
    cell.median(|trial| mean(&sums(trial.samples, &node.name, series, |it| it == label)))
}

/// Transactions per second that received a response, with any outcome. Rejected transactions count, because they used
/// the service too.
fn rate(trial: &TrialFacts<'_>) -> Option<f64> {
    let summary = trial.valid()?;
    let executed = summary.total.counts.executed();
    (executed > 0).then(|| executed as f64 / summary.window.as_secs_f64())
}

pub fn pools(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let mut found = Vec::new();
    for (node, _) in services(cell) {
        let names = labels_of(cell, node, samples::SERVICE_POOL_SIZE);
        if names.is_empty() {
            return Err(MissingInput::Stats);
        }
        for pool in names {
            let gauge_of = |series| gauge(cell, node, series, pool);
            let known = gauge_of(samples::SERVICE_POOL_SIZE).zip(gauge_of(samples::SERVICE_POOL_BUSY));
            let (size, busy) = known.ok_or(MissingInput::Stats)?;
            let waiting = gauge_of(samples::SERVICE_POOL_WAITING);
            let waited_share = cell.median(|trial| {
                let total = samples::SERVICE_POOL_WAITED;
                Some(growth(trial.samples, &node.name, total, |it| it == pool)? / rate(trial)?)
            });
            let queue = waiting.is_some_and(|it| it >= QUEUE_MIN)
                || waited_share.is_some_and(|it| it >= WAITED_SHARE_MIN);
            let (node, pool) = (node.name.clone(), pool.to_owned());
            let bound = Bound::ServicePool { node, pool, size, busy, waiting, waited_share };
            found.extend(
                (busy >= EXHAUSTED_SHARE * size && queue)
                    .then_some(Finding::Bound { cell: cell.number, bound }),
            );
        }
    }
    Ok(found)
}

/// Labels of a node's series, such as the names of its pools.
fn labels_of<'a>(cell: &CellTrials<'a>, node: &Node, series: &str) -> BTreeSet<&'a str> {
    let samples = cell.trials.iter().flat_map(|it| it.samples);
    samples.filter(|it| it.node == node.name && it.series == series).map(|it| &*it.label).collect()
}

/// Findings on services with exhausted threads. A service without a thread limit cannot exhaust them.
pub fn threads(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let mut found = Vec::new();
    for (node, _) in services(cell) {
        let pools = labels_of(cell, node, samples::SERVICE_THREADS_BUSY);
        if pools.is_empty() && labels_of(cell, node, samples::SERVICE_POOL_SIZE).is_empty() {
            return Err(MissingInput::Stats);
        }
        for pool in pools {
            let gauge_of = |series| gauge(cell, node, series, pool);
            let known = gauge_of(samples::SERVICE_THREADS_SIZE).zip(gauge_of(samples::SERVICE_THREADS_BUSY));
            let Some((size, busy)) = known else { continue };
            let waiting = gauge_of(samples::SERVICE_THREADS_WAITING);
            let queue = waiting.is_none_or(|it| it >= QUEUE_MIN);
            let (node, pool) = (node.name.clone(), pool.to_owned());
            let bound = Bound::ServiceThreads { node, pool, size, busy, waiting };
            let full = size > 0.0 && busy >= EXHAUSTED_SHARE * size && queue;
            found.extend(full.then_some(Finding::Bound { cell: cell.number, bound }));
        }
    }
    Ok(found)
}

/// Findings on a service with more connections than its pooler has server connections. A finding requires that
/// connections wait in the pooler, or that server connections are often reconfigured for other sessions.
pub fn pools_in_row(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let (Some(pooler), Some((_, pool))) = (cell.pooler(), super::clients::pool(cell)) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for (node, service) in services(cell) {
        let size =
            cell.median(|it| mean(&sums(it.samples, &node.name, samples::SERVICE_POOL_SIZE, |_| true)));
        let connections = size.ok_or(MissingInput::Stats)? * f64::from(service.copies);
        let pooler_growth = |it: &TrialFacts<'_>, series| growth(it.samples, &pooler.name, series, |_| true);
        let transactions = |trial: &TrialFacts<'_>| {
            pooler_growth(trial, samples::POOL_TRANSACTIONS).filter(|count| *count > 0.0)
        };
        let assignments_per_transaction = cell
            .median(|trial| Some(pooler_growth(trial, samples::POOL_ASSIGNMENTS)? / transactions(trial)?));
        let sets_per_transaction = cell.median(|trial| {
            let sets = growth(trial.samples, &trial.server()?.name, samples::PG_SETS, |_| true)?;
            Some(sets / transactions(trial)?)
        });
        let waiting =
            cell.median(|it| mean(&sums(it.samples, &pooler.name, samples::POOL_CLIENTS_WAITING, |_| true)));
        let felt = waiting.is_some_and(|it| it >= QUEUE_MIN)
            || sets_per_transaction.is_some_and(|it| it >= SETS_PER_TRANSACTION_MIN);
        let circumstance = Circumstance::ChainedPools {
            service: node.name.clone(),
            connections,
            pooler: pooler.name.clone(),
            pool,
            assignments_per_transaction,
            sets_per_transaction,
            waiting,
        };
        let more = connections > f64::from(pool);
        found.extend((more && felt).then_some(Finding::Circumstance { cell: cell.number, circumstance }));
    }
    Ok(found)
}
