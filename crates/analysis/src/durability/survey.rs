//! Which servers acknowledged, from when on, and is the ledger whole?
//!
//! The first way through the entries: what must be known before any of them can be judged.

use super::pulse::Pulse;
use model::Nanos;
use model::durability::{Attempt, Doubt, Entry, History, Outcome, Server, ServerId};
use std::collections::BTreeSet;

#[derive(Debug)]
pub(super) struct Survey {
    servers: Vec<Known>,
    /// By session: sequences below may have been used.
    pub reserved: Vec<u64>,
    /// By session: one more than the highest sequence with an outcome.
    pub told: Vec<u64>,
    /// Of acknowledgements.
    pub pulse: Pulse,
    pub clock_steps_us: Vec<i64>,
    /// Entries that cannot be.
    pub contradictions: u64,
    pub failovers: u32,
    pub doubts: Vec<Doubt>,
    /// Every timeline that was seen, and when.
    pub timelines: Vec<(Nanos, u32)>,
}

#[derive(Debug)]
struct Known {
    id: ServerId,
    server: Server,
    /// When it acknowledged first.
    first: Option<Nanos>,
    /// Between these moments it was certainly in recovery.
    recovering: Vec<(Nanos, Nanos)>,
    acknowledged_in_recovery: bool,
    /// The earliest acknowledgement by a server that followed it; nothing may begin and be acknowledged here after it.
    succeeded: Nanos,
}

/// The wall clock was set if it went otherwise than the other by more.
const STEP_US: i64 = 500_000;

impl Survey {
    pub fn of(history: &History, entries: impl Iterator<Item = Entry>) -> Survey {
        let mut it = Survey {
            servers: Vec::new(),
            reserved: Vec::new(),
            told: Vec::new(),
            pulse: Pulse::default(),
            clock_steps_us: Vec::new(),
            contradictions: 0,
            failovers: 0,
            doubts: Vec::new(),
            timelines: Vec::new(),
        };
        let mut clock = None;
        for entry in entries {
            match entry {
                Entry::Server(id, server) => it.meet(id, server, history),
                Entry::Reserved { session, until } => {
                    let known = at(&mut it.reserved, session);
                    *known = until.max(*known);
                }
                Entry::Ended(attempt) => it.see(&attempt),
                Entry::Clock { at, wall_us } => {
                    if let Some((before, wall_before)) = clock.replace((at, wall_us)) {
                        let step = wall_us as i64 - wall_before as i64 - micros(before, at);
                        it.clock_steps_us.extend((step.abs() > STEP_US).then_some(step));
                    }
                }
                Entry::Closed => {}
            }
        }
        it.pulse.settle();
        it.order();
        it.look_for_timelines(history);
        it.look_at_faults(history);
        it.look_at_systems();
        it
    }

    pub fn server(&self, id: ServerId) -> Option<&Server> {
        self.known(id).map(|it| &it.server)
    }

    /// True when the attempt was acknowledged by a server after its successor had begun to acknowledge.
    pub fn is_of_deposed(&self, attempt: &Attempt) -> bool {
        attempt.server.and_then(|it| self.known(it)).is_some_and(|it| attempt.invoked > it.succeeded)
    }

    /// Systems that acknowledged.
    pub fn systems(&self) -> BTreeSet<u64> {
        self.servers.iter().filter(|it| it.first.is_some()).map(|it| it.server.system).collect()
    }

    fn known(&self, id: ServerId) -> Option<&Known> {
        self.servers.iter().rfind(|it| it.id == id)
    }

    fn meet(&mut self, id: ServerId, server: Server, history: &History) {
        let mut recovering = Vec::new();
        let mut since = None;
        for sample in history.samples.iter().filter(|it| it.server.is_same_process(&server)) {
            match (since, sample.in_recovery) {
                (Some(from), true) => recovering.push((from, sample.at)),
                (_, false) => since = None,
                (None, true) => {}
            }
            if sample.in_recovery {
                since = Some(sample.at);
            }
        }
        let taken = self.servers.iter().any(|it| it.id == id && it.server != server);
        self.contradictions += u64::from(taken);
        if self.known(id).is_none() {
            let (first, succeeded) = (None, Nanos::MAX);
            self.servers.push(Known {
                id,
                server,
                first,
                recovering,
                acknowledged_in_recovery: false,
                succeeded,
            });
        }
    }

    fn see(&mut self, attempt: &Attempt) {
        let told = at(&mut self.told, attempt.key.session);
        *told = (*told).max(attempt.key.sequence.saturating_add(1));
        let promised = self.reserved.get(attempt.key.session as usize).copied().unwrap_or(0);
        let server = attempt.server.map(|id| self.servers.iter_mut().rfind(|it| it.id == id));
        let contradicts = attempt.ended < attempt.invoked
            || attempt.key.sequence >= promised
            || attempt.number == 0
            || matches!(server, Some(None));
        self.contradictions += u64::from(contradicts);
        self.pulse.tried(attempt.ended);
        if let Outcome::Acknowledged | Outcome::AcknowledgedLocally = attempt.outcome {
            self.pulse.beat(attempt.ended);
            if let Some(Some(it)) = server {
                it.first = Some(it.first.map_or(attempt.ended, |known| known.min(attempt.ended)));
                it.acknowledged_in_recovery |=
                    it.recovering.iter().any(|span| span.0 < attempt.invoked && attempt.ended < span.1);
            }
        }
    }

    /// Who follows whom: a higher timeline, or on the same one a later first acknowledgement.
    fn order(&mut self) {
        let ranks: Vec<_> =
            self.servers.iter().filter_map(|it| Some((it.server.timeline, it.first?, it.id))).collect();
        for it in &mut self.servers {
            let Some(first) = it.first else { continue };
            let mine = (it.server.timeline, first, it.id);
            it.succeeded =
                ranks.iter().filter(|other| **other > mine).map(|other| other.1).min().unwrap_or(Nanos::MAX);
        }
    }

    fn look_for_timelines(&mut self, history: &History) {
        let samples = history.samples.iter().map(|it| (it.at, it.server.timeline));
        let readings = history.readings.iter().map(|it| (it.began, it.server.timeline));
        let acknowledged = self.servers.iter().filter_map(|it| Some((it.first?, it.server.timeline)));
        self.timelines = samples.chain(readings).chain(acknowledged).collect();
        self.timelines.sort_unstable();
    }

    fn look_at_faults(&mut self, history: &History) {
        for (number, fault) in history.faults.iter().enumerate() {
            let next = history.faults.get(number + 1).map_or(Nanos::MAX, |it| it.at);
            let highest = |until: Nanos| {
                self.timelines.iter().take_while(|it| it.0 <= until).map(|it| it.1).max().unwrap_or(0)
            };
            let seen = highest(next) > highest(fault.at);
            self.failovers += u32::from(seen);
            if fault.fails_over && !seen {
                self.doubts.push(Doubt::FaultUnseen { fault: number });
            }
            if self.pulse.last().is_none_or(|it| it <= fault.at) {
                self.doubts.push(Doubt::SilentAfterFault { fault: number });
            }
        }
    }

    fn look_at_systems(&mut self) {
        let several = self.systems().len() > 1;
        self.doubts.extend(several.then_some(Doubt::SeveralSystems));
        let standbys = self.servers.iter().filter(|it| it.acknowledged_in_recovery);
        self.doubts.extend(standbys.map(|it| Doubt::StandbyAcknowledged { server: it.id }));
    }
}

/// The place of `session`, made if it is not there.
fn at(of: &mut Vec<u64>, session: u32) -> &mut u64 {
    let session = session as usize;
    if of.len() <= session {
        of.resize(session + 1, 0);
    }
    &mut of[session]
}

fn micros(from: Nanos, to: Nanos) -> i64 {
    (to.0 as i64 - from.0 as i64) / 1000
}
