//! First pass over the ledger: servers, timelines and completeness
//!
//! The pass collects the facts that are needed before any entry can be judged.

use super::success_times::SuccessTimes;
use super::takeovers::Takeovers;
use model::Nanos;
use model::durability::{
    ClientKind, ClientOutage, DurabilityHistory, InconclusiveReason, LedgerEntry, ServerId, ServerInstance,
    WriteAttempt, WriteOutcome,
};
use std::collections::BTreeSet;

#[derive(Debug)]
pub(super) struct LedgerSurvey {
    servers: Vec<KnownServer>,
    /// Number of reserved sequence numbers by session. Sequence numbers below it may have been used.
    pub reserved: Vec<u64>,
    /// One more than the highest sequence number with an outcome, by session.
    pub completed: Vec<u64>,
    /// Times of acknowledgements by kind of client: new clients, then connected clients.
    acknowledgements: [(ClientKind, SuccessTimes); 2],
    /// End of the latest attempt, with any outcome.
    last_attempt: Nanos,
    pub clock_steps_us: Vec<i64>,
    /// Number of entries that contradict each other.
    pub contradictions: u64,
    pub failovers: u32,
    pub doubts: Vec<InconclusiveReason>,
    /// Servers that clients saw, each with the time at which a client saw its timeline.
    timelines: Vec<(Nanos, ServerInstance)>,
    pub takeovers: Takeovers,
    /// Times of faults and of unknown outcomes, in order. Each may be a crash that no later start time shows.
    disturbances: Vec<Nanos>,
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
    /// Time from which another server certainly accepted writes in place of this server.
    deposed: Option<Nanos>,
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
            acknowledgements: [ClientKind::New, ClientKind::Connected]
                .map(|it| (it, SuccessTimes::default())),
            last_attempt: Nanos::ZERO,
            clock_steps_us: Vec::new(),
            contradictions: 0,
            failovers: 0,
            doubts: Vec::new(),
            timelines: Vec::new(),
            takeovers: Takeovers::default(),
            disturbances: history.faults.iter().map(|it| it.at).collect(),
        };
        let mut clock = None;
        for entry in entries {
            match entry {
                LedgerEntry::Server(id, server) => survey.add_server(id, server, history),
                LedgerEntry::Reserved { session, until } => {
                    let known = session_entry(&mut survey.reserved, session);
                    *known = until.max(*known);
                }
                LedgerEntry::Completed(attempt) => survey.add_attempt(&attempt, history.first_new_client),
                LedgerEntry::Clock { at, wall_us } => {
                    if let Some((before, wall_before)) = clock.replace((at, wall_us)) {
                        let step = wall_us as i64 - wall_before as i64 - micros(before, at);
                        survey.clock_steps_us.extend((step.abs() > STEP_US).then_some(step));
                    }
                }
                LedgerEntry::Closed => {}
            }
        }
        survey.acknowledgements.iter_mut().for_each(|it| it.1.flush());
        survey.disturbances.sort_unstable();
        survey.find_takeovers(history);
        survey.find_timelines(history);
        survey.check_faults(history);
        survey.check_systems();
        let unsynced = history.samples.iter().any(|it| !it.fsync);
        survey.doubts.extend(unsynced.then_some(InconclusiveReason::FsyncOff));
        survey
    }

    pub fn server(&self, id: ServerId) -> Option<&ServerInstance> {
        self.find_server(id).map(|it| &it.server)
    }

    /// Time from which another server certainly accepted writes in place of the server with this number.
    pub fn deposed_at(&self, id: ServerId) -> Option<Nanos> {
        self.find_server(id)?.deposed
    }

    /// Number of faults and unknown outcomes until the time `at`.
    pub fn disturbances_until(&self, at: Nanos) -> usize {
        self.disturbances.partition_point(|it| *it <= at)
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
            self.servers.push(KnownServer {
                id,
                server,
                first: None,
                recovering,
                acknowledged_in_recovery: false,
                deposed: None,
            });
        }
    }

    fn add_attempt(&mut self, attempt: &WriteAttempt, first_new_client: Option<u32>) {
        let next = session_entry(&mut self.completed, attempt.key.session);
        *next = (*next).max(attempt.key.sequence.saturating_add(1));
        let promised = self.reserved.get(attempt.key.session as usize).copied().unwrap_or(0);
        let server = attempt.server.map(|id| self.servers.iter_mut().rfind(|it| it.id == id));
        let contradicts = attempt.ended < attempt.invoked
            || attempt.key.sequence >= promised
            || attempt.number == 0
            || matches!(server, Some(None));
        self.contradictions += u64::from(contradicts);
        self.last_attempt = self.last_attempt.max(attempt.ended);
        if matches!(attempt.outcome, WriteOutcome::Unknown(_)) {
            self.disturbances.push(attempt.ended);
        }
        if let WriteOutcome::Acknowledged | WriteOutcome::AcknowledgedLocally = attempt.outcome {
            let is_new = first_new_client.is_some_and(|first| attempt.key.session >= first);
            self.acknowledgements[usize::from(!is_new)].1.add(attempt.ended);
            if let Some(Some(server)) = server {
                server.first = Some(server.first.map_or(attempt.ended, |known| known.min(attempt.ended)));
                server.acknowledged_in_recovery |=
                    server.recovering.iter().any(|span| span.0 < attempt.invoked && attempt.ended < span.1);
            }
        }
    }

    /// Collects the servers that accepted writes, and finds those that other servers replaced.
    fn find_takeovers(&mut self, history: &DurabilityHistory) {
        let acknowledged = self.servers.iter().filter_map(|it| Some((&it.server, it.first?)));
        let sampled = history.samples.iter().filter(|it| !it.in_recovery).map(|it| (&it.server, it.at));
        let read = history.read_backs.iter().filter(|it| !it.in_recovery);
        let read = read.map(|it| (&it.server, it.identified));
        acknowledged.chain(sampled).chain(read).for_each(|(server, at)| self.takeovers.add(server, at));
        self.takeovers.sort();
        for known in &mut self.servers {
            known.deposed = self.takeovers.deposed_at(&known.server);
        }
    }

    fn find_timelines(&mut self, history: &DurabilityHistory) {
        let samples = history.samples.iter().map(|it| (it.at, it.server.clone()));
        let readings = history.read_backs.iter().map(|it| (it.started, it.server.clone()));
        let acknowledged = self.servers.iter().filter_map(|it| Some((it.first?, it.server.clone())));
        self.timelines = samples.chain(readings).chain(acknowledged).collect();
    }

    /// Newest timeline of the system of `server` that clients saw until the time `at`.
    pub fn newest_timeline(&self, server: &ServerInstance, at: Nanos) -> Option<u32> {
        let seen = self.timelines.iter().filter(|it| it.0 <= at && it.1.is_same_system(server));
        seen.map(|it| it.1.timeline).max()
    }

    fn check_faults(&mut self, history: &DurabilityHistory) {
        let failovers = self.takeovers.failovers();
        // A cluster manager may choose another primary when the servers are restarted for the last reading. No write was
        // in flight then, so it is no evidence.
        let load_ended = self.end_of_load(history);
        let mut previous = Nanos::ZERO;
        for &at in &failovers {
            let is_caused = history.faults.iter().any(|it| (previous..at).contains(&it.at));
            self.failovers += u32::from(at <= load_ended || is_caused);
            previous = at;
        }
        for (number, fault) in history.faults.iter().enumerate() {
            // Several faults may precede one failover.
            if fault.fails_over && !failovers.iter().any(|it| *it > fault.at) {
                self.doubts.push(InconclusiveReason::NoNewTimelineAfterFault { fault: number });
            }
            // The old primary may acknowledge writes after the fault began, for example while a command that kills it still
            // runs. Only a write after the failover shows that the new primary accepts any.
            let failover = failovers.iter().find(|it| **it > fault.at).filter(|_| fault.fails_over);
            let is_late = |it: Nanos| failover.map_or(it > fault.at, |failover| it >= *failover);
            if !self.last_acknowledgement().is_some_and(is_late) {
                self.doubts.push(InconclusiveReason::NoWritesAfterFault { fault: number });
            }
        }
    }

    fn last_acknowledgement(&self) -> Option<Nanos> {
        self.acknowledgements.iter().filter_map(|it| it.1.last()).max()
    }

    /// End of the load: that of the last attempt, or `load_ended` if it is later. A client that cannot log in makes no
    /// attempts.
    fn end_of_load(&self, history: &DurabilityHistory) -> Nanos {
        self.last_attempt.max(history.load_ended)
    }

    /// Outages of writes, by fault and kind of client.
    pub fn outages(&self, history: &DurabilityHistory) -> Vec<ClientOutage> {
        let end = self.end_of_load(history);
        let outages =
            |(client, times): &(ClientKind, SuccessTimes)| times.outages(&history.faults, end, *client);
        self.acknowledgements.iter().flat_map(outages).collect()
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
