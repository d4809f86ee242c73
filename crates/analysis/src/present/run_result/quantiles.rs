//! Quantiles of response times, including arrivals without a response

use crate::verdict::summary::unanswered;
use model::run_result::{QuantilePoint, Quantiles};
use model::{HistogramSum, Nanos};

/// Quantiles of response times. The `without_answer` arrivals count as longer than the `window` and than all other
/// response times.
pub(super) fn quantiles(histogram: &HistogramSum, without_answer: u64, window: Nanos) -> Quantiles {
    let quantile = |q| histogram.quantile_with_unanswered(q, without_answer);
    let all = without_answer == 0;
    Quantiles {
        unanswered: (!all).then(|| unanswered(without_answer, histogram.mean(), histogram.max(), window)),
        mean: histogram.mean().filter(|_| all),
        p50: quantile(0.5),
        p90: quantile(0.9),
        p95: quantile(0.95),
        p99: quantile(0.99),
        p999: quantile(0.999),
        max: histogram.max().filter(|_| all),
    }
}

/// Number of points of a curve per decade of 1 / (1 - quantile).
const POINTS_PER_DECADE: u32 = 10;

/// Response time by quantile, for a plot on the scale of HdrHistogram: neighbouring points have equal distances on a
/// logarithmic axis of 1 / (1 - quantile).
///
/// The curve ends where fewer than ten samples lie beyond the quantile, or where arrivals `without_answer` begin,
/// because their response times are unknown.
pub(super) fn curve(histogram: &HistogramSum, without_answer: u64) -> Vec<QuantilePoint> {
    let quantile = |n: u32| 1.0 - 10f64.powf(-f64::from(n) / f64::from(POINTS_PER_DECADE));
    let time = |quantile| histogram.quantile_with_unanswered(quantile, without_answer);
    (0..)
        .map(quantile)
        .map_while(|quantile| time(quantile).map(|time| QuantilePoint { quantile, time }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{LatencyHistogram, SparseHistogram};

    /// Histogram of one sample for each of 1..=`count` milliseconds.
    fn ramp(count: u64) -> HistogramSum {
        let mut histogram = LatencyHistogram::new();
        (1..=count).for_each(|ms| histogram.record(Nanos::from_millis(ms)));
        let mut sum = HistogramSum::new();
        sum.add(&SparseHistogram::from(&histogram));
        sum
    }

    #[test]
    fn curves_end_where_too_few_samples_lie_beyond() {
        for (count, without_answer, points, last) in [
            // Ten of 1000 samples lie beyond p99.
            (1000, 0, 21, Some((0.99, 990))),
            (10_000, 0, 31, Some((0.999, 9990))),
            (10, 0, 1, Some((0.0, 1))),
            (9, 0, 0, None),
            (0, 0, 0, None),
            // Half of the arrivals have no response, so that nothing above the median is known.
            (500, 500, 4, Some((0.498_813, 499))),
            (0, 100, 0, None),
        ] {
            let curve = curve(&ramp(count), without_answer);
            assert_eq!(curve.len(), points, "{count} {without_answer}: {curve:?}");
            assert!(curve.windows(2).all(|it| it[0].quantile < it[1].quantile && it[0].time <= it[1].time));
            let near = |a: f64, b: f64, tolerance: f64| (a - b).abs() <= tolerance;
            let is_last = match (curve.last(), last) {
                (Some(point), Some((quantile, ms))) => {
                    let expected: Nanos = Nanos::from_millis(ms);
                    near(point.quantile, quantile, 1e-6)
                        && near(
                            point.time.as_secs_f64(),
                            expected.as_secs_f64(),
                            0.002 * expected.as_secs_f64(),
                        )
                }
                (None, None) => true,
                _ => false,
            };
            assert!(is_last, "{count} {without_answer}: {:?}", curve.last());
        }
    }

    #[test]
    fn curves_agree_with_the_quantiles_of_tables() {
        let histogram = ramp(20_000);
        let table = quantiles(&histogram, 0, Nanos::from_secs(10));
        let curve = curve(&histogram, 0);
        let at = |n: usize| curve.get(n).map(|point| point.time);
        assert_eq!([at(10), at(20), at(30)], [table.p90, table.p99, table.p999]);
    }
}
