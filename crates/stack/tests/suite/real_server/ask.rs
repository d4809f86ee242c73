//! Query results and errors

use super::server::{TEST_TIMEOUT, fresh_database, in_database, server};
use model::message::Message;
use stack::client::Error;
use stack::interrupt::with_interrupt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wire::Code;
use wire::pg::{Login, Secret};

#[test]
fn questions() {
    let (mut connection, _) = fresh_database();
    let mut check = |sql: &str, expected: &str| {
        let shown = match connection.query(sql) {
            Ok(answer) => {
                let value = |it: &Option<String>| it.clone().unwrap_or_else(|| "NULL".to_owned());
                let rows: Vec<String> = answer
                    .rows
                    .iter()
                    .map(|row| row.iter().map(value).collect::<Vec<_>>().join(","))
                    .collect();
                format!("{}: {} -> {}", answer.columns.join(","), rows.join(";"), answer.tag)
            }
            Err(error) => Message::from(&error).describe(),
        };
        assert_eq!(shown, expected, "{sql}");
    };
    check("select 1 as one, null as none, 'ё' as yo", "one,none,yo: 1,NULL,ё -> SELECT 1");
    check("select x from generate_series(1, 3) as x", "x: 1;2;3 -> SELECT 3");
    check("select 1 as a; select 2 as b", "b: 2 -> SELECT 1");
    check("", ":  -> ");
    check("select 1/0", "ERROR: division by zero (SQLSTATE 22012)");
    check("begin; select nothing", "ERROR: column \"nothing\" does not exist (SQLSTATE 42703)");
    check("rollback", ":  -> ROLLBACK");
    // The data of COPY TO is skipped.
    check("copy (select 1) to stdout", ":  -> COPY 1");
}

#[test]
fn unfed_copy_fails_and_session_continues() {
    let (mut connection, _) = fresh_database();
    connection.query("create table t(a int)").unwrap();
    let error = connection.query("copy t from stdin").unwrap_err();
    assert_eq!(error.code(), Code::SqlState(*b"57014"), "{error:?}");
    assert_eq!(connection.value("select count(*) from t").unwrap().as_deref(), Some("0"));
}

#[test]
fn abandoned_statement_is_cancelled_on_server() {
    let (mut connection, database) = fresh_database();
    connection.set_timeout(Some(Duration::from_millis(100)));
    let error = connection.query("select pg_sleep(600)").unwrap_err();
    assert_eq!(error.code(), Code::TIMED_OUT, "{error:?}");
    drop(connection);
    let mut other = in_database(&database).open(TEST_TIMEOUT).unwrap();
    let sleeping = "select count(*) from pg_stat_activity where datname = current_database() and query like '%600%' \
        and pid <> pg_backend_pid()";
    // The server has read the request, so the session ends soon.
    let deadline = Instant::now() + TEST_TIMEOUT;
    while other.value(sleeping).unwrap().as_deref() != Some("0") {
        assert!(Instant::now() < deadline, "the statement goes on");
    }
}

#[test]
fn copies() {
    let (mut connection, _) = fresh_database();
    connection.query("create table t(a int primary key)").unwrap();
    let mut copy = connection.copy_in("copy t from stdin").unwrap();
    // The data exceeds all buffers between client and server, and is sent in pieces that split rows.
    let rows: Vec<u8> = (0..300_000).flat_map(|it| format!("{it}\n").into_bytes()).collect();
    for piece in rows.chunks(65_521) {
        copy.send(|out| out.extend_from_slice(piece)).unwrap();
    }
    assert_eq!(copy.finish().unwrap(), 300_000);
    assert_eq!(connection.value("select sum(a) from t").unwrap().as_deref(), Some("44999850000"));

    let mut copy = connection.copy_in("copy t from stdin").unwrap();
    copy.send(|out| out.extend_from_slice(b"7\n")).unwrap();
    assert_eq!(copy.finish().unwrap_err().code(), Code::SqlState(*b"23505"));

    let mut copy = connection.copy_in("copy t from stdin").unwrap();
    copy.send(|out| out.extend_from_slice(b"-1\n")).unwrap();
    drop(copy);
    assert_eq!(connection.value("select count(*) from t where a < 0").unwrap().as_deref(), Some("0"));
}

#[test]
fn logins() {
    let server = server();
    for target in [server.target(), server.target_tcp()] {
        let mut connection = target.open(TEST_TIMEOUT).unwrap();
        let method = "select current_setting('password_encryption')";
        assert_eq!(connection.value(method).unwrap().as_deref(), Some("scram-sha-256"), "{}", target.address);
    }
    let mut login = Login::new("postgres", "postgres");
    login.password = Some(Secret::new("wrong"));
    let wrong = stack::client::Target { login: Arc::new(login), ..server.target_tcp() };
    assert_eq!(wrong.open(TEST_TIMEOUT).unwrap_err().code(), Code::SqlState(*b"28P01"));
    assert_eq!(in_database("nowhere").open(TEST_TIMEOUT).unwrap_err().code(), Code::SqlState(*b"3D000"));
}

#[test]
fn query_times_out() {
    let (mut connection, _) = fresh_database();
    connection.set_timeout(Some(Duration::from_millis(50)));
    let error = connection.query("select pg_sleep(10)").unwrap_err();
    assert_eq!(error.code(), Code::TIMED_OUT, "{error:?}");
}

#[test]
fn password_is_not_shown() {
    let server = server();
    let password = server.password().reveal();
    let shown = format!("{server:?} {:?}", server.target());
    assert!(!shown.contains(password) && shown.contains("***"), "{shown}");
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&line).contains(password), "{}", entry.path().display());
    }
}

/// The flag of a thread cancels its statement at the server, whatever the statement waits for.
#[test]
fn stopped_statement_is_cancelled_on_server() {
    let (mut other, database) = fresh_database();
    other.query("create table t(a int)").unwrap();
    other.query("begin; lock table t").unwrap();
    let mut watch = in_database(&database).open(TEST_TIMEOUT).unwrap();
    for sql in ["select pg_sleep(600)", "select * from t", "copy t from stdin"] {
        let stop: Arc<AtomicBool> = Arc::default();
        let mut connection = in_database(&database).open(TEST_TIMEOUT).unwrap();
        connection.set_timeout(None);
        assert_eq!(connection.value("select 1").unwrap().as_deref(), Some("1"));
        let running = format!(
            "select count(*) from pg_stat_activity where datname = '{database}' and state = 'active' and query = '{sql}'"
        );
        let mut is_running = || watch.value(&running).unwrap().as_deref() == Some("1");
        std::thread::scope(|scope| {
            let statement = scope.spawn(|| {
                with_interrupt(&stop, || match sql.strip_prefix("copy") {
                    Some(_) => connection.copy_in(sql).map(drop),
                    None => connection.query(sql).map(drop),
                })
            });
            while !is_running() {
                assert!(!statement.is_finished(), "{sql}: it waits");
                std::thread::sleep(Duration::from_millis(5));
            }
            stop.store(true, Ordering::Relaxed);
            let error = statement.join().unwrap().unwrap_err();
            assert!(matches!(error, Error::Stopped), "{sql}: {error:?}");
        });
        assert!(!is_running(), "{sql}: the server has answered");
        let next = with_interrupt(&stop, || connection.query("select 1"));
        assert!(matches!(next, Err(Error::Stopped)), "{sql}");
    }
}
