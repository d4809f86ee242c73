//! Output, JSON documents, log files and exit statuses of `pgdyno bench`
//!
//! Each test runs the program as a user does. `real_server.rs` tests faults of the server. Needs an installed
//! PostgreSQL.

use crate::schema;
use load::driver::Driver;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use stack::component::postgres::{Postgres, Settings};
use stack::find::InstallationSearch;
use stack::supervisor::{KeeperProgram, Supervisor};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

const PGDYNO: &str = env!("CARGO_BIN_EXE_pgdyno");

fn start() -> (Supervisor, Postgres) {
    let keeper = KeeperProgram { program: PGDYNO.into(), arguments: vec!["keeper"] };
    let mut supervisor = Supervisor::start(&keeper).expect("a keeper starts");
    let installation = InstallationSearch::from_environment(None, None)
        .find_first()
        .expect("these tests need a PostgreSQL server");
    let postgres =
        Postgres::start(&mut supervisor, &installation, &Settings::default()).expect("a server starts");
    (supervisor, postgres)
}

/// Server shared by the tests, with pgbench's tables. It stops with the process. The mutex runs one test at a time, so
/// that tests do not compete for the machine.
fn server() -> std::sync::MutexGuard<'static, (Supervisor, Postgres)> {
    static SERVER: OnceLock<Mutex<(Supervisor, Postgres)>> = OnceLock::new();
    let server = SERVER.get_or_init(|| {
        let (supervisor, postgres) = start();
        let made = Run::execute(&postgres, &["-i", "-q"]);
        assert_eq!(made.status, 0, "{made:?}");
        Mutex::new((supervisor, postgres))
    });
    server.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[derive(Debug)]
struct Run {
    status: i32,
    out: String,
    err: String,
}

fn command(postgres: &Postgres, args: &[&str]) -> Command {
    let mut command = Command::new(PGDYNO);
    command.arg("bench").args(args).envs(postgres.client_environment()).stdin(Stdio::null());
    command
}

impl Run {
    fn execute(postgres: &Postgres, args: &[&str]) -> Run {
        let output = command(postgres, args).output().expect("the program can be started");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the output is UTF-8");
        Run { status: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// Checks that a run against the shared server exits with `status` and prints all of `expected`. Either stream and any
/// wrapping are accepted.
#[track_caller]
fn check(line: &str, status: i32, expected: &[&str]) {
    let args: Vec<&str> = line.split(' ').collect();
    let run = Run::execute(&server().1, &args);
    assert_eq!(run.status, status, "{line}: {run:?}");
    let words: Vec<&str> = run.out.split_whitespace().chain(run.err.split_whitespace()).collect();
    let text = words.join(" ");
    for fragment in expected {
        assert!(text.contains(fragment), "{line}: {fragment:?} is not in {run:#?}");
    }
}

#[test]
fn runs_every_load_model() {
    check("-S -n -t 5 -c 2 --think 1ms", 0, &["processed: 10/10", "closed model, think time 1 ms"]);
    check("-S -n -t 5 -c 2 -C", 0, &["processed: 10/10", "average connection time", "connect, ms"]);
    check(
        "-b si -n -t 50 -c 2 -R 500",
        0,
        &["processed: 100/100", "rate limit schedule lag", "send lag, us"],
    );
    check(
        "-S -n -c 8 --schedule const(100,1s) --max-backlog 1000",
        0,
        &["processed: 100 ", "open model, const(100,1s), even arrivals"],
    );
}

/// Checks that a thread with a slack sleeps although arrivals become due. A busy machine only makes the lag longer.
#[test]
fn a_slack_delays_arrivals_and_is_reported() {
    let available = Driver::ALL.into_iter().filter(|driver| driver.is_available());
    for driver in available.map(Driver::name) {
        let load = ["-S", "-n", "-c", "50", "-t", "2", "-R", "200", "--arrivals", "even", "--driver", driver];
        let run = Run::execute(&server().1, &[&load[..], &["--slack", "50ms", "--json"]].concat());
        let document: Value = serde_json::from_str(&run.out).expect("one JSON document");
        schema::check(&document);
        assert_eq!(document["plan"]["model"]["slack_ns"], 50_000_000, "{driver}");
        let median = document["generator"]["send_lag"]["p50_ns"].as_u64().expect("a hundred arrivals");
        assert!(median >= 10_000_000, "{driver}: the median lag is {median} ns");
    }
    check(
        "-S -n -c 2 -t 5 -R 200 --slack 1ms",
        0,
        &["slack 1 ms (sends and receives up to this much later)"],
    );
}

#[test]
fn prints_counters_of_each_thread() {
    let expected = ["thread 1 busy ", "thread 2 busy ", " voluntary and ", " minor and "];
    check("-S -n -t 20 -c 2 -j 2 --debug", 0, &expected);
}

#[test]
fn prints_one_json_document() {
    let run =
        Run::execute(&server().1, &["-S", "-n", "-t", "20", "-c", "3", "--json", "-r", "--random-seed=42"]);
    let document: Value = serde_json::from_str(&run.out).expect("one JSON document");
    schema::check(&document);
    assert_eq!(document["total"]["counts"]["ok"], 60);
    assert_eq!(document["total"]["response"]["count"], 60);
    assert_eq!(document["total"]["response"]["p99_ns"], Value::Null, "60 samples have no ten beyond p99");
    assert_eq!(document["plan"]["seed"], 42);
    assert_eq!(document["plan"]["end"]["transactions"], 20);
    assert_eq!(document["server"]["transport"]["kind"], "unix_socket");
    assert_eq!(document["scripts"][0]["statements"].as_array().map(Vec::len), Some(2));
    assert_eq!(document["fairness"]["min_transactions"], 20);
}

#[test]
fn writes_log_files() {
    let directory = std::env::temp_dir().join(format!("pgdyno-log-{}", std::process::id()));
    fs::create_dir_all(&directory).expect("the directory can be created");
    let prefix = directory.join("log").display().to_string();
    check(&format!("-S -n -t 10 -c 4 -j 2 -l --log-prefix={prefix}"), 0, &["processed: 40/40"]);
    let mut lines = 0;
    for file in fs::read_dir(&directory).expect("the directory exists") {
        for line in fs::read_to_string(file.expect("the entry can be read").path())
            .expect("the file can be read")
            .lines()
        {
            let numbers: Vec<u64> = line.split(' ').map(|it| it.parse().expect(line)).collect();
            let [client, nth, micros, script, seconds, fraction] = numbers[..] else { panic!("{line}") };
            assert!(client < 4 && nth < 10 && micros > 0 && script == 0, "{line}");
            assert!(seconds > 1_700_000_000 && fraction < 1_000_000, "{line}");
            lines += 1;
        }
    }
    assert_eq!(lines, 40);
    fs::remove_dir_all(&directory).expect("the test made the directory");
}

/// The measurement completes, and the failure to write its result is reported.
#[test]
fn failing_outputs_do_not_panic() {
    let server = server();
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    for json in ["", "--json"] {
        let args: Vec<&str> = ["-S", "-t", "5", json].into_iter().filter(|it| !it.is_empty()).collect();
        let run = |change: &dyn Fn(&mut Command)| {
            let mut command = command(&server.1, &args);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            change(&mut command);
            let output = command.output().expect("the program can be started");
            (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
        };
        let (status, message) = run(&|command| {
            command.stdout(full());
        });
        let expected = "could not write to standard output: No space left on device";
        assert!(
            status == Some(1) && message.contains(expected) && !message.contains("panicked"),
            "{status:?} {message}"
        );
        let (status, message) = run(&|command| {
            let (reader, writer) = std::io::pipe().expect("there are descriptors");
            drop(reader);
            command.stdout(writer);
        });
        assert!(status == Some(0) && !message.contains("panicked"), "{status:?} {message}");
        let (status, _) = run(&|command| {
            command.stderr(full());
        });
        assert_eq!(status, Some(0));
    }
}

#[test]
fn does_not_print_passwords() {
    let server = server();
    let port = server.1.port;
    for (dsn, status) in [
        (format!("postgres://postgres:hush-hush@127.0.0.1:{port}/postgres"), 1),
        (format!("host=127.0.0.1 port={port} user=postgres password=hush-hush dbname=postgres"), 1),
        (format!("host=127.0.0.1 port={port} password=hush-hush nonsense=1"), 2),
        (format!("postgres://postgres:hush-hush@127.0.0.1:{port}/postgres?nonsense=1"), 2),
    ] {
        let run = Run::execute(&server.1, &["-S", "-d", "-t", "1", &dsn]);
        assert_eq!(run.status, status, "{run:?}");
        assert!(!run.out.contains("hush") && !run.err.contains("hush"), "{run:?}");
    }
}

/// A run in progress. Its progress lines show how far it is.
struct Running {
    child: Child,
    err: BufReader<std::process::ChildStderr>,
    said: String,
}

impl Running {
    fn start(postgres: &Postgres, args: &[&str]) -> Running {
        let mut child = command(postgres, args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program can be started");
        let err = BufReader::new(child.stderr.take().expect("the stream is piped"));
        Running { child, err, said: String::new() }
    }

    fn await_progress(&mut self) {
        let mut line = String::new();
        while !line.starts_with("progress:") {
            line.clear();
            assert!(self.err.read_line(&mut line).expect("text") > 0, "it ended: {}", self.said);
            self.said += &line;
        }
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id() as i32).expect("a process has a number");
        kill_process(pid, signal).expect("the process is running");
    }

    fn finish(mut self) -> Run {
        let mut out = String::new();
        self.child
            .stdout
            .take()
            .expect("the stream is piped")
            .read_to_string(&mut out)
            .expect("the stream can be read");
        self.err.read_to_string(&mut self.said).expect("the stream can be read");
        let status = self.child.wait().expect("the process is a child of this one");
        Run { status: status.code().unwrap_or(-1), out, err: self.said }
    }
}

#[test]
fn reports_an_interrupted_run() {
    let server = server();
    let mut running = Running::start(&server.1, &["-S", "-n", "-T", "60", "-P", "1"]);
    running.await_progress();
    running.signal(Signal::INT);
    let run = running.finish();
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.out.contains("\nverdict ") && run.err.contains("Run was aborted"), "{run:?}");
}

/// Writes a script to a temporary file of this process.
fn script(name: &str, text: &str) -> String {
    let path = std::env::temp_dir().join(format!("pgdyno-test-{}-{name}.sql", std::process::id()));
    fs::write(&path, text).expect("the temporary directory can be written to");
    path.into_os_string().into_string().expect("the path is UTF-8")
}

#[test]
fn ends_without_a_report_when_a_client_aborts() {
    let aborts = script("abort", "\\if :client_id = 1\n\\set x 1 / 0\n\\endif\nSELECT 1;\n");
    // Without the option, the other clients continue for a minute.
    let run = ["-n", "-f", &aborts, "-c", "3", "-j", "3", "-T", "60", "--exit-on-abort"];
    let run = Run::execute(&server().1, &run);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.err.contains("error: Run was aborted due to an error in thread 1\n"), "{run:?}");
    assert!(!run.out.contains("verdict") && !run.err.contains("results are incomplete"), "{run:?}");
    fs::remove_file(aborts).expect("the script was written");
}

#[test]
fn prints_warnings_of_the_server() {
    let warns = script("warn", "DO $$BEGIN RAISE WARNING 'careful' USING HINT = 'slow down'; END$$;\n");
    for mode in ["simple", "extended", "prepared"] {
        let execute = |more: &[&str]| {
            let line = [&["-n", "-f", &warns, "-t", "3", "-M", mode], more].concat();
            let run = Run::execute(&server().1, &line);
            assert_eq!(run.status, 0, "{mode}: {run:?}");
            run.err.matches("WARNING: careful HINT: slow down").count()
        };
        assert_eq!((execute(&[]), execute(&["--verbose-errors"])), (1, 3), "{mode}");
    }
    fs::remove_file(warns).expect("the script was written");
}

/// An unreadable variable is an error. Ignoring it would load another server.
#[test]
fn an_unreadable_environment_is_refused() {
    use std::os::unix::ffi::OsStrExt;
    let server = server();
    let odd = std::ffi::OsStr::from_bytes(b"db\xff");
    for name in ["PGHOST", "PGDATABASE", "PGPASSWORD"] {
        let mut command = Command::new(PGDYNO);
        command.args(["bench", "-S", "-n", "-t", "1"]).envs(server.1.client_environment()).env(name, odd);
        let output = command.stdin(Stdio::null()).output().expect("the program can be started");
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.contains(&format!("the environment variable {name} is not UTF-8")), "{err}");
    }
}

#[test]
fn a_stopped_generator_is_invalid() {
    let server = server();
    let args = ["-S", "-n", "-c", "4", "--schedule", "const(500,4s)", "-P", "1", "--strict"];
    let mut running = Running::start(&server.1, &args);
    running.await_progress();
    running.signal(Signal::STOP);
    std::thread::sleep(Duration::from_millis(500));
    running.signal(Signal::CONT);
    let run = running.finish();
    assert_eq!(run.status, 3, "{run:?}");
    assert!(run.out.contains("INVALID"), "{run:?}");
}

/// Runs in a process namespace that sees no other process of this machine, like the near end of a tunnel. `None` if the
/// namespace cannot be created.
fn remote_run(postgres: &Postgres, args: &[&str]) -> Option<Run> {
    let namespaces = ["--pid", "--fork", "--mount-proc", "--"];
    let possible = Command::new("unshare").args(namespaces).arg("true").output();
    if !possible.is_ok_and(|it| it.status.success()) {
        eprintln!("skipped: no process namespace can be made; it takes root and util-linux");
        return None;
    }
    let mut command = Command::new("unshare");
    command.args(namespaces).arg(PGDYNO).arg("bench").args(args).envs(postgres.client_environment());
    let output = command.stdin(Stdio::null()).output().expect("the program can be started");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the output is UTF-8");
    let status = output.status.code().unwrap_or(-1);
    Some(Run { status, out: text(output.stdout), err: text(output.stderr) })
}

#[test]
fn warns_of_a_server_that_may_be_remote() {
    let server = server();
    let doubt = "is not shown to be on this machine";
    let local = Run::execute(&server.1, &["-S", "-n", "-t", "2"]);
    assert!(local.status == 0 && !local.err.contains(doubt), "{local:?}");
    let Some(remote) = remote_run(&server.1, &["-S", "-n", "-t", "2"]) else { return };
    assert_eq!(remote.status, 0, "without a terminal it continues: {remote:?}");
    assert!(remote.err.contains(doubt) && remote.err.contains("--yes-load="), "{remote:?}");
    let host = server.1.sockets.display().to_string();
    let named =
        remote_run(&server.1, &["-S", "-n", "-t", "2", "--yes-load", &host]).expect("the program can be run");
    assert!(named.status == 0 && !named.err.contains(doubt), "{named:?}");
    // Existing tables are not dropped without a message.
    let count = || {
        let mut connection =
            server.1.target().open(Duration::from_secs(10)).expect("the server accepts connections");
        connection.value("select count(*) from pgbench_branches").expect("the table exists")
    };
    let before = count();
    let refused = remote_run(&server.1, &["-i", "-s", "2"]).expect("the program can be run");
    assert_eq!((refused.status, count()), (1, before), "{refused:?}");
    assert!(refused.err.contains("-i would drop its table pgbench_accounts"), "{refused:?}");
}

#[test]
fn makes_unlogged_partitions_with_foreign_keys() {
    let server = server();
    let mut connection =
        server.1.target().open(Duration::from_secs(10)).expect("the server accepts connections");
    connection.query("create database partitioned").expect("the statement succeeds");
    for method in ["range", "hash"] {
        let tables = ["-i", "-q", "--unlogged-tables", "--partitions=2", "--partition-method", method];
        let run = Run::execute(&server.1, &[&tables[..], &["--foreign-keys", "partitioned"]].concat());
        assert_eq!(run.status, 0, "{run:?}");
    }
}

#[test]
fn does_not_drop_foreign_tables() {
    let server = server();
    let ask = |database: &str, sql: &str| {
        let target = server.1.target().in_database(database);
        let mut connection = target.open(Duration::from_secs(10)).expect("the server accepts connections");
        connection.value(sql).expect("the statement succeeds")
    };
    ask("postgres", "create database theirs");
    ask("theirs", "create table pgbench_history as select 7 as balance");
    for steps in ["dtgvp", "g", "d"] {
        let run = Run::execute(&server.1, &["-i", "-q", "-I", steps, "theirs"]);
        assert_eq!(run.status, 1, "{run:?}");
        assert!(run.err.contains("pgbench_history does not have the columns of pgbench's table"), "{run:?}");
    }
    assert_eq!(ask("theirs", "select balance from pgbench_history").as_deref(), Some("7"));
    ask("theirs", "drop table pgbench_history");
    for _ in 0..2 {
        let run = Run::execute(&server.1, &["-i", "-q", "theirs"]);
        assert_eq!(run.status, 0, "its own tables are made, and made anew: {run:?}");
    }
}

#[test]
fn warns_of_another_run_on_the_database() {
    let server = server();
    let args = ["-S", "-n", "-t", "2"];
    let note = "another pgdyno is running in this database";
    let mut session =
        server.1.target().open(Duration::from_secs(10)).expect("the server accepts connections");
    // A pooler keeps the application name of a run that has ended.
    session.query("set application_name = 'pgdyno bench'").expect("the statement succeeds");
    let single = Run::execute(&server.1, &args);
    assert!(single.status == 0 && !single.err.contains(note), "{single:?}");
    // The monitor of another run's trial has this name.
    session.query("set application_name = 'pgdyno monitor'").expect("the statement succeeds");
    let shared = Run::execute(&server.1, &args);
    assert!(
        shared.status == 0 && shared.err.contains(note) && shared.err.contains("pgdyno monitor"),
        "{shared:?}"
    );
}
