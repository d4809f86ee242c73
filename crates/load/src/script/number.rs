//! Conversion between numbers and texts, as in pgbench's C library

use std::io::Write;

/// True for white space according to C's `isspace`.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn trim_start(mut text: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = text
        && is_space(*first)
    {
        text = rest;
    }
    text
}

/// True if pgbench treats `text` as an integer, so that it is an error if the integer is invalid.
pub(super) fn looks_like_integer(text: &[u8]) -> bool {
    let text = trim_start(text);
    let digits = text.strip_prefix(b"+").or(text.strip_prefix(b"-")).unwrap_or(text);
    digits.iter().all(u8::is_ascii_digit)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IntegerError {
    Syntax,
    Range,
}

/// Parses a text for which [`looks_like_integer`] is true.
pub(super) fn parse_integer(text: &[u8]) -> Result<i64, IntegerError> {
    let text = trim_start(text);
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    if digits.is_empty() {
        return Err(IntegerError::Syntax);
    }
    // Accumulate a negative value, because i64::MIN has no positive counterpart.
    let mut value = 0i64;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return Err(IntegerError::Syntax);
        }
        let next = value.checked_mul(10).and_then(|v| v.checked_sub(i64::from(digit - b'0')));
        value = next.ok_or(IntegerError::Range)?;
    }
    if negative { Ok(value) } else { value.checked_neg().ok_or(IntegerError::Range) }
}

/// Integer at the start of `text`, as in C's `atoi`; 0 if there is none. Values beyond 64 bits saturate.
pub(super) fn parse_leading_integer(text: &[u8]) -> i64 {
    let text = trim_start(text);
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let value = (digits.iter().take_while(|d| d.is_ascii_digit()))
        .fold(0i64, |value, digit| value.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    if negative { -value } else { value }
}

/// Parses the whole of `text` as a double, like C's `strtod`. `None` if the text is no number, or if the value is
/// outside of a double's range.
///
/// Hexadecimal notation is not supported.
pub(super) fn parse_double(text: &[u8]) -> Option<f64> {
    let text = str::from_utf8(trim_start(text)).ok()?;
    let value: f64 = text.parse().ok()?;
    let mantissa = || text.split(['e', 'E']).next().unwrap_or_default().bytes();
    let spelled_out = !mantissa().any(|b| b.is_ascii_digit());
    let zero = !mantissa().any(|b| matches!(b, b'1'..=b'9'));
    let in_range = value.is_normal() || (value == 0.0 && zero) || spelled_out;
    in_range.then_some(value)
}

/// Appends `value` in decimal notation.
#[inline]
pub(super) fn write_integer(value: i64, out: &mut Vec<u8>) {
    const PAIRS: [u8; 200] = {
        let mut pairs = [0; 200];
        let mut i = 0;
        while i < 100 {
            pairs[2 * i] = b'0' + (i / 10) as u8;
            pairs[2 * i + 1] = b'0' + (i % 10) as u8;
            i += 1;
        }
        pairs
    };
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    let mut rest = value.unsigned_abs();
    while rest >= 10 {
        let pair = (rest % 100) as usize;
        rest /= 100;
        at -= 2;
        digits[at..at + 2].copy_from_slice(&PAIRS[2 * pair..2 * pair + 2]);
    }
    if rest > 0 || at == digits.len() {
        at -= 1;
        digits[at] = b'0' + rest as u8;
    }
    if value < 0 {
        at -= 1;
        digits[at] = b'-';
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends `value` as PostgreSQL's `printf("%.15g")` does: 15 significant digits without trailing zeros.
///
/// The notation is exponential from 1e+15 and below 1e-04.
pub(super) fn write_double(value: f64, out: &mut Vec<u8>) {
    if value.is_nan() {
        return out.extend_from_slice(b"NaN");
    }
    if value.is_infinite() {
        return out.extend_from_slice(if value < 0.0 { b"-Infinity" } else { b"Infinity" });
    }
    // "d.dddddddddddddde±x": at most 24 bytes.
    let mut scientific = [0u8; 32];
    let mut rest = &mut scientific[..];
    write!(rest, "{:.14e}", value.abs()).expect("32 bytes hold every double with 15 digits");
    let exponent_at = scientific.iter().position(|&b| b == b'e').expect("{:e} writes an exponent");
    let exponent = parse_leading_integer(&scientific[exponent_at + 1..]);
    let mut digits = [0u8; 15];
    digits[0] = scientific[0];
    digits[1..].copy_from_slice(&scientific[2..16]);
    let significant = digits.iter().rposition(|&d| d != b'0').map_or(1, |last| last + 1);
    let digits = &digits[..significant];

    if value.is_sign_negative() {
        out.push(b'-');
    }
    match exponent {
        0..15 => {
            let integer_digits = exponent as usize + 1;
            out.extend_from_slice(&digits[..integer_digits.min(significant)]);
            out.extend(std::iter::repeat_n(b'0', integer_digits.saturating_sub(significant)));
            if significant > integer_digits {
                out.push(b'.');
                out.extend_from_slice(&digits[integer_digits..]);
            }
        }
        -4..0 => {
            out.extend_from_slice(b"0.");
            out.extend(std::iter::repeat_n(b'0', -exponent as usize - 1));
            out.extend_from_slice(digits);
        }
        _ => {
            out.push(digits[0]);
            if significant > 1 {
                out.push(b'.');
                out.extend_from_slice(&digits[1..]);
            }
            out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
            if exponent.abs() < 10 {
                out.push(b'0');
            }
            write_integer(exponent.abs(), out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn writes_integers() {
        for value in [0, 1, 9, 10, 99, 100, 101, 12345, 1_000_000, -1, -10, -987, i64::MAX, i64::MIN] {
            assert_eq!(text(|out| write_integer(value, out)), value.to_string());
        }
    }

    #[test]
    fn writes_doubles_like_percent_15g() {
        #[rustfmt::skip]
        let rows = [
            (0.0, "0"), (-0.0, "-0"), (1.0, "1"), (-27.0, "-27"), (1.5, "1.5"), (100.0, "100"), (0.1, "0.1"),
            (0.1 + 0.2, "0.3"), (1.0 / 3.0, "0.333333333333333"), (2.0 / 3.0, "0.666666666666667"),
            (-0.00032, "-0.00032"), (0.0001, "0.0001"), (0.00001, "1e-05"), (1.25e-7, "1.25e-07"), (1e14, "100000000000000"),
            (123_456_789_012_345.0, "123456789012345"), (1e15, "1e+15"), (999_999_999_999_999.9, "1e+15"),
            (999_999_999_999_999.0, "999999999999999"), (8.507_059_173_023_46e37, "8.50705917302346e+37"), (1e30, "1e+30"),
            (1.797_693_134_862_315_7e308, "1.79769313486232e+308"), (5e-324, "4.94065645841247e-324"),
            (f64::INFINITY, "Infinity"), (f64::NEG_INFINITY, "-Infinity"), (f64::NAN, "NaN"), (-f64::NAN, "NaN"),
        ];
        for (value, expected) in rows {
            assert_eq!(text(|out| write_double(value, out)), expected, "{value:e}");
        }
    }

    #[test]
    fn reads_doubles_like_strtod() {
        #[rustfmt::skip]
        let rows = [
            ("1", Some(1.0)), ("1.", Some(1.0)), (".5", Some(0.5)), (" +2e3", Some(2000.0)), ("-0", Some(-0.0)),
            ("0e999", Some(0.0)), ("inf", Some(f64::INFINITY)), ("-Infinity", Some(f64::NEG_INFINITY)),
            ("1.0E309", None), ("1e-400", None), ("1e-310", None), ("", None), (".", None), ("1e", None), ("1 ", None),
            ("bla", None), ("1_0", None), ("0x1", None),
        ];
        for (text, expected) in rows {
            assert_eq!(parse_double(text.as_bytes()), expected, "{text:?}");
        }
        assert!(parse_double(b"nan").is_some_and(f64::is_nan));
    }

    #[test]
    fn reads_integers() {
        #[rustfmt::skip]
        let rows = [
            ("0", Ok(0)), ("+3", Ok(3)), ("\t -12", Ok(-12)), ("9223372036854775807", Ok(i64::MAX)),
            ("-9223372036854775808", Ok(i64::MIN)), ("9223372036854775808", Err(IntegerError::Range)),
            ("-9223372036854775809", Err(IntegerError::Range)), ("+", Err(IntegerError::Syntax)), (" ", Err(IntegerError::Syntax)),
        ];
        for (text, expected) in rows {
            assert!(looks_like_integer(text.as_bytes()), "{text:?}");
            assert_eq!(parse_integer(text.as_bytes()), expected, "{text:?}");
        }
        for text in ["1.5", "1 ", "x", "--1", "1e3"] {
            assert!(!looks_like_integer(text.as_bytes()), "{text:?}");
        }
        for (text, expected) in
            [("12ms", 12), ("-3", -3), ("x", 0), ("1.9", 1), ("99999999999999999999", i64::MAX)]
        {
            assert_eq!(parse_leading_integer(text.as_bytes()), expected, "{text:?}");
        }
    }
}
