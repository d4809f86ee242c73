//! UTC timestamps.
//!
//! The proleptic Gregorian calendar, like PostgreSQL's.

use super::write_decimal;

/// Seconds since 1970 of `2024-01-01` or `2024-01-01 12:00:00`; years 1 to 9999.
pub(super) fn parse_timestamp(text: &str) -> Option<i64> {
    let (date, time) = text.split_once([' ', 'T']).unwrap_or((text, "00:00:00"));
    let numbers = |text: &str, mark: char, widths: [usize; 3]| -> Option<[i64; 3]> {
        let parts: Vec<&str> = text.split(mark).collect();
        let [a, b, c] = parts[..] else { return None };
        let number = |text: &str, width: usize| -> Option<i64> {
            (text.len() == width && text.bytes().all(|it| it.is_ascii_digit())).then(|| text.parse().ok())?
        };
        Some([number(a, widths[0])?, number(b, widths[1])?, number(c, widths[2])?])
    };
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    if year < 1 || hour > 23 || minute > 59 || second > 59 || !(1..=12).contains(&month) {
        return None;
    }
    let days = days_from_date(year, month, day);
    // A date that does not exist, such as February 30, converts back to another date.
    (date_from_days(days) == (year, month, day)).then_some(days * 86_400 + hour * 3600 + minute * 60 + second)
}

/// Appends `2024-01-01 12:00:00+00`.
pub(super) fn write_timestamp(seconds: i64, out: &mut Vec<u8>) {
    let (year, month, day) = date_from_days(seconds.div_euclid(86_400));
    let time = seconds.rem_euclid(86_400);
    if year < 1000 {
        out.extend_from_slice(
            &b"000"[..if year < 10 {
                3
            } else if year < 100 {
                2
            } else {
                1
            }],
        );
    }
    write_decimal(out, year as u64);
    for (mark, number) in
        [(b'-', month), (b'-', day), (b' ', time / 3600), (b':', time / 60 % 60), (b':', time % 60)]
    {
        out.extend_from_slice(&[mark, b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]);
    }
    out.extend_from_slice(b"+00");
}

/// Days since 1970-01-01. Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms".
fn days_from_date(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the leap day is the last.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day; the inverse of [`days_from_date`].
fn date_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_and_formats_timestamps() {
        let check = |text: &str, expected: Option<&str>| {
            let shown = parse_timestamp(text).map(|it| {
                let mut out = Vec::new();
                write_timestamp(it, &mut out);
                format!("{it} {}", String::from_utf8(out).unwrap())
            });
            assert_eq!(shown.as_deref(), expected, "{text}");
        };
        check("1970-01-01", Some("0 1970-01-01 00:00:00+00"));
        check("2024-02-29 12:34:56", Some("1709210096 2024-02-29 12:34:56+00"));
        check("2024-02-29T12:34:56", Some("1709210096 2024-02-29 12:34:56+00"));
        check("1969-12-31 23:59:59", Some("-1 1969-12-31 23:59:59+00"));
        check("0001-01-01", Some("-62135596800 0001-01-01 00:00:00+00"));
        check("9999-12-31", Some("253402214400 9999-12-31 00:00:00+00"));
        check("2023-02-29", None);
        check("2024-13-01", None);
        check("2024-00-01", None);
        check("2024-01-01 24:00:00", None);
        check("24-01-01", None);
        check("2024-01-01 12:00", None);
        check("+024-01-01", None);
        check("", None);
    }

    #[test]
    fn date_conversion_round_trips() {
        for day in days_from_date(1, 1, 1)..days_from_date(2401, 1, 1) {
            let (year, month, of_month) = date_from_days(day);
            assert_eq!(days_from_date(year, month, of_month), day);
        }
    }
}
