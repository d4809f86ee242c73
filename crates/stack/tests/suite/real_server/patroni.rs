//! Tests a real Patroni and its failover

use super::chain::{TestStack, ask, haproxy, postgres, skipped, stack};
use super::replicas::await_result;
use model::Nanos;
use model::plan::{
    ClusterManager, FailoverManager, FaultAction, FaultTarget, IsolationPeers, ManagerSettings, Replication,
    Stack, SyncMode, Transport,
};
use model::product;
use rustix::process::geteuid;
use std::time::{Duration, Instant};

#[test]
fn patroni_switches_over_and_fails_over() {
    // Newer versions keep a dead leader's key for at least 20 s.
    let [loop_wait, retry_timeout, ttl] = [1, 3, 10].map(Nanos::from_secs);
    let settings = ManagerSettings { loop_wait, retry_timeout, ttl, ..ManagerSettings::default() };
    let quick = ClusterManager { settings, ..ClusterManager::default() };
    let (manager, apart) = (FailoverManager::External(quick), geteuid().is_root());
    let replication = Some(Replication {
        manager: manager.clone(),
        separate_networks: apart,
        ..Replication::with_defaults(2, SyncMode::First(1))
    });
    let nodes = [haproxy(Transport::Tcp, None), postgres(Transport::Tcp)];
    let plan = Stack { replication, ..stack(&nodes) };
    let start = Instant::now();
    let mut test_stack = match TestStack::up(&plan) {
        Ok(it) => it,
        Err(it) if skipped(&it) => return,
        Err(it) => panic!("{it:?}"),
    };
    println!("Patroni's three servers and a balancer were ready after {:?}", start.elapsed());
    let entry = test_stack.chain.endpoint().clone();
    assert_eq!(ask(&entry, "create table t as select 7 as a"), "");
    let sql = "select string_agg(sync_state, ' ' order by sync_state) from pg_stat_replication";
    let admin = test_stack.admin("postgres");
    await_result(&mut test_stack, &admin, sql, "async sync");
    let promotion =
        test_stack.chain.switch_over(&mut test_stack.supervisor, None).unwrap_or_else(|it| panic!("{it:?}"));
    println!("{promotion:?}");
    assert_ne!(promotion.to, "postgres");
    await_result(&mut test_stack, &entry, "insert into t values (8) returning a", "8");
    assert!(test_stack.chain.manager_get("/history").unwrap().starts_with('['));

    // The test makes etcd unreachable for a while: the servers continue, and the next promotion requires etcd.
    if apart {
        let cut = FaultAction::Isolate {
            target: FaultTarget::Store(&product::ETCD),
            duration: Nanos::from_secs(1),
            from: IsolationPeers::All,
        };
        let cut =
            test_stack.chain.inject(&mut test_stack.supervisor, &cut).unwrap_or_else(|it| panic!("{it:?}"));
        assert_eq!(cut.nodes, ["etcd-1"]);
        assert_eq!(ask(&entry, "insert into t values (0) returning a"), "0");
        test_stack
            .chain
            .revert(&mut test_stack.supervisor, cut.active_fault.unwrap())
            .unwrap_or_else(|it| panic!("{it:?}"));
    }

    let start = Instant::now();
    test_stack.chain.kill(&mut test_stack.supervisor, &promotion.to).unwrap();
    let second = test_stack
        .chain
        .await_promotion(&mut test_stack.supervisor, start, Duration::from_secs(60))
        .unwrap_or_else(|it| panic!("{it:?}"));
    println!("{second:?}");
    assert_ne!(second.to, promotion.to);
    await_result(&mut test_stack, &entry, "insert into t values (9) returning a", "9");
    assert_eq!(ask(&entry, "select sum(a) from t"), "24");
    let rejoined = test_stack
        .chain
        .rejoin(&mut test_stack.supervisor, &promotion.to)
        .unwrap_or_else(|it| panic!("{it:?}"));
    println!("{rejoined:?}");

    // Without Patroni, the server runs alone and keeps its rows.
    test_stack.reconcile(&stack(&[postgres(Transport::Tcp)])).unwrap_or_else(|it| panic!("{it:?}"));
    assert_eq!(ask(test_stack.chain.endpoint(), "select sum(a) from t"), "24");

    // The next Patroni gets a new configuration: the first one's configuration is stored with the data and would be used.
    let replication = Some(Replication {
        manager,
        separate_networks: apart,
        ..Replication::with_defaults(1, SyncMode::Async)
    });
    test_stack.reconcile(&Stack { replication, ..stack(&nodes) }).unwrap_or_else(|it| panic!("{it:?}"));
    let admin = test_stack.admin("postgres");
    assert_eq!(ask(&admin, sql), "async");
    assert_eq!(ask(&admin, "show synchronous_standby_names"), "");
}
