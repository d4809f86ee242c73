//! Who leaves transactions open, and who waits for them?

use super::samples::{self, greatest, mean, sums};
use super::{Cell, Finding, clients};
use model::finding::{Circumstance, Missing};
use model::plan::Kind;

/// Sessions idle in a transaction for longer than a second, on average, from which on they are told: one for a tenth of the
/// time. A tenth of a server of a pool is lost then, or whatever the session has locked.
const TOLD: f64 = 0.1;

/// Of the whole window: one such transaction in it is enough.
pub fn transactions(cell: &Cell<'_>) -> Result<Vec<Finding>, Missing> {
    let node = &cell.server().ok_or(Missing::Server)?.name;
    let on_average = |series: &str| cell.median(|it| mean(&sums(it.samples, node, series, |_| true)));
    let sessions = on_average(samples::PG_IDLE_TRANSACTIONS).ok_or(Missing::Server)?;
    if sessions < TOLD {
        return Ok(Vec::new());
    }
    let longest = cell.median(|it| greatest(&sums(it.samples, node, samples::PG_IDLE_LONGEST, |_| true)));
    let waiting =
        |name: &str| cell.median(|it| mean(&sums(it.samples, name, samples::PGBOUNCER_CL_WAITING, |_| true)));
    let pooler = cell.pooler().filter(|it| matches!(it.kind, Kind::PgBouncer(_)));
    let it = Circumstance::IdleTransactions {
        sessions,
        longest: longest.unwrap_or(0.0),
        horizon: on_average(samples::PG_IDLE_HORIZON).unwrap_or(0.0),
        blocked: on_average(samples::PG_IDLE_BLOCKED).unwrap_or(0.0),
        pool: pooler.and_then(|it| Some((clients::pool(cell)?.1, waiting(&it.name)?))),
    };
    Ok(vec![Finding::Circumstance { cell: cell.number, it }])
}
