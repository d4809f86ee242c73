//! Who takes his time takes nobody else's.

use super::client::{Server, measured};
use super::growing_run::GrowingRun;
use rustix::process::{Resource, getrlimit, setrlimit};
use std::io::Write;

const MANY: usize = 200;

#[test]
fn slow_readers_do_not_block_others() {
    let server = Server::new();
    let written = GrowingRun::begin(&server.folder.join("runs"), &measured());
    let name = written.name.clone();
    server.assert_healthy();
    let before = server.memory();
    let requests = [
        // Half of one, …
        format!("GET /runs.json HTTP/1.1\r\nHost: {}\r\nCookie: a=", server.address),
        // … a large answer that nobody takes, …
        format!("GET /runs/shop/document HTTP/1.1\r\nHost: {}\r\n\r\n", server.address).repeat(50),
        // … and news that nobody reads.
        format!("GET /runs/{name}/events HTTP/1.1\r\nHost: {}\r\n\r\n", server.address),
    ];
    let mut held = Vec::new();
    for request in &requests {
        for _ in 0..MANY {
            let mut stream = server.connect();
            // Where too many are there, the one who came first has gone.
            let _ = stream.write_all(request.as_bytes());
            held.push(stream);
        }
        server.assert_healthy();
    }
    // They are all still there, as far as they know.
    assert_eq!(held.len(), MANY * requests.len());
    let grown = server.memory().saturating_sub(before);
    assert!(grown < 64 << 20, "{} MiB more", grown >> 20);
    drop(held);
    server.assert_healthy();
    drop(written);
}

/// More than the server holds, and more than it may have descriptors for.
const FLOOD: usize = 10_000;
/// Its connections, its runs and what a process has anyway.
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
        // Where too many are there, the one who came first has gone.
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
