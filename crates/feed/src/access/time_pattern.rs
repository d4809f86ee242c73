//! Times of log entries, parsed by strftime patterns

use model::unix_seconds;

/// Pattern of a time or of a part of it, such as `%d/%b/%Y:%H:%M:%S %z`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimePattern(Vec<Spec>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spec {
    Literal(u8),
    Year,
    ShortYear,
    Month,
    MonthName,
    Day,
    Hour,
    Minute,
    Second,
    /// `+0300`, `+03:00` or `Z`.
    Zone,
    /// Seconds since the Unix epoch, with an optional fraction.
    Unix,
    /// Integer number of units since the Unix epoch. The unit is in nanoseconds.
    UnixUnits(u64),
    /// Digits of a fraction of a second.
    Fraction,
}

/// Parts of a time, which may come from several fields of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeParts {
    year: Option<u16>,
    month: u8,
    day: u8,
    hour: u8,
    minute: u8,
    second: u8,
    /// Offset from UTC in seconds.
    offset: i64,
    /// Nanoseconds since the Unix epoch, instead of a date.
    unix: Option<u64>,
    nanos: u64,
}

impl TimeParts {
    /// Nanoseconds since the Unix epoch; `None` without a date. A time without a zone counts as UTC.
    pub fn unix_nanos(&self) -> Option<u64> {
        let whole = match self.unix {
            Some(nanos) => nanos,
            None => {
                let clock = (self.hour, self.minute, self.second.min(59));
                let seconds = unix_seconds((self.year?, self.month, self.day), clock)? - self.offset;
                u64::try_from(seconds).ok()?.checked_mul(1_000_000_000)?
            }
        };
        whole.checked_add(self.nanos)
    }
}

impl TimePattern {
    /// Compiles a pattern of strftime(3). `%N` is a fraction of a second. The error is the unknown specification.
    pub fn new(pattern: &str) -> Result<TimePattern, String> {
        let mut specs = Vec::new();
        let mut rest = pattern.chars();
        while let Some(c) = rest.next() {
            if c != '%' {
                specs.extend(c.to_string().bytes().map(Spec::Literal));
                continue;
            }
            let letter = rest.next().unwrap_or(' ');
            match letter {
                'Y' => specs.push(Spec::Year),
                'y' => specs.push(Spec::ShortYear),
                'm' => specs.push(Spec::Month),
                'b' | 'h' => specs.push(Spec::MonthName),
                'd' | 'e' => specs.push(Spec::Day),
                'H' => specs.push(Spec::Hour),
                'M' => specs.push(Spec::Minute),
                'S' => specs.push(Spec::Second),
                'z' => specs.push(Spec::Zone),
                's' => specs.push(Spec::Unix),
                'N' => specs.push(Spec::Fraction),
                '%' => specs.push(Spec::Literal(b'%')),
                'T' => specs.extend(TimePattern::new("%H:%M:%S")?.0),
                'R' => specs.extend(TimePattern::new("%H:%M")?.0),
                'F' => specs.extend(TimePattern::new("%Y-%m-%d")?.0),
                'D' => specs.extend(TimePattern::new("%m/%d/%y")?.0),
                unknown => return Err(format!("%{unknown}")),
            }
        }
        Ok(TimePattern(specs))
    }

    /// Integer number of units since the Unix epoch. The unit is in nanoseconds.
    pub fn unix_units(unit: u64) -> TimePattern {
        TimePattern(vec![Spec::UnixUnits(unit)])
    }

    /// Digits of a fraction of a second.
    pub fn fraction() -> TimePattern {
        TimePattern(vec![Spec::Fraction])
    }

    /// True if the pattern contains a date or the time since the Unix epoch.
    pub fn has_date(&self) -> bool {
        let is_date =
            |it: &Spec| matches!(it, Spec::Year | Spec::ShortYear | Spec::Unix | Spec::UnixUnits(_));
        self.0.iter().any(is_date)
    }

    /// Parses the beginning of `text` into `parts`. Returns the number of bytes that the time has; `None` if it does
    /// not match.
    pub fn parse(&self, text: &[u8], parts: &mut TimeParts) -> Option<usize> {
        let mut rest = text;
        for spec in &self.0 {
            match spec {
                Spec::Literal(byte) => rest = rest.strip_prefix(&[*byte])?,
                Spec::Year => parts.year = Some(number(&mut rest, 4)? as u16),
                Spec::ShortYear => parts.year = Some(2000 + number(&mut rest, 2)? as u16),
                Spec::Month => parts.month = number(&mut rest, 2)? as u8,
                Spec::MonthName => parts.month = month(&mut rest)?,
                Spec::Day => parts.day = day(&mut rest)?,
                Spec::Hour => parts.hour = number(&mut rest, 2)? as u8,
                Spec::Minute => parts.minute = number(&mut rest, 2)? as u8,
                // 60 is a leap second.
                Spec::Second => parts.second = Some(number(&mut rest, 2)? as u8).filter(|it| *it <= 60)?,
                Spec::Zone => parts.offset = zone(&mut rest)?,
                Spec::Unix => {
                    parts.unix = Some(integer(&mut rest)?.checked_mul(1_000_000_000)?);
                    if let Some(mut digits) = rest.strip_prefix(b".")
                        && let Some(nanos) = fraction(&mut digits)
                    {
                        (parts.nanos, rest) = (nanos, digits);
                    }
                }
                Spec::UnixUnits(unit) => parts.unix = Some(integer(&mut rest)?.checked_mul(*unit)?),
                Spec::Fraction => parts.nanos = fraction(&mut rest)?,
            }
        }
        Some(text.len() - rest.len())
    }
}

/// Number of leading digits, at most `max`.
fn digit_count(text: &[u8], max: usize) -> usize {
    text.iter().take(max).take_while(|it| it.is_ascii_digit()).count()
}

fn value(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |sum, it| sum * 10 + u64::from(it - b'0'))
}

/// Takes a number with exactly `count` digits.
fn number(rest: &mut &[u8], count: usize) -> Option<u64> {
    let (digits, after) = rest.split_at_checked(count)?;
    *rest = after;
    (digit_count(digits, count) == count).then(|| value(digits))
}

/// Takes a number with up to 18 digits.
fn integer(rest: &mut &[u8]) -> Option<u64> {
    let (digits, after) = rest.split_at(digit_count(rest, 19));
    *rest = after;
    (1..=18).contains(&digits.len()).then(|| value(digits))
}

/// Takes the digits of a fraction, at most nine. Returns nanoseconds.
fn fraction(rest: &mut &[u8]) -> Option<u64> {
    let (digits, after) = rest.split_at(digit_count(rest, 10));
    *rest = after;
    (1..=9).contains(&digits.len()).then(|| value(digits) * 10u64.pow(9 - digits.len() as u32))
}

/// Takes a day of two digits, or of one digit after a blank, as `%e` writes it.
fn day(rest: &mut &[u8]) -> Option<u8> {
    match rest.strip_prefix(b" ") {
        Some(after) => {
            *rest = after;
            number(rest, 1).map(|it| it as u8)
        }
        None => number(rest, 2).map(|it| it as u8),
    }
}

fn month(rest: &mut &[u8]) -> Option<u8> {
    const NAMES: [&[u8; 3]; 12] =
        [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
    let (name, after) = rest.split_first_chunk::<3>()?;
    *rest = after;
    NAMES.iter().position(|it| *it == name).map(|it| it as u8 + 1)
}

/// Takes an offset from UTC. Returns seconds.
fn zone(rest: &mut &[u8]) -> Option<i64> {
    let (sign, after) = rest.split_first()?;
    *rest = after;
    let sign = match sign {
        b'Z' => return Some(0),
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let hours = number(rest, 2)?;
    *rest = rest.strip_prefix(b":").unwrap_or(rest);
    let minutes = number(rest, 2)?;
    Some(sign * (hours * 3600 + minutes * 60) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, text: &str, expected: Option<(u64, usize)>) {
        let mut parts = TimeParts::default();
        let pattern = TimePattern::new(pattern).expect("the pattern is valid");
        let length = pattern.parse(text.as_bytes(), &mut parts);
        assert_eq!(length.and_then(|it| Some((parts.unix_nanos()?, it))), expected, "{text}");
    }

    #[test]
    fn parses_times_of_all_servers() {
        const SECOND: u64 = 1_000_000_000;
        let common = "%d/%b/%Y:%H:%M:%S %z";
        check(common, "10/Oct/2026:13:55:36 +0300 rest", Some((1_791_629_736 * SECOND, 26)));
        check(common, "10/Oct/2026:13:55:36 -0730", Some((1_791_667_536 * SECOND, 26)));
        check("%FT%T%z", "2026-10-10T13:55:36+03:00", Some((1_791_629_736 * SECOND, 25)));
        check("%FT%T%z", "2026-10-10T10:55:36Z", Some((1_791_629_736 * SECOND, 20)));
        check("%s", "1791629736.25,", Some((1_791_629_736 * SECOND + SECOND / 4, 13)));
        check("%s", "1791629736 ", Some((1_791_629_736 * SECOND, 10)));
        check("%d/%b/%Y:%T.%N", "06/Feb/2009:12:14:14.655]", Some((1_233_922_454_655_000_000, 24)));
        check("%e %b %y %R", " 6 Feb 09 12:14", Some((1_233_922_440 * SECOND, 15)));
        // A leap second.
        check("%F %T", "2016-12-31 23:59:60", Some((1_483_228_799 * SECOND, 19)));
        for text in [
            "",
            "10/Oct/2026",
            "10/Okt/2026:13:55:36 +0300",
            "31/Feb/2026:13:55:36 +0300",
            "10/Oct/2026:24:55:36 +0300",
            "10/Oct/2026:13:55:61 +0300",
            "10/Oct/2026:13:55:36 MSK",
            "10/Oct/1969:13:55:36 +0300",
        ] {
            check(common, text, None);
        }
        check("%s", "12345678901234567890", None);
        check("%s", "-1", None);
        check("%T", "13:55:36", None);
    }

    #[test]
    fn joins_parts_of_several_fields() {
        let mut parts = TimeParts::default();
        for (pattern, text) in [
            (TimePattern::new("%d/%b/%Y:%T").expect("valid"), "10/Oct/2026:13:55:36"),
            (TimePattern::fraction(), "042"),
            (TimePattern::new("%z").expect("valid"), "+0300"),
        ] {
            assert_eq!(pattern.parse(text.as_bytes(), &mut parts), Some(text.len()));
        }
        assert_eq!(parts.unix_nanos(), Some(1_791_629_736_042_000_000));
        let mut parts = TimeParts::default();
        assert_eq!(TimePattern::unix_units(1000).parse(b"1791629736000042", &mut parts), Some(16));
        assert_eq!(parts.unix_nanos(), Some(1_791_629_736_000_042_000));
    }

    #[test]
    fn reports_unknown_specifications() {
        assert_eq!(TimePattern::new("%Y-%j"), Err("%j".to_owned()));
        assert_eq!(TimePattern::new("100%"), Err("% ".to_owned()));
    }
}
