//! Verdicts on faulty and healthy systems, compared with a writer and a reader that share no code with pgdyno
//!
//! While pgdyno measures, sessions of psql write rows through the same balancer, each over connections of its own. After the load,
//! psql reads all rows of the newest primary. Three results must agree: the rows that pgdyno calls lost are those of its ledger
//! that psql does not find; none of psql's own acknowledged rows are missing where every write was promised to survive; and
//! the verdict is the one that the variant states. `./x failover adversarial` runs all variants.

use super::workspace::{RunningProcess, Workspace, retry_until};
use model::durability::{LedgerEntry, WriteKey, WriteOutcome};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use store::ledger;

/// System with a fault, and the verdict on it.
struct Variant {
    name: &'static str,
    /// Keys of `replicas` other than `timeout`.
    replicas: &'static str,
    /// Settings of the servers.
    settings: &'static str,
    faults: &'static str,
    /// Additional SQL of the dataset.
    sql: &'static str,
    expected: Expected,
}

/// Verdict without the positive control, which the variants do not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// Nothing is lost, and nothing but the control is missing.
    Kept,
    /// No promise is broken. Writes may be lost.
    MayLose,
    /// There are anomalies of this kind.
    Broken(&'static str),
    /// The evidence is incomplete for this reason.
    NotProven(&'static str),
}

const KILL: &str = "{ at: 3s, kill: primary }";
const PAUSE: &str = "{ at: 3s, pause: primary, duration: 3s }";
const ISOLATE: &str = "{ at: 3s, isolate: primary, duration: 3s }";
const SWITCH: &str = "{ at: 3s, switchover: any }";
const ONE: &str = "count: 2, sync: any 1";
const FIRST: &str = "count: 2, sync: first 1";
const ASYNC: &str = "count: 2, sync: async";

const fn variant(
    name: &'static str,
    replicas: &'static str,
    faults: &'static str,
    expected: Expected,
) -> Variant {
    Variant { name, replicas, settings: "", faults, sql: "", expected }
}

const VARIANTS: [Variant; 44] = {
    use Expected::{Broken, Kept, MayLose, NotProven};
    [
        variant("kill-any", ONE, KILL, Kept),
        variant("kill-first", FIRST, KILL, Kept),
        variant("kill-async", ASYNC, KILL, MayLose),
        variant("pause-any", ONE, PAUSE, Kept),
        variant("pause-first", FIRST, PAUSE, Kept),
        variant("pause-async", ASYNC, PAUSE, MayLose),
        variant("isolate-any", ONE, ISOLATE, Kept),
        variant("isolate-first", FIRST, ISOLATE, Kept),
        variant("isolate-async", ASYNC, ISOLATE, MayLose),
        variant("switch-any", ONE, SWITCH, Kept),
        variant("switch-first", FIRST, SWITCH, Kept),
        variant("switch-async", ASYNC, SWITCH, Kept),
        variant("postmaster-any", ONE, "{ at: 3s, kill: primary, part: postmaster }", Kept),
        variant("replica-killed", ONE, "{ at: 3s, kill: replica }", Kept),
        variant("replica-paused", ONE, "{ at: 3s, pause: replica, duration: 2s }", Kept),
        variant("replica-isolated", ONE, "{ at: 3s, isolate: postgres-2, duration: 2s }", Kept),
        variant(
            "replicas-paused-in-turn",
            ONE,
            "{ at: 2s, pause: postgres-2, duration: 2s }, { at: 5s, pause: postgres-3, duration: 2s }",
            Kept,
        ),
        variant("balancer-restarted", ONE, "{ at: 3s, restart: balancer }", Kept),
        variant("disk-full", ONE, "{ at: 3s, fill_disk: primary, duration: 2s }", Kept),
        variant("disk-frozen", ONE, "{ at: 3s, freeze_disk: primary, duration: 2s }", Kept),
        variant("replica-disk-frozen", ONE, "{ at: 3s, freeze_disk: replica, duration: 2s }", Kept),
        variant(
            "frozen-and-killed",
            ONE,
            "{ at: 2s, freeze_disk: primary, duration: 3s }, { at: 3s, kill: primary }",
            Kept,
        ),
        variant(
            "clock-back-and-killed",
            ONE,
            "{ at: 2s, shift_clock: primary, by: -2m, duration: 6s }, { at: 4s, kill: primary }",
            Kept,
        ),
        variant(
            "clock-forward-and-killed",
            ONE,
            "{ at: 2s, shift_clock: primary, by: +2m, duration: 6s }, { at: 4s, kill: primary }",
            Kept,
        ),
        variant("replica-clock", ONE, "{ at: 3s, shift_clock: replica, by: -1h, duration: 2s }", Kept),
        variant("one-link", ONE, "{ at: 3s, isolate: postgres-2, from: primary, duration: 2s }", Kept),
        variant(
            "restarted-while-isolated",
            ONE,
            "{ at: 2s, isolate: postgres-2, duration: 4s }, { at: 3s, restart: postgres-2 }",
            Kept,
        ),
        variant("separated-any", ONE, "{ at: 3s, isolate: primary, from: servers, duration: 3s }", Kept),
        variant(
            "two-kills",
            ONE,
            "{ at: 2s, kill: primary }, { after: rejoined, at: 1s, kill: primary }",
            Kept,
        ),
        variant(
            "kill-after-switch",
            ONE,
            "{ at: 2s, switchover: any }, { after: rejoined, at: 1s, kill: primary }",
            Kept,
        ),
        variant(
            "blocked-any",
            ONE,
            "{ at: 2500ms, block_replication: primary, duration: 1s }, { at: 3s, kill: primary }",
            Kept,
        ),
        variant(
            "blocked-async",
            ASYNC,
            "{ at: 2500ms, block_replication: primary }, { at: 3s, kill: primary }",
            MayLose,
        ),
        // The promoted server has no replica that could confirm a write until the killed one rejoins after the load.
        variant("one-replica", "count: 1, sync: any 1", KILL, NotProven("no_writes_after_fault")),
        variant(
            "laggard",
            "count: 2, sync: any 1, promote: laggard",
            "{ at: 2s, isolate: postgres-3, duration: 2s }, { at: 4s, kill: primary }",
            Broken("wrong_promotion"),
        ),
        variant(
            "split-brain",
            "count: 1, sync: async, fence: false, shutdown_sessions: false",
            PAUSE,
            Broken("split_brain"),
        ),
        variant(
            "split-brain-isolated",
            "count: 1, sync: async, fence: false, shutdown_sessions: false",
            "{ at: 3s, isolate: primary, duration: 2s }",
            Broken("split_brain"),
        ),
        variant("unfenced-quorum", "count: 2, sync: any 1, fence: false", PAUSE, Kept),
        Variant { settings: "synchronous_commit: local", ..variant("local", ONE, KILL, MayLose) },
        Variant { settings: "synchronous_commit: 'off'", ..variant("off", ONE, KILL, MayLose) },
        Variant { settings: "synchronous_commit: remote_write", ..variant("remote-write", ONE, KILL, Kept) },
        Variant { settings: "synchronous_commit: remote_apply", ..variant("remote-apply", ONE, KILL, Kept) },
        // pg_rewind refuses to work without this setting, so the killed servers are copied again.
        Variant {
            settings: "wal_log_hints: 'off'",
            ..variant(
                "rewind-fails",
                ONE,
                "{ at: 2s, kill: primary }, { after: rejoined, at: 1s, kill: primary }",
                Kept,
            )
        },
        Variant { settings: "fsync: 'off'", ..variant("fsync-off", ONE, KILL, NotProven("fsync_off")) },
        Variant {
            sql: "CREATE FUNCTION kept.forget() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
                  IF random() < 0.2 THEN DELETE FROM kept.writes WHERE token = NEW.token; END IF; \
                  RETURN NULL; END $$;\n\
                  CREATE TRIGGER forget AFTER INSERT ON kept.writes FOR EACH ROW EXECUTE FUNCTION kept.forget();",
            ..variant("forgetful", ASYNC, "{ at: 3s, kill: replica }", Broken("lost"))
        },
    ]
};

const DUMP: &str = "
CREATE ROLE observer LOGIN PASSWORD 'observer';
CREATE SCHEMA kept;
CREATE TABLE kept.writes (token text);
CREATE TABLE kept.others (key text);
GRANT USAGE ON SCHEMA kept TO observer;
GRANT SELECT ON ALL TABLES IN SCHEMA kept TO observer;
GRANT INSERT ON kept.others TO observer;
";

/// Command that runs after the trial: it keeps the servers until psql has read them.
const WAIT: &str = "#!/bin/sh\ntouch ended\nwhile [ ! -e read ]; do sleep 0.05; done\n";

/// Independent sessions that write.
const SESSIONS: usize = 2;

impl Variant {
    fn experiment(&self) -> String {
        let Variant { name, replicas, settings, faults, .. } = self;
        let comma = if settings.is_empty() { "" } else { ", " };
        format!(
            r"name: {name}
stack:
  balancer: {{ kind: haproxy, maxconn: 100 }}
  postgres: {{ max_connections: 60, settings: {{ shared_buffers: 32MB{comma}{settings} }} }}
  replicas: {{ {replicas}, timeout: 500ms }}
dataset: {{ restore: kept.sql }}
operations:
  write:
    sql: |
      INSERT INTO kept.writes (token) VALUES (:token) RETURNING pgdyno_server() AS server \gset
    ledger: SELECT token FROM kept.writes
load: {{ model: closed, clients: 4, think: 5ms, duration: 10s, timeout: 5s, connect_timeout: 2s }}
faults: [ {faults} ]
find: {{ failover: {{ times: 1, control: false }} }}
hooks: {{ after_trial: [./wait.sh] }}
"
        )
    }

    /// Runs the variant. Returns the differences between pgdyno and psql, and a line with both.
    fn run(&self) -> (Vec<String>, String) {
        let workspace = Workspace::new(self.name, &self.experiment());
        let file = |name: &str| workspace.folder.join(name);
        fs::write(file("kept.sql"), format!("{DUMP}{}\n", self.sql)).expect("the folder can be written to");
        fs::write(file("wait.sh"), WAIT).expect("the folder can be written to");
        fs::set_permissions(file("wait.sh"), fs::Permissions::from_mode(0o755)).expect("it exists");
        let mut running = workspace.spawn(&["--json"]);
        running.await_trial(1);
        let entrance = balancer_address(&workspace);
        let stop = AtomicBool::new(false);
        let acknowledged: BTreeSet<String> = thread::scope(|scope| {
            let write = |session| {
                let (entrance, stop) = (&entrance, &stop);
                scope.spawn(move || write(entrance, session, stop))
            };
            let writers: Vec<_> = (0..SESSIONS).map(write).collect();
            await_file(&file("ended"), &mut running);
            stop.store(true, Ordering::Relaxed);
            writers.into_iter().flat_map(|it| it.join().expect("a writer does not panic")).collect()
        });
        let primary = newest_primary(&workspace);
        let rows = |table: &str| -> BTreeSet<String> {
            primary.query(&format!("SELECT * FROM kept.{table}")).lines().map(str::to_owned).collect()
        };
        let (tokens, others) = (rows("writes"), rows("others"));
        let ledger = fs::read_dir(workspace.folder.join("runs")).expect("the run has a folder").flatten();
        let ledger =
            ledger.map(|it| it.path()).find(|path| path.extension().is_some_and(|it| it == "ledger"));
        let recorded = ledger_outcomes(&ledger.expect("the trial has a ledger"));
        fs::write(file("read"), "").expect("the folder can be written to");
        let ended = running.wait();
        let document = ended.document();
        let survival = &document["failovers"][0];
        let absent: u64 =
            recorded.iter().filter(|key| !tokens.iter().any(|it| it.starts_with(*key))).count() as u64;
        let lost_others = acknowledged.difference(&others).count();
        let line = format!(
            "{}: {}; {} of {} lost, psql: {absent}; psql's own: {lost_others} of {} lost",
            self.name,
            survival["conclusion"],
            lost(survival),
            recorded.len(),
            acknowledged.len(),
        );
        (self.differences(survival, absent, (lost_others, acknowledged.len())), line)
    }

    fn differences(
        &self,
        survival: &Value,
        absent: u64,
        (lost_others, others): (usize, usize),
    ) -> Vec<String> {
        let mut found = Vec::new();
        let mut check = |is_right: bool, text: &str| {
            if !is_right {
                found.push(format!("{}: {text}: {survival}", self.name));
            }
        };
        let doubts: Vec<String> = survival["doubts"].as_array().into_iter().flatten().map(reason).collect();
        let doubts: Vec<&str> = doubts.iter().map(String::as_str).filter(|it| *it != "no_control").collect();
        let is_broken = survival["conclusion"] == "broken";
        check(lost(survival) == absent, &format!("psql does not find {absent} acknowledged writes"));
        check(others > 50, &format!("psql wrote only {others} rows"));
        match self.expected {
            Expected::Kept => {
                check(!is_broken && doubts.is_empty(), "expected: kept");
                check(absent == 0, "expected: nothing lost");
                check(lost_others == 0, &format!("{lost_others} of psql's own rows are lost"));
            }
            Expected::MayLose => check(!is_broken && doubts.is_empty(), "expected: no broken promise"),
            Expected::Broken(kind) => {
                let found = survival["anomalies"].as_array().into_iter().flatten();
                let has_kind = found.map(|it| &it["kind"]).any(|it| it == kind);
                check(is_broken && has_kind, &format!("expected: broken, {kind}"));
            }
            Expected::NotProven(reason) => check(!is_broken && doubts == [reason], "expected: not proven"),
        }
        found
    }
}

/// Name of a reason for doubt, which may have details.
fn reason(doubt: &Value) -> String {
    let key = || doubt.as_object().and_then(|it| it.keys().next().cloned());
    doubt.as_str().map(str::to_owned).or_else(key).unwrap_or_default()
}

/// Number of writes that pgdyno calls lost, for whatever reason, including those that were acknowledged with a warning.
fn lost(survival: &Value) -> u64 {
    let kinds = ["lost", "lost_ambiguous", "lost_without_promise", "lost_local"];
    let found = survival["anomalies"].as_array().into_iter().flatten();
    let found = found.filter(|it| it["kind"].as_str().is_some_and(|kind| kinds.contains(&kind)));
    found.filter_map(|it| it["count"].as_u64()).sum()
}

/// Beginnings of the tokens of all acknowledged writes.
fn ledger_outcomes(path: &Path) -> BTreeSet<String> {
    let mut acknowledged = BTreeSet::new();
    for entry in ledger::open(path).unwrap_or_else(|error| panic!("{error:?}")) {
        if let LedgerEntry::Completed(attempt) = entry
            && matches!(attempt.outcome, WriteOutcome::Acknowledged | WriteOutcome::AcknowledgedLocally)
        {
            let WriteKey { session, sequence } = attempt.key;
            acknowledged.insert(format!("{session:08x}.{sequence:016x}."));
        }
    }
    acknowledged
}

/// Address for psql of a server or of the balancer.
#[derive(Clone, Debug)]
struct Address(String);

impl Address {
    /// psql, which ends after half a minute at the latest, because a server may not respond any more.
    fn psql(&self) -> Command {
        let mut psql = Command::new("timeout");
        psql.args(["30", "psql", "-X", "-A", "-t", "-w", &self.0]);
        psql.env("PGPASSWORD", "observer").env("PGCONNECT_TIMEOUT", "2").stderr(Stdio::null());
        psql
    }

    /// Output of a query; empty if it fails.
    fn query(&self, sql: &str) -> String {
        let output = self.psql().args(["-q", "-c", sql]).stdin(Stdio::null()).output();
        String::from_utf8_lossy(&output.expect("psql is installed").stdout).into_owned()
    }
}

/// Address of HAProxy, from its configuration.
fn balancer_address(workspace: &Workspace) -> Address {
    let runs = fs::read_dir(workspace.folder.join("tmp")).expect("the run has a directory").flatten();
    let text = runs.filter_map(|it| fs::read_to_string(it.path().join("balancer.cfg")).ok()).next();
    let text = text.expect("HAProxy has a configuration");
    let bind = text.lines().find_map(|it| it.trim().strip_prefix("bind ")).expect("HAProxy has an address");
    let (host, port) = bind.rsplit_once(':').expect("host and port");
    Address(format!("host={host} port={port} dbname=app user=observer"))
}

/// Server that accepts writes on the newest timeline.
fn newest_primary(workspace: &Workspace) -> Address {
    let mut servers = Vec::new();
    for run in fs::read_dir(workspace.folder.join("tmp")).expect("the run has a directory").flatten() {
        // The data directories may be on disks that only the servers see.
        let home = run.path().join("home");
        for socket in fs::read_dir(&home).into_iter().flatten().flatten() {
            let name = socket.file_name();
            if let Some(port) = name.to_str().and_then(|it| it.strip_prefix(".s.PGSQL.")) {
                servers
                    .push(Address(format!("host={} port={port} dbname=app user=observer", home.display())));
            }
        }
    }
    let timeline = |server: &Address| -> Option<u32> {
        let sql = "SELECT ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int";
        server.query(sql).trim().parse().ok()
    };
    let newest = servers.iter().filter_map(|it| Some((timeline(it)?, it))).max_by_key(|it| it.0);
    newest.unwrap_or_else(|| panic!("no primary among {servers:?}")).1.clone()
}

/// Writes rows through the balancer until `stop` is set. Returns the keys whose INSERT was answered.
fn write(entrance: &Address, session: usize, stop: &AtomicBool) -> Vec<String> {
    let (mut acknowledged, mut number) = (Vec::new(), 0);
    while !stop.load(Ordering::Relaxed) {
        let psql = entrance.psql().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut psql = psql.expect("psql is installed");
        let mut input = psql.stdin.take().expect("it is a pipe");
        let mut answers = BufReader::new(psql.stdout.take().expect("it is a pipe")).lines();
        while !stop.load(Ordering::Relaxed) {
            let key = format!("{session}-{number}");
            number += 1;
            let sent = writeln!(input, "INSERT INTO kept.others VALUES ('{key}');\n\\echo done");
            if sent.is_err() {
                break;
            }
            let answer: Vec<String> =
                answers.by_ref().map_while(Result::ok).take_while(|it| it != "done").collect();
            match answer.first().map(String::as_str) {
                Some("INSERT 0 1") => acknowledged.push(key),
                // psql prints errors on standard error, and ends if it has lost its server.
                _ => break,
            }
            thread::sleep(Duration::from_millis(5));
        }
        drop(input);
        psql.wait().expect("psql can be waited for");
    }
    acknowledged
}

/// Waits until a file exists.
fn await_file(path: &Path, running: &mut RunningProcess<'_>) {
    retry_until("the trial ends", || {
        assert!(!running.has_exited(), "the run has ended");
        path.exists().then_some(()).ok_or_else(String::new)
    });
}

/// Runs the variants whose names `selected` accepts, and prints a line for each.
fn run_all(selected: impl Fn(&str) -> bool) {
    let variants = VARIANTS.iter().filter(|it| selected(it.name));
    let mut differences = Vec::new();
    for variant in variants {
        let (found, line) = variant.run();
        println!("{line}{}", if found.is_empty() { "" } else { "  DIFFERS" });
        differences.extend(found);
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn verdicts_agree_with_an_independent_writer() {
    match std::env::var("PGDYNO_ADVERSARIAL") {
        Err(_) => run_all(|it| it == "split-brain"),
        Ok(names) if names.is_empty() => run_all(|_| true),
        Ok(names) => run_all(|it| names.split(',').any(|name| name == it)),
    }
}
