//! Events of an attached server that its clients do not see are found in the server's own counters

use super::postgres_servers::start_server_with;
use super::workspace::{BARE, Workspace};
use serde_json::Value;
use stack::client::{Connection, Target};
use std::thread;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(30);

fn open(target: &Target) -> Connection {
    target.open(TIMEOUT).unwrap_or_else(|error| panic!("{error:?}"))
}

/// Lets two sessions of another program wait for each other, until PostgreSQL cancels one of them.
fn cause_deadlock(target: &Target) {
    let [mut one, mut two] = [open(target), open(target)];
    one.query("select pg_advisory_lock(1)").expect("the lock is free");
    two.query("select pg_advisory_lock(2)").expect("the lock is free");
    let waiting = thread::spawn(move || one.query("select pg_advisory_lock(2)").is_err());
    let second = two.query("select pg_advisory_lock(1)").is_err();
    drop(two);
    let first = waiting.join().expect("the session does not panic");
    assert!(first || second, "there was a deadlock");
}

/// Lets an operator terminate a session.
fn terminate_session(target: &Target) {
    let (mut victim, mut operator) = (open(target), open(target));
    let pid = victim.value("select pg_backend_pid()").expect("the server answers").expect("a number");
    operator.query(&format!("select pg_terminate_backend({pid}, 5000)")).expect("the server answers");
}

#[test]
fn reports_deadlocks_and_lost_sessions_that_no_client_saw() {
    let (_supervisor, postgres) = start_server_with(&[("deadlock_timeout", "10ms")]);
    let address = format!("host=127.0.0.1 port={} user=postgres dbname=postgres", postgres.port);
    let stack = BARE.replace("postgres: {}", &format!("postgres: {{ attach: \"{address}\" }}"));
    let workspace = Workspace::new("hidden", &stack.replace("1s", "6s"));
    let mut command = workspace.command(&["--json"]);
    let mut running = workspace.spawn_command(command.env("PGPASSWORD", postgres.password().reveal()));
    running.await_trial(1);
    let target = postgres.target();
    // The window may begin later.
    for _ in 0..10 {
        cause_deadlock(&target);
        terminate_session(&target);
        thread::sleep(Duration::from_millis(300));
    }
    let ended = running.wait();
    let document = ended.expect(0).document();
    let findings = document["findings"].as_array().expect("the value is an array");
    let circumstance = |kind: &str| {
        let all = findings.iter().map(|it| &it["circumstance"]);
        all.into_iter().find(|it| it["kind"] == kind).unwrap_or_else(|| panic!("{kind}: {findings:#?}"))
    };
    let at_least_one = |value: &Value| value.as_u64().is_some_and(|number| number >= 1);
    let deadlocks = circumstance("hidden_deadlocks");
    assert!(at_least_one(&deadlocks["counted"]), "{deadlocks}");
    assert_eq!((&deadlocks["clients"], &deadlocks["databases"]), (&0.into(), &vec!["postgres"].into()));
    let lost = circumstance("sessions_lost");
    assert!(at_least_one(&lost["killed"]), "{lost}");
    assert_eq!((&lost["fatal"], &lost["databases"]), (&0.into(), &vec!["postgres"].into()));
}
