//! Verdict on a trend: leak, drift, steady or unknown
//!
//! A slope whose confidence interval excludes 0 does not prove a leak: caches fill, garbage accumulates and is
//! collected, and load varies over the day. Without the first tenth of the trial, a leak or drift must meet all of
//! these criteria:
//!
//! 1. The Theil–Sen slope differs from 0, with the correlation of neighbouring points taken into account (`slopes`). If
//!    the correlation is too strong for an interval, the metric changed by [`SCATTER_RATIO_MIN`] times the scatter
//!    around the line.
//! 2. The metric changed by a relevant amount: [`relevant_change`].
//! 3. The trend continued from quarter to quarter of the trial: each of the three steps is at least [`STEP_SHARE_MIN`]
//!    of their mean. For resources, steps are between 10th percentiles, because a resource that is sometimes released
//!    completely does not leak.
//! 4. The trend did not level off: in the second half of the trial, the metric changed at least [`SLOWING_RATIO_MIN`]
//!    times as fast as in the first half.
//!
//! A trend that fails criterion 3 or 4 is steady if the metric stopped changing in the second half. Otherwise the
//! verdict is unknown.

use crate::stats::quantile::quantile;
use crate::stats::slopes::{SlopeEstimate, estimate};
use model::search::{FittedValue, Trend, TrendMetric, TrendVerdict};

/// Share of the trial at its start that is left out as warm-up.
const WARMUP: f64 = 0.1;
/// Minimum number of points, which are divided into quarters.
const POINTS_MIN: usize = 24;
const STEP_SHARE_MIN: f64 = 0.25;
/// Ratio of the second half's slope to the first half's slope below which a series levels off. A cache that fills as 1
/// − e^(−t/τ) has a ratio of 0.41 after two τ and of 0.64 after one τ. A constant leak has a ratio of 1.
const SLOWING_RATIO_MIN: f64 = 0.5;
const SCATTER_RATIO_MIN: f64 = 3.0;
/// Largest change over the trial, as a share of the level, that the interval of a steady trend may allow. It applies to
/// slopes that may be 0.
const INTERVAL_SHARE_MAX: f64 = 0.25;

/// Trend of a metric. Each point has the time in hours and the value in the unit of `metric`. `points` has at least one
/// point, is in order of time and is about evenly spaced.
pub fn trend(metric: TrendMetric, points: &[(f64, f64)]) -> Trend {
    let (first, last) = (points[0].0, points[points.len() - 1].0);
    let warm = points.partition_point(|it| it.0 < first + WARMUP * (last - first));
    let points = &points[warm.min(points.len() - 1)..];
    let Some(line) = estimate(points) else {
        let value = points[0].1;
        let per_hour = FittedValue { value: 0.0, interval: None };
        return Trend { metric, per_hour, start: value, end: value, verdict: TrendVerdict::Unknown };
    };
    let trend = verdict(&metric, points, &line);
    let per_hour = FittedValue { value: line.slope, interval: line.interval };
    // The fitted line may fall below zero, but the metric cannot be negative.
    let at = |hours: f64| line.value_at(hours).max(0.0);
    Trend { metric, per_hour, start: at(points[0].0), end: at(last), verdict: trend }
}

fn verdict(metric: &TrendMetric, points: &[(f64, f64)], line: &SlopeEstimate) -> TrendVerdict {
    if points.len() < POINTS_MIN {
        return TrendVerdict::Unknown;
    }
    let span = points[points.len() - 1].0 - points[0].0;
    let level = quantile(&points.iter().map(|it| it.1.abs()).collect::<Vec<_>>(), 0.5);
    let least = relevant_change(metric, level);
    match line.interval {
        Some((low, high)) if low <= 0.0 && high >= 0.0 => {
            let reach = low.abs().max(high) * span;
            return if reach <= least.max(INTERVAL_SHARE_MAX * level) {
                TrendVerdict::Steady
            } else {
                verdict_without_interval(points, least)
            };
        }
        None if line.slope.abs() * span < SCATTER_RATIO_MIN * scatter(points, line) => {
            return verdict_without_interval(points, least);
        }
        _ => {}
    }
    if line.slope.abs() * span < least {
        return TrendVerdict::Steady;
    }
    let held = is_resource(metric) && line.slope > 0.0;
    let (before, after) = points.split_at(points.len() / 2);
    let halves = estimate(before).zip(estimate(after));
    let Some((before, after)) = halves else { return TrendVerdict::Unknown };
    let steps = steps(points, held);
    let mean = steps.iter().sum::<f64>() / 3.0;
    let goes_on = mean * line.slope > 0.0 && steps.iter().all(|it| it / mean >= STEP_SHARE_MIN);
    let slows = after.slope * line.slope <= 0.0 || after.slope.abs() < SLOWING_RATIO_MIN * before.slope.abs();
    match (goes_on && !slows, held) {
        (true, true) => TrendVerdict::Leak,
        (true, false) => TrendVerdict::Drift,
        // Change over the whole trial at the slope of the second half.
        (false, _) if after.slope.abs() * span < least => TrendVerdict::Steady,
        (false, _) => TrendVerdict::Unknown,
    }
}

/// Width of the middle nine tenths of the residuals.
fn scatter(points: &[(f64, f64)], line: &SlopeEstimate) -> f64 {
    let rest: Vec<f64> = points.iter().map(|it| it.1 - line.value_at(it.0)).collect();
    quantile(&rest, 0.95) - quantile(&rest, 0.05)
}

/// Verdict without a usable confidence interval: steady only if the range of all values is irrelevant.
fn verdict_without_interval(points: &[(f64, f64)], least: f64) -> TrendVerdict {
    let values = || points.iter().map(|it| it.1);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    if high - low <= least { TrendVerdict::Steady } else { TrendVerdict::Unknown }
}

/// Steps from each quarter to the next: between the 10th percentiles for resources (`held`), otherwise between the
/// medians.
fn steps(points: &[(f64, f64)], held: bool) -> [f64; 3] {
    let quarter = |number: usize| {
        let (from, to) = (points.len() * number / 4, points.len() * (number + 1) / 4);
        let values: Vec<f64> = points[from..to].iter().map(|it| it.1).collect();
        quantile(&values, if held { 0.1 } else { 0.5 })
    };
    let quarters = [0, 1, 2, 3].map(quarter);
    [0, 1, 2].map(|it| quarters[it + 1] - quarters[it])
}

/// True if the metric is a finite resource.
fn is_resource(metric: &TrendMetric) -> bool {
    match metric {
        TrendMetric::Memory { .. }
        | TrendMetric::Connections { .. }
        | TrendMetric::DeadRows { .. }
        | TrendMetric::Size { .. }
        | TrendMetric::Files { .. } => true,
        TrendMetric::Median | TrendMetric::P99 | TrendMetric::Throughput => false,
    }
}

/// Smallest relevant change within the trial: a share of the metric's level, but at least an absolute amount.
fn relevant_change(metric: &TrendMetric, level: f64) -> f64 {
    const MIB: f64 = 1_048_576.0;
    let (share, least) = match metric {
        TrendMetric::Memory { .. } | TrendMetric::Size { .. } => (0.01, MIB),
        TrendMetric::Connections { .. } | TrendMetric::Files { .. } => (0.01, 2.0),
        TrendMetric::DeadRows { .. } => (0.05, 1000.0),
        TrendMetric::Median | TrendMetric::P99 => (0.05, 0.0),
        TrendMetric::Throughput => (0.01, 0.0),
    };
    least.max(share * level)
}
