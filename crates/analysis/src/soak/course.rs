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

use crate::slopes::{Slope, slope};
use model::search::{Course, Fitted, Trend, Trended};

/// Share of the time that is left out, for warming up.
const WARMUP: f64 = 0.1;
/// Fewer points are too short to have quarters.
const FEWEST: usize = 24;
const STEP: f64 = 0.25;
/// A cache that fills by 1 − e^(−t/τ) is at 0.41 when it has had twice its τ, and at 0.64 after one τ; a leak is at 1.
const SLOWING: f64 = 0.5;
const BEYOND: f64 = 3.0;
/// With an interval that reaches further than this share of the level, a slope that may be 0 may be anything.
const TELLING: f64 = 0.25;

/// What the points say: hours and values in the unit of `what`, in the order of time, about evenly spaced. At least one.
pub fn trend(what: Trended, points: &[(f64, f64)]) -> Trend {
    let (first, last) = (points[0].0, points[points.len() - 1].0);
    let warm = points.partition_point(|it| it.0 < first + WARMUP * (last - first));
    let points = &points[warm.min(points.len() - 1)..];
    let Some(line) = slope(points) else {
        let value = points[0].1;
        let per_hour = Fitted { value: 0.0, interval: None };
        return Trend { what, per_hour, from: value, to: value, course: Course::Unknown };
    };
    let course = course(&what, points, &line);
    let per_hour = Fitted { value: line.slope, interval: line.interval };
    // There is no less than nothing, where a line would begin or end.
    let at = |hours: f64| line.at(hours).max(0.0);
    Trend { what, per_hour, from: at(points[0].0), to: at(last), course }
}

fn course(what: &Trended, points: &[(f64, f64)], line: &Slope) -> Course {
    if points.len() < FEWEST {
        return Course::Unknown;
    }
    let span = points[points.len() - 1].0 - points[0].0;
    let level = at_share(&points.iter().map(|it| it.1.abs()).collect::<Vec<_>>(), 0.5);
    let least = matters(what, level);
    match line.interval {
        Some((low, high)) if low <= 0.0 && high >= 0.0 => {
            let reach = low.abs().max(high) * span;
            return if reach <= least.max(TELLING * level) { Course::Steady } else { at_rest(points, least) };
        }
        None if line.slope.abs() * span < BEYOND * scatter(points, line) => return at_rest(points, least),
        _ => {}
    }
    if line.slope.abs() * span < least {
        return Course::Steady;
    }
    let held = is_held(what) && line.slope > 0.0;
    let (before, after) = points.split_at(points.len() / 2);
    let halves = slope(before).zip(slope(after));
    let Some((before, after)) = halves else { return Course::Unknown };
    let steps = steps(points, held);
    let mean = steps.iter().sum::<f64>() / 3.0;
    let goes_on = mean * line.slope > 0.0 && steps.iter().all(|it| it / mean >= STEP);
    let slows = after.slope * line.slope <= 0.0 || after.slope.abs() < SLOWING * before.slope.abs();
    match (goes_on && !slows, held) {
        (true, true) => Course::Leak,
        (true, false) => Course::Drift,
        // What it would still move by, at the speed that it has come to.
        (false, _) if after.slope.abs() * span < least => Course::Steady,
        (false, _) => Course::Unknown,
    }
}

/// Of nine tenths of the points around the line, from the lowest to the highest.
fn scatter(points: &[(f64, f64)], line: &Slope) -> f64 {
    let rest: Vec<f64> = points.iter().map(|it| it.1 - line.at(it.0)).collect();
    at_share(&rest, 0.95) - at_share(&rest, 0.05)
}

/// Where the interval tells nothing: steady only if it hardly moved at all.
fn at_rest(points: &[(f64, f64)], least: f64) -> Course {
    let values = || points.iter().map(|it| it.1);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    if high - low <= least { Course::Steady } else { Course::Unknown }
}

/// From each quarter to the next: of their lowest tenths where something is held, else of their medians.
fn steps(points: &[(f64, f64)], held: bool) -> [f64; 3] {
    let quarter = |number: usize| {
        let (from, to) = (points.len() * number / 4, points.len() * (number + 1) / 4);
        let values: Vec<f64> = points[from..to].iter().map(|it| it.1).collect();
        at_share(&values, if held { 0.1 } else { 0.5 })
    };
    let quarters = [0, 1, 2, 3].map(quarter);
    [0, 1, 2].map(|it| quarters[it + 1] - quarters[it])
}

/// Whether more of it is taken from something that ends.
fn is_held(what: &Trended) -> bool {
    match what {
        Trended::Memory { .. }
        | Trended::Connections { .. }
        | Trended::DeadRows { .. }
        | Trended::Size { .. }
        | Trended::Files { .. } => true,
        Trended::Median | Trended::P99 | Trended::Throughput => false,
    }
}

/// By how much it has to move within the trial for anybody to care: a share of its level, and so much at least.
fn matters(what: &Trended, level: f64) -> f64 {
    const MIB: f64 = 1_048_576.0;
    let (share, least) = match what {
        Trended::Memory { .. } | Trended::Size { .. } => (0.01, MIB),
        Trended::Connections { .. } | Trended::Files { .. } => (0.01, 2.0),
        Trended::DeadRows { .. } => (0.05, 1000.0),
        Trended::Median | Trended::P99 => (0.05, 0.0),
        Trended::Throughput => (0.01, 0.0),
    };
    least.max(share * level)
}

/// The value below which this share of at least one lies.
fn at_share(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[(share * (sorted.len() - 1) as f64).round() as usize]
}
