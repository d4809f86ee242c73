//! Rules on the server's counters: for each rule, cases with and without a finding

use super::*;
use crate::fixture::trial::service;
use model::plan::{Fault, FaultAction, FaultTarget, FaultTrigger, Operation};

/// Experiment with a service in front of PostgreSQL.
fn behind_service() -> Experiment {
    let mut experiment = experiment(&["direct"], None);
    experiment.cells[0].setup.stack.nodes.insert(0, service());
    experiment
}

/// Samples a counter at the end of each second.
fn values(run: TestRun, series: &str, label: &str, values: &[f64]) -> TestRun {
    (1..).zip(values).fold(run, |run, (second, value)| run.sample(second, "postgres", series, label, *value))
}

#[test]
fn reports_deadlocks_that_clients_did_not_see() {
    let hidden = |counted: u64, clients: u64, databases: &str| {
        format!(
            "Circumstance {{ cell: 0, circumstance: HiddenDeadlocks {{ counted: {counted}, clients: {clients}, databases: [{databases}] }} }}"
        )
    };
    let check_hidden = |run: TestRun, expected: Option<String>| {
        let experiment = behind_service();
        let found = findings(&experiment, &[run.facts(&experiment)]);
        let found: Vec<String> =
            found.iter().map(|it| format!("{it:?}")).filter(|it| it.contains("HiddenDeadlocks")).collect();
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
    };
    let counted = |all: &[f64]| values(run(), "pg_deadlocks", "shop", all);
    check_hidden(counted(&[7.0, 12.0, 21.0]), Some(hidden(14, 0, "\"shop\"")));
    check_hidden(counted(&[7.0, 7.0, 7.0]), None);
    check_hidden(counted(&[7.0, 12.0, 21.0]).failed(b"40P01", 7), None);
    check_hidden(counted(&[7.0, 12.0, 21.0]).failed(b"40P01", 6), Some(hidden(14, 6, "\"shop\"")));
    // The statistics of one database are reset, or the server crashes.
    let reset = counted(&[90.0, 2.0, 5.0]);
    check_hidden(reset.clone(), Some(hidden(3, 0, "\"shop\"")));
    let other = values(reset, "pg_deadlocks", "other", &[1.0, 2.0, 2.0]);
    check_hidden(other, Some(hidden(4, 0, "\"other\", \"shop\"")));
    // Without samples, nothing is known.
    check_hidden(run(), None);
}

#[test]
fn reports_a_server_without_free_slots() {
    let free = |all: &[f64]| {
        values(run(), "pg_connections_free", "", all).gauge("postgres", "pg_connections_used", "", 97.0)
    };
    let full = "Circumstance { cell: 0, circumstance: NoFreeSlots { share: 0.5, sessions: 97.0 } }";
    check(&["direct"], &[free(&[3.0, 0.0, -1.0, 2.0])], &[full]);
    check(&["direct"], &[free(&[3.0, 1.0, 1.0, 2.0])], &[]);
    // The refusals that clients see are the better evidence.
    let refused = "SlotsExhausted { cell: 0, limit: Server, refusals: 40, logged_refusals: 0, max_connections: Some(50), first_second: None, trials: 1, total_trials: 1 }";
    check(&["direct"], &[free(&[3.0, 0.0]).refused(b"53300", 40)], &[refused]);
}

#[test]
fn reports_sessions_that_were_lost() {
    let lost = |series: &str| values(run(), series, "shop", &[1.0, 3.0, 4.0]);
    let figures = |figures: &str| {
        format!(
            "Circumstance {{ cell: 0, circumstance: SessionsLost {{ {figures}, databases: [\"shop\"] }} }}"
        )
    };
    check(&["direct"], &[lost("pg_sessions_fatal")], &[&figures("fatal: 3, killed: 0, abandoned: 0")]);
    check(&["direct"], &[lost("pg_sessions_killed")], &[&figures("fatal: 0, killed: 3, abandoned: 0")]);
    check(&["direct"], &[lost("pg_sessions_abandoned")], &[]);
    let abandoned = figures("fatal: 0, killed: 0, abandoned: 3");
    let experiment = behind_service();
    let facts = lost("pg_sessions_abandoned");
    let found = findings(&experiment, &[facts.facts(&experiment)]);
    assert!(found.iter().any(|it| format!("{it:?}") == abandoned), "{found:#?}");
    let mut faults = self::experiment(&["direct"], None);
    let target = FaultTarget::Node("postgres".into());
    let trigger = FaultTrigger::At(Nanos::from_secs(1));
    faults.cells[0].setup.faults = vec![Fault { trigger, action: FaultAction::Restart { target } }];
    check_in(&faults, &[lost("pg_sessions_killed")], &[]);
}

#[test]
fn compares_the_logins_of_cells() {
    let run = |cell, logins, cpu| {
        let run = TestRun::new(cell, 0).counter("postgres", "pg_sessions_begun", "shop", logins);
        run.counter("postgres", "cgroup_cpu", "", cpu)
    };
    let check_logins = |experiment: &Experiment, few: f64, many: f64, expected: &[&str]| {
        let runs = [run(0, few, 0.22), run(1, many, 0.85)];
        let facts: Vec<TrialFacts<'_>> = runs.iter().map(|it| it.facts(experiment)).collect();
        let found = findings(experiment, &facts);
        let found = found.iter().filter(|it| matches!(it, Finding::LoginsDiffer { .. }));
        assert_eq!(found.map(|it| short(&format!("{it:?}"))).collect::<Vec<_>>(), expected);
    };
    // A thousand transactions per second.
    let two = experiment(&["pooled", "direct"], None);
    let finding = "LoginsDiffer { cell: 1, other_cell: 0, logins: NormalizedRate { per_second: 977.0, per_transaction: 0.977 }, \
                   other_logins: NormalizedRate { per_second: 24.0, per_transaction: 0.024 }, server_cpu: Some(0.85), \
                   other_server_cpu: Some(0.22) }";
    check_logins(&two, 24.0, 977.0, &[finding]);
    check_logins(&two, 24.0, 100.0, &[]);
    check_logins(&two, 0.5, 9.0, &[]);
    check_logins(&two, 977.0, 977.0, &[]);
    // Cells with other operations are not compared.
    let mut other = two.clone();
    other.cells[1].setup.operations = vec![Operation::script("buy", 1, "")];
    check_logins(&other, 24.0, 977.0, &[]);
    // The load of one cell opens a connection for each transaction.
    let mut reconnecting = experiment(&["direct", "direct"], None);
    reconnecting.cells[1].setup.load.reconnect = true;
    check_logins(&reconnecting, 24.0, 977.0, &[finding]);
}
