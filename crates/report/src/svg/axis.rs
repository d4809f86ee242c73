//! Scales and ticks of a picture's axes

use crate::lang::Lang;
use model::Nanos;
use model::chart::ChartUnit;

/// Maps values to positions of a picture.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    form: ScaleForm,
    /// Positions of `low` and `high`.
    ends: (f64, f64),
    /// Values with a label, ascending.
    pub ticks: Vec<f64>,
}

/// Relation of values and distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScaleForm {
    Linear,
    Logarithmic,
    /// Each distance divides the share above the quantile by ten, as in HdrHistogram's plots.
    Quantile,
}

impl ScaleForm {
    fn new(unit: ChartUnit, logarithmic: bool) -> ScaleForm {
        match (logarithmic, unit) {
            (false, _) => ScaleForm::Linear,
            (true, ChartUnit::Quantile) => ScaleForm::Quantile,
            (true, _) => ScaleForm::Logarithmic,
        }
    }

    fn can_show(self, value: f64) -> bool {
        match self {
            ScaleForm::Linear => value.is_finite(),
            ScaleForm::Logarithmic => value.is_finite() && value > 0.0,
            ScaleForm::Quantile => (0.0..1.0).contains(&value),
        }
    }

    /// Distance from the origin.
    fn distance(self, value: f64) -> f64 {
        match self {
            ScaleForm::Linear => value,
            ScaleForm::Logarithmic => value.ln(),
            ScaleForm::Quantile => -(1.0 - value).log10(),
        }
    }
}

/// Approximate number of ticks.
const TICKS: f64 = 5.0;
/// Maximum number of ticks of a logarithmic axis.
const LOGARITHMIC_TICKS_MAX: usize = 8;
/// Steps of an axis that shows a time, in seconds.
const TIME_STEPS: [f64; 14] =
    [1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0];
/// Time from which the steps of an axis are whole seconds, minutes or hours.
const LONG_SECONDS: f64 = 10.0;

impl Scale {
    /// Scale that contains all values. A linear scale contains 0, and begins there unless a value is negative. A
    /// logarithmic scale ignores values that are not positive. `None` without a value.
    pub fn new(
        values: impl Iterator<Item = f64>,
        unit: ChartUnit,
        logarithmic: bool,
        ends: (f64, f64),
    ) -> Option<Scale> {
        let form = ScaleForm::new(unit, logarithmic);
        let usable = values.filter(|value| form.can_show(*value));
        let (low, high) = usable.fold(None, |range: Option<(f64, f64)>, value| {
            Some(range.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
        })?;
        let ticks = match form {
            ScaleForm::Linear => linear_ticks(low.min(0.0), high, unit),
            ScaleForm::Logarithmic => logarithmic_ticks(low, high),
            ScaleForm::Quantile => quantile_ticks(high),
        };
        let (low, high) = (ticks[0], *ticks.last().expect("an axis has two ticks"));
        let shown = if form == ScaleForm::Logarithmic { thin_out(ticks) } else { ticks };
        Some(Scale { low, high, form, ends, ticks: shown })
    }

    /// Position of a value; values beyond the scale are at its end.
    pub fn place(&self, value: f64) -> f64 {
        let distance = |value: f64| self.form.distance(value.clamp(self.low, self.high));
        let (low, high) = (distance(self.low), distance(self.high));
        let share = (distance(value) - low) / (high - low);
        self.ends.0 + share * (self.ends.1 - self.ends.0)
    }

    /// True if a point of this value can be drawn.
    pub fn can_show(&self, value: f64) -> bool {
        self.form.can_show(value)
    }

    /// Labels of the ticks.
    pub fn labels(&self, unit: ChartUnit, lang: &Lang) -> Vec<String> {
        self.ticks.iter().map(|it| label(*it, self.high, unit, self.form, lang)).collect()
    }
}

fn linear_ticks(low: f64, high: f64, unit: ChartUnit) -> Vec<f64> {
    let high = if high <= low { low + 1.0 } else { high };
    let range = high - low;
    let step = match unit {
        ChartUnit::Seconds if range >= LONG_SECONDS => {
            TIME_STEPS.into_iter().find(|it| range / it <= TICKS + 1.0).unwrap_or_else(|| nice_step(range))
        }
        ChartUnit::Bytes | ChartUnit::BytesPerSecond => {
            let power = (range.max(1.0).ln() / 1024f64.ln()).floor();
            let size = 1024f64.powf(power);
            nice_step(range / size) * size
        }
        _ => nice_step(range),
    };
    // Tolerate rounding errors, which may raise a value slightly above a tick.
    let (first, last) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
    (0..=((last - first).max(1.0) as u32)).map(|it| (first + f64::from(it)) * step).collect()
}

/// Step of 1, 2 or 5 times a power of ten, which divides the range into about [`TICKS`] parts.
fn nice_step(range: f64) -> f64 {
    let least = range / TICKS;
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0].into_iter().find(|it| it * power >= least * 0.999).unwrap_or(10.0) * power
}

/// Values of 1, 2 or 5 times a power of ten, from the last one below the range to the first one above it.
fn logarithmic_ticks(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32 + 1);
    let all: Vec<f64> =
        (first..=last).flat_map(|power| [1.0, 2.0, 5.0].map(|it| it * 10f64.powi(power))).collect();
    let begin = all.iter().rposition(|it| *it <= low * 1.000_001).unwrap_or(0);
    let end = all.iter().position(|it| *it >= high * 0.999_999).unwrap_or(all.len() - 1);
    all[begin..=end.max(begin + 1)].to_vec()
}

/// Quantiles 0, 0.9, 0.99, …, up to the first one that is not below the highest value.
fn quantile_ticks(high: f64) -> Vec<f64> {
    let last = ((-(1.0 - high).log10() - 1e-9).ceil() as i32).clamp(1, 9);
    (0..=last).map(|nines| 1.0 - 10f64.powi(-nines)).collect()
}

/// Keeps only powers of ten if there are too many ticks.
fn thin_out(ticks: Vec<f64>) -> Vec<f64> {
    if ticks.len() <= LOGARITHMIC_TICKS_MAX {
        return ticks;
    }
    let is_power = |value: &f64| (value.log10() - value.log10().round()).abs() < 1e-6;
    ticks.into_iter().filter(is_power).collect()
}

/// Label of a tick. `high` is the greatest value of the axis.
fn label(value: f64, high: f64, unit: ChartUnit, form: ScaleForm, lang: &Lang) -> String {
    let numbers = lang.numbers();
    match unit {
        ChartUnit::Seconds if form == ScaleForm::Linear && high >= LONG_SECONDS => {
            lang.span(Nanos::from_secs_f64(value.max(0.0)))
        }
        ChartUnit::Seconds => {
            let (amount, unit) = match value.abs() {
                0.0 => return "0".to_owned(),
                ..0.001 => (value * 1e6, &numbers.micros),
                ..1.0 => (value * 1e3, &numbers.millis),
                _ => (value, &numbers.seconds),
            };
            numbers.with_unit(&decimal(amount), unit)
        }
        ChartUnit::Bytes | ChartUnit::BytesPerSecond => lang.bytes(value),
        ChartUnit::Quantile => numbers.with_unit(&decimal(100.0 * value), "%"),
        ChartUnit::PerSecond | ChartUnit::Count | ChartUnit::Processors => match value.abs() {
            1e6.. => numbers.write(&decimal(value / 1e6)) + &numbers.million,
            1e4.. => numbers.write(&decimal(value / 1e3)) + &numbers.thousand,
            _ => numbers.write(&decimal(value)),
        },
    }
}

/// Number in machine format with as many decimals as a tick needs.
fn decimal(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::{english, russian};

    #[test]
    fn ticks_are_round() {
        let check = |values: &[f64], unit, logarithmic, expected: &[&str]| {
            let scale = Scale::new(values.iter().copied(), unit, logarithmic, (0.0, 100.0));
            assert_eq!(scale.expect("values").labels(unit, english()), expected, "{values:?}");
        };
        use ChartUnit::{Bytes, Count, PerSecond, Seconds};
        check(&[0.0, 97.0], PerSecond, false, &["0", "20", "40", "60", "80", "100"]);
        check(&[3.0], Count, false, &["0", "1", "2", "3"]);
        check(&[0.0], Count, false, &["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        check(&[-5.0, 5.0], Count, false, &["-6", "-4", "-2", "0", "2", "4", "6"]);
        check(&[23_000.0], PerSecond, false, &["0", "5000", "10k", "15k", "20k", "25k"]);
        check(
            &[0.0, 3600.0],
            Seconds,
            false,
            &["0 s", "10 min", "20 min", "30 min", "40 min", "50 min", "1 h"],
        );
        check(&[0.0, 0.25], Seconds, false, &["0", "50 ms", "100 ms", "150 ms", "200 ms", "250 ms"]);
        check(
            &[0.003, 0.18],
            Seconds,
            true,
            &["2 ms", "5 ms", "10 ms", "20 ms", "50 ms", "100 ms", "200 ms"],
        );
        check(&[0.0001, 30.0], Seconds, true, &["100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"]);
        check(&[3e8], Bytes, false, &["0 B", "100 MiB", "200 MiB", "300 MiB"]);
        check(&[0.5, 0.9987], ChartUnit::Quantile, true, &["0 %", "90 %", "99 %", "99.9 %"]);
        let scale = Scale::new([2.5].into_iter(), Seconds, false, (0.0, 1.0)).expect("a value");
        assert!(
            scale.labels(Seconds, russian())[1].contains("500\u{a0}мс"),
            "{:?}",
            scale.labels(Seconds, russian())
        );
    }

    #[test]
    fn no_value_has_no_scale() {
        let none = |values: &[f64], logarithmic| {
            Scale::new(values.iter().copied(), ChartUnit::Count, logarithmic, (0.0, 1.0))
        };
        assert_eq!(none(&[], false), None);
        assert_eq!(none(&[f64::NAN], false), None);
        assert_eq!(none(&[0.0], true), None);
    }

    #[test]
    fn places_are_proportional() {
        let scale = |values: [f64; 2], logarithmic| {
            Scale::new(values.into_iter(), ChartUnit::Count, logarithmic, (300.0, 100.0)).expect("values")
        };
        assert_eq!(scale([0.0, 100.0], false).place(50.0), 200.0);
        assert!((scale([1.0, 100.0], true).place(10.0) - 200.0).abs() < 1e-9);
        assert_eq!(scale([0.0, 100.0], false).place(1e9), 100.0);
        let quantiles = Scale::new([0.5, 0.99].into_iter(), ChartUnit::Quantile, true, (0.0, 100.0));
        assert!((quantiles.expect("values").place(0.9) - 50.0).abs() < 1e-9);
    }
}
