//! Bar plot of a time series in a terminal

use crate::lang::Numbers;
pub use crate::style::CharacterSet;
use model::Nanos;

/// Number of rows of bars. Heading, axis and labels add three rows.
const ROWS: usize = 8;

/// Draws one bar per value over the time from 0 to `duration`.
///
/// The vertical axis begins at 0, and `unit` is its heading. A value above 0 is always visible. The plot is at most ten
/// columns wider than the number of values.
pub fn plot_bars(
    unit: &str,
    values: &[f64],
    duration: Nanos,
    characters: CharacterSet,
    numbers: &Numbers,
) -> String {
    let (heights, bar, tick, corner, dash): (&[char], _, _, _, _) = match characters {
        CharacterSet::Utf8 => (&[' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'], '│', '┤', '┼', "─"),
        CharacterSet::Ascii => (&[' ', '.', ':', '#'], '|', '+', '+', "-"),
    };
    let top = round_up(values.iter().copied().fold(0.0, f64::max));
    let labels = [top, top / 2.0, 0.0].map(|it| short(it, numbers));
    let margin = labels.iter().map(|it| it.chars().count()).max().unwrap_or(0);
    let full = heights.len() - 1;
    // A positive value has a bar of at least the smallest height.
    let tall =
        |value: f64| ((value / top * (ROWS * full) as f64).round() as usize).max(usize::from(value > 0.0));
    let mut lines = vec![unit.to_owned()];
    for row in (0..ROWS).rev() {
        let (label, axis) = match row + 1 {
            ROWS => (labels[0].as_str(), tick),
            row if row == ROWS / 2 => (labels[1].as_str(), tick),
            _ => ("", bar),
        };
        let cells = values.iter().map(|&value| heights[tall(value).saturating_sub(row * full).min(full)]);
        lines.push(format!("{label:>margin$} {axis}{}", cells.collect::<String>()));
    }
    lines.push(format!("{:>margin$} {corner}{}", labels[2], dash.repeat(values.len())));
    lines.push(format!("{:margin$}  {}", "", scale(values.len(), duration, numbers)));
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Formats the labels of a time axis of `width` columns: start, middle (if it fits) and end.
fn scale(width: usize, duration: Nanos, numbers: &Numbers) -> String {
    let (middle, end) = (numbers.duration(Nanos(duration.0 / 2)), numbers.duration(duration));
    let wide = |it: &str| it.chars().count();
    let room = width.saturating_sub(wide(&end) + 1);
    let before = (width / 2).saturating_sub(wide(&middle) / 2);
    let middle = if before + wide(&middle) < room && before > 1 {
        format!("{:before$}{middle}", "0")
    } else {
        "0".into()
    };
    format!("{middle:room$} {end}")
}

/// Rounds up to 1, 1.5, 2, 3, 4, 5, 6, 8 or 10 times a power of ten; returns 1 for 0.
fn round_up(value: f64) -> f64 {
    if value <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(value.log10().floor());
    // Tolerate rounding errors, which may raise a mean slightly above a round number.
    let least = value / power * (1.0 - 1e-9);
    [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0].into_iter().find(|&it| it >= least).unwrap_or(10.0) * power
}

/// Formats a number with at most seven characters and a unit: `0.75`, `200`, `12.5k`, `10M`.
fn short(value: f64, numbers: &Numbers) -> String {
    let (scaled, unit) = match value {
        1e6.. => (value / 1e6, numbers.million.as_str()),
        1e4.. => (value / 1e3, numbers.thousand.as_str()),
        _ => (value, ""),
    };
    // Use three significant digits, which exceed the axis's resolution.
    let decimals = (2 - scaled.max(1e-4).log10().floor() as i32).clamp(0, 6) as usize;
    let text = format!("{scaled:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    numbers.write(text) + unit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::english;

    #[test]
    fn plots_a_ramp() {
        let values: Vec<f64> = (0..32).map(|i| 200.0 * (f64::from(i) + 0.5) / 32.0).collect();
        let drawn =
            plot_bars("arrivals/s", &values, Nanos::from_secs(200), CharacterSet::Utf8, english().numbers());
        let expected = "\
arrivals/s
200 ┤                            ▁▃▅▇
    │                        ▁▃▅▇████
    │                    ▁▃▅▇████████
    │                ▁▃▅▇████████████
100 ┤            ▁▃▅▇████████████████
    │        ▁▃▅▇████████████████████
    │    ▁▃▅▇████████████████████████
    │▁▃▅▇████████████████████████████
  0 ┼────────────────────────────────
     0             1m40s        3m20s
";
        assert_eq!(drawn, expected, "\n{drawn}");
    }

    #[test]
    fn plots_small_values_in_ascii() {
        let drawn = plot_bars(
            "arrivals/s",
            &[0.01, 0.0, 6.0, 3.0, 3.4, 3.6],
            Nanos::from_secs(6),
            CharacterSet::Ascii,
            english().numbers(),
        );
        let expected = "\
arrivals/s
6 +  #
  |  #
  |  #
  |  # ::
3 +  ####
  |  ####
  |  ####
  |. ####
0 +------
   0   6s
";
        assert_eq!(drawn, expected, "\n{drawn}");
    }

    #[test]
    fn plots_zeros_as_blanks() {
        let drawn = plot_bars("arrivals/s", &[0.0; 4], Nanos::ZERO, CharacterSet::Ascii, english().numbers());
        assert!(drawn.contains("\n  1 +\n") && drawn.contains("\n  0 +----\n"), "\n{drawn}");
    }

    #[test]
    fn formats_axis_labels() {
        for (value, top, label) in [
            (0.0, 1.0, "1"),
            (0.003, 0.003, "0.003"),
            (0.75, 0.8, "0.8"),
            (7.0, 8.0, "8"),
            (9.9, 10.0, "10"),
            (1501.0, 2000.0, "2000"),
            (12_500.0, 15_000.0, "15k"),
            (200.000_000_01, 200.0, "200"),
            (1e7, 1e7, "10M"),
        ] {
            assert!((round_up(value) - top).abs() < top * 1e-12, "{value}: {}", round_up(value));
            assert_eq!(short(top, english().numbers()), label);
        }
        for (value, english, russian) in [
            (0.5, "0.5", "0,5"),
            (7_500.0, "7500", "7500"),
            (12_345.0, "12.3k", "12,3к"),
            (2.5e6, "2.5M", "2,5М"),
        ] {
            assert_eq!(
                [
                    short(value, crate::lang::english().numbers()),
                    short(value, crate::lang::russian().numbers())
                ],
                [english, russian]
            );
        }
    }
}
