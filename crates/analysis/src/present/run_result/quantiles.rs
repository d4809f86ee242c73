//! Quantiles of response times, including arrivals without an answer

use crate::verdict::summary::unanswered;
use model::run_result::Quantiles;
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
