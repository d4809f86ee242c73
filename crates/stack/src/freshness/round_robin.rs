//! Detects reads that are older than earlier reads of the same session

use super::replica_session::{ReplicaSession, TABLE};
use super::{AcknowledgedNumber, ReadCounter};
use crate::roles::DirectServer;
use model::freshness::ReadCounts;
use std::sync::mpsc::Receiver;

/// Session of a client whose queries alternate between the replicas.
pub(super) struct RoundRobinReader {
    sessions: Vec<ReplicaSession>,
    first: usize,
    /// Highest number that this session has seen.
    highest: Option<u64>,
    reads: ReadCounter,
}

impl RoundRobinReader {
    pub fn new(servers: &[DirectServer]) -> RoundRobinReader {
        let seats = servers.iter().cloned().map(ReplicaSession::new).collect();
        RoundRobinReader { sessions: seats, first: 0, highest: None, reads: ReadCounter::default() }
    }

    /// Reads each replica once, right after every acknowledgement; a different replica is first each time.
    pub fn run(mut self, numbers: &Receiver<AcknowledgedNumber>) -> ReadCounts {
        self.sessions.iter_mut().for_each(ReplicaSession::connect_if_replica);
        while let Ok(number) = numbers.recv() {
            self.read_all(number);
        }
        self.reads.reads
    }

    fn read_all(&mut self, number: AcknowledgedNumber) {
        if !number.is_on_time() {
            return;
        }
        let (first, count) = (self.first, self.sessions.len());
        for at in (0..count).map(|it| (first + it) % count).filter(|it| *it != number.server) {
            let Some(shown) = self.sessions[at].query(&format!("select max(number) from {TABLE}")) else {
                continue;
            };
            if shown.in_recovery {
                self.record(shown.value.and_then(|it| it.parse().ok()).unwrap_or(0));
            }
        }
        self.first = (first + 1) % count;
    }

    /// Counts a read as stale if its value is below the highest; the very first read is not counted.
    pub(super) fn record(&mut self, value: u64) {
        if let Some(highest) = self.highest {
            self.reads.count(value < highest);
        }
        self.highest = self.highest.max(Some(value));
    }

    #[cfg(test)]
    pub(super) fn reads(&self) -> ReadCounts {
        self.reads.reads
    }
}
