//! Histogram of durations.

mod encoding;
mod sparse;

pub use encoding::{DecodeError, EncodedHistogram, HistogramEncoder};
pub use sparse::{HistogramDecoder, HistogramSum, SparseHistogram};

use crate::Nanos;
use hdrhistogram::Histogram;

/// Lowest recorded value, in nanoseconds. The constants are equal for all histograms, so that histograms can be merged.
const LOWEST_VALUE: u64 = 1;
const HIGHEST_VALUE: u64 = 3_600_000_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;

/// Histogram of durations from 1 ns to one hour with three significant digits (relative error of a quantile ≤ 0.1 %).
///
/// Count, sum, sum of squares, minimum and maximum are exact. Longer durations count as one hour in quantiles. A
/// histogram takes 270 KiB.
#[derive(Clone, Debug)]
pub struct LatencyHistogram {
    histogram: Histogram<u64>,
    sum: u128,
    sum_of_squares: f64,
    max: u64,
    min: u64,
}

impl LatencyHistogram {
    /// Minimum number of samples beyond a reported quantile.
    pub const MIN_TAIL_SAMPLES: u64 = 10;

    pub fn new() -> LatencyHistogram {
        let histogram = Histogram::new_with_bounds(LOWEST_VALUE, HIGHEST_VALUE, SIGNIFICANT_DIGITS)
            .expect("bounds are valid");
        LatencyHistogram { histogram, sum: 0, sum_of_squares: 0.0, max: 0, min: u64::MAX }
    }

    #[inline]
    pub fn record(&mut self, value: Nanos) {
        self.histogram.saturating_record(value.0);
        self.sum += u128::from(value.0);
        self.sum_of_squares += value.0 as f64 * value.0 as f64;
        self.max = self.max.max(value.0);
        self.min = self.min.min(value.0);
    }

    /// Adds all samples of `other`.
    pub fn merge(&mut self, other: &LatencyHistogram) {
        self.histogram.add(&other.histogram).expect("both histograms have the same bounds");
        self.sum += other.sum;
        self.sum_of_squares += other.sum_of_squares;
        self.max = self.max.max(other.max);
        self.min = self.min.min(other.min);
    }

    pub fn clear(&mut self) {
        self.histogram.reset();
        (self.sum, self.sum_of_squares, self.max, self.min) = (0, 0.0, 0, u64::MAX);
    }

    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Smallest recorded value that at least a share `q` (0..=1) of samples does not exceed.
    ///
    /// Returns `None` if fewer than [`LatencyHistogram::MIN_TAIL_SAMPLES`] samples lie beyond the quantile.
    pub fn quantile(&self, q: f64) -> Option<Nanos> {
        let beyond = (self.count() as f64 * (1.0 - q)).round() as u64;
        (beyond >= LatencyHistogram::MIN_TAIL_SAMPLES)
            .then(|| Nanos(self.histogram.value_at_quantile(q).min(self.max)))
    }

    /// Quantile over the histogram's samples and `unanswered` longer samples. `None` if too few samples lie beyond the
    /// quantile, or if it falls among the unanswered samples ([`is_quantile_unanswered`]).
    pub fn quantile_with_unanswered(&self, q: f64, unanswered: u64) -> Option<Nanos> {
        if unanswered == 0 {
            return self.quantile(q);
        }
        let all = self.count() + unanswered;
        let (rank, beyond) = (rank(q, all), (all as f64 * (1.0 - q)).round() as u64);
        let known = rank <= self.count() && beyond >= LatencyHistogram::MIN_TAIL_SAMPLES;
        known
            .then(|| Nanos(self.histogram.value_at_quantile(rank as f64 / self.count() as f64).min(self.max)))
    }

    /// Quantile regardless of the number of samples beyond it; `None` without samples. It is for stop rules, which
    /// decide every second, and not for reports.
    pub fn quantile_unchecked(&self, q: f64) -> Option<Nanos> {
        (self.count() > 0).then(|| Nanos(self.histogram.value_at_quantile(q).min(self.max)))
    }

    /// Number of samples longer than `limit`, without the samples in the bucket that contains `limit`.
    pub fn count_above(&self, limit: Nanos) -> u64 {
        self.count() - self.histogram.count_between(0, limit.0).min(self.count())
    }

    /// Number of samples at or below each of these ascending bounds.
    ///
    /// The number is exact if a bound is the last nanosecond of a bucket, as `n · 2^k − 1` is for n ≤ 1024.
    pub fn cumulative_counts(&self, bounds: &[Nanos]) -> Vec<u64> {
        let mut counts = vec![0; bounds.len()];
        for value in self.histogram.iter_recorded() {
            let first = bounds.partition_point(|bound| bound.0 < value.value_iterated_to());
            if let Some(count) = counts.get_mut(first) {
                *count += value.count_at_value();
            }
        }
        for n in 1..counts.len() {
            counts[n] += counts[n - 1];
        }
        counts
    }

    /// Mean of all samples; `None` without samples.
    pub fn mean(&self) -> Option<Nanos> {
        (self.count() > 0).then(|| Nanos((self.sum / u128::from(self.count())) as u64))
    }

    /// Population standard deviation, as pgbench prints it; `None` without samples.
    pub fn deviation(&self) -> Option<Nanos> {
        let n = self.count() as f64;
        let mean = self.sum as f64 / n;
        (n > 0.0).then(|| Nanos((self.sum_of_squares / n - mean * mean).max(0.0).sqrt() as u64))
    }

    pub fn max(&self) -> Option<Nanos> {
        (self.count() > 0).then_some(Nanos(self.max))
    }

    pub fn min(&self) -> Option<Nanos> {
        (self.count() > 0).then_some(Nanos(self.min))
    }

    /// Recorded values, rounded to three significant digits, with their counts; ascending.
    pub fn counts(&self) -> impl Iterator<Item = (Nanos, u64)> + '_ {
        self.histogram
            .iter_recorded()
            .map(|it| (Nanos(it.value_iterated_to()), it.count_since_last_iteration()))
    }

    /// Sum of all samples in nanoseconds.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Sum of the squares of all samples in ns².
    pub fn sum_of_squares(&self) -> f64 {
        self.sum_of_squares
    }
}

/// Rank of the quantile among `count` samples in ascending order, from 1.
fn rank(q: f64, count: u64) -> u64 {
    ((q * count as f64).ceil() as u64).max(1)
}

/// True if the quantile `q` falls among `unanswered` samples, which are longer than the `answered` samples.
///
/// The result is false if there are too few unanswered samples to report the quantile.
pub fn is_quantile_unanswered(q: f64, answered: u64, unanswered: u64) -> bool {
    unanswered >= LatencyHistogram::MIN_TAIL_SAMPLES && rank(q, answered + unanswered) > answered
}

impl Default for LatencyHistogram {
    fn default() -> LatencyHistogram {
        LatencyHistogram::new()
    }
}
