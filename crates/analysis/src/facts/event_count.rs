//! Number of distinct events in several logs that repeat each other
//!
//! Poolers, balancers and services repeat the server's messages, so a sum over all logs would count an event several
//! times. Each log contains at most the server's events, so the count in the log with the most events is used.

use crate::facts::samples;
use crate::facts::trial::TrialFacts;
use model::plan::NodeKind;
use model::product;
use model::{EventKind, LogEvent, Nanos, Summary};
use std::collections::{BTreeMap, BTreeSet};

/// True if `text` is a pooler's own rejection, which never reaches the server.
fn is_rejection(text: &str) -> bool {
    let mut rejections = product::ALL.iter().filter_map(|it| it.pooler.as_ref()?.rejection);
    rejections.any(|it| text.contains(it))
}

/// Number of events of one kind within the trial, from the time `start` on. An event that several logs report counts
/// once.
pub fn count_logged(trial: &TrialFacts<'_>, kind: EventKind, start: Nanos) -> u64 {
    let lines: Vec<&LogEvent> = trial.events.iter().filter(|it| it.kind == kind && it.at >= start).collect();
    let count = |predicate: &dyn Fn(&LogEvent) -> bool| -> u64 {
        lines.iter().filter(|it| predicate(it)).map(|it| it.line_count()).sum()
    };
    let (mut rejections, mut most) = (0, count(&|it| is_server(trial, &it.node)));
    let mut other_nodes: Vec<&str> =
        lines.iter().map(|it| &*it.node).filter(|it| !is_server(trial, it)).collect();
    other_nodes.sort_unstable();
    other_nodes.dedup();
    for node in other_nodes {
        let rejects = lines.iter().any(|it| it.node == node && is_rejection(&it.text));
        // An aggregated log line does not name the program that rejected the connections.
        let is_own = |event: &LogEvent| {
            is_rejection(&event.text) || rejects && event.text.ends_with(LogEvent::AGGREGATE_SUFFIX)
        };
        rejections += count(&|it| it.node == node && is_own(it));
        most = most.max(count(&|it| it.node == node && !is_own(it)));
    }
    rejections + most
}

/// Number of deadlocks in a trial; `None` if no measurement could have shown one.
///
/// The clients' errors, the logs and the server's counter (`pg_stat_database.deadlocks`) each show some of the same
/// events, so the greatest count is used. Clients do not receive errors that were retried or that a service hid. A log
/// may be unavailable. The counter is updated seconds late.
pub fn deadlocks(trial: &TrialFacts<'_>, summary: &Summary) -> Option<u64> {
    let reported = summary.total.counts.deadlock;
    let logged = count_logged(trial, EventKind::Deadlock, Nanos(1));
    let counted = server_deadlocks(trial);
    let nodes = &trial.setup.stack.nodes;
    let has_log = trial.server().is_some_and(|it| matches!(it.kind, NodeKind::Postgres(_)));
    let clients_report_all =
        trial.setup.load.max_tries == 1 && !nodes.iter().any(|it| matches!(it.kind, NodeKind::Service(_)));
    let known = has_log || clients_report_all || counted.is_some() || reported + logged > 0;
    known.then(|| reported.max(logged).max(counted.unwrap_or(0)))
}

/// Increase of the deadlock counters of all servers within the window; `None` if no counter was sampled.
fn server_deadlocks(trial: &TrialFacts<'_>) -> Option<u64> {
    let databases = server_growth(trial, samples::PG_DEADLOCKS);
    (!databases.is_empty()).then(|| databases.values().sum::<f64>() as u64)
}

/// Increase of a counter of all servers within the window, by database. Empty if the counter was not sampled.
pub fn server_growth(trial: &TrialFacts<'_>, series: &str) -> BTreeMap<String, f64> {
    let nodes: BTreeSet<&str> = trial
        .samples
        .of_series(series)
        .iter()
        .map(|it| &*it.node)
        .filter(|it| is_server(trial, it))
        .collect();
    let mut all = BTreeMap::new();
    for (database, growth) in
        nodes.into_iter().flat_map(|it| samples::growth_by_label(trial.samples, it, series))
    {
        *all.entry(database).or_default() += growth;
    }
    all
}

/// True if the node is the server or one of its replicas. A replica is named after the server, with a number appended.
pub fn is_server(trial: &TrialFacts<'_>, node: &str) -> bool {
    trial.server().and_then(|it| node.strip_prefix(&*it.name)).is_some_and(|rest| {
        let number = rest.strip_prefix('-').filter(|it| !it.is_empty());
        rest.is_empty() || number.is_some_and(|digits| digits.bytes().all(|it| it.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::figure::read_figure;
    use crate::fixture::trial::{TestRun, experiment};
    use model::matrix::Figure;
    use model::plan::AttachedNode;

    /// Runs `check` on a trial of a cell; `change` edits the cell's setup first.
    fn facts(
        run: &TestRun,
        cell: &str,
        change: impl Fn(&mut model::plan::Setup),
        see: impl Fn(&TrialFacts<'_>),
    ) {
        let mut experiment = experiment(&[cell], None);
        change(&mut experiment.cells[0].setup);
        see(&run.facts(&experiment));
    }

    fn attached(setup: &mut model::plan::Setup) {
        let server = setup.stack.nodes.last_mut().expect("the stack has PostgreSQL");
        server.kind = NodeKind::Attached(AttachedNode {
            product: &product::POSTGRESQL,
            dsn: "host=localhost".into(),
            admin: None,
            allow: None,
            other_sessions: 0,
            metrics: Vec::new(),
            servers: Vec::new(),
        });
    }

    #[test]
    fn counts_an_event_in_two_logs_once() {
        let check = |run: TestRun, kind, expected| {
            facts(&run, "odyssey", |_| {}, |it| assert_eq!(count_logged(it, kind, Nanos(1)), expected));
        };
        let run = || TestRun::new(0, 0);
        let deadlock = EventKind::Deadlock;
        check(run().logs("postgres", deadlock, &["deadlock detected"; 5]), deadlock, 5);
        let both = run().logs("postgres", deadlock, &["deadlock detected"; 5]).logs(
            "pooler",
            deadlock,
            &["ERROR 40P01 deadlock detected"; 5],
        );
        check(both.clone(), deadlock, 5);
        check(both.logs("service-1", deadlock, &["org.postgresql: deadlock detected"; 2]), deadlock, 5);
        // The server's log is unavailable.
        check(run().logs("pooler", deadlock, &["ERROR 40P01 deadlock detected"; 3]), deadlock, 3);
        // Each server has its own log.
        let servers = run().logs("postgres", deadlock, &["one"; 2]).logs("postgres-2", deadlock, &["two"; 3]);
        check(servers, deadlock, 5);
        let slots = EventKind::TooManyConnections;
        let repeated = "server login failed: FATAL sorry, too many clients already";
        let refused = "pooler error: no more connections allowed (max_client_conn)";
        let run = run().logs("postgres", slots, &["sorry, too many clients already"; 4]);
        check(run.clone().logs("pooler", slots, &[repeated; 4]), slots, 4);
        check(
            run.clone().logs("pooler", slots, &[repeated; 4]).logs("pooler", slots, &[refused; 2]),
            slots,
            6,
        );
        check(run.logs("pooler", slots, &[refused, "10 more within a second"]), slots, 15);
    }

    #[test]
    fn takes_deadlocks_from_the_server_counter() {
        let check = |run: TestRun, change: &dyn Fn(&mut model::plan::Setup), expected: Option<f64>| {
            facts(&run, "direct", change, |trial| {
                assert_eq!(read_figure(trial, Figure::Deadlocks), expected);
            });
        };
        let counted = || TestRun::new(0, 0).counter("postgres", "pg_deadlocks", "app", 1.0);
        let service = |setup: &mut model::plan::Setup| {
            attached(setup);
            setup.stack.nodes.insert(0, crate::fixture::trial::service());
        };
        // Nine deadlocks in ten seconds, among 10,000 transactions.
        check(counted(), &service, Some(0.9));
        check(counted(), &attached, Some(0.9));
        check(counted().failed(b"40P01", 20), &attached, Some(1000.0 * 20.0 / 10_020.0));
        // No measurement could have shown a deadlock.
        check(TestRun::new(0, 0), &service, None);
        check(TestRun::new(0, 0), &attached, Some(0.0));
        let retried = |setup: &mut model::plan::Setup| {
            attached(setup);
            setup.load.max_tries = 3;
        };
        check(TestRun::new(0, 0), &retried, None);
        check(TestRun::new(0, 0), &|_| {}, Some(0.0));
    }
}
