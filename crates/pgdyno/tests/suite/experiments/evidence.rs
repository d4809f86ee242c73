//! Evidence: figures of findings against an independent look at PostgreSQL and at `/proc`
//!
//! While pgdyno measures, psql looks at `pg_stat_activity` and `pg_stat_database` at random intervals of 50 ms on average, and
//! this test reads the CPU time of the processes. Both looks must agree. `./x proof evidence` compares all systems
//! (`PGDYNO_EVIDENCE=all`, or names).

use super::workspace::{RunningProcess, Workspace, figure, retry_until, selected};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Restored by a superuser: a role for the independent look, and a table.
const DUMP: &str = "
CREATE ROLE observer LOGIN PASSWORD 'observer';
GRANT pg_monitor TO observer;
CREATE TABLE counters (id int PRIMARY KEY, n bigint);
INSERT INTO counters SELECT n, 0 FROM generate_series(1, 1000) n;
GRANT ALL ON counters TO PUBLIC;
";

/// Sessions of the load by state and wait event, and counters of the database. Each look has a row `look`.
const LOOK: &str = "
SELECT extract(epoch FROM clock_timestamp()), 'look', '', 0
UNION ALL
SELECT extract(epoch FROM clock_timestamp()), state, CASE state WHEN 'active' THEN
    coalesce(wait_event_type || '/' || wait_event, 'running') ELSE '' END, count(*)
FROM pg_stat_activity WHERE usename = 'app' AND state IS NOT NULL GROUP BY 2, 3
UNION ALL
SELECT extract(epoch FROM clock_timestamp()), name, '', value FROM pg_stat_database,
    LATERAL (VALUES ('temp_bytes', temp_bytes), ('sessions', sessions)) AS counters (name, value)
WHERE datname = 'app'
";

/// Largest acceptable relative difference, and a difference that is always acceptable.
const DIFFERENCE_MAX: f64 = 0.1;
const NEGLIGIBLE: f64 = 0.02;
/// Time for which a run measures, in seconds.
const WINDOW: u32 = 20;

/// Reads one reported figure, and the same figure from the independent look.
type Comparison = (&'static str, fn(&Value) -> Option<f64>, fn(&Look) -> f64);

struct EvidenceSystem {
    name: &'static str,
    /// Keys of `stack`, in flow style.
    stack: &'static str,
    /// Statements and commands of a transaction.
    script: &'static [&'static str],
    load: &'static str,
    compared: &'static [Comparison],
}

/// Figures that psql and `/proc` showed while the load ran.
struct Look {
    /// Mean numbers of sessions by state and wait event.
    sessions: BTreeMap<(String, String), f64>,
    /// Increases per second of counters of the database.
    counters: BTreeMap<String, f64>,
    /// CPUs used by a program and its children.
    cpu: BTreeMap<&'static str, f64>,
}

impl Look {
    fn state(&self, state: &str) -> f64 {
        self.sessions.iter().filter(|it| it.0.0 == state).map(|it| it.1).sum()
    }

    /// Share of active sessions with one of these wait events.
    fn share(&self, events: &[&str]) -> f64 {
        let waiting = self.sessions.iter().filter(|it| events.contains(&it.0.1.as_str()));
        waiting.map(|it| it.1).sum::<f64>() / self.state("active")
    }
}

fn bound<'a>(document: &'a Value, kind: &str) -> Option<&'a Value> {
    let findings = document["findings"].as_array()?;
    findings.iter().map(|it| &it["bound"]).find(|it| it["kind"] == kind)
}

fn evidence<'a>(document: &'a Value, kind: &str) -> Option<&'a Value> {
    bound(document, "avoidable_work").map(|it| &it["evidence"]).filter(|it| it["kind"] == kind)
}

fn state(document: &Value, name: &str) -> Option<f64> {
    let sessions = document["states"][0]["sessions"].as_array()?;
    let of_load = sessions.iter().filter(|it| it["state"] == name && it["user"] == "app");
    of_load.map(|it| it["sessions"]["mean"].as_f64()).sum()
}

fn row_figure(document: &Value, name: &str) -> Option<f64> {
    figure(&document["matrix"]["rows"][0], name)
}

const LOCK: [&str; 4] = ["BEGIN;", "SELECT pg_advisory_xact_lock(1);", "\\sleep 5 ms", "COMMIT;"];

/// The systems with states have random times. States by user are counted once a second, which is too seldom for clients that
/// pause in step.
const ALL: [EvidenceSystem; 10] = [
    EvidenceSystem {
        name: "postgres-cpu",
        stack: "postgres: { limits: { cpu: 0.4 } }",
        script: &["SELECT sum(n) FROM generate_series(1, 20000) n;"],
        load: "model: closed, clients: 4",
        compared: &[("CPU", |it| row_figure(it, "server_cpu"), |it| it.cpu["postgres"])],
    },
    EvidenceSystem {
        name: "pooler-cpu",
        stack: "pooler: { kind: pgbouncer, mode: transaction, size: 4, limits: { cpu: 0.3 } }, postgres: {}",
        script: &["SELECT 1;"],
        load: "model: closed, clients: 20",
        compared: &[("CPU", |it| row_figure(it, "pooler_cpu"), |it| it.cpu["pgbouncer"])],
    },
    EvidenceSystem {
        name: "row-locks",
        stack: "postgres: {}",
        script: &["BEGIN;", "UPDATE counters SET n = n + 1 WHERE id = 1;", "\\sleep 5 ms", "COMMIT;"],
        load: "model: closed, clients: 12",
        compared: &[
            (
                "share",
                |it| bound(it, "row_locks")?["share"].as_f64(),
                |it| it.share(&["Lock/transactionid", "Lock/tuple"]),
            ),
            ("active", |it| bound(it, "row_locks")?["active"].as_f64(), |it| it.state("active")),
        ],
    },
    EvidenceSystem {
        name: "advisory-locks",
        stack: "postgres: {}",
        script: &LOCK,
        load: "model: closed, clients: 12",
        compared: &[
            ("share", |it| bound(it, "locks")?["share"].as_f64(), |it| it.share(&["Lock/advisory"])),
            ("active", |it| bound(it, "locks")?["active"].as_f64(), |it| it.state("active")),
        ],
    },
    EvidenceSystem {
        name: "pool",
        stack: "pooler: { kind: pgbouncer, mode: transaction, size: 5 }, postgres: {}",
        script: &LOCK,
        load: "model: closed, clients: 40",
        compared: &[
            ("share", |it| bound(it, "locks")?["share"].as_f64(), |it| it.share(&["Lock/advisory"])),
            (
                "idle in transaction",
                |it| state(it, "idle in transaction"),
                |it| it.state("idle in transaction"),
            ),
        ],
    },
    EvidenceSystem {
        name: "wal-flush",
        stack: "postgres: { limits: { write_iops: 100 } }",
        script: &["UPDATE counters SET n = n + 1 WHERE id = :client_id + 1;"],
        load: "model: closed, clients: 8",
        compared: &[
            (
                "share",
                |it| bound(it, "wal_flush")?["share"].as_f64(),
                |it| it.share(&["IO/WALSync", "IO/WALWrite", "LWLock/WALWrite"]),
            ),
            ("active", |it| bound(it, "wal_flush")?["active"].as_f64(), |it| it.state("active")),
        ],
    },
    EvidenceSystem {
        name: "idle-in-transaction",
        stack: "postgres: {}",
        script: &[
            "\\set inside random(20, 40)",
            "\\set outside random(10, 30)",
            "BEGIN;",
            "SELECT 1;",
            "\\sleep :inside ms",
            "COMMIT;",
            "\\sleep :outside ms",
        ],
        load: "model: closed, clients: 10",
        compared: &[
            (
                "idle in transaction",
                |it| state(it, "idle in transaction"),
                |it| it.state("idle in transaction"),
            ),
            ("idle", |it| state(it, "idle"), |it| it.state("idle")),
        ],
    },
    EvidenceSystem {
        name: "temporary-files",
        stack: "postgres: { settings: { work_mem: 64kB } }",
        script: &["SELECT count(*) FROM (SELECT n FROM generate_series(1, 100000) n ORDER BY -n) s;"],
        load: "model: closed, clients: 2",
        compared: &[(
            "bytes per second",
            |document| {
                let bytes = evidence(document, "temporary_files")?["bytes_per_transaction"].as_f64()?;
                Some(bytes * row_figure(document, "tps")?)
            },
            |it| it.counters["temp_bytes"],
        )],
    },
    EvidenceSystem {
        name: "logins",
        stack: "postgres: { limits: { cpu: 0.5 } }",
        script: &["SELECT 1;"],
        load: "model: closed, clients: 4, reconnect: true",
        compared: &[(
            "logins per second",
            |it| evidence(it, "logins")?["per_second"].as_f64(),
            |it| it.counters["sessions"],
        )],
    },
    EvidenceSystem {
        name: "states",
        stack: "postgres: {}",
        script: &[
            "\\set inside random(20, 40)",
            "\\set outside random(10, 30)",
            "SELECT pg_sleep(:inside / 1000.0);",
            "\\sleep :outside ms",
        ],
        load: "model: closed, clients: 20",
        compared: &[
            ("active", |it| state(it, "active"), |it| it.state("active")),
            ("idle", |it| state(it, "idle"), |it| it.state("idle")),
        ],
    },
];

impl EvidenceSystem {
    fn experiment(&self) -> String {
        let EvidenceSystem { name, stack, load, .. } = self;
        let script = self.script.join("\n      ");
        format!(
            "name: {name}
stack: {{ {stack} }}
dataset: {{ restore: evidence.sql }}
operations:
  work:
    sql: |
      {script}
load: {{ {load}, duration: {WINDOW}s }}
"
        )
    }

    /// Relative differences by figure, with both values.
    fn measure(&self) -> Vec<(&'static str, f64, f64)> {
        let workspace = Workspace::new(self.name, &self.experiment());
        fs::write(workspace.folder.join("evidence.sql"), DUMP).expect("the file can be written");
        let mut running = workspace.spawn(&["--json"]);
        let look = observe(&workspace, &mut running);
        let ended = running.wait();
        let document = ended.expect(0).document();
        let compare = |(name, reported, seen): &Comparison| {
            let reported = reported(&document);
            let reported = reported.unwrap_or_else(|| panic!("{}: no {name} in {document:#}", self.name));
            (*name, reported, seen(&look))
        };
        self.compared.iter().map(compare).collect()
    }
}

/// Looks at the server of the run until the load has ended.
fn observe(workspace: &Workspace, running: &mut RunningProcess<'_>) -> Look {
    let server = await_server(workspace, running);
    let address = server.address();
    let query = LOOK.replace('\n', " ");
    let mut psql = Command::new("psql");
    psql.args(["-X", "-A", "-t", "-q", "-w", &address]).env("PGPASSWORD", "observer");
    // A full pipe would stop the look.
    let file = workspace.folder.join("look");
    let output = fs::File::create(&file).expect("the file can be written");
    psql.stdin(Stdio::piped()).stdout(output).stderr(Stdio::null());
    // Looks at regular intervals would see clients with constant pauses in only a few of their states.
    let script = format!("SELECT pg_sleep(random() * 0.1) \\; {query} \\watch 0.001\n");
    let mut child = psql.spawn().expect("psql is installed");
    std::io::Write::write_all(&mut child.stdin.take().expect("it is a pipe"), script.as_bytes())
        .expect("psql reads");
    let mut cpu: Vec<(f64, BTreeMap<&'static str, f64>)> = Vec::new();
    while let Some(used) = processor_times(&server) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970");
        cpu.push((now.as_secs_f64(), used));
        std::thread::sleep(Duration::from_millis(50));
    }
    // psql ends when it has lost its server.
    child.wait().expect("psql can be waited for");
    look(&fs::read_to_string(&file).expect("the file can be read"), &cpu)
}

struct ObservedServer {
    /// Process of PostgreSQL.
    postgres: u32,
    port: u16,
}

impl ObservedServer {
    /// Address of another database, because a session in the database of the load would delay its restore.
    fn address(&self) -> String {
        format!("host=127.0.0.1 port={} dbname=postgres user=observer", self.port)
    }
}

/// Waits until the server of the run has been restored, which creates the role of the look.
fn await_server(workspace: &Workspace, running: &mut RunningProcess<'_>) -> ObservedServer {
    let mut found = None;
    retry_until("the server accepts the observer", || {
        assert!(!running.has_exited(), "the run has ended");
        let runs = fs::read_dir(workspace.folder.join("tmp")).map_err(|it| it.to_string())?;
        let files = runs.flatten().map(|it| it.path().join("home/postgres/postmaster.pid"));
        let text = files.filter_map(|it| fs::read_to_string(it).ok()).next().ok_or("no server")?;
        let lines: Vec<&str> = text.lines().collect();
        let server = ObservedServer {
            postgres: lines.first().and_then(|it| it.parse().ok()).ok_or("no process")?,
            port: lines.get(3).and_then(|it| it.parse().ok()).ok_or("no port")?,
        };
        let mut psql = Command::new("psql");
        psql.args(["-X", "-w", "-c", "SELECT 1", &server.address()]).env("PGPASSWORD", "observer");
        let output = psql.stdin(Stdio::null()).output().map_err(|it| it.to_string())?;
        found = Some(server);
        output.status.success().then_some(()).ok_or_else(|| String::from_utf8_lossy(&output.stderr).into())
    });
    found.expect("it was found")
}

/// CPU seconds by program, with all children; `None` once the server has ended.
fn processor_times(server: &ObservedServer) -> Option<BTreeMap<&'static str, f64>> {
    let ticks = rustix::param::clock_ticks_per_second() as f64;
    // Fields after the name: state, parent, …, utime, stime, cutime, cstime.
    let fields = |pid: u32| -> Option<(String, Vec<String>)> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (head, rest) = text.rsplit_once(") ")?;
        let name = head.split_once('(')?.1.to_owned();
        Some((name, rest.split(' ').map(str::to_owned).collect()))
    };
    let number =
        |fields: &[String], at: usize| fields.get(at).and_then(|it| it.parse::<f64>().ok()).unwrap_or(0.0);
    let of_postmaster = fields(server.postgres)?.1;
    let keeper = of_postmaster.get(1)?.clone();
    let mut times =
        BTreeMap::from([("postgres", (11..=14).map(|it| number(&of_postmaster, it)).sum::<f64>())]);
    let processes = fs::read_dir("/proc").ok()?.flatten();
    for pid in processes.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok()) {
        let Some((name, fields)) = fields(pid) else { continue };
        let own = number(&fields, 11) + number(&fields, 12);
        if fields.get(1) == Some(&server.postgres.to_string()) {
            *times.entry("postgres").or_default() += own;
        } else if name == "pgbouncer" && fields.get(1) == Some(&keeper) {
            *times.entry("pgbouncer").or_default() += own;
        }
    }
    Some(times.into_iter().map(|it| (it.0, it.1 / ticks)).collect())
}

/// Figures while the load ran: from two seconds after its first session to two seconds before its last one.
fn look(text: &str, cpu: &[(f64, BTreeMap<&'static str, f64>)]) -> Look {
    let rows: Vec<(f64, &str, &str, f64)> = text
        .lines()
        .filter_map(|line| {
            let fields: Vec<&str> = line.split('|').collect();
            let [at, name, event, value] = fields[..] else { return None };
            Some((at.parse().ok()?, name, event, value.parse().ok()?))
        })
        .collect();
    let counters = ["temp_bytes", "sessions"];
    let is_state = |name: &str| name != "look" && !counters.contains(&name);
    // pgdyno has sessions of its own before and after the load, but no active ones for long.
    let busy: Vec<f64> = rows.iter().filter(|it| is_state(it.1) && it.3 >= 2.0).map(|it| it.0).collect();
    let (from, to) = (busy[0] + 2.0, busy[busy.len() - 1] - 2.0);
    assert!(to - from > f64::from(WINDOW) / 2.0, "the load was seen from {from} to {to}");
    let within = || rows.iter().filter(|it| from <= it.0 && it.0 <= to);
    let looks = within().filter(|it| it.1 == "look").count() as f64;
    let mut sessions = BTreeMap::new();
    for (_, state, event, count) in within().filter(|it| is_state(it.1)) {
        *sessions.entry(((*state).to_owned(), (*event).to_owned())).or_default() += count / looks;
    }
    let growth = |values: Vec<(f64, f64)>| {
        let (first, last) = (values[0], values[values.len() - 1]);
        (last.1 - first.1) / (last.0 - first.0)
    };
    let counter = |name: &str| growth(within().filter(|it| it.1 == name).map(|it| (it.0, it.3)).collect());
    let counters = counters.map(|name| (name.to_owned(), counter(name)));
    let measured = cpu.iter().filter(|it| from <= it.0 && it.0 <= to);
    let of_program = |name: &'static str| {
        let values: Vec<(f64, f64)> =
            measured.clone().filter_map(|it| Some((it.0, *it.1.get(name)?))).collect();
        (name, if values.is_empty() { 0.0 } else { growth(values) })
    };
    Look {
        sessions,
        counters: counters.into_iter().collect(),
        cpu: ["postgres", "pgbouncer"].map(of_program).into_iter().collect(),
    }
}

/// All systems. `PGDYNO_EVIDENCE` selects them and enables the test.
#[test]
fn evidence_agrees_with_an_independent_look() {
    let Some(wanted) = selected("PGDYNO_EVIDENCE", &ALL, |it| it.name) else {
        println!("skipped: about five minutes; ./x proof evidence asks for it");
        return;
    };
    println!("| system | figure | pgdyno | independent look | difference |\n|---|---|--:|--:|--:|");
    let mut different = Vec::new();
    for system in wanted {
        for (figure, reported, seen) in system.measure() {
            let difference = reported / seen - 1.0;
            println!(
                "| {} | {figure} | {reported:.3} | {seen:.3} | {:+.1} % |",
                system.name,
                difference * 100.0
            );
            if difference.abs() > DIFFERENCE_MAX && (reported - seen).abs() > NEGLIGIBLE {
                different.push(format!("{} {figure}", system.name));
            }
        }
    }
    assert!(different.is_empty(), "these differ: {}", different.join(", "));
}
