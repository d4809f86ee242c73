//! Run of the example in docs/pytest, in a copy, on a server that `pgdyno stack` starts
//!
//! Without pytest, the test is skipped. PGDYNO_PYTEST may name a directory into which pip installed it.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

const PGDYNO: &str = env!("CARGO_BIN_EXE_pgdyno");
const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/pytest");
/// Objective and load of the example. The test replaces them, so that its result does not depend on the machine.
const OBJECTIVE: &str = "p95 < 100ms";
const LOAD: &str = "{ model: open, schedule: \"const(50, 5s)\", max_in_flight: 20 }";

#[test]
fn example_passes_fails_and_is_skipped() {
    if !can_run() {
        return;
    }
    let example = Example::new();
    let server = Server::start(&example.folder);

    let names =
        ["test_objectives_are_met", "test_no_transaction_fails", "test_every_statement_returns_a_row"];
    // On a very busy machine, a measurement may be invalid; the example then skips its tests.
    let invalid = "the measurement is invalid";

    let (done, junit) = example.run(&[(OBJECTIVE, "p95 < 60s")], &server.environment());
    assert!(done.status.success(), "{done:?}");
    assert!(names.iter().all(|name| junit.contains(name)), "{junit}");
    let skipped = if junit.contains(invalid) { 3 } else { 0 };
    let counts = format!("errors=\"0\" failures=\"0\" skipped=\"{skipped}\" tests=\"3\"");
    assert!(junit.contains(&counts), "{junit}");
    assert_eq!(junit.contains("name=\"load tps\""), skipped == 0, "{junit}");
    let results = example.folder.join("pgdyno-results/load");
    let own = fs::read_to_string(results.join("junit.xml")).expect("the example writes JUnit");
    assert!(own.contains("p95 &lt; 60s"), "{own}");
    assert!(results.join("report.html").exists());

    // A closed-loop load has no intended starts, so it is rarely invalid.
    let failing = [(OBJECTIVE, "p95 < 1us"), (LOAD, "{ model: closed, clients: 2, duration: 2s }")];
    let (done, junit) = example.run(&failing, &server.environment());
    let (status, failures, skipped) = if junit.contains(invalid) { (0, 0, 3) } else { (1, 1, 0) };
    assert_eq!(done.status.code(), Some(status), "{done:?}");
    let counts = format!("errors=\"0\" failures=\"{failures}\" skipped=\"{skipped}\" tests=\"3\"");
    assert!(junit.contains(&counts), "{junit}");
    assert_eq!(junit.contains("p95 &lt; 1us"), failures == 1, "{junit}");

    let (done, junit) = example.run(&[], &[]);
    assert!(done.status.success() && junit.contains("skipped=\"3\""), "{done:?}");
}

#[test]
fn example_reports_a_wrong_database() {
    if !can_run() {
        return;
    }
    let example = Example::new();
    let (done, junit) = example.run(&[], &[("TEST_DATABASE", "host=127.0.0.1 port=1 dbname=x")]);
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    assert!(junit.contains("pgdyno returned status 1") && junit.contains("127.0.0.1"), "{junit}");
}

/// Returns whether there is pytest. Without it, the test is reported as skipped.
fn can_run() -> bool {
    let found = pytest(Path::new("/")).arg("--version").output().is_ok_and(|done| done.status.success());
    if !found {
        eprintln!("SKIPPED: pytest is not installed; ./x setup installs it");
    }
    found
}

fn pytest(folder: &Path) -> Command {
    let mut command = Command::new("python3");
    command.args(["-B", "-m", "pytest", "-p", "no:cacheprovider"]).current_dir(folder);
    let programs = Path::new(PGDYNO).parent().expect("the program is in a directory").to_owned();
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([programs].into_iter().chain(env::split_paths(&path)));
    command.env("PATH", path.expect("no folder contains a colon"));
    if let Some(directory) = env::var_os("PGDYNO_PYTEST") {
        command.env("PYTHONPATH", directory);
    }
    command.env_remove("TEST_DATABASE").env_remove("PYTEST_ADDOPTS").env_remove("PGDYNO_LANG");
    command
}

/// Copy of the example, removed on drop.
struct Example {
    folder: PathBuf,
}

impl Example {
    fn new() -> Example {
        let process = std::process::id();
        let folder =
            (0..).map(|number| PathBuf::from(format!("/var/tmp/dyno-test-{process}-pytest-{number}")));
        let mut folder = folder.filter(|folder| fs::create_dir(folder).is_ok());
        let folder = folder.next().expect("/var/tmp can be written to");
        for entry in fs::read_dir(EXAMPLE).expect("the example exists") {
            let path = entry.expect("the entry can be read").path();
            if path.is_file() {
                fs::copy(&path, folder.join(path.file_name().expect("a name")))
                    .expect("the file can be copied");
            }
        }
        Example { folder }
    }

    /// Runs pytest after these replacements in the experiment file. Returns its output, and the JUnit file that it wrote.
    fn run(&self, changes: &[(&str, &str)], environment: &[(&str, &str)]) -> (Output, String) {
        let mut yaml = fs::read_to_string(Path::new(EXAMPLE).join("load.yaml")).expect("readable");
        for (old, new) in changes {
            assert!(yaml.contains(old), "{yaml}");
            yaml = yaml.replace(old, new);
        }
        fs::write(self.folder.join("load.yaml"), yaml).expect("the file can be written");
        let mut command = pytest(&self.folder);
        command.arg("--junit-xml=pytest.xml").arg("--rootdir=.").envs(environment.iter().copied());
        let done = command.output().expect("python3 can be started");
        let junit = fs::read_to_string(self.folder.join("pytest.xml"));
        (done, junit.expect("pytest writes its JUnit file"))
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A PostgreSQL that `pgdyno stack` started, stopped on drop.
struct Server {
    name: String,
    conninfo: String,
    passwords: String,
}

impl Server {
    fn start(folder: &Path) -> Server {
        let file = folder.join("server.yaml");
        let yaml = "stack: { postgres: {} }\noperations: { one: { sql: SELECT 1 } }\n\
            load: { model: closed, clients: 1, duration: 1s }\n";
        fs::write(&file, yaml).expect("the file can be written");
        let name = format!("pytest-{}", std::process::id());
        let done = Command::new(PGDYNO)
            .args(["stack", "up", "--json", "--lifetime", "10m", "--name", &name])
            .arg(&file)
            .output()
            .expect("the program can be started");
        assert!(done.status.success(), "{done:?}");
        let document: Value = serde_json::from_slice(&done.stdout).expect("the output is JSON");
        let command = &document["stacks"][0]["state"]["up"][0]["connect_commands"][0]["command"];
        let command = command.as_str().expect("a psql command").to_owned();
        // PGPASSFILE=FILE psql 'CONNINFO'
        let (environment, psql) = command.split_once(" psql '").expect("the command calls psql");
        let passwords = environment.strip_prefix("PGPASSFILE=").expect("a file with passwords").to_owned();
        Server { name, conninfo: psql.trim_end_matches('\'').to_owned(), passwords }
    }

    fn environment(&self) -> [(&str, &str); 2] {
        [("TEST_DATABASE", &self.conninfo), ("PGPASSFILE", &self.passwords)]
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = Command::new(PGDYNO).args(["stack", "down", &self.name]).output();
    }
}
