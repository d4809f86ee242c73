//! Tests replication and promotion

use super::chain::{TestStack, ask, haproxy, postgres, stack};
use super::server::TEST_TIMEOUT;
use model::plan::{
    FailoverManager, Node, Promoter, PromotionPolicy, Replication, Stack, SyncMode, Transport,
};
use stack::chain::Promotion;
use stack::client::Target;
use stack::supervisor::{Readiness, host_process};
use std::time::Instant;

/// Builds a stack whose PostgreSQL has two replicas.
pub fn replicated(before: &[Node], sync: SyncMode, promoter: Promoter) -> Stack {
    let nodes = [before, &[postgres(Transport::Tcp)]].concat();
    let manager = FailoverManager::Builtin(promoter);
    Stack {
        replication: Some(Replication { manager, ..Replication::with_defaults(2, sync) }),
        ..stack(&nodes)
    }
}

impl TestStack {
    /// Returns the superuser login to a server.
    pub fn admin(&self, name: &str) -> Target {
        let servers = self.chain.servers();
        servers.iter().find(|it| it.plan.name == name).unwrap().admin.clone().unwrap()
    }

    fn fail_over(&mut self) -> Promotion {
        self.chain.fail_over(&mut self.supervisor).unwrap_or_else(|it| panic!("{it:?}"))
    }
}

/// Repeats the query until the result is the expected one.
pub fn await_result(test_stack: &mut TestStack, target: &Target, sql: &str, expected: &str) {
    let TestStack { chain, supervisor } = test_stack;
    let runs = chain.servers().iter().filter_map(|it| it.node).find(|it| supervisor.end_of(*it).is_none());
    let answer = || match ask(target, sql) {
        it if it == expected => Readiness::Ready(()),
        it => Readiness::NotYet(it.into()),
    };
    supervisor.await_ready(runs.unwrap(), TEST_TIMEOUT, answer).unwrap_or_else(|it| panic!("{sql}: {it:?}"));
}

#[test]
fn writes_continue_after_primary_is_killed() {
    let start = Instant::now();
    let plan = replicated(&[haproxy(Transport::Tcp, None)], SyncMode::Any(1), Promoter::default());
    let mut test_stack = TestStack::up(&plan).unwrap_or_else(|it| panic!("{it:?}"));
    println!("three servers and a balancer were ready after {:?}", start.elapsed());
    let names: Vec<&str> = test_stack.chain.servers().iter().map(|it| it.plan.name.as_str()).collect();
    assert_eq!(names, ["postgres", "postgres-2", "postgres-3"]);
    let sql =
        "select string_agg(application_name || ' ' || sync_state, ', ' order by 1) from pg_stat_replication";
    assert_eq!(ask(&test_stack.admin("postgres"), sql), "postgres-2 quorum, postgres-3 quorum");

    // A write through one listener is visible through the other.
    let entry = test_stack.chain.endpoint().clone();
    let replicas = test_stack.chain.replica_endpoints()[0].clone();
    ask(&entry, "create table t as select 7 as a");
    await_result(&mut test_stack, &entry, "select pg_is_in_recovery()", "f");
    await_result(&mut test_stack, &replicas, "select pg_is_in_recovery()", "t");
    await_result(&mut test_stack, &replicas, "select sum(a) from t", "7");

    // The whole node dies at once, so that no process of it can acknowledge anything.
    let old = test_stack.chain.servers()[0].node.unwrap();
    let apart = test_stack.supervisor.is_isolated(old);
    let pid = test_stack.supervisor.pid(old).unwrap();
    test_stack.chain.kill(&mut test_stack.supervisor, "postgres").unwrap();
    assert!(!apart || !std::path::Path::new(&format!("/proc/{pid}")).exists());
    let promotion = test_stack.fail_over();
    println!("{promotion:?}");
    assert!(promotion.safe && promotion.to != "postgres", "{promotion:?}");
    assert_eq!(promotion.timeline, 2);
    assert_eq!(test_stack.chain.primary().unwrap().plan.name, promotion.to);
    await_result(&mut test_stack, &entry, "insert into t values (8) returning a", "8");
    await_result(&mut test_stack, &replicas, "select sum(a) from t", "15");

    // The old primary rejoins as a replica, with all rows.
    let rejoined =
        test_stack.chain.rejoin(&mut test_stack.supervisor, "postgres").unwrap_or_else(|it| panic!("{it:?}"));
    println!("{rejoined:?}");
    let first = test_stack.chain.servers()[0].endpoint.clone();
    await_result(&mut test_stack, &first, "select sum(a) || ' ' || pg_is_in_recovery() from t", "15 true");
    let states = test_stack.chain.server_statuses();
    assert!(states.iter().all(|status| status.state.is_some_and(|it| it.timeline == 2)), "{states:?}");

    // The timeline is known even without a primary that streams to the server.
    test_stack.chain.kill(&mut test_stack.supervisor, &promotion.to).unwrap();
    let second = test_stack.fail_over();
    let known =
        second.statuses.iter().filter_map(|status| status.state.map(|it| it.timeline)).collect::<Vec<_>>();
    assert_eq!((second.safe, known), (true, vec![2, 2]), "{second:?}");
    await_result(&mut test_stack, &entry, "insert into t values (9) returning a", "9");
    assert_eq!(ask(&entry, "select sum(a) from t"), "24");

    // The initial plan restores the first server as the primary, with two new replicas.
    test_stack.reconcile(&plan).unwrap_or_else(|it| panic!("{it:?}"));
    assert_eq!(test_stack.chain.primary().unwrap().plan.name, "postgres");
    assert_eq!(ask(&test_stack.admin("postgres"), sql), "postgres-2 quorum, postgres-3 quorum");
    // Without replicas in the plan, a single server remains.
    test_stack.reconcile(&stack(&[postgres(Transport::Tcp)])).unwrap_or_else(|it| panic!("{it:?}"));
    assert_eq!(test_stack.chain.servers().len(), 1);
    assert_eq!(ask(test_stack.chain.endpoint(), "insert into t values (1) returning a"), "1");
}

#[test]
fn promoted_laggard_lacks_rows_and_is_unsafe() {
    let promoter = Promoter { policy: PromotionPolicy::Laggard, ..Promoter::default() };
    let mut test_stack =
        TestStack::up(&replicated(&[], SyncMode::Any(1), promoter)).unwrap_or_else(|it| panic!("{it:?}"));
    let entry = test_stack.chain.endpoint().clone();
    ask(&entry, "create table t (a int)");
    // The replica receives no more WAL, so the other one must confirm alone.
    let admin = test_stack.admin("postgres-3");
    ask(&admin, "alter system set primary_conninfo = 'host=127.0.0.1 port=1'");
    ask(&admin, "select pg_reload_conf()");
    let primary = test_stack.admin("postgres");
    await_result(
        &mut test_stack,
        &primary,
        "select string_agg(application_name, ' ') from pg_stat_replication",
        "postgres-2",
    );
    assert_eq!(ask(&entry, "insert into t values (1) returning a"), "1");
    test_stack.chain.kill(&mut test_stack.supervisor, "postgres").unwrap();
    let promotion = test_stack.fail_over();
    assert_eq!((promotion.to.as_str(), promotion.safe), ("postgres-3", false), "{promotion:?}");
    let entry = test_stack.chain.primary().unwrap().endpoint.clone();
    assert_eq!(ask(&entry, "select count(*) from t"), "0", "what was acknowledged is lost");
    // Without this reset, the setting would be copied with the rest.
    ask(&admin, "alter system reset primary_conninfo");
    // No commit is confirmed before the replica that still has the row has discarded it.
    assert_eq!(promotion.diverged, ["postgres-2"]);
    let rejoined = test_stack
        .chain
        .rejoin(&mut test_stack.supervisor, "postgres-2")
        .unwrap_or_else(|it| panic!("{it:?}"));
    println!("{rejoined:?}");
    assert_eq!(ask(&entry, "insert into t values (2) returning a"), "2");
    let servers = test_stack.chain.servers();
    let strayed = servers.iter().find(|it| it.plan.name == "postgres-2").unwrap().endpoint.clone();
    await_result(&mut test_stack, &strayed, "select string_agg(a::text, ' ') from t", "2");
}

#[test]
fn switchover_loses_no_rows() {
    let mut test_stack = TestStack::up(&replicated(&[], SyncMode::Async, Promoter::default()))
        .unwrap_or_else(|it| panic!("{it:?}"));
    let entry = test_stack.chain.endpoint().clone();
    ask(&entry, "create table t as select a from generate_series(1, 1000) as a");
    let promotion = test_stack
        .chain
        .switch_over(&mut test_stack.supervisor, Some("postgres-3"))
        .unwrap_or_else(|it| panic!("{it:?}"));
    assert_eq!(promotion.to, "postgres-3");
    // A backend has another process id in the namespace of its server.
    let (admin, node) = (test_stack.admin("postgres-3"), test_stack.chain.servers()[2].node);
    let mut session = admin.open(TEST_TIMEOUT).unwrap();
    let backend = session.value("select pg_backend_pid()").unwrap().unwrap().parse().unwrap();
    let main = test_stack.supervisor.pid(node.unwrap()).unwrap();
    let process = host_process(main, backend).unwrap();
    let title = std::fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap();
    assert!(title.starts_with("postgres: "), "{title}");
    let servers: Vec<Target> = test_stack.chain.servers().iter().map(|it| it.endpoint.clone()).collect();
    for (server, recovers) in servers.iter().zip(["true", "true", "false"]) {
        await_result(
            &mut test_stack,
            server,
            "select count(*) || ' ' || pg_is_in_recovery() from t",
            &format!("1000 {recovers}"),
        );
    }
}
