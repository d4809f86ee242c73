//! Second pass over the ledger: judges each write by all its attempts
//!
//! A session has one write in flight at a time, so the attempts of a write are adjacent. A write is judged when the
//! session's next write begins.

use super::Anomalies;
use super::ledger_survey::LedgerSurvey;
use super::promises::{LossCause, PromiseHistory, PromiseStrength};
use super::trusted_reads::TrustedReads;
use model::durability::{
    AnomalyKind, FaultEvent, RecoveryPoint, ServerId, WriteAttempt, WriteCounts, WriteKey, WriteOutcome,
};
use model::{Code, Nanos};
use std::collections::BTreeMap;

#[derive(Debug)]
pub(super) struct WriteJudge<'a> {
    readings: &'a TrustedReads<'a>,
    survey: &'a LedgerSurvey,
    promises: PromiseHistory<'a>,
    sessions: Vec<SessionState>,
    faults: &'a [FaultEvent],
    written: WriteTotals,
    /// Latest beginning of a write that is present, by the server that all attempts used, and by the number of
    /// disturbances before it.
    present: BTreeMap<(ServerId, usize), Nanos>,
    absent: Vec<AbsentWrite>,
}

/// Acknowledged write that is absent.
#[derive(Clone, Copy, Debug)]
struct AbsentWrite {
    key: WriteKey,
    /// Server that all attempts used.
    server: ServerId,
    /// End of the acknowledgement.
    ended: Nanos,
    /// True if the server certainly had the write on its disk.
    is_on_disk: bool,
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
    /// Last write and length of the current series of consecutive losses that break no promise.
    run: Option<(u64, u64)>,
}

/// State of one write.
#[derive(Clone, Copy, Debug)]
struct WriteState {
    key: WriteKey,
    attempts: u16,
    /// Number of attempts that may have written a row: all except those that failed.
    effective_attempts: u64,
    /// First attempt that was acknowledged.
    acknowledged: Option<WriteAttempt>,
    /// First attempt that was acknowledged with a warning.
    local: Option<WriteAttempt>,
    unknown: bool,
    /// Beginning of the first attempt, and end of the last attempt.
    invoked: Nanos,
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
        WriteJudge {
            readings,
            survey,
            promises,
            sessions: Vec::new(),
            faults,
            written: WriteTotals::default(),
            present: BTreeMap::new(),
            absent: Vec::new(),
        }
    }

    pub fn add_attempt(&mut self, attempt: &WriteAttempt, found: &mut Anomalies) {
        let number = attempt.key.session as usize;
        if self.sessions.len() <= number {
            self.sessions.resize_with(number + 1, SessionState::default);
        }
        if attempt.outcome == WriteOutcome::Failed(READ_ONLY) {
            self.written.counts.misrouted += 1;
        }
        if self.is_split_brain(attempt) {
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
                    write.effective_attempts = u64::MAX;
                    write.server = None;
                }
                self.judge(&write, found);
            }
        }
        self.find_holes(found);
        let used = |session: usize| self.survey.completed.get(session).copied().unwrap_or(0);
        let reserved = self.survey.reserved.iter().enumerate().filter(|_| !closed);
        self.written.counts.unresolved =
            reserved.map(|(session, end)| end.saturating_sub(used(session))).sum::<u64>()
                + self.written.missing;
        self.written
    }

    fn judge(&mut self, write: &WriteState, found: &mut Anomalies) {
        let key = write.key;
        let rows = self.readings.row_count(key);
        if rows > 1 {
            let by_retry = write.attempts > 1 && rows <= write.effective_attempts;
            found.add(
                if by_retry { AnomalyKind::DuplicateByRetry } else { AnomalyKind::Duplicate },
                Some(key),
            );
        }
        let counts = &mut self.written.counts;
        let presence = match (write.acknowledged, write.local) {
            (Some(attempt), _) => {
                counts.acknowledged += 1;
                self.judge_acknowledged(write, &attempt, found)
            }
            (None, Some(attempt)) => {
                counts.local += 1;
                let presence = self.readings.is_present_by(key, write.ended);
                self.written.younger += u64::from(presence.is_none());
                if presence == Some(false) {
                    let strength = self.promises.strength_after_warning(&attempt);
                    // The answer may also be late: it may arrive after the failover that lost the write.
                    let is_deposed = attempt.server.is_some_and(|it| self.survey.deposed_at(it).is_some());
                    let cause = match is_deposed {
                        true => LossCause::Failover,
                        false => self.promises.loss_cause(&attempt),
                    };
                    let kind = match strength.kind_of_loss(cause) {
                        AnomalyKind::LostWithoutPromise => AnomalyKind::LostLocal,
                        kind => kind,
                    };
                    found.add(kind, Some(key));
                    self.add_absent(write, &attempt, strength, found);
                }
                presence
            }
            (None, None) => {
                let presence = self.readings.is_present_by(key, write.ended);
                if write.unknown {
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
        if let (Some(true), Some(server)) = (presence, write.server) {
            let epoch = self.survey.disturbances_until(write.invoked);
            let latest = self.present.entry((server, epoch)).or_insert(write.invoked);
            *latest = write.invoked.max(*latest);
        }
    }

    /// True if the server acknowledged the write although another server had begun to accept writes in its place.
    ///
    /// A write that was sent before may have been committed before: it counts only if its row is absent from the other
    /// server, and if the client was not warned.
    fn is_split_brain(&self, attempt: &WriteAttempt) -> bool {
        let Some(deposed) = attempt.server.and_then(|it| self.survey.deposed_at(it)) else { return false };
        match attempt.outcome {
            WriteOutcome::Acknowledged | WriteOutcome::AcknowledgedLocally if attempt.invoked >= deposed => {
                true
            }
            WriteOutcome::Acknowledged => {
                attempt.ended > deposed
                    && self.readings.is_present_by(attempt.key, attempt.ended) == Some(false)
            }
            _ => false,
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
                if self.readings.was_absent(key, attempt.ended) && !self.readings.has_vanished(key) {
                    found.add(AnomalyKind::Flicker, Some(key));
                }
            }
            Some(false) => {
                let strength = self.promises.strength_for(attempt);
                let kind = strength.kind_of_loss(self.promises.loss_cause(attempt));
                found.add(kind, Some(key));
                self.written.unpromised += u64::from(
                    strength == PromiseStrength::Ambiguous { is_sampled: false }
                        && kind == AnomalyKind::LostAmbiguous,
                );
                self.add_absent(write, attempt, strength, found);
                if kind == AnomalyKind::LostWithoutPromise {
                    self.count_loss(key, attempt.ended);
                }
            }
        }
        presence
    }

    /// Records that an acknowledged write is absent, and reports other servers that have it.
    fn add_absent(
        &mut self,
        write: &WriteState,
        attempt: &WriteAttempt,
        strength: PromiseStrength,
        found: &mut Anomalies,
    ) {
        if self.readings.is_only_on_standby(write.key) {
            found.add(AnomalyKind::Diverged, Some(write.key));
        }
        if self.readings.is_on_old_timeline(write.key) {
            found.add(AnomalyKind::OnOldTimeline, Some(write.key));
        }
        let is_on_disk = matches!(
            strength,
            PromiseStrength::Replicated | PromiseStrength::Local | PromiseStrength::AmbiguousLocal
        );
        if let Some(server) = write.server {
            self.absent.push(AbsentWrite { key: write.key, server, ended: attempt.ended, is_on_disk });
        }
    }

    /// Reports holes: a write that began on a server after another write was acknowledged there has a later commit
    /// record in the WAL. If the later write is present, the earlier one must be present too.
    ///
    /// A crash may lose a write that was only in memory, without a new start time of the server. Later writes of the same
    /// server then follow it without a hole. Such a write therefore only counts if nothing between the two writes
    /// indicates a crash.
    fn find_holes(&mut self, found: &mut Anomalies) {
        let is_hole = |write: &&AbsentWrite| {
            let from = self.survey.disturbances_until(write.ended);
            let to = if write.is_on_disk { usize::MAX } else { from };
            let mut later = self.present.range((write.server, from)..=(write.server, to));
            later.any(|it| *it.1 >= write.ended)
        };
        let holes: Vec<WriteKey> = self.absent.iter().filter(is_hole).map(|it| it.key).collect();
        found.add_many(AnomalyKind::Hole, holes.len() as u64, holes);
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
            effective_attempts: 0,
            acknowledged: None,
            local: None,
            unknown: false,
            invoked: attempt.invoked,
            ended: Nanos::ZERO,
            server: attempt.server,
        };
        none.with_attempt(attempt)
    }

    fn with_attempt(self, attempt: &WriteAttempt) -> WriteState {
        let with = |outcome| (attempt.outcome == outcome).then_some(*attempt);
        let is_unknown = match attempt.outcome {
            WriteOutcome::Unknown(_) => true,
            // Earlier versions stored such errors of poolers as failures.
            WriteOutcome::Failed(Code::SqlState(state)) => {
                matches!(WriteOutcome::from_error(state), WriteOutcome::Unknown(_))
            }
            _ => false,
        };
        let is_failed = matches!(attempt.outcome, WriteOutcome::Failed(_));
        WriteState {
            attempts: attempt.number,
            effective_attempts: self.effective_attempts + u64::from(!is_failed || is_unknown),
            acknowledged: self.acknowledged.or_else(|| with(WriteOutcome::Acknowledged)),
            local: self.local.or_else(|| with(WriteOutcome::AcknowledgedLocally)),
            unknown: self.unknown || is_unknown,
            ended: attempt.ended,
            server: self.server.filter(|it| attempt.server == Some(*it)),
            ..self
        }
    }
}
