//! Findings on the circumstances under which a cell was measured

use super::alternatives::read_volume;
use super::{CellTrials, Finding, TrialFacts};
use crate::facts::samples::{self, growth};
use crate::facts::usage;
use model::feed_coverage::FeedCoverage;
use model::finding::{Circumstance, MissingInput, NormalizedRate};
use model::validity::InvalidReason;
use model::{LogEvent, Nanos};

/// Findings on feeds whose values touch so little data that it fits in the server's memory, although their table does
/// not.
pub fn feeds_that_fit_in_memory(cell: &CellTrials<'_>) -> Vec<Finding> {
    let mut known: Vec<&FeedCoverage> = Vec::new();
    for coverage in cell.trials.iter().flat_map(|it| it.feed_coverage) {
        if !known.iter().any(|known| known.feed == coverage.feed) {
            known.push(coverage);
        }
    }
    let fits = |coverage: &&FeedCoverage| {
        let table = coverage.table.as_ref().filter(|it| it.fits_only_in_cache())?;
        Some(Circumstance::FeedFitsCache {
            feed: coverage.feed.clone(),
            rows: coverage.rows,
            distinct: coverage.distinct,
            share: table.share,
            touched_bytes: table.touched,
            table_bytes: table.bytes,
            memory_bytes: table.memory,
            read: read_volume(cell),
        })
    };
    known
        .iter()
        .filter_map(fits)
        .map(|it| Finding::Circumstance { cell: cell.number, circumstance: it })
        .collect()
}

/// Logins per transaction above which clients reconnect regularly. Logins below `LOGINS_PER_SECOND_MIN` per second are
/// never reported.
const LOGINS_PER_TRANSACTION_MIN: f64 = 0.1;
const LOGINS_PER_SECOND_MIN: f64 = 1.0;
/// Smallest reported number of cancelled transactions per thousand. A cell with more is not comparable with a cell
/// without errors.
const CANCELLED_PER_1000_MIN: f64 = 10.0;
const QUERY_CANCELED: &str = "57014";

/// Findings on cancelled statements, and on logins by the server's count of sessions. Logins do not count if the load
/// opens a connection for each transaction.
pub fn reconnects(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let node = &cell.server().ok_or(MissingInput::Server)?.name;
    let executed = |trial: &TrialFacts<'_>| {
        let summary = trial.valid()?;
        let rate = summary.total.counts.executed() as f64 / summary.window.as_secs_f64();
        Some(rate).filter(|it| *it > 0.0)
    };
    let per_second = cell.median(|it| growth(it.samples, node, samples::PG_SESSIONS_BEGUN, |_| true));
    // In a trial with faults, new clients that write and read log in in addition to the load.
    let additional = f64::from(2 * cell.setup.load.new_clients);
    let per_second = (per_second.ok_or(MissingInput::Server)? - additional).max(0.0);
    let Some(rate) = cell.median(executed) else { return Ok(Vec::new()) };
    let logins = NormalizedRate { per_second, per_transaction: per_second / rate };
    let many =
        logins.per_second >= LOGINS_PER_SECOND_MIN && logins.per_transaction >= LOGINS_PER_TRANSACTION_MIN;
    let logins = (many && !cell.setup.load.reconnect).then_some(logins);
    let cancelled_per_thousand = cell.median(cancelled).unwrap_or(0.0);
    let circumstance = Circumstance::ConnectionStorm { logins, cancelled_per_thousand };
    let found = logins.is_some() || cancelled_per_thousand >= CANCELLED_PER_1000_MIN;
    Ok(found.then_some(Finding::Circumstance { cell: cell.number, circumstance }).into_iter().collect())
}

/// Cancelled transactions per thousand, from clients' errors or the server's log, whichever is greater. A service may
/// report other errors to its clients, so clients' errors alone are not enough.
fn cancelled(trial: &TrialFacts<'_>) -> Option<f64> {
    let summary = trial.valid()?;
    let by_clients: u64 =
        summary.failures.iter().filter(|it| it.code == QUERY_CANCELED).map(|it| it.count).sum();
    let cancelled = |it: &&LogEvent| it.code.as_deref() == Some(QUERY_CANCELED) && it.at > Nanos::ZERO;
    let logged: u64 = trial.events.iter().filter(cancelled).map(LogEvent::line_count).sum();
    let executed = summary.total.counts.executed() as f64;
    (executed > 0.0).then(|| 1000.0 * by_clients.max(logged) as f64 / executed)
}

/// Finding on trials that are invalid because of the generator or its host.
pub fn late_generator(cell: &CellTrials<'_>) -> Option<Finding> {
    let late = |it: &&InvalidReason| !matches!(it, InvalidReason::Aborted { .. } | InvalidReason::NoSuccess);
    let first = |it: &&TrialFacts<'_>| it.summary?.validity.reasons.iter().find(late).copied();
    let reasons: Vec<InvalidReason> = cell.trials.iter().filter_map(first).collect();
    let circumstance = Circumstance::GeneratorLate {
        reason: *reasons.first()?,
        trials: reasons.len() as u32,
        total_trials: cell.trials.len() as u32,
    };
    Some(Finding::Circumstance { cell: cell.number, circumstance })
}

/// Smallest reported share of CPU steal in the machine's CPU time. A smaller share does not matter, because throughput
/// differs by 1 % between runs anyway.
const STEAL_SHARE_MIN: f64 = 0.01;
/// Smallest reported timer jitter, in seconds. An idle machine has a tenth of this jitter.
const JITTER_MIN: f64 = 0.001;
/// Idle share of the machine's CPUs below which the measured load itself explains the jitter.
const IDLE_SHARE_MIN: f64 = 0.2;

pub fn noisy_host(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let all = cell.median(|it| usage::total_processors(it.samples)).ok_or(MissingInput::Machine)?;
    let idle = cell.median(|it| usage::idle_share(it.samples)).ok_or(MissingInput::Machine)?;
    let stolen_cpu =
        cell.median(|it| usage::stolen_processors(it.samples)).filter(|it| *it >= STEAL_SHARE_MIN * all);
    let jitter = cell.median(|it| Some(it.valid()?.generator.jitter.p99?.as_secs_f64()));
    let jitter = jitter.filter(|it| *it >= JITTER_MIN && idle >= IDLE_SHARE_MIN);
    let circumstance = Circumstance::NoisyHost { stolen_cpu, jitter };
    let found = stolen_cpu.is_some() || jitter.is_some();
    Ok(found.then_some(Finding::Circumstance { cell: cell.number, circumstance }).into_iter().collect())
}

/// Findings on feeds that cover an unknown share of their table.
pub fn unknown_feeds(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let feeds = &cell.setup.feeds;
    if feeds.is_empty() || cell.trials.iter().any(|it| !it.feed_coverage.is_empty()) {
        return Ok(Vec::new());
    }
    Err(if feeds.iter().any(|it| it.lookup_column.is_some()) {
        MissingInput::Server
    } else {
        MissingInput::Column
    })
}
