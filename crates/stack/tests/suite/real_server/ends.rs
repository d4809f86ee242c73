//! Tests that all processes end with the process that started them

use super::server::{TEST_TIMEOUT, installation, keeper};
use model::message::Message;
use rustix::process::{Pid, Signal, kill_process};
use stack::component::postgres::{Postgres, Settings};
use stack::supervisor::{End, Launch, Sig, Supervisor};
use std::path::Path;
use std::time::{Duration, Instant};

#[test]
fn killed_keeper_ends_children_and_next_keeper_removes_directory() {
    let mut supervisor = Supervisor::start(&keeper()).unwrap();
    let postgres = Postgres::start(&mut supervisor, &installation(), &Settings::default()).unwrap();
    let directory = supervisor.directory().to_owned();
    let pid = Pid::from_raw(i32::try_from(supervisor.keeper_pid()).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while postgres.target().open(TEST_TIMEOUT).is_ok() {
        assert!(Instant::now() < deadline, "the server still answers");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(supervisor.signal(postgres.node, Sig::Term).is_err());
    drop(supervisor);
    assert!(directory.exists());
    // The lock is released when the last process that holds it has ended.
    let deadline = Instant::now() + Duration::from_secs(20);
    while directory.exists() {
        assert!(Instant::now() < deadline, "{} is still there", directory.display());
        drop(Supervisor::start(&keeper()).unwrap());
    }
}

#[test]
fn restarted_server_keeps_rows() {
    let mut supervisor = Supervisor::start(&keeper()).unwrap();
    let mut postgres = Postgres::start(&mut supervisor, &installation(), &Settings::default()).unwrap();
    let mut connection = postgres.target().open(TEST_TIMEOUT).unwrap();
    connection.query("create table t as select 7 as a").unwrap();
    postgres.restart(&mut supervisor).unwrap();
    connection.query("select 1").unwrap_err();
    let mut connection = postgres.target().open(TEST_TIMEOUT).unwrap();
    assert_eq!(connection.value("select a from t").unwrap().as_deref(), Some("7"));

    supervisor.signal(postgres.node, Sig::Kill).unwrap();
    postgres.restart(&mut supervisor).unwrap();
    let mut connection = postgres.target().open(TEST_TIMEOUT).unwrap();
    assert_eq!(connection.value("select a from t").unwrap().as_deref(), Some("7"));
    let directory = supervisor.directory().to_owned();
    drop((connection, supervisor));
    assert!(!directory.exists());
}

#[test]
fn orphans_are_ended() {
    let mut supervisor = Supervisor::start(&keeper()).unwrap();
    let mark = supervisor.home().join("pid");
    // The child's shell has exited, so the kernel reparented the child to the keeper; only the keeper knows its pid.
    let script =
        format!("setsid sh -c 'echo $$ > {0}.new; mv {0}.new {0}; exec sleep 1000' & wait", mark.display());
    let launch = Launch::new("shell", "/bin/sh", &supervisor.home()).args(["-c".to_owned(), script]);
    let user = supervisor.user().cloned();
    let node = supervisor.launch(launch.as_user(user.as_ref())).unwrap();
    let ask = || match std::fs::read_to_string(&mark) {
        Ok(text) => stack::supervisor::Readiness::Ready(text.trim().parse::<i32>().unwrap()),
        Err(error) => stack::supervisor::Readiness::NotYet((&error).into()),
    };
    let orphan = supervisor.await_ready(node, TEST_TIMEOUT, ask).unwrap();
    assert_eq!(supervisor.stop(node).unwrap(), End::Signal(15));
    assert!(Path::new(&format!("/proc/{orphan}")).exists());
    drop(supervisor);
    assert!(!Path::new(&format!("/proc/{orphan}")).exists());
}

#[test]
fn failures_name_node_attempt_and_log() {
    let mut supervisor = Supervisor::start(&keeper()).unwrap();
    let home = supervisor.home();
    let user = supervisor.user().cloned();
    let mut check = |argv: &[&str], expected: &str| {
        let launch = Launch::new("node", argv[0], &home).args(&argv[1..]).as_user(user.as_ref());
        let failure = supervisor.run(launch, TEST_TIMEOUT).unwrap_err();
        assert_eq!(Message::from(&failure).describe(), expected);
    };
    check(
        &["/nowhere"],
        "node-error(node, attempt-start, error-of(No such file or directory, /nowhere), none)",
    );
    check(
        &["/bin/sh", "-c", "echo one; echo two >&2; exit 3"],
        "node-error(node, attempt-run, node-ended(node-exited(3), none),   one\n  two)",
    );
    check(
        &["/bin/sh", "-c", "kill -9 $$"],
        "node-error(node, attempt-run, node-ended(node-signalled(9), none),   one\n  two)",
    );
    let full = "2026-11-22 20:00:00.000 UTC [7] 53100 PANIC:  could not write to file \"x\": No space left on device";
    let launch = Launch::new("full", "/bin/sh", &home).args(["-c", &format!("echo '{full}'; exit 1")]);
    let failure = supervisor.run(launch.as_user(user.as_ref()), TEST_TIMEOUT).unwrap_err();
    let expected =
        "node-ended(node-exited(1), node-disk-full(could not write to file \"x\": No space left on device))";
    assert_eq!(failure.reason.describe(), expected);
}
