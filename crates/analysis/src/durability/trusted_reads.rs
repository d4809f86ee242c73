//! Reads after the faults from a primary of the newest timeline, and the rows that they found

use super::Anomalies;
use super::ledger_survey::LedgerSurvey;
use model::Nanos;
use model::durability::{AnomalyKind, DurabilityHistory, InconclusiveReason, ReadBack, WriteKey};
use std::collections::BTreeSet;

#[derive(Debug)]
pub(super) struct TrustedReads<'a> {
    /// Reads from a primary of the newest timeline, in order of time.
    reads: Vec<&'a ReadBack>,
    /// Reads from standbys.
    standby_reads: Vec<&'a ReadBack>,
    /// Reads from servers of an older timeline.
    old_reads: Vec<&'a ReadBack>,
    /// Reasons why the reads after the last trusted read are inconclusive.
    pub doubts: Vec<InconclusiveReason>,
    history: &'a DurabilityHistory,
}

impl<'a> TrustedReads<'a> {
    pub fn new(history: &'a DurabilityHistory, survey: &LedgerSurvey) -> TrustedReads<'a> {
        let systems = survey.systems();
        let mut trusted = TrustedReads {
            reads: Vec::new(),
            standby_reads: Vec::new(),
            old_reads: Vec::new(),
            doubts: Vec::new(),
            history,
        };
        for (number, reading) in history.read_backs.iter().enumerate() {
            let newest = survey.newest_timeline(&reading.server, reading.started);
            let is_foreign = !systems.is_empty() && !systems.contains(&reading.server.system);
            if is_foreign {
                trusted.doubts.push(InconclusiveReason::ReadFromOtherSystem { reading: number });
            } else if newest > Some(reading.server.timeline) {
                trusted.old_reads.push(reading);
                trusted.doubts.push(InconclusiveReason::ReadFromOldTimeline { reading: number });
            } else if reading.in_recovery || was_standby(history, reading) {
                trusted.standby_reads.push(reading);
                trusted.doubts.push(InconclusiveReason::ReadFromStandby { reading: number });
            } else {
                trusted.reads.push(reading);
                // This read answers what the earlier ones left open.
                trusted.doubts.clear();
            }
        }
        trusted.doubts.extend(trusted.reads.is_empty().then_some(InconclusiveReason::NotReadBack));
        trusted
    }

    /// True if a standby of the newest timeline had the row before the last read of the primary did not find it.
    pub fn is_only_on_standby(&self, key: WriteKey) -> bool {
        let Some(last) = self.reads.last() else { return false };
        let precedes =
            |it: &&&ReadBack| it.server.timeline == last.server.timeline && it.started <= last.started;
        let found = self.standby_reads.iter().filter(precedes).any(|it| it.keys.contains(key));
        found && !last.keys.contains(key)
    }

    /// True if a server of an older timeline has the row.
    pub fn is_on_old_timeline(&self, key: WriteKey) -> bool {
        self.old_reads.iter().any(|it| it.keys.contains(key))
    }

    /// True if the last read found the row; `None` if no read began after `at`.
    pub fn is_present_by(&self, key: WriteKey, at: Nanos) -> Option<bool> {
        self.reads.last().filter(|it| it.started >= at).map(|it| it.keys.contains(key))
    }

    /// Lists that the last read found.
    pub fn lists(&self) -> &'a [Vec<WriteKey>] {
        self.reads.last().map_or(&[], |it| &it.lists)
    }

    /// True if any read that began after `at` did not find the row.
    pub fn was_absent(&self, key: WriteKey, at: Nanos) -> bool {
        self.reads.iter().any(|it| it.started >= at && !it.keys.contains(key))
    }

    /// True if a read found the row, and a later one did not, with no event between them. [`TrustedReads::find_flickers`]
    /// reports these rows.
    pub fn has_vanished(&self, key: WriteKey) -> bool {
        let pairs = self.reads.iter().enumerate();
        let mut pairs =
            pairs.flat_map(|(number, first)| self.reads[number + 1..].iter().map(move |it| (first, it)));
        pairs.any(|(first, later)| {
            first.keys.contains(key) && !later.keys.contains(key) && self.is_undisturbed(first, later)
        })
    }

    /// True if any read found the row.
    pub fn was_present(&self, key: WriteKey) -> bool {
        self.reads.iter().any(|it| it.keys.contains(key))
    }

    /// Number of rows with this key, if a read found several; otherwise 0. The read that found most rows counts.
    pub fn row_count(&self, key: WriteKey) -> u64 {
        self.reads.iter().filter_map(|it| it.keys.repeated.get(&key)).max().copied().unwrap_or(0)
    }

    /// Reports rows that one read found and a later read did not find. Rows that a fault between the reads removed are
    /// lost, so they are not reported here.
    pub fn find_flickers(&self, found: &mut Anomalies) {
        for session in 0..self.sessions() {
            let words = self.reads.iter().map(|it| it.keys.session(session).len()).max().unwrap_or(0);
            for place in 0..words {
                let word = |it: &ReadBack| it.keys.session(session).get(place).copied().unwrap_or(0);
                let mut missing = 0;
                for (number, earlier) in self.reads.iter().enumerate() {
                    for later in &self.reads[number + 1..] {
                        if self.is_undisturbed(earlier, later) {
                            missing |= word(earlier) & !word(later);
                        }
                    }
                }
                found.add_many(
                    AnomalyKind::Flicker,
                    u64::from(missing.count_ones()),
                    keys(session, place, missing),
                );
            }
        }
    }

    /// True if no fault occurred between the two reads, and both are from the same timeline.
    fn is_undisturbed(&self, earlier: &ReadBack, later: &ReadBack) -> bool {
        let between = |at: Nanos| earlier.started < at && at <= later.started;
        earlier.server.timeline == later.server.timeline
            && !self.history.faults.iter().any(|it| between(it.at))
    }

    /// Reports rows that no client wrote. If the ledger is `closed`, rows with a key that was reserved but never used
    /// are reported too.
    pub fn find_phantoms(&self, found: &mut Anomalies, survey: &LedgerSurvey, closed: bool) {
        let mut counts = [0, 0];
        let mut named = BTreeSet::new();
        for rows in self.reads.iter().map(|it| &it.keys) {
            counts = [counts[0].max(rows.strays.0), counts[1].max(rows.forged.0)];
            named.extend(rows.strays.1.iter().chain(&rows.forged.1).copied());
        }
        found.add_many(AnomalyKind::Phantom, counts[0] + counts[1], named);
        for session in (0..self.sessions()).filter(|_| closed) {
            let used = survey.completed.get(session).copied().unwrap_or(0);
            let words = self.reads.iter().map(|it| it.keys.session(session).len()).max().unwrap_or(0);
            for place in (used / 64) as usize..words {
                let masks = self.reads.iter().filter_map(|it| it.keys.session(session).get(place));
                let beyond = u64::MAX << used.saturating_sub(place as u64 * 64);
                let unused = masks.fold(0, |all, it| all | it) & beyond;
                found.add_many(
                    AnomalyKind::Phantom,
                    u64::from(unused.count_ones()),
                    keys(session, place, unused),
                );
            }
        }
    }

    fn sessions(&self) -> usize {
        self.reads.iter().map(|it| it.keys.sessions()).max().unwrap_or(0)
    }
}

/// True if samples before and after the read both show its server in recovery. One sample is not enough, because the
/// standby may be promoted between the sample and the read.
fn was_standby(history: &DurabilityHistory, reading: &ReadBack) -> bool {
    let samples = || history.samples.iter().filter(|it| it.server.is_same_process(&reading.server));
    let before = samples().rfind(|it| it.at <= reading.started).is_some_and(|it| it.in_recovery);
    let after = samples().find(|it| it.at > reading.identified).is_some_and(|it| it.in_recovery);
    before && after
}

/// Keys of the writes whose bits are set in `word`, lowest first.
fn keys(session: usize, place: usize, word: u64) -> impl Iterator<Item = WriteKey> {
    let key = move |bit: u64| WriteKey { session: session as u32, sequence: place as u64 * 64 + bit };
    (0..64).filter(move |bit| word >> bit & 1 == 1).map(key)
}
