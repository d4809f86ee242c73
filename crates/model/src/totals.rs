//! Totals of a run since the run's start.

use crate::Nanos;
use std::collections::BTreeMap;

/// Totals over all trials of a run. Counters never decrease; gauges are absent between trials.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// Totals by operation name.
    pub operations: BTreeMap<String, OperationTotals>,
    /// Failed and unknown transactions by code. In each second, all codes beyond the first sixteen count as `other`.
    pub failures: BTreeMap<String, u64>,
    /// Refused connections by code.
    pub refused: BTreeMap<String, u64>,
    pub send_lag: Buckets,
    pub backlog_wait: Buckets,
    /// Number of ended trials by status: `complete`, `stopped`, …
    pub trials: BTreeMap<&'static str, u64>,
    /// Trial that is currently set up or measured; `None` between trials.
    pub trial: Option<CurrentTrial>,
    /// Number of transactions in flight.
    pub in_flight: u64,
    /// Most recent values of the probes, by node and probe.
    pub probes: BTreeMap<(String, &'static str), ProbeValues>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurrentTrial {
    /// Label of the cell, such as `transaction, 125`; untrusted input.
    pub cell: String,
    pub repetition: u32,
}

/// Totals of one operation of the mix.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationTotals {
    pub ok: u64,
    pub failed: u64,
    pub unknown: u64,
    pub dropped: u64,
    /// Response times of `ok` transactions and unanswered arrivals. Unanswered arrivals exceed all bounds and are not
    /// in the sum.
    pub response: Buckets,
    /// Service times of `ok` transactions.
    pub service: Buckets,
}

/// Histogram of durations with fixed bounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Buckets {
    /// Upper bounds in ascending order.
    pub bounds: &'static [Nanos],
    /// Number of durations at or below each bound.
    pub at_most: Vec<u64>,
    pub count: u64,
    /// Sum of all durations in nanoseconds.
    pub sum: u128,
}

/// Most recent sample of a probe.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProbeValues {
    pub at: Nanos,
    /// Values by series name and label.
    pub values: BTreeMap<(String, String), f64>,
}

/// Bounds of response and service times: 98 µs to 69 s, two per doubling.
pub const RESPONSE_TIME_BOUNDS: &[Nanos] = &doubling_bounds::<40>(16, true);
/// Bounds of the generator's send lag: 1 µs to 1.1 s, one per doubling.
pub const SEND_LAG_BOUNDS: &[Nanos] = &doubling_bounds::<21>(10, false);

/// Bounds `2^from − 1`, doubling. With `halves`, the bounds `1.5 · 2^from − 1` and so on lie between them. Each bound
/// is the last nanosecond of a histogram bucket, so the counts are exact.
const fn doubling_bounds<const N: usize>(from: u32, halves: bool) -> [Nanos; N] {
    let mut all = [Nanos::ZERO; N];
    let mut n = 0;
    while n < N {
        all[n] = match (halves, n % 2) {
            (false, _) => Nanos((1 << (from as usize + n)) - 1),
            (true, 0) => Nanos((3 << (from as usize + n / 2 - 1)) - 1),
            (true, _) => Nanos((1 << (from as usize + n / 2 + 1)) - 1),
        };
        n += 1;
    }
    all
}

impl Buckets {
    pub fn new(bounds: &'static [Nanos]) -> Buckets {
        Buckets { bounds, at_most: vec![0; bounds.len()], count: 0, sum: 0 }
    }
}

impl Default for OperationTotals {
    fn default() -> OperationTotals {
        let none = || Buckets::new(RESPONSE_TIME_BOUNDS);
        OperationTotals { ok: 0, failed: 0, unknown: 0, dropped: 0, response: none(), service: none() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LatencyHistogram;

    #[test]
    fn bounds_ascend_and_match_histogram_buckets() {
        assert_eq!(
            (RESPONSE_TIME_BOUNDS[0], RESPONSE_TIME_BOUNDS[1], RESPONSE_TIME_BOUNDS[39]),
            (Nanos(98_303), Nanos(131_071), Nanos((1 << 36) - 1))
        );
        assert_eq!((SEND_LAG_BOUNDS[0], SEND_LAG_BOUNDS[20]), (Nanos(1_023), Nanos((1 << 30) - 1)));
        for bounds in [RESPONSE_TIME_BOUNDS, SEND_LAG_BOUNDS] {
            assert!(bounds.is_sorted());
            for (n, bound) in bounds.iter().enumerate() {
                let mut latency = LatencyHistogram::new();
                [bound.0 - 1, bound.0, bound.0 + 1].iter().for_each(|it| latency.record(Nanos(*it)));
                let counts = latency.cumulative_counts(bounds);
                assert_eq!(counts[n], 2, "{bound:?} is within the bound, the next value is not");
                assert!(counts[..n].iter().all(|it| *it == 0) && counts[n + 1..].iter().all(|it| *it == 3));
            }
        }
    }
}
