//! Combined result of several rounds of one search

use super::proof::draw_level;
use crate::stats::quantile::median;
use model::search::{LevelTrials, OverloadReason, SearchResult, SearchStopReason};
use model::{Nanos, SplitMix64};

/// Number of resamples.
const DRAWS: usize = 4000;

/// Combined result of all rounds: the median of their levels with its 95 % interval. The interval is computed by
/// resampling rounds and drawing each level from its own interval. With fewer than three rounds, the combined interval
/// also contains the intervals of all rounds, because two rounds do not show the variation between rounds.
///
/// If more than half of the rounds have no level, the combined result has no level either. It has the most frequent
/// stop reason.
///
/// # Panics
/// Panics if `rounds` is empty.
pub fn combine(rounds: &[SearchResult], seed: u64) -> SearchResult {
    let first = rounds.first().expect("there is a round");
    let known: Vec<&SearchResult> = rounds.iter().filter(|it| it.level.is_some()).collect();
    let mut all = SearchResult {
        scale: first.scale,
        level: None,
        interval: None,
        delivered: None,
        confirmations: rounds
            .iter()
            .fold((0, 0), |sum, it| (sum.0 + it.confirmations.0, sum.1 + it.confirmations.1)),
        overload: most_frequent(rounds.iter().filter_map(|it| it.overload.as_ref()), OverloadReason::clone),
        stop_reason: most_frequent(
            rounds.iter().filter_map(|it| it.stop_reason.as_ref()),
            SearchStopReason::clone,
        ),
        sustained: None,
        failed: None,
        fully_sustained: None,
        trials: rounds.iter().map(|it| it.trials).sum(),
        measured: rounds.iter().fold(Nanos::ZERO, |sum, it| sum + it.measured),
    };
    let lowest =
        |levels: &mut dyn Iterator<Item = LevelTrials>| levels.min_by(|a, b| a.level.total_cmp(&b.level));
    all.sustained = lowest(&mut rounds.iter().filter_map(|it| it.sustained));
    all.fully_sustained = lowest(&mut rounds.iter().filter_map(|it| it.fully_sustained));
    let above = |it: &LevelTrials| all.sustained.is_none_or(|sustained| it.level > sustained.level);
    all.failed = lowest(&mut rounds.iter().filter_map(|it| it.failed).filter(above));
    if known.len() * 2 <= rounds.len() {
        return all;
    }
    all.level = median(known.iter().filter_map(|it| it.level));
    all.delivered = median(known.iter().filter_map(|it| it.delivered).map(|it| it.0)).map(model::PerSecond);
    // Report a stop reason only if every round with a level has a stop reason.
    if known.iter().any(|it| it.stop_reason.is_none()) {
        all.stop_reason = None;
    }
    all.interval = interval(&known, seed);
    all
}

fn interval(known: &[&SearchResult], seed: u64) -> Option<(f64, f64)> {
    if known.iter().any(|it| it.interval.is_none()) {
        return None;
    }
    if let [one] = known {
        return one.interval;
    }
    let mut rng = SplitMix64(seed);
    let mut medians: Vec<f64> = (0..DRAWS)
        .filter_map(|_| {
            let drawn = (0..known.len()).filter_map(|_| {
                let one = known[rng.below(known.len() as u64) as usize];
                draw_level(one, &mut rng)
            });
            median(drawn)
        })
        .collect();
    medians.sort_by(f64::total_cmp);
    let beyond = medians.len() / 40;
    let (mut low, mut high) = (*medians.get(beyond)?, medians[medians.len() - 1 - beyond]);
    if known.len() < 3 {
        let bounds = known.iter().filter_map(|it| it.interval);
        (low, high) = bounds.fold((low, high), |all, it| (all.0.min(it.0), all.1.max(it.1)));
    }
    let level = median(known.iter().filter_map(|it| it.level))?;
    Some((low.min(level), high.max(level)))
}

/// Returns the first element whose enum variant is the most frequent, cloned with `copy`.
fn most_frequent<'a, T: 'a>(all: impl Iterator<Item = &'a T>, copy: impl Fn(&T) -> T) -> Option<T> {
    let all: Vec<&T> = all.collect();
    let kind = std::mem::discriminant::<T>;
    let often = |it: &T| all.iter().filter(|other| kind(other) == kind(it)).count();
    let greatest = all.iter().map(|it| often(it)).max()?;
    all.iter().find(|it| often(it) == greatest).map(|it| copy(it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::PerSecond;
    use model::plan::LoadScale;

    fn round(level: Option<f64>, half: f64) -> SearchResult {
        SearchResult {
            scale: LoadScale::Rate,
            level,
            interval: level.map(|it| (it * (1.0 - half), it * (1.0 + half))),
            delivered: level.map(PerSecond),
            confirmations: (1, 1),
            overload: None,
            stop_reason: level.is_none().then_some(SearchStopReason::Generator),
            sustained: None,
            failed: None,
            fully_sustained: None,
            trials: 10,
            measured: Nanos::from_secs(200),
        }
    }

    #[test]
    fn combines_rounds_by_median() {
        for (levels, expected) in [
            (vec![Some(100.0)], (Some(100.0), None)),
            (vec![Some(100.0), Some(104.0)], (Some(102.0), None)),
            (vec![Some(100.0), Some(104.0), Some(101.0)], (Some(101.0), None)),
            // One round of three without a level does not matter, but half of the rounds do.
            (vec![Some(100.0), None, Some(104.0)], (Some(102.0), None)),
            (vec![Some(100.0), None], (None, Some(SearchStopReason::Generator))),
            (vec![None, None], (None, Some(SearchStopReason::Generator))),
        ] {
            let rounds: Vec<SearchResult> = levels.iter().map(|it| round(*it, 0.03)).collect();
            let combined = combine(&rounds, 7);
            assert_eq!((combined.level, combined.stop_reason), expected, "{levels:?}");
            assert_eq!(combined.trials, 10 * rounds.len() as u32);
            assert_eq!(combined.interval.is_some(), combined.level.is_some());
        }
        let one = combine(&[round(Some(100.0), 0.03)], 7).interval;
        assert_eq!(one, Some((97.0, 103.0)), "one round's own interval");
        let (low, high) = combine(&[round(Some(90.0), 0.02), round(Some(110.0), 0.02)], 7)
            .interval
            .expect("two rounds have an interval");
        assert!(low <= 88.2 + 1e-9 && high >= 112.2 - 1e-9, "{low} {high}: the interval covers both rounds");
    }

    /// Each round has an error of 2 %, equal to its interval. The system is constant or varies by 2 %.
    #[test]
    fn interval_covers_the_truth() {
        for (rounds, differ, least) in
            [(2, 0.0, 0.95), (3, 0.0, 0.93), (5, 0.0, 0.93), (3, 0.02, 0.88), (5, 0.02, 0.9)]
        {
            let mut rng = SplitMix64(11);
            let held = (0..300u64).filter(|seed| {
                let all: Vec<SearchResult> = (0..rounds)
                    .map(|_| {
                        let error = (0.02f64.powi(2) + f64::powi(differ, 2)).sqrt() * rng.normal();
                        round(Some(100.0 * (1.0 + error)), 1.96 * 0.02)
                    })
                    .collect();
                let (low, high) = combine(&all, *seed).interval.expect("all rounds have an interval");
                low <= 100.0 && 100.0 <= high
            });
            let share = held.count() as f64 / 300.0;
            assert!(share >= least, "{rounds} rounds that differ by {differ}: {share}");
        }
    }
}
