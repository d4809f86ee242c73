//! Findings on nodes that the load did not pass through

use super::*;
use crate::fixture::trial::service;
use model::plan::{Replication, SyncMode};

/// Findings on unused nodes, each as name and counts. Clients completed 10,000 transactions.
fn unused(experiment: &Experiment, runs: &[TestRun]) -> Vec<(String, u64, u64, u32)> {
    let facts: Vec<TrialFacts<'_>> = runs.iter().map(|it| it.facts(experiment)).collect();
    let unused_node = |finding: Finding| match finding {
        Finding::Circumstance {
            circumstance: Circumstance::NotUsed { node, node_count, transactions, trials, .. },
            ..
        } => Some((node, node_count, transactions, trials)),
        _ => None,
    };
    findings(experiment, &facts).into_iter().filter_map(unused_node).collect()
}

/// Adds PgBouncer's console, which counts `rate` transactions per second. With `None`, the console has no row for a
/// used database.
fn console(rate: Option<f64>) -> TestRun {
    let run = TestRun::new(0, 0).gauge("pooler", "pool_size", "app", 20.0);
    match rate {
        Some(it) => run.counter("pooler", "pool_transactions", "app", it),
        None => run,
    }
}

/// Adds PostgreSQL's counters per second: commits, rollbacks, and the monitoring's share of both.
fn server(commits: f64, rollbacks: f64, monitoring: f64) -> TestRun {
    let run = TestRun::new(0, 0).counter("postgres", "pg_commits", "app", commits);
    let run = run.counter("postgres", "pg_rollbacks", "app", rollbacks);
    run.counter("postgres", "pg_monitor_transactions", "", monitoring)
}

#[test]
fn reports_nodes_that_count_far_fewer_transactions() {
    let (pooler, postgres) = (Some(("pooler", 0)), Some(("postgres", 0)));
    for (word, behind_service, run, expected) in [
        ("pooled", false, console(Some(300.0)), Some(("pooler", 2700))),
        ("direct", false, server(28.0, 0.0, 28.0), postgres),
        ("direct", false, server(1028.0, 0.0, 28.0), None),
        ("direct", false, server(28.0, 1000.0, 28.0), None),
        ("direct", false, server(328.0, 0.0, 28.0), Some(("postgres", 2700))),
        // PostgreSQL counts statements that touch no table late, but its sessions show that the load reached it.
        ("direct", false, sessions(server(328.0, 0.0, 28.0), 2.0, 0.0, 2.0), None),
        // A session of pgdyno itself may still end when the trial begins.
        (
            "direct",
            false,
            server(28.0, 0.0, 28.0).sample(1, "postgres", "pg_sessions", "idle", 1.0),
            postgres,
        ),
        // The transactions may belong to the load or to other clients.
        ("direct", false, server(5000.0, 0.0, 28.0), None),
        // A run stored by an older version has no count of the monitoring's transactions.
        ("direct", false, TestRun::new(0, 0).counter("postgres", "pg_commits", "app", 0.0), None),
        // Counters do not include transactions that have not ended.
        (
            "direct",
            false,
            server(28.0, 0.0, 28.0).sample(10, "postgres", "pg_longest_transaction", "", 9.5),
            None,
        ),
        // A service may respond from its cache.
        ("direct", true, server(128.0, 0.0, 28.0), None),
        ("direct", true, server(30.0, 0.0, 28.0), Some(("postgres", 18))),
        ("pooled", true, console(Some(20.0)), None),
        ("pooled", true, console(None), pooler),
    ] {
        let mut experiment = experiment(&[word], None);
        if behind_service {
            experiment.cells[0].setup.stack.nodes.insert(0, service());
        }
        let found = unused(&experiment, std::slice::from_ref(&run));
        let expected: Vec<_> =
            expected.map(|(node, counted)| (node.to_owned(), counted, 10_000, 1)).into_iter().collect();
        assert_eq!(found, expected, "{word}, behind a service: {behind_service}");
    }
}

/// Adds HAProxy's frontend: open sessions, and sessions begun per second.
fn frontend(open: f64, begun: f64) -> TestRun {
    let run = TestRun::new(0, 0).gauge("balancer", "balancer_sessions", "pg/FRONTEND", open);
    let run = run.counter("balancer", "balancer_sessions_begun", "pg/FRONTEND", begun);
    // Rows of the health checks, and of the sum over the servers.
    run.gauge("balancer", "balancer_sessions", "pg/BACKEND", 1.0)
}

#[test]
fn reports_a_balancer_without_sessions() {
    for (run, expected) in [
        (frontend(0.0, 0.0), Some(("balancer".to_owned(), 0, 10_000, 1))),
        (frontend(200.0, 0.0), None),
        // One session for each transaction.
        (frontend(0.0, 1000.0), None),
        (TestRun::new(0, 0), None),
    ] {
        let experiment = experiment(&["haproxy"], None);
        let found = unused(&experiment, std::slice::from_ref(&run));
        assert_eq!(found, Vec::from_iter(expected.clone()));
        let nodes = unused_nodes(&run.facts(&experiment));
        assert_eq!(nodes, Vec::from_iter(expected.map(|it| it.0)), "the trial's doubts");
    }
}

#[test]
fn does_not_report_a_node_used_in_one_trial() {
    let mut second = server(1028.0, 0.0, 28.0);
    second.repetition = 1;
    assert_eq!(unused(&experiment(&["direct"], None), &[server(28.0, 0.0, 28.0), second]), []);
}

/// No finding, because replicas may serve all reads.
#[test]
fn does_not_judge_a_primary_with_replicas() {
    let mut experiment = experiment(&["direct"], None);
    experiment.cells[0].setup.stack.replication = Some(Replication::with_defaults(1, SyncMode::Async));
    assert_eq!(unused(&experiment, &[server(28.0, 0.0, 28.0)]), []);
}

#[test]
fn does_not_name_an_unused_node_as_limit() {
    let blamed = |commits| {
        let run = server(commits, 0.0, 28.0);
        let run =
            cpu(host(run, 0.5), "postgres", 0.99, 0.0).gauge("postgres", "pg_active_waits", "running", 2.0);
        let experiment = experiment(&["direct"], None);
        let found = findings(&experiment, &[run.facts(&experiment)]);
        let blames = |it: &Finding| matches!(it, Finding::ServerBound { .. } | Finding::Bound { .. });
        found.into_iter().filter(blames).count()
    };
    assert_eq!(blamed(28.0), 0);
    assert_eq!(blamed(1028.0), 1);
}
