//! Measures when one replica shows each number

use super::replica_session::{ReplicaSession, TABLE};
use super::{AcknowledgedNumber, ReadCounter, SERIES, VISIBILITY_TIMEOUT};
use crate::roles::DirectServer;
use crate::sampler::Observation;
use model::freshness::ReplicaReads;
use model::{Nanos, Sample};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// Minimum interval between two queries.
const MIN_LOOK_INTERVAL: Duration = Duration::from_millis(1);
/// Divisor that gives the query interval from the age of the youngest pending number. The measured delay is therefore
/// at most a fifth too long.
const LOOK_INTERVAL_DIVISOR: u32 = 5;
/// Margin between the last query and the timeout, within which its response should arrive.
const LAST_LOOK_MARGIN: Duration = Duration::from_millis(10);

/// Reader that queries one server while it is a replica.
pub(super) struct ReplicaReader<N> {
    session: ReplicaSession,
    now: N,
    tell: Sender<Observation>,
    /// Numbers that are not visible yet, oldest first.
    pending: Vec<AcknowledgedNumber>,
    own_writes: ReadCounter,
    unanswered: u64,
    visible_us: Vec<u64>,
}

impl<N: Fn() -> Option<Nanos>> ReplicaReader<N> {
    pub fn new(server: DirectServer, now: N, sender: Sender<Observation>) -> ReplicaReader<N> {
        let (pending, own_writes, visible_us) = (Vec::new(), ReadCounter::default(), Vec::new());
        ReplicaReader {
            session: ReplicaSession::new(server),
            now,
            tell: sender,
            pending,
            own_writes,
            unanswered: 0,
            visible_us,
        }
    }

    /// Runs until the sender is dropped and no number is pending, or until `abort` is set.
    pub fn run(mut self, numbers: &Receiver<AcknowledgedNumber>, abort: &AtomicBool) -> ReplicaReads {
        self.session.connect_if_replica();
        loop {
            let ends = self.pending.last().zip(self.pending.first());
            let step =
                ends.map(|(youngest, oldest)| look_interval(youngest.at.elapsed(), oldest.at.elapsed()));
            let next = match step {
                None => numbers.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(step) => numbers.recv_timeout(step),
            };
            match next {
                Ok(number) => self.first_look(number),
                Err(RecvTimeoutError::Timeout) => self.look(),
                Err(RecvTimeoutError::Disconnected) => {
                    let Some(step) = step.filter(|_| !abort.load(Ordering::Relaxed)) else { break };
                    thread::sleep(step);
                    self.look();
                }
            }
        }
        // Do not count abandoned numbers.
        self.own_writes.reads.total -= self.pending.len() as u64;
        self.own_writes.reads.stale -= self.pending.len() as u64;
        self.visible_us.sort_unstable();
        let ReplicaReader { session: seat, own_writes, unanswered, visible_us, .. } = self;
        ReplicaReads { node: seat.target.name, own_writes: own_writes.reads, unanswered, visible_us }
    }

    /// Sends the first query for a number.
    fn first_look(&mut self, number: AcknowledgedNumber) {
        if number.is_on_time() {
            self.pending.push(number);
            match self.read() {
                Some((true, shown)) => {
                    self.own_writes.count(!shown.contains(&number.value));
                    return self.remove_visible(&shown);
                }
                // The server is the primary now, so this read does not count as a read on a replica.
                Some((false, shown)) => {
                    self.pending.pop();
                    return self.remove_visible(&shown);
                }
                None => drop(self.pending.pop()),
            }
        }
        self.unanswered += 1;
        self.remove_visible(&[]);
    }

    fn look(&mut self) {
        let shown = self.read().map_or(Vec::new(), |it| it.1);
        self.remove_visible(&shown);
    }

    /// Queries the server. Returns whether it is a replica, and the visible numbers from the oldest pending one on.
    fn read(&mut self) -> Option<(bool, Vec<u64>)> {
        let oldest = self.pending.first()?.value;
        let sql = format!("select string_agg(number::text, ' ') from {TABLE} where number >= {oldest}");
        let shown = self.session.query(&sql)?;
        let numbers = shown.value.unwrap_or_default();
        Some((shown.in_recovery, numbers.split(' ').filter_map(|it| it.parse().ok()).collect()))
    }

    /// Removes numbers that are visible or timed out.
    fn remove_visible(&mut self, shown: &[u64]) {
        let mut longest = None;
        let visible = &mut self.visible_us;
        self.pending.retain(|number| {
            let elapsed = number.at.elapsed();
            let is_there = shown.contains(&number.value);
            if is_there && elapsed <= VISIBILITY_TIMEOUT {
                visible.push(elapsed.as_micros() as u64);
                longest = longest.max(Some(elapsed));
            }
            !is_there && elapsed < VISIBILITY_TIMEOUT
        });
        if let Some((longest, at)) = longest.zip((self.now)()) {
            let (node, value) = (self.session.target.name.clone().into(), longest.as_secs_f64());
            let sample = Sample { at, node, series: SERIES.into(), label: "".into(), value };
            // Ignore errors, because the receiver may be dropped already.
            let _ = self.tell.send(Observation::Samples(vec![sample]));
        }
    }
}

/// Interval until the next query, given the ages of the youngest and the oldest pending number. The last query for each
/// number is sent shortly before its timeout.
pub(super) fn look_interval(youngest: Duration, oldest: Duration) -> Duration {
    let last = (VISIBILITY_TIMEOUT - LAST_LOOK_MARGIN).saturating_sub(oldest);
    (youngest / LOOK_INTERVAL_DIVISOR).min(last).max(MIN_LOOK_INTERVAL)
}
