//! Requests at the start of each client, on a service whose pages need a session

use super::http_server::{self, Connection};
use super::workspace::{PGDYNO, RunOutput, Workspace};
use model::fact::Fact;
use model::note::Note;
use std::collections::HashMap;
use std::process::Command;
use std::sync::{Arc, Mutex};

/// Number of log-ins by user, and number of orders with the right token.
#[derive(Default)]
struct Seen {
    logins: HashMap<String, u32>,
    orders: u32,
}

/// Serves one connection. Without the user's token, each page is the log-in page, with status 200.
fn serve(connection: &mut Connection, seen: &Mutex<Seen>) {
    while let Some(request) = connection.request() {
        let user = request.body.strip_prefix("user=").and_then(|it| it.strip_suffix("&password=secret"));
        let (status, page) = match (request.target(), user) {
            ("/login", Some(user)) => {
                let mut seen = seen.lock().expect("no panic");
                let logins = seen.logins.entry(user.to_owned()).or_default();
                *logins += 1;
                match (user, *logins) {
                    ("late", 1) => (503, "busy".to_owned()),
                    _ => (200, format!("{{\"token\": \"{user}-1\"}}")),
                }
            }
            ("/login", None) => (403, "wrong password".to_owned()),
            _ => match request.header("authorization").and_then(|it| it.strip_suffix("-1")) {
                Some(user) => {
                    seen.lock().expect("no panic").orders += 1;
                    (200, format!("orders of {user}"))
                }
                None => (200, "Please log in".to_owned()),
            },
        };
        connection.respond(&format!("{status} X"), "", page.as_bytes());
    }
}

fn service() -> (u16, Arc<Mutex<Seen>>) {
    let seen = Arc::<Mutex<Seen>>::default();
    let shared = Arc::clone(&seen);
    (http_server::start(move |connection| serve(connection, &shared)), seen)
}

fn experiment(port: u16) -> String {
    format!(
        r#"
stack: {{ service: {{ url: "http://127.0.0.1:{port}" }} }}
feeds: {{ users: {{ rows: [ {{ user: ann }}, {{ user: bob }}, {{ user: eve }} ] }} }}
on_start:
  feed: users
  steps:
    - {{ post: /login, form: {{ user: "${{user}}", password: "${{env:PGDYNO_TEST_PASSWORD}}" }}, capture: {{ token: {{ json: /token }} }} }}
operations:
  orders:
    get: /orders
    headers: {{ Authorization: "${{token}}" }}
    expect: {{ contains: "orders of ${{user}}", not_contains: Please log in }}
load: {{ model: closed, clients: 3, pacing: 20ms, duration: 1s }}
"#
    )
}

#[test]
fn each_client_logs_in_once() {
    let (port, seen) = service();
    let workspace = Workspace::new("start", &experiment(port));
    let ended =
        workspace.spawn_command(workspace.command(&["--json"]).env("PGDYNO_TEST_PASSWORD", "secret")).wait();
    let document = ended.expect(0).document();
    let figures = document["matrix"]["rows"][0]["figures"].as_array().expect("figures");
    let median = |name: &str| figures.iter().find(|it| it["figure"] == name).map(|it| &it["median"]);
    assert_eq!(median("errors"), Some(&0.0.into()), "{figures:?}");
    let Seen { logins, orders } = &*seen.lock().expect("no panic");
    // The check before the trial logs in too, alone and before the operation.
    let logins: u32 = logins.values().sum();
    assert!((3..=6).contains(&logins), "{logins} log-ins");
    assert!(*orders >= 60, "{orders}");
    for text in [&ended.out, &ended.err] {
        assert!(!text.contains("secret"), "{text}");
    }
}

#[test]
fn repeated_log_in_is_noted() {
    let (port, _) = service();
    let workspace = Workspace::new("start-late", &experiment(port));
    let sets = ["--set", "feeds.users.rows=[{user: ann}, {user: late}]", "--set", "load.clients=2"];
    workspace.spawn_command(workspace.command(&sets).env("PGDYNO_TEST_PASSWORD", "secret")).wait().expect(0);
    let notes = workspace.stored().facts().expect("the run can be read").into_iter();
    let notes: Vec<String> = notes.filter_map(|it| Some(format!("{:?}", note(it.fact)?))).collect();
    assert!(notes.iter().any(|it| it.contains("on_start") && it.contains("503")), "{notes:?}");
}

fn note(fact: Fact) -> Option<Note> {
    match fact {
        Fact::Note(note) => Some(note),
        _ => None,
    }
}

#[test]
fn failed_log_in_is_reported_with_its_answer() {
    let (port, seen) = service();
    let workspace = Workspace::new("start-refused", &experiment(port));
    let run = |arguments: &[&str]| {
        workspace.spawn_command(workspace.command(arguments).env("PGDYNO_TEST_PASSWORD", "wrong")).wait()
    };
    // The service is attached and the log-in is no read, so the check before the trial does not send it.
    let ended = run(&[]);
    assert!(ended.err.contains("on_start: unexpected status of the response: HTTP 403"), "{}", ended.err);
    assert!(!ended.status.success());
    assert_eq!(seen.lock().expect("no panic").orders, 0);
    assert!(!ended.err.contains("wrong"), "{}", ended.err);

    // `try` prints the log-in and stops there.
    let mut command = Command::new(PGDYNO);
    command.arg("try").arg(workspace.folder.join("start-refused.yaml")).env("PGDYNO_TEST_PASSWORD", "wrong");
    let tried = RunOutput::run(command.env("TMPDIR", workspace.folder.join("tmp")).env("LC_ALL", "C.UTF-8"));
    assert!(tried.out.contains("operation on_start") && tried.out.contains("403"), "{}", tried.out);
    assert!(!tried.out.contains("operation orders") && !tried.status.success(), "{}", tried.out);
}
