//! `pgdyno bench --save` and `--objective`: the stored run, its commands, and the exit status
//!
//! Needs an installed PostgreSQL.

use crate::width::too_wide;
use stack::component::postgres::{Postgres, Settings};
use stack::find::InstallationSearch;
use stack::supervisor::{KeeperProgram, Supervisor};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const PGDYNO: &str = env!("CARGO_BIN_EXE_pgdyno");
const SECRET: &str = "hush-hush";

/// Server with pgbench's tables, and a directory for the runs.
struct TestBed {
    postgres: Postgres,
    _supervisor: Supervisor,
    directory: PathBuf,
}

impl TestBed {
    fn start(name: &str) -> TestBed {
        let keeper = KeeperProgram { program: PGDYNO.into(), arguments: vec!["keeper"] };
        let mut supervisor = Supervisor::start(&keeper).expect("a keeper starts");
        let installation = InstallationSearch::from_environment(None, None)
            .find_first()
            .expect("these tests need a PostgreSQL server");
        let postgres =
            Postgres::start(&mut supervisor, &installation, &Settings::default()).expect("a server starts");
        let directory = std::env::temp_dir().join(format!("pgdyno-saved-{name}-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("there is room for temporary files");
        let bed = TestBed { postgres, _supervisor: supervisor, directory };
        assert_eq!(bed.run("bench -i -q").0, Some(0));
        bed
    }

    /// Exit status and output of a command; `_` stands for a blank within an argument.
    fn run(&self, line: &str) -> (Option<i32>, String) {
        let args: Vec<String> = line.split(' ').map(|it| it.replace('_', " ")).collect();
        let output = Command::new(PGDYNO)
            .args(args)
            .envs(self.postgres.client_environment())
            .current_dir(&self.directory)
            .env("COLUMNS", "80")
            .env_remove("PGDYNO_LANG")
            .stdin(Stdio::null())
            .output()
            .expect("the program can be started");
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        (output.status.code(), text)
    }

    #[track_caller]
    fn check(&self, line: &str, status: i32, expected: &[&str]) -> String {
        let (got, text) = self.run(line);
        assert_eq!(got, Some(status), "{line}: {text}");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for fragment in expected {
            assert!(words.contains(fragment), "{line}: {fragment:?} is not in {text}");
        }
        text
    }
}

impl TestBed {
    /// Experiment of the newest run in a directory, as JSON.
    fn experiment(&self, directory: &str) -> String {
        self.value(directory, "SELECT experiment FROM run")
    }

    /// Value of a query on the newest run in a directory.
    fn value<T: rusqlite::types::FromSql>(&self, directory: &str, sql: &str) -> T {
        let entries = fs::read_dir(self.directory.join(directory)).expect("the directory was created");
        let newest = entries.map(|it| it.expect("it is listed").path()).max().expect("a run was stored");
        let connection = rusqlite::Connection::open(newest).expect("it is a database");
        connection.query_row(sql, [], |row| row.get(0)).expect("one row")
    }
}

impl Drop for TestBed {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

#[test]
fn a_saved_benchmark_is_an_ordinary_run() {
    let bed = TestBed::start("ordinary");
    fs::write(bed.directory.join("count.sql"), "SELECT count(*) FROM pgbench_branches WHERE bid < :limit;\n")
        .expect("the file can be written");
    let options = "bench -f count.sql -D limit=5 -n -c 4 -j 2 -T 2 -M prepared --save --random-seed=1";
    let text = bed.check(options, 0, &["verdict", "The system delivers", "Next: pgdyno report last"]);
    assert!(!text.contains("pgdyno compare"), "there is nothing to compare with: {text}");
    let text = bed.check(options, 0, &["pgdyno compare last~1 last"]);
    assert_eq!(too_wide(&text, 80), [""; 0]);
    let russian = bed.check(&format!("{options} --lang=ru"), 0, &[]);
    assert_eq!(too_wide(&russian, 80), [""; 0]);
    bed.check("runs", 0, &["bench"]);
    // The server was sampled, so its activity is known.
    let activity = "SELECT count(*) FROM samples WHERE node = 'postgres' AND series LIKE 'pg_%'";
    let samples: i64 = bed.value("runs", activity);
    assert!(samples > 0, "the server was sampled");
    let experiment = bed.experiment("runs");
    for expected in
        ["\"clients\":4", "\"threads\":2", "count.sql", "prepared", "[\"limit\",\"5\"]", "bid < :limit"]
    {
        assert!(experiment.contains(expected), "{expected} is not in {experiment}");
    }
    bed.check("report last --format md", 0, &["pgdyno bench -f count.sql -D", "limit=5", "-c 4 -j 2 -T 2"]);
    bed.check("compare last~1 last", 0, &["too few trials"]);
    bed.check("history bench", 0, &["bench"]);
    bed.check("export last --format csv --out tables", 0, &[]);
    bed.check("run --resume last", 1, &["a run of `pgdyno bench` cannot be resumed"]);
}

#[test]
fn every_option_of_the_load_is_stored() {
    let bed = TestBed::start("options");
    for (number, (options, expected)) in [
        ("-S -n -t 5 -c 2", "\"transactions\":5"),
        ("-S -n -T 1 -c 4 -R 50", "\"schedule\":\"const(50,1s)\""),
        ("-S -n -t 50 -c 2 -R 100", "\"schedule\":\"const(100,1s)\""),
        ("-S -n -c 4 --schedule const(50,1s)", "\"schedule\":\"const(50,1s)\""),
        ("-S -n -t 5 -C --think 1ms", "\"reconnect\":true"),
    ]
    .into_iter()
    .enumerate()
    {
        let line = format!("bench {options} --save=load --out kept{number}");
        bed.check(&line, 0, &["pgdyno report last --dir"]);
        let experiment = bed.experiment(&format!("kept{number}"));
        assert!(experiment.contains(expected), "{options}: {expected} is not in {experiment}");
    }
}

#[test]
fn objectives_determine_the_status() {
    let bed = TestBed::start("objectives");
    let bench = |objective: &str| format!("bench -S -n -t 50 -c 4 --objective {objective}");
    bed.check(&bench("p50_<_10s"), 0, &["objective met: p50 < 10s"]);
    bed.check(&bench("max_<_1us"), 99, &["objective VIOLATED: max < 1us"]);
    bed.check(&bench("p99.9_<_10s"), 4, &["objective not judged: p99.9 < 10s: p99.9 needs 10000 samples"]);
    bed.check(&bench("select-only:_errors_<_1%"), 0, &["objective met: select-only: errors < 1%"]);
    bed.check(&bench("p98_<_1s"), 2, &["--objective:1:1", "p50, p90, p95, p99, p99.9"]);
    bed.check(&bench("writes:_p50_<_1s"), 2, &["select-only"]);
    let both = format!("{} --objective max_<_1us --save --json", bench("p50_<_10s"));
    bed.check(&both, 99, &["\"verdict\": \"met\"", "\"verdict\": \"violated\"", "\"run\": \"/"]);
    bed.check("runs show last --json", 0, &["\"verdict\": \"violated\""]);
}

#[test]
fn a_run_file_contains_no_password() {
    let bed = TestBed::start("password");
    let environment = bed.postgres.client_environment();
    let value = |name: &str| {
        let found = environment.iter().find(|it| it.0 == name);
        found.unwrap_or_else(|| panic!("{name} is set")).1.clone()
    };
    let (user, password) = (value("PGUSER"), value("PGPASSWORD"));
    let (socket, port) = (bed.postgres.sockets.display().to_string(), bed.postgres.port);
    let dsn = format!("host={socket}_port={port}_user={user}_dbname=postgres_password={password}");
    let line = format!("bench -S -n -t 5 -D secret={SECRET} --save {dsn}");
    bed.check(&line, 0, &["pgdyno report last"]);
    for entry in fs::read_dir(bed.directory.join("runs")).expect("the directory was created") {
        let bytes = fs::read(entry.expect("it is listed").path()).expect("the file can be read");
        let contains = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
        assert!(!contains(&password) && !contains(SECRET), "a password is stored");
        assert!(contains("(not stored)"), "the variable is named without its value");
    }
}
