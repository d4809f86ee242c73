//! Every transport and pooler mode is started, measured and stored

use super::workspace::{Workspace, counts, figure, row, trials};
use serde_json::Value;
use store::RunStatus;

const TRANSPORTS: &str = "
stack: { postgres: { max_connections: 40 } }
dataset: { name: tickets, rows: 1000 }
operations:
  read:
    sql: |
      \\set id random(1, :rows)
      SELECT * FROM book.tickets WHERE id = :id;
load: { model: closed, clients: 2, duration: 1s }
matrix:
  way:
    unix: { postgres.transport: unix }
    tcp: {}
    tls: { postgres.transport: tls }
    session: { pooler: { kind: pgbouncer, mode: session, size: 5 } }
    transaction: { pooler: { kind: pgbouncer, mode: transaction, size: 5, transport: unix } }
    statement: { pooler: { kind: pgbouncer, mode: statement, size: 5, transport: tls } }
    haproxy: { balancer: { kind: haproxy, maxconn: 9, transport: tls }, postgres.transport: tls }
    odyssey: { pooler: { kind: odyssey, mode: transaction, size: 5 }, postgres.transport: unix }
    all: { balancer: { kind: haproxy }, pooler: { kind: pgbouncer, size: 5 } }
baseline: { way: tcp }
";

/// Nodes of each path, the first endpoint first.
const HOPS: [(&str, &str); 9] = [
    ("unix", "postgres by unix"),
    ("tcp", "postgres by tcp"),
    ("tls", "postgres by tls"),
    ("session", "pgbouncer by tcp, postgres by tcp"),
    ("transaction", "pgbouncer by unix, postgres by tcp"),
    ("statement", "pgbouncer by tls, postgres by tcp"),
    ("haproxy", "haproxy by tls, postgres by tls"),
    ("odyssey", "odyssey by tcp, postgres by unix"),
    ("all", "haproxy by tcp, pgbouncer by tcp, postgres by tcp"),
];

#[test]
fn measures_every_transport_and_stores_its_hops() {
    let workspace = Workspace::new("ways", TRANSPORTS);
    let ended = workspace.run(&["--json"]);
    let document = ended.expect(0).document();
    let run = workspace.stored();
    for (id, (trial, status, reason)) in (1..).zip(trials(&run)) {
        let way = trial.label[0].1.as_str();
        if status == RunStatus::Skipped && way == "odyssey" {
            println!("skipped: {reason}");
            assert!(ended.err.contains("odyssey: skipped: no Odyssey"), "{}", ended.err);
            assert_eq!(figure(row(&document, way), "tps"), None);
            continue;
        }
        assert_eq!((status, reason.as_str()), (RunStatus::Complete, ""), "{way}");
        // A busy machine may make the trial invalid, so that the document has no figures of it.
        let outcomes = counts(&run, id);
        assert!(outcomes.ok > 0 && outcomes.failed + outcomes.unknown == 0, "{way}: {outcomes:?}");
        let hops: Vec<String> =
            trial.nodes.iter().map(|it| format!("{} by {}", it.kind, it.transport)).collect();
        let expected = HOPS.iter().find(|it| it.0 == way).expect("every way has its row").1;
        assert_eq!(hops.join(", "), expected, "{way}");
        for node in &trial.nodes {
            assert!(!node.version.is_empty() && node.program.is_some(), "{way}: {node:?}");
            assert!(!node.configuration.is_empty(), "{way}: {node:?}");
        }
    }
}

#[test]
fn skips_unavailable_cells_and_measures_the_rest() {
    let yaml = "
stack: { postgres: {} }
operations: { one: { sql: SELECT 1 } }
load: { model: closed, clients: 1, duration: 100ms }
matrix: { way: { direct: {}, odyssey: { pooler: { kind: odyssey } } } }
";
    let workspace = Workspace::new("skipped", yaml);
    let ended = workspace
        .spawn_command(workspace.command(&["--json"]).env("PGDYNO_ODYSSEY", "/nowhere/odyssey"))
        .wait();
    let document = ended.expect(0).document();
    assert!(ended.err.contains("odyssey: skipped: no Odyssey was found on this machine"), "{}", ended.err);
    assert_eq!(row(&document, "odyssey")["trials"][0]["status"]["kind"], "skipped");
    assert_eq!(row(&document, "direct")["trials"][0]["status"]["kind"], "done");
    let run = workspace.stored();
    let direct = trials(&run).iter().position(|it| it.0.label[0].1 == "direct").expect("the trial is stored");
    assert!(counts(&run, direct as u32 + 1).ok > 0, "{document:#}");
}

#[test]
fn exhausted_connection_slots_are_data() {
    let yaml = "
stack: { postgres: { max_connections: 14 } }
operations: { one: { sql: SELECT 1 } }
load: { model: closed, clients: 30, duration: 1s }
matrix: { way: { direct: {}, pooler: { pooler: { kind: pgbouncer, mode: transaction, size: 4 } } } }
";
    let workspace = Workspace::new("slots", yaml);
    let document = workspace.run(&["--json"]).expect(0).document();
    let (direct, pooler) = (row(&document, "direct"), row(&document, "pooler"));
    assert!(figure(direct, "refused").is_some_and(|it| it >= 20.0), "{direct:#}");
    // Three slots are reserved for superusers, and the monitor takes one. More slots than in the pool are left, because
    // sessions of the set-up may end late on a busy machine.
    assert!(figure(direct, "served").is_some_and(|it| it <= 11.0), "{direct:#}");
    assert_eq!((figure(pooler, "refused"), figure(pooler, "served")), (Some(0.0), Some(30.0)), "{pooler:#}");
    assert_eq!(direct["trials"][0]["status"]["kind"], "done");
}

/// The server's log names the path of the sessions that caused errors.
#[test]
fn errors_in_the_log_have_an_origin() {
    let yaml = "
stack: { postgres: {} }
matrix:
  way:
    direct: {}
    pgbouncer: { pooler: { kind: pgbouncer, mode: transaction, size: 4 } }
    odyssey: { pooler: { kind: odyssey, mode: transaction, size: 4 }, postgres.transport: unix }
    haproxy: { balancer: { kind: haproxy } }
operations:
  good: { sql: SELECT 1 }
  bad:
    preflight: false
    sql: |
      \\set divisor random(0, 1)
      SELECT 1 / :divisor
load: { model: closed, clients: 2, duration: 2s }
";
    let ended = Workspace::new("origins", yaml).run(&["--json"]);
    let document = ended.expect(0).document();
    let origins = |cell: u64| -> Vec<Value> {
        let findings = document["findings"].as_array().expect("the value is an array").iter();
        let of_cell =
            findings.filter(|it| it["cell"] == cell && it["circumstance"]["kind"] == "error_origins");
        of_cell
            .flat_map(|it| it["circumstance"]["errors"].as_array().expect("the value is an array").clone())
            .collect()
    };
    let ways =
        [("direct", "direct"), ("pgbouncer", "pooler"), ("odyssey", "pooler"), ("haproxy", "balancer")];
    for (cell, (way, expected)) in ways.into_iter().enumerate() {
        if row(&document, way)["trials"][0]["status"]["kind"] == "skipped" {
            println!("skipped: there is no {way}");
            continue;
        }
        let all = origins(cell as u64);
        let errors: Vec<&Value> = all.iter().filter(|it| it["kind"] == "error").collect();
        let [one] = errors[..] else { panic!("{way}: {all:?}") };
        let origin = one["origin"]["node"].as_str().or(one["origin"]["kind"].as_str());
        assert_eq!(origin, Some(expected), "{way}: {all:?}");
        assert!(one["lines"].as_u64().is_some_and(|it| it > 0), "{one}");
    }
}
