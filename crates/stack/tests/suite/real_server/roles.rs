//! Tests role monitoring during changes, and reading back

use super::chain::{TestStack, ask, haproxy, pgbouncer, postgres, skipped, stack};
use super::replicas::{await_result, replicated};
use super::server::TEST_TIMEOUT;
use model::Nanos;
use model::durability::ServerInstance;
use model::message::Message;
use model::plan::{FaultAction, FaultScope, FaultTarget, PoolMode, Promoter, SyncMode, Transport};
use stack::read_back::ReadTransaction;
use stack::roles::{DirectServer, POLL_INTERVAL, RoleMonitor, RoleObservations};
use std::time::{Duration, Instant};

/// SQL expression with the same format as the identity that writing clients receive.
const IDENTITY: &str = "(extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint \
    || '|' || ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int \
    || '|' || coalesce(host(inet_server_addr()), 'local') || ':' || current_setting('port')";

/// Waits until the observations satisfy the condition.
fn see(
    watcher: &RoleMonitor,
    description: &str,
    mut holds: impl FnMut(&RoleObservations) -> bool,
) -> RoleObservations {
    let deadline = Instant::now() + TEST_TIMEOUT;
    loop {
        let observations = watcher.snapshot();
        if holds(&observations) {
            return observations;
        }
        assert!(Instant::now() < deadline, "{description} is not seen: {observations:#?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn identity(server: &ServerInstance) -> String {
    format!("{}|{}|{}", server.started_us, server.timeline, server.address)
}

/// Reads all rows of a query, in their order.
fn read(server: &DirectServer, query: &str) -> (ReadTransaction, Vec<String>) {
    let mut snapshot = ReadTransaction::begin(server, TEST_TIMEOUT).unwrap_or_else(|it| panic!("{it:?}"));
    let mut rows = Vec::new();
    let count = snapshot.read_rows(query, |it| rows.push(String::from_utf8_lossy(it).into_owned()));
    assert_eq!(count.unwrap_or_else(|it| panic!("{it:?}")), rows.len() as u64);
    (snapshot, rows)
}

#[test]
fn observes_failover_and_reads_rows_back() {
    let plan = replicated(&[haproxy(Transport::Tcp, None)], SyncMode::Any(1), Promoter::default());
    let start = Instant::now();
    let mut test_stack = TestStack::up(&plan).unwrap_or_else(|it| panic!("{it:?}"));
    println!("ready after {:?}", start.elapsed());
    test_stack.chain.create_identity_function(IDENTITY).unwrap();
    // Each trial creates the function.
    test_stack.chain.create_identity_function(IDENTITY).unwrap();
    let servers = test_stack.chain.direct_targets();
    let clock = move || Nanos(start.elapsed().as_nanos() as u64);
    let watcher = RoleMonitor::start(servers.clone(), POLL_INTERVAL, clock).unwrap();

    let entry = test_stack.chain.endpoint().clone();
    await_result(
        &mut test_stack,
        &entry,
        "create table t (token text, server text default pgdyno_server()); select 1",
        "1",
    );
    let first = ask(&entry, "insert into t values ('1.0.abc') returning server");
    let is_first = |observations: &RoleObservations| {
        observations.role_periods.iter().any(|it| identity(&it.server) == first && !it.in_recovery)
    };
    let observations = see(&watcher, "who answered", is_first);
    let spell = observations.role_periods.iter().find(|it| !it.in_recovery).unwrap();
    assert_eq!((spell.node.as_str(), spell.server.timeline), ("postgres", 1));
    let healthy = |node: &str, observations: &RoleObservations| {
        observations.health_changes.iter().find(|it| it.node == node).map(|it| it.at)
    };
    see(&watcher, "its health", |it| healthy("postgres", it).is_some());
    let names = "ANY 1 (\"postgres-2\", \"postgres-3\")";
    let settings = &observations.settings[0];
    assert_eq!(
        (settings.synchronous_commit.as_str(), settings.synchronous_standby_names.as_str()),
        ("on", names)
    );
    let followers: Vec<String> = observations
        .replica_periods
        .last()
        .unwrap()
        .followers
        .iter()
        .map(|it| format!("{} {} {}", it.name, it.sync_state, it.flushed.is_some()))
        .collect();
    assert_eq!(followers, ["postgres-2 quorum true", "postgres-3 quorum true"]);

    // The setting of the user counts, not the superuser's.
    ask(
        &test_stack.admin("postgres"),
        "alter role app in database app set synchronous_commit = remote_apply",
    );
    ask(&test_stack.admin("postgres"), "alter role app set synchronous_commit = off");
    let commit = |it: &RoleObservations| it.settings.last().unwrap().synchronous_commit.clone();
    see(&watcher, "a weaker promise", |it| commit(it) == "remote_apply");
    ask(&test_stack.admin("postgres"), "alter role app in database app reset synchronous_commit");
    see(&watcher, "none", |it| commit(it) == "off");
    ask(&test_stack.admin("postgres"), "alter role app reset synchronous_commit");
    see(&watcher, "what all have", |it| commit(it) == "on");
    ask(&entry, "insert into t select '2.' || n || '.abc' from generate_series(1, 300000) as n");

    let killed = clock();
    test_stack.chain.kill(&mut test_stack.supervisor, "postgres").unwrap();
    let promotion =
        test_stack.chain.fail_over(&mut test_stack.supervisor).unwrap_or_else(|it| panic!("{it:?}"));
    println!("promoted after {:?}: {promotion:?}", promotion.took);
    let to = promotion.to.as_str();
    let writes = |observations: &RoleObservations| {
        observations.role_periods.iter().any(|it| it.node == to && !it.in_recovery)
    };
    see(&watcher, "the promotion", writes);
    let observations = see(&watcher, "the new one's health", |it| healthy(to, it).is_some());
    let spells: Vec<_> = observations.role_periods.iter().filter(|it| it.node == to).collect();
    assert!(spells[0].in_recovery && spells[0].server.timeline == 1, "{spells:#?}");
    let last = spells.last().unwrap();
    assert!(!last.in_recovery && last.server.timeline == 2 && killed < last.from, "{spells:#?}");
    assert!(last.server.is_same_process(&spells[0].server), "a promotion restarts nothing: {spells:#?}");
    assert!(
        observations
            .role_periods
            .iter()
            .all(|it| it.node != "postgres" || it.to < killed + Nanos::from_millis(100))
    );
    await_result(
        &mut test_stack,
        &entry,
        "insert into t values ('3.0.a\tb\\c') returning split_part(server, '|', 2)",
        "2",
    );

    let rejoined =
        test_stack.chain.rejoin(&mut test_stack.supervisor, "postgres").unwrap_or_else(|it| panic!("{it:?}"));
    println!("{rejoined:?}");
    // The server has the same socket as before.
    let is_back = |observations: &RoleObservations| {
        observations.role_periods.last().is_some_and(|it| it.node == "postgres" && it.in_recovery)
    };
    see(&watcher, "the old primary as a replica", |observations| {
        let periods: Vec<_> =
            observations.role_periods.iter().filter(|it| it.node == "postgres").cloned().collect();
        is_back(&RoleObservations { role_periods: periods, ..RoleObservations::default() })
    });
    let observations = watcher.stop();
    assert!(observations.samples().is_sorted_by_key(|it| it.at));

    // The rows are read from the new primary, and from the old one, which reports its role.
    let server = |name: &str| servers.iter().find(|it| it.name == name).unwrap();
    let start = Instant::now();
    let (snapshot, rows) = read(server(to), "select token from t order by token -- all of it");
    println!("{} rows were read after {:?}", rows.len(), start.elapsed());
    assert_eq!((rows.len(), rows[0].as_str(), rows[300_001].as_str()), (300_002, "1.0.abc", "3.0.a\tb\\c"));
    assert!(!snapshot.in_recovery && snapshot.server == last.server, "{snapshot:?}");
    let old = server("postgres").clone();
    await_result(&mut test_stack, &old.target, "select count(*) from t", "300002");
    let (snapshot, rows) = read(&old, "select token from t where token like '1.%' union all select null;");
    assert_eq!((snapshot.in_recovery, snapshot.server.timeline, rows), (true, 2, vec!["1.0.abc".to_owned()]));
}

#[test]
fn snapshot_does_not_change_and_failed_reads_are_reported() {
    let test_stack =
        TestStack::up(&stack(&[postgres(Transport::Unix)])).unwrap_or_else(|it| panic!("{it:?}"));
    let [direct] = test_stack.chain.direct_targets().try_into().unwrap();
    assert!(direct.health.is_none() && direct.address.as_deref().is_some_and(|it| it.starts_with("local:")));
    ask(test_stack.chain.endpoint(), "create table t as select 7 as a");
    let mut snapshot = ReadTransaction::begin(&direct, TEST_TIMEOUT).unwrap();
    let mut read = |query: &str| {
        let mut rows = Vec::new();
        match snapshot.read_rows(query, |it| rows.push(String::from_utf8_lossy(it).into_owned())) {
            Ok(_) => rows.join(" "),
            Err(it) => Message::from(&it).describe(),
        }
    };
    assert_eq!(read("select a from t"), "7");
    ask(test_stack.chain.endpoint(), "insert into t values (8)");
    assert_eq!(read("select a from t"), "7");
    assert_eq!(read("select a, a from t"), "read-back-failed(select a, a from t, read-back-several-columns)");
    let expected = "read-back-failed(select b from t, ERROR: column \"b\" does not exist (SQLSTATE 42703))";
    assert_eq!(read("select b from t").lines().next().unwrap(), expected);
    let mut other = direct;
    other.address = None;
    other.target.address = stack::client::Address::Tcp(([127, 0, 0, 1], 1).into());
    let error = ReadTransaction::begin(&other, TEST_TIMEOUT).unwrap_err();
    let error = Message::from(&error).describe();
    assert!(
        error.starts_with(
            "read-back-failed(begin isolation level repeatable read read only, error-of(127.0.0.1:1, "
        ),
        "{error}"
    );
}

#[test]
fn killed_pooler_behind_balancer_serves_after_restart() {
    let nodes = [
        haproxy(Transport::Tcp, None),
        pgbouncer(Transport::Tcp, PoolMode::Transaction),
        postgres(Transport::Tcp),
    ];
    let mut test_stack = match TestStack::up(&stack(&nodes)) {
        Ok(it) => it,
        Err(it) if skipped(&it) => return,
        Err(it) => panic!("{it:?}"),
    };
    let entry = test_stack.chain.endpoint().clone();
    let mut session = entry.open(TEST_TIMEOUT).unwrap();
    assert_eq!(session.value("select 1").unwrap().as_deref(), Some("1"));
    let target = FaultTarget::Node("pooler".to_owned());
    let kill = FaultAction::Kill { target: target.clone(), scope: FaultScope::Node };
    let done =
        test_stack.chain.inject(&mut test_stack.supervisor, &kill).unwrap_or_else(|it| panic!("{it:?}"));
    assert_eq!((done.nodes, done.active_fault), (vec!["pooler".to_owned()], None));
    session.query("select 1").unwrap_err();
    test_stack
        .chain
        .inject(&mut test_stack.supervisor, &FaultAction::Restart { target })
        .unwrap_or_else(|it| panic!("{it:?}"));
    // The balancer checks the server's health every 100 ms.
    await_result(&mut test_stack, &entry, "select 2", "2");
}
