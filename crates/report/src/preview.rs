//! Preview of a schedule

use crate::lang::Lang;
pub use crate::lang::bench::SchedulePreview;
use crate::plot;
use crate::say;
use crate::style::CharacterSet;
use model::Nanos;

/// Renders the preview as a sentence and a plot.
pub fn render(preview: &SchedulePreview, characters: CharacterSet, lang: &Lang) -> String {
    let sentence = lang.preview(preview);
    if preview.duration == Nanos::ZERO {
        return sentence + "\n";
    }
    let rates: Vec<f64> = preview.rates.iter().map(|rate| rate.0).collect();
    let plot = plot::plot_bars(
        &say!(lang, "bench-arrivals-per-second"),
        &rates,
        preview.duration,
        characters,
        lang.numbers(),
    );
    format!("{sentence}\n\n{plot}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::english;
    use model::{PerSecond, Spacing};

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
        for (schedule, first) in [
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
            assert_eq!(render(&schedule, CharacterSet::Ascii, english()).lines().next(), Some(first));
        }
        let empty = SchedulePreview { duration: Nanos::ZERO, ..preview(Spacing::Even, Some(0)) };
        assert_eq!(
            render(&empty, CharacterSet::Utf8, english()),
            "0 arrivals in 0s, evenly spaced, at 1/s to 200/s\n"
        );
    }
}
