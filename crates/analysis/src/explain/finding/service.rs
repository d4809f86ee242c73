//! Findings on services limited by CPU, connections or threads

use super::bound::CpuUsage;
use super::{CellTrials, Finding, TrialFacts};
use crate::facts::samples::{self, growth, mean, sums};
use model::Sample;
use model::finding::{Bound, Circumstance, MissingInput};
use model::plan::{Node, NodeKind};
use std::collections::BTreeSet;

/// Share of connections or threads in use above which they are exhausted.
const EXHAUSTED_SHARE: f64 = 0.9;
/// Mean number of waiting requests above which there is a queue.
const QUEUE_MIN: f64 = 1.0;
/// Share of waiting requests above which chance does not explain the waits.
const WAITED_SHARE_MIN: f64 = 0.1;
/// `SET` statements per transaction above which server connections alternate between sessions with different settings.
const SETS_PER_TRANSACTION_MIN: f64 = 0.05;

fn services<'a>(cell: &CellTrials<'a>) -> impl Iterator<Item = &'a Node> {
    cell.setup.stack.nodes.iter().filter(|it| matches!(it.kind, NodeKind::Service(_)))
}

/// Findings on CPU-bound services. If all copies of a service are CPU-bound, the finding names the service, otherwise
/// each CPU-bound copy has a finding of its own.
pub fn cpu(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let mut found = Vec::new();
    for node in services(cell) {
        let Some(total) = CpuUsage::measure(cell, node)? else { continue };
        let mut saturated = Vec::new();
        let instances = node.instances();
        for instance in &instances {
            let usage = CpuUsage::measure(cell, instance)?.filter(CpuUsage::is_saturated);
            saturated.extend(usage.map(|it| (instance.name.clone(), it)));
        }
        let all = saturated.len() == instances.len() || total.by_pinning && total.is_saturated();
        let reported = if all { vec![(node.name.clone(), total)] } else { saturated };
        found.extend(reported.into_iter().map(|(node, cpu)| Finding::Bound {
            cell: cell.number,
            bound: Bound::Service {
                node,
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

/// Usage of a service's pool of connections or threads, by one copy or by all.
struct PoolUsage {
    node: String,
    size: f64,
    busy: f64,
    waiting: Option<f64>,
    waited_share: Option<f64>,
}

impl PoolUsage {
    fn is_full(&self) -> bool {
        self.size > 0.0 && self.busy >= EXHAUSTED_SHARE * self.size
    }

    /// Usage by all copies of a service, which get equal shares of the requests.
    fn total(node: &Node, copies: &[PoolUsage]) -> PoolUsage {
        let sum = |figure: fn(&PoolUsage) -> Option<f64>| copies.iter().map(figure).sum::<Option<f64>>();
        PoolUsage {
            node: node.name.clone(),
            size: copies.iter().map(|it| it.size).sum(),
            busy: copies.iter().map(|it| it.busy).sum(),
            waiting: sum(|it| it.waiting),
            waited_share: sum(|it| it.waited_share).map(|it| it / copies.len() as f64),
        }
    }
}

/// Usage that exhausts a pool: of the whole service if the pools of all copies are full, otherwise of each copy with a
/// full pool. `has_queue` is true if requests wait for the pool.
fn exhausted(node: &Node, copies: Vec<PoolUsage>, has_queue: impl Fn(&PoolUsage) -> bool) -> Vec<PoolUsage> {
    let judged = match copies.iter().all(PoolUsage::is_full) {
        true => vec![PoolUsage::total(node, &copies)],
        false => copies,
    };
    judged.into_iter().filter(|it| it.is_full() && has_queue(it)).collect()
}

pub fn pools(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let mut found = Vec::new();
    for node in services(cell) {
        let instances = node.instances();
        let names = labels_of(cell, node, samples::SERVICE_POOL_SIZE);
        if names.is_empty() {
            return Err(MissingInput::Stats);
        }
        for pool in names {
            let usage = |instance: &Node| {
                let gauge_of = |series| gauge(cell, instance, series, pool);
                let known = gauge_of(samples::SERVICE_POOL_SIZE).zip(gauge_of(samples::SERVICE_POOL_BUSY));
                let (size, busy) = known.ok_or(MissingInput::Stats)?;
                let waited_share = cell.median(|trial| {
                    let total = samples::SERVICE_POOL_WAITED;
                    let waited = growth(trial.samples, &instance.name, total, |it| it == pool)?;
                    Some(waited / (rate(trial)? / instances.len() as f64))
                });
                let waiting = gauge_of(samples::SERVICE_POOL_WAITING);
                Ok(PoolUsage { node: instance.name.clone(), size, busy, waiting, waited_share })
            };
            let copies = instances.iter().map(usage).collect::<Result<Vec<_>, MissingInput>>()?;
            let has_queue = |usage: &PoolUsage| {
                usage.waiting.is_some_and(|it| it >= QUEUE_MIN)
                    || usage.waited_share.is_some_and(|it| it >= WAITED_SHARE_MIN)
            };
            found.extend(exhausted(node, copies, has_queue).into_iter().map(|usage| {
                let PoolUsage { node, size, busy, waiting, waited_share } = usage;
                let pool = pool.to_owned();
                let bound = Bound::ServicePool { node, pool, size, busy, waiting, waited_share };
                Finding::Bound { cell: cell.number, bound }
            }));
        }
    }
    Ok(found)
}

/// Labels of the series of a node and its copies, such as the names of its pools.
fn labels_of<'a>(cell: &CellTrials<'a>, node: &Node, series: &str) -> BTreeSet<&'a str> {
    let instances = node.instances();
    let is_node = |it: &&Sample| it.series == series && instances.iter().any(|node| node.name == it.node);
    let samples = cell.trials.iter().flat_map(|it| it.samples);
    samples.filter(is_node).map(|it| &*it.label).collect()
}

/// Findings on services with exhausted threads. A service without a thread limit cannot exhaust them.
pub fn threads(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let mut found = Vec::new();
    for node in services(cell) {
        let pools = labels_of(cell, node, samples::SERVICE_THREADS_BUSY);
        if pools.is_empty() && labels_of(cell, node, samples::SERVICE_POOL_SIZE).is_empty() {
            return Err(MissingInput::Stats);
        }
        for pool in pools {
            let usage = |instance: Node| {
                let gauge_of = |series| gauge(cell, &instance, series, pool);
                let known =
                    gauge_of(samples::SERVICE_THREADS_SIZE).zip(gauge_of(samples::SERVICE_THREADS_BUSY));
                let waiting = gauge_of(samples::SERVICE_THREADS_WAITING);
                let node = instance.name.clone();
                known.map(|(size, busy)| PoolUsage { node, size, busy, waiting, waited_share: None })
            };
            let Some(copies) = node.instances().into_iter().map(usage).collect() else { continue };
            let has_queue = |usage: &PoolUsage| usage.waiting.is_none_or(|it| it >= QUEUE_MIN);
            found.extend(exhausted(node, copies, has_queue).into_iter().map(|usage| {
                let PoolUsage { node, size, busy, waiting, .. } = usage;
                let bound = Bound::ServiceThreads { node, pool: pool.to_owned(), size, busy, waiting };
                Finding::Bound { cell: cell.number, bound }
            }));
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
    for node in services(cell) {
        let size = |trial: &TrialFacts<'_>| {
            let series = samples::SERVICE_POOL_SIZE;
            samples::sum_of_instances(node, |name| mean(&sums(trial.samples, name, series, |_| true)))
        };
        let connections = cell.median(size).ok_or(MissingInput::Stats)?;
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
