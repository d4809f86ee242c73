//! An interrupted run prints its results and leaves no statement on the server

use super::test_server::{SHARED, Script, TestServer, combined_output};
use load::driver::Driver;
use rustix::process::{Pid, Signal, kill_process};
use stack::client::Connection;
use stack::component::postgres::Settings;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Output};

const SLEEP: &str = "SELECT pg_sleep(600);\n";

fn sleeping(connection: &mut Connection) -> usize {
    let count =
        "select count(*) from pg_stat_activity where query like 'SELECT pg_sleep(600)%' and state = 'active'";
    connection.value(count).expect("the server answers").and_then(|it| it.parse().ok()).expect("a number")
}

fn wait_until(description: &str, mut holds: impl FnMut() -> bool) {
    let begun = std::time::Instant::now();
    while !holds() {
        assert!(begun.elapsed().as_secs() < 120, "{description}: not within two minutes");
        std::thread::yield_now();
    }
}

fn pid(number: u32) -> Pid {
    Pid::from_raw(i32::try_from(number).expect("process numbers fit")).expect("not 0")
}

/// Sends a signal and waits until it was received, because two equal pending signals may merge.
fn send_signal(run: &Child, signal: Signal) {
    kill_process(pid(run.id()), signal).expect("the process is running");
    wait_until("the signal is delivered", || {
        let status = fs::read_to_string(format!("/proc/{}/status", run.id())).unwrap_or_default();
        let pending = status.lines().find_map(|it| it.strip_prefix("ShdPnd:"));
        pending.is_none_or(|mask| mask.trim().bytes().all(|it| it == b'0'))
    });
}

#[track_caller]
fn reported(name: &str, output: &Output) {
    let text = combined_output(output);
    assert_eq!(output.status.code(), Some(2), "{name}: {text}");
    assert!(text.contains("number of transactions actually processed: "), "{name}: {text}");
    assert!(text.contains("Run was aborted"), "{name}: {text}");
}

/// Process ids of the server and its sessions.
fn processes(server: &TestServer) -> Vec<Pid> {
    let master = server.supervisor.pid(server.postgres.node).expect("the server runs");
    let children =
        fs::read_to_string(format!("/proc/{master}/task/{master}/children")).expect("Linux has it");
    let children = children.split_whitespace().map(|it| it.parse().expect("a number"));
    children.chain([master]).map(pid).collect()
}

#[test]
fn second_signal_cancels_running_statements() {
    let mut connection = SHARED.connect();
    let script = Script::new("sleep", SLEEP);
    for driver in Driver::ALL.map(Driver::name) {
        let arguments = ["-n", "-f", script.path(), "-c", "4", "-j", "2", "-T", "600", "--driver", driver];
        let run = SHARED.spawn(&arguments);
        wait_until("the statements are active", || sleeping(&mut connection) == 4);
        send_signal(&run, Signal::INT);
        send_signal(&run, Signal::INT);
        reported(driver, &run.wait_with_output().expect("the process can be waited for"));
        wait_until("no statement of the run is active", || sleeping(&mut connection) == 0);
    }
}

#[test]
fn every_signal_ends_a_run_with_a_report() {
    let script = Script::new("short", "SELECT 1;\n");
    let mut connection = SHARED.connect();
    for signal in [Signal::TERM, Signal::HUP, Signal::QUIT] {
        let name = format!("{signal:?}").replace(|it: char| !it.is_ascii_alphanumeric(), "");
        let run = SHARED
            .command(&["-n", "-f", script.path(), "-c", "2", "-T", "600"])
            .env("PGAPPNAME", &name)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("pgdyno can be run");
        let query = format!(
            "select 1 from pg_stat_activity where query like 'SELECT 1;%' and application_name like '%{name}%'"
        );
        wait_until("pgdyno measures", || connection.value(&query).expect("the server answers").is_some());
        send_signal(&run, signal);
        reported(&name, &run.wait_with_output().expect("the process can be waited for"));
    }
}

/// The run gives up on a frozen server. When the server continues, it cancels the statements.
#[test]
fn gives_up_a_frozen_server() {
    let server = TestServer::start(&Settings::default());
    let mut connection = server.connect();
    let script = Script::new("frozen", SLEEP);
    let begin = |seconds| server.spawn(&["-n", "-f", script.path(), "-c", "2", "-T", seconds]);
    let (once, twice, mut thrice, runs_out) = (begin("600"), begin("600"), begin("600"), begin("5"));
    wait_until("the statements are active", || sleeping(&mut connection) == 8);
    let frozen = processes(&server);
    frozen.iter().for_each(|it| kill_process(*it, Signal::STOP).expect("the process is running"));
    send_signal(&once, Signal::INT);
    send_signal(&twice, Signal::INT);
    send_signal(&twice, Signal::INT);
    wait_until("a third signal ends pgdyno", || {
        let ended = thrice.try_wait().expect("the process is a child of this one");
        if ended.is_none() {
            kill_process(pid(thrice.id()), Signal::INT).expect("the process is a child of this one");
        }
        ended.is_some_and(|it| it.signal() == Some(Signal::INT.as_raw()))
    });
    let ended = [("twice", twice), ("once", once), ("by its duration", runs_out)]
        .map(|(name, it)| (name, it.wait_with_output().expect("the process can be waited for")));
    frozen.iter().for_each(|it| kill_process(*it, Signal::CONT).expect("the process exists"));
    reported(ended[0].0, &ended[0].1);
    reported(ended[1].0, &ended[1].1);
    let text = combined_output(&ended[2].1);
    assert_eq!(ended[2].1.status.code(), Some(2), "{text}");
    assert!(text.contains("number of transactions actually processed: 0"), "{text}");
    // A run that exits at once cancels nothing.
    wait_until("no other statement is active", || sleeping(&mut connection) <= 2);
}

/// Statements of `bench -i`, and those before the load, end with the program.
#[test]
fn a_signal_cancels_the_statements_of_a_preparation() {
    let mut connection = SHARED.connect();
    connection.query("create database locked").expect("a database");
    let command = |arguments: &[&str]| {
        let mut command = SHARED.command(arguments);
        command.env("PGDATABASE", "locked");
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        command
    };
    let made = command(&["-i", "-q"]).output().expect("pgdyno can be run");
    assert!(made.status.success(), "{}", combined_output(&made));
    let target = SHARED.postgres.target().in_database("locked");
    let mut lock = target.open(std::time::Duration::from_secs(10)).expect("the server accepts connections");
    lock.query("begin; lock table pgbench_branches, pgbench_accounts in access exclusive mode")
        .expect("a lock");
    let waiting =
        "select count(*) from pg_stat_activity where datname = 'locked' and wait_event_type = 'Lock'";
    let mut is_waiting = || connection.value(waiting).expect("the server answers").as_deref() == Some("1");
    for arguments in [&["-i", "-I", "v"][..], &["-i", "-I", "d"], &["-i", "-I", "g"], &["-c", "1"]] {
        for signal in [Signal::INT, Signal::TERM] {
            let run = command(arguments).spawn().expect("pgdyno can be run");
            wait_until("the statement waits", &mut is_waiting);
            send_signal(&run, signal);
            let output = run.wait_with_output().expect("the process can be waited for");
            let text = combined_output(&output);
            assert_eq!(output.status.code(), Some(1), "{arguments:?} {signal:?}: {text}");
            assert!(text.contains("stopped by a signal"), "{arguments:?} {signal:?}: {text}");
            assert!(!is_waiting(), "{arguments:?} {signal:?}: the server has answered the cancel request");
        }
    }
}
