//! Monitors invariants: queries whose result must never change, on any server
//!
//! Every server has a thread that runs all queries one after the other, each on one snapshot. A server that does not respond is
//! skipped until it responds again. A query sees a consistent state on primaries, standbys and deposed primaries alike, so all
//! of their results count.

use crate::client::{Connection, Error};
use crate::roles::DirectServer;
use model::Nanos;
use model::durability::{InvariantReadings, InvariantViolation};
use model::message;
use model::message::Message;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Interval between two readings of a server.
pub const READ_INTERVAL: Duration = Duration::from_millis(200);
/// Timeout for each wait for the network.
const READ_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum length of a stored result, in characters.
const RESULT_CHARS: usize = 100;

/// Reason why an invariant has no result before the load.
#[derive(Debug)]
pub enum InvariantError {
    /// The query failed.
    Query {
        query: String,
        error: Box<Error>,
    },
    /// No server that accepts writes responded.
    NoPrimary,
    Thread(io::Error),
}

impl From<&InvariantError> for Message {
    fn from(error: &InvariantError) -> Message {
        match error {
            InvariantError::Query { query, error } => {
                message!("read-back-failed", query = query.clone(), error = Message::from(&**error))
            }
            InvariantError::NoPrimary => message!("failover-no-primary"),
            InvariantError::Thread(error) => Message::text(error.to_string()),
        }
    }
}

/// Threads that read the invariants until they are stopped. Dropping the monitor stops the threads too.
#[derive(Debug)]
pub struct InvariantMonitor {
    queries: Vec<String>,
    expected: Vec<String>,
    threads: Vec<(SyncSender<()>, JoinHandle<Vec<ResultCounts>>)>,
}

/// Results of one query on one server.
#[derive(Clone, Debug, Default)]
struct ResultCounts {
    readings: u64,
    violations: u64,
    first: Option<InvariantViolation>,
}

impl InvariantMonitor {
    /// Reads the expected results from the primary, and starts reading all servers. `now` is the time since the window
    /// began.
    pub fn start(
        queries: &[String],
        servers: &[DirectServer],
        now: impl Fn() -> Nanos + Clone + Send + 'static,
    ) -> Result<InvariantMonitor, InvariantError> {
        let expected = read_expected(queries, servers)?;
        let mut monitor = InvariantMonitor { queries: queries.to_vec(), expected, threads: Vec::new() };
        for server in servers {
            let (stop, stopped) = sync_channel(1);
            let name = format!("invariants {}", server.name);
            let reader = ServerReader {
                server: server.clone(),
                queries: monitor.queries.clone(),
                expected: monitor.expected.clone(),
                counts: vec![ResultCounts::default(); queries.len()],
            };
            let now = now.clone();
            let spawned = Builder::new().name(name).spawn(move || reader.run(&now, &stopped));
            monitor.threads.push((stop, spawned.map_err(InvariantError::Thread)?));
        }
        Ok(monitor)
    }

    /// Reads every server once more, and returns the readings of each query.
    pub fn stop(mut self) -> Vec<InvariantReadings> {
        let servers = self.finish();
        let mut all = Vec::new();
        for (index, (query, expected)) in self.queries.iter().zip(&self.expected).enumerate() {
            let counts = || servers.iter().map(|it| &it[index]);
            let violations = counts().filter_map(|it| it.first.clone());
            all.push(InvariantReadings {
                query: query.clone(),
                expected: shorten(expected),
                readings: counts().map(|it| it.readings).sum(),
                violations: counts().map(|it| it.violations).sum(),
                first: violations.min_by_key(|it| it.at),
            });
        }
        all
    }

    fn finish(&mut self) -> Vec<Vec<ResultCounts>> {
        for (stop, _) in &self.threads {
            // The channel is full only if the thread was already told.
            let _ = stop.try_send(());
        }
        let threads = self.threads.drain(..);
        threads.map(|it| it.1.join().expect("a reader does not panic")).collect()
    }
}

impl Drop for InvariantMonitor {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Reads the invariants of one server.
struct ServerReader {
    server: DirectServer,
    queries: Vec<String>,
    expected: Vec<String>,
    counts: Vec<ResultCounts>,
}

impl ServerReader {
    fn run(mut self, now: &impl Fn() -> Nanos, stop: &Receiver<()>) -> Vec<ResultCounts> {
        let mut connection = None;
        loop {
            let stopped = stop.recv_timeout(READ_INTERVAL) != Err(RecvTimeoutError::Timeout);
            if connection.is_none() {
                connection = self.server.target.open(READ_TIMEOUT).ok();
            }
            if let Some(open) = &mut connection
                && self.read(open, now).is_err()
            {
                connection = None;
            }
            if stopped {
                return self.counts;
            }
        }
    }

    fn read(&mut self, connection: &mut Connection, now: &impl Fn() -> Nanos) -> Result<(), Error> {
        for (index, query) in self.queries.iter().enumerate() {
            let result = result(connection, query)?;
            let counts = &mut self.counts[index];
            counts.readings += 1;
            if result != self.expected[index] {
                counts.violations += 1;
                counts.first.get_or_insert_with(|| InvariantViolation {
                    at: now(),
                    node: self.server.name.clone(),
                    result: shorten(&result),
                });
            }
        }
        Ok(())
    }
}

/// Results of the queries on the primary, before the load.
fn read_expected(queries: &[String], servers: &[DirectServer]) -> Result<Vec<String>, InvariantError> {
    for server in servers {
        let Ok(mut connection) = server.target.open(READ_TIMEOUT) else { continue };
        let is_primary = connection.value("select not pg_is_in_recovery()");
        if !is_primary.is_ok_and(|it| it.as_deref() == Some("t")) {
            continue;
        }
        let expected = |query: &String| {
            let failed = |error| InvariantError::Query { query: query.clone(), error: Box::new(error) };
            result(&mut connection, query).map_err(failed)
        };
        return queries.iter().map(expected).collect();
    }
    Err(InvariantError::NoPrimary)
}

/// First value of a query's first row as text; NULL and a query without a row are empty.
fn result(connection: &mut Connection, query: &str) -> Result<String, Error> {
    connection.value(query).map(Option::unwrap_or_default)
}

fn shorten(result: &str) -> String {
    result.chars().take(RESULT_CHARS).collect()
}
