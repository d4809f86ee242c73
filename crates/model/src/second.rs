//! Compact measurement of one second of a trial.

use crate::{HistogramSum, Interval, LatencyHistogram, ScriptCounts, SparseHistogram, Tick};

/// Part of a [`Tick`] that sums and charts need. A whole tick would take megabytes.
#[derive(Clone, Debug, Default)]
pub struct Second {
    /// Number of the second since the window's start, from 0.
    pub second: u64,
    /// Number of transactions in flight at the end of the second.
    pub in_flight: u64,
    pub interval: CompactInterval,
}

/// Measurement whose histograms store only the buckets with samples.
pub type CompactInterval = Interval<SparseHistogram>;

/// Measurement of one operation in one second.
pub type OperationSecond = ScriptCounts<SparseHistogram>;

impl CompactInterval {
    /// Interval with these service times of the operations, which were read separately.
    pub fn with_service_times(mut self, service_times: Vec<SparseHistogram>) -> CompactInterval {
        for (counts, service) in self.scripts.iter_mut().zip(service_times) {
            counts.service = service;
        }
        self
    }
}

impl Interval {
    /// Adds a compact measurement of another process.
    pub fn merge_compact(&mut self, other: &CompactInterval) {
        self.add(other, LatencyHistogram::merge_sparse);
    }
}

impl From<&Tick> for Second {
    fn from(tick: &Tick) -> Second {
        let mut interval = tick.interval.convert(SparseHistogram::from);
        interval.answers.retain(|answer| answer.sizes.count() > 0);
        Second { second: tick.second, in_flight: tick.in_flight, interval }
    }
}

/// Sum of several seconds.
#[derive(Debug)]
pub struct SecondSum {
    sum: Interval<HistogramSum>,
    empty: bool,
}

impl SecondSum {
    /// Empty sum; `commands[i]` is the number of commands of operation i that are measured individually.
    pub fn new(commands: &[usize]) -> SecondSum {
        SecondSum { sum: Interval::with_commands(commands), empty: true }
    }

    pub fn add(&mut self, second: &Second) {
        if self.empty {
            self.sum.from = second.interval.from;
            self.empty = false;
        }
        self.sum.add(&second.interval, HistogramSum::add);
    }

    /// Interval from the first second to the last.
    pub fn to_interval(&self) -> CompactInterval {
        self.sum.convert(SparseHistogram::from)
    }
}
