//! Recorded traffic is sent again as it was: the same statements in each session, with the same results

use super::postgres_servers::{start_server, start_server_with};
use super::workspace::{PGDYNO, RunOutput, RunningProcess, Workspace, retry_until, trials};
use rustix::process::Signal;
use stack::component::postgres::Postgres;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use store::RunStatus;
use traffic::Traffic;
use traffic::log::LogFormat;

/// Data of the test.
const DATA: &str = "drop table if exists item, log;
create table item (id int primary key, name text, price numeric(10, 2));
insert into item select i, 'item ' || i, i from generate_series(1, 1000) i;
create table log (at timestamptz default now(), item int)";

/// Statements in the simple protocol, with errors, transactions and state of the session.
const SIMPLE: &str = r"
SELECT name FROM item WHERE id = 7;
SELEC 1;
SELECT * FROM missing;
BEGIN;
UPDATE item SET price = price + 1 WHERE id = 1;
SAVEPOINT a;
INSERT INTO item VALUES (1, 'it''s twice', 0);
ROLLBACK TO SAVEPOINT a;
COMMIT;
BEGIN;
SELECT 1/0;
SELECT 1;
ROLLBACK;
BEGIN;
SELECT 1/0;
COMMIT;
CREATE TEMPORARY TABLE mine (a int);
INSERT INTO mine VALUES (1), (2);
SELECT sum(a) FROM mine;
SET search_path = pg_catalog, public;
PREPARE by_id (int) AS SELECT name FROM item WHERE id = $1;
EXECUTE by_id(3);
SELECT 'Привет', 'line 1
line 2';
SELECT 1 AS first\; SELECT 2 AS second;
SELECT pg_notify('a', 'b');
LISTEN a;
";

/// Script of pgbench: a transaction with parameters.
const EXTENDED: &str = r"
\set id random(1, 1000)
BEGIN;
SELECT name, price FROM item WHERE id = :id;
UPDATE item SET price = price + 1 WHERE id = :id;
INSERT INTO log (item) VALUES (:id);
END;
";

/// Statement of a session: text, parameters and SQLSTATE of its error.
type LoggedStatement = (String, Vec<Option<String>>, Option<String>);

/// Sessions of the log with these application names, each with its statements in their order; sorted.
fn sessions(log: &Path, is_wanted: impl Fn(&str) -> bool) -> Vec<Vec<LoggedStatement>> {
    let mut traffic = Traffic::default();
    let file = fs::File::open(log).expect("the server writes the log");
    traffic::log::read(BufReader::new(file), &LogFormat::Csv, &mut traffic)
        .unwrap_or_else(|error| panic!("{error:?}"));
    let mut all: BTreeMap<String, Vec<LoggedStatement>> = BTreeMap::new();
    for session in &traffic.sessions {
        if !is_wanted(session.application.as_deref().unwrap_or_default()) {
            continue;
        }
        let statements = session.statements.iter().map(|statement| {
            let state = statement.error.and_then(|error| error.sqlstate);
            let state = state.map(|state| String::from_utf8_lossy(&state).into_owned());
            (statement.text.to_string(), statement.parameters.clone(), state)
        });
        all.entry(session.id.clone()).or_default().extend(statements);
    }
    let mut all: Vec<_> = all.into_values().filter(|it| !it.is_empty()).collect();
    all.sort();
    all
}

fn client(postgres: &Postgres, program: &str) -> Command {
    let mut command = Command::new(program);
    command.envs(postgres.client_environment()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn execute(postgres: &Postgres, sql: &str) {
    let target = postgres.target();
    let mut connection = target.open(Duration::from_secs(10)).unwrap_or_else(|error| panic!("{error:?}"));
    for statement in sql.split(';') {
        connection.query(statement).expect("the server executes the statement");
    }
}

#[test]
fn a_replay_sends_the_recorded_statements_in_their_order() {
    let workspace = Workspace::new("again", "");
    let logs = workspace.folder.join("log");
    fs::create_dir(&logs).expect("the folder can be created");
    fs::set_permissions(&logs, fs::Permissions::from_mode(0o777)).expect("the permissions can be changed");
    let directory = logs.display().to_string();
    let lines = [
        ("logging_collector", "on"),
        ("log_destination", "csvlog"),
        ("log_directory", &directory),
        ("log_filename", "server.log"),
        ("log_file_mode", "0644"),
        ("log_connections", "on"),
        ("log_disconnections", "on"),
        ("lc_messages", "C"),
    ];
    let (_supervisor, postgres) = start_server_with(&lines);
    let log = logs.join("server.csv");
    execute(&postgres, DATA);
    // Other sessions do not wait for the session that creates the data, so that it must not be part of the replay.
    execute(&postgres, "alter system set log_min_duration_statement = 0;select pg_reload_conf()");
    fs::write(workspace.folder.join("extended.sql"), EXTENDED).expect("the file can be written");
    let script = workspace.folder.join("extended.sql").display().to_string();
    for mode in ["simple", "extended", "prepared"] {
        let mut pgbench = client(&postgres, "pgbench");
        let arguments = ["-n", "-c", "3", "-t", "20", "-M", mode, "-R", "100", "-f", &script];
        assert!(pgbench.args(arguments).status().expect("pgbench can be started").success());
    }
    let mut psql = client(&postgres, "psql").args(["-X", "-q"]).stdin(Stdio::piped()).spawn().expect("psql");
    psql.stdin.take().expect("piped").write_all(SIMPLE.as_bytes()).expect("psql reads its input");
    assert!(psql.wait().expect("psql ends").success());
    let is_client = |application: &str| ["pgbench", "psql"].contains(&application);
    let mut recorded = Vec::new();
    retry_until("the log is complete", || {
        recorded = sessions(&log, is_client);
        let text = fs::read_to_string(&log).unwrap_or_default();
        match text.matches("disconnection: session time").count() {
            11.. => Ok(()),
            ended => Err(format!("{ended} sessions ended")),
        }
    });
    // pgbench has nine sessions with transactions and three that ask for the partitions; psql has one.
    assert!(recorded.len() >= 10, "{} sessions", recorded.len());
    fs::copy(&log, workspace.folder.join("recorded.csv")).expect("the log can be copied");

    let captured = workspace.other("capture", &["recorded.csv", "-o", "shop.traffic"]);
    captured.expect(0);
    execute(&postgres, DATA);
    let yaml = format!(
        "stack: {{ postgres: {{ attach: \"host=127.0.0.1 port={} user=postgres dbname=postgres\" }} }}
load: {{ model: replay, traffic: shop.traffic, speed: 2 }}
objectives: [ \"errors < 1%\" ]
",
        postgres.port
    );
    fs::write(workspace.folder.join("again.yaml"), yaml).expect("the file can be written");
    let password = postgres.password().reveal().to_owned();
    let ended = workspace.spawn_command(workspace.command(&[]).env("PGPASSWORD", &password)).wait();
    ended.expect(0);
    let (_, status, reason) = trials(&workspace.stored()).remove(0);
    assert_eq!(status, RunStatus::Complete, "{reason}");
    assert!(ended.out.contains("all results of the replay are as recorded"), "{}", ended.out);

    // In addition to the replay, the test and the monitoring have sessions.
    let replayed = sessions(&log, |application| !is_client(application));
    let mut missing = recorded.clone();
    missing.retain(|session| !replayed.contains(session));
    assert!(missing.is_empty(), "{} of {} sessions differ: {missing:?}", missing.len(), recorded.len());

    // Writes fail, although they succeeded in the recording.
    execute(&postgres, "alter database postgres set default_transaction_read_only = on");
    let ended = workspace.spawn_command(workspace.command(&[]).env("PGPASSWORD", &password)).wait();
    ended.expect(99);
    let expected = "results of the replayed statement insert-log differ from the recorded results";
    assert!(ended.out.contains(expected), "{}", ended.out);
}

/// One transaction fails in the replay. Its COMMIT is a failure too, and the statement that it would have prepared is
/// prepared later.
#[test]
fn a_failed_transaction_does_not_break_later_ones() {
    let workspace = Workspace::new("failed", "");
    let (_supervisor, postgres) = start_server();
    execute(&postgres, "create table t (id int primary key);create table u (x int)");
    let script = workspace.folder.join("insert.sql");
    let text =
        "BEGIN;\nINSERT INTO t VALUES (:i);\nSELECT count(*) FROM u WHERE x = :i;\nCOMMIT;\n\\set i :i + 1\n";
    fs::write(&script, text).expect("the file can be written");
    let (proxy, clients) = record(&workspace, &postgres);
    let mut pgbench = clients("pgbench");
    pgbench.args(["-n", "-M", "prepared", "-D", "i=1", "-c", "1", "-t", "20", "-f"]).arg(&script);
    assert!(pgbench.status().expect("pgbench can be started").success());
    // A transaction that failed in the recording, and then one that fails only in the replay.
    let mut psql = clients("psql");
    psql.args(["-X", "-q"]);
    for statement in ["BEGIN", "SELECT 1/0", "COMMIT", "BEGIN", "INSERT INTO t VALUES (-1)", "COMMIT"] {
        psql.args(["-c", statement]);
    }
    psql.status().expect("psql can be started");
    proxy.signal(Signal::INT);
    proxy.wait().expect(0);

    execute(&postgres, "truncate t;insert into t values (1), (-1)");
    let ended = replay(&workspace, &postgres, "wire.traffic");
    ended.expect(0);
    let diverged = |statement: &str, differences: &str| {
        let line =
            format!("the replayed statement {statement} differ from the recorded results: {differences}");
        let words: Vec<&str> = ended.out.split_whitespace().collect();
        assert!(words.join(" ").contains(&line), "{line}: {}", ended.out);
    };
    diverged("insert-t", "of 21 results: 2 failed instead of succeeding");
    diverged("select-u", "of 20 results: 1 failed instead of succeeding");
    diverged("commit", "of 22 results: 2 failed instead of succeeding");
    assert!(!ended.out.contains("26000"), "{}", ended.out);
    assert!(ended.out.contains("results differ from the recorded ones: 6 of "), "{}", ended.out);
}

/// Starts the recording proxy, and returns a function that makes clients of it.
fn record<'a>(
    workspace: &'a Workspace,
    postgres: &'a Postgres,
) -> (RunningProcess<'a>, impl Fn(&str) -> Command + 'a) {
    let folder = workspace.folder.join("tmp").display().to_string();
    let socket = format!("{folder}/.s.PGSQL.6433");
    let mut record = Command::new(PGDYNO);
    record.args(["record", "--listen", &socket, "--to", &address(postgres), "-o", "wire.traffic"]);
    let proxy = workspace.spawn_command(record.current_dir(&workspace.folder));
    retry_until("the proxy listens", || {
        Path::new(&socket).exists().then_some(()).ok_or_else(|| "no socket".to_owned())
    });
    let clients = move |program: &str| {
        let mut command = client(postgres, program);
        command.env("PGHOST", &folder).env("PGPORT", "6433");
        command
    };
    (proxy, clients)
}

fn address(postgres: &Postgres) -> String {
    format!("host=127.0.0.1 port={} user=postgres dbname=postgres", postgres.port)
}

/// Replays a recording on a running server, twice as fast as it was recorded.
fn replay(workspace: &Workspace, postgres: &Postgres, recording: &str) -> RunOutput {
    let file = workspace.folder.join("again.yaml");
    let address = address(postgres);
    let yaml = format!(
        "stack: {{ postgres: {{ attach: \"{address}\" }} }}
load: {{ model: replay, traffic: {recording}, speed: 2 }}
"
    );
    fs::write(&file, yaml).expect("the file can be written");
    let mut command = workspace.command_on(&file, &[]);
    workspace.spawn_command(command.env("PGPASSWORD", postgres.password().reveal())).wait()
}

/// The recording proxy records COPY data and numbers of rows, and the replay repeats them.
#[test]
fn a_replay_of_recorded_connections_has_the_recorded_results() {
    let workspace = Workspace::new("wire", "");
    let (_supervisor, postgres) = start_server();
    execute(&postgres, DATA);
    fs::write(workspace.folder.join("extended.sql"), EXTENDED).expect("the file can be written");
    let script = workspace.folder.join("extended.sql").display().to_string();
    let (proxy, through_proxy) = record(&workspace, &postgres);
    for mode in ["simple", "extended", "prepared"] {
        let arguments = ["-n", "-c", "2", "-t", "10", "-M", mode, "-R", "100", "-f", &script];
        let ended = through_proxy("pgbench").args(arguments).status().expect("pgbench can be started");
        assert!(ended.success());
    }
    let mut psql = through_proxy("psql").args(["-X", "-q"]).stdin(Stdio::piped()).spawn().expect("psql");
    let copies =
        "COPY log (item) FROM STDIN;\n1\n2\n\\.\nCOPY item TO STDOUT;\nCOPY log FROM STDIN;\nx\n\\.\n";
    let secret = "ALTER ROLE postgres PASSWORD 'CANARY-9f2c';\n";
    // The password is set back at the end, for the replay.
    let back = format!("ALTER ROLE postgres PASSWORD '{}';\n", postgres.password().reveal());
    let text = [SIMPLE, copies, secret, &back].concat();
    psql.stdin.take().expect("piped").write_all(text.as_bytes()).expect("psql reads its input");
    assert!(psql.wait().expect("psql ends").success());
    proxy.signal(Signal::INT);
    let ended = proxy.wait();
    ended.expect(0);
    assert!(ended.out.contains("2 statements are left out: statements with a password"), "{}", ended.out);
    let bytes = fs::read(workspace.folder.join("wire.traffic")).expect("the recording can be read");
    assert!(!bytes.windows(11).any(|it| it == b"CANARY-9f2c"), "the password was recorded");

    execute(&postgres, DATA);
    let ended = replay(&workspace, &postgres, "wire.traffic");
    ended.expect(0);
    assert!(ended.out.contains("all results of the replay are as recorded"), "{}", ended.out);
    assert!(!ended.out.contains(", 0 of them with a recorded number of rows"), "{}", ended.out);
    let target = postgres.target();
    let mut connection = target.open(Duration::from_secs(10)).unwrap_or_else(|error| panic!("{error:?}"));
    let logged = connection.value("select count(*) from log").expect("the server answers");
    assert_eq!(logged.as_deref(), Some("62"), "60 transactions, and two rows of a COPY");
}

/// Transactions that hold one of two server connections for at least 25 ms: 20 ms in a statement and 5 ms in a pause. No
/// machine executes more than 80 of them per second.
#[test]
fn recorded_transactions_are_sent_at_any_rate() {
    let workspace = Workspace::new("mix", "");
    let (_supervisor, postgres) = start_server();
    execute(&postgres, DATA);
    let script = workspace.folder.join("hold.sql");
    let text = "BEGIN;\nSELECT name FROM item WHERE id = 7;\n\\sleep 5 ms\nSELECT pg_sleep(0.02);\nCOMMIT;\n";
    fs::write(&script, text).expect("the file can be written");
    // The pooler does not support prepared statements.
    for mode in ["prepared", "extended"] {
        let (proxy, clients) = record(&workspace, &postgres);
        for (count, transactions) in [("2", "30"), ("1", "3")] {
            let mut pgbench = clients("pgbench");
            pgbench.args(["-n", "-M", mode, "-c", count, "-t", transactions, "-f"]).arg(&script);
            assert!(pgbench.status().expect("pgbench can be started").success());
        }
        proxy.signal(Signal::INT);
        proxy.wait().expect(0);
        let renamed = workspace.folder.join(format!("{mode}.traffic"));
        fs::rename(workspace.folder.join("wire.traffic"), renamed).expect("the file can be renamed");
    }

    let run = |pooler: &str, mode: &str, load: &str, flags: &[&str]| {
        let file = workspace.folder.join("mix.yaml");
        let (password, address) = (postgres.password().reveal(), address(&postgres));
        let yaml = format!(
            "stack: {{ {pooler} postgres: {{ attach: \"{address}\" }} }}
load: {{ model: open, traffic: {mode}.traffic, max_in_flight: 20{load}
"
        );
        fs::write(&file, yaml).expect("the file can be written");
        let mut command = workspace.command_on(&file, flags);
        workspace.spawn_command(command.env("PGPASSWORD", password)).wait()
    };
    // 63 transactions of three sessions, and their beginnings again. Prepared statements exist in each of their sessions.
    let direct = run("", "prepared", ", schedule: \"const(40, 3s)\" }", &[]);
    direct.expect(0);
    assert!(direct.out.contains("all results of the replay are as recorded"), "{}", direct.out);
    // A trial on a busy machine may be invalid, so that there are no figures.
    let has_steps = direct.out.contains("tx-select-item: 3. select-pg_sleep");
    assert!(has_steps || direct.out.contains("does not count"), "{}", direct.out);

    // Two connections of the pool sustain at most 80 transactions per second.
    let pooler = "pooler: { kind: pgbouncer, mode: transaction, size: 2 },";
    let overload = ", schedule: \"const(160, 3s)\" }\nobjectives: [ \"p99 < 100ms\" ]";
    let overloaded = run(pooler, "extended", overload, &["--json"]);
    let row = &overloaded.document()["matrix"]["rows"][0];
    assert_eq!(row["figures"][0]["figure"], "tps");
    // A trial on a busy machine may be invalid, so that there is no figure.
    let delivered = row["figures"][0]["median"].as_f64();
    assert!(delivered.is_none_or(|it| it < 80.0 * 1.15), "{row:#}");

    let search = " }\nobjectives: [ \"p90 < 2s\", \"errors < 1%\" ]
find: { max: { from: 40, limit: 50, window: 1s, hold: 2s, precision: 50% } }";
    let searched = run(pooler, "extended", search, &["--json"]);
    let answer = &searched.document()["maxima"][0]["answer"];
    // A busy machine may yield a reason instead of an answer.
    match answer["level"].as_f64() {
        Some(level) => assert!((40.0..=50.0).contains(&level), "{answer:#}"),
        None => assert!(!answer["stop_reason"].is_null(), "{answer:#}"),
    }
}

/// The recording determines the load, so that settings of other models are errors. Nothing is started.
#[test]
fn settings_of_other_models_are_rejected() {
    let workspace = Workspace::new("wrong", "");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/pgdyno");
    let log = root.join("crates/traffic/fixtures/15-bench.csv").display().to_string();
    workspace.other("capture", &[&log, "-o", "bench.traffic"]).expect(0);
    let again = workspace.other("capture", &[&log, "-o", "bench.traffic"]);
    assert!(again.expect(2).err.contains("exists already"), "{}", again.err);
    let check = |rest: &str, status: i32, expected: &[&str]| {
        let yaml = format!("stack: {{ postgres: {{}} }}\n{rest}\n");
        fs::write(workspace.folder.join("wrong.yaml"), yaml).expect("the file can be written");
        let checked = workspace.other_command("check", &[]);
        let text = format!("{}{}", checked.expect(status).out, checked.err);
        assert!(expected.iter().all(|it| text.contains(it)), "{rest}: {text}");
    };
    let replay = |more: &str| format!("load: {{ model: replay, traffic: bench.traffic{more} }}");
    check(&replay(""), 0, &["replay of bench.traffic, speed 1", "update-pgbench_accounts"]);
    check("load: { model: replay }", 2, &["requires `traffic`", "as in `traffic: shop.traffic`"]);
    let missing = "load: { model: replay, traffic: missing.traffic }";
    check(missing, 2, &["the recording `missing.traffic` cannot be used", "No such file"]);
    let not_a_recording = "load: { model: replay, traffic: wrong.yaml }";
    check(not_a_recording, 2, &["the file is no recording", "pgdyno capture"]);
    let clients = ["`clients` cannot be used with `model: replay`", "the recording determines the load"];
    check(&replay(", clients: 3"), 2, &clients);
    check(&replay(", warmup: 3s"), 2, &["`warmup` cannot be used with `model: replay`"]);
    check(&replay(", speed: 0"), 2, &["`speed` is out of range: 0", "from 0.01 to 1000"]);
    let operations = format!("operations: {{ a: {{ sql: SELECT 1 }} }}\n{}", replay(""));
    check(&operations, 2, &["a load with `traffic` has no operations", "delete `operations`"]);
    check(
        &format!("find: max\n{}", replay("")),
        2,
        &["a replay has no goal", "recorded transactions on a schedule"],
    );
    let mix = |more: &str| format!("load: {{ model: open, traffic: bench.traffic, max_in_flight: 4{more} }}");
    let schedule = ", schedule: \"const(5, 2s)\"";
    let described = ["open-loop, 10 recorded transactions of 7 sessions", "const(5, 2s)"];
    check(&mix(schedule), 0, &described);
    check(&mix(""), 2, &["`model: open` requires `schedule`"]);
    check(&format!("find: max\n{}", mix("")), 0, &["recorded transactions of"]);
    for key in ["query_mode: prepared", "max_tries: 3", "reconnect: true", "speed: 2", "duration: 3s"] {
        let name = key.split(':').next().expect("a key");
        let expected = format!("`{name}` cannot be used with `traffic`");
        check(&mix(&format!("{schedule}, {key}")), 2, &[&expected, "remove it"]);
    }
    let operations = format!("operations: {{ a: {{ sql: SELECT 1 }} }}\n{}", mix(schedule));
    check(&operations, 2, &["a load with `traffic` has no operations"]);
    check(
        "load: { model: closed, clients: 1, duration: 1s, traffic: bench.traffic }",
        2,
        &["`traffic` cannot be used with `model: closed`"],
    );
    check(
        "load: { model: open, traffic: missing.traffic, max_in_flight: 1 }",
        2,
        &["the recording `missing.traffic` cannot be used"],
    );
    fs::write(workspace.folder.join("wrong.yaml"), format!("stack: {{ postgres: {{}} }}\n{}\n", replay("")))
        .expect("the file can be written");
    let tried = workspace.other_command("try", &[]);
    assert!(tried.expect(2).err.contains("a load with `traffic`"), "{}", tried.err);
}
