//! Rules on samples: for each rule, cases with and without a finding

use super::*;
use model::plan::{
    Limits, Node, NodeKind, ProgramReadiness, ProgramScope, Replication, Service, ServiceProgram, SyncMode,
};

/// Experiment with one cell for `word`, changed by `change`.
pub(super) fn cell(word: &str, change: impl FnOnce(&mut Setup)) -> Experiment {
    let mut experiment = experiment(&[word], None);
    change(&mut experiment.cells[0].setup);
    experiment
}

/// Experiment in which PostgreSQL has these limits and one CPU.
pub(super) fn limited(limits: Limits) -> Experiment {
    cell("direct", |it| it.stack.nodes[0].limits = Limits { cpu: Some(1.0), ..limits })
}

/// Experiment in which a service with 0.3 CPUs precedes the cell for `word`.
fn serviced(word: &str, copies: u32) -> Experiment {
    cell(word, |setup| {
        let mut node = trial::service();
        if let NodeKind::Service(service) = &mut node.kind {
            service.copies = copies;
        }
        setup.stack.nodes.insert(0, node);
    })
}

/// Adds active sessions: `waiting` for this event, and `running`.
pub(super) fn waiting(run: TestRun, event: &str, waiting: f64, running: f64) -> TestRun {
    sessions(run, waiting + running, 0.0, 0.0).gauge("postgres", "pg_active_waits", event, waiting).gauge(
        "postgres",
        "pg_active_waits",
        "running",
        running,
    )
}

#[test]
fn reports_a_cpu_bound_server() {
    let pinned = |cpus: &[u32]| {
        cell("direct", |it| it.stack.nodes[0].limits = Limits { cpus: cpus.to_vec(), ..Limits::default() })
    };
    let busy = |used| run().counter("postgres", "cgroup_cpu", "", used);
    check_in(
        &pinned(&[0]),
        &[busy(0.95)],
        &[
            "ServerBound { cell: 0, node: \"postgres\", cpu: 0.95, cpu_limit: 1.0, throttled: None, throttled_cpu: None, queue: None }",
        ],
    );
    // Sessions queue for a CPU that random arrivals leave idle at times.
    let queue = |used, runnable| waiting(busy(used), "Client/ClientRead", 0.5, runnable);
    check_in(
        &pinned(&[0]),
        &[queue(0.8, 4.4)],
        &[
            "ServerBound { cell: 0, node: \"postgres\", cpu: 0.8, cpu_limit: 1.0, throttled: None, throttled_cpu: None, queue: Some(4.4) }",
        ],
    );
    check_in(&pinned(&[0]), &[queue(0.8, 1.5)], &[]);
    check_in(&pinned(&[0]), &[queue(0.6, 4.4)], &[]);
    check_in(&pinned(&[0, 1]), &[queue(1.6, 2.9)], &[]);
    check_in(&pinned(&[0, 1]), &[busy(0.95)], &[]);
    check_in(&pinned(&[]), &[busy(0.95)], &[]);
    // An attached server has limits that the experiment file does not contain.
    let limited = |limit| busy(0.95).gauge("postgres", "process_cpu_limit", "", limit);
    check_in(
        &pinned(&[]),
        &[limited(1.0)],
        &[
            "ServerBound { cell: 0, node: \"postgres\", cpu: 0.95, cpu_limit: 1.0, throttled: None, throttled_cpu: None, queue: None }",
        ],
    );
    check_in(&pinned(&[]), &[limited(1.5)], &[]);
    check_in(&pinned(&[0]), &[busy(0.95).not_applied("postgres", "cpus")], &[]);
    // Replicas have separate limits; only the busiest replica counts.
    let replicated = cell("direct", |setup| {
        let plan = Replication::with_defaults(2, SyncMode::Async);
        let limits = Limits { cpu: Some(0.3), ..Limits::default() };
        setup.stack.replication = Some(Replication { limits, ..plan });
    });
    let read = |second, third| {
        let with_replica_cpu = |run: TestRun, name, used| run.counter(name, "cgroup_cpu", "", used);
        with_replica_cpu(with_replica_cpu(busy(0.1), "postgres-2", second), "postgres-3", third)
    };
    let bound = "ServerBound { cell: 0, node: \"postgres-3\", cpu: 0.3, cpu_limit: 0.3, throttled: None, throttled_cpu: None, queue: None }";
    check_in(&replicated, &[read(0.29, 0.3)], &[bound]);
    check_in(&replicated, &[read(0.1, 0.1)], &[]);
    // Throttled CPU time is reported with the used CPU time.
    let throttled = cpu(run(), "postgres", 0.97, 60.0).counter("postgres", "cgroup_throttled_time", "", 2.5);
    check(
        &["direct"],
        &[throttled],
        &[
            "ServerBound { cell: 0, node: \"postgres\", cpu: 0.97, cpu_limit: 1.0, throttled: Some(0.6), throttled_cpu: \
           Some(2.5), queue: None }",
        ],
    );
}

#[test]
fn reports_a_cpu_bound_balancer() {
    let balanced = cell("balanced", |setup| {
        setup.stack.nodes[0].limits = Limits { cpu: Some(0.02), ..Limits::default() };
    });
    check_in(
        &balanced,
        &[cpu(run(), "balancer", 0.02, 97.0)],
        &[
            "ServerBound { cell: 0, node: \"balancer\", cpu: 0.02, cpu_limit: 0.02, throttled: Some(0.97), throttled_cpu: None, \
           queue: None }",
        ],
    );
    check_in(&balanced, &[cpu(run(), "balancer", 0.01, 20.0)], &[]);
}

#[test]
fn reports_a_cpu_bound_service() {
    let used = |used| cpu(run(), "service", used, 80.0);
    let bound = |cpu: &str, limit: &str| {
        format!(
            "Bound {{ cell: 0, bound: Service {{ node: \"service\", cpu: {cpu}, cpu_limit: {limit}, throttled: Some(0.8), \
             throttled_cpu: None }} }}"
        )
    };
    check_in(&serviced("direct", 1), &[used(0.29)], &[&bound("0.29", "0.3")]);
    check_in(&serviced("direct", 1), &[cpu(run(), "service", 0.2, 10.0)], &[]);
}

/// Adds requests per second that the balancer passed to each copy of the service.
fn requests(run: TestRun, per_second: &[f64]) -> TestRun {
    (1..).zip(per_second).fold(run, |run, (number, rate)| {
        let label = format!("behind/service-{number}");
        run.counter("service-balancer", "balancer_sessions_begun", &label, *rate)
    })
}

#[test]
fn names_the_service_or_its_cpu_bound_copies() {
    let used = |copies: &[(f64, f64)]| {
        let add = |run, (number, (used, throttled)): (u32, &(f64, f64))| {
            cpu(run, &format!("service-{number}"), *used, *throttled)
        };
        (1..).zip(copies).fold(run(), add)
    };
    let bound = |node: &str, cpu: &str, limit: &str, throttled: &str| {
        format!(
            "Bound {{ cell: 0, bound: Service {{ node: \"{node}\", cpu: {cpu}, cpu_limit: {limit}, throttled: \
             Some({throttled}), throttled_cpu: None }} }}"
        )
    };
    let three = serviced("direct", 3);
    let all = bound("service", "0.88", "0.9", "0.6");
    check_in(&three, &[used(&[(0.29, 60.0), (0.3, 60.0), (0.29, 60.0)])], &[&all]);
    let second = bound("service-2", "0.29", "0.3", "0.8");
    check_in(&three, &[used(&[(0.1, 0.0), (0.29, 80.0), (0.05, 0.0)])], &[&second]);
    let third = bound("service-3", "0.2", "0.3", "0.7");
    check_in(&three, &[used(&[(0.1, 0.0), (0.29, 80.0), (0.2, 70.0)])], &[&second, &third]);
    check_in(&three, &[used(&[(0.1, 0.0), (0.1, 0.0), (0.2, 0.0)])], &[]);
    // Copies that are pinned share their CPUs.
    let mut pinned = serviced("direct", 2);
    pinned.cells[0].setup.stack.nodes[0].limits = Limits { cpus: vec![0], ..Limits::default() };
    let both = bound("service", "0.95", "1.0", "0.0");
    check_in(&pinned, &[used(&[(0.5, 0.0), (0.45, 0.0)])], &[&both]);
    check_in(&pinned, &[used(&[(0.5, 0.0), (0.1, 0.0)])], &[]);
    // Without samples of one copy, nothing is known about the service.
    check_in(&three, &[used(&[(0.3, 80.0), (0.3, 80.0)])], &[]);
}

#[test]
fn reports_uneven_copies() {
    let three = serviced("direct", 3);
    let uneven = |requests: u32, shares: [&str; 3]| {
        let share = |(number, share): (u32, &str)| {
            format!("CopyShare {{ node: \"service-{number}\", share: {share} }}")
        };
        let shares = (1..).zip(shares).map(share).collect::<Vec<_>>().join(", ");
        format!(
            "Circumstance {{ cell: 0, circumstance: UnevenCopies {{ service: \"service\", balancer: \"service-balancer\", \
             requests: {requests}, shares: [{shares}] }} }}"
        )
    };
    // Counters are sampled from the first to the tenth second.
    let expected = uneven(9000, ["0.5", "0.3", "0.2"]);
    check_in(&three, &[requests(run(), &[500.0, 300.0, 200.0])], &[&expected]);
    check_in(&three, &[requests(run(), &[0.0, 500.0, 500.0])], &[&uneven(9000, ["0.0", "0.5", "0.5"])]);
    check_in(&three, &[requests(run(), &[340.0, 330.0, 330.0])], &[]);
    check_in(&three, &[requests(run(), &[10.0, 5.0, 5.0])], &[]);
    check_in(&three, &[requests(run(), &[500.0, 300.0, 200.0]).invalid()], &[]);
    check_in(&serviced("direct", 1), &[requests(run(), &[500.0, 300.0, 200.0])], &[]);
}

#[test]
fn names_the_service_or_its_copies_with_exhausted_pools() {
    let pools = |copies: &[(f64, f64)]| {
        (1..).zip(copies).fold(run(), |run, (number, (busy, waiting))| {
            let node = format!("service-{number}");
            run.gauge(&node, "service_pool_size", "pool", 10.0)
                .gauge(&node, "service_pool_busy", "pool", *busy)
                .gauge(&node, "service_pool_waiting", "pool", *waiting)
        })
    };
    let bound = |node: &str, size: &str, busy: &str, waiting: &str| {
        format!(
            "Bound {{ cell: 0, bound: ServicePool {{ node: \"{node}\", pool: \"pool\", size: {size}, busy: {busy}, waiting: \
             Some({waiting}), waited_share: None }} }}"
        )
    };
    let two = serviced("direct", 2);
    // Together, the copies have a queue.
    check_in(&two, &[pools(&[(9.5, 0.6), (10.0, 0.6)])], &[&bound("service", "20.0", "19.5", "1.2")]);
    check_in(&two, &[pools(&[(2.0, 0.0), (9.5, 5.0)])], &[&bound("service-2", "10.0", "9.5", "5.0")]);
    check_in(&two, &[pools(&[(2.0, 0.0), (9.5, 0.5)])], &[]);
    // Half of the requests of each copy waited.
    let counted = |run: TestRun, number: u32, waited: f64| {
        run.counter(&format!("service-{number}"), "service_pool_waited_total", "pool", waited)
    };
    let waited = counted(counted(pools(&[(9.5, 0.0), (9.5, 0.0)]), 1, 250.0), 2, 250.0);
    let expected = bound("service", "20.0", "19.0", "0.0").replace("None", "Some(0.5)");
    check_in(&two, &[waited], &[&expected]);
    let threads = |copies: &[(f64, f64)]| {
        (1..).zip(copies).fold(run(), |run, (number, (busy, waiting))| {
            let node = format!("service-{number}");
            run.gauge(&node, "service_threads_size", "", 5.0)
                .gauge(&node, "service_threads_busy", "", *busy)
                .gauge(&node, "service_threads_waiting", "", *waiting)
        })
    };
    let bound = |node: &str, size: &str, busy: &str, waiting: &str| {
        format!(
            "Bound {{ cell: 0, bound: ServiceThreads {{ node: \"{node}\", pool: \"\", size: {size}, busy: {busy}, waiting: \
             Some({waiting}) }} }}"
        )
    };
    check_in(&two, &[threads(&[(5.0, 2.0), (4.8, 0.0)])], &[&bound("service", "10.0", "9.8", "2.0")]);
    check_in(&two, &[threads(&[(5.0, 2.0), (1.0, 0.0)])], &[&bound("service-1", "5.0", "5.0", "2.0")]);
}

/// A service of the programs `fpm`, which has a quota of 0.5 CPUs, and `web`, with this number of copies.
fn with_programs(copies: u32) -> Experiment {
    cell("direct", |setup| {
        let program = |name: &str, cpu| ServiceProgram {
            name: name.to_owned(),
            command: vec![name.to_owned()],
            env: Vec::new(),
            files: Vec::new(),
            scope: ProgramScope::Copy,
            ready: ProgramReadiness::Port,
            limits: Limits { cpu, ..Limits::default() },
        };
        let programs = vec![program("fpm", Some(0.5)), program("web", None)];
        let kind = NodeKind::Service(Service { programs, copies, ..Service::default() });
        setup.stack.nodes.insert(0, Node { kind, limits: Limits::default(), ..trial::service() });
    })
}

#[test]
fn findings_on_services_name_their_programs() {
    let fpm = |name: &str, run: TestRun, busy| {
        cpu(run, name, 0.25, 75.0)
            .gauge(name, "service_threads_size", "www", 4.0)
            .gauge(name, "service_threads_busy", "www", busy)
            .gauge(name, "service_threads_waiting", "www", 2.0)
    };
    let web = |run: TestRun, name| cpu(run, name, 0.9, 0.0);
    let one = web(fpm("service.fpm", run(), 1.0), "service.web");
    let bound = |cpu: &str, limit: &str| {
        format!(
            "Bound {{ cell: 0, bound: Service {{ node: \"service.fpm\", cpu: {cpu}, cpu_limit: {limit}, throttled: \
             Some(0.75), throttled_cpu: None }} }}"
        )
    };
    check_in(&with_programs(1), &[one], &[&bound("0.25", "0.5")]);
    let two = fpm("service-2.fpm", fpm("service-1.fpm", run(), 4.0), 4.0);
    let threads = "Bound { cell: 0, bound: ServiceThreads { node: \"service.fpm\", pool: \"www\", size: 8.0, busy: 8.0, \
                   waiting: Some(4.0) } }";
    check_in(&with_programs(2), std::slice::from_ref(&two), &[&bound("0.5", "1.0"), threads]);
    check_in(&with_programs(2), &[two.not_applied("service-2.fpm", "cpu")], &[threads]);
}

#[test]
fn reports_an_exhausted_service_pool() {
    let pool = |busy, waiting| {
        run()
            .gauge("service", "service_pool_size", "pool", 10.0)
            .gauge("service", "service_pool_busy", "pool", busy)
            .gauge("service", "service_pool_waiting", "pool", waiting)
    };
    check_in(
        &serviced("direct", 1),
        &[pool(9.9, 40.0)],
        &[
            "Bound { cell: 0, bound: ServicePool { node: \"service\", pool: \"pool\", size: 10.0, busy: 9.9, waiting: \
             Some(40.0), waited_share: None } }",
        ],
    );
    check_in(&serviced("direct", 1), &[pool(9.9, 0.5)], &[]);
    check_in(&serviced("direct", 1), &[pool(5.0, 40.0)], &[]);
    // Number of connections that waited. 1000 requests per second receive a response; one of them failed.
    let counted = |waited| pool(9.9, 0.0).counter("service", "service_pool_waited_total", "pool", waited);
    check_in(
        &serviced("direct", 1),
        &[counted(900.0)],
        &[
            "Bound { cell: 0, bound: ServicePool { node: \"service\", pool: \"pool\", size: 10.0, busy: 9.9, waiting: \
             Some(0.0), waited_share: Some(0.9) } }",
        ],
    );
    check_in(&serviced("direct", 1), &[counted(50.0)], &[]);
}

#[test]
fn reports_exhausted_service_threads() {
    let threads = |busy, waiting| {
        run()
            .gauge("service", "service_threads_size", "", 5.0)
            .gauge("service", "service_threads_busy", "", busy)
            .gauge("service", "service_threads_waiting", "", waiting)
    };
    check_in(
        &serviced("direct", 1),
        &[threads(4.8, 30.0)],
        &[
            "Bound { cell: 0, bound: ServiceThreads { node: \"service\", pool: \"\", size: 5.0, busy: 4.8, waiting: Some(30.0) } }",
        ],
    );
    check_in(&serviced("direct", 1), &[threads(4.8, 0.2)], &[]);
    check_in(&serviced("direct", 1), &[threads(3.0, 30.0)], &[]);
    // Without a limit there is no finding.
    check_in(&serviced("direct", 1), &[run().gauge("service", "service_threads_busy", "", 500.0)], &[]);
}

#[test]
fn reports_two_pools_in_a_row() {
    // The pooler executes a thousand transactions per second.
    let pools_of = |nodes: &[&str], connections: f64, sets: f64, waiting: f64| {
        let with_pool = |run: TestRun, node: &&str| {
            run.gauge(node, "service_pool_size", "pool", connections).gauge(
                node,
                "service_pool_busy",
                "pool",
                1.0,
            )
        };
        nodes
            .iter()
            .fold(run(), with_pool)
            .gauge("pooler", "pool_clients_waiting", "db/app", waiting)
            .counter("pooler", "pool_transactions", "app", 1000.0)
            .counter("pooler", "pool_assignments", "app", 1000.0)
            .counter("postgres", "pg_sets", "", sets)
    };
    let pools = |connections, sets, waiting| pools_of(&["service"], connections, sets, waiting);
    let copies = ["service-1", "service-2"];
    let in_row = |connections: &str, sets: &str, waiting: &str| {
        format!(
            "Circumstance {{ cell: 0, circumstance: ChainedPools {{ service: \"service\", connections: {connections}, pooler: \
             \"pooler\", pool: 20, assignments_per_transaction: Some(1.0), sets_per_transaction: Some({sets}), waiting: Some({waiting}) }} }}"
        )
    };
    check_in(&serviced("pooled", 1), &[pools(24.0, 0.0, 3.5)], &[&in_row("24.0", "0.0", "3.5")]);
    check_in(&serviced("pooled", 1), &[pools(24.0, 500.0, 0.0)], &[&in_row("24.0", "0.5", "0.0")]);
    check_in(
        &serviced("pooled", 2),
        &[pools_of(&copies, 12.0, 500.0, 0.0)],
        &[&in_row("24.0", "0.5", "0.0")],
    );
    check_in(&serviced("pooled", 1), &[pools(24.0, 10.0, 0.5)], &[]);
    check_in(&serviced("pooled", 1), &[pools(20.0, 500.0, 3.5)], &[]);
}

#[test]
fn reports_commits_that_wait_for_wal() {
    for (event, bound) in [
        ("IO/WALSync", "WalFlush"),
        ("IO/WalSync", "WalFlush"),
        ("LWLock/WALWrite", "WalFlush"),
        ("IPC/SyncRep", "SyncReplicas"),
    ] {
        let finding = format!("Bound {{ cell: 0, bound: {bound} {{ share: 0.75, active: 4.0 }} }}");
        check(&["direct"], &[waiting(run(), event, 3.0, 1.0)], &[&finding]);
        check(&["direct"], &[waiting(run(), event, 1.0, 3.0)], &[]);
    }
    // Sessions that write WAL and sessions that wait for them have one cause.
    let both =
        waiting(run(), "IO/WALSync", 1.0, 2.0).gauge("postgres", "pg_active_waits", "LWLock/WALWrite", 1.0);
    check(&["direct"], &[both], &["Bound { cell: 0, bound: WalFlush { share: 0.5, active: 3.0 } }"]);
    // Almost no session is active.
    check(&["direct"], &[waiting(run(), "IO/WALSync", 0.04, 0.01)], &[]);
    // A single client waits at each commit too.
    let one = waiting(run(), "IO/WALSync", 0.8, 0.2);
    check(&["direct"], &[one], &["Bound { cell: 0, bound: WalFlush { share: 0.8, active: 1.0 } }"]);
}

#[test]
fn reports_row_lock_waits() {
    let text = |it: TestRun, label| it.counter("postgres", "pg_statement_text", label, 1.0);
    let all = waiting(run(), "Lock/tuple", 6.0, 4.0)
        .gauge("postgres", "pg_longest_lock_wait", "", 0.5)
        .gauge("postgres", "pg_lock_waiters", "-7", 1.0)
        .gauge("postgres", "pg_lock_waiters", "12", 5.0)
        .gauge("postgres", "pg_lock_waiters", "13", 0.1);
    let all = text(text(all, "12 UPDATE a SET n = n + $1"), "-7 DELETE FROM a");
    check(
        &["direct"],
        &[all],
        &[
            "Bound { cell: 0, bound: RowLocks { share: 0.6, active: 10.0, longest_wait: Some(0.5), statements: [\"UPDATE a SET n = n + \
             $1\", \"DELETE FROM a\"] } }",
        ],
    );
    check(&["direct"], &[waiting(run(), "Lock/tuple", 3.0, 7.0)], &[]);
    check(&["direct"], &[waiting(run(), "Lock/tuple", 1.0, 0.5)], &[]);
}

#[test]
fn names_locks_by_kind() {
    for (event, kind, least) in [
        ("Lock/advisory", "Advisory", 3.5),
        ("Lock/relation", "Relation", 3.5),
        ("Lock/extend", "Extend", 3.5),
        ("Lock/object", "Object", 3.5),
        ("Lock/virtualxid", "Heavyweight { name: \"virtualxid\" }", 3.5),
        ("BufferPin/BufferPin", "BufferPin", 5.5),
        ("LWLock/WALInsert", "Lightweight { name: \"WALInsert\" }", 5.5),
        ("LWLock/ProcArray", "Lightweight { name: \"ProcArray\" }", 5.5),
    ] {
        let waits = |number| waiting(run(), event, number, 10.0 - number);
        let finding = format!(
            "Bound {{ cell: 0, bound: Locks {{ lock: {kind}, share: {:?}, active: 10.0, longest_wait: None, statements: [] }} }}",
            least / 10.0
        );
        check(&["direct"], &[waits(least)], &[&finding]);
        check(&["direct"], &[waits(least - 1.0)], &[]);
        check(&["direct"], &[waiting(run(), event, 1.0, 0.5)], &[]);
    }
    // A third of the sessions waits for each of two kinds, and one of them names its statement.
    let two = waiting(run(), "Lock/advisory", 4.0, 2.0)
        .gauge("postgres", "pg_active_waits", "Lock/tuple", 4.0)
        .gauge("postgres", "pg_longest_lock_wait", "", 0.5)
        .gauge("postgres", "pg_lock_waiters", "12", 5.0)
        .counter("postgres", "pg_statement_text", "12 SELECT pg_advisory_xact_lock($1)", 1.0);
    let figures = "share: 0.4, active: 6.0, longest_wait: Some(0.5), statements: [\"SELECT pg_advisory_xact_lock($1)\"]";
    check(
        &["direct"],
        &[two],
        &[
            &format!("Bound {{ cell: 0, bound: RowLocks {{ {figures} }} }}"),
            &format!("Bound {{ cell: 0, bound: Locks {{ lock: Advisory, {figures} }} }}"),
        ],
    );
    // Other events are no locks.
    check(
        &["direct"],
        &[waiting(run(), "IPC/BgWorkerStartup", 6.0, 4.0)],
        &["SessionsWait { cell: 0, event: \"IPC/BgWorkerStartup\", share: 0.6, active: 10.0 }"],
    );
}

#[test]
fn reports_sequential_scans() {
    let scanned = |run: TestRun, table: &str, scans: f64, rows: f64| {
        run.counter("postgres", "pg_table_scans", table, scans).counter(
            "postgres",
            "pg_table_scanned_rows",
            table,
            scans * rows,
        )
    };
    let books = |scans, rows| {
        let run = scanned(cpu(run(), "postgres", 0.85, 0.0), "book.bookv2", scans, rows);
        scanned(run, "book.author", 1000.0, 12.0)
    };
    let finding = "Bound { cell: 0, bound: Scans { table: \"book.bookv2\", scans_per_transaction: 0.9, rows_per_scan: 200000.0, cpu_share: Some(0.85) } }";
    check(&["direct"], &[books(900.0, 200_000.0)], &[finding]);
    check(&["direct"], &[books(10.0, 200_000.0)], &[]);
    check(&["direct"], &[books(50_000.0, 900.0)], &[]);
    // Shorter scans of frequent transactions take most of the CPU time.
    let short = finding.replace("0.9, rows_per_scan: 200000.0", "1.0, rows_per_scan: 5000.0");
    check(&["direct"], &[books(1000.0, 5_000.0)], &[&short]);
    check(&["direct"], &[books(1000.0, 3_000.0)], &[]);
    // An aggregate query returns all rows that it reads.
    let returned = |rows| books(900.0, 200_000.0).counter("postgres", "pg_statement_rows", "", rows);
    check(&["direct"], &[returned(1_000_000.0)], &[finding]);
    check(&["direct"], &[returned(100_000_000.0)], &[]);
}

#[test]
fn reports_slowdowns_by_checkpoints() {
    // A checkpoint is written in the last four seconds.
    let written = |run: TestRun| {
        let mut run = run;
        for second in 1..=10_u64 {
            let value = 100.0 + 50.0 * second.saturating_sub(6) as f64;
            run = run.sample(second, "postgres", "pg_buffers_written", "checkpointer", value);
        }
        run.counter("postgres", "pg_checkpoints", "requested", 0.0)
    };
    let slow = |it: f64| written(run()).delivered(&[[1000.0; 6].as_slice(), &[it; 4]].concat());
    check(
        &["direct"],
        &[slow(700.0)],
        &[
            "Bound { cell: 0, bound: Checkpoints { requested: 0.0, share: 0.4444, throughput_ratio: Some(0.7), full_page_share: None } }",
        ],
    );
    check(&["direct"], &[slow(950.0)], &[]);
    check(&["direct"], &[written(run())], &[]);
    let requested = |each| run().counter("postgres", "pg_checkpoints", "requested", each);
    check(
        &["direct"],
        &[requested(0.2)],
        &[
            "Bound { cell: 0, bound: Checkpoints { requested: 2.0, share: 0.0, throughput_ratio: None, full_page_share: None } }",
        ],
    );
    check(&["direct"], &[requested(0.0)], &[]);
    check(&["direct"], &[run().counter("postgres", "pg_checkpoints", "timed", 0.2)], &[]);
}

#[test]
fn reports_too_few_clients() {
    // 200 clients with 2.5 ms each execute at most 80,000 transactions per second.
    let half = |tps, cpu| {
        run().tps(tps).counter("postgres", "cgroup_cpu", "", cpu).gauge(
            "postgres",
            "pg_sessions",
            "active",
            1.0,
        )
    };
    check(
        &["direct"],
        &[half(79_000.0, 0.5)],
        &[
            "Bound { cell: 0, bound: Clients { clients: 200, mean: 0.0025, throughput_bound: 80000.0, delivered: 79000.0, idle: 0.5 } }",
        ],
    );
    // An average over an outage proves nothing, but trials without an outage do.
    let interrupted = || half(79_000.0, 0.5).outage(2, 5);
    check(&["direct"], &[interrupted()], &[]);
    let mut quiet = half(79_000.0, 0.5);
    quiet.repetition = 1;
    check(
        &["direct"],
        &[interrupted(), quiet],
        &[
            "Bound { cell: 0, bound: Clients { clients: 200, mean: 0.0025, throughput_bound: 80000.0, delivered: 79000.0, idle: 0.5 } }",
        ],
    );
    // No finding if PostgreSQL's or the machine's CPUs are saturated, transactions received no response, or clients
    // have a think time.
    check(&["direct"], &[half(79_000.0, 0.85)], &[]);
    check(&["direct"], &[host(half(79_000.0, 0.5), 0.1)], &[]);
    check(&["direct"], &[half(40_000.0, 0.5)], &[]);
    let thinking = cell("direct", |it| it.load.model = LoadModel::Closed { clients: 200, think: Nanos(1) });
    check_in(&thinking, &[half(79_000.0, 0.5)], &[]);
    // Another resource is exhausted.
    check(
        &["direct"],
        &[waiting(half(79_000.0, 0.5), "IPC/SyncRep", 3.0, 1.0)],
        &["Bound { cell: 0, bound: SyncReplicas { share: 0.75, active: 5.0 } }"],
    );
}
