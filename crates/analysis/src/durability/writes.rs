//! Second pass over the ledger: judges each write by all its attempts
//!
//! A session has one write in flight at a time, so the attempts of a write are adjacent. A write is judged when the
//! session's next write begins.

use super::Anomalies;
use super::ledger_survey::LedgerSurvey;
use super::promises::{PromiseHistory, PromiseStrength};
use super::trusted_reads::TrustedReads;
use model::durability::{
    AnomalyKind, FaultEvent, RecoveryPoint, ServerId, WriteAttempt, WriteCounts, WriteKey, WriteOutcome,
};
use model::{Code, Nanos};

#[derive(Debug)]
pub(super) struct WriteJudge<'a> {
    readings: &'a TrustedReads<'a>,
    survey: &'a LedgerSurvey,
    promises: PromiseHistory<'a>,
    sessions: Vec<SessionState>,
    faults: &'a [FaultEvent],
    written: WriteTotals,
}

/// Counts over all writes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WriteTotals {
    pub counts: WriteCounts,
    /// Number of writes acknowledged after the last read.
    pub younger: u64,
    /// Number of acknowledged writes that are absent and whose durability promise is unknown.
    pub unpromised: u64,
    /// Number of sequence numbers without an outcome that precede a sequence number with an outcome in the same
    /// session.
    pub missing: u64,
    pub contradictions: u64,
    pub recovery_point: Option<RecoveryPoint>,
}

#[derive(Debug, Default)]
struct SessionState {
    open: Option<WriteState>,
    /// Acknowledged but absent writes, with the server that had them on its disk. They are holes if a later write of
    /// the session on that server is present.
    absent: Vec<(ServerId, u64)>,
    /// Last write and length of the current series of consecutive losses that break no promise.
    run: Option<(u64, u64)>,
}

/// State of one write.
#[derive(Clone, Copy, Debug)]
struct WriteState {
    key: WriteKey,
    attempts: u16,
    /// First attempt that was acknowledged.
    acknowledged: Option<WriteAttempt>,
    local: bool,
    unknown: bool,
    /// End of the last attempt of the write.
    ended: Nanos,
    /// Server that all attempts used; `None` if the attempts used different servers.
    server: Option<ServerId>,
}

const READ_ONLY: Code = Code::SqlState(*b"25006");

impl<'a> WriteJudge<'a> {
    pub fn new(
        readings: &'a TrustedReads<'a>,
        survey: &'a LedgerSurvey,
        promises: PromiseHistory<'a>,
        faults: &'a [FaultEvent],
    ) -> WriteJudge<'a> {
        let written = WriteTotals::default();
        WriteJudge { readings, survey, promises, sessions: Vec::new(), faults, written }
    }

    pub fn add_attempt(&mut self, attempt: &WriteAttempt, found: &mut Anomalies) {
        let number = attempt.key.session as usize;
        if self.sessions.len() <= number {
            self.sessions.resize_with(number + 1, SessionState::default);
        }
        if attempt.outcome == WriteOutcome::Failed(READ_ONLY) {
            self.written.counts.misrouted += 1;
        }
        if attempt.outcome == WriteOutcome::Acknowledged && self.survey.is_by_deposed_primary(attempt) {
            found.add(AnomalyKind::SplitBrain, Some(attempt.key));
        }
        let open = self.sessions[number].open;
        let expected = match open {
            Some(write) if write.key == attempt.key => {
                self.written.contradictions += u64::from(attempt.number <= write.attempts);
                self.sessions[number].open = Some(write.with_attempt(attempt));
                return;
            }
            Some(write) => write.key.sequence + 1,
            None => 0,
        };
        if attempt.key.sequence < expected {
            self.written.contradictions += 1;
            return;
        }
        self.written.missing += attempt.key.sequence - expected;
        self.sessions[number].open = Some(WriteState::from_attempt(attempt));
        if let Some(write) = open {
            self.judge(&write, found);
        }
    }

    /// Judges the last write of each session after the last entry. If the ledger is not `closed`, the last write may
    /// have been retried, even on another server, and writes with all later reserved sequence numbers may have been
    /// sent.
    pub fn finish(mut self, closed: bool, found: &mut Anomalies) -> WriteTotals {
        for number in 0..self.sessions.len() {
            if let Some(mut write) = self.sessions[number].open {
                if !closed {
                    write.unknown = true;
                    write.attempts += 1;
                    write.server = None;
                }
                self.judge(&write, found);
            }
        }
        let used = |session: usize| self.survey.completed.get(session).copied().unwrap_or(0);
        let reserved = self.survey.reserved.iter().enumerate().filter(|_| !closed);
        self.written.counts.unresolved =
            reserved.map(|(session, end)| end.saturating_sub(used(session))).sum::<u64>()
                + self.written.missing;
        self.written
    }

    fn judge(&mut self, write: &WriteState, found: &mut Anomalies) {
        let key = write.key;
        if self.readings.is_duplicated(key) {
            let kind =
                if write.attempts > 1 { AnomalyKind::DuplicateByRetry } else { AnomalyKind::Duplicate };
            found.add(kind, Some(key));
        }
        let counts = &mut self.written.counts;
        let presence = match write.acknowledged {
            Some(attempt) => {
                counts.acknowledged += 1;
                self.judge_acknowledged(write, &attempt, found)
            }
            None => {
                let presence = self.readings.is_present_by(key, write.ended);
                if write.local {
                    counts.local += 1;
                    self.written.younger += u64::from(presence.is_none());
                    if presence == Some(false) {
                        found.add(AnomalyKind::LostLocal, Some(key));
                    }
                } else if write.unknown {
                    counts.unknown += 1;
                    counts.unknown_present += u64::from(presence == Some(true));
                } else {
                    counts.failed += 1;
                    if self.readings.was_present(key) {
                        found.add(AnomalyKind::FalseFailure, Some(key));
                    }
                }
                presence
            }
        };
        if presence == Some(true) {
            self.check_holes(write, found);
        }
    }

    /// Judges an acknowledged write, and returns whether its row is present.
    fn judge_acknowledged(
        &mut self,
        write: &WriteState,
        attempt: &WriteAttempt,
        found: &mut Anomalies,
    ) -> Option<bool> {
        let key = write.key;
        let presence = self.readings.is_present_by(key, attempt.ended);
        match presence {
            None => self.written.younger += 1,
            Some(true) => {
                if self.readings.was_absent(key, attempt.ended) {
                    found.add(AnomalyKind::Flicker, Some(key));
                }
            }
            Some(false) => {
                let strength = self.promises.strength_for(attempt);
                found.add(strength.kind_of_loss(), Some(key));
                self.written.unpromised += u64::from(strength == PromiseStrength::Unknown);
                if let (PromiseStrength::Replicated | PromiseStrength::Local, Some(server)) =
                    (strength, write.server)
                {
                    self.sessions[key.session as usize].absent.push((server, key.sequence));
                }
                if strength.kind_of_loss() == AnomalyKind::LostWithoutPromise {
                    self.count_loss(key, attempt.ended);
                }
            }
        }
        presence
    }

    /// Reports holes before a write that is present: earlier writes that the same server acknowledged in the same
    /// session must be present too.
    fn check_holes(&mut self, write: &WriteState, found: &mut Anomalies) {
        let WriteKey { session, .. } = write.key;
        let absent = &mut self.sessions[session as usize].absent;
        absent.retain(|&(server, sequence)| {
            let is_hole = write.server == Some(server);
            if is_hole {
                found.add(AnomalyKind::Hole, Some(WriteKey { session, sequence }));
            }
            !is_hole
        });
    }

    /// Counts a loss that breaks no promise.
    fn count_loss(&mut self, key: WriteKey, at: Nanos) {
        let session = &mut self.sessions[key.session as usize];
        let run = match session.run {
            Some((last, run)) if last + 1 == key.sequence => run + 1,
            _ => 1,
        };
        let sessions = u32::from(session.run.is_none());
        session.run = Some((key.sequence, run));
        let distances = self.faults.iter().map(|it| at.0 as i64 - it.at.0 as i64);
        let distance = distances.min_by_key(|it| it.abs());
        let point = self.written.recovery_point.get_or_insert(RecoveryPoint {
            count: 0,
            sessions: 0,
            longest_run: 0,
            window_ns: distance.map(|it| (it, it)),
        });
        point.count += 1;
        point.sessions += sessions;
        point.longest_run = point.longest_run.max(run);
        if let (Some((first, last)), Some(distance)) = (&mut point.window_ns, distance) {
            (*first, *last) = ((*first).min(distance), (*last).max(distance));
        }
    }
}

impl WriteState {
    fn from_attempt(attempt: &WriteAttempt) -> WriteState {
        let none = WriteState {
            key: attempt.key,
            attempts: 0,
            acknowledged: None,
            local: false,
            unknown: false,
            ended: Nanos::ZERO,
            server: attempt.server,
        };
        none.with_attempt(attempt)
    }

    fn with_attempt(self, attempt: &WriteAttempt) -> WriteState {
        let first = || (attempt.outcome == WriteOutcome::Acknowledged).then_some(*attempt);
        WriteState {
            attempts: attempt.number,
            acknowledged: self.acknowledged.or_else(first),
            local: self.local || attempt.outcome == WriteOutcome::AcknowledgedLocally,
            unknown: self.unknown || matches!(attempt.outcome, WriteOutcome::Unknown(_)),
            ended: attempt.ended,
            server: self.server.filter(|it| attempt.server == Some(*it)),
            ..self
        }
    }
}
