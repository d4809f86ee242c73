//! Under which circumstances was a cell measured?

use super::beside::read_back;
use super::samples::{self, growth};
use super::{Cell, Finding, TrialFacts, host};
use model::finding::{Circumstance, Missing, SentOn};
use model::reach::Reach;
use model::summary::Reason;
use model::{LogEvent, Nanos};

/// Feeds whose values lead to less than the server's memory, of a table that is larger.
pub fn feed_fits(cell: &Cell<'_>) -> Vec<Finding> {
    let mut known: Vec<&Reach> = Vec::new();
    for it in cell.trials.iter().flat_map(|it| it.reaches) {
        if !known.iter().any(|known| known.feed == it.feed) {
            known.push(it);
        }
    }
    let fits = |it: &&Reach| {
        let table = it.table.as_ref().filter(|it| it.measures_a_cache())?;
        Some(Circumstance::FeedFits {
            feed: it.feed.clone(),
            rows: it.rows,
            distinct: it.distinct,
            share: table.share,
            touched: table.touched,
            bytes: table.bytes,
            memory: table.memory,
            read: read_back(cell),
        })
    };
    known.iter().filter_map(fits).map(|it| Finding::Circumstance { cell: cell.number, it }).collect()
}

/// Log-ins by a transaction, from which on they are no reconnecting now and then; and per second, below which nobody cares.
const LOGINS: f64 = 0.1;
const A_SECOND: f64 = 1.0;
/// Cancelled of a thousand transactions: as many errors make a cell another one.
const CANCELLED: f64 = 10.0;
const QUERY_CANCELED: &str = "57014";

/// By the server's own count of sessions; a connection for each transaction was asked for.
pub fn storm(cell: &Cell<'_>) -> Result<Vec<Finding>, Missing> {
    let node = &cell.server().ok_or(Missing::Server)?.name;
    let executed = |it: &TrialFacts<'_>| {
        let summary = it.valid()?;
        let rate = summary.total.counts.executed() as f64 / summary.window.as_secs_f64();
        Some(rate).filter(|it| *it > 0.0)
    };
    let per_second = cell.median(|it| growth(it.samples, node, samples::PG_SESSIONS_BEGUN, |_| true));
    let per_second = per_second.ok_or(Missing::Server)?;
    let Some(rate) = cell.median(executed) else { return Ok(Vec::new()) };
    let logins = SentOn { per_second, per_transaction: per_second / rate };
    let many = logins.per_second >= A_SECOND && logins.per_transaction >= LOGINS;
    let logins = (many && !cell.setup.load.connect_each).then_some(logins);
    let cancelled = cell.median(cancelled).unwrap_or(0.0);
    let it = Circumstance::Storm { logins, cancelled };
    let told = logins.is_some() || cancelled >= CANCELLED;
    Ok(told.then_some(Finding::Circumstance { cell: cell.number, it }).into_iter().collect())
}

/// Of a thousand transactions: by what clients were told or the server logged, whichever is more. A service's clients are
/// told something else.
fn cancelled(trial: &TrialFacts<'_>) -> Option<f64> {
    let it = trial.valid()?;
    let told: u64 = it.failures.iter().filter(|it| it.code == QUERY_CANCELED).map(|it| it.count).sum();
    let cancelled = |it: &&LogEvent| it.code.as_deref() == Some(QUERY_CANCELED) && it.at > Nanos::ZERO;
    let logged: u64 = trial.events.iter().filter(cancelled).map(LogEvent::lines).sum();
    let executed = it.total.counts.executed() as f64;
    (executed > 0.0).then(|| 1000.0 * told.max(logged) as f64 / executed)
}

/// Trials in which the generator or its host was what was measured.
pub fn generator_late(cell: &Cell<'_>) -> Option<Finding> {
    let late = |it: &&Reason| !matches!(it, Reason::Aborted { .. });
    let first = |it: &&TrialFacts<'_>| it.summary?.validity.reasons.iter().find(late).copied();
    let reasons: Vec<Reason> = cell.trials.iter().filter_map(first).collect();
    let it = Circumstance::GeneratorLate {
        reason: *reasons.first()?,
        trials: reasons.len() as u32,
        of: cell.trials.len() as u32,
    };
    Some(Finding::Circumstance { cell: cell.number, it })
}

/// Of the machine's processors, from which on those that the hypervisor gave to others matter: as much as throughput differs
/// from run to run.
const STOLEN: f64 = 0.01;
/// How late a sleeping thread is woken on a machine that has something else to do: on a quiet one it is a tenth of that.
const LATE: f64 = 0.001;
/// With less of its processors idle a machine wakes late because of what is measured.
const IDLE: f64 = 0.2;

pub fn noisy_host(cell: &Cell<'_>) -> Result<Vec<Finding>, Missing> {
    let all = cell.median(|it| host::all(it.samples)).ok_or(Missing::Machine)?;
    let idle = cell.median(|it| host::idle(it.samples)).ok_or(Missing::Machine)?;
    let stolen = cell.median(|it| host::stolen(it.samples)).filter(|it| *it >= STOLEN * all);
    let jitter = cell.median(|it| Some(it.valid()?.generator.jitter.p99?.as_secs_f64()));
    let jitter = jitter.filter(|it| *it >= LATE && idle >= IDLE);
    let it = Circumstance::NoisyHost { stolen, jitter };
    let told = stolen.is_some() || jitter.is_some();
    Ok(told.then_some(Finding::Circumstance { cell: cell.number, it }).into_iter().collect())
}

/// Feeds of which nobody knows what they touch.
pub fn feeds_known(cell: &Cell<'_>) -> Result<Vec<Finding>, Missing> {
    let feeds = &cell.setup.feeds;
    if feeds.is_empty() || cell.trials.iter().any(|it| !it.reaches.is_empty()) {
        return Ok(Vec::new());
    }
    Err(if feeds.iter().any(|it| it.of.is_some()) { Missing::Server } else { Missing::Column })
}
