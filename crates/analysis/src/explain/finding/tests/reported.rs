//! Rules on data from clients, logs and the machine, and on missing inputs

use super::*;
use model::validity::InvalidReason;

#[test]
fn reports_reconnects() {
    let begun = |each| run().counter("postgres", "pg_sessions_begun", "app", each);
    check(
        &["direct"],
        &[begun(300.0)],
        &[
            "Circumstance { cell: 0, circumstance: ConnectionStorm { logins: Some(NormalizedRate { per_second: 300.0, per_transaction: 0.3 }), \
           cancelled_per_thousand: 0.0 } }",
        ],
    );
    check(&["direct"], &[begun(50.0)], &[]);
    // The load opens a connection for each transaction.
    let mut each = experiment(&["direct"], None);
    each.cells[0].setup.load.reconnect = true;
    check_in(&each, &[begun(300.0)], &[]);
}

#[test]
fn reports_cancelled_statements() {
    let begun = |run: TestRun| run.counter("postgres", "pg_sessions_begun", "app", 0.0);
    let cancelled =
        "Failures { cell: 0, code: \"57014\", name: Some(\"query_canceled\"), count: 120, sent: 10120 }";
    check(
        &["direct"],
        &[begun(run().failed(b"57014", 120))],
        &[
            cancelled,
            "Circumstance { cell: 0, circumstance: ConnectionStorm { logins: None, cancelled_per_thousand: 11.8577 } }",
        ],
    );
    let few = "Failures { cell: 0, code: \"57014\", name: Some(\"query_canceled\"), count: 20, sent: 10020 }";
    check(&["direct"], &[begun(run().failed(b"57014", 20))], &[few]);
    // Clients of a service receive another error, but the server logs the cancellation.
    check(
        &["direct"],
        &[begun(run().logged("57014", 200))],
        &[
            "Circumstance { cell: 0, circumstance: ConnectionStorm { logins: None, cancelled_per_thousand: 20.0 } }",
        ],
    );
    check(&["direct"], &[begun(run().logged("22012", 200))], &[]);
}

#[test]
fn reports_a_late_generator() {
    let late = |n| TestRun::new(0, n).invalid_reason(InvalidReason::Saturated { thread: 0, busy: 0.97 });
    check(
        &["direct"],
        &[late(0), TestRun::new(0, 1), late(2)],
        &[
            "Circumstance { cell: 0, circumstance: GeneratorLate { reason: Saturated { thread: 0, busy: 0.97 }, trials: 2, total_trials: 3 } }",
        ],
    );
    // The generator is not the reason why these trials are invalid.
    for reason in [InvalidReason::NoSuccess, InvalidReason::Aborted { clients: 1, total_clients: 4 }] {
        check(&["direct"], &[TestRun::new(0, 0).invalid_reason(reason)], &[]);
    }
}

#[test]
fn reports_a_noisy_host() {
    let stolen = |it| host(run(), 0.5).counter("host", "host_cpu", "steal", it);
    check(
        &["direct"],
        &[stolen(0.3)],
        &["Circumstance { cell: 0, circumstance: NoisyHost { stolen_cpu: Some(0.3), jitter: None } }"],
    );
    check(&["direct"], &[stolen(0.01)], &[]);
    let jitter = |run: TestRun, millis| run.jitter(millis);
    check(
        &["direct"],
        &[jitter(host(run(), 0.5), 5)],
        &["Circumstance { cell: 0, circumstance: NoisyHost { stolen_cpu: None, jitter: Some(0.005) } }"],
    );
    check(&["direct"], &[host(run(), 0.5)], &[]);
    // On a busy machine, the measured load itself makes timers late.
    check(&["direct"], &[jitter(host(run(), 0.1), 5)], &[]);
}

#[test]
fn reports_bloat() {
    let dead = |n, dead| {
        let run = TestRun::new(0, n).gauge("postgres", "pg_dead_rows", "", dead);
        run.gauge("postgres", "pg_live_rows", "", 100_000.0).counter("postgres", "pg_vacuums", "", 0.0)
    };
    check(
        &["direct"],
        &[dead(2, 50_000.0), dead(0, 1000.0), dead(1, 20_000.0)],
        &[
            "Circumstance { cell: 0, circumstance: Bloat { first_dead_rows: 1000.0, last_dead_rows: 50000.0, live_rows: 100000.0, vacuums: 0.0, trials: 3 } }",
        ],
    );
    // Two trials show no trend; trials without growth; too few dead rows to matter.
    check(&["direct"], &[dead(0, 1000.0), dead(1, 20_000.0)], &[]);
    check(&["direct"], &[dead(0, 1000.0), dead(1, 20_000.0), dead(2, 1500.0)], &[]);
    check(&["direct"], &[dead(0, 100.0), dead(1, 500.0), dead(2, 1500.0)], &[]);
    let vacuumed = dead(0, 1000.0).counter("postgres", "pg_vacuums", "", 0.2);
    check(
        &["direct"],
        &[vacuumed],
        &[
            "Circumstance { cell: 0, circumstance: Bloat { first_dead_rows: 1000.0, last_dead_rows: 1000.0, live_rows: 100000.0, vacuums: 2.0, trials: 1 } }",
        ],
    );
}

/// Two of five transactions stay idle for five seconds each. Other cases are not reported.
#[test]
fn reports_idle_transactions() {
    let idle = |sessions: f64, longest: f64, horizon: f64, blocked: f64| {
        let run = run().gauge("postgres", "pg_idle_transactions", "", sessions);
        run.gauge("postgres", "pg_idle_transaction_longest", "", longest)
            .gauge("postgres", "pg_idle_transactions_horizon", "", horizon)
            .gauge("postgres", "pg_idle_transactions_blocked", "", blocked)
    };
    let found = |horizon: &str, blocked: &str, pool: &str| {
        format!(
            "Circumstance {{ cell: 0, circumstance: IdleTransactions {{ sessions: 1.6, longest_idle: 5.0, horizon_sessions: {horizon}, blocked_sessions: \
             {blocked}, pool: {pool} }} }}"
        )
    };
    check(&["direct"], &[idle(1.6, 5.0, 0.0, 0.0)], &[&found("0.0", "0.0", "None")]);
    check(&["direct"], &[idle(1.6, 5.0, 1.2, 12.0)], &[&found("1.2", "12.0", "None")]);
    let waiting = idle(1.6, 5.0, 0.0, 0.0).gauge("pooler", "pool_clients_waiting", "app", 24.0);
    let queue = "QueueInPooler { cell: 0, node: \"pooler\", waiting: Some(24.0), longest_wait: None, in_flight: 1.998, busy: None }";
    check(&["pooled"], &[waiting], &[queue, &found("0.0", "0.0", "Some((20, 24.0))")]);
    // Odyssey's console does not report waiting clients.
    check(&["odyssey"], &[idle(1.6, 5.0, 0.0, 0.0)], &[&found("0.0", "0.0", "None")]);
    // Every transaction is idle for milliseconds between its statements. In the other case, one transaction in a
    // hundred seconds is idle for two seconds.
    check(&["direct"], &[idle(0.0, 0.02, 0.0, 0.0)], &[]);
    check(&["direct"], &[idle(0.02, 2.0, 0.0, 0.0)], &[]);
    // One idle transaction at the end of one of three trials is not reported; one in every trial is.
    let late = |n, second| TestRun::new(0, n).sample(second, "postgres", "pg_idle_transactions", "", 1.0);
    let quiet = |n| TestRun::new(0, n).gauge("postgres", "pg_idle_transactions", "", 0.0);
    check(&["direct"], &[late(0, 9), quiet(1), quiet(2)], &[]);
}

#[test]
fn reports_violations_of_littles_law() {
    // A thousand transactions per second, each with 4 ms of service and 1 ms of waiting: five are in the pooler.
    let passing = |inside| {
        run()
            .counter("pooler", "pool_transactions", "app", 1000.0)
            .counter("pooler", "pool_transaction_time", "app", 3.0)
            .counter("pooler", "pool_wait_time", "app", 1.0)
            .gauge_thrice("pooler", "pool_servers_active", "db/app", inside)
            .gauge_thrice("pooler", "pool_clients_waiting", "db/app", 1.0)
    };
    check(
        &["pooled"],
        &[passing(12.0)],
        &[
            "Circumstance { cell: 0, circumstance: LittlesLawViolation { node: \"pooler\", concurrency: 13.0, expected: 4.0, per_second: 1000.0, time: 0.004 } }",
        ],
    );
    check(&["pooled"], &[passing(3.0)], &[]);
    // In session mode, a client keeps its server connection during its think time.
    check(&["session"], &[passing(12.0)], &[]);
    // Most trials must show the violation.
    let mut other = passing(3.0);
    other.repetition = 1;
    check(&["pooled"], &[passing(12.0), other], &[]);
}

#[test]
fn reports_rules_with_missing_input() {
    let skipped = |cells: &[&str], runs: &[TestRun]| {
        let experiment = experiment(cells, None);
        let facts: Vec<TrialFacts<'_>> = runs.iter().map(|it| it.facts(&experiment)).collect();
        let lacking = |finding: Finding| match finding {
            Finding::Circumstance { circumstance: Circumstance::RulesSkipped { rules }, .. } => Some(rules),
            _ => None,
        };
        let all: Vec<_> = findings(&experiment, &facts).into_iter().filter_map(lacking).flatten().collect();
        all.iter().map(|(rule, missing)| format!("{rule:?}: {missing:?}")).collect::<Vec<_>>().join(", ")
    };
    let nothing = "ServerCpu: Group, Waits: Server, Reads: Server, Writes: Server, Scans: Server, AvoidableWork: Server, ResultReading: Server, Checkpoints: Server, \
                   Storm: Server, Bloat: Server, IdleTransactions: Server, Host: Machine";
    assert_eq!(skipped(&["direct"], &[run()]), nothing);
    let some = cpu(host(sessions(run(), 2.0, 0.0, 1.0), 0.5), "postgres", 0.5, 0.0);
    let some = some.gauge("postgres", "pg_active_waits", "running", 2.0);
    assert_eq!(
        skipped(&["direct"], std::slice::from_ref(&some)),
        "Scans: Server, AvoidableWork: Server, Checkpoints: Server, Storm: Server, Bloat: Server, IdleTransactions: Server"
    );
    let all = some
        .counter("postgres", "pg_commits", "app", 1000.0)
        .counter("postgres", "pg_sessions_begun", "", 0.0)
        .gauge("postgres", "pg_dead_rows", "", 1.0)
        .gauge("postgres", "pg_live_rows", "", 1.0)
        .gauge("postgres", "pg_idle_transactions", "", 0.0)
        .counter("postgres", "pg_checkpoints", "requested", 0.0);
    assert_eq!(skipped(&["direct"], std::slice::from_ref(&all)), "");
    let pooler = "PoolerCpu: Group, Pool: Group";
    assert_eq!(skipped(&["pooled"], std::slice::from_ref(&all)), pooler);
    let pooled = cpu(all, "pooler", 0.05, 0.0);
    assert_eq!(skipped(&["pooled"], std::slice::from_ref(&pooled)), "Pool: Console");
    // The console was sampled, but the load was too short to compare numbers of transactions by Little's law.
    let sampled = pooled.gauge("pooler", "pool_servers_active", "app", 4.0);
    assert_eq!(skipped(&["pooled"], std::slice::from_ref(&sampled)), "");
    // Without a valid trial, the reasons of the invalid trials are reported.
    assert_eq!(skipped(&["direct"], &[run().invalid()]), "");
}

#[test]
fn reports_an_unused_pooler() {
    let console = || TestRun::new(0, 0).gauge("pooler", "pool_size", "app", 20.0);
    let unused = "Circumstance { cell: 0, circumstance: NotUsed { node: \"pooler\", transactions: 10000, counter: Transactions, node_count: 0, trials: 1, total_trials: 1 } }";
    let found = |run: TestRun, setup: &str| {
        let experiment = experiment(&[setup], None);
        let found = findings(&experiment, &[run.facts(&experiment)]);
        found.iter().map(|it| format!("{it:?}")).filter(|it| it.contains("NotUsed")).collect::<Vec<_>>()
    };
    let counted = |rate| console().counter("pooler", "pool_transactions", "app", rate);
    // The console has no row for a database that a client used, or has a row that does not grow.
    assert_eq!(found(console(), "pooled"), [unused]);
    assert_eq!(found(counted(0.0), "pooled"), [unused]);
    assert_eq!(found(counted(1000.0), "pooled"), [""; 0]);
    // The console was not sampled, or no transaction completed anywhere.
    assert_eq!(found(TestRun::new(0, 0), "pooled"), [""; 0]);
    assert_eq!(found(console().without_summary(), "pooled"), [""; 0]);
    // Odyssey counts transactions in its own intervals.
    let odyssey = TestRun::new(0, 0).counter("pooler", "pool_transactions", "app", 0.0);
    assert_eq!(found(odyssey, "odyssey"), [""; 0]);
}
