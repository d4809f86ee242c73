//! Shares of the operations in the load.

use super::SetupBuilder;
use crate::ScheduleExtent;
use crate::diagnostic::quote;
use crate::file;
use model::message;

/// Shares and rates of all operations.
#[derive(Debug, Default)]
pub struct Mix {
    /// Weights by operation; 0 for operations with a schedule of their own.
    pub weights: Vec<u32>,
    /// Rate of all operations together, per second, if they have rates.
    pub rate: Option<f64>,
    /// Paths and extents of the operations' own schedules.
    pub schedules: Vec<(String, ScheduleExtent)>,
}

impl Mix {
    /// True if every operation has a schedule of its own, so that no operation is chosen by weight.
    pub fn is_empty(&self) -> bool {
        !self.weights.is_empty() && self.schedules.len() == self.weights.len()
    }
}

impl SetupBuilder<'_> {
    pub(super) fn mix(&mut self, all: &[(String, file::Operation)]) -> Mix {
        let mut mix = Mix::default();
        let mut rates = Vec::new();
        let by_rate = all.iter().any(|it| it.1.rate.is_some());
        for (name, operation) in all {
            let path = |key: &str| format!("operations.{name}.{key}");
            let mut weight = operation.weight.unwrap_or(1);
            if let Some(schedule) = &operation.schedule {
                for (key, _) in [("weight", operation.weight.is_some()), ("rate", operation.rate.is_some())]
                    .iter()
                    .filter(|it| it.1)
                {
                    self.report(
                        &path(key),
                        message!("experiment-conflicting-keys", first = "schedule", second = *key),
                    );
                }
                let extent = self.schedule(&path("schedule"), schedule);
                mix.schedules.push((path("schedule"), extent));
                weight = 0;
            } else if by_rate {
                match operation.rate {
                    Some(rate) => {
                        if operation.weight.is_some() {
                            self.report(
                                &path("weight"),
                                message!("experiment-conflicting-keys", first = "rate", second = "weight"),
                            );
                        }
                        if !(1e-6..=1e7).contains(&rate) {
                            self.report(
                                &path("rate"),
                                message!(
                                    "experiment-out-of-range",
                                    key = "rate",
                                    value = rate.to_string(),
                                    min = "0.000001",
                                    max = "10000000"
                                ),
                            );
                        }
                        rates.push((mix.weights.len(), rate));
                    }
                    None => {
                        let key = if operation.weight.is_some() { "weight" } else { "" };
                        let message = message!("experiment-rate-missing", operation = quote(name));
                        self.report(path(key).trim_end_matches('.'), message);
                    }
                }
                weight = 0;
            }
            mix.weights.push(weight);
        }
        let values: Vec<f64> = rates.iter().map(|it| it.1).collect();
        for ((i, _), weight) in rates.iter().zip(proportions(&values)) {
            mix.weights[*i] = weight;
        }
        mix.rate = by_rate.then(|| values.iter().sum());
        if !all.is_empty() && !mix.is_empty() && !by_rate && mix.weights.iter().all(|it| *it == 0) {
            self.report("operations", message!("experiment-weights-zero"));
        }
        mix
    }
}

/// Smallest integers with the ratios of `rates`. They are rounded if exact integers would be too large.
pub(super) fn proportions(rates: &[f64]) -> Vec<u32> {
    const MOST: f64 = 1e9;
    let largest = rates.iter().copied().fold(0.0, f64::max);
    let is_whole = |it: f64| (it - it.round()).abs() <= it.abs() * 1e-9;
    let scale = (0..=6).map(|n| 10f64.powi(n)).find(|scale| rates.iter().all(|it| is_whole(it * scale)));
    let scale = scale.filter(|it| largest * it <= MOST).unwrap_or(MOST / largest.max(1e-6));
    let parts: Vec<u32> = rates.iter().map(|it| ((it * scale).round() as u32).max(1)).collect();
    let divisor = parts.iter().copied().fold(0, greatest_common_divisor).max(1);
    parts.iter().map(|it| it / divisor).collect()
}

/// Greatest common divisor.
fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// Number in a schedule's notation: at most six decimals.
pub(super) fn decimal(number: f64) -> String {
    let text = format!("{number:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_rates_to_weights() {
        for (rates, expected) in [
            (&[10.0, 10.0, 6.0, 5.0, 1.0, 1.0, 1.0][..], &[10, 10, 6, 5, 1, 1, 1][..]),
            (&[0.5, 1.25], &[2, 5]),
            (&[0.1, 0.2, 0.3], &[1, 2, 3]),
            (&[20.0, 40.0], &[1, 2]),
            (&[1e7, 1e-6], &[1_000_000_000, 1]),
            (&[], &[]),
        ] {
            assert_eq!(proportions(rates), expected, "{rates:?}");
        }
        let thirds = proportions(&[1.0 / 3.0, 1.0]);
        assert!((f64::from(thirds[1]) / f64::from(thirds[0]) - 3.0).abs() < 1e-6, "{thirds:?}");
    }

    #[test]
    fn formats_rates_for_schedules() {
        for (rate, expected) in
            [(34.0, "34"), (0.5, "0.5"), (0.0, "0"), (1.0 / 3.0, "0.333333"), (1e7, "10000000")]
        {
            assert_eq!(decimal(rate), expected);
        }
    }
}
