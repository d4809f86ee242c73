//! Findings from PostgreSQL's own counters on events that clients cannot see
//!
//! A service reports its database's errors as it likes, and a pooler hides sessions. The server counts both by database.

use super::cell_comparison::same_but_stack;
use super::{CellTrials, Finding, TrialFacts};
use crate::facts::event_count::server_growth;
use crate::facts::samples::{self, growth, maximum, sums};
use crate::facts::usage::server_processors;
use model::finding::{Circumstance, NormalizedRate};
use model::plan::NodeKind;
use std::collections::BTreeSet;

/// Smallest number of logins per second, and smallest ratio to another cell's logins per transaction, for which cells
/// are compared. Each login costs PostgreSQL about a millisecond of CPU time.
const LOGINS_PER_SECOND_MIN: f64 = 10.0;
const LOGINS_RATIO_MIN: f64 = 5.0;

/// Sums of a counter over all trials, and the databases in which it grew.
#[derive(Default)]
struct Counted {
    events: f64,
    databases: BTreeSet<String>,
}

impl Counted {
    fn sum(cell: &CellTrials<'_>, series: &str) -> Counted {
        let mut all = Counted::default();
        for (database, events) in cell.trials.iter().flat_map(|it| server_growth(it, series)) {
            if events > 0.0 {
                all.events += events;
                all.databases.insert(database);
            }
        }
        all
    }
}

/// Finding on deadlocks of which clients saw less than half.
pub fn hidden_deadlocks(cell: &CellTrials<'_>) -> Option<Finding> {
    let Counted { events, databases } = Counted::sum(cell, samples::PG_DEADLOCKS);
    let clients: u64 = cell.trials.iter().filter_map(|it| Some(it.summary?.total.counts.deadlock)).sum();
    let (counted, databases) = (events.round() as u64, databases.into_iter().collect());
    let circumstance = Circumstance::HiddenDeadlocks { counted, clients, databases };
    (counted > 2 * clients).then_some(Finding::Circumstance { cell: cell.number, circumstance })
}

/// Finding on a server without free connection slots whose clients saw no refusal.
pub fn no_free_slots(cell: &CellTrials<'_>) -> Option<Finding> {
    let node = &cell.server()?.name;
    let free = |trial: &TrialFacts<'_>| sums(trial.samples, node, samples::PG_FREE, |_| true);
    let share = cell.trials.iter().filter_map(|trial| {
        let free = free(trial);
        let full = free.iter().filter(|it| it.1 <= 0.0).count();
        (!free.is_empty()).then(|| full as f64 / free.len() as f64)
    });
    let share = share.max_by(f64::total_cmp)?;
    let used = |trial: &&TrialFacts<'_>| maximum(&sums(trial.samples, node, samples::PG_USED, |_| true));
    let sessions = cell.trials.iter().filter_map(used).max_by(f64::total_cmp).unwrap_or(0.0);
    let circumstance = Circumstance::NoFreeSlots { share, sessions };
    (share > 0.0).then_some(Finding::Circumstance { cell: cell.number, circumstance })
}

/// Finding on sessions that ended with a FATAL error or were terminated, and on those that a service lost. The load's
/// own lost connections are failures of its clients. Injected faults end sessions, so the finding requires a setup
/// without faults.
pub fn sessions_lost(cell: &CellTrials<'_>) -> Option<Finding> {
    let series = [samples::PG_SESSIONS_FATAL, samples::PG_SESSIONS_KILLED, samples::PG_SESSIONS_ABANDONED];
    let all = series.map(|it| Counted::sum(cell, it));
    let [fatal, killed, abandoned] = all.each_ref().map(|it| it.events.round() as u64);
    let databases: BTreeSet<String> = all.into_iter().flat_map(|it| it.databases).collect();
    let databases = databases.into_iter().collect();
    let circumstance = Circumstance::SessionsLost { fatal, killed, abandoned, databases };
    let has_service = cell.setup.stack.nodes.iter().any(|it| matches!(it.kind, NodeKind::Service(_)));
    let lost = fatal + killed > 0 || has_service && abandoned > 0;
    let found = lost && cell.setup.faults.is_empty();
    found.then_some(Finding::Circumstance { cell: cell.number, circumstance })
}

/// Logins per second and per transaction, as medians over the valid trials.
fn logins(cell: &CellTrials<'_>) -> Option<NormalizedRate> {
    let node = &cell.server()?.name;
    let per_second = cell.median(|it| growth(it.samples, node, samples::PG_SESSIONS_BEGUN, |_| true))?;
    let executed = cell.median(|trial| {
        let summary = trial.valid()?;
        Some(summary.total.counts.executed() as f64 / summary.window.as_secs_f64())
    });
    let rate = executed.filter(|it| *it > 0.0)?;
    Some(NormalizedRate { per_second, per_transaction: per_second / rate })
}

/// Findings on cells with many more logins per transaction than another cell with the same operations and server.
pub fn logins_differ(cells: &[CellTrials<'_>]) -> Vec<Finding> {
    let known: Vec<(&CellTrials<'_>, NormalizedRate)> =
        cells.iter().filter_map(|it| Some((it, logins(it)?))).collect();
    let more = |(cell, logins): &(&CellTrials<'_>, NormalizedRate)| {
        // The number of clients and the reuse of their connections are what the cells may differ in.
        let is_alike = |other: &&(&CellTrials<'_>, NormalizedRate)| {
            let mut setup = other.0.setup.clone();
            setup.load = cell.setup.load.clone();
            same_but_stack(&setup, cell.setup)
        };
        let others = known.iter().filter(is_alike);
        let fewest = |a: &&(_, NormalizedRate), b: &&(_, NormalizedRate)| {
            a.1.per_transaction.total_cmp(&b.1.per_transaction)
        };
        let (other, other_logins) = others.min_by(fewest)?;
        let differ = logins.per_second >= LOGINS_PER_SECOND_MIN
            && logins.per_transaction >= LOGINS_RATIO_MIN * other_logins.per_transaction;
        differ.then(|| Finding::LoginsDiffer {
            cell: cell.number,
            other_cell: other.number,
            logins: *logins,
            other_logins: *other_logins,
            server_cpu: cell.median(server_processors),
            other_server_cpu: other.median(server_processors),
        })
    };
    known.iter().filter_map(more).collect()
}
