//! Interleaved searches of a base cell and its perturbations, and the proof that a perturbation moves the maximum

use super::track::SearchTrack;
use super::{NextStep, answer, next};
use model::SplitMix64;
use model::plan::MaxSearch;
use model::search::{
    Knob, LevelOutcome, Limit, Perturbation, Proof, ProofVerdict, SearchResult, SearchStep, StepResult,
};

/// Search of one subject.
#[derive(Clone, Copy, Debug)]
pub struct SearchRun<'a> {
    pub max: &'a MaxSearch,
    /// First level.
    pub start: f64,
    pub perturbation: Option<&'a Perturbation>,
    pub round: u32,
    /// Trials of this search so far.
    pub done: &'a [StepResult],
}

/// Next step over all `subjects`, and the index of its subject; `None` if all searches have ended.
///
/// Each subject takes one step, in an order determined by `seed`. Then each subject takes its next step, in another
/// order. Drift of the machine thus affects all subjects alike. The result depends only on the trials so far, so an
/// interrupted search resumes where it stopped.
pub fn interleave(subjects: &[SearchRun<'_>], seed: u64) -> Option<(usize, SearchStep)> {
    let step = |search: &SearchRun<'_>| match next(search.max, search.start, search.done) {
        NextStep::Measure(step) => {
            Some(SearchStep { perturbation: search.perturbation.cloned(), round: search.round, ..step })
        }
        NextStep::Done => None,
    };
    let open: Vec<(usize, SearchStep)> =
        subjects.iter().enumerate().filter_map(|(n, it)| Some((n, step(it)?))).collect();
    let fewest = open.iter().map(|it| subjects[it.0].done.len()).min()?;
    let mut rng = SplitMix64(seed ^ (fewest as u64).wrapping_mul(SplitMix64::STEP));
    let mut order: Vec<usize> = (0..subjects.len()).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, rng.below(last as u64 + 1) as usize);
    }
    let first =
        order.into_iter().find(|n| subjects[*n].done.len() == fewest && open.iter().any(|it| it.0 == *n))?;
    open.into_iter().find(|it| it.0 == first)
}

/// Elasticity that separates limiters from other resources. A limit is proven if the elasticity's whole interval is
/// above this value, and excluded if the whole interval is below this value. The elasticity is 0 for an unrelated
/// resource and 1 for the only limiter. Two limiters in series, in each of which a transaction spends half of its time,
/// have 0.5 each. If a quota is raised by a quarter and both maxima are known to ± 5 %, the interval of an unrelated
/// resource exceeds this value once in 10⁵ cases.
const ELASTICITY_MIN: f64 = 0.3;
/// Ratio of maxima above which the perturbation of a switch counts as having moved the maximum. Chance does not explain
/// a rise of 10 %.
const SWITCH_RATIO_MIN: f64 = 1.1;
/// Minimum number of trials that held, and of trials that did not, before a verdict may be decided early.
const VOTES_MIN: usize = 2;
/// Number of random pairs of maxima that are drawn.
const DRAWS: usize = 4000;
/// Quantile of the normal distribution at 97.5 %.
const Z: f64 = 1.959_964;

/// Verdict on whether this perturbation moved the maximum, which proves or excludes `limit` as the cause. It uses the
/// interleaved trials of the base and of the perturbed subject.
///
/// If the searches ended early because the verdict [`is_decided`], the estimated edges replace their levels.
pub fn proof(
    limit: Limit,
    perturbation: &Perturbation,
    base: &[StepResult],
    changed: &[StepResult],
    max: &MaxSearch,
    seed: u64,
) -> Proof {
    let plain = is_decided(perturbation, base, changed, max);
    let [base, changed] = [base, changed].map(|done| {
        let ended = answer(max, done);
        match edge(max, done).filter(|_| plain && ended.level.is_none()) {
            Some((level, interval)) => {
                SearchResult { level: Some(level), interval: Some(interval), stop_reason: None, ..ended }
            }
            None => ended,
        }
    });
    prove(limit, perturbation.clone(), base, changed, seed)
}

/// True if the verdict is certain before both searches end, because it is the same for all maxima within their
/// intervals. Both searches need trials that held and trials that did not, because an estimate from few trials is
/// unreliable.
pub fn is_decided(
    perturbation: &Perturbation,
    base: &[StepResult],
    changed: &[StepResult],
    max: &MaxSearch,
) -> bool {
    let enough = |done: &&[StepResult]| {
        let held = done.iter().filter(|it| it.outcome == LevelOutcome::Sustained).count();
        let broke = done.iter().filter(|it| matches!(it.outcome, LevelOutcome::NotSustained { .. })).count();
        held >= VOTES_MIN && broke >= VOTES_MIN
    };
    if ![base, changed].iter().all(enough) {
        return false;
    }
    let Some((base, changed)) = edge(max, base).zip(edge(max, changed)) else { return false };
    let ((base_low, base_high), (changed_low, changed_high)) = (base.1, changed.1);
    let bounds = ((changed_low / base_high).ln(), (changed_high / base_low).ln());
    let (least, most, bound) = match perturbation.ratio().map(f64::ln) {
        Some(change) => {
            let bounds = (bounds.0 / change, bounds.1 / change);
            (bounds.0.min(bounds.1), bounds.0.max(bounds.1), ELASTICITY_MIN)
        }
        None if should_fall(perturbation) => ((-bounds.1).exp(), (-bounds.0).exp(), SWITCH_RATIO_MIN),
        None => (bounds.0.exp(), bounds.1.exp(), SWITCH_RATIO_MIN),
    };
    least > bound || most < bound
}

/// Level at which half of the trials hold, with its interval. It is estimated from all trials of a search, which need
/// not have ended.
fn edge(max: &MaxSearch, done: &[StepResult]) -> Option<(f64, (f64, f64))> {
    let track = SearchTrack::new(max, done.first()?.step.level, done);
    Some((track.belief()?.quantile(0.5), track.interval()?))
}

/// Verdict from two search results, such as the combined results of several rounds.
pub fn prove(
    limit: Limit,
    perturbation: Perturbation,
    base: SearchResult,
    perturbed: SearchResult,
    seed: u64,
) -> Proof {
    let levels = base.level.zip(perturbed.level).filter(|it| it.0 > 0.0 && it.1 > 0.0);
    let logs = levels.map(|(base, changed)| (changed / base).ln());
    let interval = logs.and_then(|_| difference_interval(&base, &perturbed, seed));
    let change = perturbation.ratio().map(f64::ln).filter(|it| it.is_finite() && *it != 0.0);
    let elasticity = logs.zip(change).map(|(log, change)| {
        let bounds = interval.map(|(low, high)| (low / change, high / change));
        (log / change, bounds.map(|it| (it.0.min(it.1), it.0.max(it.1))))
    });
    let ratio = logs.map(|log| (log.exp(), interval.map(|(low, high)| (low.exp(), high.exp()))));
    let (effect, bound) =
        if perturbation.ratio().is_some() { (elasticity, ELASTICITY_MIN) } else { (ratio, SWITCH_RATIO_MIN) };
    let effect = if should_fall(&perturbation) { inverse(effect) } else { effect };
    let verdict = match effect.and_then(|it| it.1) {
        Some((low, _)) if low > bound => ProofVerdict::Limits,
        Some((_, high)) if high < bound => ProofVerdict::DoesNotLimit,
        _ => ProofVerdict::Undecided,
    };
    Proof { limit, perturbation, base, perturbed, ratio, elasticity, verdict }
}

/// A value and its interval.
type Estimate = (f64, Option<(f64, f64)>);

/// True if the perturbation should lower the maximum. This applies to a request for all rows of the table, if the
/// feed's original rows fit in the cache.
fn should_fall(perturbation: &Perturbation) -> bool {
    perturbation.amount.is_none() && matches!(perturbation.knob, Knob::FeedRows { .. })
}

fn inverse(estimate: Option<Estimate>) -> Option<Estimate> {
    estimate.map(|(value, interval)| (1.0 / value, interval.map(|(low, high)| (1.0 / high, 1.0 / low))))
}

/// Middle 95 % of ln changed − ln base over random draws of both maxima, extended to include the estimate.
fn difference_interval(base: &SearchResult, changed: &SearchResult, seed: u64) -> Option<(f64, f64)> {
    let mut rng = SplitMix64(seed);
    let mut all = Vec::with_capacity(DRAWS);
    for _ in 0..DRAWS {
        all.push((draw_level(changed, &mut rng)? / draw_level(base, &mut rng)?).ln());
    }
    all.sort_by(f64::total_cmp);
    let found = (changed.level? / base.level?).ln();
    let beyond = DRAWS / 40;
    Some((all[beyond].min(found), all[DRAWS - 1 - beyond].max(found)))
}

/// Random level from a log-normal distribution around the result's level, with the width of the result's interval.
pub(super) fn draw_level(result: &SearchResult, rng: &mut SplitMix64) -> Option<f64> {
    let (level, (low, high)) = (result.level?, result.interval?);
    let deviation = (high / low).ln() / 2.0 / Z;
    Some(level * (deviation * rng.normal()).exp())
}

#[cfg(test)]
mod tests;
