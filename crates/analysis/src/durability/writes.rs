//! What came of each write, all its attempts together, and is it there?
//!
//! A session has one write under way at a time, so its attempts stand together: a write is judged when the next one begins.

use super::Findings;
use super::promises::{Promises, Strength};
use super::readings::Readings;
use super::survey::Survey;
use model::durability::{Attempt, Counts, Fault, Key, Kind, Outcome, RecoveryPoint, ServerId};
use model::{Code, Nanos};

#[derive(Debug)]
pub(super) struct Writes<'a> {
    readings: &'a Readings<'a>,
    survey: &'a Survey,
    promises: Promises<'a>,
    sessions: Vec<Session>,
    faults: &'a [Fault],
    written: Written,
}

/// What all writes came to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Written {
    pub counts: Counts,
    /// Acknowledged after every reading.
    pub younger: u64,
    /// Absent, and nobody knows what was promised.
    pub unpromised: u64,
    /// Sequences without an outcome before one that has it.
    pub missing: u64,
    pub contradictions: u64,
    pub recovery_point: Option<RecoveryPoint>,
}

#[derive(Debug, Default)]
struct Session {
    open: Option<Write>,
    /// Acknowledged and absent, by the server that had them on its disk: a later write there that is present makes holes
    /// of them.
    absent: Vec<(ServerId, u64)>,
    /// The last of those lost without a promise, and how many stand before it without a gap.
    run: Option<(u64, u64)>,
}

/// One write.
#[derive(Clone, Copy, Debug)]
struct Write {
    key: Key,
    attempts: u16,
    /// The first attempt that was acknowledged.
    acknowledged: Option<Attempt>,
    local: bool,
    unknown: bool,
    /// When the last attempt was over.
    ended: Nanos,
    /// The server of all attempts, where it is one.
    server: Option<ServerId>,
}

const READ_ONLY: Code = Code::SqlState(*b"25006");

impl<'a> Writes<'a> {
    pub fn new(
        readings: &'a Readings<'a>,
        survey: &'a Survey,
        promises: Promises<'a>,
        faults: &'a [Fault],
    ) -> Writes<'a> {
        let written = Written::default();
        Writes { readings, survey, promises, sessions: Vec::new(), faults, written }
    }

    pub fn see(&mut self, attempt: &Attempt, found: &mut Findings) {
        let number = attempt.key.session as usize;
        if self.sessions.len() <= number {
            self.sessions.resize_with(number + 1, Session::default);
        }
        if attempt.outcome == Outcome::Failed(READ_ONLY) {
            self.written.counts.misrouted += 1;
        }
        if attempt.outcome == Outcome::Acknowledged && self.survey.is_of_deposed(attempt) {
            found.add(Kind::SplitBrain, Some(attempt.key));
        }
        let open = self.sessions[number].open;
        let expected = match open {
            Some(write) if write.key == attempt.key => {
                self.written.contradictions += u64::from(attempt.number <= write.attempts);
                self.sessions[number].open = Some(write.with(attempt));
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
        self.sessions[number].open = Some(Write::first(attempt));
        if let Some(write) = open {
            self.judge(&write, found);
        }
    }

    /// After the last entry. In a ledger that is not `closed`, the last write of each session may have been tried again,
    /// perhaps elsewhere, and all that were reserved behind it may have been sent.
    pub fn finish(mut self, closed: bool, found: &mut Findings) -> Written {
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
        let used = |session: usize| self.survey.told.get(session).copied().unwrap_or(0);
        let reserved = self.survey.reserved.iter().enumerate().filter(|_| !closed);
        self.written.counts.untold =
            reserved.map(|(session, until)| until.saturating_sub(used(session))).sum::<u64>()
                + self.written.missing;
        self.written
    }

    fn judge(&mut self, write: &Write, found: &mut Findings) {
        let key = write.key;
        if self.readings.is_repeated(key) {
            let kind = if write.attempts > 1 { Kind::DuplicateByRetry } else { Kind::Duplicate };
            found.add(kind, Some(key));
        }
        let counts = &mut self.written.counts;
        let there = match write.acknowledged {
            Some(attempt) => {
                counts.acknowledged += 1;
                self.acknowledged(write, &attempt, found)
            }
            None => {
                let there = self.readings.finally(key, write.ended);
                if write.local {
                    counts.local += 1;
                    self.written.younger += u64::from(there.is_none());
                    if there == Some(false) {
                        found.add(Kind::LostLocal, Some(key));
                    }
                } else if write.unknown {
                    counts.unknown += 1;
                    counts.unknown_present += u64::from(there == Some(true));
                } else {
                    counts.failed += 1;
                    if self.readings.ever(key) {
                        found.add(Kind::FalseFailure, Some(key));
                    }
                }
                there
            }
        };
        if there == Some(true) {
            self.fill_holes(write, found);
        }
    }

    /// Whether an acknowledged write is there, and what follows if it is not.
    fn acknowledged(&mut self, write: &Write, attempt: &Attempt, found: &mut Findings) -> Option<bool> {
        let key = write.key;
        let there = self.readings.finally(key, attempt.ended);
        match there {
            None => self.written.younger += 1,
            Some(true) => {
                if self.readings.was_absent(key, attempt.ended) {
                    found.add(Kind::Flicker, Some(key));
                }
            }
            Some(false) => {
                let strength = self.promises.at(attempt);
                found.add(strength.kind_of_loss(), Some(key));
                self.written.unpromised += u64::from(strength == Strength::Unknown);
                if let (Strength::Outlives | Strength::Local, Some(server)) = (strength, write.server) {
                    self.sessions[key.session as usize].absent.push((server, key.sequence));
                }
                if strength.kind_of_loss() == Kind::LostUnpromised {
                    self.lose(key, attempt.ended);
                }
            }
        }
        there
    }

    /// A write is there: what the same server had acknowledged before it, for the same session, must be there too.
    fn fill_holes(&mut self, write: &Write, found: &mut Findings) {
        let Key { session, .. } = write.key;
        let absent = &mut self.sessions[session as usize].absent;
        absent.retain(|&(server, sequence)| {
            let is_hole = write.server == Some(server);
            if is_hole {
                found.add(Kind::Hole, Some(Key { session, sequence }));
            }
            !is_hole
        });
    }

    /// Counts a loss that breaks no promise.
    fn lose(&mut self, key: Key, at: Nanos) {
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
        if let (Some((first, last)), Some(it)) = (&mut point.window_ns, distance) {
            (*first, *last) = ((*first).min(it), (*last).max(it));
        }
    }
}

impl Write {
    fn first(attempt: &Attempt) -> Write {
        let none = Write {
            key: attempt.key,
            attempts: 0,
            acknowledged: None,
            local: false,
            unknown: false,
            ended: Nanos::ZERO,
            server: attempt.server,
        };
        none.with(attempt)
    }

    fn with(self, attempt: &Attempt) -> Write {
        let first = || (attempt.outcome == Outcome::Acknowledged).then_some(*attempt);
        Write {
            attempts: attempt.number,
            acknowledged: self.acknowledged.or_else(first),
            local: self.local || attempt.outcome == Outcome::AcknowledgedLocally,
            unknown: self.unknown || matches!(attempt.outcome, Outcome::Unknown(_)),
            ended: attempt.ended,
            server: self.server.filter(|it| attempt.server == Some(*it)),
            ..self
        }
    }
}
