//! Does a real Patroni run the servers, and is there another primary when one is gone?

use super::chain::{Stand, ask, haproxy, postgres, skipped, stack};
use super::replicas::comes_to;
use model::plan::{Entrance, Manager, Patroni, Replication, Stack, Sync};
use std::time::{Duration, Instant};

#[test]
fn a_switchover_and_a_dead_primary() {
    let manager = Manager::Patroni(Patroni::default());
    let replication = Some(Replication { manager, ..Replication::of(2, Sync::First(1)) });
    let nodes = [haproxy(Entrance::Tcp, None), postgres(Entrance::Tcp)];
    let plan = Stack { replication, ..stack(&nodes) };
    let began = Instant::now();
    let mut stand = match Stand::up(&plan) {
        Ok(it) => it,
        Err(it) if skipped(&it) => return,
        Err(it) => panic!("{it}"),
    };
    println!("Patroni's three servers and a balancer were ready after {:?}", began.elapsed());
    let entry = stand.chain.entry().clone();
    assert_eq!(ask(&entry, "create table t as select 7 as a"), "");
    let sql = "select string_agg(sync_state, ' ' order by sync_state) from pg_stat_replication";
    let admin = stand.admin("postgres");
    comes_to(&mut stand, &admin, sql, "async sync");
    let promotion = stand.chain.switch_over(&mut stand.supervisor, None).unwrap_or_else(|it| panic!("{it}"));
    println!("{promotion:?}");
    assert_ne!(promotion.to, "postgres");
    comes_to(&mut stand, &entry, "insert into t values (8) returning a", "8");
    assert!(stand.chain.patroni("/history").unwrap().starts_with('['));

    let began = Instant::now();
    stand.chain.kill(&mut stand.supervisor, &promotion.to).unwrap();
    let second = stand
        .chain
        .await_promotion(&mut stand.supervisor, began, Duration::from_secs(60))
        .unwrap_or_else(|it| panic!("{it}"));
    println!("{second:?}");
    assert_ne!(second.to, promotion.to);
    comes_to(&mut stand, &entry, "insert into t values (9) returning a", "9");
    assert_eq!(ask(&entry, "select sum(a) from t"), "24");
    let rejoined =
        stand.chain.rejoin(&mut stand.supervisor, &promotion.to).unwrap_or_else(|it| panic!("{it}"));
    println!("{rejoined:?}");

    // Taken back from Patroni it is alone, with the rows it has.
    stand.become_(&stack(&[postgres(Entrance::Tcp)])).unwrap_or_else(|it| panic!("{it}"));
    assert_eq!(ask(stand.chain.entry(), "select sum(a) from t"), "24");
}
