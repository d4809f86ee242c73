//! What was there afterwards, by readings that can be believed?

use super::Findings;
use super::survey::Survey;
use model::Nanos;
use model::durability::{Doubt, History, Key, Kind, Reading};
use std::collections::BTreeSet;

#[derive(Debug)]
pub(super) struct Readings<'a> {
    /// From a primary of the newest timeline, in the order of time.
    of: Vec<&'a Reading>,
    /// About the others.
    pub doubts: Vec<Doubt>,
    history: &'a History,
}

impl<'a> Readings<'a> {
    pub fn of(history: &'a History, survey: &Survey) -> Readings<'a> {
        let systems = survey.systems();
        let mut it = Readings { of: Vec::new(), doubts: Vec::new(), history };
        for (number, reading) in history.readings.iter().enumerate() {
            let newest = survey.timelines.iter().filter(|it| it.0 <= reading.began).map(|it| it.1).max();
            let doubt = if reading.in_recovery || was_standby(history, reading) {
                Some(Doubt::ReadFromStandby { reading: number })
            } else if newest > Some(reading.server.timeline) {
                Some(Doubt::ReadFromOldTimeline { reading: number })
            } else if !systems.is_empty() && !systems.contains(&reading.server.system) {
                Some(Doubt::ReadFromElsewhere { reading: number })
            } else {
                None
            };
            match doubt {
                None => it.of.push(reading),
                Some(doubt) => it.doubts.push(doubt),
            }
        }
        it.doubts.extend(it.of.is_empty().then_some(Doubt::NotRead));
        it
    }

    /// Of what was known by `at`: is it there, by the last word; `None` when every reading is older.
    pub fn finally(&self, key: Key, at: Nanos) -> Option<bool> {
        self.of.last().filter(|it| it.began >= at).map(|it| it.rows.contains(key))
    }

    /// Absent from a reading that began after `at`.
    pub fn was_absent(&self, key: Key, at: Nanos) -> bool {
        self.of.iter().any(|it| it.began >= at && !it.rows.contains(key))
    }

    /// In any reading.
    pub fn ever(&self, key: Key) -> bool {
        self.of.iter().any(|it| it.rows.contains(key))
    }

    /// More than once in any reading.
    pub fn is_repeated(&self, key: Key) -> bool {
        self.of.iter().any(|it| it.rows.repeated.contains_key(&key))
    }

    /// There, and absent in a later reading. What a fault between them took away is a loss, and no more than that.
    pub fn flickers(&self, found: &mut Findings) {
        for session in 0..self.sessions() {
            let words = self.of.iter().map(|it| it.rows.session(session).len()).max().unwrap_or(0);
            for place in 0..words {
                let word = |it: &Reading| it.rows.session(session).get(place).copied().unwrap_or(0);
                let mut gone = 0;
                for (number, earlier) in self.of.iter().enumerate() {
                    for later in &self.of[number + 1..] {
                        if self.is_quiet(earlier, later) {
                            gone |= word(earlier) & !word(later);
                        }
                    }
                }
                found.add_many(Kind::Flicker, u64::from(gone.count_ones()), keys(session, place, gone));
            }
        }
    }

    /// Nothing was done to the system between two readings, and the same primary's timeline went on.
    fn is_quiet(&self, earlier: &Reading, later: &Reading) -> bool {
        let between = |at: Nanos| earlier.began < at && at <= later.began;
        earlier.server.timeline == later.server.timeline
            && !self.history.faults.iter().any(|it| between(it.at))
    }

    /// What nobody asked for. In a `closed` ledger that is also what was reserved and never used.
    pub fn strangers(&self, found: &mut Findings, survey: &Survey, closed: bool) {
        let mut counts = [0, 0];
        let mut named = BTreeSet::new();
        for rows in self.of.iter().map(|it| &it.rows) {
            counts = [counts[0].max(rows.strays.0), counts[1].max(rows.forged.0)];
            named.extend(rows.strays.1.iter().chain(&rows.forged.1).copied());
        }
        found.add_many(Kind::Phantom, counts[0] + counts[1], named);
        for session in (0..self.sessions()).filter(|_| closed) {
            let used = survey.told.get(session).copied().unwrap_or(0);
            let words = self.of.iter().map(|it| it.rows.session(session).len()).max().unwrap_or(0);
            for place in (used / 64) as usize..words {
                let there = self.of.iter().filter_map(|it| it.rows.session(session).get(place));
                let beyond = u64::MAX << used.saturating_sub(place as u64 * 64);
                let unused = there.fold(0, |all, it| all | it) & beyond;
                found.add_many(Kind::Phantom, u64::from(unused.count_ones()), keys(session, place, unused));
            }
        }
    }

    fn sessions(&self) -> usize {
        self.of.iter().map(|it| it.rows.sessions()).max().unwrap_or(0)
    }
}

/// Samples on both sides of the reading say that its server was in recovery. It may be promoted between one that is asked for
/// meanwhile and its own answer.
fn was_standby(history: &History, reading: &Reading) -> bool {
    let of_it = || history.samples.iter().filter(|it| it.server.is_same_process(&reading.server));
    let before = of_it().rfind(|it| it.at <= reading.began).is_some_and(|it| it.in_recovery);
    let after = of_it().find(|it| it.at > reading.known).is_some_and(|it| it.in_recovery);
    before && after
}

/// The keys of a word's bits, the lowest first.
fn keys(session: usize, place: usize, word: u64) -> impl Iterator<Item = Key> {
    let key = move |bit: u64| Key { session: session as u32, sequence: place as u64 * 64 + bit };
    (0..64).filter(move |bit| word >> bit & 1 == 1).map(key)
}
