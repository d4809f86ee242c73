//! Sums over seconds of a trial that belong together

use super::quantiles::quantiles;
use model::run_result::PeriodResult;
use model::{HistogramSum, Nanos, PerSecond, Second, SparseHistogram};

/// Sums over some seconds of a trial, of all operations together.
#[derive(Clone, Debug, Default)]
pub(super) struct PeriodSum {
    pub seconds: f64,
    pub arrivals: u64,
    /// Number of transactions that succeeded within the window.
    pub delivered: u64,
    /// Number of failed transactions, and of those with an unknown outcome.
    pub failed: u64,
    pub dropped: u64,
    pub refused: u64,
    pub unanswered: u64,
    /// Response times. A [`HistogramSum`] takes much memory, so they are set when all seconds have been added.
    pub response: SparseHistogram,
}

impl PeriodSum {
    /// Adds a second. Its response times are added to `response`.
    pub fn add_second(&mut self, second: &Second, response: &mut HistogramSum) {
        let interval = &second.interval;
        self.seconds += interval.to.as_secs_f64() - interval.from.as_secs_f64();
        self.refused += interval.refused.total();
        for counts in &interval.scripts {
            self.arrivals += counts.arrivals();
            self.delivered += counts.ok - counts.late;
            self.failed += counts.failed.total() + counts.unknown.total();
            self.dropped += counts.dropped;
            self.unanswered += counts.unanswered();
            response.add(&counts.response);
        }
    }

    /// Adds the sums of another trial. Its response times are added to `response`.
    pub fn merge(&mut self, other: &PeriodSum, response: &mut HistogramSum) {
        self.seconds += other.seconds;
        self.arrivals += other.arrivals;
        self.delivered += other.delivered;
        self.failed += other.failed;
        self.dropped += other.dropped;
        self.refused += other.refused;
        self.unanswered += other.unanswered;
        response.add(&other.response);
    }

    /// Result of sums over several trials with these response times; `None` without a second. `window` is the longest
    /// duration of the period in one trial: arrivals without an answer count as at least as long.
    pub fn result(&self, response: &HistogramSum, window: Nanos) -> Option<PeriodResult> {
        (self.seconds > 0.0).then(|| PeriodResult {
            measured: Nanos::from_secs_f64(self.seconds),
            delivered: PerSecond(self.delivered as f64 / self.seconds),
            arrivals: self.arrivals,
            count: response.count(),
            response: quantiles(response, self.unanswered, window),
            failed: self.failed,
            dropped: self.dropped,
            refused: self.refused,
        })
    }
}
