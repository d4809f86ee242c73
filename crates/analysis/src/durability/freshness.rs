//! Staleness of reads on a cell's replicas
//!
//! Consecutive reads are correlated: a replica that lags once for ten seconds makes fifty reads stale. Reads are
//! therefore modelled as a two-state Markov chain: stale and fresh. The mean of n reads has the variance of n (1 − ρ) /
//! (1 + ρ) independent reads. ρ is computed from the number of changes between stale and fresh (Bayley and Hammersley,
//! "The 'Effective' Number of Independent Observations in an Autocorrelated Time Series", 1946). The interval is
//! Wilson's (1927) with that effective number of reads. It is defined even if no read was stale.

#[cfg(test)]
mod tests;

use model::Nanos;
use model::freshness::{
    Freshness, FreshnessResult, ReadCounts, ReplicaFreshness, StaleReads, VisibilityDelay,
};
use model::plan::{Experiment, FailoverManager, NodeKind, Setup};
use std::collections::BTreeMap;

/// Two-sided quantile of the normal distribution for 95 %.
const Z: f64 = 1.959_964;
/// Minimum number of reads beyond a reported quantile.
const READS_BEYOND_QUANTILE: usize = 10;

/// Staleness of all cells with sampled replicas, except controls, in the order of the cells. `trials` pairs the index
/// of each trial's cell with the trial's observations.
pub fn all_cells(experiment: &Experiment, trials: &[(usize, &Freshness)]) -> Vec<FreshnessResult> {
    let cells = experiment.cells.iter().enumerate().filter(|(_, it)| it.control_of.is_none());
    let staleness = |(cell, planned): (usize, &model::plan::Cell)| {
        let its: Vec<&Freshness> = trials.iter().filter(|it| it.0 == cell).map(|it| it.1).collect();
        cell_freshness(cell, promises_to_apply(&planned.setup), &its)
    };
    cells.filter_map(staleness).collect()
}

/// Staleness of one cell's replicas. `None` if no write was acknowledged.
fn cell_freshness(cell: usize, promised: bool, trials: &[&Freshness]) -> Option<FreshnessResult> {
    let trials: Vec<&Freshness> = trials.iter().filter(|it| it.acknowledged > 0).copied().collect();
    let bound = trials.first()?.bound;
    let mut replicas: BTreeMap<&str, (ReadCounts, u64, Vec<u64>)> = BTreeMap::new();
    for replica in trials.iter().flat_map(|it| &it.replicas) {
        let (own_writes, unanswered, visible_us) = replicas.entry(&replica.node).or_default();
        *own_writes = sum(*own_writes, replica.own_writes);
        *unanswered += replica.unanswered;
        visible_us.extend(&replica.visible_us);
    }
    let replica = |(node, (own_writes, unanswered, mut visible_us)): (&str, (ReadCounts, u64, Vec<u64>))| {
        visible_us.sort_unstable();
        let quantile = |it| visibility_delay(&visible_us, own_writes.total, it);
        ReplicaFreshness {
            node: node.to_owned(),
            stale: stale_share(own_writes),
            unanswered,
            p50: quantile(0.5),
            p90: quantile(0.9),
            p99: quantile(0.99),
            not_visible: own_writes.total.saturating_sub(visible_us.len() as u64),
        }
    };
    let in_turn = trials.iter().filter_map(|it| it.round_robin).fold(ReadCounts::default(), sum);
    Some(FreshnessResult {
        cell,
        trials: trials.len() as u32,
        bound,
        acknowledged: trials.iter().map(|it| it.acknowledged).sum(),
        promised,
        replicas: replicas.into_iter().map(replica).collect(),
        round_robin: stale_share(in_turn),
    })
}

/// True if each commit waits until every replica has applied it: `remote_apply` with all replicas synchronous. A
/// cluster manager may wait for fewer replicas if one is unavailable.
fn promises_to_apply(setup: &Setup) -> bool {
    let Some(replication) = &setup.stack.replication else { return false };
    let settings = setup.stack.nodes.last().and_then(|node| match &node.kind {
        NodeKind::Postgres(it) => Some(&it.settings),
        _ => None,
    });
    // If a setting occurs on several lines, the last line takes effect.
    let mut lines = settings.into_iter().flatten().rev();
    let commit = lines.find(|it| it.0.eq_ignore_ascii_case("synchronous_commit"));
    commit.is_some_and(|it| it.1.trim_matches('\'').eq_ignore_ascii_case("remote_apply"))
        && replication.sync.count() >= replication.replicas
        && matches!(replication.manager, FailoverManager::Builtin(_))
}

fn sum(a: ReadCounts, b: ReadCounts) -> ReadCounts {
    ReadCounts { total: a.total + b.total, stale: a.stale + b.stale, changes: a.changes + b.changes }
}

/// Share of stale reads and its interval; `None` without reads.
fn stale_share(reads: ReadCounts) -> Option<StaleReads> {
    let ReadCounts { total: all, stale: old, .. } = reads;
    (all > 0).then(|| StaleReads {
        stale: old,
        total: all,
        interval: wilson_interval(old as f64 / all as f64, effective_count(reads)),
    })
}

/// Number of independent reads whose mean would have the same variance as the mean of the correlated reads; at least 1.
fn effective_count(ReadCounts { total: all, stale: old, changes }: ReadCounts) -> f64 {
    let (all, old, changes) = (all as f64, old as f64, changes as f64);
    let fresh = all - old;
    if old == 0.0 || fresh == 0.0 {
        return all;
    }
    // Each state is left by half of the changes, so the correlation is 1 − P(old → fresh) − P(fresh → old).
    let correlation = (1.0 - changes / 2.0 * (1.0 / old + 1.0 / fresh)).max(0.0);
    (all * (1.0 - correlation) / (1.0 + correlation)).max(1.0)
}

/// Confidence interval (95 %) of a probability. `share` is its observed value in `n` reads.
fn wilson_interval(share: f64, n: f64) -> (f64, f64) {
    let square = Z * Z / n;
    let middle = share + square / 2.0;
    let half = (square * (share * (1.0 - share) + square / 4.0)).sqrt();
    let end = |it: f64| (it / (1.0 + square)).clamp(0.0, 1.0);
    // For a share of 0 or 1, set the end of the interval exactly to avoid rounding errors.
    let low = if share == 0.0 { 0.0 } else { end(middle - half) };
    let high = if share == 1.0 { 1.0 } else { end(middle + half) };
    (low, high)
}

/// Quantile of the time until a write became visible on a replica. `delays_us` has the times of visible writes in
/// microseconds, ascending. `all` also counts the writes that never became visible, which rank after all visible
/// writes.
fn visibility_delay(delays_us: &[u64], all: u64, quantile: f64) -> Option<VisibilityDelay> {
    let rank = ((quantile * all as f64).ceil() as usize).max(1);
    if (all as usize).saturating_sub(rank) < READS_BEYOND_QUANTILE {
        return None;
    }
    Some(
        delays_us
            .get(rank - 1)
            .map_or(VisibilityDelay::AfterBound, |it| VisibilityDelay::Within(Nanos::from_micros(*it))),
    )
}
