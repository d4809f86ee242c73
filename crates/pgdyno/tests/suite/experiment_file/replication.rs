//! Tests replicas and faults in files.

use super::common::{printed, read_with_url};
use experiment::{Diagnostics, Plan};
use model::Nanos;
use model::plan::{
    ClusterManager, FailoverManager, Fault, FaultAction, FaultScope, FaultTarget, FaultTrigger,
    IsolationPeers, ManagerSettings, NodeKind, Promoter, PromotionPolicy, Replication, Setup, SqlTarget,
    SyncMode, TriggerEvent,
};
use model::product;
use serde_json::json;

fn plan(stack: &str, rest: &str) -> Result<Plan, Diagnostics> {
    let text = format!(
        "stack: {{ postgres: {{}}, {stack} }}\n\
         operations: {{ a: {{ sql: SELECT 1 }} }}\nload: {{ model: closed, clients: 1, duration: 30s }}\n{rest}\n"
    );
    parse(&text)
}

fn parse(text: &str) -> Result<Plan, Diagnostics> {
    read_with_url(text, &|_| Err(Vec::new()))
}

fn setup(stack: &str, rest: &str) -> Setup {
    let plan = plan(stack, rest).unwrap_or_else(|it| panic!("{stack}\n{rest}\n{}", printed(&it)));
    plan.experiment.cells.into_iter().next().unwrap().setup
}

#[test]
fn reads_replicas() {
    let check = |text: &str, expected: Option<Replication>| {
        assert_eq!(setup(&format!("replicas: {text}"), "").stack.replication, expected, "{text}");
    };
    check("none", None);
    check("{ count: 2 }", Some(Replication::with_defaults(2, SyncMode::Async)));
    check("{ count: 2, sync: async, manager: pgdyno }", Some(Replication::with_defaults(2, SyncMode::Async)));
    check("{ count: 2, sync: first 1 }", Some(Replication::with_defaults(2, SyncMode::First(1))));
    check("{ count: 2, sync: ANY 2 }", Some(Replication::with_defaults(2, SyncMode::Any(2))));
    let promoter =
        Promoter { timeout: Nanos::from_millis(500), policy: PromotionPolicy::Laggard, fence: false };
    check(
        "{ count: 1, promote: laggard, timeout: 500ms, fence: false, shutdown_sessions: false }",
        Some(Replication {
            manager: FailoverManager::Builtin(promoter),
            shutdown_sessions: false,
            ..Replication::with_defaults(1, SyncMode::Async)
        }),
    );
    let unasked = Replication { freshness: false, ..Replication::with_defaults(1, SyncMode::Async) };
    check("{ count: 1, freshness: false }", Some(unasked));
    let settings = ManagerSettings { ttl: Nanos::from_secs(30), strict: false, ..ManagerSettings::default() };
    let patroni = ClusterManager { store_servers: 3, settings, ..ClusterManager::default() };
    check(
        "{ count: 2, sync: first 1, manager: patroni, patroni: { ttl: 30s, strict: false, etcd: 3 } }",
        Some(Replication {
            manager: FailoverManager::External(patroni),
            ..Replication::with_defaults(2, SyncMode::First(1))
        }),
    );
}

#[test]
fn balancer_precedes_servers_and_checks_them() {
    let before = "balancer: { kind: haproxy }, pooler: { kind: pgbouncer }";
    let names = |setup: &Setup| setup.stack.nodes.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&setup(before, "")), ["balancer", "pooler", "postgres"]);
    let several = setup(&format!("{before}, replicas: {{ count: 1 }}"), "");
    assert_eq!(names(&several), ["pooler", "balancer", "postgres"]);
    let NodeKind::Balancer(balancer) = &several.stack.nodes[1].kind else { panic!("it is one") };
    assert_eq!(balancer.check, Some(Nanos::from_millis(500)));
}

#[test]
fn reads_faults() {
    let check = |text: &str, expected: FaultAction, trigger: FaultTrigger| {
        let several = setup(
            "replicas: { count: 2, manager: patroni }, pooler: { kind: pgbouncer }",
            &format!("faults: [ {text} ]"),
        );
        assert_eq!(several.faults, [Fault { trigger, action: expected.clone() }], "{text}");
        let replication = several.stack.replication.unwrap();
        assert_eq!(replication.separate_networks, matches!(expected, FaultAction::Isolate { .. }), "{text}");
        let of_disk = matches!(expected, FaultAction::FillDisk { .. } | FaultAction::FreezeDisk { .. });
        assert_eq!(replication.separate_disks, of_disk, "{text}");
        assert_eq!(replication.separate_clocks, matches!(expected, FaultAction::ShiftClock { .. }), "{text}");
    };
    let at = FaultTrigger::At(Nanos::from_secs(20));
    let (node, five) = (|it: &str| FaultTarget::Node(it.to_owned()), Nanos::from_secs(5));
    check(
        "{ at: 20s, kill: primary }",
        FaultAction::Kill { target: FaultTarget::Primary, scope: FaultScope::Node },
        at,
    );
    check(
        "{ at: 20s, kill: primary, part: patroni }",
        FaultAction::Kill { target: FaultTarget::Primary, scope: FaultScope::Manager(&product::PATRONI) },
        at,
    );
    let part = FaultScope::Postmaster;
    check(
        "{ at: 20s, kill: postgres-2, part: postmaster }",
        FaultAction::Kill { target: node("postgres-2"), scope: part },
        at,
    );
    check(
        "{ at: 20s, pause: replica, duration: 5s }",
        FaultAction::Pause { target: FaultTarget::Replica, duration: five },
        at,
    );
    check("{ at: 20s, restart: pooler }", FaultAction::Restart { target: node("pooler") }, at);
    check("{ at: 20s, switchover: any }", FaultAction::Switchover { target: None }, at);
    check(
        "{ at: 20s, switchover: postgres-3 }",
        FaultAction::Switchover { target: Some(node("postgres-3")) },
        at,
    );
    check(
        "{ at: 20s, isolate: etcd, duration: 5s }",
        FaultAction::Isolate {
            target: FaultTarget::Store(&product::ETCD),
            duration: five,
            from: IsolationPeers::All,
        },
        at,
    );
    check(
        "{ at: 20s, isolate: primary, from: servers, duration: 5s }",
        FaultAction::Isolate { target: FaultTarget::Primary, duration: five, from: IsolationPeers::Servers },
        at,
    );
    let etcd = || FaultTarget::Store(&product::ETCD);
    for (from, peers) in [("etcd", vec![etcd()]), ("[etcd, postgres-2]", vec![etcd(), node("postgres-2")])] {
        check(
            &format!("{{ at: 20s, isolate: primary, from: {from}, duration: 5s }}"),
            FaultAction::Isolate {
                target: FaultTarget::Primary,
                duration: five,
                from: IsolationPeers::Nodes(peers),
            },
            at,
        );
    }
    check(
        "{ at: 20s, freeze_disk: primary, duration: 5s }",
        FaultAction::FreezeDisk { target: FaultTarget::Primary, duration: five },
        at,
    );
    check(
        "{ at: 20s, shift_clock: primary, by: -2m, duration: 5s }",
        FaultAction::ShiftClock { target: FaultTarget::Primary, by_ns: -120_000_000_000, duration: five },
        at,
    );
    check(
        "{ at: 20s, fill_disk: replica, duration: 5s }",
        FaultAction::FillDisk { target: FaultTarget::Replica, duration: five },
        at,
    );
    check(
        "{ at: 20s, block_replication: primary, duration: 5s }",
        FaultAction::BlockReplication { duration: Some(five) },
        at,
    );
    check("{ at: 20s, block_replication: primary }", FaultAction::BlockReplication { duration: None }, at);
    let command = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect::<Vec<String>>();
    check(
        "{ at: 20s, run: [failover, now], undo: [undo], within: 5s }",
        FaultAction::Run { command: command(&["failover", "now"]), undo: command(&["undo"]), within: five },
        at,
    );
    check("{ at: 20s, external: true }", FaultAction::External { within: Nanos::from_secs(60) }, at);
    let after = |event, ms| FaultTrigger::After(event, Nanos::from_millis(ms));
    let kill = FaultAction::Kill { target: FaultTarget::Primary, scope: FaultScope::Node };
    check("{ after: promoted, kill: primary }", kill.clone(), after(TriggerEvent::Promoted, 0));
    check("{ after: rejoined, at: 100ms, kill: primary }", kill, after(TriggerEvent::Rejoined, 100));
}

#[test]
fn operations_go_to_requested_server() {
    let check = |to: &str, expected: SqlTarget| {
        let text = format!(
            "stack: {{ postgres: {{}}, replicas: {{ count: 1 }} }}\n\
             operations: {{ a: {{ sql: SELECT 1{to} }} }}\nload: {{ model: closed, clients: 1, duration: 9s }}\n"
        );
        let plan = parse(&text).unwrap_or_else(|it| panic!("{}", printed(&it)));
        assert_eq!(plan.experiment.cells[0].setup.operations[0].target, expected, "{to}");
    };
    check("", SqlTarget::Primary);
    check(", target: primary", SqlTarget::Primary);
    check(", target: replica", SqlTarget::Replica);
    check(", target: any", SqlTarget::Any);
}

#[test]
fn reports_replication_diagnostics() {
    let check = |stack: &str, rest: &str, expected: &str| {
        let message = printed(&plan(stack, rest).expect_err(stack));
        assert!(message.contains(expected), "{stack} {rest}\n{message}");
    };
    let several = "replicas: { count: 2 }";
    check("replicas: { count: 2, sync: all }", "", "invalid synchronous replication");
    check("replicas: { count: 2, sync: any 0 }", "", "invalid synchronous replication");
    check("replicas: { count: 1, sync: any 2 }", "", "commits wait for 2 replicas, but there is only 1");
    check("replicas: { count: 1, patroni: {} }", "", "`patroni` requires `manager: patroni`");
    check(
        "replicas: { count: 1, manager: patroni, fence: true }",
        "",
        "`fence` does not apply with `manager: patroni`",
    );
    check("replicas: { count: 1, manager: patroni, patroni: { ttl: 5s } }", "", "at least 20s");
    check(
        "replicas: { count: 1, manager: patroni, patroni: { loop_wait: 15s } }",
        "",
        "is longer than `ttl`",
    );
    check(
        "replicas: { count: 1, manager: patroni, patroni: { etcd: 2 } }",
        "",
        "unsupported number of servers of `etcd`: 2",
    );
    check(several, "faults: [ { kill: primary } ]", "the fault has no time");
    check(several, "faults: [ { at: 1s } ]", "the fault has no action");
    check(several, "faults: [ { at: 1s, kill: primary, restart: primary } ]", "the fault has 2 actions");
    check(several, "faults: [ { at: 1s, pause: primary } ]", "`pause` requires a duration");
    check(
        several,
        "faults: [ { at: 1s, kill: primary, duration: 1s } ]",
        "`duration` does not apply to `kill`",
    );
    check(several, "faults: [ { at: 1s, run: [] } ]", "run");
    check(several, "faults: [ { at: 1s, run: [f], kill: primary } ]", "the fault has 2 actions");
    check(several, "faults: [ { at: 1s, run: [f], duration: 1s } ]", "`duration` does not apply to `run`");
    check(
        several,
        "faults: [ { at: 1s, external: true, undo: [f] } ]",
        "`undo` applies only to a fault with `run`",
    );
    check(several, "faults: [ { at: 1s, kill: primary, within: 1s } ]", "`within` applies only");
    check(several, "faults: [ { at: 1s, kill: postgres-4 } ]", "unknown node `postgres-4`");
    check(several, "faults: [ { at: 1s, kill: etcd } ]", "unknown node `etcd`");
    check("", "faults: [ { at: 1s, switchover: any } ]", "requires replicas");
    check("", "faults: [ { at: 1s, kill: replica } ]", "unknown node `replica`");
    check(several, "faults: [ { at: 1s, restart: primary, part: node } ]", "`part` applies only to `kill`");
    let process =
        |target: &str, part: &str| format!("faults: [ {{ at: 1s, kill: {target}, part: {part} }} ]");
    let patroni = "replicas: { count: 2, manager: patroni }, pooler: { kind: pgbouncer }";
    check(several, &process("primary", "patroni"), "`part: patroni` requires `manager: patroni`");
    check("", &process("primary", "patroni"), "`part: patroni` requires `manager: patroni`");
    check(patroni, &process("etcd", "patroni"), "`part` applies only to PostgreSQL servers, not to `etcd`");
    check(patroni, &process("pooler", "postmaster"), "only to PostgreSQL servers, not to `pooler`");
    check(patroni, "faults: [ { at: 1s, switchover: pooler } ]", "`switchover` applies only to PostgreSQL");
    check(patroni, "faults: [ { at: 1s, switchover: primary } ]", "`primary` already is the primary");
    check(patroni, "faults: [ { at: 1s, fill_disk: etcd, duration: 1s } ]", "`fill_disk` applies only to");
    check(
        patroni,
        "faults: [ { at: 1s, freeze_disk: etcd, duration: 1s } ]",
        "`freeze_disk` applies only to",
    );
    let shift = |text: &str| format!("faults: [ {{ at: 1s, shift_clock: {text} }} ]");
    check(patroni, &shift("etcd, by: 2m, duration: 1s"), "`shift_clock` applies only to PostgreSQL servers");
    check(patroni, &shift("primary, duration: 1s"), "`shift_clock` requires an offset");
    check(patroni, &shift("primary, by: 2m"), "`shift_clock` requires a duration");
    check(patroni, &shift("primary, by: two, duration: 1s"), "`two` is not an offset");
    check(patroni, "faults: [ { at: 1s, kill: primary, by: 2m } ]", "`by` applies only to `shift_clock`");
    check(patroni, "faults: [ { at: 1s, isolate: pooler, duration: 1s } ]", "`isolate` applies only to");
    let from =
        |peers: &str| format!("faults: [ {{ at: 1s, isolate: primary, from: {peers}, duration: 1s }} ]");
    check(patroni, &from("pooler"), "`from` applies only to PostgreSQL servers, not to `pooler`");
    check(patroni, &from("postgres-9"), "postgres-9");
    check(patroni, &from("[]"), "`from` names no node");
    check(
        "",
        "baseline: {}\nfaults: [ { at: 1s, block_replication: primary, duration: 1s } ]",
        "requires replicas",
    );
}

/// Run files of earlier versions contain these plans.
#[test]
fn stored_plans_name_manager_and_store_by_key() {
    let setup = setup(
        "replicas: { count: 2, manager: patroni, patroni: { etcd: 3 } }",
        "faults: [ { at: 1s, kill: etcd }, { at: 2s, kill: primary, part: patroni } ]",
    );
    let manager = &setup.stack.replication.unwrap().manager;
    let patroni = json!({ "patroni": {
        "etcd": 3,
        "ttl": 20_000_000_000_u64,
        "loop_wait": 5_000_000_000_u64,
        "retry_timeout": 5_000_000_000_u64,
        "primary_start_timeout": 300_000_000_000_u64,
        "maximum_lag": 1_048_576,
        "strict": true,
    } });
    assert_eq!(serde_json::to_value(manager).unwrap(), patroni.clone());
    assert_eq!(serde_json::from_value::<FailoverManager>(patroni).unwrap(), *manager);
    let stored = json!([
        { "trigger": { "at": 1_000_000_000 }, "action": { "kill": { "target": "etcd", "scope": "node" } } },
        { "trigger": { "at": 2_000_000_000 }, "action": { "kill": { "target": "primary", "scope": "patroni" } } },
    ]);
    assert_eq!(serde_json::to_value(&setup.faults).unwrap(), stored);
    let former = json!([
        { "when": { "at": 1_000_000_000 }, "deed": { "kill": { "whom": "etcd", "part": "node" } } },
        { "when": { "at": 2_000_000_000 }, "deed": { "kill": { "whom": "primary", "part": "patroni" } } },
    ]);
    for text in [stored, former] {
        assert_eq!(serde_json::from_value::<Vec<Fault>>(text).unwrap(), setup.faults);
    }
    let unknown = json!({ "keeper": { "ttl": 1 } });
    assert!(serde_json::from_value::<FailoverManager>(unknown).is_err());
}

/// Run files of earlier versions contain these names.
#[test]
fn reads_stored_faults_and_promoters_with_former_names() {
    let duration = Nanos::from_secs(5);
    for (former, expected) in [
        (
            json!({ "cut_off": { "whom": "primary", "lasting": 5_000_000_000_u64 } }),
            FaultAction::Isolate { target: FaultTarget::Primary, duration, from: IsolationPeers::All },
        ),
        (
            json!({ "withhold": { "lasting": 5_000_000_000_u64 } }),
            FaultAction::BlockReplication { duration: Some(duration) },
        ),
    ] {
        assert_eq!(serde_json::from_value::<FaultAction>(former).unwrap(), expected);
    }
    let former = json!({ "ours": { "patience": 1_000_000_000, "choice": "advanced", "fence": true } });
    let builtin = FailoverManager::Builtin(Promoter::default());
    assert_eq!(serde_json::from_value::<FailoverManager>(former).unwrap(), builtin);
}
