//! Durability results of a cell's failover trials, compared with its positive control
//!
//! On its own, a trial without losses proves nothing, because its setup may be unable to lose writes. The verdict of
//! each trial therefore contains [`InconclusiveReason::NoControl`]. This module removes that doubt if the cell or its
//! control lost writes.

#[cfg(test)]
mod tests;

use crate::durability::{conclude, is_sound, loss_probability_bound};
use crate::stats::quantile::median;
use crate::verdict::failover_objective::{self, FailoverFigures, OutageFigure};
use model::Nanos;
use model::durability::{
    AccessKind, Anomaly, AnomalyKind, ClientKind, ClientOutage, Conclusion, DurabilityVerdict, EXAMPLES,
    InconclusiveReason, InvariantReadings, RecoveryPoint, WriteCounts,
};
use model::fault_injection::{
    ControlSummary, DurationRange, FailoverResult, FaultInjection, InjectedFault, OutageSummary,
    PromotionRecord,
};
use model::objective::ObjectiveResult;
use model::plan::{Experiment, FaultAction};
use std::collections::BTreeMap;

/// Durability results of all cells with faults or a ledger, except controls, in the order of the cells. `trials` pairs
/// the index of each trial's cell with its fault injection, in the order in which the trials began.
pub fn all_cells(experiment: &Experiment, trials: &[(usize, &FaultInjection)]) -> Vec<FailoverResult> {
    let injections = |cell: usize| {
        trials.iter().filter(|it| it.0 == cell).map(|it| it.1).collect::<Vec<&FaultInjection>>()
    };
    let ordinary = |cell: &usize| experiment.cells[*cell].control_of.is_none();
    let survival = |cell: usize| {
        let control = experiment.control_for(cell).map(|it| (it, injections(it)));
        let trials = injections(cell);
        let result = cell_result(cell, &trials, control.as_ref().map(|it| (it.0, it.1.as_slice())))?;
        let objectives = objectives(&experiment.cells[cell].setup.objectives, &result, &trials);
        Some(FailoverResult { objectives, ..result })
    };
    (0..experiment.cells.len()).filter(ordinary).filter_map(survival).collect()
}

/// Results of the objectives on failovers. Objectives on the load are left out.
fn objectives(texts: &[String], result: &FailoverResult, trials: &[&FaultInjection]) -> Vec<ObjectiveResult> {
    let verdicts: Vec<&DurabilityVerdict> = trials.iter().filter_map(|it| it.verdict.as_ref()).collect();
    let durations = |access: AccessKind| -> Vec<OutageFigure> {
        let client = match result.find_outage(ClientKind::New, access) {
            Some(_) => ClientKind::New,
            None => ClientKind::Connected,
        };
        let longest = verdicts.iter().filter_map(|it| longest_outage(it, client, access));
        longest.map(|it| OutageFigure { duration: it.duration(), ongoing: it.is_ongoing() }).collect()
    };
    let (writes, reads) = (durations(AccessKind::Write), durations(AccessKind::Read));
    let lost = result.conclusion.and_then(|_| result.known_loss());
    let acknowledged = result.counts.acknowledged;
    let figures = FailoverFigures { lost, acknowledged, writes: &writes, reads: &reads };
    let parsed = texts.iter().filter_map(|it| failover_objective::parse(it)?.ok());
    parsed.map(|it| it.judge(&figures)).collect()
}

/// Durability result of one cell; `None` without a trial. `control` is the control cell with its trials.
pub fn cell_result(
    cell: usize,
    trials: &[&FaultInjection],
    control: Option<(usize, &[&FaultInjection])>,
) -> Option<FailoverResult> {
    trials.first()?;
    let verdicts: Vec<&DurabilityVerdict> = trials.iter().filter_map(|it| it.verdict.as_ref()).collect();
    let control = control.filter(|it| !it.1.is_empty()).map(|(cell, trials)| control_summary(cell, trials));
    let control = control.or_else(|| local_control_summary(cell, trials));
    let failovers = trials.iter().filter(|it| is_complete(it)).map(|it| failovers(it)).sum();
    let mut doubts = Vec::new();
    for doubt in verdicts.iter().flat_map(|it| &it.doubts).filter(|it| !is_about_control(it)) {
        merge_doubt(&mut doubts, *doubt);
    }
    let all_read_back = verdicts.len() == trials.len();
    if !verdicts.is_empty() && !all_read_back {
        merge_doubt(&mut doubts, InconclusiveReason::NotReadBack);
    }
    let done = trials.iter().filter(|it| is_complete(it)).count() as u32;
    if !verdicts.is_empty() && done == 0 {
        merge_doubt(&mut doubts, InconclusiveReason::NoFault);
    }
    let conclusions: Vec<Conclusion> = verdicts.iter().map(|it| own_conclusion(it)).collect();
    // If the cell itself lost writes, losses are detectable.
    let loss_detected =
        verdicts.iter().any(|it| lost_writes(it) > 0) || control.is_some_and(|it| it.lossy_trials > 0);
    if !verdicts.is_empty() && !loss_detected {
        doubts.push(if control.is_some() {
            InconclusiveReason::ControlLostNothing
        } else {
            InconclusiveReason::NoControl
        });
    }
    let conclusion = if conclusions.contains(&Conclusion::Broken) {
        Conclusion::Broken
    } else if conclusions.contains(&Conclusion::Unknown) || !all_read_back || !loss_detected || done == 0 {
        Conclusion::Unknown
    } else {
        Conclusion::Kept
    };
    let outages = outage_summaries(&verdicts);
    let is_connected_writer =
        |it: &&OutageSummary| it.client == ClientKind::Connected && it.access == AccessKind::Write;
    let connected = outages.iter().find(is_connected_writer).copied();
    let times = |durations: &dyn Fn(&FaultInjection) -> Vec<Nanos>| {
        duration_range(&trials.iter().flat_map(|it| durations(it)).collect::<Vec<_>>())
    };
    Some(FailoverResult {
        cell,
        trials: done,
        failovers,
        conclusion: (!verdicts.is_empty()).then_some(conclusion),
        bound: loss_probability_bound(failovers),
        counts: verdicts.iter().fold(WriteCounts::default(), |all, it| sum(all, it.counts)),
        lost: verdicts.iter().map(|it| lost_writes(it)).sum(),
        anomalies: merge_anomalies(&verdicts),
        doubts,
        recovery_point: worst_recovery_point(&verdicts),
        invariants: merge_invariants(&verdicts),
        outage: connected.map(|it| it.duration),
        outages,
        promoted: times(&|it| durations_since_fault(it, |promoted| Some(promoted.at))),
        healthy: times(&|it| durations_since_fault(it, |promoted| promoted.healthy)),
        rejoined: times(&rejoin_durations),
        control,
        objectives: Vec::new(),
    })
}

/// Conclusion of one trial's verdict, without the doubts about the positive control.
fn own_conclusion(verdict: &DurabilityVerdict) -> Conclusion {
    let doubts: Vec<InconclusiveReason> =
        verdict.doubts.iter().filter(|it| !is_about_control(it)).copied().collect();
    conclude(&verdict.anomalies, &doubts)
}

fn is_about_control(reason: &InconclusiveReason) -> bool {
    matches!(reason, InconclusiveReason::NoControl | InconclusiveReason::ControlLostNothing)
}

/// Number of acknowledged writes that were lost, with any promise; 0 if the evidence contradicts itself.
pub fn lost_writes(verdict: &DurabilityVerdict) -> u64 {
    let is_loss = |kind| {
        matches!(kind, AnomalyKind::Lost | AnomalyKind::LostAmbiguous | AnomalyKind::LostWithoutPromise)
    };
    let found = verdict.anomalies.iter().filter(|it| is_loss(it.kind)).map(|it| it.count);
    if is_sound(&verdict.doubts) { found.sum() } else { 0 }
}

/// Result of the controls within the trials; `None` if there are none.
fn local_control_summary(cell: usize, trials: &[&FaultInjection]) -> Option<ControlSummary> {
    let lost: Vec<u64> =
        trials.iter().filter(|it| is_complete(it)).filter_map(|it| Some(it.local_control?.lost)).collect();
    (!lost.is_empty()).then(|| ControlSummary {
        cell,
        trials: lost.len() as u32,
        lossy_trials: lost.iter().filter(|it| **it > 0).count() as u32,
        lost: lost.iter().sum(),
    })
}

fn control_summary(cell: usize, trials: &[&FaultInjection]) -> ControlSummary {
    let lost: Vec<u64> = trials.iter().map(|it| it.verdict.as_ref().map_or(0, lost_writes)).collect();
    ControlSummary {
        cell,
        trials: trials.iter().filter(|it| is_complete(it)).count() as u32,
        lossy_trials: lost.iter().filter(|it| **it > 0).count() as u32,
        lost: lost.iter().sum(),
    }
}

/// True if there were planned faults and all of them were injected.
fn is_complete(injection: &FaultInjection) -> bool {
    !injection.injected.is_empty() && injection.injected.iter().all(|it| !it.nodes.is_empty())
}

/// Number of failovers, counted from the timelines in the ledger. Without a ledger, it is counted from the promotions.
fn failovers(injection: &FaultInjection) -> u32 {
    injection.verdict.as_ref().map_or(injection.promotions.len() as u32, |it| it.failovers)
}

/// Outages of all kinds of clients and access that some trial measured, writes first.
fn outage_summaries(verdicts: &[&DurabilityVerdict]) -> Vec<OutageSummary> {
    let mut all = Vec::new();
    for access in [AccessKind::Write, AccessKind::Read] {
        for client in [ClientKind::New, ClientKind::Connected] {
            let longest: Vec<(&DurabilityVerdict, ClientOutage)> =
                verdicts.iter().filter_map(|it| Some((*it, longest_outage(it, client, access)?))).collect();
            let durations: Vec<Nanos> = longest.iter().map(|it| it.1.duration()).collect();
            let waits: Vec<Nanos> = longest.iter().filter_map(|it| own_wait(it.0, &it.1)).collect();
            if let Some(duration) = duration_range(&durations) {
                let own_wait = duration_range(&waits);
                let ongoing = longest.iter().filter(|it| it.1.is_ongoing()).count() as u32;
                all.push(OutageSummary { client, access, duration, ongoing, own_wait });
            }
        }
    }
    all
}

fn longest_outage(
    verdict: &DurabilityVerdict,
    client: ClientKind,
    access: AccessKind,
) -> Option<ClientOutage> {
    let own = verdict.outages.iter().filter(|it| it.client == client && it.access == access);
    own.max_by_key(|it| it.duration()).copied()
}

/// Part of a connected client's outage after new clients were served again. `None` for a new client, or if new clients
/// were not measured.
fn own_wait(verdict: &DurabilityVerdict, outage: &ClientOutage) -> Option<Nanos> {
    let is_same = |it: &&ClientOutage| (it.fault, it.access) == (outage.fault, outage.access);
    let new = verdict.outages.iter().filter(is_same).find(|it| it.client == ClientKind::New)?;
    if outage.client == ClientKind::New {
        return None;
    }
    let served = if new.duration() > Nanos::ZERO { new.to.max(outage.from) } else { outage.from };
    Some(Nanos(if outage.duration() > Nanos::ZERO { outage.to.0.saturating_sub(served.0) } else { 0 }))
}

/// Durations until old primaries rejoined. Replicas that had diverged rejoin too, but are not included.
fn rejoin_durations(injection: &FaultInjection) -> Vec<Nanos> {
    let was_primary = |name: &str| injection.promotions.iter().any(|it| it.from == name);
    injection.rejoins.iter().filter(|it| was_primary(&it.node)).map(|it| it.elapsed).collect()
}

/// Duration from the fault that caused each promotion to an event of the new primary.
fn durations_since_fault(
    injection: &FaultInjection,
    moment: impl Fn(&PromotionRecord) -> Option<Nanos>,
) -> Vec<Nanos> {
    let duration = |promoted: &PromotionRecord| {
        let at = moment(promoted)?;
        Some(at - causing_fault(injection, promoted)?.at)
    };
    injection.promotions.iter().filter_map(duration).collect()
}

/// Last fault before the promotion on the replaced server, or on any server if the replaced server had no fault. A
/// fault that blocks replication is ignored, because it causes no promotion.
fn causing_fault<'a>(injection: &'a FaultInjection, promoted: &PromotionRecord) -> Option<&'a InjectedFault> {
    let may_be = |fault: &&InjectedFault| {
        !fault.nodes.is_empty()
            && fault.at <= promoted.at
            && !matches!(fault.action, FaultAction::BlockReplication { .. })
    };
    let before: Vec<&InjectedFault> = injection.injected.iter().filter(may_be).collect();
    let on_old_primary = before.iter().rfind(|it| it.nodes.contains(&promoted.from));
    on_old_primary.or(before.last()).copied()
}

/// Minimum, median and maximum. With an even number of values, the median is the mean of the middle two.
fn duration_range(all: &[Nanos]) -> Option<DurationRange> {
    let median = Nanos(median(all.iter().map(|it| it.0 as f64))? as u64);
    Some(DurationRange { min: *all.iter().min()?, median, max: *all.iter().max()? })
}

fn sum(a: WriteCounts, b: WriteCounts) -> WriteCounts {
    WriteCounts {
        acknowledged: a.acknowledged + b.acknowledged,
        local: a.local + b.local,
        failed: a.failed + b.failed,
        unknown: a.unknown + b.unknown,
        unknown_present: a.unknown_present + b.unknown_present,
        unresolved: a.unresolved + b.unresolved,
        misrouted: a.misrouted + b.misrouted,
    }
}

/// Anomalies of all verdicts, one for each kind, the worst first.
fn merge_anomalies(verdicts: &[&DurabilityVerdict]) -> Vec<Anomaly> {
    let mut all: BTreeMap<AnomalyKind, Anomaly> = BTreeMap::new();
    for anomaly in verdicts.iter().flat_map(|it| &it.anomalies) {
        let none = || Anomaly { kind: anomaly.kind, count: 0, examples: Vec::new() };
        let known = all.entry(anomaly.kind).or_insert_with(none);
        known.count += anomaly.count;
        let room = EXAMPLES - known.examples.len();
        known.examples.extend(anomaly.examples.iter().take(room));
    }
    all.into_values().collect()
}

/// Readings of each invariant in all trials. The first violation is that of the first trial with one.
fn merge_invariants(verdicts: &[&DurabilityVerdict]) -> Vec<InvariantReadings> {
    let mut all: Vec<InvariantReadings> = Vec::new();
    for readings in verdicts.iter().flat_map(|it| &it.invariants) {
        match all.iter_mut().find(|it| it.query == readings.query) {
            Some(known) => {
                known.readings += readings.readings;
                known.violations += readings.violations;
                known.first = known.first.take().or_else(|| readings.first.clone());
            }
            None => all.push(readings.clone()),
        }
    }
    all
}

/// Recovery point of the trial with the most losses. If several trials have equally many losses, the first of them
/// counts.
fn worst_recovery_point(verdicts: &[&DurabilityVerdict]) -> Option<RecoveryPoint> {
    verdicts.iter().rev().filter_map(|it| it.recovery_point).max_by_key(|it| it.count)
}

/// Adds a doubt. Counts of equal doubts are summed; other doubts are listed once.
fn merge_doubt(all: &mut Vec<InconclusiveReason>, new: InconclusiveReason) {
    use InconclusiveReason::{
        LedgerContradictsItself, LedgerHasGaps, LedgerTorn, NewerThanReadBacks, PromiseUnknown,
    };
    for known in all.iter_mut() {
        match (known, new) {
            (NewerThanReadBacks { count: known }, NewerThanReadBacks { count: more })
            | (PromiseUnknown { count: known }, PromiseUnknown { count: more })
            | (LedgerHasGaps { writes: known }, LedgerHasGaps { writes: more })
            | (LedgerTorn { bytes: known }, LedgerTorn { bytes: more })
            | (LedgerContradictsItself { entries: known }, LedgerContradictsItself { entries: more }) => {
                *known += more;
                return;
            }
            (known, new) if *known == new => return,
            _ => {}
        }
    }
    all.push(new);
}
