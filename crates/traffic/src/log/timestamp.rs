//! Timestamps of log entries

use model::{Nanos, parse_utc};

/// Time since the Unix epoch of `2024-01-01 12:00:00.123 UTC`. The fraction and the zone are optional.
///
/// A zone such as `+03` or `-09:30` is an offset. The abbreviation of a zone does not determine an offset, so the time
/// remains that of the zone.
pub(super) fn timestamp(text: &str) -> Option<Nanos> {
    let date_and_time = text.get(..19)?;
    let rest = &text[19..];
    let seconds = parse_utc(date_and_time)?;
    let (fraction, zone) = rest.split_once(' ').unwrap_or((rest, ""));
    let nanos = match fraction.strip_prefix('.') {
        Some(digits) => fraction_nanos(digits)?,
        None if fraction.is_empty() => 0,
        None => return None,
    };
    let seconds = u64::try_from(seconds - offset(zone)?).ok()?;
    Some(Nanos(seconds.checked_mul(1_000_000_000)?.checked_add(nanos)?))
}

/// Time since the Unix epoch of `1700000000.123`.
pub(super) fn unix_time(text: &str) -> Option<Nanos> {
    let (seconds, digits) = text.split_once('.').unwrap_or((text, "0"));
    let seconds: u64 = seconds.parse().ok()?;
    Some(Nanos(seconds.checked_mul(1_000_000_000)?.checked_add(fraction_nanos(digits)?)?))
}

/// Duration of `1.234` milliseconds.
pub(super) fn milliseconds(text: &str) -> Option<Nanos> {
    let (whole, digits) = text.split_once('.').unwrap_or((text, "0"));
    let whole: u64 = whole.parse().ok()?;
    Some(Nanos(whole.checked_mul(1_000_000)?.checked_add(fraction_nanos(digits)? / 1_000)?))
}

/// Nanoseconds of a fraction of a second with 1 to 9 digits.
fn fraction_nanos(digits: &str) -> Option<u64> {
    if !(1..=9).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value: u64 = digits.parse().ok()?;
    Some(value * 10u64.pow(9 - digits.len() as u32))
}

/// Offset of a zone from UTC in seconds; 0 for an abbreviation.
fn offset(zone: &str) -> Option<i64> {
    let (sign, digits) = match zone.as_bytes().first() {
        Some(b'+') => (1, &zone[1..]),
        Some(b'-') => (-1, &zone[1..]),
        _ => return Some(0),
    };
    let (hours, minutes) = digits.split_once(':').unwrap_or((digits, "0"));
    let (hours, minutes): (u8, u8) = (hours.parse().ok()?, minutes.parse().ok()?);
    Some(sign * (i64::from(hours) * 3600 + i64::from(minutes) * 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_timestamps() {
        for (text, nanos) in [
            ("1970-01-01 00:00:01 UTC", Some(1_000_000_000)),
            ("1970-01-01 00:00:01.250 MSK", Some(1_250_000_000)),
            ("1970-01-01 03:00:01.5 +03", Some(1_500_000_000)),
            ("1970-01-01 00:00:01 -09:30", Some(34_201_000_000_000)),
            ("1970-01-01 00:00:01", Some(1_000_000_000)),
            ("1970-01-01 00:00:01 +03", None),
            ("1970-01-01 00:00:61 UTC", None),
            ("1970-01-01 00:00:01.x UTC", None),
            ("1970-01-01 00:00:01.1234567890 UTC", None),
            ("1970-01-01", None),
            ("1970-01-01 00:00:0é", None),
            ("9999-12-31 00:00:00 UTC", None),
        ] {
            assert_eq!(timestamp(text), nanos.map(Nanos), "{text}");
        }
    }

    #[test]
    fn reads_unix_times_and_durations() {
        for (text, time, duration) in [
            ("1.234", Some(1_234_000_000), Some(1_234_000)),
            ("0.001", Some(1_000_000), Some(1_000)),
            ("12", Some(12_000_000_000), Some(12_000_000)),
            ("", None, None),
            ("-1.0", None, None),
            ("1.", None, None),
            ("99999999999999999999", None, None),
            ("18446744073709551615.0", None, None),
        ] {
            assert_eq!(
                (unix_time(text), milliseconds(text)),
                (time.map(Nanos), duration.map(Nanos)),
                "{text}"
            );
        }
    }
}
