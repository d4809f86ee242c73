mod findings;
mod tested;

use super::*;
use crate::fixture::trial;
use findings::{
    cap, checkpoints, clients, feed, host, host_cpu, locks, memory, pool, pooler, postgres, queue, reads,
    replicas, scans, service, service_pool, slots, threads, wal, writes,
};
use model::advice::{IndexObstacle, Scan, StatementAdvice};
use model::finding::{ConnectionLimit, ReadVolume};
use model::lock::LockKind;
use model::plan::{
    Feed, FeedOrder, FeedSource, Limits, LoadModel, LoadScale, PoolMode, Replication, Service, StatsPage,
    SyncMode, Transport,
};
use model::search::SearchResult;
use model::summary::QueryMode;
use model::{Nanos, Spacing};

/// Setup of PostgreSQL with 50 slots and one of two CPUs. The words add nodes in front of it: `pooler` (20 server
/// connections, a tenth of a CPU), `service` (`POOL_SIZE` 10, `THREADS` 5, 0.3 CPUs), or both, the service first.
fn setup(words: &str) -> Setup {
    let mut setup = trial::setup(if words.contains("pooler") { "pooled" } else { "direct" });
    let postgres = setup.stack.nodes.last_mut().expect("the stack has PostgreSQL");
    postgres.limits = Limits {
        memory: Some(400 << 20),
        read_iops: Some(400),
        write_iops: Some(200),
        ..postgres.limits.clone()
    };
    setup.load.model = LoadModel::Open {
        schedule: "const(100, 20s)".into(),
        arrivals: Spacing::Poisson,
        max_in_flight: 200,
    };
    if words.contains("service") {
        let env = [("POOL_SIZE", "10"), ("THREADS", "5"), ("QUERY_TIMEOUT", "2s")];
        let service = Service {
            command: vec!["./delivery".into()],
            env: env.map(|(key, it)| (key.to_owned(), it.to_owned())).to_vec(),
            stats: vec![StatsPage::own("/stats".to_owned())],
            ..Service::default()
        };
        let limits = Limits { cpu: Some(0.3), ..Limits::default() };
        let node = Node {
            name: "service".into(),
            kind: NodeKind::Service(service),
            transport: Transport::Tcp,
            limits,
        };
        setup.stack.nodes.insert(0, node);
    }
    setup
}

/// Text of a suspect, such as `Cpu postgres 1 -> 1.5`.
fn describe(suspect: &Suspect) -> String {
    let words =
        |it: String| it.replace(['"', '{', '}', ','], "").split_whitespace().collect::<Vec<_>>().join(" ");
    let change = suspect.perturbation.as_ref().map_or(String::new(), |perturbation| {
        let round = |it: f64| (it * 1e4).round() / 1e4;
        let amount =
            perturbation.amount.map_or(String::new(), |(from, to)| format!(" {from} -> {}", round(to)));
        format!(" | {}{amount}", words(format!("{:?}", perturbation.knob)))
    });
    words(format!("{:?}", suspect.limit)) + &change
}

#[track_caller]
fn check(words: &str, findings: &[Finding], first: &str) {
    let setup = setup(words);
    // Findings on other cells do not count.
    let other_finding = Finding::ServerBound {
        cell: 1,
        node: "postgres".into(),
        cpu: 1.0,
        cpu_limit: 1.0,
        throttled: Some(1.0),
        throttled_cpu: None,
        queue: None,
    };
    for backwards in [false, true] {
        let mut all = [findings, std::slice::from_ref(&other_finding)].concat();
        if backwards {
            all.reverse();
        }
        let found: Vec<String> = suspects(&setup, 0, &all, &[], 2.0).iter().map(describe).collect();
        assert_eq!(found.first().map_or("", String::as_str), first, "of {found:#?}");
    }
}

/// Each stack has one limit, accompanied by the symptoms of others.
#[test]
fn names_the_planted_cause_first() {
    // CPU quotas. A throttled node holds its connections, rows and threads longer.
    check("", &[postgres(0.99), cap()], "Cpu node: postgres | Cpu node: postgres 1 -> 1.5");
    check(
        "pooler",
        &[queue(), pool(), postgres(0.97), cap()],
        "Cpu node: postgres | Cpu node: postgres 1 -> 1.5",
    );
    check("", &[locks(), postgres(0.98), cap()], "Cpu node: postgres | Cpu node: postgres 1 -> 1.5");
    check("pooler", &[pooler(0.099), queue(), cap()], "Cpu node: pooler | Cpu node: pooler 0.1 -> 0.15");
    check("pooler", &[pooler(0.1), pool(), wal(), cap()], "Cpu node: pooler | Cpu node: pooler 0.1 -> 0.15");
    check("service", &[service(0.29), threads(), cap()], "Cpu node: service | Cpu node: service 0.3 -> 0.45");
    check(
        "service pooler",
        &[service_pool(), service(0.3), queue(), cap()],
        "Cpu node: service | Cpu node: service 0.3 -> 0.45",
    );
    // Disk quotas. Data that do not fit in memory are read again at any quota.
    check(
        "",
        &[memory(), reads(398.0, Some(400.0)), cap()],
        "Reads node: postgres | ReadIops node: postgres 400 -> 800",
    );
    check(
        "service",
        &[reads(412.0, Some(400.0)), service_pool(), cap()],
        "Reads node: postgres | ReadIops node: postgres 400 -> 800",
    );
    check("", &[wal(), writes(), cap()], "Writes node: postgres | WriteIops node: postgres 200 -> 400");
    check(
        "",
        &[reads(9000.0, None), memory()],
        "Memory node: postgres | Memory node: postgres 419430400 -> 838860800",
    );
    // Pools. With fifty slots, a pool of twenty may be doubled.
    check("pooler", &[queue(), pool(), cap()], "Pool node: pooler | PoolSize node: pooler 20 -> 40");
    let mut of_database = pool();
    if let Finding::PoolBound { setting, .. } = &mut of_database {
        *setting = Some("max_db_connections".to_owned());
    }
    check(
        "pooler",
        &[queue(), of_database, cap()],
        "PoolSetting node: pooler setting: max_db_connections | PoolSetting node: pooler setting: max_db_connections 20 -> 40",
    );
    check(
        "service pooler",
        &[service_pool(), threads(), pool(), queue()],
        "Pool node: pooler | PoolSize node: pooler 20 -> 40",
    );
    check(
        "pooler",
        &[
            queue(),
            Finding::ClientsStarved {
                cell: 0,
                clients_served: 20,
                clients_without_success: 180,
                clients: 200,
                pool: Some((PoolMode::Session, 20)),
                jain: 0.1,
                mean_transactions: 50.0,
            },
        ],
        "Pool node: pooler | PoolSize node: pooler 20 -> 40",
    );
    check(
        "service",
        &[threads(), service_pool(), cap()],
        "ServicePool node: service | ServiceEnv node: service variable: POOL_SIZE 10 -> 20",
    );
    check(
        "service",
        &[threads(), cap()],
        "ServiceThreads node: service | ServiceEnv node: service variable: THREADS 5 -> 10",
    );
    // The CPUs of another host come before a pool, and pgdyno cannot change them.
    check("pooler", &[pool(), host_cpu(3.9), cap()], "Cpu node: db:9100");
    // Locks, WAL, replicas.
    check("", &[locks(), cap()], "RowLocks statement: Some(UPDATE a SET n = n + $1)");
    let advisory = || {
        let statements = vec!["SELECT pg_advisory_lock($1)".into()];
        let lock = LockKind::Advisory;
        findings::bound(Bound::Locks { lock, share: 1.0, active: 18.0, longest_wait: None, statements })
    };
    check(
        "pooler",
        &[queue(), advisory(), cap()],
        "Locks lock: Advisory statement: Some(SELECT pg_advisory_lock($1))",
    );
    check("pooler", &[queue(), locks(), wal()], "RowLocks statement: Some(UPDATE a SET n = n + $1)");
    check("", &[wal(), cap()], "WalFlush | Setting name: synchronous_commit value: off");
    check("", &[wal(), replicas()], "SyncReplicas | Setting name: synchronous_commit value: local");
    check("", &[checkpoints(), cap()], "Checkpoints | Setting name: max_wal_size value: 8GB");
    // A missing index keeps CPUs busy. A feed that fits in memory hides the limit of the CPUs.
    check("", &[postgres(0.99), scans(), cap()], "Scan table: book.bookv2 ddl: None");
    check(
        "service",
        &[threads(), service_pool(), scans(), postgres(0.98)],
        "Scan table: book.bookv2 ddl: None",
    );
    check("", &[postgres(0.99), feed()], "Feed feed: requests");
    // Exhausted slots, and a cap on clients.
    check(
        "",
        &[slots(), postgres(0.95)],
        "Slots node: postgres limit: Server | Slots node: postgres 50 -> 100",
    );
    // `max_connections` does not change the connection limit of a role.
    let mut of_role = slots();
    if let Finding::SlotsExhausted { limit, .. } = &mut of_role {
        *limit = ConnectionLimit::Role;
    }
    check("", &[of_role, postgres(0.95)], "Slots node: postgres limit: Role");
    check("", &[cap()], "ClientCap | Clients 200 -> 400");
    check("", &[clients()], "Clients | Clients 20 -> 40");
    // The machine itself, because no quota is exhausted.
    check("pooler", &[host(), queue(), cap()], "Host");
    check("", &[host(), postgres(0.99)], "Cpu node: postgres | Cpu node: postgres 1 -> 1.5");
    check("", &[], "");
}

#[test]
fn suspects_each_limit_once_and_the_fuller_one_first() {
    let all = [postgres(0.93), pooler(0.0995), queue(), pool(), cap(), cap()];
    let found: Vec<String> = suspects(&setup("pooler"), 0, &all, &[], 2.0).iter().map(describe).collect();
    let names: Vec<&str> = found.iter().filter_map(|it| it.split(" | ").next()).collect();
    assert_eq!(names, ["Cpu node: pooler", "Cpu node: postgres", "Pool node: pooler"]);
}

/// If the cap is reached because of a saturated resource behind it, raising the cap has no effect.
#[test]
fn suspects_only_the_in_flight_cap_when_it_is_reached() {
    let wait = |cell, event: &str| {
        let event = event.to_owned();
        Finding::SessionsWait { cell, event, share: 0.8, active: 18.0 }
    };
    let (node, maxconn) = ("balancer".to_owned(), None);
    let balancer = Finding::QueueInBalancer { cell: 0, node, waiting: 90.0, wait: None, maxconn };
    let busy = Finding::HostBound {
        cell: 0,
        idle: 0.01,
        processors: 2.0,
        generator_cpu: Some(0.1),
        pooler_cpu: None,
        server_cpu: Some(0.3),
        other_cpu: Some(1.5),
    };
    for (others, suspected) in [
        (vec![], true),
        (vec![postgres(0.99)], false),
        (vec![wal()], false),
        // No perturbation is possible, but transactions wait there.
        (vec![queue()], false),
        (vec![balancer], false),
        (vec![wait(0, "LWLock/BufferMapping")], false),
        (vec![wait(1, "LWLock/BufferMapping")], true),
        // Other programs use the machine, so that it is not a limit of the stack.
        (vec![busy], true),
    ] {
        let all = [vec![cap()], others].concat();
        let found = suspects(&setup("pooler"), 0, &all, &[], 2.0);
        assert_eq!(found.iter().any(|it| it.limit == Limit::ClientCap), suspected, "{all:?}");
    }
}

#[test]
fn changes_the_quota_of_a_host() {
    let mut setup = setup("pooler");
    setup.stack.nodes.iter_mut().for_each(|it| it.limits.cpu = None);
    let limits = Limits { cpu: Some(1.0), ..Limits::default() };
    let nodes = vec!["pooler".to_owned(), "postgres".to_owned()];
    let scope = model::plan::ProgramScope::Stack;
    setup.stack.hosts =
        vec![model::plan::SharedHost { name: "db".to_owned(), nodes: nodes.clone(), scope, limits }];
    let bound = Bound::HostCpu { node: "db".to_owned(), nodes, cpu: 0.99, cpu_limit: 1.0 };
    let finding = Finding::Bound { cell: 0, bound };
    for (processors, to) in [(2.0, 1.5), (1.2, 0.75)] {
        let found = suspects(&setup, 0, std::slice::from_ref(&finding), &[], processors);
        let knob = Knob::Cpu { node: "db".to_owned() };
        let expected = Perturbation::new(knob, Some((1.0, to)));
        assert_eq!(found[0].perturbation.as_ref(), Some(&expected));
    }
    // pgdyno does not limit another machine.
    let found = suspects(&setup, 0, &[host_cpu(3.9)], &[], 4.0);
    assert_eq!(found[0].perturbation, None);
}

#[test]
fn shrinks_a_quota_that_cannot_grow() {
    let cpu = |processors: f64, change: fn(&mut Setup)| {
        let mut setup = setup("pooler");
        change(&mut setup);
        let found = suspects(&setup, 0, &[postgres(0.99)], &[], processors);
        found[0].perturbation.as_ref().and_then(|it| it.amount)
    };
    // The pooler has a tenth of a CPU.
    assert_eq!(cpu(1.6, |_| ()), Some((1.0, 1.5)));
    assert_eq!(cpu(1.5, |_| ()), Some((1.0, 0.75)));
    assert_eq!(cpu(2.0, |it| it.stack.generator.cpu = Some(0.5)), Some((1.0, 0.75)));
    assert_eq!(cpu(8.0, |it| it.stack.nodes[1].limits.cpus = vec![0]), Some((1.0, 0.75)));
    let pinned: fn(&mut Setup) = |setup| {
        setup.stack.nodes[1].limits.cpus = vec![0, 1];
        setup.stack.generator = Limits { cpu: Some(1.0), cpus: vec![2], ..Limits::default() };
    };
    assert_eq!(cpu(3.0, pinned), Some((1.0, 1.5)));
    // One thread cannot use more than one CPU.
    let mut pooler_setup = setup("pooler");
    pooler_setup.stack.nodes[0].limits.cpu = Some(0.9);
    let full = match pooler(0.9) {
        Finding::PoolerBound { cell, node, cpu, throttled, throttled_cpu, pool, in_use, active, .. } => {
            Finding::PoolerBound {
                cell,
                node,
                cpu,
                cpu_limit: 0.9,
                throttled,
                throttled_cpu,
                pool,
                in_use,
                active,
            }
        }
        other => other,
    };
    let found = suspects(&pooler_setup, 0, &[full], &[], 8.0);
    assert_eq!(describe(&found[0]), "Cpu node: pooler | Cpu node: pooler 0.9 -> 0.675");
}

#[test]
fn pool_grows_up_to_the_free_slots() {
    let to = |slots| {
        let mut setup = setup("pooler");
        if let Some(NodeKind::Postgres(postgres)) = setup.stack.nodes.last_mut().map(|it| &mut it.kind) {
            postgres.max_connections = slots;
        }
        suspects(&setup, 0, &[pool()], &[], 2.0)[0].perturbation.as_ref().and_then(|it| it.amount)
    };
    assert_eq!(to(45), Some((20.0, 40.0)));
    assert_eq!(to(44), Some((20.0, 30.0)));
}

#[test]
fn finds_environment_variables_of_a_service_by_name() {
    let variable = |env: &[(&str, &str)], finding: Finding| {
        let mut setup = setup("service");
        if let NodeKind::Service(service) = &mut setup.stack.nodes[0].kind {
            service.env = env.iter().map(|(key, it)| (key.to_string(), it.to_string())).collect();
        }
        describe(&suspects(&setup, 0, &[finding], &[], 2.0)[0]).split(" | ").nth(1).map(str::to_owned)
    };
    let suspect = |it: &str| Some(format!("ServiceEnv node: service variable: {it}"));
    assert_eq!(variable(&[("DB_POOL_MAX", "12")], service_pool()), suspect("DB_POOL_MAX 12 -> 24"));
    assert_eq!(
        variable(&[("POOL_MODE", "x"), ("max_pool", "8")], service_pool()),
        suspect("max_pool 8 -> 16")
    );
    assert_eq!(variable(&[], service_pool()), suspect("POOL_SIZE 10 -> 20"));
    assert_eq!(variable(&[("WORKERS", "3")], threads()), suspect("WORKERS 3 -> 6"));
}

/// One knob changes all copies of a service, whether the finding names the service or a copy.
#[test]
fn perturbs_all_copies_of_a_service() {
    let found = |processors: f64, findings: &[Finding]| {
        let mut setup = setup("service");
        if let NodeKind::Service(service) = &mut setup.stack.nodes[0].kind {
            (service.copies, service.env) = (2, Vec::new());
        }
        suspects(&setup, 0, findings, &[], processors).iter().map(describe).collect::<Vec<_>>()
    };
    let cpu = |node: &str, cpu_limit: f64| {
        let (node, throttled) = (node.to_owned(), Some(0.8));
        findings::bound(Bound::Service { node, cpu: cpu_limit, cpu_limit, throttled, throttled_cpu: None })
    };
    let expected = "Cpu node: service | Cpu node: service 0.3 -> 0.45";
    assert_eq!(found(2.0, &[cpu("service", 0.6)]), [expected]);
    // Two copies with a quota of 0.45 do not fit on a machine on which PostgreSQL may use one CPU.
    assert_eq!(found(1.8, &[cpu("service", 0.6)]), ["Cpu node: service | Cpu node: service 0.3 -> 0.225"]);
    let expected = "Cpu node: service-1 | Cpu node: service 0.3 -> 0.45";
    assert_eq!(found(2.0, &[cpu("service-1", 0.3), cpu("service-2", 0.3)]), [expected], "one knob, once");
    let pool = |node: &str, size| {
        let (node, pool) = (node.to_owned(), "pool".to_owned());
        let (waiting, waited_share) = (Some(5.0), None);
        findings::bound(Bound::ServicePool { node, pool, size, busy: size, waiting, waited_share })
    };
    let expected = "ServicePool node: service | ServiceEnv node: service variable: POOL_SIZE 10 -> 20";
    assert_eq!(found(2.0, &[pool("service", 20.0)]), [expected]);
    let expected = "ServicePool node: service-2 | ServiceEnv node: service variable: POOL_SIZE 10 -> 20";
    assert_eq!(found(2.0, &[pool("service-2", 10.0)]), [expected]);
}

fn answer() -> SearchResult {
    SearchResult {
        scale: LoadScale::Rate,
        level: Some(100.0),
        interval: None,
        delivered: None,
        confirmations: (1, 1),
        overload: None,
        stop_reason: None,
        sustained: None,
        failed: None,
        fully_sustained: None,
        trials: 9,
        measured: Nanos::from_secs(180),
    }
}

fn proof(suspect: &Suspect, ratio: f64, elasticity: Option<f64>, verdict: ProofVerdict) -> Proof {
    Proof {
        limit: suspect.limit.clone(),
        perturbation: suspect.perturbation.clone().expect("the suspect has a knob"),
        base: answer(),
        perturbed: answer(),
        ratio: Some((ratio, None)),
        elasticity: elasticity.map(|it| (it, None)),
        verdict,
    }
}

#[test]
fn cause_is_the_perturbation_with_an_effect() {
    let setup = setup("service pooler");
    let suspects = suspects(&setup, 0, &[postgres(0.99), wal(), pool(), threads()], &[], 2.0);
    let [cpu, wal, pool, threads] = &suspects[..] else { panic!("{suspects:?}") };
    let suspected = |it: &Suspect| Cause::Suspected { suspect: it.clone() };
    let does_not = |it| proof(it, 1.0, Some(0.02), ProofVerdict::DoesNotLimit);
    let undecided = |it| proof(it, 1.1, Some(0.3), ProofVerdict::Undecided);
    for (proofs, expected) in [
        (vec![], suspected(cpu)),
        (vec![does_not(cpu)], suspected(wal)),
        (vec![undecided(cpu), does_not(wal)], suspected(cpu)),
        (
            vec![does_not(cpu), proof(wal, 1.4, None, ProofVerdict::Limits)],
            Cause::Proven { proof: 1, root_cause: None },
        ),
        (
            vec![
                proof(wal, 1.4, None, ProofVerdict::Limits),
                proof(cpu, 1.4, Some(0.84), ProofVerdict::Limits),
            ],
            Cause::Proven { proof: 1, root_cause: None },
        ),
        (
            vec![
                proof(cpu, 1.1, Some(0.3), ProofVerdict::Limits),
                proof(wal, 3.0, None, ProofVerdict::Limits),
            ],
            Cause::Proven { proof: 1, root_cause: None },
        ),
        (vec![does_not(cpu), does_not(wal), does_not(pool), does_not(threads)], Cause::NotKnown),
    ] {
        assert_eq!(cause(&setup, &suspects, &proofs), expected, "{proofs:?}");
    }
    assert_eq!(cause(&setup, &[], &[]), Cause::NotKnown);
}

/// Replicas share their limits: a perturbation changes all of them.
#[test]
fn perturbs_the_limits_of_all_replicas_together() {
    let replicated = |cpu| {
        let mut setup = setup("");
        let limits = Limits { cpu: Some(cpu), ..Limits::default() };
        setup.stack.replication =
            Some(Replication { limits, ..Replication::with_defaults(2, SyncMode::Async) });
        setup
    };
    let replica = || {
        let (node, throttled) = ("postgres-3".into(), Some(0.9));
        Finding::ServerBound {
            cell: 0,
            node,
            cpu: 0.3,
            cpu_limit: 0.3,
            throttled,
            throttled_cpu: None,
            queue: None,
        }
    };
    let described =
        |setup: &Setup, it: Finding, processors| describe(&suspects(setup, 0, &[it], &[], processors)[0]);
    let more = "Cpu node: postgres-3 | Cpu node: postgres-3 0.3 -> 0.45";
    assert_eq!(described(&replicated(0.3), replica(), 2.0), more);
    // The primary has one of two CPUs. Raising each replica's quota by half would exceed the rest.
    let less = "Cpu node: postgres-3 | Cpu node: postgres-3 0.3 -> 0.225";
    assert_eq!(described(&replicated(0.3), replica(), 1.8), less);
    let with_quota = |cpu| described(&replicated(cpu), postgres(0.99), 2.0);
    assert_eq!(with_quota(0.2), "Cpu node: postgres | Cpu node: postgres 1 -> 1.5");
    assert_eq!(with_quota(0.3), "Cpu node: postgres | Cpu node: postgres 1 -> 0.75");
}

#[test]
fn names_the_scan_behind_a_saturated_cpu() {
    let setup = setup("pooler");
    let known = suspects(&setup, 0, &[scans(), postgres(0.99), pooler(0.09)], &[], 2.0);
    let [scan, cpu, before] = &known[..] else { panic!("{known:?}") };
    let limits = |it: &Suspect| [proof(it, 1.4, Some(0.84), ProofVerdict::Limits)];
    let limit = |scan: &Suspect| Some(scan.limit.clone());
    assert_eq!(cause(&setup, &known, &limits(cpu)), Cause::Proven { proof: 0, root_cause: limit(scan) });
    assert_eq!(
        cause(&setup, &known, &limits(before)),
        Cause::Proven { proof: 0, root_cause: None },
        "not PostgreSQL's"
    );
    // A helpful index becomes the perturbation.
    let perturbation = Some(Perturbation::new(Knob::Index { ddl: "CREATE INDEX".into() }, None));
    let perturbed = [Suspect { perturbation, ..scan.clone() }, cpu.clone()];
    assert_eq!(cause(&setup, &perturbed, &limits(cpu)), Cause::Proven { proof: 0, root_cause: None });
}

#[test]
fn perturbs_a_feed_with_all_rows_of_its_table() {
    let mut setup = setup("");
    setup.feeds = vec![Feed {
        name: "requests".into(),
        source: FeedSource::Query("SELECT id FROM t LIMIT 9".into()),
        columns: Some(vec!["id".into()]),
        order: FeedOrder::Shuffled,
        lookup_column: Some("t.id".into()),
    }];
    let known = suspects(&setup, 0, &[postgres(0.99), feed()], &[], 2.0);
    let [feed, cpu] = &known[..] else { panic!("{known:?}") };
    let knob = Knob::FeedRows { feed: "requests".into() };
    assert_eq!(feed.perturbation, Some(Perturbation::new(knob, None)));
    // The cached feed limits the maximum: a fall to a third counts as much as a threefold rise.
    let proofs =
        [proof(cpu, 1.2, Some(0.6), ProofVerdict::Limits), proof(feed, 0.3, None, ProofVerdict::Limits)];
    assert_eq!(cause(&setup, &known, &proofs), Cause::Proven { proof: 1, root_cause: None });
}

#[test]
fn perturbs_a_scan_with_all_indexes_advised_for_its_table() {
    let advised = |schema: &str, table: &str, column: &str| IndexAdvice {
        candidate: IndexCandidate {
            schema: schema.into(),
            table: table.into(),
            keys: vec![],
            requested_by: vec![],
        },
        ddl: format!("CREATE INDEX ON {schema}.{table} ({column})"),
        bytes: None,
        rows: 1e6,
        cost_changes: vec![],
        saved_share: None,
        maintaining_statements: vec![],
        non_hot_updates: vec![],
    };
    let indexes = vec![
        advised("book", "bookv2", "author"),
        advised("public", "other", "id"),
        advised("book", "bookv2", "name"),
    ];
    let advice = [Advice { cells: vec![1], indexes, ..Advice::default() }];
    let scan = |table: &str| Suspect::new(Limit::Scan { table: table.into(), ddl: None }, None);
    let check = |table: &str, cell, expected: Option<&str>| {
        let suspect = with_indexes(vec![scan(table)], cell, &advice, &setup("").load).remove(0);
        let Limit::Scan { ddl, .. } = &suspect.limit else { panic!("the limit must still be a scan") };
        assert_eq!(ddl.as_deref(), expected, "{table} of {cell}");
        let knob = suspect.perturbation.map(|it| it.knob);
        assert_eq!(knob, expected.map(|it| Knob::Index { ddl: it.to_owned() }));
    };
    let both = "CREATE INDEX ON book.bookv2 (author); CREATE INDEX ON book.bookv2 (name)";
    check("book.bookv2", 1, Some(both));
    check("bookv2", 1, Some(both));
    check("other", 1, Some("CREATE INDEX ON public.other (id)"));
    check("third", 1, None);
    check("book.bookv2", 0, None);
}

#[test]
fn names_the_condition_that_prevents_the_use_of_an_index() {
    let obstacle = IndexObstacle::Pattern { column: "name".to_owned() };
    let statement = |table: &str, remedy| StatementAdvice {
        text: String::new(),
        share: None,
        mean: None,
        scan: Some(Scan { table: table.to_owned(), rows: 1e6, rows_kept: 1.0, actual: true }),
        remedy,
        plan: None,
    };
    let rewrite = Remedy::Rewrite { obstacle: obstacle.clone() };
    let statements = vec![statement("public.other", Remedy::NotTaken), statement("public.parcels", rewrite)];
    let advice = [Advice { cells: vec![1], statements, ..Advice::default() }];
    let limit = |table: &str, cell| {
        let suspect = Suspect::new(Limit::Scan { table: table.to_owned(), ddl: None }, None);
        with_indexes(vec![suspect], cell, &advice, &setup("").load).remove(0).limit
    };
    let scan = |table: &str| Limit::Scan { table: table.to_owned(), ddl: None };
    let condition = |table: &str| {
        let (table, obstacle) = (table.to_owned(), obstacle.clone());
        Limit::Work { work: AvoidableWork::Condition { table, obstacle } }
    };
    assert_eq!(limit("public.parcels", 1), condition("public.parcels"));
    assert_eq!(limit("parcels", 1), condition("parcels"));
    assert_eq!(limit("public.other", 1), scan("public.other"));
    assert_eq!(limit("public.parcels", 0), scan("public.parcels"));
}

#[test]
fn suspects_a_busy_machine_last() {
    let host = |other_cpu| Finding::HostBound {
        cell: 0,
        idle: 0.01,
        processors: 2.0,
        generator_cpu: Some(0.1),
        pooler_cpu: Some(0.1),
        server_cpu: Some(0.3),
        other_cpu,
    };
    let pool = Finding::PoolBound {
        cell: 0,
        node: "pooler".into(),
        pool: 20,
        setting: None,
        in_use: 20.0,
        busy: 19.0,
        cpu: 0.02,
        cpu_limit: 0.1,
    };
    let first =
        |others| suspects(&setup("pooler"), 0, &[host(others), pool.clone()], &[], 2.0).remove(0).limit;
    assert_eq!(first(Some(1.5)), Limit::Pool { node: "pooler".into() });
    assert_eq!(first(Some(0.1)), Limit::Host);
    assert_eq!(first(None), Limit::Host, "without known use by other programs");
}

/// Two resources that are exhausted at the same load.
#[test]
fn tests_two_limits_together_if_neither_limits_alone() {
    let setup = setup("service pooler");
    let lowered = suspects(&setup, 0, &[postgres(0.99), wal()], &[], 1.0);
    let suspects = suspects(&setup, 0, &[postgres(0.99), wal(), pool(), threads()], &[], 4.0);
    let [cpu, wal, pool, threads] = &suspects[..] else { panic!("{suspects:?}") };
    let all = perturbations(&suspects);
    let together = Limit::Together { limits: vec![cpu.limit.clone(), wal.limit.clone()] };
    let limits: Vec<&Limit> = all.iter().map(|it| &it.0).collect();
    assert_eq!(limits, [&cpu.limit, &wal.limit, &pool.limit, &together]);
    let perturbation = &all[3].1;
    assert_eq!(perturbation.knob, Knob::Cpu { node: "postgres".to_owned() });
    assert_eq!(perturbation.together_with, [wal.perturbation.clone().expect("a setting")]);
    assert_eq!(perturbation.ratio(), None, "two changes have no elasticity");
    let does_not = |it| proof(it, 1.0, Some(0.02), ProofVerdict::DoesNotLimit);
    let undecided = |it| proof(it, 1.1, Some(0.3), ProofVerdict::Undecided);
    let proven = |it, elasticity| proof(it, 1.4, Some(elasticity), ProofVerdict::Limits);
    assert!(is_needed(&together, &[does_not(cpu), does_not(wal), undecided(pool)]));
    assert!(
        !is_needed(&together, &[does_not(cpu), undecided(wal), does_not(pool)]),
        "one may be the only limiter"
    );
    assert!(!is_needed(&together, &[does_not(cpu), does_not(wal), proven(pool, 0.9)]));
    assert!(is_needed(&wal.limit, &[undecided(cpu)]));
    // A limiter with half of the time leaves room for another one.
    assert!(ends_search_for_cause(&proven(cpu, 0.9)) && !ends_search_for_cause(&proven(cpu, 0.5)));
    assert!(!ends_search_for_cause(&undecided(cpu)));
    // A lowered quota, and a single knob.
    assert_eq!(perturbations(&lowered).len(), 2);
    assert_eq!(perturbations(std::slice::from_ref(threads)).len(), 1);
    let both = Suspect::new(together.clone(), Some(perturbation.clone()));
    let proofs = [does_not(cpu), does_not(wal), proof(&both, 1.4, None, ProofVerdict::Limits)];
    assert_eq!(cause(&setup, &suspects, &proofs), Cause::Proven { proof: 2, root_cause: None });
}

/// Planned with values, the statement uses an index of the scanned table.
#[test]
fn names_generic_plans_of_prepared_statements() {
    let node = |kind: &str, table: &str| PlanNode {
        kind: kind.to_owned(),
        schema: Some("public".to_owned()),
        table: Some(table.to_owned()),
        ..PlanNode::default()
    };
    let statement = |plan: PlanNode| StatementAdvice {
        text: String::new(),
        share: None,
        mean: None,
        scan: None,
        remedy: Remedy::NotNeeded,
        plan: Some(PlanNode { kind: "Limit".to_owned(), children: vec![plan], ..PlanNode::default() }),
    };
    let statements = ["bookings:Index Scan", "flights:Seq Scan"].map(|text| {
        let (table, kind) = text.split_once(':').expect("the text has a colon");
        statement(node(kind, table))
    });
    let advice = [Advice { cells: vec![0], statements: statements.to_vec(), ..Advice::default() }];
    let suspect = |table: &str, query_mode| {
        let scan = Suspect::new(Limit::Scan { table: table.to_owned(), ddl: None }, None);
        let load = Load { query_mode, ..setup("").load };
        with_indexes(vec![scan], 0, &advice, &load).remove(0)
    };
    let named = suspect("public.bookings", QueryMode::Prepared);
    let table = "public.bookings".to_owned();
    assert_eq!(named.limit, Limit::Work { work: AvoidableWork::GenericPlans { table } });
    let knob = Knob::Setting { name: "plan_cache_mode".into(), value: "force_custom_plan".into() };
    assert_eq!(named.perturbation, Some(Perturbation::new(knob, None)));
    let is_scan = |table: &str, mode| matches!(suspect(table, mode).limit, Limit::Scan { .. });
    assert!(is_scan("public.bookings", QueryMode::Simple));
    assert!(is_scan("public.flights", QueryMode::Prepared));
    assert!(is_scan("public.other", QueryMode::Prepared));
}
