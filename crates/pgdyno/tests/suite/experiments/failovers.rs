//! Durability across failovers of a real primary, and detection of losses
//!
//! One failover of each kind. `./x failover` runs many (`PGDYNO_FAILOVERS`), and kills pgdyno itself as often with kill
//! -9 (`PGDYNO_FAILOVER_KILLS`).

use super::workspace::{PGDYNO, RunOutput, Workspace, is_root};
use model::durability::{LedgerEnd, LedgerEntry, WriteAttempt, WriteOutcome};
use model::fact::Fact;
use rustix::process::{Signal, kill_process};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use store::ledger;

/// A primary with two replicas behind a balancer; each write adds one row.
const WRITES: &str = r"
stack:
  balancer: { kind: haproxy, maxconn: 100 }
  postgres: { max_connections: 60, settings: { shared_buffers: 32MB } }
  replicas: { count: 2, sync: any 1, timeout: 500ms }
dataset:
  tables:
    kept.writes: { rows: 10, columns: { token: { generator: { constant: none }, type: text } } }
operations:
  write:
    sql: |
      INSERT INTO kept.writes (token) VALUES (:token) RETURNING pgdyno_server() AS server \gset
    ledger: SELECT token FROM kept.writes
load: { model: open, schedule: 'const(200, 9s)', arrivals: poisson, max_in_flight: 10, query_mode: prepared, timeout: 5s }
";

fn survivals(ended: &RunOutput) -> Vec<Value> {
    ended.document()["failovers"].as_array().cloned().unwrap_or_default()
}

/// Number of acknowledged writes lost despite a promise, and number of writes lost in any way.
fn lost(survival: &Value) -> (u64, u64) {
    let found = survival["anomalies"].as_array().cloned().unwrap_or_default();
    let count = |kinds: &[&str]| -> u64 {
        let its =
            found.iter().filter(|finding| finding["kind"].as_str().is_some_and(|it| kinds.contains(&it)));
        its.filter_map(|it| it["count"].as_u64()).sum()
    };
    let broken = count(&["lost", "hole", "lost_ambiguous"]);
    (broken, broken + count(&["lost_without_promise", "lost_local"]))
}

#[test]
fn a_quorum_loses_no_writes_and_its_control_does() {
    let find = "faults: [ { at: 3s, kill: primary } ]\nfind: { failover: { times: 1, control: true } }\n";
    let workspace = Workspace::new("quorum", &format!("{WRITES}{find}"));
    let ended = workspace.run(&["--json"]);
    let [survival] = &survivals(&ended)[..] else { panic!("one cell is no control: {}", ended.out) };
    let survival_text = survival.to_string();
    assert_eq!(
        (&survival["conclusion"], &survival["failovers"]),
        (&"kept".into(), &1.into()),
        "{survival_text}"
    );
    assert_eq!(lost(survival), (0, 0), "{survival_text}");
    assert!(survival["counts"]["acknowledged"].as_u64() > Some(200), "{survival_text}");
    assert!(survival["control"]["lost"].as_u64() > Some(0), "{survival_text}");
    for word in ["promoted", "healthy", "rejoined"] {
        assert!(survival[word]["median_ns"].as_u64() > Some(0), "{word}: {survival_text}");
    }
    // New clients wait at least until the promotion, and connected clients also wait for HAProxy's retries.
    let outages = survival["outages"].as_array().cloned().unwrap_or_default();
    let kinds: Vec<(&str, &str)> = outages
        .iter()
        .map(|it| (it["access"].as_str().unwrap_or_default(), it["client"].as_str().unwrap_or_default()))
        .collect();
    let expected = [("write", "new"), ("write", "connected"), ("read", "new"), ("read", "connected")];
    assert_eq!(kinds, expected, "{survival_text}");
    for outage in &outages {
        assert!(outage["duration"]["median_ns"].as_u64() > Some(0), "{outage}: {survival_text}");
    }
    workspace.await_cleanup();
}

/// Only one replica receives the log. The other one is reachable again when it is promoted.
#[test]
fn promoting_a_lagging_replica_loses_writes() {
    if !is_root() {
        println!("skipped: cutting off wants root");
        return;
    }
    let text = WRITES.replace("timeout: 500ms", "timeout: 2s, promote: laggard");
    let faults = "faults: [ { at: 2s, isolate: postgres-3, duration: 3s }, { at: 4s, kill: primary } ]\n\
                  find: { failover: { times: 1, control: false } }\n";
    let workspace = Workspace::new("laggard", &format!("{text}{faults}"));
    let ended = workspace.run(&["--json"]);
    let [survival] = &survivals(&ended)[..] else { panic!("one cell: {}", ended.out) };
    let survival_text = survival.to_string();
    assert_eq!(survival["conclusion"], "broken", "{survival_text}");
    assert!(lost(survival).0 > 0, "{survival_text}");
    let kinds: Vec<&str> = survival["anomalies"]
        .as_array()
        .expect("the value is an array")
        .iter()
        .filter_map(|it| it["kind"].as_str())
        .collect();
    assert!(kinds.contains(&"wrong_promotion"), "{survival_text}");
    // The replica that received more was rebuilt, so the former primary follows after it.
    let facts = workspace.stored().facts().unwrap_or_else(|error| panic!("{error:?}"));
    let faults = facts.into_iter().find_map(|record| match record.fact {
        Fact::FaultInjection(faults) => Some(faults),
        _ => None,
    });
    let faults = faults.expect("faults were injected");
    let rejoined = faults.rejoins.iter().map(|rejoin| rejoin.node.as_str());
    assert_eq!(rejoined.collect::<Vec<_>>(), ["postgres-2", "postgres"], "{faults:?}");
    assert_eq!(faults.errors, [], "{faults:?}");
    workspace.await_cleanup();
}

/// The second fault waits for the old primary to follow the new one, which must not happen before the old primary is
/// reachable again. On a busy machine, the load may end before the second fault.
#[test]
fn an_isolated_primary_rejoins_after_its_isolation() {
    if !is_root() {
        println!("skipped: isolating wants root");
        return;
    }
    let faults = "faults: [ { at: 1s, isolate: primary, duration: 4s }, { after: rejoined, kill: replica } ]\n\
                  find: { failover: { times: 1, control: false } }\n";
    let workspace = Workspace::new("isolated", &format!("{WRITES}{faults}"));
    let ended = workspace.run(&["--json"]);
    let facts = workspace.stored().facts().unwrap_or_else(|error| panic!("{error:?}"));
    let faults = facts.into_iter().find_map(|record| match record.fact {
        Fact::FaultInjection(faults) => Some(faults),
        _ => None,
    });
    let faults = faults.unwrap_or_else(|| panic!("no fault was injected: {}", ended.err));
    let reverted = faults.injected[0].reverted;
    let rejoined = faults.rejoins.iter().find(|rejoin| rejoin.node == "postgres").map(|rejoin| rejoin.at);
    assert!(reverted.is_some() && rejoined > reverted, "{faults:?}");
    workspace.await_cleanup();
}

#[test]
fn an_interrupt_ends_the_command_that_reverts_a_fault() {
    let faults = "faults: [ { at: 100ms, run: [\"true\"], undo: [sleep, \"1001\"], within: 1s } ]\n";
    let text = WRITES.replace("const(200, 9s)", "const(200, 1s)");
    let workspace = Workspace::new("undone", &format!("{text}{faults}"));
    let running = workspace.spawn(&["--json"]);
    workspace.await_process("sleep 1001");
    running.signal(Signal::INT);
    let ended = running.wait();
    assert!(ended.err.contains("interrupted"), "{}", ended.err);
    workspace.await_cleanup();
}

/// Clients have the addresses of all servers, and write to the primary of each timeline. The test kills the primary when
/// pgdyno prints that it is time.
#[test]
fn clients_find_the_new_primary_without_a_balancer() {
    let text = WRITES.replace("  balancer: { kind: haproxy, maxconn: 100 }\n", "");
    let find = "faults: [ { at: 3s, external: true } ]\nfind: { failover: { times: 1, control: false } }\n";
    let workspace = Workspace::new("direct", &format!("{text}{find}"));
    let mut running = workspace.spawn(&["--json"]);
    running.await_line("now: cause the failover");
    workspace.kill("home/postgres");
    let ended = running.wait();
    let [survival] = &survivals(&ended)[..] else { panic!("one cell: {}", ended.out) };
    let survival_text = survival.to_string();
    assert_eq!(lost(survival), (0, 0), "{survival_text}");
    // A busy host can delay the answers of a primary so long that it is replaced before the kill.
    assert!(survival["failovers"].as_u64() >= Some(1), "{survival_text}");
    assert_eq!(survival["counts"]["misrouted"], 0, "{survival_text}");
    let [ledger] = &ledgers(&workspace.folder.join("runs"))[..] else { panic!("one ledger") };
    let (mut servers, mut timelines) = (BTreeMap::new(), BTreeSet::new());
    for entry in ledger::open(ledger).unwrap_or_else(|error| panic!("{error:?}")) {
        match entry {
            LedgerEntry::Server(id, server) => drop(servers.insert(id, server.timeline)),
            LedgerEntry::Completed(WriteAttempt {
                outcome: WriteOutcome::Acknowledged,
                server: Some(server),
                ..
            }) => drop(timelines.insert(servers[&server])),
            _ => {}
        }
    }
    assert!(timelines.contains(&1) && timelines.len() > 1, "{timelines:?}: {survival_text}");
    workspace.await_cleanup();
}

/// Transfers between the accounts of a bank, and lists to which tokens are appended.
const BANK: &str = r"
dataset:
  tables:
    kept.accounts:
      rows: 10
      columns: { id: { generator: serial }, balance: { generator: { constant: '100' }, type: integer } }
    kept.writes: { rows: 10, columns: { token: { generator: { constant: none }, type: text } } }
    kept.lists: { rows: 4, columns: { id: { generator: serial }, log: { generator: { constant: '' }, type: text } } }
operations:
  transfer:
    sql: |
      \set from random(1, 10)
      \set to random(1, 10)
      BEGIN;
      UPDATE kept.accounts SET balance = balance - 1 WHERE id = least(:from, :to);
      UPDATE kept.accounts SET balance = balance + 1 WHERE id = greatest(:from, :to);
      INSERT INTO kept.writes (token) VALUES (:token);
      COMMIT;
    ledger: SELECT token FROM kept.writes
  append:
    sql: |
      \set id random(1, 4)
      UPDATE kept.lists SET log = log || ',' || :token WHERE id = :id
    ledger: { list: SELECT log FROM kept.lists }
invariants: [ 'SELECT sum(balance) FROM kept.accounts' ]
";

#[test]
fn transfers_keep_their_sum_and_lists_their_order_across_a_failover() {
    let system = WRITES.split("dataset:").next().expect("the text has a first part");
    let rest = "
load: { model: closed, clients: 4, duration: 8s, timeout: 5s }
faults: [ { at: 2s, kill: primary } ]
find: { failover: { times: 1, control: true } }
";
    let workspace = Workspace::new("bank", &format!("{system}{BANK}{rest}"));
    let ended = workspace.run(&["--json"]);
    let [survival] = &survivals(&ended)[..] else { panic!("one cell is no control: {}", ended.err) };
    let survival_text = survival.to_string();
    assert_eq!(survival["conclusion"], "kept", "{survival_text}");
    let invariant = &survival["invariants"][0];
    assert_eq!(
        (&invariant["expected"], &invariant["violations"]),
        (&"1000".into(), &0.into()),
        "{invariant}"
    );
    // Three servers are read five times a second, and after the load.
    assert!(invariant["readings"].as_u64() > Some(30), "{invariant}");
    workspace.await_cleanup();
}

/// Transfers in two transactions, and tokens that are put before the others.
#[test]
fn torn_transfers_and_reordered_lists_are_found() {
    let bank =
        BANK.replace("BEGIN;", "").replace("COMMIT;", "").replace("log || ',' || :token", ":token || log");
    let text =
        format!("stack: {{ postgres: {{}} }}\n{bank}load: {{ model: closed, clients: 4, duration: 3s }}\n");
    let workspace = Workspace::new("torn", &text);
    let ended = workspace.run(&["--json"]);
    let [survival] = &survivals(&ended)[..] else { panic!("one cell: {}", ended.err) };
    let survival_text = survival.to_string();
    assert_eq!(
        (&survival["conclusion"], ended.status.code()),
        (&"broken".into(), Some(99)),
        "{survival_text}"
    );
    let anomalies = survival["anomalies"].as_array().cloned().unwrap_or_default();
    let kinds: Vec<&str> = anomalies.iter().filter_map(|it| it["kind"].as_str()).collect();
    assert_eq!(kinds, ["broken_invariant", "reordered"], "{survival_text}");
    let first = &survival["invariants"][0]["first"];
    assert_eq!(first["node"], "postgres", "{survival_text}");
    assert_ne!(first["result"], "1000", "{survival_text}");
}

/// The leader key's TTL is twenty seconds.
#[test]
fn fails_over_with_patroni() {
    if !["patroni", "etcd"].iter().all(|it| Path::new("/usr/bin").join(it).exists()) {
        println!("skipped: there is no Patroni with etcd");
        return;
    }
    if std::env::var_os("PGDYNO_FAILOVERS").is_none() {
        println!(
            "skipped: more than a minute; ./x failover runs it, and the tests of the stack fail over with Patroni"
        );
        return;
    }
    let text =
        WRITES.replace("sync: any 1, timeout: 500ms", "sync: first 1, manager: patroni").replace("9s", "30s");
    let faults = "faults: [ { at: 2s, kill: primary } ]\nfind: { failover: { times: 1, control: false } }\n";
    let workspace = Workspace::new("patroni", &format!("{text}{faults}"));
    let ended = workspace.run(&["--json"]);
    let [survival] = &survivals(&ended)[..] else { panic!("one cell: {}", ended.out) };
    let survival_text = survival.to_string();
    assert_eq!((lost(survival), &survival["failovers"]), ((0, 0), &1.into()), "{survival_text}");
    assert_eq!(survival["doubts"], serde_json::json!(["no_control"]), "{survival_text}");
    workspace.await_cleanup();
}

/// Runs the repository's experiment as often as requested.
#[test]
fn repeated_failovers_lose_no_writes() {
    let Ok(times) = std::env::var("PGDYNO_FAILOVERS") else {
        println!("skipped: half an hour; ./x failover asks for it");
        return;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/pgdyno");
    let workspace = Workspace::new("many", "");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("failovers");
    fs::create_dir_all(&folder).expect("cargo's folder is ours");
    let set = format!("find.failover.times={times}");
    let file = root.join("experiments/002-replication/failover.yaml");
    let out = folder.to_str().expect("the path is UTF-8");
    let ended = RunOutput::run(&mut workspace.command_on(&file, &["--json", "--set", &set, "--out", out]));
    let times: u64 = times.parse().expect("a number");
    for survival in &survivals(&ended) {
        let (broken, all) = lost(survival);
        println!(
            "cell {}: {} failovers, {} acknowledged, {broken} lost, {all} by any kind of loss; control: {}",
            survival["cell"], survival["failovers"], survival["counts"]["acknowledged"], survival["control"]
        );
        assert_eq!(broken, 0, "{survival}");
        let control = &survival["control"];
        if let Some(lossy) = control["lossy_trials"].as_u64() {
            assert!(lossy * 20 >= times * 19, "a control that loses nothing: {control}");
        }
    }
    workspace.await_cleanup();
}

/// Kills pgdyno at times spread over setup, load, failover and read-back.
#[test]
fn sigkill_during_a_failover_leaves_only_a_ledger() {
    let rounds = std::env::var("PGDYNO_FAILOVER_KILLS").map_or(2, |it| it.parse().expect("a number"));
    let find = "faults: [ { at: 1s, kill: primary } ]\nfind: { failover: { times: 1, control: false } }\n";
    let text = WRITES.replace("9s", "4s");
    let mut closed = 0;
    for round in 0..rounds {
        let workspace = Workspace::new("killed", &format!("{text}{find}"));
        let running = workspace.spawn(&[]);
        let begun = Instant::now();
        // Before the ledger exists, nothing was written that it could record.
        while ledgers(&workspace.folder.join("runs")).is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(60), "no ledger was begun");
            std::thread::sleep(Duration::from_millis(20));
        }
        // Fixed delays cover every part of a failover, which takes about six seconds.
        std::thread::sleep(Duration::from_millis(200 + 6000 * round / rounds.max(2)));
        kill_process(running.pid(), Signal::KILL).expect("the process is running");
        assert!(!running.wait().status.success());
        workspace.await_cleanup();
        for path in ledgers(&workspace.folder.join("runs")) {
            let mut entries = ledger::open(&path).unwrap_or_else(|error| panic!("round {round}: {error:?}"));
            let count = entries.by_ref().count();
            let end = entries.end().expect("all were read");
            assert!(!matches!(end, LedgerEnd::Torn { .. }) || count > 0, "round {round}: {end:?}");
            closed += u64::from(end == LedgerEnd::Closed);
            // Nothing was read back, so the ledger proves nothing about losses.
            let judged =
                RunOutput::run(Command::new(PGDYNO).arg("judge").arg(&path).env("LC_ALL", "C.UTF-8"));
            assert_eq!(judged.status.code(), Some(4), "round {round}: {}{}", judged.out, judged.err);
            let text = judged.out.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains("it is unknown how many were lost"), "round {round}: {text}");
        }
    }
    println!("{rounds} kills: every ledger could be read, {closed} were closed before");
}

fn ledgers(folder: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
    all.filter(|path| path.extension().is_some_and(|it| it == "ledger")).collect()
}
