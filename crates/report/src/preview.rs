//! Preview of a schedule.

use crate::lang::Lang;
pub use crate::lang::bench::SchedulePreview;
use crate::plot;
use crate::say;
use crate::style::CharacterSet;
use model::{Nanos, Spacing};
use serde_json::{Value, json};

/// A sentence and a plot.
pub fn render(it: &SchedulePreview, characters: CharacterSet, lang: &Lang) -> String {
    let sentence = lang.preview(it);
    if it.duration == Nanos::ZERO {
        return sentence + "\n";
    }
    let rates: Vec<f64> = it.rates.iter().map(|rate| rate.0).collect();
    let plot = plot::plot_bars(
        &say!(lang, "bench-arrivals-per-second"),
        &rates,
        it.duration,
        characters,
        lang.numbers(),
    );
    format!("{sentence}\n\n{plot}")
}

/// The preview as JSON: rates per second, durations in seconds.
pub fn json(it: &SchedulePreview) -> Value {
    let stretch = it.duration.as_secs_f64() / it.rates.len().max(1) as f64;
    json!({
        "schedule": it.schedule,
        "spacing": match it.spacing { Spacing::Even => "even", Spacing::Poisson => "poisson" },
        "seed": match it.spacing { Spacing::Even => None, Spacing::Poisson => Some(it.seed) },
        "arrivals": it.arrivals,
        "expected": it.expected,
        "duration_s": it.duration.as_secs_f64(),
        "lowest_per_s": it.lowest.0,
        "highest_per_s": it.highest.0,
        "rates": { "every_s": stretch, "mean_per_s": it.rates.iter().map(|rate| rate.0).collect::<Vec<_>>() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::english;
    use model::PerSecond;

    fn preview(spacing: Spacing, arrivals: Option<u64>) -> SchedulePreview {
        SchedulePreview {
            schedule: "line(1, 200, 200s)".to_owned(),
            spacing,
            seed: 7,
            arrivals,
            expected: 20_100.0,
            duration: Nanos::from_secs(200),
            lowest: PerSecond(1.0),
            highest: PerSecond(200.0),
            rates: vec![PerSecond(50.0), PerSecond(150.0)],
        }
    }

    #[test]
    fn renders_a_sentence_and_a_plot() {
        let even = preview(Spacing::Even, Some(20_100));
        let constant = SchedulePreview { highest: PerSecond(1.0), arrivals: Some(1), ..even.clone() };
        for (it, first) in [
            (even, "20100 arrivals in 3m20s, evenly spaced, at 1/s to 200/s"),
            (constant, "1 arrival in 3m20s, evenly spaced, at 1/s"),
            (
                preview(Spacing::Poisson, Some(20_173)),
                "20173 arrivals in 3m20s, Poisson with seed 7 (20100 expected), at 1/s to 200/s",
            ),
            (
                preview(Spacing::Poisson, None),
                "about 20100 arrivals in 3m20s, Poisson with seed 7 (20100 expected), at 1/s to 200/s",
            ),
        ] {
            assert_eq!(render(&it, CharacterSet::Ascii, english()).lines().next(), Some(first));
        }
        let empty = SchedulePreview { duration: Nanos::ZERO, ..preview(Spacing::Even, Some(0)) };
        assert_eq!(
            render(&empty, CharacterSet::Utf8, english()),
            "0 arrivals in 0s, evenly spaced, at 1/s to 200/s\n"
        );
    }

    #[test]
    fn exports_json() {
        assert_eq!(
            json(&preview(Spacing::Even, Some(20_100))).to_string(),
            concat!(
                r#"{"arrivals":20100,"duration_s":200.0,"expected":20100.0,"highest_per_s":200.0,"lowest_per_s":1.0,"#,
                r#""rates":{"every_s":100.0,"mean_per_s":[50.0,150.0]},"schedule":"line(1, 200, 200s)","seed":null,"#,
                r#""spacing":"even"}"#
            )
        );
    }
}
