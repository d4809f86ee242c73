use super::*;
use crate::fixture::trial::{self, TestRun, experiment};
use model::EventKind;
use model::matrix::TrialStatus;
use model::plan::NodeKind;

mod alternatives;
mod answers;
mod avoidable_work;
mod disk;
mod error_origins;
mod recorded_log;
mod remote_hosts;
mod reported;
mod sampled;
mod server_counters;
mod unused;

/// Checks the findings from `runs` of `cells`; the first cell is the baseline.
#[track_caller]
fn check(cells: &[&str], runs: &[TestRun], expected: &[&str]) {
    let experiment = experiment(cells, Some(0));
    check_in(&experiment, runs, expected);
}

/// Checks the findings of any experiment. Rules with missing inputs are not compared; other tests cover them.
#[track_caller]
fn check_in(experiment: &Experiment, runs: &[TestRun], expected: &[&str]) {
    let facts: Vec<TrialFacts<'_>> = runs.iter().map(|it| it.facts(experiment)).collect();
    let judged = |finding: &Finding| {
        !matches!(finding, Finding::Circumstance { circumstance: Circumstance::RulesSkipped { .. }, .. })
    };
    let found = findings(experiment, &facts).into_iter().filter(judged);
    let found: Vec<String> = found.map(|it| short(&format!("{it:?}"))).collect();
    assert_eq!(found, expected, "\n{}", found.join("\n"));
}

/// Text with its numbers rounded to four decimals.
fn short(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(at);
        let end = number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len());
        let (number, after) = number.split_at(end);
        out += before;
        match number.parse::<f64>() {
            // Ranges and whole numbers stay unchanged.
            Ok(value) if number.contains('.') => out += &format!("{:?}", (value * 1e4).round() / 1e4),
            _ => out += number,
        }
        rest = after;
    }
    out + rest
}

fn run() -> TestRun {
    TestRun::new(0, 0)
}

fn repeated(cell: usize, tps: &[f64]) -> Vec<TestRun> {
    tps.iter().enumerate().map(|(n, tps)| TestRun::new(cell, n as u32).tps(*tps)).collect()
}

#[test]
fn a_quiet_run_has_no_findings() {
    check(&["direct"], &[run()], &[]);
    check(&["direct"], &[], &[]);
    check(
        &["direct"],
        &[run().status(TrialStatus::Skipped { reason: "none".into() }).without_summary()],
        &[],
    );
}

#[test]
fn reports_failures_by_code() {
    // Slots and deadlocks have separate findings.
    check(
        &["direct"],
        &[
            run().failed(b"22P02", 2),
            TestRun::new(0, 1).failed(b"23505", 5).failed(b"22P02", 1).refused(b"28P01", 3),
        ],
        &[
            "Failures { cell: 0, code: \"23505\", name: Some(\"unique_violation\"), count: 5, sent: 20008 }",
            "Failures { cell: 0, code: \"22P02\", name: Some(\"invalid_text_representation\"), count: 3, sent: 20008 }",
        ],
    );
}

#[test]
fn reports_exhausted_connection_slots() {
    check(
        &["direct"],
        &[
            run()
                .refused(b"53300", 40)
                .event(EventKind::TooManyConnections, 11)
                .event_count(EventKind::TooManyConnections, 30),
            TestRun::new(0, 1),
            // Nothing was measured, but the server's log has the reason.
            TestRun::new(0, 2).without_summary().event(EventKind::TooManyConnections, 5),
        ],
        &[
            "SlotsExhausted { cell: 0, limit: Server, refusals: 40, logged_refusals: 46, max_connections: Some(50), first_second: Some(3), trials: 2, total_trials: 3 }",
        ],
    );
    // Behind Odyssey, transactions fail with the code of Odyssey's server connection.
    check(
        &["odyssey"],
        &[run().failed(b"53300", 188)],
        &[
            "SlotsExhausted { cell: 0, limit: Server, refusals: 188, logged_refusals: 0, max_connections: Some(50), first_second: None, trials: 1, total_trials: 1 }",
        ],
    );
    check(&["direct"], &[run().refused(b"28P01", 40)], &[]);
    for (words, limit) in [
        ("sorry, too many clients already", "Server"),
        ("too many connections for role \"few\"", "Role"),
        ("too many connections for database \"shop\"", "Database"),
    ] {
        let exhausted = format!(
            "SlotsExhausted {{ cell: 0, limit: {limit}, refusals: 40, logged_refusals: 0, max_connections: Some(50), first_second: None, trials: 1, total_trials: 1 }}"
        );
        check(&["direct"], &[run().refused(b"53300", 40).failure_message(words)], &[&exhausted]);
    }
}

#[test]
fn reports_starved_clients() {
    let starved = || [vec![500; 20], vec![0; 180]].concat();
    check(
        &["session"],
        &[run().clients(starved())],
        &[
            "ClientsStarved { cell: 0, clients_served: 20, clients_without_success: 180, clients: 200, pool: Some((Session, 20)), jain: 0.1, mean_transactions: 50.0 }",
        ],
    );
    // A transaction after the deadline does not count.
    check(
        &["direct"],
        &[run().clients([vec![500; 20], vec![1; 180]].concat())],
        &[
            "ClientsStarved { cell: 0, clients_served: 20, clients_without_success: 0, clients: 200, pool: None, jain: 0.1036, mean_transactions: 50.9 }",
        ],
    );
    // The trial with the median number is reported.
    check(
        &["session"],
        &[
            run().clients(starved()),
            TestRun::new(0, 1).clients(vec![50; 200]),
            TestRun::new(0, 2).clients([vec![500; 21], vec![0; 179]].concat()),
        ],
        &[
            "ClientsStarved { cell: 0, clients_served: 21, clients_without_success: 179, clients: 200, pool: Some((Session, 20)), jain: 0.105, mean_transactions: 52.5 }",
        ],
    );
    check(&["session"], &[run().clients(vec![50; 200])], &[]);
    check(&["session"], &[run().clients([vec![50; 195], vec![0; 5]].concat())], &[]);
    // In such a short run, chance may leave a client without transactions.
    check(&["session"], &[run().clients([vec![9; 20], vec![0; 180]].concat())], &[]);
    check(&["session"], &[run().clients(starved()).open()], &[]);
    check(&["session"], &[run().clients(starved()).invalid()], &[]);
}

/// Adds PostgreSQL's sessions: active, idle in transaction, idle.
fn sessions(run: TestRun, active: f64, in_transaction: f64, idle: f64) -> TestRun {
    run.gauge("postgres", "pg_sessions", "active", active)
        .gauge("postgres", "pg_sessions", "idle in transaction", in_transaction)
        .gauge("postgres", "pg_sessions", "idle", idle)
}

fn cpu(run: TestRun, node: &str, used: f64, throttled: f64) -> TestRun {
    run.counter(node, "cgroup_cpu", "", used).counter(node, "cgroup_periods", "", 100.0).counter(
        node,
        "cgroup_throttled",
        "",
        throttled,
    )
}

#[test]
fn reports_a_queue_in_the_pooler() {
    // 1000 transactions per second of 2 ms each: two are in flight.
    let waiting = |n| run().tps(1000.0).gauge("pooler", "pool_clients_waiting", "db/app", n);
    check(
        &["pooled"],
        &[waiting(150.0).gauge("pooler", "pool_longest_wait", "db/app", 2.5)],
        &[
            "QueueInPooler { cell: 0, node: \"pooler\", waiting: Some(150.0), longest_wait: Some(2.5), in_flight: 2.0, busy: None }",
        ],
    );
    check(&["pooled"], &[waiting(9.0)], &[]);
    // Odyssey counts idle clients as waiting, so its count alone proves nothing.
    let odyssey = |n, tps| run().tps(tps).gauge("pooler", "odyssey_cl_waiting", "db/app", n);
    check(&["odyssey"], &[odyssey(180.0, 1000.0)], &[]);
    check(&["odyssey"], &[sessions(odyssey(180.0, 1000.0), 2.0, 0.0, 18.0)], &[]);
    // 50,000 transactions per second of 2 ms each: a hundred are in flight, but PostgreSQL has only twenty busy
    // sessions.
    check(
        &["odyssey"],
        &[sessions(odyssey(0.0, 50_000.0), 18.0, 2.0, 0.0)],
        &[
            "QueueInPooler { cell: 0, node: \"pooler\", waiting: None, longest_wait: None, in_flight: 100.0, busy: Some(20.0) }",
        ],
    );
}

#[test]
fn reports_a_queue_in_the_balancer() {
    let waiting = |n| {
        run()
            .gauge("balancer", "balancer_queue", "pg/BACKEND", 0.0)
            .gauge("balancer", "balancer_queue", "pg/postgres", n)
            .gauge("balancer", "balancer_queue_time", "pg/BACKEND", 1.5)
    };
    check(
        &["balanced"],
        &[waiting(160.0)],
        &[
            "QueueInBalancer { cell: 0, node: \"balancer\", waiting: 160.0, wait: Some(1.5), maxconn: Some(20) }",
        ],
    );
    check(&["balanced"], &[waiting(9.0)], &[]);
}

#[test]
fn distinguishes_a_saturated_pooler_from_a_full_pool() {
    let lent = |n| run().gauge("pooler", "pool_servers_active", "db/app", n);
    // The console shows a full pool, but PostgreSQL's sessions are idle, and the pooler's quota is exhausted.
    check(
        &["pooled"],
        &[sessions(cpu(lent(20.0), "pooler", 0.099, 90.0), 1.5, 0.0, 18.5)],
        &[
            "PoolerBound { cell: 0, node: \"pooler\", cpu: 0.099, cpu_limit: 0.1, throttled: Some(0.9), throttled_cpu: None, pool: 20, in_use: Some(20.0), active: 1.5 }",
        ],
    );
    // With two statements per transaction, sessions that wait for the pooler are idle in transaction.
    check(
        &["pooled"],
        &[sessions(cpu(lent(20.0), "pooler", 0.06, 90.0), 4.0, 16.0, 0.0)],
        &[
            "PoolerBound { cell: 0, node: \"pooler\", cpu: 0.06, cpu_limit: 0.1, throttled: Some(0.9), throttled_cpu: None, pool: 20, in_use: Some(20.0), active: 4.0 }",
        ],
    );
    check(
        &["pooled"],
        &[sessions(cpu(lent(20.0), "pooler", 0.05, 3.0), 18.0, 2.0, 0.0)],
        &[
            "PoolBound { cell: 0, node: \"pooler\", pool: 20, setting: None, in_use: 20.0, busy: 20.0, cpu: 0.05, cpu_limit: 0.1 }",
        ],
    );
    // Server connections are idle between two statements. If they wait for locks, the pool is not the limit.
    let half = |active| sessions(cpu(lent(20.0), "pooler", 0.05, 3.0), active, 0.0, 20.0 - active);
    check(
        &["pooled"],
        &[half(10.0)],
        &[
            "PoolBound { cell: 0, node: \"pooler\", pool: 20, setting: None, in_use: 20.0, busy: 10.0, cpu: 0.05, cpu_limit: 0.1 }",
        ],
    );
    check(&["pooled"], &[half(9.9)], &[]);
    // PgBouncer limits the connections to a database.
    let mut limited = experiment(&["pooled"], None);
    for node in &mut limited.cells[0].setup.stack.nodes {
        if let NodeKind::Pooler(pooler) = &mut node.kind {
            pooler.settings = vec![("max_db_connections".to_owned(), "4".to_owned())];
        }
    }
    let four = sessions(cpu(lent(4.0), "pooler", 0.05, 3.0), 4.0, 0.0, 0.0);
    check_in(
        &limited,
        &[four],
        &[
            "PoolBound { cell: 0, node: \"pooler\", pool: 4, setting: Some(\"max_db_connections\"), in_use: 4.0, busy: 4.0, cpu: 0.05, cpu_limit: 0.1 }",
        ],
    );
    check(
        &["pooled"],
        &[half(10.0).gauge("postgres", "pg_active_waits", "Lock/transactionid", 9.0)],
        &[
            "Bound { cell: 0, bound: RowLocks { share: 1.0, active: 10.0, longest_wait: None, statements: [] } }",
        ],
    );
    // A statement that sleeps on purpose occupies its server connection like any other.
    check(
        &["pooled"],
        &[half(10.0).gauge("postgres", "pg_active_waits", "Timeout/PgSleep", 9.0)],
        &[
            "PoolBound { cell: 0, node: \"pooler\", pool: 20, setting: None, in_use: 20.0, busy: 10.0, cpu: 0.05, cpu_limit: 0.1 }",
        ],
    );
    // At 83 % on average, the pool is exhausted at times if clients wait for it.
    let queue = |waiting| {
        let run = sessions(cpu(lent(16.6), "pooler", 0.05, 3.0), 14.0, 0.0, 6.0);
        run.gauge("pooler", "pool_clients_waiting", "db/app", waiting)
    };
    check(
        &["pooled"],
        &[queue(1.5)],
        &[
            "PoolBound { cell: 0, node: \"pooler\", pool: 20, setting: None, in_use: 16.6, busy: 14.0, cpu: 0.05, cpu_limit: 0.1 }",
        ],
    );
    check(&["pooled"], &[queue(0.2)], &[]);
    // A third of the transactions at the pooler wait, so the pool delays them at any utilisation from a half.
    let waiting = |in_use, waiting| {
        let run = sessions(cpu(lent(in_use), "pooler", 0.05, 3.0), in_use, 0.0, 20.0 - in_use);
        run.gauge("pooler", "pool_clients_waiting", "db/app", waiting)
    };
    check(
        &["pooled"],
        &[waiting(12.0, 6.5)],
        &[
            "PoolBound { cell: 0, node: \"pooler\", pool: 20, setting: None, in_use: 12.0, busy: 12.0, cpu: 0.05, cpu_limit: 0.1 }",
        ],
    );
    check(&["pooled"], &[waiting(12.0, 5.0)], &[]);
    check(&["pooled"], &[waiting(9.0, 6.5)], &[]);
    // No finding: both are full, half of the pool is idle, or no series distinguishes the cases.
    check(&["pooled"], &[sessions(cpu(lent(20.0), "pooler", 0.1, 90.0), 18.0, 2.0, 0.0)], &[]);
    check(&["pooled"], &[sessions(cpu(lent(9.0), "pooler", 0.05, 3.0), 8.0, 1.0, 11.0)], &[]);
    check(&["pooled"], &[cpu(lent(20.0), "pooler", 0.1, 90.0)], &[]);
    check(&["pooled"], &[sessions(lent(20.0), 1.5, 0.0, 18.5)], &[]);
    let odyssey = run().gauge("pooler", "pool_servers_active", "db/app", 20.0);
    check(
        &["odyssey"],
        &[sessions(cpu(odyssey, "pooler", 0.098, 80.0), 1.0, 0.0, 19.0)],
        &[
            "PoolerBound { cell: 0, node: \"pooler\", cpu: 0.098, cpu_limit: 0.1, throttled: Some(0.8), throttled_cpu: None, pool: 20, in_use: Some(20.0), active: 1.0 }",
        ],
    );
}

/// Adds a machine of two CPUs with this idle share.
fn host(run: TestRun, idle: f64) -> TestRun {
    run.counter("host", "host_cpu", "idle", 1.5 * idle)
        .counter("host", "host_cpu", "iowait", 0.5 * idle)
        .counter("host", "host_cpu", "user", 2.0 - 2.0 * idle)
}

#[test]
fn reports_a_saturated_host() {
    let busy = |idle| cpu(host(run(), idle), "pooler", 0.25, 0.0);
    check(
        &["pooled"],
        &[cpu(busy(0.04), "postgres", 0.75, 0.0)],
        &[
            "HostBound { cell: 0, idle: 0.04, processors: 2.0, generator_cpu: Some(0.22), pooler_cpu: Some(0.25), server_cpu: \
             Some(0.75), other_cpu: Some(0.7) }",
        ],
    );
    check(&["pooled"], &[busy(0.06)], &[]);
    check(
        &["direct"],
        &[host(run(), 0.0)],
        &[
            "HostBound { cell: 0, idle: 0.0, processors: 2.0, generator_cpu: Some(0.22), pooler_cpu: None, server_cpu: None, other_cpu: None }",
        ],
    );
    check(
        &["direct"],
        &[host(run(), 0.5).generator(0.61)],
        &["GeneratorShare { cell: 0, generator_cpu: 0.61, processors: 2.0 }"],
    );
    check(&["direct"], &[host(run(), 0.5).generator(0.59)], &[]);
}

#[test]
fn reports_a_saturated_server() {
    check(
        &["direct"],
        &[cpu(run(), "postgres", 0.97, 60.0)],
        &[
            "ServerBound { cell: 0, node: \"postgres\", cpu: 0.97, cpu_limit: 1.0, throttled: Some(0.6), throttled_cpu: None, queue: None }",
        ],
    );
    check(&["direct"], &[cpu(run(), "postgres", 0.5, 10.0)], &[]);
    check(&["direct"], &[sessions(run(), 40.0, 0.0, 0.0)], &[]);
}

#[test]
fn reports_the_dominant_wait_event() {
    let waits = |lock, running| {
        sessions(run(), lock + running, 0.0, 0.0)
            .gauge("postgres", "pg_active_waits", "Lock/relation", lock)
            .gauge("postgres", "pg_active_waits", "running", running)
    };
    check(
        &["direct"],
        &[waits(15.0, 5.0)],
        &[
            "Bound { cell: 0, bound: Locks { lock: Relation, share: 0.75, active: 20.0, longest_wait: None, statements: [] } }",
        ],
    );
    check(&["direct"], &[waits(5.0, 15.0)], &[]);
    check(&["direct"], &[waits(1.0, 0.0)], &[]);
}

#[test]
fn reports_deadlocks_per_thousand_transactions() {
    let all: Vec<TestRun> = [10, 0, 20]
        .into_iter()
        .enumerate()
        .map(|(n, it)| TestRun::new(0, n as u32).failed(b"40P01", it))
        .collect();
    check(
        &["direct"],
        &all,
        &["Deadlocks { cell: 0, per_thousand: 0.999, interval: Some((0.0, 1.996)), runs: 3 }"],
    );
    // Rates at different concurrency are not comparable.
    check(
        &["session", "pooled"],
        &[sessions(run(), 4.0, 1.0, 0.0), sessions(TestRun::new(1, 0).failed(b"40P01", 30), 15.0, 5.0, 0.0)],
        &[
            "Deadlocks { cell: 1, per_thousand: 2.991, interval: None, runs: 1 }",
            "NotConcurrent { cell: 1, other_cell: 0, busy: 20.0, other_busy: 5.0 }",
        ],
    );
    check(
        &["session", "pooled"],
        &[sessions(run(), 14.0, 1.0, 0.0), sessions(TestRun::new(1, 0).failed(b"40P01", 30), 15.0, 5.0, 0.0)],
        &["Deadlocks { cell: 1, per_thousand: 2.991, interval: None, runs: 1 }"],
    );
}

#[test]
fn judges_a_ramp_by_its_last_third() {
    // In the last third of ten seconds, server connections are assigned but idle.
    let held = |run: TestRun| {
        let run = run.ramp("pooler", "pool_servers_active", |second| if second > 6 { 20.0 } else { 1.0 });
        let run = run.ramp("pooler", "cgroup_cpu", |second| 0.1 * second.saturating_sub(6) as f64);
        sessions(run, 1.5, 0.0, 18.5)
    };
    let mut experiment = experiment(&["pooled"], None);
    let bound = |experiment: &Experiment, run: &TestRun| {
        let found = findings(experiment, &[run.facts(experiment)]);
        found.iter().filter(|it| matches!(it, Finding::PoolerBound { .. })).count()
    };
    let run = held(run());
    assert_eq!(bound(&experiment, &run), 0);
    for (schedule, expected) in
        [("line(1, 200, 10s)", 1), ("const(20, 6s) const(200, 4s)", 1), ("const(200, 10s)", 0)]
    {
        experiment.cells[0].setup.load.model = LoadModel::Open {
            schedule: schedule.into(),
            arrivals: model::Spacing::Poisson,
            max_in_flight: 200,
        };
        assert_eq!(bound(&experiment, &run), expected, "{schedule}");
    }
}

/// The last third of a short search step is a single second, in which no counter grows.
#[test]
fn judges_a_short_constant_rate_window_as_a_whole() {
    let busy = run().ramp("pooler", "cgroup_cpu", |second| second as f64);
    let short = sessions(busy, 1.5, 0.0, 18.5).truncate(3);
    let mut experiment = experiment(&["pooled"], None);
    experiment.cells[0].setup.load.model = LoadModel::Open {
        schedule: "const(200, 3s)".into(),
        arrivals: model::Spacing::Poisson,
        max_in_flight: 200,
    };
    let found = findings(&experiment, &[short.facts(&experiment)]);
    assert!(found.iter().any(|it| matches!(it, Finding::PoolerBound { .. })), "{found:?}");
}

/// In an outage, arrivals queue although no resource is saturated, so its seconds do not represent the load.
#[test]
fn the_queue_of_an_outage_is_not_full_load() {
    let mut experiment = experiment(&["direct"], None);
    experiment.cells[0].setup.load.model = LoadModel::Open {
        schedule: "const(200, 10s)".into(),
        arrivals: model::Spacing::Poisson,
        max_in_flight: 200,
    };
    let load = [3, 2, 4, 3, 8, 90, 120, 150, 110, 20].map(|it| (200.0, it));
    let queue = run().ramp("postgres", "cgroup_cpu", |second| second as f64).load(&load);
    let begin = |run: &TestRun| full_load_samples(&run.facts(&experiment)).iter().map(|it| it.at).min();
    assert_eq!(begin(&queue), Some(Nanos::from_secs(5)));
    assert_eq!(begin(&queue.outage(5, 9)), Some(Nanos::from_secs(3)));
}

/// At a constant rate, the averages over the seconds without a queue would hide the saturated CPU.
#[test]
fn judges_a_constant_rate_by_the_seconds_in_which_arrivals_queue() {
    let mut experiment = experiment(&["direct"], None);
    experiment.cells[0].setup.stack.nodes[0].limits.cpu = Some(1.0);
    experiment.cells[0].setup.load.model = LoadModel::Open {
        schedule: "const(200, 10s)".into(),
        arrivals: model::Spacing::Poisson,
        max_in_flight: 200,
    };
    let cpu = |load: &[(f64, u64)]| {
        // The server uses 0.4 CPUs for five seconds, 1.0 CPUs for four seconds, and 0.2 CPUs in the last one.
        let used = |second: u64| {
            let second = second as f64;
            0.4 * second.min(5.0) + (second - 5.0).clamp(0.0, 4.0) + 0.2 * (second - 9.0).max(0.0)
        };
        let run = run().ramp("postgres", "cgroup_cpu", used).load(load);
        let found = findings(&experiment, &[run.facts(&experiment)]);
        found.iter().find_map(|finding| match finding {
            Finding::ServerBound { cpu, .. } => Some((cpu * 100.0).round() / 100.0),
            _ => None,
        })
    };
    let seconds = |in_flight: [u64; 10]| in_flight.map(|it| (200.0, it)).to_vec();
    assert_eq!(cpu(&seconds([3, 2, 4, 3, 8, 90, 120, 150, 110, 20])), Some(1.0));
    // The queue lasts too short a time, there is none, or the number of transactions in flight is unknown.
    assert_eq!(cpu(&seconds([3, 2, 4, 3, 8, 150, 120, 60, 20, 4])), None);
    assert_eq!(cpu(&seconds([50, 60, 40, 50, 60, 100, 120, 150, 110, 70])), None);
    assert_eq!(cpu(&[]), None);
}

#[test]
fn reports_a_reached_in_flight_cap() {
    check(
        &["direct"],
        &[run().open().dropped(500), TestRun::new(0, 1).open()],
        &[
            "NotOpenLoop { cell: 0, arrivals: 10500, waited: 0, dropped: 500, in_flight_cap: 200, trials: 1, total_trials: 2 }",
        ],
    );
}

#[test]
fn reports_clients_that_remain_connected() {
    check(
        &["pooled"],
        &[
            run().remaining_clients("pooler", 3),
            TestRun::new(0, 1).remaining_clients("pooler", 17),
            TestRun::new(0, 2),
        ],
        &["ClientsLeftAfterTest { cell: 0, node: \"pooler\", clients: 17, trials: 2, total_trials: 3 }"],
    );
    // If there is a service, the remaining clients are the service's connections, which stay open.
    let mut serviced = experiment(&["pooled"], None);
    let nodes = &mut serviced.cells[0].setup.stack.nodes;
    nodes.insert(0, trial::service());
    check_in(&serviced, &[run().remaining_clients("pooler", 17)], &[]);
}

#[test]
fn compares_only_equal_transports() {
    let unix = repeated(0, &[21_500.0, 21_300.0, 21_600.0, 21_400.0, 21_550.0]);
    let tcp = repeated(1, &[13_700.0, 13_650.0, 13_750.0, 13_690.0, 13_710.0]);
    let pooled = repeated(2, &[11_565.0, 11_500.0, 11_600.0, 11_550.0, 11_580.0]);
    check(
        &["unix", "direct", "pooled"],
        &[unix.clone(), tcp, pooled.clone()].concat(),
        &[
            "LikeForLikeCost { cell: 2, other_cell: 1, transport: Tcp, comparison: ThroughputComparison { ratio: 0.8442, \
             interval: Some((0.8394, 0.8473)), p: Some(7.3004e-13), verdict: Lower, runs: (5, 5) } }",
            "UnlikeComparison { cell: 2, other_cell: 0, transports: [Tcp, Tcp], other_transport: Unix, comparison: ThroughputComparison { ratio: \
             0.5379, interval: Some((0.5347, 0.543)), p: Some(1.2339e-13), \
             verdict: Lower, runs: (5, 5) }, like_for_like_ratio: 0.8442 }",
        ],
    );
    // The unfair comparison is reported only together with the fair one.
    check(&["unix", "pooled"], &[unix, repeated(1, &[11_565.0])].concat(), &[]);
}

#[test]
fn compares_only_cells_with_the_same_work() {
    let direct = || repeated(0, &[13_700.0, 13_650.0, 13_750.0, 13_690.0, 13_710.0]);
    let pooled = |change: fn(TestRun) -> TestRun| -> Vec<TestRun> {
        repeated(1, &[11_565.0, 11_500.0, 11_600.0, 11_550.0, 11_580.0]).into_iter().map(change).collect()
    };
    let found = |runs: &[TestRun]| {
        let experiment = experiment(&["direct", "pooled"], Some(0));
        let facts: Vec<TrialFacts<'_>> = runs.iter().map(|it| it.facts(&experiment)).collect();
        let word = |finding: Finding| match finding {
            Finding::NotCompared { cell, reason } => {
                Some(format!("not {cell} {}", short(&format!("{reason:?}"))))
            }
            Finding::LikeForLikeCost { cell, other_cell, .. } => Some(format!("{cell} beside {other_cell}")),
            _ => None,
        };
        findings(&experiment, &facts).into_iter().filter_map(word).collect::<Vec<_>>().join(", ")
    };
    let refused: fn(TestRun) -> TestRun = |it| it.refused(b"53300", 1);
    let starved: fn(TestRun) -> TestRun = |it| it.clients([vec![500; 20], vec![0; 180]].concat());
    for (change, expected) in [
        ((|it| it) as fn(TestRun) -> TestRun, "1 beside 0"),
        (refused, "not 1 SlotsExhausted"),
        (starved, "not 1 ClientsStarved"),
        (|it| it.failed(b"22012", 100), "1 beside 0"),
        (|it| it.failed(b"22012", 102), "not 1 Errors { per_thousand: 10.097 }"),
    ] {
        assert_eq!(found(&[direct(), pooled(change)].concat()), expected);
    }
    // Without a comparable cell, no cell is left out.
    assert_eq!(found(&pooled(refused)), "");
}

#[test]
fn ignores_limits_that_were_not_applied() {
    let full = || sessions(cpu(run(), "pooler", 0.099, 0.0), 1.5, 0.0, 18.5);
    let bound = "PoolerBound { cell: 0, node: \"pooler\", cpu: 0.099, cpu_limit: 0.1, throttled: Some(0.0), throttled_cpu: None, pool: 20, \
                 in_use: None, active: 1.5 }";
    check(&["pooled"], &[full()], &[bound]);
    check(&["pooled"], &[full().not_applied("pooler", "cpus")], &[bound]);
    check(&["pooled"], &[full().not_applied("pooler", "cpu")], &[]);
}

#[test]
fn reports_pool_modes_without_a_difference() {
    let transaction = repeated(0, &[9973.0, 9900.0, 10_020.0, 9950.0, 9990.0]);
    let statement = repeated(1, &[9980.0, 9910.0, 10_010.0, 9940.0, 9960.0]);
    check(
        &["pooled", "statement"],
        &[transaction.clone(), statement].concat(),
        &[
            "NoDifference { cell: 1, other_cell: 0, mode: Statement, other_mode: Transaction, comparison: ThroughputComparison { ratio: \
           0.9987, interval: Some((0.992, 1.0061)), p: Some(0.8099), verdict: NoEvidence, runs: (5, 5) } }",
        ],
    );
    // The matrix shows the difference. Too few runs are not enough for a finding.
    check(
        &["pooled", "statement"],
        &[transaction.clone(), repeated(1, &[9000.0, 9001.0, 9002.0, 9003.0])].concat(),
        &[],
    );
    check(&["pooled", "statement"], &[transaction.clone(), repeated(1, &[9980.0, 9910.0])].concat(), &[]);
    check(&["pooled", "odyssey"], &[transaction.clone(), repeated(1, &[9980.0; 5])].concat(), &[]);
}
