//! Did every acknowledged write survive?
//!
//! [`judge`] goes through a ledger twice, and keeps a bit for each write and reading: a hundred million writes are some dozen
//! megabytes. What it cannot know it does not guess: `docs/durability.md` tells what each finding and each doubt means.

mod promises;
mod pulse;
mod readings;
mod survey;
#[cfg(test)]
mod tests;
mod writes;

use crate::replication;
use model::durability::{Conclusion, Doubt, EXAMPLES, Entry, Found, History, Key, Kind, LedgerEnd, Verdict};
use promises::Promises;
use readings::Readings;
use std::collections::BTreeMap;
use survey::Survey;
use writes::Writes;

/// What the ledger's entries, which `entries` gives anew at each call, and the rest of the evidence come to.
pub fn judge<I: Iterator<Item = Entry>>(history: &History, entries: impl Fn() -> I) -> Verdict {
    let survey = Survey::of(history, entries());
    let readings = Readings::of(history, &survey);
    let closed = history.end == Some(LedgerEnd::Closed);
    let mut found = Findings::default();
    readings.flickers(&mut found);
    readings.strangers(&mut found, &survey, closed);
    let wrong = history.promotions.iter().filter(|it| !replication::is_safe(it)).count() as u64;
    found.add_many(Kind::WrongPromotion, wrong, None);
    let mut writes = Writes::new(&readings, &survey, Promises::of(history, &survey), &history.faults);
    for entry in entries() {
        if let Entry::Ended(attempt) = entry {
            writes.see(&attempt, &mut found);
        }
    }
    let written = writes.finish(closed, &mut found);

    let mut doubts = readings.doubts.clone();
    doubts.extend(&survey.doubts);
    doubts.extend(ends(history.end));
    let counted = |count, doubt: fn(u64) -> Doubt| (count > 0).then(|| doubt(count));
    doubts.extend(counted(written.younger, |count| Doubt::YoungerThanReadings { count }));
    doubts.extend(counted(written.unpromised, |count| Doubt::PromiseUnknown { count }));
    doubts.extend(counted(written.missing, |writes| Doubt::LedgerHasGaps { writes }));
    doubts.extend(counted(survey.contradictions + written.contradictions, |entries| {
        Doubt::LedgerContradictsItself { entries }
    }));
    doubts.extend((found.count(Kind::LostAmbiguous) > 0).then_some(Doubt::LostWhilePromiseChanged));
    doubts.extend(match history.control {
        None => Some(Doubt::NoControl),
        Some(it) => (it.lost == 0).then_some(Doubt::ControlLostNothing),
    });
    let findings = found.list();
    Verdict {
        conclusion: conclude(&findings, &doubts),
        counts: written.counts,
        recovery_point: written.recovery_point,
        outages: survey.pulse.outages(&history.faults, history.over),
        failovers: survey.failovers,
        bound: bound(survey.failovers),
        clock_steps_us: survey.clock_steps_us.clone(),
        findings,
        doubts,
    }
}

/// Upper bound, at 95 %, of the probability that one failover loses something, when none of `failovers` did.
///
/// With probability p for each, all n pass with (1 − p)ⁿ; the bound is the p at which that is 5 %. 1 without any.
pub fn bound(failovers: u32) -> f64 {
    if failovers == 0 { 1.0 } else { 1.0 - 0.05_f64.powf(1.0 / f64::from(failovers)) }
}

/// A violation is one whatever else is in doubt, unless the evidence for it contradicts itself.
pub(crate) fn conclude(findings: &[Found], doubts: &[Doubt]) -> Conclusion {
    if !is_sound(doubts) {
        Conclusion::Unknown
    } else if findings.iter().any(|it| it.kind.is_violation()) {
        Conclusion::Broken
    } else if doubts.is_empty() {
        Conclusion::Kept
    } else {
        Conclusion::Unknown
    }
}

/// Whether the evidence can be believed as far as it goes.
pub(crate) fn is_sound(doubts: &[Doubt]) -> bool {
    let undermines = |it: &Doubt| matches!(it, Doubt::LedgerContradictsItself { .. } | Doubt::SeveralSystems);
    !doubts.iter().any(undermines)
}

fn ends(end: Option<LedgerEnd>) -> Option<Doubt> {
    match end {
        Some(LedgerEnd::Closed) => None,
        Some(LedgerEnd::Torn { bytes }) => Some(Doubt::LedgerTorn { bytes }),
        Some(LedgerEnd::Open) | None => Some(Doubt::LedgerOpen),
    }
}

/// What was found so far.
#[derive(Debug, Default)]
struct Findings(BTreeMap<Kind, (u64, Vec<Key>)>);

impl Findings {
    fn add(&mut self, kind: Kind, key: Option<Key>) {
        self.add_many(kind, 1, key);
    }

    /// `count` more, of which these are examples.
    fn add_many(&mut self, kind: Kind, count: u64, examples: impl IntoIterator<Item = Key>) {
        if count > 0 {
            let (known, keys) = self.0.entry(kind).or_default();
            *known += count;
            let room = EXAMPLES - keys.len();
            keys.extend(examples.into_iter().take(room));
        }
    }

    fn count(&self, kind: Kind) -> u64 {
        self.0.get(&kind).map_or(0, |it| it.0)
    }

    fn list(self) -> Vec<Found> {
        self.0.into_iter().map(|(kind, (count, examples))| Found { kind, count, examples }).collect()
    }
}
