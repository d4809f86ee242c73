//! Values of figures such as throughput or p99 in one trial

use super::trial::TrialFacts;
use super::{event_count, outage, samples, usage};
use crate::stats::steady;
use model::matrix::Figure;
use model::plan::CacheState;
use model::summary::{Distribution, LoadModelSummary};
use model::{Nanos, Summary};

/// Share of the mean throughput per client below which a client counts as starved.
pub const STARVED_SHARE: f64 = 0.1;

/// Value of `figure` in one trial; `None` if the trial is invalid or the figure was not measured.
pub fn read_figure(trial: &TrialFacts<'_>, figure: Figure) -> Option<f64> {
    let summary = trial.valid()?;
    let (counts, response) = (&summary.total.counts, &summary.total.response);
    let executed = counts.ok + counts.failed + counts.unknown;
    let per_thousand = |part: u64, whole: u64| (whole > 0).then(|| 1000.0 * part as f64 / whole as f64);
    let served = |least: f64| trial.clients.iter().filter(|n| **n as f64 >= least).count();
    let mean = trial.clients.iter().sum::<u64>() as f64 / trial.clients.len().max(1) as f64;
    let known = !trial.clients.is_empty() && summary.fairness.is_some();
    match figure {
        Figure::Tps => Some(summary.total.tps.0),
        Figure::P50 => response_quantile(summary, response, 0.5).map(Nanos::as_secs_f64),
        Figure::P99 => response_quantile(summary, response, 0.99).map(Nanos::as_secs_f64),
        Figure::Requests => Some(executed as f64),
        Figure::Failed => Some((counts.failed + counts.unknown) as f64),
        Figure::Errors => per_thousand(counts.failed + counts.unknown, executed),
        Figure::Dropped => per_thousand(counts.dropped, executed + counts.dropped),
        Figure::Refused => Some(refused_connections(summary) as f64),
        Figure::Deadlocks => per_thousand(event_count::deadlocks(trial, summary)?, executed),
        Figure::Served => known.then(|| served(1.0) as f64),
        Figure::Starved => known.then(|| (trial.clients.len() - served(STARVED_SHARE * mean)) as f64),
        Figure::ReplicationLag => replication_lag_max(trial),
        Figure::PoolerCpu => usage::upstream_processors(trial),
        Figure::ServerCpu => samples::processors(trial.samples, &trial.server()?.name),
        // A system that is warm from the start has a warm-up time of 0.
        Figure::TimeToSteady => {
            trial.setup.dataset.as_ref().filter(|it| it.cache == CacheState::Cold)?;
            steady::steady_state(trial.delivered).map(|it| it.after.as_secs_f64())
        }
    }
}

/// Quantile `q` of the response times of a trial or of one of its operations: p50, p90, p95, p99 or p99.9. `None` with
/// too few samples. It is a lower bound if it falls among arrivals without a response, or if an outage kept users from
/// arriving.
pub fn response_quantile(summary: &Summary, response: &Distribution, q: f64) -> Option<Nanos> {
    let measured = match q {
        0.5 => response.p50,
        0.9 => response.p90,
        0.95 => response.p95,
        0.99 => response.p99,
        0.999 => response.p999,
        _ => None,
    };
    Some(measured.or(response.longer_than(q))?.max(outage_wait(summary, q)))
}

/// True if the quantile is only a lower bound; see [`response_quantile`].
pub fn is_lower_bound(summary: &Summary, response: &Distribution, q: f64) -> bool {
    response.longer_than(q).is_some()
        || response_quantile(summary, response, q).is_some_and(|it| it == outage_wait(summary, q))
}

/// Quantile of the time until the end of an outage, for users whom the outage kept from arriving. It is 0 in the open
/// model, in which users also arrive during an outage.
fn outage_wait(summary: &Summary, q: f64) -> Nanos {
    match summary.plan.model {
        LoadModelSummary::Closed { .. } => outage::wait_quantile(&summary.outages, summary.window, q),
        LoadModelSummary::Open { .. } | LoadModelSummary::Replay { .. } => Nanos::ZERO,
    }
}

/// Longest replication lag of any replica within the window, in seconds.
fn replication_lag_max(trial: &TrialFacts<'_>) -> Option<f64> {
    trial.setup.stack.replication.as_ref().filter(|it| it.replicas > 0)?;
    let lags = trial.samples.of_series(samples::PG_REPLICATION_REPLAY_LAG).after(Nanos::ZERO);
    lags.iter().map(|it| it.value).max_by(f64::total_cmp)
}

/// Number of connections refused within the window.
fn refused_connections(summary: &Summary) -> u64 {
    summary.connects.refused.iter().map(|it| it.count).sum()
}
