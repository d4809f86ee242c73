//! Figures of one trial

use super::trial::TrialFacts;
use super::{event_count, samples, usage};
use crate::stats::steady;
use model::matrix::Figure;
use model::plan::CacheState;
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
        Figure::P50 => response.p50.or(response.longer_than(0.5)).map(Nanos::as_secs_f64),
        Figure::P99 => response.p99.or(response.longer_than(0.99)).map(Nanos::as_secs_f64),
        Figure::Errors => per_thousand(counts.failed + counts.unknown, executed),
        Figure::Dropped => per_thousand(counts.dropped, executed + counts.dropped),
        Figure::Refused => Some(refused_connections(summary) as f64),
        Figure::Deadlocks => per_thousand(event_count::deadlocks(trial, summary)?, executed),
        Figure::Served => known.then(|| served(1.0) as f64),
        Figure::Starved => known.then(|| (trial.clients.len() - served(STARVED_SHARE * mean)) as f64),
        Figure::PoolerCpu => usage::upstream_processors(trial),
        Figure::ServerCpu => samples::processors(trial.samples, &trial.server()?.name),
        // A system that is warm from the start has a warm-up time of 0.
        Figure::TimeToSteady => {
            trial.setup.dataset.as_ref().filter(|it| it.cache == CacheState::Cold)?;
            steady::steady_state(trial.delivered).map(|it| it.after.as_secs_f64())
        }
    }
}

/// Number of connections refused within the window.
fn refused_connections(summary: &Summary) -> u64 {
    summary.connects.refused.iter().map(|it| it.count).sum()
}
