//! Measures how soon replicas show writes that their primary acknowledged
//!
//! One session inserts numbers into a separate table on the current primary. After each acknowledgement, every replica
//! is queried until the number is visible; each replica has a thread. Another session reads all replicas in turn, like
//! the clients of a balancer, and records the highest number seen.
//!
//! All sessions connect directly to the servers, over TCP like clients. A pool's connections therefore stay available
//! to the load, and a network fault that affects clients affects these sessions too. A read through a pooler or
//! balancer arrives later, so it sees the same state or a newer state. The sessions log in as superuser, so they use
//! reserved slots instead of the clients' slots. They write with the `synchronous_commit` of the application's user.

mod reader;
mod replica_session;
mod round_robin;
#[cfg(test)]
mod tests;
mod writer;

use crate::roles::DirectServer;
use crate::sampler::Observation;
use model::Nanos;
use model::freshness::{Freshness, ReadCounts, ReplicaReads};
use reader::ReplicaReader;
use round_robin::RoundRobinReader;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};
use writer::NumberWriter;

/// Mean interval between two writes: five per second.
pub const WRITE_INTERVAL: Duration = Duration::from_millis(200);
/// Time after which a number counts as not visible on a replica.
pub const VISIBILITY_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum time between an acknowledgement and a query that counts as sent right after it.
const MAX_QUERY_DELAY: Duration = Duration::from_millis(20);
/// Timeout for a login; a server that takes longer counts as not responding.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// Series: time from the acknowledgement of a number until a replica shows it. If one query shows several new numbers,
/// the longest of their times is recorded.
pub const SERIES: &str = "replica_visible_after";

/// Threads that write and read until they are stopped. Dropping the prober stops the threads and discards the results.
#[derive(Debug)]
pub struct FreshnessProber {
    servers: Vec<DirectServer>,
    stop_writes: SyncSender<()>,
    /// True if the prober does not wait for pending numbers.
    abort: Arc<AtomicBool>,
    writer: Option<JoinHandle<u64>>,
    readers: Vec<JoinHandle<ReplicaReads>>,
    round_robin: Option<JoinHandle<ReadCounts>>,
}

/// Number that the primary acknowledged.
#[derive(Clone, Copy, Debug)]
struct AcknowledgedNumber {
    value: u64,
    at: Instant,
    /// Index of the server that acknowledged the number.
    server: usize,
}

impl FreshnessProber {
    /// Starts writing and reading.
    ///
    /// - `servers`: all servers, over the network that clients use.
    /// - `first`: the first number, greater than all numbers of earlier trials with the same servers.
    /// - `now`: time since the measured window began; `None` before the window, in which the writer only creates the
    ///   table.
    /// - `observations`: receives the samples; sending does not block.
    pub fn start(
        servers: Vec<DirectServer>,
        first: u64,
        now: impl Fn() -> Option<Nanos> + Clone + Send + 'static,
        observations: &Sender<Observation>,
    ) -> io::Result<FreshnessProber> {
        let (stop_writes, stop) = sync_channel(1);
        let mut prober = FreshnessProber {
            servers,
            stop_writes,
            abort: Arc::new(AtomicBool::new(false)),
            writer: None,
            readers: Vec::new(),
            round_robin: None,
        };
        let (mut to, mut to_turns) = (Vec::new(), None);
        for server in &prober.servers {
            let (sender, numbers) = channel();
            let (abort, now, observations) = (Arc::clone(&prober.abort), now.clone(), observations.clone());
            let reader = ReplicaReader::new(server.clone(), now, observations);
            let name = format!("fresh {}", server.name);
            prober.readers.push(Builder::new().name(name).spawn(move || reader.run(&numbers, &abort))?);
            to.push(sender);
        }
        // Reads can alternate only if there are several replicas.
        if prober.servers.len() > 2 {
            let (sender, numbers) = channel();
            let turns = RoundRobinReader::new(&prober.servers);
            let spawned = Builder::new().name("fresh in turn".to_owned()).spawn(move || turns.run(&numbers));
            prober.round_robin = Some(spawned?);
            to_turns = Some(sender);
        }
        let writer = NumberWriter::new(prober.servers.clone(), first, to, to_turns);
        let run = move || writer.run(&|| now().is_some(), &stop);
        prober.writer = Some(Builder::new().name("fresh".to_owned()).spawn(run)?);
        Ok(prober)
    }

    /// Stops writing at the end of the load. Numbers that are already written may still become visible.
    pub fn stop_writing(&self) {
        // The channel is full if the writer was already stopped.
        let _ = self.stop_writes.try_send(());
    }

    /// Returns the results when every number is visible, or after [`VISIBILITY_TIMEOUT`].
    ///
    /// If `immediately`, returns at once and ignores numbers that are not visible yet. Drops the table if there is a
    /// primary.
    pub fn stop(mut self, immediately: bool) -> Freshness {
        self.abort.store(immediately, Ordering::Relaxed);
        let freshness = self.finish();
        NumberWriter::new(std::mem::take(&mut self.servers), 0, Vec::new(), None).drop_table();
        freshness
    }

    fn finish(&mut self) -> Freshness {
        self.stop_writing();
        let invariant = "these threads do not panic";
        let acknowledged = self.writer.take().map_or(0, |it| it.join().expect(invariant));
        let readers = self.readers.drain(..).map(|it| it.join().expect(invariant));
        // A server that received no queries was the primary all the time.
        let replicas = readers.filter(|it| it.own_writes.total + it.unanswered > 0).collect();
        let in_turn = self.round_robin.take().map(|it| it.join().expect(invariant));
        Freshness { bound: VISIBILITY_TIMEOUT.into(), acknowledged, replicas, round_robin: in_turn }
    }
}

impl Drop for FreshnessProber {
    fn drop(&mut self) {
        self.abort.store(true, Ordering::Relaxed);
        self.finish();
    }
}

impl AcknowledgedNumber {
    /// True if a query that starts now counts as sent right after the acknowledgement.
    fn is_on_time(&self) -> bool {
        self.at.elapsed() <= MAX_QUERY_DELAY
    }
}

/// Counts of consecutive reads.
#[derive(Debug, Default)]
struct ReadCounter {
    reads: ReadCounts,
    last: Option<bool>,
}

impl ReadCounter {
    fn count(&mut self, old: bool) {
        self.reads.total += 1;
        self.reads.stale += u64::from(old);
        self.reads.changes += u64::from(self.last.replace(old).is_some_and(|last| last != old));
    }
}
