//! Faults of a server are counted, and the run continues

use super::test_server::{PGDYNO, SHARED, Script, TestServer, combined_output, count, document};
use load::driver::Driver;
use serde_json::Value;
use stack::component::postgres::Settings;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

fn failures(document: &Value) -> Vec<(String, u64)> {
    let list = document["failures"].as_array().expect("the value is an array");
    list.iter()
        .map(|failure| {
            (
                failure["code"].as_str().expect("a code").to_owned(),
                failure["count"].as_u64().expect("the value is a count"),
            )
        })
        .collect()
}

#[test]
fn counts_failures_by_code() {
    let script = Script::new("by-zero", "\\set n random(0, 1)\nSELECT 1 / :n;\n");
    let (document, status) = SHARED.measure(&["-f", script.path(), "-c", "2", "-t", "100"]);
    let (ok, failed) = (count(&document, "ok"), count(&document, "failed"));
    assert_eq!((ok + failed, status), (200, 2), "{document}");
    assert!(ok > 50 && failed > 50, "{ok} and {failed}");
    assert_eq!(failures(&document), [("22012".to_owned(), failed)]);
    assert_eq!(document["failures"][0]["name"], "division_by_zero");
}

/// pgbench's default script on a truncated table: every transaction succeeds, and does nothing.
#[test]
fn reports_statements_that_find_no_row() {
    let server = TestServer::start(&Settings::default());
    let made = server.bench(&["-i", "-q", "-s", "1"]);
    assert!(made.status.success(), "{}", combined_output(&made));
    let doubts = |document: &Value| {
        let all = document["validity"]["doubts"].as_array().expect("the value is an array").clone();
        all.into_iter().filter(|it| it["kind"] == "no_rows").collect::<Vec<_>>()
    };
    let (document, status) = server.measure(&["-c", "2", "-t", "200"]);
    assert_eq!((status, doubts(&document)), (0, vec![]), "{document:#}");
    server
        .connect()
        .query("truncate pgbench_accounts, pgbench_tellers")
        .expect("the tables can be truncated");
    for mode in ["simple", "extended", "prepared"] {
        let (document, status) = server.measure(&["-M", mode, "-c", "2", "-t", "200"]);
        assert_eq!((status, count(&document, "ok")), (0, 400), "{document:#}");
        let empty: Vec<_> = document["empty_statements"]
            .as_array()
            .expect("the value is an array")
            .iter()
            .map(|it| (it["command"].as_u64(), it["statement"].as_str(), it["share"].as_f64()))
            .collect();
        let row = |command, statement| (Some(command), Some(statement), Some(1.0));
        let expected = [row(5, "update"), row(6, "select"), row(7, "update")];
        assert_eq!(empty, expected, "{mode}: {document:#}");
        let doubts = doubts(&document);
        assert_eq!((doubts.len(), doubts[0]["statements"].as_u64()), (1, Some(3)), "{mode}: {document:#}");
    }
    let output = server.bench(&["-n", "-c", "2", "-t", "200"]);
    // The terminal's lines are wrapped.
    let shown = combined_output(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("found no row in 100 % of 400 executions"), "{shown}");
}

#[test]
fn rolls_back_a_failed_transaction_block() {
    let script = Script::new("block", "BEGIN;\nSELECT 1 / (:client_id - 1);\nEND;\nSELECT 1;\n");
    let (document, status) = SHARED.measure(&["-f", script.path(), "-c", "2", "-t", "20"]);
    assert_eq!((count(&document, "ok"), count(&document, "failed"), status), (20, 20, 2), "{document}");
}

#[test]
fn a_failing_script_ends_its_clients() {
    let script = Script::new("missing", "SELECT * FROM no_such_table;\n");
    let output = SHARED.bench(&["-n", "-f", script.path(), "-c", "2", "-T", "60"]);
    assert_eq!(output.status.code(), Some(2), "{}", combined_output(&output));
    assert!(
        combined_output(&output).contains("relation \"no_such_table\" does not exist"),
        "{}",
        combined_output(&output)
    );
    let shown = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    let verdict =
        "verdict INVALID: no transaction succeeded: 42P01 relation \"no_such_table\" does not exist";
    assert!(shown.contains(verdict), "{shown}");
    let (document, status) = SHARED.measure(&["-f", script.path(), "-c", "2", "-T", "60"]);
    assert_eq!((failures(&document), status), (vec![("42P01".to_owned(), 2)], 2), "{document}");
}

#[test]
fn retries_serialization_failures() {
    let mut connection = SHARED.connect();
    connection.query("create table contended as select 1 as id, 0 as n").expect("a table");
    let script = Script::new(
        "serial",
        "BEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT n FROM contended \\gset\n\\sleep 200 us\n\
         UPDATE contended SET n = :n + 1;\nEND;\n",
    );
    let common = ["-f", script.path(), "-c", "4", "-t", "25"];
    let (document, status) = SHARED.measure(&[&common[..], &["--max-tries", "1000"]].concat());
    assert_eq!((count(&document, "ok"), status), (100, 0), "{document}");
    assert!(count(&document, "retries") > 0, "{document}");
    let n = connection.value("select n from contended").expect("a row");
    assert_eq!(n.as_deref(), Some("100"), "no update was lost");
}

#[test]
fn counts_refused_connections_separately() {
    let server = TestServer::start(&Settings { max_connections: 12, ..Settings::default() });
    for driver in Driver::ALL.map(Driver::name) {
        let script = Script::new(&format!("one-{driver}"), "SELECT 1;\n");
        let (document, _) =
            server.measure(&["-f", script.path(), "--driver", driver, "-c", "30", "-j", "2", "-T", "1"]);
        let refused = document["connects"]["refused"].as_array().expect("the value is an array");
        assert!(refused.iter().any(|it| it["code"] == "53300"), "{document}");
        assert!(count(&document, "ok") > 0, "{document}");
        assert_eq!(document["fairness"]["min_transactions"], 0, "those left out are seen: {document}");
    }
}

#[test]
fn survives_a_server_restart() {
    for driver in Driver::ALL.map(Driver::name) {
        let mut server = TestServer::start(&Settings::default());
        let script = Script::new(&format!("slow-{driver}"), "SELECT pg_sleep(0.005);\n");
        let arguments = [
            "-n",
            "--json",
            "-P",
            "1",
            "--driver",
            driver,
            "-f",
            script.path(),
            "-c",
            "8",
            "-j",
            "2",
            "-T",
            "8",
        ];
        let mut run = server.spawn(&arguments);
        // The restart begins after the first progress line, rather than after a fixed delay.
        let mut reader = BufReader::new(run.stderr.take().expect("the stream is piped"));
        let mut line = String::new();
        while !line.contains("progress:") {
            line.clear();
            assert!(reader.read_line(&mut line).expect("text") > 0, "the run ended before its first second");
        }
        server.postgres.restart(&mut server.supervisor).expect("the server restarts");
        let listener = std::thread::spawn(move || std::io::read_to_string(reader));
        let output = run.wait_with_output().expect("the process can be waited for");
        let messages = listener.join().expect("the thread does not panic").expect("text");
        let (document, status) = document(&output);
        let (ok, unknown) = (count(&document, "ok"), count(&document, "unknown"));
        assert_eq!(status, 2, "{messages}");
        assert!((1..=8).contains(&unknown), "{unknown} unknown: {document}");
        let last = messages.lines().rfind(|it| it.contains("progress:")).expect("progress is printed");
        assert!(
            !last.contains(" 0.0 tps"),
            "{driver}: after the restart the run continues, {ok} ok:\n{messages}"
        );
    }
}

/// Fault 30: a table is dropped while it is read. The failures have the server's code. Their number equals the arrivals
/// that were not answered with rows.
#[test]
fn counts_failures_after_a_dropped_table() {
    let mut connection = SHARED.connect();
    connection.query("create table doomed as select 1 as id").expect("a table");
    let script = Script::new("doomed", "SELECT id FROM doomed;\n");
    let mut run = SHARED.spawn(&["--json", "-n", "-P", "1", "-f", script.path(), "-c", "2", "-T", "3"]);
    let mut progress = BufReader::new(run.stderr.take().expect("the stream is piped"));
    let mut line = String::new();
    while !line.contains("progress:") {
        line.clear();
        assert!(progress.read_line(&mut line).expect("text") > 0, "the run ended before its first second");
    }
    connection.query("drop table doomed").expect("the table exists");
    let reader = std::thread::spawn(move || std::io::read_to_string(progress));
    let output = run.wait_with_output().expect("the process can be waited for");
    reader.join().expect("the thread does not panic").expect("text");
    let (document, status) = document(&output);
    let failed = count(&document, "failed");
    assert!(count(&document, "ok") > 0 && failed > 0, "{document}");
    assert_eq!((failures(&document), status), (vec![("42P01".to_owned(), failed)], 2), "{document}");
}

/// Fault 25: the limit on open files is lower than the number of clients. The run is rejected before it connects.
#[test]
fn rejects_a_low_file_limit_with_the_number_needed() {
    let mut command = Command::new("prlimit");
    command.arg("--nofile=64:64").arg(PGDYNO).args(["bench", "-n", "-S", "-c", "100", "-t", "1"]);
    let output = command.envs(SHARED.postgres.client_environment()).stdin(Stdio::null()).output();
    let output = output.expect("util-linux is there");
    assert_eq!(output.status.code(), Some(1), "{}", combined_output(&output));
    let expected = "need at least 116 open files, but system limit is 64";
    assert!(combined_output(&output).contains(expected), "{}", combined_output(&output));
}

#[test]
fn does_not_print_a_wrong_password() {
    let canary = "CANARY-9f2c-пароль";
    for arguments in [&["-n", "-S", "-t", "1"][..], &["-n", "-S", "-t", "1", "--json", "-d"][..], &["-i"][..]]
    {
        let output = SHARED.command(arguments).env("PGPASSWORD", canary).output().expect("pgdyno can be run");
        assert_eq!(output.status.code(), Some(1), "{}", combined_output(&output));
        assert!(
            combined_output(&output).contains("password authentication failed"),
            "{}",
            combined_output(&output)
        );
        assert!(!combined_output(&output).contains("9f2c"), "{}", combined_output(&output));
    }
    let uri = format!("postgresql://postgres:{canary}@127.0.0.1:{}/postgres", SHARED.postgres.port);
    let output = SHARED
        .command(&["-n", "-S", "-t", "1", &uri])
        .env_remove("PGPASSWORD")
        .output()
        .expect("the program can be started");
    assert!(!combined_output(&output).contains("9f2c"), "{}", combined_output(&output));
}

#[test]
fn exits_with_1_without_a_server() {
    let output = Command::new(PGDYNO)
        .args(["bench", "-n", "-S", "-h", "127.0.0.1", "-p", "1", "-t", "1"])
        .stdin(Stdio::null())
        .output()
        .expect("pgdyno can be run");
    assert_eq!(output.status.code(), Some(1));
    assert!(combined_output(&output).contains("127.0.0.1"), "{}", combined_output(&output));
}
