//! When does one replica show each number?

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

/// The shortest time between two looks.
const MIN_LOOK_INTERVAL: Duration = Duration::from_millis(1);
/// Looks become as much rarer as a number has become older: what is told is at most a fifth too long.
const LOOK_INTERVAL_DIVISOR: u32 = 5;
/// So long before the bound is the last look, whose answer is to come within it.
const LAST_LOOK_MARGIN: Duration = Duration::from_millis(10);

/// Asks one server, while it is a replica.
pub(super) struct ReplicaReader<N> {
    session: ReplicaSession,
    now: N,
    tell: Sender<Observation>,
    /// Not seen yet; the oldest first.
    pending: Vec<AcknowledgedNumber>,
    own: ReadCounter,
    unanswered: u64,
    visible_us: Vec<u64>,
}

impl<N: Fn() -> Option<Nanos>> ReplicaReader<N> {
    pub fn new(of: DirectServer, now: N, tell: Sender<Observation>) -> ReplicaReader<N> {
        let (pending, own, visible_us) = (Vec::new(), ReadCounter::default(), Vec::new());
        ReplicaReader { session: ReplicaSession::new(of), now, tell, pending, own, unanswered: 0, visible_us }
    }

    /// Until nobody gives numbers any more and all have been seen, or were waited for; or there is a `hurry`.
    pub fn run(mut self, numbers: &Receiver<AcknowledgedNumber>, hurry: &AtomicBool) -> ReplicaReads {
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
                    let Some(step) = step.filter(|_| !hurry.load(Ordering::Relaxed)) else { break };
                    thread::sleep(step);
                    self.look();
                }
            }
        }
        // What was given up is not what was waited for.
        self.own.reads.total -= self.pending.len() as u64;
        self.own.reads.stale -= self.pending.len() as u64;
        self.visible_us.sort_unstable();
        let ReplicaReader { session: seat, own, unanswered, visible_us, .. } = self;
        ReplicaReads { node: seat.target.name, own_writes: own.reads, unanswered, visible_us }
    }

    /// For the first time.
    fn first_look(&mut self, number: AcknowledgedNumber) {
        if number.is_on_time() {
            self.pending.push(number);
            match self.read() {
                Some((true, shown)) => {
                    self.own.count(!shown.contains(&number.value));
                    return self.remove_visible(&shown);
                }
                // It is the primary now: nobody's own write is read from a replica here.
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

    /// Whether it is a replica, and which numbers it shows, from the oldest that is pending on.
    fn read(&mut self) -> Option<(bool, Vec<u64>)> {
        let oldest = self.pending.first()?.value;
        let sql = format!("select string_agg(number::text, ' ') from {TABLE} where number >= {oldest}");
        let shown = self.session.query(&sql)?;
        let numbers = shown.value.unwrap_or_default();
        Some((shown.in_recovery, numbers.split(' ').filter_map(|it| it.parse().ok()).collect()))
    }

    /// What is shown is pending no more, and what was waited for in vain neither.
    fn remove_visible(&mut self, shown: &[u64]) {
        let mut longest = None;
        let visible = &mut self.visible_us;
        self.pending.retain(|it| {
            let since = it.at.elapsed();
            let is_there = shown.contains(&it.value);
            if is_there && since <= VISIBILITY_TIMEOUT {
                visible.push(since.as_micros() as u64);
                longest = longest.max(Some(since));
            }
            !is_there && since < VISIBILITY_TIMEOUT
        });
        if let Some((longest, at)) = longest.zip((self.now)()) {
            let (node, value) = (self.session.target.name.clone().into(), longest.as_secs_f64());
            let sample = Sample { at, node, series: SERIES.into(), label: "".into(), value };
            // Who listens may have gone.
            let _ = self.tell.send(Observation::Samples(vec![sample]));
        }
    }
}

/// Until the next look, where the youngest and the oldest number that are pending have these ages: the last look at each is
/// right before its bound.
pub(super) fn look_interval(youngest: Duration, oldest: Duration) -> Duration {
    let last = (VISIBILITY_TIMEOUT - LAST_LOOK_MARGIN).saturating_sub(oldest);
    (youngest / LOOK_INTERVAL_DIVISOR).min(last).max(MIN_LOOK_INTERVAL)
}
