//! What was there before is measured, never touched; its password is never told.

use super::stand::{BARE, Bench, PGDYNO, trials};
use stack::component::postgres::{Postgres, Settings};
use stack::find::Search;
use stack::supervisor::{KeeperProgram, Supervisor};
use std::path::PathBuf;
use std::time::Duration;
use store::Status;

#[test]
fn a_server_that_is_there_is_measured_and_a_wrong_password_is_said_without_it() {
    let installation = Search::here(None, None).first().unwrap_or_else(|none| panic!("{none}"));
    let keeper = KeeperProgram { program: PathBuf::from(PGDYNO), arguments: vec!["keeper"] };
    let mut supervisor = Supervisor::start(&keeper).unwrap_or_else(|why| panic!("{why}"));
    let postgres = Postgres::start(&mut supervisor, &installation, &Settings::default())
        .unwrap_or_else(|why| panic!("{why}"));
    let address = format!("host=127.0.0.1 port={} user=postgres dbname=postgres", postgres.port);
    let bench = Bench::new(
        "attached",
        &BARE.replace("postgres: {}", &format!("postgres: {{ attach: \"{address}\" }}")),
    );
    let canary = "CANARY-9f2c-пароль";
    let right = postgres.password().reveal().to_owned();
    for (password, status, expected) in
        [(right.as_str(), 0, ""), (canary, 1, "password authentication failed")]
    {
        let ended = bench.begin_as(bench.command(&[]).env("PGPASSWORD", password)).end();
        ended.expect(status);
        let (_, ended_as, reason) = trials(&bench.stored()).remove(0);
        assert_eq!(ended_as, if status == 0 { Status::Complete } else { Status::Failed }, "{reason}");
        assert!(reason.contains(expected) && ended.err.contains(expected), "{reason}\n{}", ended.err);
        let file = std::fs::read(bench.stored().path()).expect("it is there");
        for said in [ended.out.as_bytes(), ended.err.as_bytes(), &file[..]] {
            assert!(
                !said.windows(password.len()).any(|it| it == password.as_bytes()),
                "the password was told"
            );
        }
    }
    let mut connection =
        postgres.target().open(Duration::from_secs(10)).unwrap_or_else(|why| panic!("{why}"));
    // Another run on the same database.
    connection.query("set application_name = 'pgdyno monitor'").expect("it serves");
    let ended = bench.begin_as(bench.command(&[]).env("PGPASSWORD", &right)).end();
    ended.expect(1);
    assert!(ended.err.contains("another pgdyno is at work in 127.0.0.1:"), "{}", ended.err);
    assert_eq!(connection.value("select 1").expect("it still serves").as_deref(), Some("1"));
}

#[test]
fn nobody_there_is_a_message_and_status_1() {
    let nobody = "postgres: { attach: \"host=127.0.0.1 port=1 user=me dbname=book\" }";
    let ended = Bench::new("nobody", &BARE.replace("postgres: {}", nobody)).run(&[]);
    ended.expect(1);
    assert!(
        ended.err.contains("postgres could not be reached: 127.0.0.1:1: Connection refused"),
        "{}",
        ended.err
    );
}

/// A server that accepts connections and says nothing holds a run no longer than `connect_timeout`.
#[test]
fn a_silent_server_ends_the_log_in_with_its_timeout() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let silent = format!(
        "postgres: {{ attach: \"host=127.0.0.1 port={} user=me dbname=book connect_timeout=2\" }}",
        address.port()
    );
    let ended = Bench::new("silent", &BARE.replace("postgres: {}", &silent)).run(&[]);
    ended.expect(1);
    let expected = format!("postgres could not be reached: {address}: no answer to the log-in within 2 s");
    assert!(ended.err.contains(&expected), "{}", ended.err);
}
