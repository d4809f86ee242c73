//! Universal Scalability Law: throughput as a function of the number of clients
//!
//! Source: X(N) = λN / (1 + σ(N − 1) + κN(N − 1)), Gunther, "Guerrilla Capacity Planning" (2007). With θ = (1, σ, κ) /
//! λ, X = N / (θ₀ + θ₁(N − 1) + θ₂N(N − 1)). The fit minimises the squared errors of X by Gauss–Newton with Marquardt's
//! damping, starting from the linear fit of N / X. To keep σ, κ ≥ 0, it fits four laws, in which σ and κ are each
//! either free or 0, and uses the best law without negative parameters. For three unknowns, no library is needed.
//!
//! Intervals come from resampling trials; each resample's parameter is divided by its own standard error (bootstrap-t):
//!
//! - Each trial keeps its residual, with random sign and size (the wild bootstrap; Wu 1986, weights of Webb 2013;
//!   errors HC3 of MacKinnon and White 1985). This is correct even if trials with high throughput scatter more, as they
//!   do. The intervals contain the true values in 92 to 98 % of cases if every number of clients was measured twice. If
//!   every number was measured once, the interval of κ contains the true value in 83 % of cases.
//! - With fewer than two trials per number of clients, a second interval is computed by redistributing all residuals at
//!   random, as if they had equal variances. The wider interval is reported.

use model::SplitMix64;
use model::search::{FittedValue, Scalability};

const RESAMPLES: usize = 1000;
/// Minimum number of different client counts for a fit: one more than the three parameters.
const LEVELS_MIN: usize = 4;
const STEPS: usize = 60;
/// Leverage above which a single trial determines a parameter, so that the trial has no residual.
const MOST_LEVERAGE: f64 = 0.99;
/// Webb's six weights: ± √½, 1 and √1½. Their mean is 0 and their mean square is 1.
const WEBB: [f64; 6] = [
    -1.224_744_871_391_589,
    -1.0,
    -std::f64::consts::FRAC_1_SQRT_2,
    std::f64::consts::FRAC_1_SQRT_2,
    1.0,
    1.224_744_871_391_589,
];

/// Candidate laws: true for each parameter θ that is free in the law.
const LAWS: [[bool; 3]; 4] =
    [[true, true, true], [true, true, false], [true, false, true], [true, false, false]];

type Three = [f64; 3];

/// Fits the law to trials, given as clients (at least 1) and throughput per second (above 0). Several trials may have
/// the same number of clients. `None` with fewer than four different numbers. `seed` determines the resampling.
pub fn scalability(trials: &[(f64, f64)], seed: u64) -> Option<Scalability> {
    let mut levels: Vec<f64> = trials.iter().map(|it| it.0).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    let sound = trials.iter().all(|it| it.0 >= 1.0 && it.1 > 0.0 && it.0.is_finite() && it.1.is_finite());
    if levels.len() < LEVELS_MIN || !sound {
        return None;
    }
    let fit = Fit::fit_best(trials)?;
    let intervals = intervals(trials, levels.len(), &fit, seed);
    let [lambda, sigma, kappa] = fit.parameters();
    let fitted_value = |place: usize, value| FittedValue { value, interval: intervals.map(|it| it[place]) };
    let mean = trials.iter().map(|it| it.1).sum::<f64>() / trials.len() as f64;
    let spread: f64 = trials.iter().map(|it| (it.1 - mean).powi(2)).sum();
    let peak = ((1.0 - sigma) / kappa).max(0.0).sqrt();
    let measured = levels[0]..=levels[levels.len() - 1];
    Some(Scalability {
        points: trials.to_vec(),
        law: levels.iter().map(|it| (*it, throughput(fit.parameters(), *it))).collect(),
        lambda: fitted_value(0, lambda),
        sigma: fitted_value(1, sigma),
        kappa: fitted_value(2, kappa),
        peak: Some(peak).filter(|it| measured.contains(it)),
        r2: if spread > 0.0 { 1.0 - fit.squares / spread } else { 0.0 },
    })
}

/// Values of the law at `points` (at least two) numbers of clients, evenly spaced over the measured range.
pub fn curve(model: &Scalability, points: usize) -> Vec<(f64, f64)> {
    let clients = || model.points.iter().map(|it| it.0);
    let (Some(from), Some(to)) = (clients().min_by(f64::total_cmp), clients().max_by(f64::total_cmp)) else {
        return Vec::new();
    };
    let parameters = [model.lambda.value, model.sigma.value, model.kappa.value];
    let at = |n: usize| from + (to - from) * n as f64 / (points.max(2) - 1) as f64;
    (0..points.max(2)).map(|n| (at(n), throughput(parameters, at(n)))).collect()
}

/// Throughput at `n` clients, per second, for λ, σ and κ.
fn throughput([lambda, sigma, kappa]: Three, n: f64) -> f64 {
    lambda * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0))
}

/// Fitted law.
#[derive(Clone, Copy, Debug)]
struct Fit {
    theta: Three,
    /// Sum of squared residuals.
    squares: f64,
}

impl Fit {
    /// Best-fitting law whose parameters are not negative.
    fn fit_best(trials: &[(f64, f64)]) -> Option<Fit> {
        let fits = LAWS.iter().filter_map(|free| marquardt(trials, *free));
        let allowed = fits.filter(|it| it.theta[0] > 0.0 && it.theta[1] >= 0.0 && it.theta[2] >= 0.0);
        // Among equally good fits, use the first fit, which has the most free parameters.
        allowed.min_by(|a, b| a.squares.total_cmp(&b.squares))
    }

    fn parameters(&self) -> Three {
        let [one, sigma, kappa] = self.theta;
        [1.0 / one, sigma / one, kappa / one]
    }

    /// Standard errors of λ, σ and κ from the linearised law, and each trial's leverage. `None` if they are undefined.
    /// All three parameters count as free, because the constraint that two are not negative carries no information
    /// about their values.
    fn errors(&self, trials: &[(f64, f64)], scatter: ResidualModel) -> Option<(Three, Vec<f64>)> {
        let parameters = self.parameters();
        let slopes: Vec<Three> = trials.iter().map(|it| gradient(parameters, it.0)).collect();
        let inverse = inverse(&normal_matrix(&slopes))?;
        let pull = |slope: &Three| {
            let product = multiply(&inverse, *slope);
            (slope[0] * product[0] + slope[1] * product[1] + slope[2] * product[2]).clamp(0.0, MOST_LEVERAGE)
        };
        let leverage: Vec<f64> = slopes.iter().map(pull).collect();
        let errors = match scatter {
            ResidualModel::Pooled => {
                let variance = self.squares / (trials.len() as f64 - 3.0);
                [0, 1, 2].map(|it| (inverse[it][it] * variance).sqrt())
            }
            ResidualModel::PerTrial => {
                let mut sums = [0.0; 3];
                for ((slopes, trial), leverage) in slopes.iter().zip(trials).zip(&leverage) {
                    let rest = (trial.1 - throughput(parameters, trial.0)) / (1.0 - leverage);
                    let product = multiply(&inverse, *slopes);
                    sums.iter_mut().zip(product).for_each(|(sum, it)| *sum += (it * rest).powi(2));
                }
                sums.map(f64::sqrt)
            }
        };
        Some((errors, leverage))
    }
}

/// Assumption about the scatter of trials around the law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResidualModel {
    Pooled,
    PerTrial,
}

/// Derivatives of the throughput with respect to λ, σ and κ.
fn gradient([lambda, sigma, kappa]: Three, n: f64) -> Three {
    let below = 1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0);
    let linear = n / below;
    let through = -lambda * n / (below * below);
    [linear, through * (n - 1.0), through * n * (n - 1.0)]
}

/// Intervals of λ, σ and κ; `None` with too few trials or without a usable fit. `levels` is the number of different
/// client counts.
fn intervals(trials: &[(f64, f64)], levels: usize, fit: &Fit, seed: u64) -> Option<[(f64, f64); 3]> {
    if trials.len() <= LEVELS_MIN {
        return None;
    }
    if fit.squares <= f64::EPSILON * trials.iter().map(|it| it.1 * it.1).sum::<f64>() {
        return Some(fit.parameters().map(|it| (it, it)));
    }
    let mut rng = SplitMix64(seed);
    let resampled_fit = resampled(trials, fit, ResidualModel::PerTrial, &mut rng)?;
    if trials.len() >= 2 * levels {
        return Some(resampled_fit);
    }
    let alike = resampled(trials, fit, ResidualModel::Pooled, &mut rng)?;
    Some([0, 1, 2].map(|it| (resampled_fit[it].0.min(alike[it].0), resampled_fit[it].1.max(alike[it].1))))
}

fn resampled(
    trials: &[(f64, f64)],
    fit: &Fit,
    scatter: ResidualModel,
    rng: &mut SplitMix64,
) -> Option<[(f64, f64); 3]> {
    let parameters = fit.parameters();
    let (errors, leverage) = fit.errors(trials, scatter)?;
    let fitted: Vec<f64> = trials.iter().map(|it| throughput(parameters, it.0)).collect();
    // The higher a trial's leverage, the smaller its residual.
    let power = if scatter == ResidualModel::Pooled { 0.5 } else { 1.0 };
    let left = trials.iter().zip(&fitted).zip(&leverage);
    let mut residuals: Vec<f64> =
        left.map(|((trial, fitted), pull)| (trial.1 - fitted) / (1.0 - pull).powf(power)).collect();
    if scatter == ResidualModel::Pooled {
        let mean = residuals.iter().sum::<f64>() / residuals.len() as f64;
        residuals.iter_mut().for_each(|it| *it -= mean);
    }
    let mut related: [Vec<f64>; 3] = Default::default();
    let mut resample = trials.to_vec();
    for _ in 0..RESAMPLES {
        for (at, (one, fitted)) in resample.iter_mut().zip(&fitted).enumerate() {
            one.1 = fitted
                + match scatter {
                    ResidualModel::Pooled => residuals[rng.below(residuals.len() as u64) as usize],
                    ResidualModel::PerTrial => residuals[at] * WEBB[rng.below(6) as usize],
                };
        }
        let Some(refit) = fit_unbounded(&resample) else { continue };
        let Some((spread, _)) = refit.errors(&resample, scatter) else { continue };
        let found = refit.parameters();
        for (place, related) in related.iter_mut().enumerate() {
            let studentized = (found[place] - parameters[place]) / spread[place];
            related.extend(Some(studentized).filter(|it| it.is_finite()));
        }
    }
    // There is no interval if more than half of the resamples have no fit.
    if related.iter().any(|it| it.len() < RESAMPLES / 2) {
        return None;
    }
    Some([0, 1, 2].map(|place| {
        let (value, error, related) = (parameters[place], errors[place], &mut related[place]);
        related.sort_by(f64::total_cmp);
        let last = related.len() as f64 - 1.0;
        let (low, high) = (related[(0.025 * last) as usize], related[(0.975 * last).ceil() as usize]);
        ((value - high * error).max(0.0), (value - low * error).max(0.0))
    }))
}

/// Fit in which σ and κ are free and may be negative, for the scatter of resamples.
fn fit_unbounded(trials: &[(f64, f64)]) -> Option<Fit> {
    marquardt(trials, LAWS[0]).filter(|it| it.theta[0] > 0.0)
}

/// Least-squares fit of the law. `free` selects the parameters θ that are fitted; the other parameters are 0.
fn marquardt(trials: &[(f64, f64)], free: [bool; 3]) -> Option<Fit> {
    let basis = |n: f64| [1.0, n - 1.0, n * (n - 1.0)];
    let below = |theta: &Three, n: f64| {
        let basis = basis(n);
        theta[0] * basis[0] + theta[1] * basis[1] + theta[2] * basis[2]
    };
    let squares = |theta: &Three| {
        let each = trials.iter().map(|(n, x)| match below(theta, *n) {
            it if it > 0.0 => (x - n / it).powi(2),
            _ => f64::INFINITY,
        });
        each.sum::<f64>()
    };
    let mask = |mut theta_row: Three| {
        (0..3).filter(|at| !free[*at]).for_each(|at| theta_row[at] = 0.0);
        theta_row
    };
    // N / X is linear in θ. With the weight X² / N, the errors of N / X equal the errors of X to first order.
    let mut rows = Vec::with_capacity(trials.len());
    let mut aims = Vec::with_capacity(trials.len());
    for (n, x) in trials {
        let weight = x * x / n;
        rows.push(mask(basis(*n)).map(|it| it * weight));
        aims.push(n / x * weight);
    }
    let mut theta = mask(solve(&rows, &aims, free, 0.0)?);
    let mut least = squares(&theta);
    if !least.is_finite() {
        // Straight line through the origin, a special case of every law.
        let slope = trials.iter().map(|it| it.0 * it.1).sum::<f64>()
            / trials.iter().map(|it| it.0 * it.0).sum::<f64>();
        theta = [1.0 / slope, 0.0, 0.0];
        least = squares(&theta);
    }
    let mut damping = 1e-3;
    for _ in 0..STEPS {
        rows.clear();
        aims.clear();
        for (n, x) in trials {
            let denominator = below(&theta, *n);
            let through = -n / (denominator * denominator);
            rows.push(mask(basis(*n)).map(|it| it * through));
            aims.push(x - n / denominator);
        }
        let Some(step) = solve(&rows, &aims, free, damping) else { break };
        let step = mask(step);
        let next = [theta[0] + step[0], theta[1] + step[1], theta[2] + step[2]];
        let found = squares(&next);
        if found < least {
            let gained = least - found;
            (theta, least) = (next, found);
            damping *= 0.1;
            if gained <= 1e-12 * least {
                break;
            }
        } else {
            damping *= 10.0;
            if damping > 1e9 {
                break;
            }
        }
    }
    Some(Fit { theta, squares: least })
}

/// Least-squares solution x of rows · x = aims; 0 for fixed parameters. Each diagonal element of the normal equations
/// is multiplied by 1 + `damping`.
fn solve(rows: &[Three], aims: &[f64], free: [bool; 3], damping: f64) -> Option<Three> {
    let mut matrix = normal_matrix(rows);
    for at in 0..3 {
        matrix[at][at] = if free[at] { matrix[at][at] * (1.0 + damping) } else { 1.0 };
    }
    let mut right = [0.0; 3];
    for (row, aim) in rows.iter().zip(aims) {
        (0..3).for_each(|at| right[at] += row[at] * aim);
    }
    Some(multiply(&inverse(&matrix)?, right))
}

fn normal_matrix(rows: &[Three]) -> [Three; 3] {
    let mut matrix = [[0.0; 3]; 3];
    for row in rows {
        for (a, line) in matrix.iter_mut().enumerate() {
            for (b, element) in line.iter_mut().enumerate() {
                *element += row[a] * row[b];
            }
        }
    }
    matrix
}

fn multiply(matrix: &[Three; 3], vector: Three) -> Three {
    matrix.map(|row| row[0] * vector[0] + row[1] * vector[1] + row[2] * vector[2])
}

/// Inverse of a symmetric matrix with a positive diagonal; `None` if it is singular. The matrix is scaled to a diagonal
/// of 1, because its columns differ by up to the square of the number of clients.
fn inverse(matrix: &[Three; 3]) -> Option<[Three; 3]> {
    let scale = [0, 1, 2].map(|at| matrix[at][at].sqrt());
    if scale.iter().any(|it| !(it.is_finite() && *it > 0.0)) {
        return None;
    }
    let m = |a: usize, b: usize| matrix[a][b] / scale[a] / scale[b];
    let cofactor = |a: usize, b: usize| {
        let (r, s) = ((a + 1) % 3, (a + 2) % 3);
        let (t, u) = ((b + 1) % 3, (b + 2) % 3);
        m(r, t) * m(s, u) - m(r, u) * m(s, t)
    };
    let determinant = (0..3).map(|b| m(0, b) * cofactor(0, b)).sum::<f64>();
    if determinant.abs().is_nan() || determinant.abs() < 1e-14 {
        return None;
    }
    Some([0, 1, 2].map(|a| [0, 1, 2].map(|b| cofactor(b, a) / determinant / scale[a] / scale[b])))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC SDM91, Gunther's example: clients and throughput.
    const SDM91: [(f64, f64); 7] = [
        (1.0, 64.9),
        (18.0, 995.9),
        (36.0, 1652.4),
        (72.0, 1853.2),
        (108.0, 1828.9),
        (144.0, 1775.0),
        (216.0, 1702.2),
    ];

    fn near(value: f64, expected: f64, share: f64) -> bool {
        (value - expected).abs() <= share * expected
    }

    /// Published by the R package `usl` (Möding, vignette): σ 0.02772985, κ 0.0001043660, scale factor 89.99523, peak
    /// at 96.52 clients.
    #[test]
    fn equals_the_published_fit_of_sdm91() {
        let result = scalability(&SDM91, 1).expect("seven levels");
        let found = [
            result.lambda.value,
            result.sigma.value,
            result.kappa.value,
            result.peak.expect("the peak was passed"),
        ];
        for (found, published) in found.into_iter().zip([89.99523, 0.0277299, 0.000_104_366, 96.5196]) {
            assert!(near(found, published, 2e-4), "{found}, not {published}");
        }
        assert!(result.r2 > 0.98 && result.r2 < 1.0, "{}", result.r2);
        for parameter in [result.lambda, result.sigma, result.kappa] {
            let (low, high) = parameter.interval.expect("seven trials");
            assert!(low < parameter.value && parameter.value < high, "{parameter:?}");
        }
    }

    #[test]
    fn recovers_laws_without_noise() {
        for (law, peak) in [
            ([100.0, 0.05, 5e-4], Some((0.95f64 / 5e-4).sqrt())),
            // The peak is beyond the measured range, at 316 clients.
            ([100.0, 0.0, 1e-5], None),
            ([70.0, 0.2, 0.0], None),
            ([5.0, 0.0, 0.0], None),
        ] {
            let trials: Vec<(f64, f64)> =
                [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0].map(|n| (n, throughput(law, n))).into();
            let result = scalability(&trials, 1).expect("seven levels");
            for (found, law) in [result.lambda, result.sigma, result.kappa].into_iter().zip(law) {
                assert!((found.value - law).abs() < 1e-6 * law.max(1e-3), "{found:?}, not {law}");
            }
            assert_eq!(result.peak.is_some(), peak.is_some(), "{law:?}: {:?}", result.peak);
            assert!(
                peak.is_none_or(|peak| near(result.peak.unwrap_or(0.0), peak, 1e-4)),
                "{:?}",
                result.peak
            );
            let same = result
                .law
                .iter()
                .zip(&trials)
                .all(|(law, trial)| law.0 == trial.0 && near(law.1, trial.1, 1e-6));
            assert!(same && result.law.len() == 7, "{:?}", result.law);
            let curve = curve(&result, 22);
            assert_eq!(
                (curve.len(), curve[0].0, curve[21].0),
                (22, 1.0, 64.0),
                "the curve ends at the measured range"
            );
            assert!(near(curve[1].1, throughput(law, 4.0), 1e-6), "{:?}", curve[1]);
        }
    }

    /// Throughput that grows faster than linearly: the best permitted law is the linear one.
    #[test]
    fn parameters_are_not_negative() {
        let trials = [(1.0, 10.0), (2.0, 22.0), (4.0, 48.0), (8.0, 110.0), (16.0, 250.0)];
        let result = scalability(&trials, 1).expect("five levels");
        assert_eq!((result.sigma.value, result.kappa.value, result.peak), (0.0, 0.0, None));
        for parameter in [result.sigma, result.kappa] {
            assert!(parameter.interval.is_none_or(|it| it.0 >= 0.0 && it.1 >= it.0), "{parameter:?}");
        }
    }

    #[test]
    fn rejects_trials_that_cannot_be_fitted() {
        let three = [(1.0, 10.0), (2.0, 19.0), (4.0, 35.0), (4.0, 36.0), (2.0, 18.0)];
        assert_eq!(scalability(&three, 1), None, "three levels");
        let four = [(1.0, 10.0), (2.0, 19.0), (4.0, 35.0), (8.0, 60.0)];
        let result = scalability(&four, 1).expect("four levels");
        assert_eq!(result.sigma.interval, None, "one spare trial does not show the scatter");
        for wrong in [(0.0, 5.0), (16.0, 0.0), (16.0, f64::NAN)] {
            assert_eq!(scalability(&[&four[..], &[wrong]].concat(), 1), None, "{wrong:?}");
        }
        assert_eq!(scalability(&[], 1), None);
    }

    /// Shares of the draws whose intervals contain λ, σ and κ. The noise is 15 per second, or 3 % of the throughput if
    /// `relative`.
    fn coverage(repeat: usize, law: Three, relative: bool, draws: u64, seed: u64) -> Three {
        let mut rng = SplitMix64(seed);
        let mut holds = [0.0; 3];
        for draw in 0..draws {
            let levels = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
            let trials: Vec<(f64, f64)> = levels
                .iter()
                .flat_map(|n| std::iter::repeat_n(*n, repeat))
                .map(|n| {
                    let x = throughput(law, n);
                    let noise = rng.normal() * if relative { 0.03 * x } else { 15.0 };
                    (n, (x + noise).max(1.0))
                })
                .collect();
            let result = scalability(&trials, draw).expect("seven levels");
            for (at, parameter) in [result.lambda, result.sigma, result.kappa].iter().enumerate() {
                let (low, high) = parameter.interval.expect("seven trials or more");
                holds[at] += f64::from(low <= law[at] && law[at] <= high);
            }
        }
        holds.map(|it| it / draws as f64)
    }

    /// Sixty draws estimate 95 % to ± 3 %; the test allows three of these deviations.
    #[test]
    fn intervals_cover_the_truth() {
        let covered = coverage(3, [100.0, 0.05, 5e-4], true, 60, 5);
        assert!(covered.iter().all(|it| *it >= 0.86), "seed 5: {covered:?}");
    }

    #[test]
    #[cfg_attr(debug_assertions, ignore = "minutes without optimisation")]
    fn intervals_cover_the_truth_for_all_laws() {
        for repeat in [1, 2, 3] {
            for law in [[100.0, 0.05, 5e-4], [100.0, 0.03, 0.0], [100.0, 0.0, 3e-4], [100.0, 0.2, 1e-3]] {
                for relative in [false, true] {
                    let covered = coverage(repeat, law, relative, 1000, 5);
                    println!("{repeat} of each, {law:?}, relative {relative}: {covered:.3?}");
                    assert!(covered.iter().all(|it| *it >= 0.88), "{covered:?}");
                }
            }
        }
    }
}
