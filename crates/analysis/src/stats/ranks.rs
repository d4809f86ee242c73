//! Distribution-free confidence intervals of the shift between two samples
//!
//! Hodges–Lehmann estimators, and the exact intervals of the Wilcoxon and Mann–Whitney tests. Such an interval contains
//! exactly the shifts that the test does not reject. Source: Hollander and Wolfe, "Nonparametric Statistical Methods",
//! sections 3.2, 3.3, 4.2 and 4.3.

use super::quantile::median_of_sorted;

/// A shift and its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShiftEstimate {
    pub value: f64,
    /// Confidence interval with a level of at least 95 %.
    pub interval: (f64, f64),
}

/// Probability outside the interval on each side.
const TAIL: f64 = 0.025;
/// Number of values above which the normal approximation is good enough.
const EXACT_MAX: usize = 60;

/// Shift of `b` relative to `a`; `None` if there are too few values for 95 %. Four values on each side are enough.
pub fn two_sample_shift(a: &[f64], b: &[f64]) -> Option<ShiftEstimate> {
    let differences = a.iter().flat_map(|a| b.iter().map(move |b| b - a)).collect();
    let (n, m) = (a.len() as f64, b.len() as f64);
    let beyond = if a.len() + b.len() > EXACT_MAX {
        (n * m / 2.0 - 1.96 * (n * m * (n + m + 1.0) / 12.0).sqrt()).floor() as usize
    } else {
        // Count the choices of b's ranks for each sum of ranks.
        let all = rank_sum_counts(a.len() + b.len(), Some(b.len()));
        let least = b.len() * (b.len() + 1) / 2;
        tail_count(&all[least.min(all.len())..], all.iter().sum())
    };
    trimmed_shift(differences, beyond)
}

/// Shift of the second value of each pair relative to the first, from their differences. `None` with fewer than six
/// differences.
pub fn paired_shift(differences: &[f64]) -> Option<ShiftEstimate> {
    let n = differences.len();
    let averages =
        (0..n).flat_map(|i| (i..n).map(move |j| f64::midpoint(differences[i], differences[j]))).collect();
    let beyond = if n > EXACT_MAX {
        let n = n as f64;
        (n * (n + 1.0) / 4.0 - 1.96 * (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt()).floor() as usize
    } else {
        let all = rank_sum_counts(n, None);
        tail_count(&all, all.iter().sum())
    };
    trimmed_shift(averages, beyond)
}

/// Median of `values`, and their range without the `beyond` smallest and largest ones.
fn trimmed_shift(mut values: Vec<f64>, beyond: usize) -> Option<ShiftEstimate> {
    if beyond == 0 {
        return None;
    }
    values.sort_by(f64::total_cmp);
    let last = values.len() - 1;
    let value = median_of_sorted(&values)?;
    Some(ShiftEstimate { value, interval: (values[beyond - 1], values[last + 1 - beyond]) })
}

/// Number of ways to choose `size` of the ranks 1..=n, for each sum of ranks. `None` allows any number of ranks.
fn rank_sum_counts(n: usize, size: Option<usize>) -> Vec<f64> {
    let most = n * (n + 1) / 2;
    let rows = size.unwrap_or(0);
    // The row index is the number of ranks chosen so far. There is a single row if `size` is `None`.
    let mut ways = vec![vec![0.0; most + 1]; rows + 1];
    ways[0][0] = 1.0;
    for rank in 1..=n {
        for chosen in (0..=rows).rev() {
            for sum in (rank..=most).rev() {
                ways[chosen][sum] += match size {
                    None => ways[0][sum - rank],
                    Some(_) if chosen > 0 => ways[chosen - 1][sum - rank],
                    Some(_) => 0.0,
                };
            }
        }
    }
    ways.swap_remove(rows)
}

/// Number of the smallest sums that together make up at most [`TAIL`] of all choices.
fn tail_count(ways: &[f64], all: f64) -> usize {
    let mut below = 0.0;
    ways.iter()
        .take_while(|count| {
            below += **count;
            below <= TAIL * all
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows give the number of differences removed at either end.
    #[test]
    fn equals_published_critical_values() {
        // Hollander and Wolfe, table A.6; the table has no entry for 3 and 3.
        for (n, m, beyond) in [(3, 3, 0), (4, 4, 1), (5, 5, 3), (5, 8, 7), (10, 10, 24), (3, 6, 2)] {
            let all = rank_sum_counts(n + m, Some(m));
            assert_eq!(tail_count(&all[m * (m + 1) / 2..], all.iter().sum()), beyond, "{n} {m}");
        }
        // Table A.4 of the signed ranks.
        for (n, beyond) in [(5, 0), (6, 1), (8, 4), (10, 9), (20, 53)] {
            let all = rank_sum_counts(n, None);
            assert_eq!(tail_count(&all, all.iter().sum()), beyond, "{n}");
        }
    }

    #[test]
    #[expect(clippy::approx_constant, reason = "it is a measurement")]
    fn estimates_shifts_with_intervals() {
        let a = [1.0, 2.0, 3.0, 4.0];
        let result = two_sample_shift(&a, &[11.0, 12.0, 13.0, 14.0]).expect("four of each are enough");
        assert_eq!(result, ShiftEstimate { value: 10.0, interval: (7.0, 13.0) });
        assert_eq!(two_sample_shift(&a, &[1.0, 2.0]), None);
        // Hollander and Wolfe, 3.2: depression before and after; estimate -0.46, interval [-0.786, -0.01] of 96.1 %.
        let before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
        let after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
        let differences: Vec<f64> = after.iter().zip(&before).map(|(after, before)| after - before).collect();
        let result = paired_shift(&differences).expect("nine pairs are enough");
        assert!((result.value + 0.46).abs() < 1e-9, "{result:?}");
        assert!(
            (result.interval.0 + 0.786).abs() < 1e-9 && (result.interval.1 + 0.01).abs() < 1e-9,
            "{result:?}"
        );
        assert_eq!(paired_shift(&differences[..5]), None);
    }

    /// The normal approximation agrees with exact counting where the latter ends.
    #[test]
    fn normal_approximation_continues_exact_counts() {
        let a: Vec<f64> = (0..31).map(f64::from).collect();
        let width = |n: usize| two_sample_shift(&a[..n], &a[..n]).expect("there are enough values").interval;
        let (counted, normal) = (width(30), width(31));
        assert_eq!(counted.1, -counted.0, "equal samples have a symmetric interval");
        assert!((normal.1 - counted.1).abs() <= 1.0, "{counted:?} {normal:?}");
    }
}
