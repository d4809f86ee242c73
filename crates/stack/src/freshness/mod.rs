//! How soon do replicas show what their primary has acknowledged?
//!
//! A session puts numbers into a table of pgdyno's own on whoever is the primary. The moment that one is acknowledged every
//! replica is asked for it, by a session on a thread of its own, and again until it is there. Another session reads all
//! replicas in turn, as the clients of a balancer do, and remembers the highest number that it has seen.
//!
//! All of them go straight to the servers, by TCP as clients do: a pool's connections stay the load's, what is cut off from
//! clients is cut off from us, and who comes later, through a pooler or a balancer, sees what we saw or newer. They log in as
//! superuser, whose slots are not the clients', and write with the `synchronous_commit` of the application's user.

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

/// From one number to the next, on the average: five per second.
pub const WRITE_INTERVAL: Duration = Duration::from_millis(200);
/// So long a number is waited for.
pub const VISIBILITY_TIMEOUT: Duration = Duration::from_secs(5);
/// A question that leaves later does not come at once after the acknowledgement.
const MAX_QUERY_DELAY: Duration = Duration::from_millis(20);
/// A server that needs longer does not answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// What the time until a replica showed a number is called among samples: of those that one look saw for the first time,
/// the longest.
pub const SERIES: &str = "replica_visible_after";

/// Writes and reads until it is stopped. Dropped, it ends and forgets.
#[derive(Debug)]
pub struct FreshnessProber {
    servers: Vec<DirectServer>,
    stop_writes: SyncSender<()>,
    /// Nothing is waited for any more.
    abort: Arc<AtomicBool>,
    writer: Option<JoinHandle<u64>>,
    readers: Vec<JoinHandle<ReplicaReads>>,
    round_robin: Option<JoinHandle<ReadCounts>>,
}

/// One that was acknowledged.
#[derive(Clone, Copy, Debug)]
struct AcknowledgedNumber {
    value: u64,
    at: Instant,
    /// Index of the server that has it.
    server: usize,
}

impl FreshnessProber {
    /// `servers`: all of them, over the network that clients use. `first`: the first number that is written, above all
    /// of earlier trials with the same servers. `now`: since the measured window began, `None` before it,
    /// when there is a table and nothing in it. What is seen goes to `tell` as samples, without waiting.
    pub fn start(
        servers: Vec<DirectServer>,
        first: u64,
        now: impl Fn() -> Option<Nanos> + Clone + Send + 'static,
        tell: &Sender<Observation>,
    ) -> io::Result<FreshnessProber> {
        let (rest, rests) = sync_channel(1);
        let hurry = Arc::new(AtomicBool::new(false));
        let mut prober = FreshnessProber {
            servers,
            stop_writes: rest,
            abort: hurry,
            writer: None,
            readers: Vec::new(),
            round_robin: None,
        };
        let (mut to, mut to_turns) = (Vec::new(), None);
        for server in &prober.servers {
            let (sender, numbers) = channel();
            let (hurry, now, tell) = (Arc::clone(&prober.abort), now.clone(), tell.clone());
            let reader = ReplicaReader::new(server.clone(), now, tell);
            let name = format!("fresh {}", server.name);
            prober.readers.push(Builder::new().name(name).spawn(move || reader.run(&numbers, &hurry))?);
            to.push(sender);
        }
        // With one replica there is nobody to take turns with.
        if prober.servers.len() > 2 {
            let (sender, numbers) = channel();
            let turns = RoundRobinReader::new(&prober.servers);
            let spawned = Builder::new().name("fresh in turn".to_owned()).spawn(move || turns.run(&numbers));
            prober.round_robin = Some(spawned?);
            to_turns = Some(sender);
        }
        let writer = NumberWriter::new(prober.servers.clone(), first, to, to_turns);
        let run = move || writer.run(&|| now().is_some(), &rests);
        prober.writer = Some(Builder::new().name("fresh".to_owned()).spawn(run)?);
        Ok(prober)
    }

    /// No more numbers, for the load is over. Those that there are may still come to be seen.
    pub fn stop_writing(&self) {
        // It may have been told before.
        let _ = self.stop_writes.try_send(());
    }

    /// What was seen, once everything was, which may take until [`BOUND`]; at once where it is `hurried`, and what was not
    /// there yet is as if it had never been. The table is gone then, where there is a primary to drop it.
    pub fn stop(mut self, hurried: bool) -> Freshness {
        self.abort.store(hurried, Ordering::Relaxed);
        let seen = self.finish();
        NumberWriter::new(std::mem::take(&mut self.servers), 0, Vec::new(), None).drop_table();
        seen
    }

    fn finish(&mut self) -> Freshness {
        self.stop_writing();
        let own = "these threads do not panic";
        let acknowledged = self.writer.take().map_or(0, |it| it.join().expect(own));
        let readers = self.readers.drain(..).map(|it| it.join().expect(own));
        // Who was the primary all the time was asked nothing.
        let replicas = readers.filter(|it| it.own_writes.total + it.unanswered > 0).collect();
        let in_turn = self.round_robin.take().map(|it| it.join().expect(own));
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
    /// Whether a question that leaves now comes at once after the acknowledgement.
    fn is_on_time(&self) -> bool {
        self.at.elapsed() <= MAX_QUERY_DELAY
    }
}

/// Counts reads one after the other.
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
