//! `pgdyno stack`: connections, lookup by name, shutdown and cleanup

use super::workspace::{BARE, PGDYNO, RunOutput, Workspace, groups, retry_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use stack::find::InstallationSearch;
use std::fs;
use std::io::{BufRead, BufReader};
use std::ops::Deref;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MODES: &str = "
stack:
  pooler: { kind: pgbouncer, size: 5, limits: { cpu: 0.5 } }
  postgres: { transport: tls }
dataset: { name: tickets, rows: 1_000 }
operations: { one: { sql: SELECT 1 } }
load: { model: closed, clients: 2, duration: 1s }
matrix: { pooler.mode: [session, transaction] }
";

/// Dataset that loads slowly enough to be interrupted, and is too small to fill a disk.
const LARGE: &str = "
stack: { postgres: {} }
dataset: { name: tickets, rows: 10_000_000 }
operations: { one: { sql: SELECT 1 } }
load: { model: closed, clients: 2, duration: 1s }
";

/// Folder for stacks, which are stopped on drop even if the test fails.
struct StackWorkspace(Workspace);

impl StackWorkspace {
    fn new(name: &str, yaml: &str) -> StackWorkspace {
        StackWorkspace(Workspace::new(name, yaml))
    }
}

impl Deref for StackWorkspace {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        &self.0
    }
}

impl Drop for StackWorkspace {
    fn drop(&mut self) {
        let logs = fs::read_dir(stacks_directory(self)).into_iter().flatten().flatten().map(|it| it.path());
        for log in logs.filter(|path| path.extension().is_some_and(|it| it == "log")) {
            let name = log.file_stem().and_then(|it| it.to_str()).unwrap_or_default().to_owned();
            // A stack that has just ended cannot be stopped, so errors are ignored.
            let _ = command(self, &["down", &name]).output();
        }
    }
}

/// Command `pgdyno stack` with its runtime directory below the test's folder.
fn command(workspace: &Workspace, arguments: &[&str]) -> Command {
    let mut command = workspace.command(&[]);
    let mut stack_command = Command::new(PGDYNO);
    stack_command.arg("stack").args(arguments).current_dir(&workspace.folder).stdin(Stdio::null());
    stack_command
        .envs(command.env_remove("XDG_RUNTIME_DIR").get_envs().filter_map(|(name, it)| Some((name, it?))));
    stack_command.env("XDG_RUNTIME_DIR", &workspace.folder);
    stack_command
}

fn stack(workspace: &Workspace, arguments: &[&str]) -> RunOutput {
    RunOutput::run(&mut command(workspace, arguments))
}

fn status(workspace: &Workspace, name: &str) -> Value {
    let document = stack(workspace, &["status", name, "--json"]).document();
    document["stacks"][0].clone()
}

fn pid(node: &Value) -> Pid {
    let number = node["pid"].as_i64().and_then(|it| i32::try_from(it).ok());
    number.and_then(Pid::from_raw).unwrap_or_else(|| panic!("no process in {node:#}"))
}

/// Directory of the sockets and logs of running stacks.
fn stacks_directory(workspace: &Workspace) -> PathBuf {
    workspace.folder.join("pgdyno")
}

/// Printed psql commands of this role, the first endpoint's first.
fn lines(text: &str, role: &str) -> Vec<String> {
    text.lines().filter_map(|it| it.trim_start().strip_prefix(role)).map(|it| it.trim().to_owned()).collect()
}

/// Output of a printed psql command, run without the test's environment.
#[track_caller]
fn ask(line: &str, sql: &str) -> String {
    let bin = InstallationSearch::from_environment(None, None)
        .find_first()
        .unwrap_or_else(|none| panic!("{none:?}"))
        .bin;
    let mut shell = Command::new("/bin/sh");
    shell.env_clear().env("PATH", format!("{}:/usr/bin:/bin", bin.display())).stdin(Stdio::null());
    let output = RunOutput::run(shell.args(["-c", &format!("{line} -w -X -A -t -c \"{sql}\"")]));
    output.expect(0);
    output.out.trim().to_owned()
}

/// Password file of a printed command.
fn passwords(line: &str) -> PathBuf {
    let file = line.split_whitespace().find_map(|it| it.strip_prefix("PGPASSFILE="));
    PathBuf::from(file.unwrap_or_else(|| panic!("no file in {line}")))
}

#[test]
fn brings_a_stack_up_and_down() {
    let workspace = StackWorkspace::new("modes", MODES);
    let up = stack(&workspace, &["up", "modes.yaml", "--cell", "pooler.mode=transaction"]);
    up.expect(0);
    let (application, superuser) = (lines(&up.out, "application"), lines(&up.out, "superuser"));
    assert_eq!((application.len(), superuser.len()), (2, 1), "{}", up.out);
    for address in &application {
        assert_eq!(ask(address, "select current_user, count(*) from book.tickets"), "app|1000");
    }
    assert_eq!(ask(&superuser[0], "select usesuper from pg_user where usename = current_user"), "t");
    let console = lines(&up.out, "console");
    assert!(ask(&console[0], "show config").contains("pool_mode|transaction"), "{}", up.out);

    // Only the file contains passwords.
    let file = passwords(&superuser[0]);
    let metadata = file.metadata().expect("the file exists");
    assert_eq!((metadata.mode() & 0o777, metadata.uid()), (0o600, rustix::process::geteuid().as_raw()));
    let text = fs::read_to_string(&file).expect("the file can be read");
    let secrets: Vec<&str> = text.lines().filter_map(|it| it.rsplit(':').next()).collect();
    assert_eq!(secrets.len(), 4, "two of the application, the superuser's and the console's");
    let processes = fs::read_dir("/proc").expect("Linux").flatten();
    let arguments = processes.map(|it| fs::read(it.path().join("cmdline")).unwrap_or_default());
    let arguments: String = arguments.map(|it| String::from_utf8_lossy(&it).into_owned()).collect();
    let log =
        fs::read_to_string(stacks_directory(&workspace).join("modes.log")).expect("the file can be read");
    for secret in secrets {
        assert!(
            ![&up.out, &up.err, &arguments, &log].iter().any(|output| output.contains(secret)),
            "a password"
        );
    }

    let twice = stack(&workspace, &["up", "modes.yaml"]);
    assert!(twice.expect(1).err.contains("a stack named modes is already up"), "{}", twice.err);
    assert!(twice.err.contains("pgdyno stack down modes"), "{}", twice.err);
    stack(&workspace, &["up", "modes.yaml", "--name", "other", "--lifetime", "1h"]).expect(0);
    let both = stack(&workspace, &["status", "modes.yaml"]);
    let heads: Vec<&str> = both.expect(0).out.lines().filter(|it| it.contains(" has been up for ")).collect();
    assert_eq!(heads.len(), 2, "{}", both.out);
    assert_eq!(status(&workspace, "other")["cell"][0][1], "session");
    assert_eq!(status(&workspace, "modes")["cell"][0][1], "transaction");
    stack(&workspace, &["down", "other"]).expect(0);
    assert_eq!(ask(&application[0], "select 1"), "1");

    let run = file.parent().and_then(Path::file_name).and_then(|it| it.to_str()).expect("a plain name");
    let keeper = run.strip_prefix("pgdyno-").and_then(|it| it.parse().ok()).expect("pgdyno-<number>");
    stack(&workspace, &["down", "modes.yaml"]).expect(0);
    // `down` returns only after everything is gone.
    assert_eq!(workspace.leftovers(), [""; 0]);
    assert!(!stacks_directory(&workspace).exists() && groups(keeper).is_empty());
    for verb in ["down", "status"] {
        let none = stack(&workspace, &[verb, "modes.yaml"]);
        assert!(none.expect(1).err.contains("no stack of modes.yaml is up"), "{}", none.err);
    }
    assert_eq!(stack(&workspace, &["status"]).expect(0).out, "no stack is up\n");
}

#[test]
fn status_reports_a_node_that_died() {
    let workspace = StackWorkspace::new("died", BARE);
    stack(&workspace, &["up", "died.yaml"]).expect(0);
    let node = &status(&workspace, "died")["state"]["up"][0];
    assert_eq!(node["condition"], "running");
    kill_process(pid(node), Signal::KILL).expect("the process is running");
    retry_until("the end of the stack is reported", || {
        let report = stack(&workspace, &["status", "died"]);
        let is_reported =
            report.status.code() == Some(2) && report.out.contains("ENDED: it was ended by signal 9");
        if is_reported { Ok(()) } else { Err(report.out) }
    });
    stack(&workspace, &["down", "died"]).expect(0);
    assert_eq!(workspace.leftovers(), [""; 0]);
}

#[test]
fn killing_the_holder_ends_the_stack() {
    for signal in [Signal::KILL, Signal::TERM, Signal::INT] {
        let workspace = StackWorkspace::new("shot", BARE);
        stack(&workspace, &["up", "shot.yaml"]).expect(0);
        kill_process(pid(&status(&workspace, "shot")), signal).expect("the process is running");
        workspace.await_cleanup();
        // If the holder was killed, no process removed the directory.
        assert_eq!(stacks_directory(&workspace).exists(), signal == Signal::KILL);
        let none = stack(&workspace, &["status", "shot"]);
        assert!(none.expect(1).err.contains("no stack of shot is up"), "{}", none.err);
        assert!(!stacks_directory(&workspace).exists(), "leftover files are removed");
        stack(&workspace, &["up", "shot.yaml"]).expect(0);
        stack(&workspace, &["down", "shot"]).expect(0);
    }
}

#[test]
fn can_be_stopped_before_it_is_up() {
    for method in ["interrupted", "killed", "down"] {
        let workspace = StackWorkspace::new("large", LARGE);
        let mut up = command(&workspace, &["up", "large.yaml"]);
        let mut up =
            up.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program can be started");
        let mut lines = BufReader::new(up.stderr.take().expect("the stream is piped")).lines();
        let first = lines.next().expect("a line").expect("text");
        assert!(first.starts_with("postgres is ready"), "{first}");
        let report = stack(&workspace, &["status", "large"]);
        assert!(report.expect(0).out.contains("large has been starting for "), "{}", report.out);
        match method {
            "interrupted" => kill_process(Pid::from_child(&up), Signal::INT).expect("the process is running"),
            "killed" => kill_process(Pid::from_child(&up), Signal::KILL).expect("the process is running"),
            _ => drop(stack(&workspace, &["down", "large"]).expect(0).status),
        }
        let last = lines.map_while(Result::ok).last();
        let status = up.wait().expect("the process can be waited for");
        if method != "killed" {
            assert_eq!((status.code(), last.as_deref()), (Some(1), Some("pgdyno stack: error: stopped")));
            assert_eq!(workspace.leftovers(), [""; 0], "{method}");
        }
        workspace.await_cleanup();
        retry_until("the directory is removed", || {
            if stacks_directory(&workspace).exists() { Err("no".to_owned()) } else { Ok(()) }
        });
    }
}

#[test]
fn a_failed_start_leaves_nothing() {
    let workspace = StackWorkspace::new("missing", MODES);
    let check = |arguments: &[&str], status: i32, expected: &str| {
        let mut up = command(&workspace, &[&["up", "missing.yaml"], arguments].concat());
        let ended = RunOutput::run(up.env("PGDYNO_PGBOUNCER", "/nowhere"));
        assert!(ended.expect(status).err.contains(expected), "{}", ended.err);
        assert_eq!(workspace.leftovers(), [""; 0]);
        assert!(!stacks_directory(&workspace).exists());
        ended
    };
    let missing = check(&[], 1, "no PgBouncer was found on this machine");
    // `run` prints the same message on one line.
    let run = RunOutput::run(workspace.command(&["--set", "repeat=1"]).env("PGDYNO_PGBOUNCER", "/nowhere"));
    let message = missing.err.split_once("error: ").expect("an error").1;
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(run.err.contains(&message), "{message}\nis not in\n{}", run.err);
    check(&["--cell", "pooler.mode=none"], 1, "hint: pooler.mode is session or transaction");
    check(&["--name", "../x"], 1, "is not a valid name of a stack");
    check(&["--lifetime", "soon"], 2, "write a whole number and s, m or h");
    check(&["--set", "pooler.size=lots"], 2, "nothing was started");
}

#[test]
fn does_not_stop_attached_servers() {
    let attached_workspace = StackWorkspace::new("there", BARE);
    let line =
        lines(&stack(&attached_workspace, &["up", "there.yaml"]).expect(0).out, "application").remove(0);
    let address = line.split_once("psql ").expect("a line for psql").1.trim_matches('\'');
    let yaml = format!(
        "
stack: {{ pooler: {{ kind: pgbouncer, size: 5 }}, postgres: {{ attach: \"{address}\" }} }}
operations: {{ one: {{ sql: SELECT 1 }} }}
load: {{ model: closed, clients: 2, duration: 1s }}
"
    );
    let workspace = StackWorkspace::new("here", &yaml);
    let mut up = command(&workspace, &["up", "here.yaml"]);
    let up = RunOutput::run(up.env("PGPASSFILE", passwords(&line)));
    up.expect(0);
    let printed = lines(&up.out, "application");
    assert_eq!(ask(&printed[0], "select current_user"), "app", "through our pooler");
    assert_eq!(printed[1], format!("psql '{address}'"), "the user supplies the password");
    assert!(up.out.contains("attached: not started by pgdyno"), "{}", up.out);
    stack(&workspace, &["down", "here"]).expect(0);
    assert_eq!(workspace.leftovers(), [""; 0]);
    assert_eq!(ask(&line, "select 1"), "1");
    stack(&attached_workspace, &["down", "there"]).expect(0);
}
