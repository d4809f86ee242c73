//! Formatter of UTC timestamps

use model::utc;

/// Appends a timestamp such as `2024-01-01 12:00:00+00`; years 1 to 9999. `seconds` counts from 1970.
pub(super) fn write_timestamp(seconds: i64, out: &mut Vec<u8>) {
    let time = utc(seconds);
    let (year, month, day) = time.to_calendar_date();
    let (hour, minute, second) = time.as_hms();
    let pairs = [
        ("", (year / 100) as u8),
        ("", (year % 100) as u8),
        ("-", month.into()),
        ("-", day),
        (" ", hour),
        (":", minute),
        (":", second),
    ];
    for (before, number) in pairs {
        out.extend_from_slice(before.as_bytes());
        out.extend_from_slice(&[b'0' + number / 10, b'0' + number % 10]);
    }
    out.extend_from_slice(b"+00");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_timestamps() {
        for text in [
            "1970-01-01 00:00:00",
            "2024-02-29 12:34:56",
            "1969-12-31 23:59:59",
            "0001-01-01 00:00:00",
            "0987-06-05 04:03:02",
            "9999-12-31 00:00:00",
        ] {
            let mut out = Vec::new();
            write_timestamp(model::parse_utc(text).unwrap(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), format!("{text}+00"));
        }
    }
}
