//! Rounding of numbers, and their parts by unit

use model::Nanos;

/// Formats a value with three significant digits and at most three decimals, but keeps all digits of the integer part:
/// `0.371`, `5.73`, `21487`. Positive values below 0.0005 become `<0.001`.
pub(crate) fn three_digits(value: f64) -> String {
    // At each of these bounds, rounding adds a digit.
    match value.abs() {
        99.95.. => format!("{value:.0}"),
        9.995.. => format!("{value:.1}"),
        0.9995.. => format!("{value:.2}"),
        0.0005.. => format!("{value:.3}"),
        _ if value > 0.0 => "<0.001".to_owned(),
        _ => "0".to_owned(),
    }
}

pub(crate) fn exact_digits(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { three_digits(value) }
}

/// Converts a duration to a number of three digits and the index of its unit: microseconds, milliseconds, seconds.
pub(crate) fn duration(time: Nanos) -> (String, usize) {
    match time.0 {
        ..999_500 => (three_digits(time.as_micros_f64()), 0),
        999_500..999_500_000 => (three_digits(time.as_millis_f64()), 1),
        _ => (three_digits(time.as_secs_f64()), 2),
    }
}

/// Converts a configured duration to a number with all digits. The unit is the largest in which the number is at least
/// 1.
pub(crate) fn chosen_duration(time: Nanos) -> (String, usize) {
    match time.0 {
        ..1_000_000 => (time.as_micros_f64().to_string(), 0),
        1_000_000..1_000_000_000 => (time.as_millis_f64().to_string(), 1),
        _ => (time.as_secs_f64().to_string(), 2),
    }
}

/// Splits a duration into its largest unit that is not zero, and the next smaller unit. Each part is an amount and a
/// unit: 0 for hours, 1 for minutes, 2 for seconds. For example, 2 h 5 min is `(2, 0)`, `(5, 1)`. Empty below half a
/// second.
pub(crate) fn duration_parts(time: Nanos) -> Vec<(u64, usize)> {
    let seconds = (time.as_secs_f64().round()) as u64;
    let parts = match seconds {
        0 if time > Nanos::ZERO => return Vec::new(),
        0..60 => vec![(seconds, 2)],
        60..3600 => vec![(seconds / 60, 1), (seconds % 60, 2)],
        _ => vec![(seconds / 3600, 0), (seconds % 3600 / 60, 1)],
    };
    parts.into_iter().enumerate().filter(|(at, it)| *at == 0 || it.0 > 0).map(|it| it.1).collect()
}

/// Converts a size to a number of three digits and a power of 1024, at most 4.
pub(crate) fn binary(bytes: f64) -> (String, usize) {
    let mut power = 0;
    let mut rest = bytes;
    while rest.abs() >= 1024.0 && power < 4 {
        rest /= 1024.0;
        power += 1;
    }
    let is_integer = rest.fract() == 0.0;
    (if is_integer { format!("{rest:.0}") } else { three_digits(rest) }, power)
}

/// Replaces the decimal point of a number in machine format, such as `-21570.5`, with a comma. In numbers of five or
/// more digits, narrow no-break spaces separate the thousands.
pub(crate) fn with_comma(text: &str) -> String {
    let (integer, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let digits = integer.chars().filter(char::is_ascii_digit).count();
    let mut out = String::new();
    let mut left = digits;
    for c in integer.chars() {
        if c.is_ascii_digit() {
            if digits > 4 && left < digits && left.is_multiple_of(3) {
                out.push('\u{202f}');
            }
            left -= 1;
        }
        out.push(c);
    }
    out + &rest.replace('.', ",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_to_three_digits() {
        for (value, shown) in [
            (0.0, "0"),
            (0.000_4, "<0.001"),
            (-0.000_4, "0"),
            (0.000_5, "0.001"),
            (0.371_4, "0.371"),
            (0.999_6, "1.00"),
            (9.996, "10.0"),
            (99.96, "100"),
            (5.726, "5.73"),
            (-57.26, "-57.3"),
            (572.6, "573"),
            (21_570.4, "21570"),
        ] {
            assert_eq!(three_digits(value), shown);
        }
    }

    #[test]
    fn keeps_whole_numbers_exact() {
        for (value, shown) in [(34.0, "34"), (1.5, "1.50"), (12_345.0, "12345"), (-2.0, "-2"), (646.4, "646")]
        {
            assert_eq!(exact_digits(value), shown);
        }
    }

    #[test]
    fn commas_and_thousands() {
        for (text, expected) in [
            ("0", "0"),
            ("0.371", "0,371"),
            ("-15.6", "-15,6"),
            ("9999", "9999"),
            ("21570.25", "21\u{202f}570,25"),
            ("-1234567", "-1\u{202f}234\u{202f}567"),
            ("+100000", "+100\u{202f}000"),
        ] {
            assert_eq!(with_comma(text), expected, "{text}");
        }
    }

    #[test]
    fn chooses_units() {
        for (time, expected) in [
            (Nanos(371_400), ("371", 0)),
            (Nanos::from_micros(12_345), ("12.3", 1)),
            (Nanos::from_millis(1_032), ("1.03", 2)),
            (Nanos(999_499), ("999", 0)),
            (Nanos(999_500), ("1.00", 1)),
            (Nanos(999_500_000), ("1.00", 2)),
        ] {
            assert_eq!(duration(time), (expected.0.to_owned(), expected.1));
        }
        for (time, expected) in [
            (Nanos::from_micros(50), ("50", 0)),
            (Nanos::from_millis(250), ("250", 1)),
            (Nanos::from_millis(1_500), ("1.5", 2)),
            (Nanos::from_secs(90), ("90", 2)),
        ] {
            assert_eq!(chosen_duration(time), (expected.0.to_owned(), expected.1));
        }
        for (bytes, expected) in
            [(512.0, ("512", 0)), (1024.0, ("1", 1)), (1536.0, ("1.50", 1)), (400.0 * 1048576.0, ("400", 2))]
        {
            assert_eq!(binary(bytes), (expected.0.to_owned(), expected.1));
        }
        let spans = [(12, "12s"), (60, "1m"), (200, "3m20s"), (3600, "1h"), (7500, "2h5m")];
        for (seconds, expected) in spans {
            let actual: String = duration_parts(Nanos::from_secs(seconds))
                .iter()
                .map(|(n, unit)| format!("{n}{}", ["h", "m", "s"][*unit]))
                .collect();
            assert_eq!(actual, expected);
        }
    }
}
