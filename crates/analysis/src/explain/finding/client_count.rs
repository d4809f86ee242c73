//! Finding on a closed-loop test with too few clients

use super::bound::CpuUsage;
use super::{CellTrials, Finding, TrialFacts};
use crate::facts::usage;
use model::Nanos;
use model::finding::{Bound, Circumstance, MissingInput};
use model::plan::LoadModel;

/// Smallest idle share of PostgreSQL's CPUs at which they are not the limit. With a fifth idle, they could do a quarter
/// more work.
const CPU_RESERVE_MIN: f64 = 0.2;
/// Smallest ratio of the throughput to (clients ÷ mean response time) at which the number of clients is the limit. The
/// ratio may be below 1, because the mean covers only transactions that ended.
const LITTLE_SHARE_MIN: f64 = 0.9;

/// Finding that the number of clients limits the throughput. In a closed loop, N clients deliver at most N ÷ response
/// time, which is the limit if no resource is saturated. `found` has all other findings on the cell.
pub fn clients(cell: &CellTrials<'_>, found: &[Finding]) -> Result<Vec<Finding>, MissingInput> {
    // Use the load model of each trial, because a search may use several models.
    let closed = |trial: &TrialFacts<'_>| match trial.setup.load.model {
        LoadModel::Closed { clients, think: Nanos::ZERO } => Some(clients),
        _ => None,
    };
    let all: Option<Vec<u32>> = cell.trials.iter().map(|it| closed(it)).collect();
    let Some(clients) = all.and_then(|it| it.into_iter().max()) else { return Ok(Vec::new()) };
    if cell.setup.load.reconnect || found.iter().any(may_be_limiting) {
        return Ok(Vec::new());
    }
    let node = cell.server().ok_or(MissingInput::Server)?;
    let machine = cell.median(|it| usage::idle_share(it.samples));
    let node_idle = CpuUsage::measure(cell, node)?.map(|it| 1.0 - it.used / it.available);
    let idle = node_idle.or(machine).ok_or(MissingInput::Machine)?.min(machine.unwrap_or(1.0));
    let figures = cell.median(|it| Some(it.valid()?.total.response.mean?.as_secs_f64()));
    let delivered = cell.median(|it| Some(it.valid()?.total.tps.0));
    let Some((mean, delivered)) = figures.zip(delivered).filter(|it| it.0 > 0.0) else {
        return Ok(Vec::new());
    };
    let most = cell.median(|trial| {
        Some(f64::from(closed(trial)?) / trial.valid()?.total.response.mean?.as_secs_f64())
            .filter(|it| it.is_finite())
    });
    let Some(most) = most else { return Ok(Vec::new()) };
    let bound = Bound::Clients { clients, mean, throughput_bound: most, delivered, idle };
    let few = idle >= CPU_RESERVE_MIN && delivered >= LITTLE_SHARE_MIN * most;
    Ok(few.then_some(Finding::Bound { cell: cell.number, bound }).into_iter().collect())
}

/// True if the finding may name a limit of the throughput.
fn may_be_limiting(finding: &Finding) -> bool {
    match finding {
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
