//! Conversion between Unix time and UTC dates with times of day

use time::macros::format_description;
use time::{Date, Month, Time, UtcDateTime};

/// Date and time of a Unix time in seconds. A time after the year 9999 becomes the end of that year.
pub fn utc(unix_seconds: i64) -> UtcDateTime {
    UtcDateTime::from_unix_timestamp(unix_seconds).unwrap_or(UtcDateTime::MAX)
}

/// Unix time in seconds of `2024-01-01` or `2024-01-01 12:00:00` in UTC; the year is 1 to 9999.
pub fn parse_utc(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(' ').unwrap_or((text, "00:00:00"));
    let date = Date::parse(date, format_description!("[year]-[month]-[day]")).ok()?;
    let time = Time::parse(time, format_description!("[hour]:[minute]:[second]")).ok()?;
    // The date parser also accepts a signed year, which is rejected here.
    let is_plain = text.starts_with(|c: char| c.is_ascii_digit()) && date.year() > 0;
    is_plain.then(|| UtcDateTime::new(date, time).unix_timestamp())
}

/// Unix time in seconds of a date (year, month, day) and a time of day (hour, minute, second) in UTC; `None` if there is
/// no such date or time.
pub fn unix_seconds((year, month, day): (u16, u8, u8), (hour, minute, second): (u8, u8, u8)) -> Option<i64> {
    let date = Date::from_calendar_date(year.into(), Month::try_from(month).ok()?, day).ok()?;
    let time = Time::from_hms(hour, minute, second).ok()?;
    Some(UtcDateTime::new(date, time).unix_timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_between_unix_time_and_utc() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00"),
            (-1, "1969-12-31 23:59:59"),
            (951_782_400, "2000-02-29 00:00:00"),
            (951_868_799, "2000-02-29 23:59:59"),
            (951_868_800, "2000-03-01 00:00:00"),
            (1_709_210_096, "2024-02-29 12:34:56"),
            (4_107_542_400, "2100-03-01 00:00:00"),
            (-62_135_596_800, "0001-01-01 00:00:00"),
            (253_402_214_400, "9999-12-31 00:00:00"),
        ] {
            assert_eq!(parse_utc(text), Some(seconds), "{text}");
            let part = |range: std::ops::Range<usize>| text[range].parse::<u16>().expect("digits");
            let small = |range| part(range) as u8;
            let (date, clock) =
                ((part(0..4), small(5..7), small(8..10)), (small(11..13), small(14..16), small(17..19)));
            assert_eq!(unix_seconds(date, clock), Some(seconds), "{text}");
            let (at, (hour, minute, second)) = (utc(seconds), utc(seconds).as_hms());
            assert_eq!(format!("{} {hour:02}:{minute:02}:{second:02}", at.date()), text);
        }
        assert_eq!(utc(i64::MAX), UtcDateTime::MAX);
        assert_eq!(parse_utc("2024-01-01"), parse_utc("2024-01-01 00:00:00"));
        assert_eq!(unix_seconds((2023, 2, 29), (0, 0, 0)), None);
        assert_eq!(unix_seconds((2023, 2, 28), (24, 0, 0)), None);
    }

    #[test]
    fn rejects_invalid_timestamps() {
        for text in [
            "",
            "yesterday",
            "2023-02-29",
            "2024-13-01",
            "2024-00-01",
            "2024-01-00",
            "2024-1-1",
            "24-01-01",
            "0000-01-01",
            "+024-01-01",
            "+2024-01-01",
            "-2024-01-01",
            "12024-01-01",
            "2024-01-01 24:00:00",
            "2024-01-01 23:59:60",
            "2024-01-01 12:00",
            "2024-01-01 1:00:00",
            "2024-01-01  12:00:00",
            "2024-01-01 12:00:00 ",
            "2024-01-01 12:00:00.5",
            "2024-01-01T12:00:00",
        ] {
            assert_eq!(parse_utc(text), None, "{text}");
        }
    }
}
