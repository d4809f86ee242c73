//! Medians and quantiles of samples

/// Median of `values`; with an even number of values, the mean of the middle two. `None` without values.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    median_of_sorted(&sorted(values))
}

/// [`median`] of values that are already in ascending order.
pub(crate) fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    Some(f64::midpoint(sorted[(sorted.len() - 1) / 2], upper))
}

/// Median that is one of the values: with an even number of values, the greater of the middle two. `None` without
/// values.
pub(crate) fn upper_median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let sorted = sorted(values);
    sorted.get(sorted.len() / 2).copied()
}

/// Quantile `share` (0..=1) of `values`, which must not be empty.
pub(crate) fn quantile(values: &[f64], share: f64) -> f64 {
    let sorted = sorted(values.iter().copied());
    sorted[(share * (sorted.len() - 1) as f64).round() as usize]
}

pub(crate) fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut all: Vec<f64> = values.into_iter().collect();
    all.sort_by(f64::total_cmp);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computes_both_medians() {
        for (values, expected) in [
            (&[][..], None),
            (&[7.0], Some((7.0, 7.0))),
            (&[9.0, 1.0], Some((5.0, 9.0))),
            (&[3.0, 1.0, 2.0], Some((2.0, 2.0))),
            (&[4.0, 1.0, 3.0, 2.0], Some((2.5, 3.0))),
            (&[f64::INFINITY, 1.0, f64::INFINITY], Some((f64::INFINITY, f64::INFINITY))),
        ] {
            let values = || values.iter().copied();
            assert_eq!(median(values()).zip(upper_median(values())), expected);
        }
    }

    #[test]
    fn picks_the_nearest_value_as_quantile() {
        let values = [50.0, 10.0, 40.0, 20.0, 30.0];
        for (share, expected) in [(0.0, 10.0), (0.1, 10.0), (0.2, 20.0), (0.5, 30.0), (1.0, 50.0)] {
            assert_eq!(quantile(&values, share), expected, "{share}");
        }
    }
}
