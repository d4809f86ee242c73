//! Confidence intervals over several runs, and tests of differences between cells
//!
//! Runs are resampled, never requests. The requests of one run share its cache, its plans and its noise, so even a
//! million of them do not predict the next run.
//!
//! *One cell.* The estimate is the median. The interval lies between two runs at the same rank from either end: the
//! innermost two that contain the true median with 95 % (by the binomial distribution; David and Nagaraja, "Order
//! Statistics", 7.1). The interval is exact for any distribution. Three to five runs cannot reach 95 %: their smallest
//! and largest value contain the median with 75, 87.5 and 93.75 %. A percentile bootstrap of the median gives the same
//! interval for up to six runs. With more runs it is too narrow: with seven, it covers 88 %.
//!
//! *Two cells.* The estimate is the ratio of medians, with a percentile interval by resampling the runs of both cells.
//! For normal values it contains the true ratio in 91 % of cases with three runs each, 98 % with five, and 96 % with
//! ten. The significance comes from an exact permutation test of the rank sum (Wilcoxon, Mann, Whitney; ties share
//! their ranks), which assumes no distribution. With fewer than four runs each, the test cannot reach 5 % (3 and 3: 10
//! %), so no difference is claimed.
//!
//! *Many cells.* Of twenty comparisons, one is "significant" by chance. [`decide`] therefore keeps the false discovery
//! rate of all comparisons of one figure at 5 % (Benjamini and Hochberg 1995).

use super::quantile::{median, median_of_sorted, sorted};
use model::SplitMix64;
use model::matrix::ChangeVerdict;

/// Maximum number of runs for which every resample is enumerated, 5⁵ in all.
const EXACT_MAX: usize = 5;
/// Number of random resamples if there are more runs.
const RESAMPLES: usize = 4000;
/// Maximum number of permutations that are enumerated. Above it, this number of random permutations is used.
const PERMUTATIONS: u64 = 20_000;
/// Two-sided significance level.
const LEVEL: f64 = 0.05;
/// Minimum number of runs from which an interval is computed.
const RUNS_MIN: usize = 3;

/// A median and its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MedianEstimate {
    pub median: f64,
    /// Confidence interval of 95 %; `None` with fewer than three runs.
    pub interval: Option<(f64, f64)>,
    pub runs: u32,
}

/// Comparison of two cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioEstimate {
    /// Median of the second cell divided by that of the first; `None` if the latter is 0.
    pub ratio: Option<f64>,
    pub interval: Option<(f64, f64)>,
    /// Two-sided p-value of the permutation test.
    pub p: f64,
    /// True if the second cell's values tend to be higher.
    pub higher: bool,
    /// Smallest `p` that this number of runs can reach.
    pub least_p: f64,
}

/// Median of `values` and its interval; `None` without values.
pub fn estimate(values: &[f64]) -> Option<MedianEstimate> {
    let sorted = sorted(values.iter().copied());
    let median = median_of_sorted(&sorted)?;
    let interval = (values.len() >= RUNS_MIN).then(|| {
        let beyond = trim_count(values.len());
        (sorted[beyond], sorted[values.len() - 1 - beyond])
    });
    Some(MedianEstimate { median, interval, runs: values.len() as u32 })
}

/// Comparison of `b` with `a`; `None` if either is empty. `seed` determines the resampling.
pub fn compare(a: &[f64], b: &[f64], seed: u64) -> Option<RatioEstimate> {
    let (median_a, median_b) = (median(a.iter().copied())?, median(b.iter().copied())?);
    let enough = a.len() >= RUNS_MIN && b.len() >= RUNS_MIN && median_a != 0.0;
    let interval = enough.then(|| ratio_interval(a, b, seed)).flatten();
    let (p, higher, least_p) = rank_test(a, b, seed);
    Some(RatioEstimate {
        ratio: (median_a != 0.0).then(|| median_b / median_a),
        interval,
        p,
        higher,
        least_p,
    })
}

/// Verdicts of several comparisons of one figure, which share a false discovery rate.
pub fn decide(all: &[RatioEstimate]) -> Vec<ChangeVerdict> {
    // Accept the largest p that does not exceed its share of the level, and all smaller ones.
    let sorted = sorted(all.iter().map(|it| it.p));
    let count = sorted.len() as f64;
    let within = |(rank, p): &(usize, &f64)| **p <= LEVEL * (rank + 1) as f64 / count;
    let bound = sorted.iter().enumerate().filter(within).map(|(_, p)| *p).next_back();
    let verdict = |estimate: &RatioEstimate| match bound {
        _ if estimate.least_p > LEVEL => ChangeVerdict::TooFewRuns,
        Some(bound) if estimate.p <= bound => {
            if estimate.higher {
                ChangeVerdict::Higher
            } else {
                ChangeVerdict::Lower
            }
        }
        _ => ChangeVerdict::NoEvidence,
    };
    all.iter().map(verdict).collect()
}

/// Largest number of `n` sorted runs that can be removed at each end so that the rest contain the median with 95 %.
fn trim_count(n: usize) -> usize {
    // Probability that at most `i` of the runs lie below the median, for i = 0, 1, …: sums of C(n, i) / 2ⁿ.
    let mut term = 0.5f64.powi(n as i32);
    let mut below = term;
    let mut beyond = 0;
    while 2.0 * below <= LEVEL {
        beyond += 1;
        term *= (n - beyond + 1) as f64 / beyond as f64;
        below += term;
    }
    // Removing one more run would exceed the level.
    beyond.saturating_sub(1)
}

/// Medians of the resamples of `values`.
fn resampled_medians(values: &[f64], seed: u64) -> Vec<f64> {
    let n = values.len();
    let mut resample = vec![0.0; n];
    let mut resampled_median = |choose: &mut dyn FnMut() -> usize| {
        resample.iter_mut().for_each(|it| *it = values[choose()]);
        resample.sort_by(f64::total_cmp);
        median_of_sorted(&resample).expect("resamples are as long as the sample")
    };
    if n <= EXACT_MAX {
        // Each number below nⁿ, written in base n, selects one resample.
        let all = 0..n.pow(n as u32);
        return all
            .map(|mut digits| {
                resampled_median(&mut || {
                    let digit = digits % n;
                    digits /= n;
                    digit
                })
            })
            .collect();
    }
    let mut rng = SplitMix64(seed);
    (0..RESAMPLES).map(|_| resampled_median(&mut || rng.below(n as u64) as usize)).collect()
}

/// Range of the middle 95 % of the values, which it sorts.
fn middle_interval(values: &mut [f64]) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let last = values.len() - 1;
    let beyond = (LEVEL / 2.0 * last as f64).floor() as usize;
    (values[beyond], values[last - beyond])
}

/// Interval of the ratio of medians; `None` if a resampled denominator is 0.
fn ratio_interval(a: &[f64], b: &[f64], seed: u64) -> Option<(f64, f64)> {
    let (medians_a, medians_b) = (resampled_medians(a, seed), resampled_medians(b, seed.wrapping_add(1)));
    let mut rng = SplitMix64(seed.wrapping_add(2));
    let mut pick = |from: &[f64]| from[rng.below(from.len() as u64) as usize];
    let mut ratios: Vec<f64> = (0..RESAMPLES).map(|_| pick(&medians_b) / pick(&medians_a)).collect();
    ratios.iter().all(|it| it.is_finite()).then(|| middle_interval(&mut ratios))
}

/// Two-sided p of the rank sum of `b`, whether the sum exceeds its expectation, and the smallest possible p.
fn rank_test(a: &[f64], b: &[f64], seed: u64) -> (f64, bool, f64) {
    let all: Vec<f64> = a.iter().chain(b).copied().collect();
    let (n, k) = (all.len(), b.len());
    // Twice the rank, so that ties are whole numbers: below + (below or equal) + 1.
    let rank = |value: &f64| {
        let below = all.iter().filter(|other| *other < value).count();
        let equal = all.iter().filter(|other| *other == value).count();
        (2 * below + equal + 1) as i64
    };
    let ranks: Vec<i64> = all.iter().map(rank).collect();
    // Distance of the doubled rank sum from its expectation, k (n + 1).
    let away = |sum: i64| sum - (k * (n + 1)) as i64;
    let observed = away(ranks[a.len()..].iter().sum());
    let ways = binomial(n as u64, k as u64);
    let (mut far, mut of) = (0u64, 0u64);
    let mut count = |sum: i64| {
        of += 1;
        far += u64::from(away(sum).abs() >= observed.abs());
    };
    if ways <= PERMUTATIONS {
        subsets(&ranks, k, 0, &mut count);
    } else {
        let mut rng = SplitMix64(seed);
        let mut shuffled = ranks;
        // The observed order is one of the permutations.
        count(observed + (k * (n + 1)) as i64);
        for _ in 0..PERMUTATIONS {
            for i in 0..k {
                let j = i + rng.below((n - i) as u64) as usize;
                shuffled.swap(i, j);
            }
            count(shuffled[..k].iter().sum());
        }
    }
    (far as f64 / of as f64, observed > 0, 2.0 / ways as f64)
}

/// Calls `each` with the sum of every choice of `k` of `ranks`.
fn subsets(ranks: &[i64], k: usize, sum: i64, each: &mut impl FnMut(i64)) {
    if k == 0 {
        return each(sum);
    }
    for (i, rank) in ranks.iter().enumerate().take(ranks.len() + 1 - k) {
        subsets(&ranks[i + 1..], k - 1, sum + rank, each);
    }
}

/// Binomial coefficient; saturates above 2⁶³.
fn binomial(n: u64, k: u64) -> u64 {
    (0..k.min(n - k)).fold(1u64, |ways, i| {
        let grown = u128::from(ways) * u128::from(n - i) / u128::from(i + 1);
        u64::try_from(grown).unwrap_or(u64::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_medians_of_few_runs() {
        for (values, median, interval) in [
            (&[][..], None, None),
            (&[5.0], Some(5.0), None),
            (&[5.0, 7.0], Some(6.0), None),
            (&[3.0, 1.0, 2.0], Some(2.0), Some((1.0, 3.0))),
            (&[4.0; 5], Some(4.0), Some((4.0, 4.0))),
            (&[1.0, 2.0, 3.0, 4.0, 5.0], Some(3.0), Some((1.0, 5.0))),
        ] {
            let result = estimate(values);
            assert_eq!(result.map(|it| it.median), median, "{values:?}");
            assert_eq!(result.and_then(|it| it.interval), interval, "{values:?}");
        }
    }

    /// Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), table 2.1, survival times of mice. Medians:
    /// treated 94, control 46. Standard errors of the medians by bootstrap, with infinitely many resamples: 37.83 and
    /// 13.08.
    #[test]
    fn equals_the_published_bootstrap_example() {
        let treated = [94.0, 197.0, 16.0, 38.0, 99.0, 141.0, 23.0];
        let control = [52.0, 104.0, 146.0, 10.0, 51.0, 30.0, 40.0, 27.0, 46.0];
        for (values, median, deviation) in [(&treated[..], 94.0, 37.83), (&control, 46.0, 13.08)] {
            assert_eq!(estimate(values).map(|it| it.median), Some(median));
            let all = resampled_medians(values, 7);
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            let variance = all.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / all.len() as f64;
            // With heavy-tailed values, four thousand draws estimate a deviation to within a few per cent.
            assert!((variance.sqrt() / deviation - 1.0).abs() < 0.08, "{} {deviation}", variance.sqrt());
        }
    }

    #[test]
    fn computes_exact_permutation_p_values() {
        for (a, b, p, higher) in [
            // Completely separated: 2 of 20, 70 and 252 permutations.
            (&[1.0, 2.0, 3.0][..], &[4.0, 5.0, 6.0][..], 0.1, true),
            (&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0], 2.0 / 70.0, true),
            (&[6.0, 7.0, 8.0, 9.0, 10.0], &[1.0, 2.0, 3.0, 4.0, 5.0], 2.0 / 252.0, false),
            (&[1.0, 3.0], &[2.0, 4.0], 4.0 / 6.0, true),
            (&[1.0; 5], &[1.0; 5], 1.0, false),
            // Hollander and Wolfe, "Nonparametric Statistical Methods": permeability of membranes, rank sum 30,
            // one-sided exact p 0.1272; the distribution is symmetric.
            (
                &[0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46],
                &[1.15, 0.88, 0.90, 0.74, 1.21],
                0.2544,
                false,
            ),
        ] {
            let result = compare(a, b, 3).expect("both have values");
            assert!((result.p - p).abs() < 5e-5, "{a:?} {b:?}: {}", result.p);
            assert_eq!(result.higher, higher, "{a:?} {b:?}");
        }
        // Random permutations agree with the exact p: 2 / C(20, 10) is far below the resolution of 20,000.
        let (a, b): (Vec<f64>, Vec<f64>) = (0..20).map(f64::from).partition(|it| *it < 10.0);
        assert!(compare(&a, &b, 3).expect("both have values").p < 2e-4);
        let (a, b): (Vec<f64>, Vec<f64>) = (0..20).map(f64::from).partition(|it| it % 2.0 == 0.0);
        let p = compare(&a, &b, 3).expect("both have values").p;
        // Rank sum 110 of 105 ± 13.2: scipy.stats.mannwhitneyu, method exact: 0.7394.
        assert!((p - 0.7394).abs() < 0.012, "{p}");
    }

    #[test]
    fn computes_ratios_with_intervals() {
        let result = compare(&[100.0, 101.0, 99.0, 100.0, 102.0], &[84.0, 85.0, 83.0, 84.0, 86.0], 3);
        let result = result.expect("both have values");
        assert_eq!(result.ratio, Some(0.84));
        let (low, high) = result.interval.expect("there are enough values");
        assert!(0.81 < low && low < 0.84 && 0.84 < high && high < 0.87, "{low} {high}");
        assert_eq!(decide(&[result]), [ChangeVerdict::Lower]);
        assert_eq!(compare(&[0.0; 5], &[1.0; 5], 3).map(|it| (it.ratio, it.interval)), Some((None, None)));
        assert_eq!(compare(&[], &[1.0], 3), None);
        // Half of the resamples divide by 0.
        let result = compare(&[0.0, 0.0, 1.0, 1.0, 1.0], &[1.0; 5], 3).expect("both have values");
        assert_eq!((result.ratio, result.interval), (Some(1.0), None));
        assert_eq!(
            decide(&[compare(&[1.0; 3], &[2.0; 3], 3).expect("both have values")]),
            [ChangeVerdict::TooFewRuns]
        );
    }

    #[test]
    fn controls_the_false_discovery_rate() {
        let with_p = |p: f64| RatioEstimate { ratio: None, interval: None, p, higher: true, least_p: 0.001 };
        for (ps, expected) in [
            // Benjamini and Hochberg (1995), section 3.2: of these fifteen, the first four are rejected.
            (
                vec![
                    0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
                    0.5719, 0.6528, 0.7590, 1.0,
                ],
                4,
            ),
            (vec![0.04], 1),
            (vec![0.04; 20], 20),
            (vec![0.04, 0.9], 0),
            (vec![], 0),
        ] {
            let verdicts = decide(&ps.iter().copied().map(with_p).collect::<Vec<_>>());
            let higher = verdicts.iter().filter(|it| **it == ChangeVerdict::Higher).count();
            assert_eq!(higher, expected, "{ps:?}");
            assert!(
                verdicts[..higher].iter().all(|it| *it == ChangeVerdict::Higher),
                "the smallest p-values come first"
            );
        }
    }

    /// Share of `sets` simulated sets of `n` runs whose interval contains the true median.
    fn coverage(n: usize, seed: u64, value: fn(&mut SplitMix64) -> f64, truth: f64) -> f64 {
        let mut rng = SplitMix64(seed);
        let holds = (0..4000).filter(|_| {
            let values: Vec<f64> = (0..n).map(|_| value(&mut rng)).collect();
            let (low, high) = estimate(&values).and_then(|it| it.interval).expect("three or more");
            low <= truth && truth <= high
        });
        holds.count() as f64 / 4000.0
    }

    fn exponential(rng: &mut SplitMix64) -> f64 {
        -(1.0 - rng.uniform()).ln()
    }

    /// 4000 sets estimate a share of 95 % to ± 0.35 %; the test allows three of these deviations.
    #[test]
    fn median_interval_covers_the_truth() {
        for (n, exact) in [
            (3, 0.75),
            (4, 0.875),
            (5, 0.9375),
            (6, 0.9688),
            (7, 0.9844),
            (8, 0.9922),
            (9, 0.9609),
            (10, 0.9785),
        ] {
            let seed = 1000 + n as u64;
            for (name, share) in [
                ("normal", coverage(n, seed, SplitMix64::normal, 0.0)),
                ("exponential", coverage(n, seed, exponential, std::f64::consts::LN_2)),
            ] {
                let three = 3.0 * (exact * (1.0 - exact) / 4000.0f64).sqrt();
                assert!((share - exact).abs() < three, "{n} runs, {name}, seed {seed}: {share}, not {exact}");
            }
        }
    }

    /// Runs vary by 3 %, and one cell is 1.2 times as fast. Measured coverage over 1500 sets each, seeds 2003, 2004, …:
    /// 91 % with 3 runs, 92 % with 4, 98 % with 5, 94 % with 7, 96 % with 10. The test uses fewer sets to save time.
    #[test]
    fn ratio_interval_covers_the_truth() {
        for (n, low, high) in [(3, 0.85, 0.96), (5, 0.93, 1.0)] {
            let seed = 2000 + n as u64;
            let mut rng = SplitMix64(seed);
            let holds = (0..200).filter(|_| {
                let mut draw =
                    |mean: f64| -> Vec<f64> { (0..n).map(|_| mean * (1.0 + 0.03 * rng.normal())).collect() };
                let result = compare(&draw(100.0), &draw(120.0), seed).and_then(|it| it.interval);
                result.is_some_and(|(low, high)| low <= 1.2 && 1.2 <= high)
            });
            let covered = holds.count() as f64 / 200.0;
            assert!(low <= covered && covered <= high, "{n} runs, seed {seed}: {covered}");
        }
    }

    #[test]
    fn false_positive_rate_is_below_the_level() {
        let mut rng = SplitMix64(5);
        let positives = (0..1000).filter(|_| {
            let mut draw = || -> Vec<f64> { (0..5).map(|_| rng.normal()).collect() };
            let result = compare(&draw(), &draw(), 9).expect("both have values");
            decide(&[result]) != [ChangeVerdict::NoEvidence]
        });
        // 3.2 % is the level of the discrete test at 5 %: 8 of 252 permutations.
        let positives = positives.count();
        assert!((15..50).contains(&positives), "{positives} of 1000");
    }
}
