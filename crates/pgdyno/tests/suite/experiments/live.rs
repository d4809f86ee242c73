//! A browser can follow and end a run, and does not keep it from ending

use super::workspace::Workspace;
use std::net::{SocketAddr, TcpListener};
use store::RunStatus;

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../../serve/client.rs"]
mod client;

use client::{Events, exchange};

const LONG: &str = "
stack: { postgres: {} }
operations: { one: { sql: SELECT 1 } }
load: { model: closed, clients: 2, duration: 10m }
repeat: 2
";

#[test]
fn a_browser_sees_the_end_and_does_not_delay_it() {
    let workspace = Workspace::new("watched", LONG);
    let free = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port is free");
    let mut running = workspace.spawn(&["--live", "--port", &free.port().to_string()]);
    running.await_trial(1);
    let path = workspace.stored().path().to_owned();
    let name = path.file_stem().and_then(|it| it.to_str()).expect("a plain name").to_owned();
    let mut events = Events::open(free, &name, "");
    // These clients never read.
    let idle: Vec<Events> = (0..3).map(|_| Events::open(free, &name, "")).collect();
    // A document or points show that data arrive.
    let grown = events.by_ref().find(|it| it.kind != "state").expect("the run continues");
    assert!(["document", "points"].contains(&grown.kind.as_str()), "{grown:?}");
    let token = token(free, &name);
    let stop = format!(
        "POST /runs/{name}/stop HTTP/1.1\r\nHost: {free}\r\nOrigin: http://{free}\r\nx-pgdyno-form: {token}\r\n\
         Connection: close\r\n\r\n"
    );
    assert_eq!(exchange(free, stop.as_bytes()).status, 204);
    let rest: Vec<_> = events.collect();
    let ended = running.wait();
    ended.expect(2);
    drop(idle);
    let kinds: Vec<&str> = rest.iter().map(|it| it.kind.as_str()).collect();
    assert_eq!(kinds.last(), Some(&"end"), "{kinds:?}");
    let last = rest.iter().rfind(|it| it.kind == "document").expect("the whole of it");
    assert_eq!(last.data["live"], serde_json::Value::Null);
    assert_eq!(
        workspace.stored().state().expect("the run file can be read").status(),
        Some(RunStatus::Interrupted)
    );
    assert!(ended.err.contains(&format!("http://{free}/runs/{name}")), "{}", ended.err);
    workspace.await_cleanup();
}

/// Form token of the page.
fn token(address: SocketAddr, name: &str) -> String {
    let request = format!("GET /runs/{name} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let page = exchange(address, request.as_bytes());
    let (_, rest) = page.body.split_once("data-token=\"").expect("the page contains the token");
    rest.split_once('"').expect("the attribute ends").0.to_owned()
}
