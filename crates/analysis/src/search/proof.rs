//! In which order are a base and its nudges searched, and does the nudge move the maximum?

use super::track::SearchTrack;
use super::{NextStep, answer, next};
use crate::strategy::SplitMix64;
use model::plan::MaxSearch;
use model::search::{
    Knob, LevelOutcome, Limit, Perturbation, Proof, ProofVerdict, SearchResult, SearchStep, StepResult,
};

/// One search among several.
#[derive(Clone, Copy, Debug)]
pub struct SearchRun<'a> {
    pub max: &'a MaxSearch,
    /// The first level.
    pub start: f64,
    pub perturbation: Option<&'a Perturbation>,
    pub round: u32,
    /// Its trials so far.
    pub done: &'a [StepResult],
}

/// The next step of all `subjects`, and whose it is; `None` when all are done.
///
/// Each takes one step, in an order by `seed`, then each the next one in another order, so that a machine that drifts
/// drifts for all of them. A function of how many trials each has: a broken search goes on where it stopped.
pub fn interleave(subjects: &[SearchRun<'_>], seed: u64) -> Option<(usize, SearchStep)> {
    let step = |it: &SearchRun<'_>| match next(it.max, it.start, it.done) {
        NextStep::Measure(step) => {
            Some(SearchStep { perturbation: it.perturbation.cloned(), round: it.round, ..step })
        }
        NextStep::Done => None,
    };
    let open: Vec<(usize, SearchStep)> =
        subjects.iter().enumerate().filter_map(|(n, it)| Some((n, step(it)?))).collect();
    let turn = open.iter().map(|it| subjects[it.0].done.len()).min()?;
    let mut chance = SplitMix64(seed ^ (turn as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut order: Vec<usize> = (0..subjects.len()).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, chance.below(last as u64 + 1) as usize);
    }
    let first =
        order.into_iter().find(|n| subjects[*n].done.len() == turn && open.iter().any(|it| it.0 == *n))?;
    open.into_iter().find(|it| it.0 == first)
}

/// An elasticity whose whole interval is above it limits, below it does not. A bystander has 0, the one limit 1; two in a
/// row, each with half of the time, have a half each. With a quarter more of it, a maximum known to ± 5 % and another one
/// like it, a bystander reaches this with its whole interval once in 10⁵.
const ELASTICITY_MIN: f64 = 0.3;
/// The same of a switch, for the ratio of maxima: ten per cent more is more than two answers may differ by chance.
const SWITCH_RATIO_MIN: f64 = 1.1;
/// Of either kind, before a verdict may be plain.
const VOTES_MIN: usize = 2;
/// Pairs of maxima drawn.
const DRAWS: usize = 4000;
/// Quantile of the normal distribution at 97.5 %.
const Z: f64 = 1.959_964;

/// Whether `nudge`, which would be the cause if `limit` were, moved the maximum; by the trials of the base and of the
/// changed subject, measured beside each other.
///
/// Of searches that were ended because it [`is_plain`], the levels are where their votes say that the edge is.
pub fn proof(
    limit: Limit,
    nudge: &Perturbation,
    base: &[StepResult],
    changed: &[StepResult],
    max: &MaxSearch,
    seed: u64,
) -> Proof {
    let plain = is_decided(nudge, base, changed, max);
    let [base, changed] = [base, changed].map(|done| {
        let ended = answer(max, done);
        match edge(max, done).filter(|_| plain && ended.level.is_none()) {
            Some((level, interval)) => {
                SearchResult { level: Some(level), interval: Some(interval), stop_reason: None, ..ended }
            }
            None => ended,
        }
    });
    prove(limit, nudge.clone(), base, changed, seed)
}

/// Whether the verdict is plain before both have come to their ends: wherever the edges are within their intervals, it is the
/// same. Both need some votes of either kind, for the belief of a few is a guess.
pub fn is_decided(
    nudge: &Perturbation,
    base: &[StepResult],
    changed: &[StepResult],
    max: &MaxSearch,
) -> bool {
    let enough = |done: &&[StepResult]| {
        let held = done.iter().filter(|it| it.outcome == LevelOutcome::Yes).count();
        let broke = done.iter().filter(|it| matches!(it.outcome, LevelOutcome::No { .. })).count();
        held >= VOTES_MIN && broke >= VOTES_MIN
    };
    if ![base, changed].iter().all(enough) {
        return false;
    }
    let Some((base, changed)) = edge(max, base).zip(edge(max, changed)) else { return false };
    let ((base_low, base_high), (changed_low, changed_high)) = (base.1, changed.1);
    let bounds = ((changed_low / base_high).ln(), (changed_high / base_low).ln());
    let (least, most, bound) = match nudge.amount.map(|(from, to)| (to / from).ln()) {
        Some(turned) => {
            let bounds = (bounds.0 / turned, bounds.1 / turned);
            (bounds.0.min(bounds.1), bounds.0.max(bounds.1), ELASTICITY_MIN)
        }
        None if should_fall(nudge) => ((-bounds.1).exp(), (-bounds.0).exp(), SWITCH_RATIO_MIN),
        None => (bounds.0.exp(), bounds.1.exp(), SWITCH_RATIO_MIN),
    };
    least > bound || most < bound
}

/// Where a search's votes say that the edge is, ended or not.
fn edge(max: &MaxSearch, done: &[StepResult]) -> Option<(f64, (f64, f64))> {
    let track = SearchTrack::new(max, done.first()?.step.level, done);
    Some((track.belief()?.quantile(0.5), track.interval()?))
}

/// The same by two answers, such as those of several rounds together.
pub fn prove(
    limit: Limit,
    nudge: Perturbation,
    base: SearchResult,
    changed: SearchResult,
    seed: u64,
) -> Proof {
    let levels = base.level.zip(changed.level).filter(|it| it.0 > 0.0 && it.1 > 0.0);
    let logs = levels.map(|(base, changed)| (changed / base).ln());
    let interval = logs.and_then(|_| difference_interval(&base, &changed, seed));
    let turned = nudge.amount.map(|(from, to)| (to / from).ln()).filter(|it| it.is_finite() && *it != 0.0);
    let elasticity = logs.zip(turned).map(|(log, turned)| {
        let bounds = interval.map(|(low, high)| (low / turned, high / turned));
        (log / turned, bounds.map(|it| (it.0.min(it.1), it.0.max(it.1))))
    });
    let ratio = logs.map(|log| (log.exp(), interval.map(|(low, high)| (low.exp(), high.exp()))));
    let (of, bound) =
        if nudge.amount.is_some() { (elasticity, ELASTICITY_MIN) } else { (ratio, SWITCH_RATIO_MIN) };
    let of = if should_fall(&nudge) { inverse(of) } else { of };
    let verdict = match of.and_then(|it| it.1) {
        Some((low, _)) if low > bound => ProofVerdict::Limits,
        Some((_, high)) if high < bound => ProofVerdict::DoesNotLimit,
        _ => ProofVerdict::Undecided,
    };
    Proof { limit, perturbation: nudge, base, changed, ratio, elasticity, verdict }
}

/// A value and its interval.
type Estimate = (f64, Option<(f64, f64)>);

/// A cache holds the maximum up: with all of the table's rows it falls, if a cache was what was measured.
fn should_fall(nudge: &Perturbation) -> bool {
    nudge.amount.is_none() && matches!(nudge.knob, Knob::FeedRows { .. })
}

fn inverse(of: Option<Estimate>) -> Option<Estimate> {
    of.map(|(value, interval)| (1.0 / value, interval.map(|(low, high)| (1.0 / high, 1.0 / low))))
}

/// The middle 95 % of ln changed − ln base, by drawing both; it holds what was found.
fn difference_interval(base: &SearchResult, changed: &SearchResult, seed: u64) -> Option<(f64, f64)> {
    let mut chance = SplitMix64(seed);
    let mut all = Vec::with_capacity(DRAWS);
    for _ in 0..DRAWS {
        all.push((draw_level(changed, &mut chance)? / draw_level(base, &mut chance)?).ln());
    }
    all.sort_by(f64::total_cmp);
    let found = (changed.level? / base.level?).ln();
    let beyond = DRAWS / 40;
    Some((all[beyond].min(found), all[DRAWS - 1 - beyond].max(found)))
}

/// A level, as likely as its answer says: normal in logarithms around the one that was found, as wide as the interval.
pub(super) fn draw_level(it: &SearchResult, chance: &mut SplitMix64) -> Option<f64> {
    let (level, (low, high)) = (it.level?, it.interval?);
    let deviation = (high / low).ln() / 2.0 / Z;
    Some(level * (deviation * chance.normal()).exp())
}

#[cfg(test)]
mod tests;
