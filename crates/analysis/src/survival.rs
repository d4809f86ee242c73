//! What do a cell's trials with faults say together, beside its positive control?
//!
//! A trial alone proves nothing by losing nothing: its set-up may be one in which nothing can be lost. Its verdict says so
//! ([`Doubt::NoControl`]); here that is answered for the whole cell, by its control or by what the cell itself has lost.

#[cfg(test)]
mod tests;

use crate::durability::{bound, conclude, is_sound};
use model::Nanos;
use model::durability::{Conclusion, Counts, Doubt, EXAMPLES, Found, Kind, Outage, RecoveryPoint, Verdict};
use model::ordeal::{Controlled, Inflicted, Ordeal, Promoted, Spread, Survival};
use model::plan::{Deed, Experiment};
use std::collections::BTreeMap;

/// Of every cell that is no control and was measured with faults or a ledger, in the order of cells. `trials`: cells with
/// what their trials went through, in the order in which these began.
pub fn all(experiment: &Experiment, trials: &[(usize, &Ordeal)]) -> Vec<Survival> {
    let of_cell =
        |cell: usize| trials.iter().filter(|it| it.0 == cell).map(|it| it.1).collect::<Vec<&Ordeal>>();
    let ordinary = |cell: &usize| experiment.cells[*cell].control_of.is_none();
    let survival = |cell: usize| {
        let control = experiment.control(cell).map(|it| (it, of_cell(it)));
        of(cell, &of_cell(cell), control.as_ref().map(|it| (it.0, it.1.as_slice())))
    };
    (0..experiment.cells.len()).filter(ordinary).filter_map(survival).collect()
}

/// Of one cell. `control`: the cell that is its control, and its trials. `None` without a trial.
pub fn of(cell: usize, trials: &[&Ordeal], control: Option<(usize, &[&Ordeal])>) -> Option<Survival> {
    trials.first()?;
    let verdicts: Vec<&Verdict> = trials.iter().filter_map(|it| it.verdict.as_ref()).collect();
    let control = control.filter(|it| !it.1.is_empty()).map(|(cell, trials)| controlled(cell, trials));
    let failovers = trials.iter().map(|it| failovers(it)).sum();
    let mut doubts = Vec::new();
    for it in verdicts.iter().flat_map(|it| &it.doubts).filter(|it| !is_of_control(it)) {
        merge(&mut doubts, *it);
    }
    let is_whole = verdicts.len() == trials.len();
    if !verdicts.is_empty() && !is_whole {
        merge(&mut doubts, Doubt::NotRead);
    }
    let done = trials.iter().filter(|it| is_done(it)).count() as u32;
    if !verdicts.is_empty() && done == 0 {
        merge(&mut doubts, Doubt::NoFault);
    }
    let conclusions: Vec<Conclusion> = verdicts.iter().map(|it| alone(it)).collect();
    // What was lost here has been seen to be lost.
    let is_seen = verdicts.iter().any(|it| losses(it) > 0) || control.is_some_and(|it| it.lossy > 0);
    if !verdicts.is_empty() && !is_seen {
        doubts.push(if control.is_some() { Doubt::ControlLostNothing } else { Doubt::NoControl });
    }
    let conclusion = if conclusions.contains(&Conclusion::Broken) {
        Conclusion::Broken
    } else if conclusions.contains(&Conclusion::Unknown) || !is_whole || !is_seen || done == 0 {
        Conclusion::Unknown
    } else {
        Conclusion::Kept
    };
    let times = |of: &dyn Fn(&Ordeal) -> Vec<Nanos>| spread(trials.iter().flat_map(|it| of(it)).collect());
    Some(Survival {
        cell,
        trials: done,
        failovers,
        conclusion: (!verdicts.is_empty()).then_some(conclusion),
        bound: bound(failovers),
        counts: verdicts.iter().fold(Counts::default(), |all, it| sum(all, it.counts)),
        lost: verdicts.iter().map(|it| losses(it)).sum(),
        found: found(&verdicts),
        doubts,
        recovery_point: worst(&verdicts),
        outage: times(&|it| longest_outage(it).into_iter().collect()),
        promoted: times(&|it| since_fault(it, |promoted| Some(promoted.at))),
        healthy: times(&|it| since_fault(it, |promoted| promoted.healthy)),
        rejoined: times(&rejoining),
        control,
    })
}

/// What the verdict says when nobody asks for a control.
fn alone(it: &Verdict) -> Conclusion {
    let doubts: Vec<Doubt> = it.doubts.iter().filter(|it| !is_of_control(it)).copied().collect();
    conclude(&it.findings, &doubts)
}

fn is_of_control(it: &Doubt) -> bool {
    matches!(it, Doubt::NoControl | Doubt::ControlLostNothing)
}

/// Acknowledged writes that are gone, whatever had been promised; none where the evidence contradicts itself.
fn losses(it: &Verdict) -> u64 {
    let is_loss = |kind| matches!(kind, Kind::Lost | Kind::LostAmbiguous | Kind::LostUnpromised);
    let found = it.findings.iter().filter(|it| is_loss(it.kind)).map(|it| it.count);
    if is_sound(&it.doubts) { found.sum() } else { 0 }
}

fn controlled(cell: usize, trials: &[&Ordeal]) -> Controlled {
    let lost: Vec<u64> = trials.iter().map(|it| it.verdict.as_ref().map_or(0, losses)).collect();
    Controlled {
        cell,
        trials: trials.iter().filter(|it| is_done(it)).count() as u32,
        lossy: lost.iter().filter(|it| **it > 0).count() as u32,
        lost: lost.iter().sum(),
    }
}

/// Whether all that was to be done to the system was done, and something was.
fn is_done(it: &Ordeal) -> bool {
    !it.inflicted.is_empty() && it.inflicted.iter().all(|it| !it.nodes.is_empty())
}

/// By timelines where there is a ledger, which sees them; else by who took writes.
fn failovers(it: &Ordeal) -> u32 {
    it.verdict.as_ref().map_or(it.promoted.len() as u32, |it| it.failovers)
}

fn longest_outage(it: &Ordeal) -> Option<Nanos> {
    it.verdict.iter().flat_map(|it| &it.outages).map(|it: &Outage| it.to - it.from).max()
}

/// How long old primaries took; replicas that had strayed rejoin too, and are another matter.
fn rejoining(it: &Ordeal) -> Vec<Nanos> {
    let was_primary = |name: &str| it.promoted.iter().any(|it| it.from == name);
    it.rejoined.iter().filter(|it| was_primary(&it.node)).map(|it| it.took).collect()
}

/// How long after its fault each new primary came to something.
fn since_fault(it: &Ordeal, moment: impl Fn(&Promoted) -> Option<Nanos>) -> Vec<Nanos> {
    let since = |promoted: &Promoted| {
        let at = moment(promoted)?;
        Some(at - cause(it, promoted)?.at)
    };
    it.promoted.iter().filter_map(since).collect()
}

/// The last deed before it to the server that it follows; where that is not known, the last one of all. A log that is
/// withheld makes nobody primary.
fn cause<'a>(of: &'a Ordeal, promoted: &Promoted) -> Option<&'a Inflicted> {
    let may_be = |it: &&Inflicted| {
        !it.nodes.is_empty() && it.at <= promoted.at && !matches!(it.deed, Deed::Withhold { .. })
    };
    let before: Vec<&Inflicted> = of.inflicted.iter().filter(may_be).collect();
    let to_it = before.iter().rfind(|it| it.nodes.contains(&promoted.from));
    to_it.or(before.last()).copied()
}

/// The middle of an even number is that between the two.
fn spread(mut all: Vec<Nanos>) -> Option<Spread> {
    all.sort_unstable();
    let (least, greatest) = (*all.first()?, *all.last()?);
    let (lower, upper) = (all[(all.len() - 1) / 2], all[all.len() / 2]);
    Some(Spread { least, median: Nanos(lower.0 + (upper.0 - lower.0) / 2), greatest })
}

fn sum(a: Counts, b: Counts) -> Counts {
    Counts {
        acknowledged: a.acknowledged + b.acknowledged,
        local: a.local + b.local,
        failed: a.failed + b.failed,
        unknown: a.unknown + b.unknown,
        unknown_present: a.unknown_present + b.unknown_present,
        untold: a.untold + b.untold,
        misrouted: a.misrouted + b.misrouted,
    }
}

/// Each kind once, the worst first.
fn found(verdicts: &[&Verdict]) -> Vec<Found> {
    let mut all: BTreeMap<Kind, Found> = BTreeMap::new();
    for it in verdicts.iter().flat_map(|it| &it.findings) {
        let none = || Found { kind: it.kind, count: 0, examples: Vec::new() };
        let known = all.entry(it.kind).or_insert_with(none);
        known.count += it.count;
        let room = EXAMPLES - known.examples.len();
        known.examples.extend(it.examples.iter().take(room));
    }
    all.into_values().collect()
}

/// Of the first of those that lost most.
fn worst(verdicts: &[&Verdict]) -> Option<RecoveryPoint> {
    verdicts.iter().rev().filter_map(|it| it.recovery_point).max_by_key(|it| it.count)
}

/// Adds a doubt: what is counted adds up, everything else stands once.
fn merge(all: &mut Vec<Doubt>, new: Doubt) {
    use Doubt::{LedgerContradictsItself, LedgerHasGaps, LedgerTorn, PromiseUnknown, YoungerThanReadings};
    for known in all.iter_mut() {
        match (known, new) {
            (YoungerThanReadings { count: known }, YoungerThanReadings { count: more })
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
