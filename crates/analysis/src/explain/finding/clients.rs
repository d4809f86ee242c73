//! Findings on clients that were refused, starved, delayed or left connected

use super::{CellTrials, Finding, TrialFacts};
use crate::facts::event_count;
use crate::facts::figure::STARVED_SHARE;
use model::finding::ConnectionLimit;
use model::plan::{Node, NodeKind, PoolMode};
use model::summary::{Failure, FailureClass};
use model::validity::Doubt;
use model::{Code, EventKind, Nanos};

const EXHAUSTED: &str = "53300";
/// Largest share of starved clients that is not reported.
const STARVED_CLIENTS_SHARE: f64 = 0.05;
/// Mean number of transactions per client above which chance does not explain a client without transactions.
const TRANSACTIONS_PER_CLIENT_MIN: f64 = 10.0;

pub fn slots_exhausted(cell: &CellTrials<'_>) -> Option<Finding> {
    let each = |it: &&TrialFacts<'_>| (refused_connections(it), logged(it));
    let counts: Vec<(u64, u64)> = cell.trials.iter().map(each).collect();
    let trials = counts.iter().filter(|it| it.0 + it.1 > 0).count() as u32;
    (trials > 0).then(|| Finding::SlotsExhausted {
        cell: cell.number,
        limit: connection_limit(cell),
        refusals: counts.iter().map(|it| it.0).sum(),
        logged_refusals: counts.iter().map(|it| it.1).sum(),
        max_connections: match &cell.server().map(|it| &it.kind) {
            Some(NodeKind::Postgres(it)) => Some(it.max_connections),
            _ => None,
        },
        first_second: cell.trials.iter().filter_map(|it| first_second(it)).min(),
        trials,
        total_trials: cell.trials.len() as u32,
    })
}

/// Connection limit that PostgreSQL's error message names, as in `too many connections for role "few"`. Source:
/// `src/backend/utils/init/postinit.c`.
fn connection_limit(cell: &CellTrials<'_>) -> ConnectionLimit {
    let summaries = cell.trials.iter().filter_map(|it| it.summary);
    let failures = summaries.flat_map(|it| it.connects.refused.iter().chain(&it.failures));
    let exhausted = failures.filter(|it| it.code == EXHAUSTED);
    let words: Vec<&str> = exhausted.filter_map(|it| it.message.as_deref()).collect();
    let mentions = |text| words.iter().any(|it| it.contains(text));
    if mentions("too many connections for role") {
        ConnectionLimit::Role
    } else if mentions("too many connections for database") {
        ConnectionLimit::Database
    } else {
        ConnectionLimit::Server
    }
}

/// Number of refused logins. With a pooler, the number includes transactions that failed with PostgreSQL's error code
/// for refused logins.
fn refused_connections(trial: &TrialFacts<'_>) -> u64 {
    let count =
        |all: &[Failure]| -> u64 { all.iter().filter(|it| it.code == EXHAUSTED).map(|it| it.count).sum() };
    let Some(summary) = trial.summary else { return 0 };
    let refused = count(&summary.connects.refused);
    // With a connection per transaction, a refused login also counts as a failed transaction.
    if trial.setup.load.reconnect {
        refused.max(count(&summary.failures))
    } else {
        refused + count(&summary.failures)
    }
}

fn logged(trial: &TrialFacts<'_>) -> u64 {
    event_count::count_logged(trial, EventKind::TooManyConnections, Nanos::ZERO)
}

fn first_second(trial: &TrialFacts<'_>) -> Option<u64> {
    let events = trial.events.iter().filter(|it| it.kind == EventKind::TooManyConnections);
    let exhausted = |(code, _): (Code, u64)| code == Code::SqlState(*b"53300");
    let ticks = trial.ticks.iter().filter(|tick| {
        let cells = tick.interval.scripts.iter().flat_map(|it| [&it.failed, &it.unknown]);
        cells.chain([&tick.interval.refused]).any(|it| it.iter().any(exhausted))
    });
    events.map(|it| it.at.0 / Nanos::from_secs(1).0).chain(ticks.map(|it| it.second)).min()
}

/// Finding on starved clients, in the closed model only. In the open model, any idle client takes the next arrival.
pub fn starved(cell: &CellTrials<'_>) -> Option<Finding> {
    struct StarvationCounts {
        served: usize,
        without: usize,
        clients: usize,
        mean: f64,
        jain: f64,
    }
    let mut all: Vec<StarvationCounts> = Vec::new();
    for trial in &cell.trials {
        let fairness = trial.valid().and_then(|it| it.fairness);
        let Some(fairness) = fairness.filter(|_| !trial.clients.is_empty()) else { continue };
        let clients = trial.clients.len();
        let mean = trial.clients.iter().sum::<u64>() as f64 / clients as f64;
        let served =
            trial.clients.iter().filter(|it| **it as f64 >= STARVED_SHARE * mean && **it > 0).count();
        let without = trial.clients.iter().filter(|it| **it == 0).count();
        all.push(StarvationCounts { served, without, clients, mean, jain: fairness.jain });
    }
    all.sort_by_key(|it| it.served);
    let median = all.get(all.len() / 2)?;
    let hardly = (median.clients - median.served) as f64;
    (hardly > STARVED_CLIENTS_SHARE * median.clients as f64 && median.mean >= TRANSACTIONS_PER_CLIENT_MIN)
        .then(|| Finding::ClientsStarved {
            cell: cell.number,
            clients_served: median.served as u32,
            clients_without_success: median.without as u32,
            clients: median.clients as u32,
            pool: pool(cell),
            jain: median.jain,
            mean_transactions: median.mean,
        })
}

/// Pool mode and pool size of the pooler nearest to PostgreSQL.
pub fn pool(cell: &CellTrials<'_>) -> Option<(PoolMode, u32)> {
    cell.pooler()?.kind.pooler().map(|it| (it.mode, it.server_connections().0))
}

pub fn in_flight_cap_reached(cell: &CellTrials<'_>) -> Option<Finding> {
    let reached = |trial: &&TrialFacts<'_>| {
        trial.summary?.validity.doubts.iter().find_map(|doubt| match *doubt {
            Doubt::InFlightCapReached { arrivals, waited, dropped } => Some((arrivals, waited, dropped)),
            _ => None,
        })
    };
    let all: Vec<(u64, u64, u64)> = cell.trials.iter().filter_map(reached).collect();
    (!all.is_empty()).then(|| Finding::NotOpenLoop {
        cell: cell.number,
        arrivals: all.iter().map(|it| it.0).sum(),
        waited: all.iter().map(|it| it.1).sum(),
        dropped: all.iter().map(|it| it.2).sum(),
        in_flight_cap: cell.setup.load.model.clients(),
        trials: all.len() as u32,
        total_trials: cell.trials.len() as u32,
    })
}

/// Findings on clients that stayed connected after the load. If there is a service, the pooler's clients are the
/// service's connections, which stay open.
pub fn remaining_clients<'a>(cell: &'a CellTrials<'_>) -> impl Iterator<Item = Finding> + 'a {
    let is_generator_side = |it: &&Node| !matches!(it.kind, NodeKind::Service(_));
    cell.setup.stack.nodes.iter().take_while(is_generator_side).filter_map(|node| {
        let count_left = |trial: &&TrialFacts<'_>| -> u64 {
            trial
                .remaining_clients
                .iter()
                .filter(|(name, _)| *name == node.name)
                .map(|(_, clients)| *clients)
                .sum()
        };
        let all: Vec<u64> = cell.trials.iter().map(count_left).filter(|it| *it > 0).collect();
        all.iter().max().map(|clients| Finding::ClientsLeftAfterTest {
            cell: cell.number,
            node: node.name.clone(),
            clients: *clients,
            trials: all.len() as u32,
            total_trials: cell.trials.len() as u32,
        })
    })
}

/// Findings on the error codes of failed and unknown transactions, most frequent first. Exhausted connection slots and
/// deadlocks have separate findings.
pub fn failures(cell: &CellTrials<'_>) -> Vec<Finding> {
    let reported = ["53300", "40P01"];
    let mut counts: Vec<(String, Option<&'static str>, u64)> = Vec::new();
    let summaries = || cell.trials.iter().filter_map(|it| it.summary);
    for failure in summaries().flat_map(|it| &it.failures) {
        if failure.class == FailureClass::Refused || reported.contains(&failure.code.as_str()) {
            continue;
        }
        match counts.iter_mut().find(|known| known.0 == failure.code) {
            Some(known) => known.2 += failure.count,
            None => counts.push((failure.code.clone(), failure.name, failure.count)),
        }
    }
    counts.sort_by_key(|it| std::cmp::Reverse(it.2));
    let sent = summaries().map(|it| it.total.counts.executed()).sum();
    let failures = |(code, name, count)| Finding::Failures { cell: cell.number, code, name, count, sent };
    counts.into_iter().map(failures).collect()
}
