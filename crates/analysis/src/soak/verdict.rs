//! Does it leak, drift, or stand?
//!
//! A slope whose interval leaves out 0 is not enough: caches fill and level off, garbage grows and is collected, days have
//! waves. Something leaks or drifts only if all of these hold, once the first tenth is left out:
//!
//! 1. its slope by Theil and Sen differs from 0, neighbours being alike taken into account (`slopes`); where neighbours are
//!    too much alike to tell, it moved by [`BEYOND`] times what most of the points scatter by around it;
//! 2. it moved by what matters: [`matters`];
//! 3. it went on from quarter to quarter: each of the three steps is at least [`STEP`] of their mean. Of what is held, steps
//!    are between the lowest tenths: what is given back now and then, and then begins where it began, is no leak;
//! 4. it did not level off: in the second half it moved at least [`SLOWING`] times as fast as in the first.
//!
//! What fails 3 or 4 is steady if it came to stand in the second half; else it is not known what it will do.

use crate::slopes::{SlopeEstimate, estimate};
use model::search::{FittedValue, Trend, TrendMetric, TrendVerdict};

/// Share of the time that is left out, for warming up.
const WARMUP: f64 = 0.1;
/// Fewer points are too short to have quarters.
const POINTS_MIN: usize = 24;
const STEP: f64 = 0.25;
/// A cache that fills by 1 − e^(−t/τ) is at 0.41 when it has had twice its τ, and at 0.64 after one τ; a leak is at 1.
const SLOWING: f64 = 0.5;
const SCATTER_RATIO_MIN: f64 = 3.0;
/// With an interval that reaches further than this share of the level, a slope that may be 0 may be anything.
const INTERVAL_SHARE_MAX: f64 = 0.25;

/// What the points say: hours and values in the unit of `what`, in the order of time, about evenly spaced. At least one.
pub fn trend(what: TrendMetric, points: &[(f64, f64)]) -> Trend {
    let (first, last) = (points[0].0, points[points.len() - 1].0);
    let warm = points.partition_point(|it| it.0 < first + WARMUP * (last - first));
    let points = &points[warm.min(points.len() - 1)..];
    let Some(line) = estimate(points) else {
        let value = points[0].1;
        let per_hour = FittedValue { value: 0.0, interval: None };
        return Trend { metric: what, per_hour, from: value, to: value, verdict: TrendVerdict::Unknown };
    };
    let course = verdict(&what, points, &line);
    let per_hour = FittedValue { value: line.slope, interval: line.interval };
    // There is no less than nothing, where a line would begin or end.
    let at = |hours: f64| line.value_at(hours).max(0.0);
    Trend { metric: what, per_hour, from: at(points[0].0), to: at(last), verdict: course }
}

fn verdict(what: &TrendMetric, points: &[(f64, f64)], line: &SlopeEstimate) -> TrendVerdict {
    if points.len() < POINTS_MIN {
        return TrendVerdict::Unknown;
    }
    let span = points[points.len() - 1].0 - points[0].0;
    let level = quantile(&points.iter().map(|it| it.1.abs()).collect::<Vec<_>>(), 0.5);
    let least = relevant_change(what, level);
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
    let held = is_resource(what) && line.slope > 0.0;
    let (before, after) = points.split_at(points.len() / 2);
    let halves = estimate(before).zip(estimate(after));
    let Some((before, after)) = halves else { return TrendVerdict::Unknown };
    let steps = steps(points, held);
    let mean = steps.iter().sum::<f64>() / 3.0;
    let goes_on = mean * line.slope > 0.0 && steps.iter().all(|it| it / mean >= STEP);
    let slows = after.slope * line.slope <= 0.0 || after.slope.abs() < SLOWING * before.slope.abs();
    match (goes_on && !slows, held) {
        (true, true) => TrendVerdict::Leak,
        (true, false) => TrendVerdict::Drift,
        // What it would still move by, at the speed that it has come to.
        (false, _) if after.slope.abs() * span < least => TrendVerdict::Steady,
        (false, _) => TrendVerdict::Unknown,
    }
}

/// Of nine tenths of the points around the line, from the lowest to the highest.
fn scatter(points: &[(f64, f64)], line: &SlopeEstimate) -> f64 {
    let rest: Vec<f64> = points.iter().map(|it| it.1 - line.value_at(it.0)).collect();
    quantile(&rest, 0.95) - quantile(&rest, 0.05)
}

/// Where the interval tells nothing: steady only if it hardly moved at all.
fn verdict_without_interval(points: &[(f64, f64)], least: f64) -> TrendVerdict {
    let values = || points.iter().map(|it| it.1);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    if high - low <= least { TrendVerdict::Steady } else { TrendVerdict::Unknown }
}

/// From each quarter to the next: of their lowest tenths where something is held, else of their medians.
fn steps(points: &[(f64, f64)], held: bool) -> [f64; 3] {
    let quarter = |number: usize| {
        let (from, to) = (points.len() * number / 4, points.len() * (number + 1) / 4);
        let values: Vec<f64> = points[from..to].iter().map(|it| it.1).collect();
        quantile(&values, if held { 0.1 } else { 0.5 })
    };
    let quarters = [0, 1, 2, 3].map(quarter);
    [0, 1, 2].map(|it| quarters[it + 1] - quarters[it])
}

/// Whether more of it is taken from something that ends.
fn is_resource(what: &TrendMetric) -> bool {
    match what {
        TrendMetric::Memory { .. }
        | TrendMetric::Connections { .. }
        | TrendMetric::DeadRows { .. }
        | TrendMetric::Size { .. }
        | TrendMetric::Files { .. } => true,
        TrendMetric::Median | TrendMetric::P99 | TrendMetric::Throughput => false,
    }
}

/// By how much it has to move within the trial for anybody to care: a share of its level, and so much at least.
fn relevant_change(what: &TrendMetric, level: f64) -> f64 {
    const MIB: f64 = 1_048_576.0;
    let (share, least) = match what {
        TrendMetric::Memory { .. } | TrendMetric::Size { .. } => (0.01, MIB),
        TrendMetric::Connections { .. } | TrendMetric::Files { .. } => (0.01, 2.0),
        TrendMetric::DeadRows { .. } => (0.05, 1000.0),
        TrendMetric::Median | TrendMetric::P99 => (0.05, 0.0),
        TrendMetric::Throughput => (0.01, 0.0),
    };
    least.max(share * level)
}

/// The value below which this share of at least one lies.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[(share * (sorted.len() - 1) as f64).round() as usize]
}
