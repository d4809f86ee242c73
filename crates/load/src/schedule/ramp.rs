//! Ramps: the integral of a curve's rate, and its inverse

use model::{Curve, Nanos, PerSecond};

/// Ramp of a curve with its start time. Durations are in seconds, rates per second.
#[derive(Clone, Debug)]
pub(super) struct Ramp {
    pub begin: Nanos,
    pub duration: Nanos,
    from: f64,
    to: f64,
    /// Change of the rate, 1/s².
    slope: f64,
    /// Integral of the rate over the ramp: the expected number of arrivals.
    pub expected: f64,
    /// Number of evenly spaced arrivals: the integer part of the integral, as in Yandex.Tank.
    pub count: u64,
}

impl Ramp {
    /// Panics if a rate is negative or not finite.
    fn new(begin: Nanos, from: PerSecond, to: PerSecond, duration: Nanos) -> Ramp {
        let (from, to) = (from.0, to.0);
        assert!(from >= 0.0 && to >= 0.0 && (from + to).is_finite(), "a rate is a finite number ≥ 0");
        let seconds = duration.as_secs_f64();
        let slope = if duration == Nanos::ZERO { 0.0 } else { (to - from) / seconds };
        let area = (from + to) / 2.0 * seconds;
        // Rates are decimal numbers, so rounding may make a product such as 0.29/s × 100 s slightly less than an
        // integer. The factor tolerates six units in the last place.
        let count = (area * (1.0 + 6.0 * f64::EPSILON)) as u64;
        Ramp { begin, duration, from, to, slope, expected: area, count }
    }

    /// Time at which the integral of the rate reaches `n` (0..=`expected`).
    ///
    /// Solves slope/2·t² + from·t = n in the form that avoids cancellation.
    #[inline]
    pub fn time_of_arrival(&self, n: f64) -> Nanos {
        let t = if n <= 0.0 {
            0.0
        } else if self.slope == 0.0 {
            n / self.from
        } else {
            2.0 * n / (self.from + (self.from * self.from + 2.0 * self.slope * n).max(0.0).sqrt())
        };
        // Round with the cast: on baseline x86-64, `f64::round` would be a function call.
        self.begin + Nanos((t * 1e9 + 0.5) as u64).min(self.duration)
    }

    /// Integral of the rate up to `at`, a time since the schedule's start.
    fn expected_by(&self, at: Nanos) -> f64 {
        let t = (at - self.begin).min(self.duration).as_secs_f64();
        (self.from + self.slope / 2.0 * t) * t
    }
}

/// Ramps of a curve, in order.
pub(super) fn ramps(curve: &Curve) -> Vec<Ramp> {
    fn place(curve: &Curve, begin: &mut Nanos, all: &mut Vec<Ramp>) {
        match curve {
            &Curve::Ramp { from, to, duration } => {
                all.push(Ramp::new(*begin, from, to, duration));
                *begin += duration;
            }
            Curve::Chain(parts) => parts.iter().for_each(|part| place(part, begin, all)),
        }
    }
    let (mut begin, mut all) = (Nanos::ZERO, Vec::new());
    place(curve, &mut begin, &mut all);
    all
}

/// Number of evenly spaced arrivals of the curve: the sum of the integer parts of the ramps' integrals.
pub fn even_count(curve: &Curve) -> u64 {
    ramps(curve).iter().map(|ramp| ramp.count).sum()
}

/// Integral of the whole curve: the expected number of Poisson arrivals.
pub fn poisson_mean(curve: &Curve) -> f64 {
    ramps(curve).iter().map(|ramp| ramp.expected).sum()
}

/// Integral of the rate up to `at`: the expected number of arrivals by then.
pub fn expected_by(curve: &Curve, at: Nanos) -> f64 {
    ramps(curve).iter().map(|ramp| ramp.expected_by(at)).sum()
}

/// Lowest and highest rate of the curve; 0 and 0 for an empty curve.
pub fn rate_range(curve: &Curve) -> (PerSecond, PerSecond) {
    let rates = || ramps(curve).into_iter().flat_map(|ramp| [ramp.from, ramp.to]);
    (PerSecond(rates().reduce(f64::min).unwrap_or(0.0)), PerSecond(rates().reduce(f64::max).unwrap_or(0.0)))
}

/// Mean rate in each of `n` equal parts of the curve's duration.
pub fn mean_rates(curve: &Curve, n: usize) -> Vec<PerSecond> {
    let ramps = ramps(curve);
    let duration = curve.duration();
    let edge = |i: usize| Nanos((u128::from(duration.0) * i as u128 / n as u128) as u64);
    // The edges between the parts are ascending, so each ramp is visited once. `before` counts the ramps that end
    // before the edge.
    let (mut before, mut area_before) = (0, 0.0);
    let mut due = |at: Nanos| {
        while before < ramps.len() && ramps[before].begin + ramps[before].duration <= at {
            area_before += ramps[before].expected;
            before += 1;
        }
        area_before + ramps.get(before).map_or(0.0, |ramp| ramp.expected_by(at))
    };
    let due: Vec<f64> = (0..=n).map(|i| due(edge(i))).collect();
    let rate = |i: usize| {
        let seconds = (edge(i + 1) - edge(i)).as_secs_f64();
        PerSecond(if seconds > 0.0 { (due[i + 1] - due[i]).max(0.0) / seconds } else { 0.0 })
    };
    (0..n).map(rate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(from: f64, to: f64, secs: u64) -> Curve {
        Curve::Ramp { from: PerSecond(from), to: PerSecond(to), duration: Nanos::from_secs(secs) }
    }

    #[test]
    fn even_count_matches_tank() {
        for (from, to, secs, count) in [
            (1.0, 200.0, 200, 20_100),
            (2.0, 12.0, 25, 175),
            (0.0, 10.0, 25, 125),
            (10.0, 0.0, 25, 125),
            (10.0, 10.0, 20, 200),
            (0.0, 0.0, 10, 0),
            (100.0, 100.0, 0, 0),
            (1.5, 1.5, 1, 1),
            // Decimals whose binary product is just below the integer.
            (0.29, 0.29, 100, 29),
            (0.57, 0.57, 100, 57),
            (1.1, 1.1, 10, 11),
            (0.999_999, 0.999_999, 1, 0),
        ] {
            assert_eq!(even_count(&ramp(from, to, secs)), count, "line({from}, {to}, {secs})");
        }
    }

    #[test]
    fn fraction_of_ramp_is_not_carried_over() {
        let half = || ramp(0.5, 0.5, 1);
        let chain = Curve::Chain(vec![half(), half(), ramp(2.5, 2.5, 1)]);
        assert_eq!(even_count(&chain), 2);
        assert!((poisson_mean(&chain) - 3.5).abs() < 1e-12);
    }

    #[test]
    fn integral_and_inverse_agree() {
        for (from, to, secs) in
            [(0.0, 10.0, 30), (10.0, 0.0, 30), (5.0, 5.0, 7), (1e6, 1e6 + 1.0, 1000), (3.0, 0.1, 86_400)]
        {
            let curve = ramp(from, to, secs);
            let only = &ramps(&curve)[0];
            for i in 0..=1000 {
                let n = only.expected * f64::from(i) / 1000.0;
                let back = expected_by(&curve, only.time_of_arrival(n));
                // A rounding error of one nanosecond is `rate` × 1e-9 arrivals.
                let rounding = from.max(to) * 1e-9 + only.expected * 1e-15;
                assert!((back - n).abs() <= 2.0 * rounding, "{from}..{to} {secs}s: {n} became {back}");
            }
        }
    }

    #[test]
    fn mean_rates_keep_the_area() {
        let curve =
            Curve::Chain(vec![ramp(0.0, 10.0, 3), ramp(0.0, 0.0, 2), ramp(7.0, 1.0, 4), ramp(9.0, 9.0, 0)]);
        for n in [1, 2, 7, 64, 1000] {
            let area: f64 = mean_rates(&curve, n).iter().map(|rate| rate.0 * 9.0 / n as f64).sum();
            assert!((area - 31.0).abs() < 1e-6, "{n} stretches hold {area}");
        }
        let nothing = Curve::Chain(Vec::new());
        assert_eq!(mean_rates(&nothing, 2), [PerSecond(0.0); 2]);
        assert_eq!(rate_range(&nothing), (PerSecond(0.0), PerSecond(0.0)));
        assert_eq!(rate_range(&curve), (PerSecond(0.0), PerSecond(10.0)));
    }
}
