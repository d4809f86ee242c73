//! First pass over the ledger: servers, timelines and completeness
//!
//! The pass collects the facts that are needed before any entry can be judged.

use super::acknowledgements::AcknowledgementTimes;
use model::Nanos;
use model::durability::{
    DurabilityHistory, InconclusiveReason, LedgerEntry, ServerId, ServerInstance, WriteAttempt, WriteOutcome,
};
use std::collections::BTreeSet;

#[derive(Debug)]
pub(super) struct LedgerSurvey {
    servers: Vec<KnownServer>,
    /// Number of reserved sequence numbers by session. Sequence numbers below it may have been used.
    pub reserved: Vec<u64>,
    /// One more than the highest sequence number with an outcome, by session.
    pub completed: Vec<u64>,
    pub acknowledgements: AcknowledgementTimes,
    pub clock_steps_us: Vec<i64>,
    /// Number of entries that contradict each other.
    pub contradictions: u64,
    pub failovers: u32,
    pub doubts: Vec<InconclusiveReason>,
    /// Timelines that clients saw, each with the time at which a client saw it.
    pub timelines: Vec<(Nanos, u32)>,
}

#[derive(Debug)]
struct KnownServer {
    id: ServerId,
    server: ServerInstance,
    /// Time of the first acknowledgement by this server.
    first: Option<Nanos>,
    /// Intervals in which the server was certainly in recovery.
    recovering: Vec<(Nanos, Nanos)>,
    acknowledged_in_recovery: bool,
    /// Time of the earliest acknowledgement by a successor. This server must not acknowledge a write that begins later.
    superseded: Nanos,
}

/// Smallest change of the difference between wall clock and monotonic clock, in microseconds, which shows that the wall
/// clock was changed.
const STEP_US: i64 = 500_000;

impl LedgerSurvey {
    pub fn from_entries(
        history: &DurabilityHistory,
        entries: impl Iterator<Item = LedgerEntry>,
    ) -> LedgerSurvey {
        let mut survey = LedgerSurvey {
            servers: Vec::new(),
            reserved: Vec::new(),
            completed: Vec::new(),
            acknowledgements: AcknowledgementTimes::default(),
            clock_steps_us: Vec::new(),
            contradictions: 0,
            failovers: 0,
            doubts: Vec::new(),
            timelines: Vec::new(),
        };
        let mut clock = None;
        for entry in entries {
            match entry {
                LedgerEntry::Server(id, server) => survey.add_server(id, server, history),
                LedgerEntry::Reserved { session, until } => {
                    let known = session_entry(&mut survey.reserved, session);
                    *known = until.max(*known);
                }
                LedgerEntry::Completed(attempt) => survey.add_attempt(&attempt),
                LedgerEntry::Clock { at, wall_us } => {
                    if let Some((before, wall_before)) = clock.replace((at, wall_us)) {
                        let step = wall_us as i64 - wall_before as i64 - micros(before, at);
                        survey.clock_steps_us.extend((step.abs() > STEP_US).then_some(step));
                    }
                }
                LedgerEntry::Closed => {}
            }
        }
        survey.acknowledgements.flush();
        survey.order_servers();
        survey.check_timelines(history);
        survey.check_faults(history);
        survey.check_systems();
        survey
    }

    pub fn server(&self, id: ServerId) -> Option<&ServerInstance> {
        self.find_server(id).map(|it| &it.server)
    }

    /// True if the write began after a successor of the acknowledging server had acknowledged writes.
    pub fn is_by_deposed_primary(&self, attempt: &WriteAttempt) -> bool {
        attempt.server.and_then(|it| self.find_server(it)).is_some_and(|it| attempt.invoked > it.superseded)
    }

    /// System identifiers of servers that acknowledged writes.
    pub fn systems(&self) -> BTreeSet<u64> {
        self.servers.iter().filter(|it| it.first.is_some()).map(|it| it.server.system).collect()
    }

    fn find_server(&self, id: ServerId) -> Option<&KnownServer> {
        self.servers.iter().rfind(|it| it.id == id)
    }

    fn add_server(&mut self, id: ServerId, server: ServerInstance, history: &DurabilityHistory) {
        let mut recovering = Vec::new();
        let mut recovery_start = None;
        for sample in history.samples.iter().filter(|it| it.server.is_same_process(&server)) {
            match (recovery_start, sample.in_recovery) {
                (Some(from), true) => recovering.push((from, sample.at)),
                (_, false) => recovery_start = None,
                (None, true) => {}
            }
            if sample.in_recovery {
                recovery_start = Some(sample.at);
            }
        }
        let taken = self.servers.iter().any(|it| it.id == id && it.server != server);
        self.contradictions += u64::from(taken);
        if self.find_server(id).is_none() {
            let (first, succeeded) = (None, Nanos::MAX);
            self.servers.push(KnownServer {
                id,
                server,
                first,
                recovering,
                acknowledged_in_recovery: false,
                superseded: succeeded,
            });
        }
    }

    fn add_attempt(&mut self, attempt: &WriteAttempt) {
        let next = session_entry(&mut self.completed, attempt.key.session);
        *next = (*next).max(attempt.key.sequence.saturating_add(1));
        let promised = self.reserved.get(attempt.key.session as usize).copied().unwrap_or(0);
        let server = attempt.server.map(|id| self.servers.iter_mut().rfind(|it| it.id == id));
        let contradicts = attempt.ended < attempt.invoked
            || attempt.key.sequence >= promised
            || attempt.number == 0
            || matches!(server, Some(None));
        self.contradictions += u64::from(contradicts);
        self.acknowledgements.add_attempt(attempt.ended);
        if let WriteOutcome::Acknowledged | WriteOutcome::AcknowledgedLocally = attempt.outcome {
            self.acknowledgements.add_acknowledgement(attempt.ended);
            if let Some(Some(server)) = server {
                server.first = Some(server.first.map_or(attempt.ended, |known| known.min(attempt.ended)));
                server.acknowledged_in_recovery |=
                    server.recovering.iter().any(|span| span.0 < attempt.invoked && attempt.ended < span.1);
            }
        }
    }

    /// Orders the servers: a successor has a higher timeline, or the same timeline and a later first acknowledgement.
    fn order_servers(&mut self) {
        let ranks: Vec<_> =
            self.servers.iter().filter_map(|it| Some((it.server.timeline, it.first?, it.id))).collect();
        for server_state in &mut self.servers {
            let Some(first) = server_state.first else { continue };
            let rank = (server_state.server.timeline, first, server_state.id);
            server_state.superseded =
                ranks.iter().filter(|other| **other > rank).map(|other| other.1).min().unwrap_or(Nanos::MAX);
        }
    }

    fn check_timelines(&mut self, history: &DurabilityHistory) {
        let samples = history.samples.iter().map(|it| (it.at, it.server.timeline));
        let readings = history.read_backs.iter().map(|it| (it.started, it.server.timeline));
        let acknowledged = self.servers.iter().filter_map(|it| Some((it.first?, it.server.timeline)));
        self.timelines = samples.chain(readings).chain(acknowledged).collect();
        self.timelines.sort_unstable();
    }

    fn check_faults(&mut self, history: &DurabilityHistory) {
        for (number, fault) in history.faults.iter().enumerate() {
            let next = history.faults.get(number + 1).map_or(Nanos::MAX, |it| it.at);
            let highest = |end: Nanos| {
                self.timelines.iter().take_while(|it| it.0 <= end).map(|it| it.1).max().unwrap_or(0)
            };
            let timeline_rose = highest(next) > highest(fault.at);
            self.failovers += u32::from(timeline_rose);
            if fault.fails_over && !timeline_rose {
                self.doubts.push(InconclusiveReason::NoNewTimelineAfterFault { fault: number });
            }
            if self.acknowledgements.last().is_none_or(|it| it <= fault.at) {
                self.doubts.push(InconclusiveReason::NoWritesAfterFault { fault: number });
            }
        }
    }

    fn check_systems(&mut self) {
        let several = self.systems().len() > 1;
        self.doubts.extend(several.then_some(InconclusiveReason::MultipleSystems));
        let standbys = self.servers.iter().filter(|it| it.acknowledged_in_recovery);
        self.doubts.extend(standbys.map(|it| InconclusiveReason::StandbyAcknowledged { server: it.id }));
    }
}

/// Entry of `session`. A missing entry is inserted.
fn session_entry(entries: &mut Vec<u64>, session: u32) -> &mut u64 {
    let session = session as usize;
    if entries.len() <= session {
        entries.resize(session + 1, 0);
    }
    &mut entries[session]
}

fn micros(from: Nanos, to: Nanos) -> i64 {
    (to.0 as i64 - from.0 as i64) / 1000
}
