//! Change points in the history of an experiment's figures
//!
//! The algorithm is E-divisive means. It cuts a series at the position at which the distances between values on
//! different sides exceed those between values on the same side the most. The cut counts only if permutations of the
//! values almost never reach the same excess. The algorithm then cuts each part again, until no cut is found. It
//! assumes only that runs of an unchanged system are exchangeable, so a drift of the machine counts as a change too.
//! Source: Matteson and James, "A Nonparametric Approach for Multiple Change Point Analysis of Multivariate Data"
//! (2014), with exponent 1.

use crate::present::compare::{RunEnvironment, TrialFigures, differences, figure_values};
use crate::stats::quantile::median;
use crate::stats::repeats;
use model::comparison::{
    CellHistory, CellLabel, ChangePoint, DatedRun, Difference, HistoryPoint, Metric, RunHistory,
};
use model::plan::Experiment;
use model::{PerSecond, SplitMix64};

/// Minimum number of runs on either side of a change. With fewer runs, too many permutations are as extreme as the
/// actual order.
pub const RUNS_MIN: usize = 5;
/// Number of permutations per test.
const DRAWS: usize = 1999;
/// Significance level of all series of a history together (Bonferroni).
const LEVEL: f64 = 0.05;

/// One run of the experiment.
#[derive(Clone, Debug)]
pub struct HistoryRun<'a> {
    pub dated: DatedRun,
    pub experiment: &'a Experiment,
    pub environment: RunEnvironment<'a>,
    /// Figures of the valid trials, by cell.
    pub trials: Vec<Vec<TrialFigures>>,
}

/// History of the runs, which must be in order of time, oldest first.
pub fn history(experiment: &str, runs: &[HistoryRun<'_>], seed: u64) -> RunHistory {
    let mut labels: Vec<&CellLabel> = Vec::new();
    // Cells in the order of the newest run, followed by cells that the newest run does not have.
    for cell in runs.iter().rev().flat_map(|it| &it.experiment.cells) {
        if !labels.contains(&&cell.label) {
            labels.push(&cell.label);
        }
    }
    let level = LEVEL / (2 * labels.len().max(1)) as f64;
    RunHistory {
        experiment: experiment.to_owned(),
        runs: runs.iter().map(|it| it.dated.clone()).collect(),
        series: labels.into_iter().map(|it| cell_history(it, runs, level, seed)).collect(),
        seed,
    }
}

fn cell_history(label: &CellLabel, runs: &[HistoryRun<'_>], level: f64, seed: u64) -> CellHistory {
    let mut points = Vec::new();
    // Run and cell of each point.
    let mut places = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        let Some(place) = run.experiment.cells.iter().position(|it| it.label == *label) else { continue };
        let trials = &run.trials[place];
        let level = |metric| {
            let values = figure_values(trials, metric, None);
            repeats::estimate(&values.iter().map(|it| it.value).collect::<Vec<_>>())
        };
        let Some(estimate) = level(Metric::Tps) else { continue };
        let of_p99 = level(Metric::P99);
        places.push((number, place));
        points.push(HistoryPoint {
            run: number,
            trials: estimate.runs,
            tps: PerSecond(estimate.median),
            tps_interval: estimate.interval,
            p99: of_p99.map(|it| it.median),
            p99_interval: of_p99.and_then(|it| it.interval),
        });
    }
    let mut changes = Vec::new();
    for metric in [Metric::Tps, Metric::P99] {
        let value = |it: &HistoryPoint| if metric == Metric::Tps { Some(it.tps.0) } else { it.p99 };
        let known: Vec<(usize, f64)> =
            points.iter().enumerate().filter_map(|(n, it)| Some((n, value(it)?))).collect();
        let values: Vec<f64> = known.iter().map(|it| it.1).collect();
        // Use logarithms, so that doubling from 1 ms counts as much as doubling from 100 ms.
        let logs: Vec<f64> = values.iter().map(|it| it.max(f64::MIN_POSITIVE).ln()).collect();
        let found = change_points(&logs, level, DRAWS, seed);
        let ends: Vec<usize> = found.iter().map(|it| it.at).collect();
        for (n, change) in found.iter().enumerate() {
            let from = if n == 0 { 0 } else { ends[n - 1] };
            let to = ends.get(n + 1).copied().unwrap_or(values.len());
            let median = |part: &[f64]| median(part.iter().copied()).unwrap_or(f64::NAN);
            let point = known[change.at].0;
            changes.push(ChangePoint {
                metric,
                point,
                before: median(&values[from..change.at]),
                after: median(&values[change.at..to]),
                p: change.p,
                differences: differences_between(runs, places[known[change.at - 1].0], places[point]),
            });
        }
    }
    changes.sort_by_key(|it| (it.point, it.metric));
    let too_few_points = points.len() < 2 * RUNS_MIN;
    CellHistory { label: label.clone(), points, changes, too_few_points }
}

fn differences_between(
    runs: &[HistoryRun<'_>],
    before: (usize, usize),
    after: (usize, usize),
) -> Vec<Difference> {
    let setup_of = |(run, cell): (usize, usize)| (runs[run].experiment, runs[run].environment, cell);
    differences(setup_of(before), setup_of(after), &[])
}

/// Position of a cut. `at` is the index of the first value after the cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePosition {
    pub at: usize,
    pub p: f64,
}

/// Cuts in ascending order. A cut counts if at most a share `level` of the `draws` permutations has an equally strong
/// cut. `seed` determines the permutations.
pub fn change_points(values: &[f64], level: f64, draws: usize, seed: u64) -> Vec<ChangePosition> {
    let mut rng = SplitMix64(seed);
    let mut cuts: Vec<ChangePosition> = Vec::new();
    loop {
        let mut ends: Vec<usize> = cuts.iter().map(|it| it.at).chain([0, values.len()]).collect();
        ends.sort_unstable();
        let best = |values: &[f64]| -> Option<(f64, usize)> {
            let parts = ends.windows(2).filter_map(|part| {
                let (distance, at) = best_cut(&values[part[0]..part[1]])?;
                Some((distance, part[0] + at))
            });
            parts.max_by(|a, b| a.0.total_cmp(&b.0))
        };
        let Some((distance, at)) = best(values) else { break };
        let mut shuffled = values.to_vec();
        let mut as_far = 1;
        for _ in 0..draws {
            for part in ends.windows(2) {
                shuffle(&mut shuffled[part[0]..part[1]], &mut rng);
            }
            as_far += usize::from(best(&shuffled).is_some_and(|it| it.0 >= distance));
        }
        let p = as_far as f64 / (draws + 1) as f64;
        if p > level {
            break;
        }
        cuts.push(ChangePosition { at, p });
    }
    cuts.sort_by_key(|it| it.at);
    cuts
}

/// Fisher–Yates shuffle.
fn shuffle(values: &mut [f64], rng: &mut SplitMix64) {
    for last in (1..values.len()).rev() {
        values.swap(last, rng.below(last as u64 + 1) as usize);
    }
}

/// Strongest cut and its strength. The strength is the energy distance between the values before the cut and an
/// interval of values after the cut, weighted by their numbers. The interval may end before the series does, so that a
/// reverted change is found too. `None` if the series is too short.
fn best_cut(values: &[f64]) -> Option<(f64, usize)> {
    let n = values.len();
    if n < 2 * RUNS_MIN {
        return None;
    }
    // Sums of the distances between the first i and the first j values.
    let wide = n + 1;
    let mut sums = vec![0.0; wide * wide];
    for i in 0..n {
        let mut row = 0.0;
        for j in 0..n {
            row += (values[i] - values[j]).abs();
            sums[(i + 1) * wide + j + 1] = sums[i * wide + j + 1] + row;
        }
    }
    let sum = |i: usize, j: usize| sums[i * wide + j];
    let mut best: Option<(f64, usize)> = None;
    for at in RUNS_MIN..=n - RUNS_MIN {
        let before = sum(at, at);
        for end in at + RUNS_MIN..=n {
            let between = sum(at, end) - before;
            let after = sum(end, end) - before - 2.0 * between;
            let (a, b) = (at as f64, (end - at) as f64);
            let apart = 2.0 * between / (a * b) - before / (a * (a - 1.0)) - after / (b * (b - 1.0));
            let weighted = a * b / (a + b) * apart;
            if best.is_none_or(|it| weighted > it.0) {
                best = Some((weighted, at));
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::present::compare::tests::heavy_tailed;

    /// Series of intervals with a constant level each, given as number of runs and level.
    fn series(stretches: &[(usize, f64)], deviation: f64, draw: &mut SplitMix64) -> Vec<f64> {
        let all = stretches.iter().flat_map(|it| std::iter::repeat_n(it.1, it.0));
        all.map(|it| (it * (1.0 + deviation * draw.normal())).ln()).collect()
    }

    #[test]
    fn finds_shifts_at_their_positions() {
        let draw = &mut SplitMix64(11);
        for (stretches, expected) in [
            (&[(20, 1000.0)][..], &[][..]),
            (&[(12, 1000.0), (12, 900.0)], &[12]),
            (&[(6, 1000.0), (20, 1080.0)], &[6]),
            (&[(10, 1000.0), (10, 900.0), (10, 1000.0)], &[10, 20]),
            // The change is reverted before either part has enough runs.
            (&[(4, 1000.0), (4, 900.0)], &[]),
        ] {
            let found = change_points(&series(stretches, 0.01, draw), 0.01, 199, 7);
            assert_eq!(found.iter().map(|it| it.at).collect::<Vec<_>>(), expected, "{stretches:?}");
        }
    }

    /// Checks a thousand series of twenty equal runs, half of them with outliers, and how close shifts of three
    /// standard deviations are found. Builds without optimisation check a fifth of the series.
    #[test]
    fn false_alarm_rate_is_below_the_level() {
        let seed = 3;
        let draw = &mut SplitMix64(seed);
        let (series, shifts): (u64, usize) = if cfg!(debug_assertions) { (200, 40) } else { (1000, 200) };
        let alarms = (0..series).filter(|n| {
            let heavy = n % 2 == 1;
            let values: Vec<f64> =
                (0..20).map(|_| if heavy { heavy_tailed(draw) } else { draw.normal() }).collect();
            !change_points(&values, 0.05, 99, *n).is_empty()
        });
        let alarms = alarms.count();
        let near = (0..shifts as u64).filter(|n| {
            let values: Vec<f64> = (0..30).map(|n| draw.normal() + if n < 14 { 0.0 } else { 3.0 }).collect();
            let found = change_points(&values, 0.05, 99, *n);
            found.iter().any(|it| it.at.abs_diff(14) <= 1)
        });
        let near = near.count();
        println!(
            "change points, seed {seed}: {alarms} false alarms in {series}; {near} of {shifts} found within one run"
        );
        assert!(alarms as u64 <= series / 20, "{alarms} of {series}, seed {seed}");
        assert!(10 * near >= 9 * shifts, "{near} of {shifts}, seed {seed}");
    }
}
