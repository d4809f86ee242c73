//! States of sessions, pools and servers, and their collapse

use super::workspace::Workspace;
use rustix::process::{Signal, kill_process};
use serde_json::Value;
use std::thread;
use std::time::Duration;

const WAYS: &str = "
stack: { postgres: {} }
operations: { one: { sql: SELECT pg_sleep(0.05) } }
load: { model: closed, clients: 4, duration: 4s }
matrix:
  way:
    pgbouncer: { pooler: { kind: pgbouncer, mode: transaction, size: 2 } }
    haproxy: { balancer: { kind: haproxy, maxconn: 3 } }
repeat: 1
";

fn find<'a>(rows: &'a Value, key: &str, value: &str) -> &'a Value {
    let rows = rows.as_array().unwrap_or_else(|| panic!("no rows with {key}"));
    rows.iter().find(|it| it[key] == value).unwrap_or_else(|| panic!("{key} {value}: {rows:#?}"))
}

#[test]
fn lists_sessions_pools_and_servers() {
    let workspace = Workspace::new("states", WAYS);
    let document = workspace.run(&["--json"]).expect(0).document();
    let [pooled, balanced] = [0, 1].map(|cell| &document["states"][cell]);
    // The pooler passes on the application's name, and the monitoring is not listed.
    let group = find(&pooled["sessions"], "application", "pgdyno load");
    assert_eq!((&group["node"], &group["user"]), (&"postgres".into(), &"app".into()), "{group}");
    assert!(!pooled["sessions"].to_string().contains("pgdyno monitor"), "{pooled}");
    let pool = find(&pooled["pools"], "pool", "app/app");
    assert_eq!((&pool["node"], &pool["size"]), (&"pooler".into(), &2.0.into()), "{pool}");
    let servers = pool["servers_active"]["max"].as_f64();
    assert!(servers.is_some_and(|it| (1.0..=2.0).contains(&it)), "{pool}");
    assert!(pool["clients_waiting"]["max"].as_f64() >= Some(1.0), "{pool}");
    let server = find(&balanced["servers"], "server", "behind/postgres");
    assert_eq!((&server["node"], &server["up"]), (&"balancer".into(), &1.0.into()), "{server}");
    assert!(server["sessions"]["max"].as_f64() >= Some(1.0), "{server}");
    let page = workspace.other("report", &["last", "--format", "md"]).expect(0).out.clone();
    for text in [
        "Sessions, pools and balanced servers",
        "pgdyno load",
        "pooler: app/app",
        "balancer: behind/postgres",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
}

const COLLAPSE: &str = "
stack: { pooler: { kind: pgbouncer, mode: transaction, size: 40 }, postgres: {} }
operations: { one: { sql: SELECT pg_sleep(0.2) } }
load: { model: open, schedule: \"const(50, 22s)\", max_in_flight: 300 }
";

/// A pooler that stops for some seconds keeps the load from PostgreSQL.
#[test]
fn finds_collapse_of_active_sessions() {
    let workspace = Workspace::new("collapse", COLLAPSE);
    let mut running = workspace.spawn(&["--json"]);
    running.await_trial(1);
    thread::sleep(Duration::from_secs(10));
    let pooler = workspace.process("pgbouncer");
    kill_process(pooler, Signal::STOP).expect("the pooler runs");
    thread::sleep(Duration::from_secs(6));
    kill_process(pooler, Signal::CONT).expect("the pooler exists");
    let ended = running.wait();
    let document = ended.expect(0).document();
    let findings = document["findings"].as_array().expect("the value is an array");
    let found = findings.iter().map(|it| &it["circumstance"]).find(|it| it["kind"] == "active_collapse");
    let found = found.unwrap_or_else(|| panic!("{findings:#?}"));
    assert_eq!((&found["node"], &found["counted"]), (&"postgres".into(), &"sessions".into()), "{found}");
    assert!(found["in_flight_after"].as_f64() > found["in_flight_before"].as_f64(), "{found}");
    assert_eq!(found["cancelled"], 0, "{found}");
}
