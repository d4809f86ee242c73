//! Finding on sessions that stay idle in transaction

use super::{CellTrials, Finding, clients};
use crate::facts::samples::{self, maximum, mean, sums};
use model::finding::{Circumstance, MissingInput};

/// Smallest reported mean number of sessions that have been idle in transaction for over a second. One such session for
/// a tenth of the time is enough, because it occupies a server connection or holds locks.
const SESSIONS_MIN: f64 = 0.1;

/// Findings on sessions idle in transaction. The rule reads the whole window, because a single such transaction is
/// relevant.
pub fn idle_transactions(cell: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let node = &cell.server().ok_or(MissingInput::Server)?.name;
    let on_average = |series: &str| cell.median(|it| mean(&sums(it.samples, node, series, |_| true)));
    let sessions = on_average(samples::PG_IDLE_TRANSACTIONS).ok_or(MissingInput::Server)?;
    if sessions < SESSIONS_MIN {
        return Ok(Vec::new());
    }
    // All sessions count that are idle in transaction, not only those in the second half of their idle time.
    let all = cell.median(|trial| {
        let state = |name| samples::sessions(trial.samples, node, name);
        Some(state("idle in transaction")? + state("idle in transaction (aborted)")?)
    });
    let longest = cell.median(|it| maximum(&sums(it.samples, node, samples::PG_IDLE_LONGEST, |_| true)));
    let waiting =
        |name: &str| cell.median(|it| mean(&sums(it.samples, name, samples::POOL_CLIENTS_WAITING, |_| true)));
    let pooler = cell.pooler();
    let circumstance = Circumstance::IdleTransactions {
        sessions: all.unwrap_or(sessions).max(sessions),
        longest_idle: longest.unwrap_or(0.0),
        horizon_sessions: on_average(samples::PG_IDLE_HORIZON).unwrap_or(0.0),
        blocked_sessions: on_average(samples::PG_IDLE_BLOCKED).unwrap_or(0.0),
        pool: pooler.and_then(|it| Some((clients::pool(cell)?.1, waiting(&it.name)?))),
    };
    Ok(vec![Finding::Circumstance { cell: cell.number, circumstance }])
}
