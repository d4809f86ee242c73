//! Durability check: verifies that every acknowledged write survived
//!
//! [`judge`] reads the ledger twice. For each read after the faults, it keeps one bit per write, so a hundred million
//! writes take a few dozen megabytes. `docs/durability.md` explains each finding and each doubt.

pub mod freshness;
pub mod history;
mod ledger_survey;
mod list_order;
mod promises;
pub mod replication;
mod success_times;
pub mod survival;
mod takeovers;
#[cfg(test)]
mod tests;
mod trusted_reads;
mod writes;

use ledger_survey::LedgerSurvey;
use model::durability::{
    Anomaly, AnomalyKind, Conclusion, DurabilityHistory, DurabilityVerdict, EXAMPLES, InconclusiveReason,
    LedgerEnd, LedgerEntry, WriteKey,
};
use promises::PromiseHistory;
use std::collections::BTreeMap;
pub use success_times::read_outages;
use trusted_reads::TrustedReads;
use writes::WriteJudge;

/// Durability verdict from the ledger's entries and the trial's `history`. Each call of `entries` returns a new
/// iterator over all entries.
pub fn judge<I: Iterator<Item = LedgerEntry>>(
    history: &DurabilityHistory,
    entries: impl Fn() -> I,
) -> DurabilityVerdict {
    let survey = LedgerSurvey::from_entries(history, entries());
    let readings = TrustedReads::new(history, &survey);
    let closed = history.end == Some(LedgerEnd::Closed);
    let mut found = Anomalies::default();
    readings.find_flickers(&mut found);
    readings.find_phantoms(&mut found, &survey, closed);
    list_order::find_reordered(readings.lists(), entries(), &mut found);
    let violations = history.invariants.iter().map(|it| it.violations).sum();
    found.add_many(AnomalyKind::BrokenInvariant, violations, None);
    let wrong = history.promotions.iter().filter(|it| !replication::is_safe(it)).count() as u64;
    found.add_many(AnomalyKind::WrongPromotion, wrong, None);
    let mut writes =
        WriteJudge::new(&readings, &survey, PromiseHistory::new(history, &survey), &history.faults);
    for entry in entries() {
        if let LedgerEntry::Completed(attempt) = entry {
            writes.add_attempt(&attempt, &mut found);
        }
    }
    let written = writes.finish(closed, &mut found);

    let mut doubts = readings.doubts.clone();
    doubts.extend(&survey.doubts);
    doubts.extend(end_doubt(history.end));
    let counted = |count, doubt: fn(u64) -> InconclusiveReason| (count > 0).then(|| doubt(count));
    doubts.extend(counted(written.younger, |count| InconclusiveReason::NewerThanReadBacks { count }));
    doubts.extend(counted(written.unpromised, |count| InconclusiveReason::PromiseUnknown { count }));
    doubts.extend(counted(written.missing, |writes| InconclusiveReason::LedgerHasGaps { writes }));
    doubts.extend(counted(survey.contradictions + written.contradictions, |entries| {
        InconclusiveReason::LedgerContradictsItself { entries }
    }));
    // The promise of the others was not sampled, which is a reason of its own.
    let changed = found.count(AnomalyKind::LostAmbiguous) > written.unpromised;
    doubts.extend(changed.then_some(InconclusiveReason::LostWhilePromiseChanged));
    let is_unread = history.invariants.iter().any(|it| it.readings == 0);
    doubts.extend(is_unread.then_some(InconclusiveReason::InvariantNotRead));
    // A trial that lost writes itself shows that its fault can cause losses.
    let lost_itself = found.count(AnomalyKind::LostWithoutPromise) > 0;
    doubts.extend(match history.control {
        _ if lost_itself => None,
        None => Some(InconclusiveReason::NoControl),
        Some(it) => (it.lost == 0).then_some(InconclusiveReason::ControlLostNothing),
    });
    let findings = found.into_list();
    DurabilityVerdict {
        conclusion: conclude(&findings, &doubts),
        counts: written.counts,
        recovery_point: written.recovery_point,
        invariants: history.invariants.clone(),
        outages: survey.outages(history),
        failovers: survey.failovers,
        bound: loss_probability_bound(survey.failovers),
        clock_steps_us: survey.clock_steps_us.clone(),
        anomalies: findings,
        doubts,
    }
}

/// Upper bound (95 %) of the probability that a failover loses writes, after `failovers` failovers without a loss.
///
/// If each failover loses writes with probability p, n failovers lose none with probability (1 − p)ⁿ. The bound is the
/// p for which this is 5 %. Without failovers it is 1.
pub fn loss_probability_bound(failovers: u32) -> f64 {
    if failovers == 0 { 1.0 } else { 1.0 - 0.05_f64.powf(1.0 / f64::from(failovers)) }
}

/// Conclusion from findings and doubts. A violation counts despite doubts if the evidence is sound.
pub(crate) fn conclude(findings: &[Anomaly], doubts: &[InconclusiveReason]) -> Conclusion {
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

/// True unless a doubt shows that the evidence contradicts itself or comes from servers with different system
/// identifiers.
pub(crate) fn is_sound(doubts: &[InconclusiveReason]) -> bool {
    let undermines = |doubt: &InconclusiveReason| {
        matches!(
            doubt,
            InconclusiveReason::LedgerContradictsItself { .. } | InconclusiveReason::MultipleSystems
        )
    };
    !doubts.iter().any(undermines)
}

fn end_doubt(end: Option<LedgerEnd>) -> Option<InconclusiveReason> {
    match end {
        Some(LedgerEnd::Closed) => None,
        Some(LedgerEnd::Torn { bytes }) => Some(InconclusiveReason::LedgerTorn { bytes }),
        Some(LedgerEnd::Open) | None => Some(InconclusiveReason::LedgerOpen),
    }
}

/// Count and examples of each kind of anomaly.
#[derive(Debug, Default)]
struct Anomalies(BTreeMap<AnomalyKind, (u64, Vec<WriteKey>)>);

impl Anomalies {
    fn add(&mut self, kind: AnomalyKind, key: Option<WriteKey>) {
        self.add_many(kind, 1, key);
    }

    /// Adds `count` anomalies of `kind`, with `examples` of the writes.
    fn add_many(&mut self, kind: AnomalyKind, count: u64, examples: impl IntoIterator<Item = WriteKey>) {
        if count > 0 {
            let (known, keys) = self.0.entry(kind).or_default();
            *known += count;
            let room = EXAMPLES - keys.len();
            keys.extend(examples.into_iter().take(room));
        }
    }

    fn count(&self, kind: AnomalyKind) -> u64 {
        self.0.get(&kind).map_or(0, |it| it.0)
    }

    fn into_list(self) -> Vec<Anomaly> {
        self.0.into_iter().map(|(kind, (count, examples))| Anomaly { kind, count, examples }).collect()
    }
}
