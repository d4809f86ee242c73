//! Did the clients ask for all that the system could give?

use super::bound::CpuUsage;
use super::host;
use super::{CellTrials, Finding, TrialFacts};
use model::Nanos;
use model::finding::{Bound, Circumstance, MissingInput};
use model::plan::LoadModel;

/// Share of PostgreSQL's processors that is left at least: a fifth of it would be a quarter more work.
const CPU_RESERVE_MIN: f64 = 0.2;
/// Share of clients ÷ response time that was delivered at least: the law has no exception, but a mean of what has ended.
const LITTLE_SHARE_MIN: f64 = 0.9;

/// In a closed loop N clients get no more than N ÷ response time. Where nothing is full, that is what held the throughput.
/// `found`: all else that is known of the cell.
pub fn clients(cell: &CellTrials<'_>, found: &[Finding]) -> Result<Vec<Finding>, MissingInput> {
    // As the trials had it: a search tries several.
    let closed = |it: &TrialFacts<'_>| match it.setup.load.model {
        LoadModel::Closed { clients, think: Nanos::ZERO } => Some(clients),
        _ => None,
    };
    let all: Option<Vec<u32>> = cell.trials.iter().map(|it| closed(it)).collect();
    let Some(clients) = all.and_then(|it| it.into_iter().max()) else { return Ok(Vec::new()) };
    if cell.setup.load.reconnect || found.iter().any(may_be_limiting) {
        return Ok(Vec::new());
    }
    let node = cell.server().ok_or(MissingInput::Server)?;
    let machine = cell.median(|it| host::idle_share(it.samples));
    let own = CpuUsage::measure(cell, node)?.map(|it| 1.0 - it.used / it.available);
    let idle = own.or(machine).ok_or(MissingInput::Machine)?.min(machine.unwrap_or(1.0));
    let figures = cell.median(|it| Some(it.valid()?.total.response.mean?.as_secs_f64()));
    let delivered = cell.median(|it| Some(it.valid()?.total.tps.0));
    let Some((mean, delivered)) = figures.zip(delivered).filter(|it| it.0 > 0.0) else {
        return Ok(Vec::new());
    };
    let most = cell.median(|it| {
        Some(f64::from(closed(it)?) / it.valid()?.total.response.mean?.as_secs_f64())
            .filter(|it| it.is_finite())
    });
    let Some(most) = most else { return Ok(Vec::new()) };
    let by = Bound::Clients { clients, mean, throughput_bound: most, delivered, idle };
    let few = idle >= CPU_RESERVE_MIN && delivered >= LITTLE_SHARE_MIN * most;
    Ok(few.then_some(Finding::Bound { cell: cell.number, bound: by }).into_iter().collect())
}

/// Whether it may be what holds a throughput where it is.
fn may_be_limiting(it: &Finding) -> bool {
    match it {
        Finding::SlotsExhausted { .. }
        | Finding::ClientsStarved { .. }
        | Finding::HostBound { .. }
        | Finding::QueueInPooler { .. }
        | Finding::QueueInBalancer { .. }
        | Finding::PoolerBound { .. }
        | Finding::PoolBound { .. }
        | Finding::ServerBound { .. }
        | Finding::SessionsWait { .. }
        | Finding::Bound { .. } => true,
        Finding::Circumstance { circumstance: it, .. } => matches!(it, Circumstance::GeneratorLate { .. }),
        _ => false,
    }
}
