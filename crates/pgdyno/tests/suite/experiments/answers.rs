//! Runs whose answers are not what they should be, although no request fails

use super::postgres_servers::start_server;
use super::workspace::{PGDYNO, RunOutput, Workspace};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::time::Duration;

/// Findings of this kind in a run's JSON.
fn findings<'a>(document: &'a Value, kind: &str) -> Vec<&'a Value> {
    let all = document["findings"].as_array().expect("the value is an array");
    all.iter().filter(|it| it["kind"] == kind).collect()
}

fn page(workspace: &Workspace, lang: &str) -> String {
    let path = workspace.stored().path().to_str().expect("the path is UTF-8").to_owned();
    let mut command = Command::new(PGDYNO);
    command.args(["report", &path, "--format", "md", "--lang", lang]).current_dir(&workspace.folder);
    RunOutput::run(&mut command).out
}

#[test]
fn statements_that_find_no_row_are_reported() {
    let (_supervisor, postgres) = start_server();
    let mut connection =
        postgres.target().open(Duration::from_secs(10)).unwrap_or_else(|error| panic!("{error:?}"));
    let tables = "create table stock (id int primary key, n int); insert into stock values (1, 0);
                  create table jobs (id int); create table seen (id int)";
    connection.query(tables).expect("the statement succeeds");
    let yaml = format!(
        "stack: {{ postgres: {{ attach: \"host=127.0.0.1 port={} user=postgres dbname=postgres\" }} }}
operations:
  miss: {{ sql: \"BEGIN; UPDATE stock SET n = n + 1 WHERE id = 7; SELECT n FROM stock WHERE id = 1; END;\" }}
  poll: {{ sql: \"DELETE FROM jobs WHERE id = (SELECT id FROM jobs LIMIT 1 FOR UPDATE SKIP LOCKED)\" }}
  write: {{ sql: \"INSERT INTO seen VALUES (1)\" }}
load: {{ model: open, schedule: \"const(1500, 2s)\", max_in_flight: 16 }}
",
        postgres.port
    );
    let workspace = Workspace::new("rows", &yaml);
    let documents = std::iter::repeat_with(|| {
        let mut command = workspace.command(&["--json"]);
        let ended = workspace.spawn_command(command.env("PGPASSWORD", postgres.password().reveal())).wait();
        ended.expect(0).document()
    });
    // Other tests use the machine at the same time, so the generator may be late.
    let is_valid = |document: &Value| document["matrix"]["rows"][0]["trials"][0]["valid"] == true;
    let document = documents.take(4).find(is_valid).expect("one of four trials is valid");
    let found: Vec<_> = findings(&document, "no_rows")
        .iter()
        .map(|it| (it["operation"].clone(), it["command"].clone(), it["statement"].clone()))
        .collect();
    let row = |operation: &str, command: u64, statement: &str| {
        (Value::from(operation), Value::from(command), Value::from(statement))
    };
    assert_eq!(found, [row("miss", 1, "update"), row("poll", 0, "queue")], "{document:#}");
    let rows = document["rows"].as_array().expect("rows of statements");
    let shares: Vec<_> = rows
        .iter()
        .flat_map(|it| it["statements"].as_array().expect("the value is an array"))
        .map(|it| &it["empty"])
        .collect();
    assert_eq!(shares, [1.0, 0.0, 1.0, 0.0], "{rows:#?}");
    for (lang, doubt, finding, information) in [
        (
            "en",
            "UPDATE found no row in 100 % of",
            "operation miss, command 2: UPDATE found no row; check",
            "operation poll, command 1: SKIP LOCKED found no row, which may be intended",
        ),
        (
            "ru",
            "UPDATE: ни одной строки в 100 % из",
            "операция miss, команда 2: UPDATE — ни одной строки; проверьте",
            "операция poll, команда 1: SKIP LOCKED — ни одной строки; возможно",
        ),
    ] {
        let page = page(&workspace, lang).replace(['\u{202f}', '\u{a0}'], " ");
        for expected in [doubt, finding, information] {
            assert!(page.contains(expected), "{expected}\n{page}");
        }
    }
}

/// Port of a service that returns this response to every request.
fn service(response: String) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("the listener is bound").port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let response = response.clone();
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                // A request of the load fits into one read.
                while stream.read(&mut buffer).is_ok_and(|it| it > 0) {
                    if stream.write_all(response.as_bytes()).is_err() {
                        break;
                    }
                }
            });
        }
    });
    port
}

/// The service returns a login page for each request of the recorded log.
#[test]
fn replayed_answers_are_compared_with_the_log() {
    let login = "x".repeat(2_000);
    let port = service(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{login}", login.len()));
    let yaml = format!(
        "stack: {{ service: {{ url: \"http://127.0.0.1:{port}\" }} }}
feeds:
  pages: {{ file: pages.log }}
  same: {{ file: same.log }}
operations:
  replay: {{ ammo: pages }}
  again: {{ ammo: same }}
load: {{ model: open, schedule: \"const(1000, 2s)\", max_in_flight: 16 }}
"
    );
    let workspace = Workspace::new("replayed", &yaml);
    let line = |status: u16, bytes: u64| {
        format!(
            "127.0.0.1 - ann [10/Oct/2026:13:55:36 +0300] \"GET /a HTTP/1.1\" {status} {bytes} \"-\" \"x\"\n"
        )
    };
    let pages = [line(200, 34_000), line(200, 35_000), line(302, 200), line(304, 0)].concat();
    std::fs::write(workspace.folder.join("pages.log"), pages).expect("the file can be written");
    // The response sizes in a log may include headers.
    std::fs::write(workspace.folder.join("same.log"), line(200, 2_350)).expect("the file can be written");
    let document = workspace.run(&["--json"]).expect(0).document();
    let sizes = findings(&document, "answer_sizes");
    let actual: Vec<_> =
        sizes.iter().map(|it| (&it["operation"], &it["change"]["kind"], &it["share"])).collect();
    assert_eq!(actual, [(&"replay".into(), &"smaller_than_recorded".into(), &1.0.into())], "{document:#}");
    assert_eq!(sizes[0]["change"]["bytes"], 2_000);
    let status = findings(&document, "recorded_status");
    assert_eq!(status.len(), 1, "{document:#}");
    assert_eq!(status[0]["operation"], "replay");
    let share = status[0]["share"].as_f64().expect("the value is a number");
    assert!((share - 1.0 / 3.0).abs() < 0.01, "{share}");
    for (lang, expected) in [
        ("en", "responses to replay are less than half as large as recorded in the log"),
        ("ru", "ответы на replay меньше половины записанных в логе"),
    ] {
        let page = page(&workspace, lang).replace(['\u{202f}', '\u{a0}'], " ");
        assert!(page.contains(expected), "{page}");
    }
}
