//! Slow clients do not delay others

use super::client::{Server, measured};
use super::growing_run::GrowingRun;
use rustix::process::{Resource, getrlimit, setrlimit};
use std::io::Write;

/// Number of slow connections of one kind. It fits into the listener's backlog (128), so that connecting never blocks,
/// and all kinds together exceed the server's connection limit (256).
const MANY: usize = 100;

#[test]
fn slow_readers_do_not_block_others() {
    let server = Server::new();
    let written = GrowingRun::begin(&server.folder.join("runs"), &measured());
    let name = written.name.clone();
    server.assert_healthy();
    let before = server.memory();
    let requests = [
        // An incomplete request,
        format!("GET /runs.json HTTP/1.1\r\nHost: {}\r\nCookie: a=", server.address),
        // a large response that is not read,
        format!("GET /runs/shop/document HTTP/1.1\r\nHost: {}\r\n\r\n", server.address).repeat(50),
        // and events that are not read.
        format!("GET /runs/{name}/events HTTP/1.1\r\nHost: {}\r\n\r\n", server.address),
    ];
    let mut held = Vec::new();
    for request in &requests {
        for _ in 0..MANY {
            let mut stream = server.connect();
            // Above the connection limit, the server closes the oldest connection.
            let _ = stream.write_all(request.as_bytes());
            held.push(stream);
        }
        server.assert_healthy();
    }
    // The client side still holds all connections.
    assert_eq!(held.len(), MANY * requests.len());
    let grown = server.memory().saturating_sub(before);
    assert!(grown < 64 << 20, "{} MiB more", grown >> 20);
    drop(held);
    server.assert_healthy();
    drop(written);
}

/// Connections beyond the server's limit and its file descriptors.
const FLOOD: usize = 10_000;
/// Upper bound on descriptors: connections, runs, and those of any process.
const DESCRIPTORS: usize = 400;

#[test]
fn ten_thousand_slow_connections_do_not_block_others() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).expect("the hard limit may be taken");
    let room = limit.maximum.is_none_or(|it| it > 2 * FLOOD as u64);
    let count = if room { FLOOD } else { MANY };
    let server = Server::new();
    server.assert_healthy();
    let before = server.memory();
    let half = format!("GET /runs.json HTTP/1.1\r\nHost: {}\r\nCookie: a=", server.address);
    let mut held = Vec::new();
    for number in 0..count {
        let mut stream = server.connect();
        // Above the connection limit, the server closes the oldest connection.
        let _ = stream.write_all(half.as_bytes());
        held.push(stream);
        if number % 1000 == 999 {
            server.assert_healthy();
        }
    }
    server.assert_healthy();
    let open = server.descriptors();
    assert!(open < DESCRIPTORS, "{open} descriptors");
    let grown = server.memory().saturating_sub(before);
    assert!(grown < 64 << 20, "{} MiB more", grown >> 20);
    drop(held);
    server.assert_healthy();
}
