//! Does `pgdyno bench` do with a real server what it says?
//!
//! The program is run as users run it; only its statuses and what it prints are looked at. Needs an installed PostgreSQL.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use stack::component::postgres::{Postgres, Settings};
use stack::find::Search;
use stack::supervisor::{KeeperProgram, Supervisor};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

const PGDYNO: &str = env!("CARGO_BIN_EXE_pgdyno");

/// Connections that the shared server takes; some of them are its superuser's alone.
const MAX_CONNECTIONS: u32 = 40;

fn start() -> (Supervisor, Postgres) {
    let keeper = KeeperProgram { program: PGDYNO.into(), arguments: vec!["keeper"] };
    let mut supervisor = Supervisor::start(&keeper).expect("a keeper starts");
    let installation = Search::here(None, None).first().expect("these tests need a PostgreSQL server");
    let settings = Settings { max_connections: MAX_CONNECTIONS, ..Settings::default() };
    let postgres = Postgres::start(&mut supervisor, &installation, &settings).expect("a server starts");
    (supervisor, postgres)
}

/// The server that the tests share, with pgbench's tables; it ends with the process. Held by one test at a time: they
/// count its connections.
fn server() -> std::sync::MutexGuard<'static, (Supervisor, Postgres)> {
    static SERVER: OnceLock<Mutex<(Supervisor, Postgres)>> = OnceLock::new();
    let server = SERVER.get_or_init(|| {
        let (supervisor, postgres) = start();
        let made = Run::of(&postgres, &["-i", "-q"]);
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
    fn of(postgres: &Postgres, args: &[&str]) -> Run {
        let output = command(postgres, args).output().expect("the program runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it prints UTF-8");
        Run { status: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// A run of the shared server ends with `status` and prints all of `expected`, on either stream and however wrapped.
#[track_caller]
fn check(line: &str, status: i32, expected: &[&str]) {
    let args: Vec<&str> = line.split(' ').collect();
    let run = Run::of(&server().1, &args);
    assert_eq!(run.status, status, "{line}: {run:?}");
    let words: Vec<&str> = run.out.split_whitespace().chain(run.err.split_whitespace()).collect();
    let said = words.join(" ");
    for it in expected {
        assert!(said.contains(it), "{line}: {it:?} is not in {run:#?}");
    }
}

/// A file that ends with its test.
struct Script(PathBuf);

impl Script {
    fn new(name: &str, text: &str) -> Script {
        let path = std::env::temp_dir().join(format!("pgdyno-{}-{name}.sql", std::process::id()));
        fs::write(&path, text).expect("there is room");
        Script(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("a plain name")
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn every_mode_and_driver() {
    for mode in ["simple", "extended", "prepared"] {
        for driver in ["epoll", "auto"] {
            let line = format!("-S -n -t 20 -c 3 -j 2 -M {mode} --driver={driver}");
            let mode = format!("query mode: {mode}");
            check(&line, 0, &["processed: 60/60", &mode, "response time, ms", "verdict "]);
        }
    }
}

#[test]
fn every_model() {
    check("-S -n -t 5 -c 2 --think 1ms", 0, &["processed: 10/10", "closed model, thinking 1.0 ms"]);
    check("-S -n -t 5 -c 2 -C", 0, &["processed: 10/10", "average connection time", "log-in, ms"]);
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

#[test]
fn failures_are_counted_by_code() {
    let sometimes = Script::new("sometimes", "\\set r random(0, 1)\nSELECT 1 / :r;\n");
    let line = format!("-n -t 40 -M prepared --random-seed 7 -f {}", sometimes.path());
    check(&line, 2, &["22012", "division_by_zero", "ERROR: division by zero"]);
    let never = Script::new("never", "SELEKT 1;\n");
    check(&format!("-n -t 5 -f {}", never.path()), 2, &["processed: 0/5", "syntax error", "aborted"]);
    let crowd = format!("-S -n -c {} -T 1", MAX_CONNECTIONS + 5);
    check(&crowd, 2, &["53300", "too_many_connections", "not connected"]);
}

#[test]
fn one_document() {
    let run = Run::of(&server().1, &["-S", "-n", "-t", "20", "-c", "3", "--json", "-r", "--random-seed=42"]);
    let it: Value = serde_json::from_str(&run.out).expect("one JSON document");
    assert_eq!(it["total"]["counts"]["ok"], 60);
    assert_eq!(it["total"]["response"]["count"], 60);
    assert_eq!(it["total"]["response"]["p99_ns"], Value::Null, "60 samples have no ten beyond p99");
    assert_eq!(it["plan"]["seed"], 42);
    assert_eq!(it["plan"]["until"]["transactions"], 20);
    assert_eq!(it["server"]["transport"]["kind"], "unix_socket");
    assert_eq!(it["scripts"][0]["statements"].as_array().map(Vec::len), Some(2));
    assert_eq!(it["fairness"]["fewest"], 20);
}

#[test]
fn the_same_seed_draws_the_same() {
    let script = Script::new(
        "draw",
        "\\set r debug(random_zipfian(1, 1000000, 1.3))\n\\set s debug(permute(:r, 99))\n",
    );
    let draw = || {
        let args = ["-n", "-t", "20", "-c", "2", "--random-seed=9", "-f", script.path()];
        let mut drawn: Vec<String> = Run::of(&server().1, &args)
            .err
            .lines()
            .filter(|it| it.contains("debug("))
            .map(str::to_owned)
            .collect();
        drawn.sort();
        drawn
    };
    let drawn = draw();
    assert_eq!(drawn.len(), 80);
    assert_eq!(drawn, draw());
}

#[test]
fn log_files() {
    let directory = std::env::temp_dir().join(format!("pgdyno-log-{}", std::process::id()));
    fs::create_dir_all(&directory).expect("there is room");
    let prefix = directory.join("log").display().to_string();
    check(&format!("-S -n -t 10 -c 4 -j 2 -l --log-prefix={prefix}"), 0, &["processed: 40/40"]);
    let mut lines = 0;
    for file in fs::read_dir(&directory).expect("it was made above") {
        for line in fs::read_to_string(file.expect("it is listed").path()).expect("text").lines() {
            let numbers: Vec<u64> = line.split(' ').map(|it| it.parse().expect(line)).collect();
            let [client, nth, micros, script, seconds, fraction] = numbers[..] else { panic!("{line}") };
            assert!(client < 4 && nth < 10 && micros > 0 && script == 0, "{line}");
            assert!(seconds > 1_700_000_000 && fraction < 1_000_000, "{line}");
            lines += 1;
        }
    }
    assert_eq!(lines, 40);
    fs::remove_dir_all(&directory).expect("it was made above");
}

#[test]
fn no_password_is_shown() {
    let server = server();
    let port = server.1.port;
    for dsn in [
        format!("postgres://postgres:hush-hush@127.0.0.1:{port}/postgres"),
        format!("host=127.0.0.1 port={port} user=postgres password=hush-hush dbname=postgres"),
        format!("host=127.0.0.1 port={port} password=hush-hush nonsense=1"),
        format!("postgres://postgres:hush-hush@127.0.0.1:{port}/postgres?nonsense=1"),
    ] {
        let run = Run::of(&server.1, &["-S", "-d", "-t", "1", &dsn]);
        assert_eq!(run.status, 1, "{run:?}");
        assert!(!run.out.contains("hush") && !run.err.contains("hush"), "{run:?}");
    }
}

/// A run under way; its lines of progress tell how far it is.
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
            .expect("the program runs");
        let err = BufReader::new(child.stderr.take().expect("piped"));
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
        kill_process(pid, signal).expect("it runs");
    }

    fn finish(mut self) -> Run {
        let mut out = String::new();
        self.child.stdout.take().expect("piped").read_to_string(&mut out).expect("text");
        self.err.read_to_string(&mut self.said).expect("text");
        let status = self.child.wait().expect("it is our child");
        Run { status: status.code().unwrap_or(-1), out, err: self.said }
    }
}

#[test]
fn a_restarted_server_ends_no_run() {
    let (mut supervisor, mut postgres) = start();
    assert_eq!(Run::of(&postgres, &["-i", "-q"]).status, 0);
    let mut running = Running::start(&postgres, &["-S", "-n", "-c", "4", "-T", "6", "-P", "1", "--json"]);
    running.await_progress();
    postgres.restart(&mut supervisor).expect("it restarts");
    running.await_progress();
    let run = running.finish();
    assert_eq!(run.status, 2, "{run:?}");
    let it: Value = serde_json::from_str(&run.out).expect("one JSON document");
    let counts = &it["total"]["counts"];
    let unknown = counts["unknown"].as_u64().unwrap_or(0);
    assert!((1..=4).contains(&unknown), "no more than each client had under way: {counts}");
    let last = run.err.lines().rfind(|it| it.starts_with("progress:")).expect("it reported progress");
    assert!(!last.contains(" 0.0 tps"), "it went on: {last}");
    assert_eq!(it["fairness"]["fewest"].as_u64().map(|it| it > 0), Some(true));
}

#[test]
fn an_interrupted_run_is_reported() {
    let server = server();
    let mut running = Running::start(&server.1, &["-S", "-n", "-T", "60", "-P", "1"]);
    running.await_progress();
    running.signal(Signal::INT);
    let run = running.finish();
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.out.contains("\nverdict ") && run.err.contains("Run was aborted"), "{run:?}");
}

#[test]
fn a_frozen_generator_is_invalid() {
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
