//! Which replicas and which faults does a file ask for?

mod common;

use common::asked;
use experiment::{Mistakes, Plan};
use model::Nanos;
use model::plan::{
    Choice, Deed, Event, Fault, Kind, Manager, Part, Patroni, Promoter, Replication, Setup, Sync, To, When,
    Whom,
};

fn plan(stack: &str, rest: &str) -> Result<Plan, Mistakes> {
    let text = format!(
        "stack: {{ postgres: {{}}, {stack} }}\n\
         operations: {{ a: {{ sql: SELECT 1 }} }}\nload: {{ model: closed, clients: 1, duration: 9s }}\n{rest}\n"
    );
    of(&text)
}

fn of(text: &str) -> Result<Plan, Mistakes> {
    asked(text, &|_| Err(Vec::new()))
}

fn setup(stack: &str, rest: &str) -> Setup {
    let plan = plan(stack, rest).unwrap_or_else(|it| panic!("{stack}\n{rest}\n{it}"));
    plan.experiment.cells.into_iter().next().unwrap().setup
}

#[test]
fn replicas() {
    let check = |text: &str, expected: Option<Replication>| {
        assert_eq!(setup(&format!("replicas: {text}"), "").stack.replication, expected, "{text}");
    };
    check("none", None);
    check("{ count: 2 }", Some(Replication::of(2, Sync::Async)));
    check("{ count: 2, sync: async, manager: ours }", Some(Replication::of(2, Sync::Async)));
    check("{ count: 2, sync: first 1 }", Some(Replication::of(2, Sync::First(1))));
    check("{ count: 2, sync: ANY 2 }", Some(Replication::of(2, Sync::Any(2))));
    let ours = Promoter { patience: Nanos::from_millis(500), choice: Choice::Laggard, fence: false };
    check(
        "{ count: 1, promote: laggard, patience: 500ms, fence: false, shutdown_sessions: false }",
        Some(Replication {
            manager: Manager::Ours(ours),
            shutdown_sessions: false,
            ..Replication::of(1, Sync::Async)
        }),
    );
    let unasked = Replication { freshness: false, ..Replication::of(1, Sync::Async) };
    check("{ count: 1, freshness: false }", Some(unasked));
    let patroni = Patroni { ttl: Nanos::from_secs(30), strict: false, etcd: 3, ..Patroni::default() };
    check(
        "{ count: 2, sync: first 1, manager: patroni, patroni: { ttl: 30s, strict: false, etcd: 3 } }",
        Some(Replication { manager: Manager::Patroni(patroni), ..Replication::of(2, Sync::First(1)) }),
    );
}

#[test]
fn the_balancer_stands_before_the_servers_and_asks_them() {
    let before = "balancer: { kind: haproxy }, pooler: { kind: pgbouncer }";
    let names = |it: &Setup| it.stack.nodes.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&setup(before, "")), ["balancer", "pooler", "postgres"]);
    let several = setup(&format!("{before}, replicas: {{ count: 1 }}"), "");
    assert_eq!(names(&several), ["pooler", "balancer", "postgres"]);
    let Kind::HaProxy(it) = &several.stack.nodes[1].kind else { panic!("it is one") };
    assert_eq!(it.check, Some(Nanos::from_millis(500)));
}

#[test]
fn faults() {
    let check = |text: &str, expected: Deed, when: When| {
        let several = setup(
            "replicas: { count: 2, manager: patroni }, pooler: { kind: pgbouncer }",
            &format!("faults: [ {text} ]"),
        );
        assert_eq!(several.faults, [Fault { when, deed: expected.clone() }], "{text}");
        let replication = several.stack.replication.unwrap();
        assert_eq!(replication.apart, matches!(expected, Deed::CutOff { .. }), "{text}");
        assert_eq!(replication.disks, matches!(expected, Deed::FillDisk { .. }), "{text}");
    };
    let at = When::At(Nanos::from_secs(20));
    let (node, five) = (|it: &str| Whom::Node(it.to_owned()), Nanos::from_secs(5));
    check("{ at: 20s, kill: primary }", Deed::Kill { whom: Whom::Primary, part: Part::Node }, at);
    let part = Part::Postmaster;
    check(
        "{ at: 20s, kill: postgres-2, part: postmaster }",
        Deed::Kill { whom: node("postgres-2"), part },
        at,
    );
    check("{ at: 20s, pause: replica, for: 5s }", Deed::Pause { whom: Whom::Replica, lasting: five }, at);
    check("{ at: 20s, restart: pooler }", Deed::Restart { whom: node("pooler") }, at);
    check("{ at: 20s, switchover: any }", Deed::Switchover { to: None }, at);
    check("{ at: 20s, switchover: postgres-3 }", Deed::Switchover { to: Some(node("postgres-3")) }, at);
    check("{ at: 20s, cut_off: etcd, for: 5s }", Deed::CutOff { whom: Whom::Etcd, lasting: five }, at);
    check(
        "{ at: 20s, fill_disk: replica, for: 5s }",
        Deed::FillDisk { whom: Whom::Replica, lasting: five },
        at,
    );
    check("{ at: 20s, withhold: primary, for: 5s }", Deed::Withhold { lasting: five }, at);
    let after = |event, ms| When::After(event, Nanos::from_millis(ms));
    let kill = Deed::Kill { whom: Whom::Primary, part: Part::Node };
    check("{ after: promoted, kill: primary }", kill.clone(), after(Event::Promoted, 0));
    check("{ after: rejoined, at: 100ms, kill: primary }", kill, after(Event::Rejoined, 100));
}

#[test]
fn where_operations_go() {
    let check = |to: &str, expected: To| {
        let text = format!(
            "stack: {{ postgres: {{}}, replicas: {{ count: 1 }} }}\n\
             operations: {{ a: {{ sql: SELECT 1{to} }} }}\nload: {{ model: closed, clients: 1, duration: 9s }}\n"
        );
        let plan = of(&text).unwrap_or_else(|it| panic!("{it}"));
        assert_eq!(plan.experiment.cells[0].setup.operations[0].to, expected, "{to}");
    };
    check("", To::Primary);
    check(", to: primary", To::Primary);
    check(", to: replica", To::Replica);
    check(", to: any", To::Any);
}

#[test]
fn mistakes() {
    let check = |stack: &str, rest: &str, expected: &str| {
        let told = plan(stack, rest).expect_err(stack).to_string();
        assert!(told.contains(expected), "{stack} {rest}\n{told}");
    };
    let several = "replicas: { count: 2 }";
    check("replicas: { count: 2, sync: all }", "", "nothing a commit can wait for");
    check("replicas: { count: 2, sync: any 0 }", "", "nothing a commit can wait for");
    check("replicas: { count: 1, sync: any 2 }", "", "waits for 2 of 1 replicas");
    check("replicas: { count: 1, patroni: {} }", "", "does not manage");
    check("replicas: { count: 1, manager: patroni, fence: true }", "", "has no `fence`");
    check("replicas: { count: 1, manager: patroni, patroni: { ttl: 5s } }", "", "at least 20s");
    check("replicas: { count: 1, manager: patroni, patroni: { loop_wait: 15s } }", "", "longer than `ttl`");
    check("replicas: { count: 1, manager: patroni, patroni: { etcd: 2 } }", "", "2 servers of etcd");
    check(several, "faults: [ { kill: primary } ]", "a fault without a time");
    check(several, "faults: [ { at: 1s } ]", "does nothing");
    check(several, "faults: [ { at: 1s, kill: primary, restart: primary } ]", "does 2 things");
    check(several, "faults: [ { at: 1s, pause: primary } ]", "without an end");
    check(several, "faults: [ { at: 1s, fill_disk: etcd, for: 1s } ]", "the disk of `etcd`");
    check(several, "faults: [ { at: 1s, kill: primary, for: 1s } ]", "takes no time");
    check(several, "faults: [ { at: 1s, kill: postgres-4 } ]", "no node of ours is called `postgres-4`");
    check(several, "faults: [ { at: 1s, kill: etcd } ]", "no node of ours is called `etcd`");
    check("", "faults: [ { at: 1s, switchover: any } ]", "where there are no replicas");
    check("", "faults: [ { at: 1s, kill: replica } ]", "no node of ours is called `replica`");
    check(several, "faults: [ { at: 1s, restart: primary, part: node } ]", "only `kill` knows parts");
    check(
        "",
        "baseline: {}\nfaults: [ { at: 1s, withhold: primary, for: 1s } ]",
        "where there are no replicas",
    );
}
