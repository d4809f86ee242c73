//! Operations are checked before the first trial

use super::postgres_servers::start_server;
use super::workspace::{Workspace, counts, trials};
use crate::width::too_wide;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use store::RunStatus;

/// Asserts that the run ended before its first trial, and that standard error contains these texts.
#[track_caller]
fn expect_rejection(workspace: &Workspace, arguments: &[&str], expected: &[&str]) {
    let ended = workspace.run(arguments);
    ended.expect(2);
    for text in expected {
        assert!(ended.err.contains(text), "{text}\n{}", ended.err);
    }
    assert!(ended.out.is_empty(), "{}", ended.out);
    let stored = fs::read_dir(workspace.folder.join("runs")).expect("the folder exists").count();
    assert_eq!(stored, 0, "no run is stored");
}

/// All wrong statements are reported at once, with their lines. No trial begins, and no run is stored.
#[test]
fn rejects_statements_before_the_first_trial() {
    let operations = r#"
  relation:
    sql: |
      \set id random(1, 10)
      SELECT name
        FROM book.ticket
       WHERE id = :id;
  column: { sql: "SELECT id, nmae FROM book.tickets;" }
  syntax: { sql: "SELEC 1" }
  function: { sql: "SELECT no_such_function(1)" }
  literal: { sql: "SELECT 1 WHERE 2 = 'x'" }
  second: { sql: "BEGIN;\nSELECT 1;\nSELECT * FROM nowhere;\nEND;" }
  file: { script: wrong.sql }
  ignored: { preflight: false, sql: "SELECT * FROM elsewhere" }
  right: { sql: "SELECT id FROM book.tickets WHERE id = 1" }
"#;
    let yaml = format!(
        "
stack: {{ postgres: {{}} }}
dataset: {{ name: tickets, rows: 1000 }}
operations:{operations}
load: {{ model: closed, clients: 2, duration: 1s }}
"
    );
    let workspace = Workspace::new("rejected", &yaml);
    fs::write(workspace.folder.join("wrong.sql"), "SELECT 1;\n-- a comment\nSELECT * FROM nofile;\n")
        .expect("the folder can be written to");
    for mode in ["simple", "extended", "prepared"] {
        let expected = [
            "operations.relation.sql:3: ERROR: relation \"book.ticket\" does not exist\n\
             LINE 2:   FROM book.ticket\n               ^\n",
            "hint: did you mean book.tickets?\n",
            "operations.column.sql:1: ERROR: column \"nmae\" does not exist\n\
             LINE 1: SELECT id, nmae FROM book.tickets;\n                   ^\n",
            "operations.syntax.sql:1: ERROR: syntax error at or near \"SELEC\"\nLINE 1: SELEC 1\n        ^\n",
            "operations.function.sql:1: ERROR: function no_such_function(integer) does not exist\n",
            "operations.literal.sql:1: ERROR: invalid input syntax for type integer: \"x\"\n",
            "operations.second.sql:3: ERROR: relation \"nowhere\" does not exist\n",
            "wrong.sql:3: ERROR: relation \"nofile\" does not exist\n",
            "7 operation errors; no trial was started\n",
        ];
        expect_rejection(&workspace, &["--set", &format!("load.query_mode={mode}")], &expected);
    }
}

/// Statements that the server cannot prepare, although a trial can execute them, are not rejected.
#[test]
fn runs_statements_that_only_an_execution_can_check() {
    for (mode, script) in [
        ("simple", "CREATE TEMP TABLE mine AS SELECT 1 AS a;\nSELECT a FROM mine;\nDROP TABLE mine;"),
        ("extended", "DISCARD PLANS;\nSELECT 1;"),
        ("simple", "SELECT 1 \\; SELECT 2;"),
        (
            "simple",
            "\\set n 1\nCREATE TEMP TABLE part_:n ();\nSELECT count(*) FROM part_:n;\nDROP TABLE part_:n;",
        ),
        ("simple", "\\set word 1\nSELECT :word AS column_:word, ':word', :word + 1;"),
        ("simple", "SET search_path = pg_catalog;\nSELECT count(*) FROM pg_class WHERE oid < 0;"),
    ] {
        let yaml = format!(
            "
stack: {{ postgres: {{}} }}
operations: {{ one: {{ script: script.sql }} }}
load: {{ model: closed, clients: 1, duration: 1s, query_mode: {mode} }}
"
        );
        let workspace = Workspace::new("executed", &yaml);
        fs::write(workspace.folder.join("script.sql"), script).expect("the folder can be written to");
        workspace.run(&[]).expect(0);
    }
}

/// Errors that only an execution shows are found before the first trial too.
#[test]
fn rejects_operations_that_cannot_succeed() {
    for (script, expected) in [
        ("SELECT 1;\nSELECT 1 / 0;", "operations.one.sql:2: 22012 ERROR:  division by zero"),
        ("BEGIN; SELECT 1;", "operations.one.sql:1: 38000 end of script reached without completing"),
        (
            "SELECT 1 AS a WHERE false \\gset\nSELECT :a;",
            "operations.one.sql:1: 38000 expected one row, got 0",
        ),
        (
            "SELECT * FROM part_:client_id",
            "operations.one.sql:1: 42P01 ERROR:  relation \"part_0\" does not exist",
        ),
    ] {
        let yaml = format!(
            "
stack: {{ pooler: {{ kind: pgbouncer, size: 2 }}, postgres: {{}} }}
operations: {{ one: {{ sql: \"{}\" }}, right: {{ sql: SELECT 1 }} }}
load: {{ model: closed, clients: 2, duration: 1s }}
",
            script.escape_default()
        );
        let workspace = Workspace::new("failing", &yaml);
        expect_rejection(
            &workspace,
            &[],
            &[expected, "preflight: false", "1 operation error; no trial was started"],
        );
        let shown = workspace.other_command("try", &["one"]);
        shown.expect(2);
        assert!(shown.out.contains("operation one\n") && shown.out.contains("  failed: "), "{}", shown.out);
        assert!(!shown.out.contains("operation right"), "{}", shown.out);
    }
}

/// Each row can be deleted once only, so the trial needs the data as they were before the preflight.
#[test]
fn restores_the_data_after_the_execution() {
    let yaml = "
stack: { postgres: {} }
dataset: { name: tickets, rows: 1000 }
feeds: { ids: { rows: [{ id: 1 }, { id: 2 }, { id: 3 }], order: once } }
operations: { delete: { feed: ids, sql: \"DELETE FROM book.tickets WHERE id = :id RETURNING id \\\\gset\" } }
load: { model: closed, clients: 1, duration: 1s }
";
    let workspace = Workspace::new("restored", yaml);
    workspace.run(&[]).expect(0);
    let outcome = counts(&workspace.stored(), 1);
    assert_eq!((outcome.ok, outcome.failed), (3, 0), "{outcome:?}");
}

/// pgdyno cannot restore such a server, so only the trial changes it.
#[test]
fn executes_nothing_on_an_attached_server_without_a_dataset() {
    let (_supervisor, postgres) = start_server();
    let mut connection =
        postgres.target().open(Duration::from_secs(10)).unwrap_or_else(|error| panic!("{error:?}"));
    connection.query("CREATE TABLE log (n int)").unwrap_or_else(|error| panic!("{error:?}"));
    let yaml = format!(
        "
stack: {{ postgres: {{ attach: \"host=127.0.0.1 port={} user=postgres dbname=postgres\" }} }}
operations: {{ write: {{ sql: INSERT INTO log VALUES (1) }} }}
load: {{ model: closed, clients: 1, duration: 1s }}
",
        postgres.port
    );
    let workspace = Workspace::new("attached", &yaml);
    let password = postgres.password();
    let run = |set: &[&str]| {
        let mut command = workspace.command(set);
        super::workspace::RunOutput::run(command.env("PGPASSWORD", password.reveal()))
    };
    run(&[]).expect(0);
    let rows = connection.value("SELECT count(*) FROM log").expect("the server answers");
    assert_eq!(rows, Some(counts(&workspace.stored(), 1).ok.to_string()));
    let wrong = run(&["--set", "operations.write.sql=INSERT INTO logs VALUES (1)"]);
    wrong.expect(2);
    assert!(wrong.err.contains("relation \"logs\" does not exist"), "{}", wrong.err);
    assert!(wrong.err.contains("did you mean log?"), "{}", wrong.err);
}

/// A mistake in the second cell is found before the first trial, although the cell has another feed.
#[test]
fn prepares_the_statements_of_cells_with_other_feeds() {
    let (_supervisor, postgres) = start_server();
    let yaml = format!(
        "
stack: {{ postgres: {{ attach: \"host=127.0.0.1 port={} user=postgres dbname=postgres\" }} }}
feeds: {{ ids: {{ rows: [{{ id: 1 }}] }} }}
operations: {{ read: {{ feed: ids, sql: \"SELECT :id\" }} }}
load: {{ model: closed, clients: 1, duration: 1s }}
matrix:
  query:
    right: {{}}
    wrong: {{ feeds.ids.rows: [{{ id: 2 }}], operations.read.sql: \"SELECT id FROM nowhere\" }}
",
        postgres.port
    );
    let workspace = Workspace::new("cells", &yaml);
    for seed in ["1", "2", "3"] {
        let mut command = workspace.command(&["--set", &format!("seed={seed}")]);
        let ended = super::workspace::RunOutput::run(command.env("PGPASSWORD", postgres.password().reveal()));
        ended.expect(2);
        assert!(ended.err.contains("relation \"nowhere\" does not exist"), "{}", ended.err);
        assert!(ended.err.contains("1 operation error; no trial was started"), "{}", ended.err);
        let stored = fs::read_dir(workspace.folder.join("runs")).expect("the folder exists").count();
        assert_eq!(stored, 0, "no run is stored");
    }
}

/// Address of a service that returns 404 for `/wrong`, and the request lines that it received.
fn service() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("the listener has an address").to_string();
    let received = Arc::<Mutex<Vec<String>>>::default();
    let stored = Arc::clone(&received);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let stored = Arc::clone(&stored);
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                // A request fits into one read.
                while let Ok(count @ 1..) = stream.read(&mut buffer) {
                    let text = String::from_utf8_lossy(&buffer[..count]);
                    let line = text.lines().next().unwrap_or_default();
                    let status = if line.contains("/wrong") { "404 Not Found" } else { "200 OK" };
                    stored.lock().expect("no thread panics").push(line.to_owned());
                    let body = if line.starts_with("HEAD") { "" } else { "body" };
                    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 4\r\n\r\n{body}");
                    if stream.write_all(answer.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    (address, received)
}

/// pgdyno cannot undo requests to an attached service, so only the trial sends those that may change something.
#[test]
fn executes_only_reads_on_an_attached_service() {
    let (address, received) = service();
    let count = |method: &str| {
        let lines = received.lock().expect("no thread panics");
        lines.iter().filter(|it| it.starts_with(method) && it.contains("/wrong")).count()
    };
    let yaml = |operations: &str| {
        format!(
            "
stack: {{ service: {{ url: \"http://{address}\" }} }}
operations: {{ {operations} }}
load: {{ model: closed, clients: 1, duration: 1s }}
"
        )
    };
    let reads = yaml("right: { get: /right }, read: { steps: [{ head: /right }, { get: /wrong }] }");
    let workspace = Workspace::new("reads", &reads);
    let expected = [
        "operations.read: HTTP 404",
        "GET /wrong HTTP/1.1\nHTTP/1.1 404 Not Found body\n",
        "1 operation error; no trial was started\n",
    ];
    expect_rejection(&workspace, &[], &expected);
    assert_eq!(count("GET"), 3, "the operation was executed three times, and no trial began");

    let writes =
        yaml("right: { get: /right }, write: { steps: [{ get: /right }, { post: /wrong, body: x }] }");
    let workspace = Workspace::new("writes", &writes);
    let checked = workspace.other_command("check", &["--connect"]);
    checked.expect(0);
    let end = "Executed once, without errors: right. Not executed, because the effects would remain: write. \
               To execute them: pgdyno try FILE";
    let words: Vec<&str> = checked.out.split_whitespace().collect();
    assert!(words.join(" ").ends_with(end), "{}", checked.out);
    assert!(checked.out.contains("operation right\n  > GET /right HTTP/1.1\n"), "{}", checked.out);
    assert_eq!(count("POST"), 0);
    workspace.run(&[]).expect(2);
    assert_eq!(trials(&workspace.stored())[0].1, RunStatus::Failed, "the trial began");
    assert!(count("POST") > 0);
}

/// The steps that hold one level are judged like trials outside of a search.
#[test]
fn an_operation_without_success_fails_the_trial_of_a_confirmation() {
    let (address, _) = service();
    let yaml = format!(
        "
stack: {{ service: {{ url: \"http://{address}\" }} }}
operations:
  right: {{ get: /right }}
  wrong: {{ get: /wrong, preflight: false }}
load: {{ model: open, max_in_flight: 4 }}
objectives: [ \"errors < 99%\" ]
find: {{ confirm: {{ level: 20, ramp: 1s, hold: 2s }} }}
"
    );
    let workspace = Workspace::new("confirmed", &yaml);
    let mut command = workspace.command(&[]);
    let ended = super::workspace::RunOutput::run(command.env("COLUMNS", "80"));
    ended.expect(2);
    let words = ended.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("operation wrong: none of"), "{}", ended.err);
    assert_eq!(trials(&workspace.stored())[0].1, RunStatus::Failed);
    assert_eq!(too_wide(&(ended.out.clone() + &ended.err), 80), [""; 0]);
}

#[test]
fn check_connects_and_executes() {
    let yaml = "
stack: { postgres: {} }
dataset: { name: tickets, rows: 1000 }
operations: { read: { sql: SELECT id FROM book.tickets WHERE id = 1 } }
load: { model: closed, clients: 1, duration: 1s }
matrix: { load.clients: [1, 2] }
";
    let workspace = Workspace::new("connect", yaml);
    let right = workspace.other_command("check", &["--connect"]);
    right.expect(0);
    let exchange = "cell 1 of 2: 1\n\noperation read\n  > SELECT id FROM book.tickets WHERE id = 1\n";
    assert!(right.out.contains(exchange) && right.out.contains("  < 1\n  < SELECT 1\n"), "{}", right.out);
    assert_eq!(right.out.matches("operation read").count(), 1, "the cells have the same operations");
    let end = "The server accepts all statements.\nExecuted once, without errors: read.\n";
    assert!(right.out.ends_with(end), "{}", right.out);
    let excluded =
        workspace.other_command("check", &["--connect", "--set", "operations.read.preflight=false"]);
    excluded.expect(0);
    let end = "\nNot checked, because of `preflight: false`: read.\n";
    assert!(excluded.out.ends_with(end) && !excluded.out.contains("accepts"), "{}", excluded.out);
    let failing =
        workspace.other_command("check", &["--connect", "--set", "operations.read.sql=SELECT 1 / 0"]);
    failing.expect(2);
    assert!(failing.err.contains("operations.read.sql:1: 22012 ERROR:  division by zero"), "{}", failing.err);
    assert!(
        failing.out.contains("  > SELECT 1 / 0\n") && failing.out.contains("  failed: "),
        "{}",
        failing.out
    );
    let wrong = workspace
        .other_command("check", &["--connect", "--set", "operations.read.sql=SELECT id FROM book.ticket"]);
    wrong.expect(2);
    assert!(wrong.err.contains("did you mean book.tickets?"), "{}", wrong.err);
    for output in [right, excluded, failing, wrong] {
        assert_eq!(too_wide(&(output.out + &output.err), 80), [""; 0]);
    }
    assert!(!workspace.folder.join("runs").exists(), "nothing is stored");
}

#[test]
fn try_prints_statements_with_their_answers() {
    let yaml = "
stack: { postgres: {} }
dataset: { name: tickets, rows: 1000 }
operations:
  read:
    sql: |
      \\set id 7
      SELECT id, NULL AS none FROM book.tickets WHERE id = :id;
      SELECT n FROM generate_series(1, 12) n;
  other: { sql: SELECT 1 }
load: { model: closed, clients: 8, duration: 10m, query_mode: simple }
";
    let workspace = Workspace::new("tried", yaml);
    for mode in ["simple", "prepared"] {
        let shown = workspace.other_command("try", &["read", "--set", &format!("load.query_mode={mode}")]);
        shown.expect(0);
        assert!(!shown.out.contains("cell "), "there is one cell: {}", shown.out);
        for expected in [
            "operation read\n  > SELECT id, NULL AS none FROM book.tickets WHERE id = :id;\n      id = 7\n",
            "  < 7 | NULL\n  < SELECT 1\n",
            "  < 10\n  < and 2 more rows\n  < SELECT 12\n",
            "\n  ok, ",
        ] {
            assert!(shown.out.contains(expected), "{mode}: {expected}\n{}", shown.out);
        }
        assert_eq!(shown.out.contains("  < id | none\n"), mode == "simple", "{}", shown.out);
    }
    let unknown = workspace.other_command("try", &["reed"]);
    unknown.expect(2);
    assert!(unknown.err.contains("write read; the operations are: read, other"), "{}", unknown.err);
    assert!(!workspace.folder.join("runs").exists(), "nothing is stored");
}

/// Lines of the exchange are truncated to the width of the terminal. Without a width, they are complete.
#[test]
fn try_uses_the_width_of_the_terminal_and_names_the_cell() {
    let yaml = format!(
        "
stack: {{ postgres: {{}} }}
operations: {{ long: {{ sql: \"SELECT '{}'\" }} }}
load: {{ model: closed, clients: 1, duration: 1s }}
matrix: {{ load.clients: [1, 2] }}
",
        "x".repeat(150)
    );
    let workspace = Workspace::new("wide", &yaml);
    for (columns, expected) in [("80", 80), ("120", 120), ("", "  > SELECT ''".len() + 150)] {
        let mut command = std::process::Command::new(super::workspace::PGDYNO);
        command.args(["try", "wide.yaml"]).current_dir(&workspace.folder).env("COLUMNS", columns);
        command.env("TMPDIR", workspace.folder.join("tmp")).env("LC_ALL", "C.UTF-8");
        let shown = super::workspace::RunOutput::run(&mut command);
        shown.expect(0);
        assert_eq!(shown.out.lines().map(|it| it.chars().count()).max(), Some(expected), "{}", shown.out);
        assert!(shown.out.starts_with("cell 1 of 2: 1\n\noperation long\n"), "{}", shown.out);
    }
}

#[test]
fn try_masks_secrets_of_requests() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("the listener has an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a client connects");
            let mut received = [0; 4096];
            while let Ok(1..) = stream.read(&mut received) {
                let body = r#"{"token":"abc","echo":"s3cret"}"#;
                let head = format!(
                    "HTTP/1.1 200 OK\r\nSet-Cookie: id=s3cret\r\nContent-Length: {}\r\n\r\n",
                    body.len()
                );
                let _ = stream.write_all((head + body).as_bytes());
            }
        }
    });
    let yaml = format!(
        "
stack: {{ service: {{ url: \"http://127.0.0.1:{port}\" }} }}
operations:
  login:
    steps:
      - {{ post: \"/login?key=${{env:SHOP_KEY}}\", headers: {{ Authorization: \"Bearer ${{env:SHOP_KEY}}\" }}, json: {{ id: 7 }}, capture: {{ token: {{ json: /token }} }} }}
      - {{ get: \"/me?token=${{token}}\", expect: {{ status: 404 }} }}
load: {{ model: closed, clients: 1, duration: 1s }}
"
    );
    let workspace = Workspace::new("masked", &yaml);
    let mut command = std::process::Command::new(super::workspace::PGDYNO);
    command.args(["try", "masked.yaml"]).current_dir(&workspace.folder).env("SHOP_KEY", "s3cret");
    let shown = super::workspace::RunOutput::run(command.env("LC_ALL", "C.UTF-8"));
    shown.expect(2);
    for expected in [
        "  > POST /login?key=*** HTTP/1.1\n",
        "  > Authorization: ***\n",
        "  < HTTP/1.1 200 OK\n  < Set-Cookie: ***\n",
        "  < {\"token\":\"abc\",\"echo\":\"***\"}\n",
        "      token = abc\n",
        "  > GET /me?token=abc HTTP/1.1\n",
        "  failed: ",
    ] {
        assert!(shown.out.contains(expected), "{expected}\n{}", shown.out);
    }
    assert!(!(shown.out + &shown.err).contains("s3cret"), "a secret is printed");
}
