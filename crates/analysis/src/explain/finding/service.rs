//! Findings on services limited by CPU, connections or threads

use super::bound::CpuUsage;
use super::{CellTrials, Finding, TrialFacts};
use crate::facts::samples::{self, growth, mean, sums};
use model::finding::{Bound, Circumstance, MissingInput};
use model::plan::{Node, NodeKind, NodePart};
use std::collections::BTreeSet;

/// Share of connections or threads in use above which they are exhausted.
const EXHAUSTED_SHARE: f64 = 0.9;
/// Mean number of waiting requests above which there is a queue.
const QUEUE_MIN: f64 = 1.0;
/// Share of waiting requests above which chance does not explain the waits.
const WAITED_SHARE_MIN: f64 = 0.1;
/// `SET` statements per transaction above which server connections alternate between sessions with different settings.
const SETS_PER_TRANSACTION_MIN: f64 = 0.05;

/// Parts of the services: their programs, or the services themselves.
fn parts<'a>(cell: &CellTrials<'a>) -> impl Iterator<Item = NodePart<'a>> {
    let services = cell.setup.stack.nodes.iter().filter(|it| matches!(it.kind, NodeKind::Service(_)));
    services.flat_map(Node::parts)
}

/// Findings on CPU-bound services. If all copies of a service are CPU-bound, the finding names the service, otherwise
/// each CPU-bound copy has a finding of its own.
pub fn cpu(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let mut found = Vec::new();
    for part in parts(cell) {
        let Some(total) = CpuUsage::of_part(cell, &part, None)? else { continue };
        let mut saturated = Vec::new();
        for instance in part.split() {
            let usage = CpuUsage::of_part(cell, &instance, None)?.filter(CpuUsage::is_saturated);
            saturated.extend(usage.map(|it| (instance.name.clone(), it)));
        }
        let all = saturated.len() == part.instances.len() || total.by_pinning && total.is_saturated();
        let reported = if all { vec![(part.name.clone(), total)] } else { saturated };
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

/// Sum of a figure over all instances of a part; `None` if an instance lacks it.
fn sum(part: &NodePart<'_>, figure: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    part.instances.iter().map(|it| figure(it)).sum()
}

fn gauge(cell: &CellTrials<'_>, part: &NodePart<'_>, series: &str, label: &str) -> Option<f64> {
    cell.median(|trial| sum(part, |node| mean(&sums(trial.samples, node, series, |other| other == label))))
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
    fn total(part: &NodePart<'_>, copies: &[PoolUsage]) -> PoolUsage {
        let sum = |figure: fn(&PoolUsage) -> Option<f64>| copies.iter().map(figure).sum::<Option<f64>>();
        PoolUsage {
            node: part.name.clone(),
            size: copies.iter().map(|it| it.size).sum(),
            busy: copies.iter().map(|it| it.busy).sum(),
            waiting: sum(|it| it.waiting),
            waited_share: sum(|it| it.waited_share).map(|it| it / copies.len() as f64),
        }
    }
}

/// Usage that exhausts a pool: of the whole part if the pools of all copies are full, otherwise of each copy with a
/// full pool. `has_queue` is true if requests wait for the pool.
fn exhausted(
    part: &NodePart<'_>,
    copies: Vec<PoolUsage>,
    has_queue: impl Fn(&PoolUsage) -> bool,
) -> Vec<PoolUsage> {
    let judged = match copies.iter().all(PoolUsage::is_full) {
        true => vec![PoolUsage::total(part, &copies)],
        false => copies,
    };
    judged.into_iter().filter(|it| it.is_full() && has_queue(it)).collect()
}

pub fn pools(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    require_samples(cell, &[samples::SERVICE_POOL_SIZE])?;
    let mut found = Vec::new();
    for part in parts(cell) {
        let instances = part.split();
        for pool in labels_of(cell, &part, samples::SERVICE_POOL_SIZE) {
            let usage = |instance: &NodePart<'_>| {
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
            found.extend(exhausted(&part, copies, has_queue).into_iter().map(|usage| {
                let PoolUsage { node, size, busy, waiting, waited_share } = usage;
                let pool = pool.to_owned();
                let bound = Bound::ServicePool { node, pool, size, busy, waiting, waited_share };
                Finding::Bound { cell: cell.number, bound }
            }));
        }
    }
    Ok(found)
}

/// Fails if there is a service, but none of its parts has samples of one of these series.
fn require_samples(cell: &CellTrials<'_>, series: &[&str]) -> Result<(), MissingInput> {
    let has_samples = |part: NodePart<'_>| series.iter().any(|name| !labels_of(cell, &part, name).is_empty());
    match parts(cell).next().is_none() || parts(cell).any(has_samples) {
        true => Ok(()),
        false => Err(MissingInput::Stats),
    }
}

/// Labels of a part's series, such as the names of its pools.
fn labels_of<'a>(cell: &CellTrials<'a>, part: &NodePart<'_>, series: &str) -> BTreeSet<&'a str> {
    let samples = cell.trials.iter().flat_map(|it| it.samples.of_series(series).iter());
    samples.filter(|it| part.instances.iter().any(|name| *name == it.node)).map(|it| &*it.label).collect()
}

/// Findings on services with exhausted threads. A service without a thread limit cannot exhaust them.
pub fn threads(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    require_samples(cell, &[samples::SERVICE_THREADS_BUSY, samples::SERVICE_POOL_SIZE])?;
    let mut found = Vec::new();
    for part in parts(cell) {
        for pool in labels_of(cell, &part, samples::SERVICE_THREADS_BUSY) {
            let usage = |instance: &NodePart<'_>| {
                let gauge_of = |series| gauge(cell, instance, series, pool);
                let known =
                    gauge_of(samples::SERVICE_THREADS_SIZE).zip(gauge_of(samples::SERVICE_THREADS_BUSY));
                let waiting = gauge_of(samples::SERVICE_THREADS_WAITING);
                let node = instance.name.clone();
                known.map(|(size, busy)| PoolUsage { node, size, busy, waiting, waited_share: None })
            };
            let Some(copies) = part.split().iter().map(usage).collect() else { continue };
            let has_queue = |usage: &PoolUsage| usage.waiting.is_none_or(|it| it >= QUEUE_MIN);
            found.extend(exhausted(&part, copies, has_queue).into_iter().map(|usage| {
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
    require_samples(cell, &[samples::SERVICE_POOL_SIZE])?;
    for part in parts(cell) {
        let size = |node: &str, trial: &TrialFacts<'_>| {
            mean(&sums(trial.samples, node, samples::SERVICE_POOL_SIZE, |_| true))
        };
        // The connections of a program without pools are unknown.
        let Some(connections) = cell.median(|trial| sum(&part, |node| size(node, trial))) else { continue };
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
            service: part.name.clone(),
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
