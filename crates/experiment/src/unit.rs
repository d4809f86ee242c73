//! Quantities with units.

use crate::diagnostic::quote;
use model::Nanos;
use model::message;
use model::message::Message;
use model::plan::{FeedOrder, ThinkTime};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};
use std::borrow::Cow;

/// Schema key whose value is the name of a unit. [`check`] checks quantities of this unit.
pub const KEY: &str = "x-unit";

/// Checks that a text is a quantity of this unit.
pub fn check(unit: &str, text: &str) -> Result<(), Message> {
    match unit {
        "duration" => duration(text).map(|_| ()),
        "offset" => offset(text).map(|_| ()),
        "bytes" => bytes(text).map(|_| ()),
        "bytes per second" => bytes_per_second(text).map(|_| ()),
        "share" => share(text).map(|_| ()),
        "pause" => pause(text).map(|_| ()),
        "order" => order(text).map(|_| ()),
        "status" => statuses(text).map(|_| ()),
        _ => unreachable!("every unit of the file's form is listed here"),
    }
}

/// Description of quantities with this unit, with an example.
pub fn describe(unit: &str) -> Message {
    match unit {
        "duration" => message!("experiment-kind-duration"),
        "offset" => message!("experiment-kind-offset"),
        "bytes" => message!("experiment-kind-bytes"),
        "bytes per second" => message!("experiment-kind-bytes-per-second"),
        "pause" => message!("experiment-kind-pause"),
        "order" => message!("experiment-kind-order"),
        "status" => message!("experiment-kind-status"),
        _ => message!("experiment-kind-share"),
    }
}

type Quantity<T> = Result<T, Message>;

/// Longest duration, in seconds: 100 days.
const LONGEST: f64 = 100.0 * 86_400.0;

const SECONDS: [(&str, f64); 8] = [
    ("ns", 1e-9),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("m", 60.0),
    ("h", 3600.0),
    ("d", 86_400.0),
];

/// Prefixes of units such as `minutes`, each with the unit to write instead.
const LONG_UNITS: [(&str, &str); 8] = [
    ("milli", "ms"),
    ("msec", "ms"),
    ("micro", "us"),
    ("usec", "us"),
    ("sec", "s"),
    ("min", "m"),
    ("h", "h"),
    ("day", "d"),
];

fn duration(text: &str) -> Quantity<Nanos> {
    let rest = text.trim();
    if rest.parse::<f64>().is_ok() && rest != "0" {
        return Err(message!("experiment-duration-without-unit", text = quote(rest), number = rest));
    }
    parse_duration(rest).map_err(|unknown| match unknown {
        None => message!("experiment-duration", text = quote(text)),
        Some((number, unit)) => {
            let short = LONG_UNITS.iter().find(|it| unit.to_ascii_lowercase().starts_with(it.0));
            let example = short.map(|it| format!("{number}{}", it.1)).or_else(|| completed(rest));
            message!("experiment-duration-unit", text = quote(text), example)
        }
    })
}

/// Parses a duration without surrounding blanks. The error contains an unknown unit and the number before it; `None`
/// means any other error.
fn parse_duration(text: &str) -> Result<Nanos, Option<(f64, &str)>> {
    let mut rest = text;
    if rest == "0" {
        return Ok(Nanos::ZERO);
    }
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let (number, after) = split(rest);
        let after = after.trim_start();
        let number = number.ok_or(None)?;
        let unit = &after[..after.find(|c: char| c.is_ascii_digit() || c == ' ').unwrap_or(after.len())];
        let known = SECONDS.iter().find(|it| it.0 == unit);
        let (_, each) = known.ok_or(Some((number, unit)))?;
        seconds += number * each;
        rest = after[unit.len()..].trim_start();
    }
    if text.is_empty() || seconds > LONGEST {
        return Err(None);
    }
    Ok(Nanos::from_secs_f64(seconds))
}

/// Nanoseconds of a duration with a sign.
fn offset(text: &str) -> Quantity<i64> {
    let text = text.trim();
    let (sign, rest) = match text.strip_prefix(['-', '−']) {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    match parse_duration(rest.trim_start()) {
        Ok(it) if it > Nanos::ZERO => Ok(sign * it.0.cast_signed()),
        _ => Err(message!("experiment-offset", text = quote(text))),
    }
}

/// Correction of a duration with a decimal comma or without a unit at its end. `None` if no correction gives a valid
/// duration.
fn completed(text: &str) -> Option<String> {
    let before = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let smaller = [("ms", "us"), ("h", "m"), ("m", "s"), ("s", "ms")];
    let unit = smaller.iter().find(|it| before.ends_with(it.0)).map_or("", |it| it.1);
    let corrected = [text.replace(',', "."), format!("{text}{unit}")];
    corrected.into_iter().find(|it| parse_duration(it).is_ok())
}

/// Units of sizes, in bytes. As in PostgreSQL, a kB is 1024 bytes.
const BYTES: [(&str, u64); 10] = [
    ("", 1),
    ("B", 1),
    ("kB", 1 << 10),
    ("KiB", 1 << 10),
    ("MB", 1 << 20),
    ("MiB", 1 << 20),
    ("GB", 1 << 30),
    ("GiB", 1 << 30),
    ("TB", 1 << 40),
    ("TiB", 1 << 40),
];

fn bytes(text: &str) -> Quantity<u64> {
    let example = [format!("{}B", text.trim()), text.replace(',', ".")];
    let is_size = |text: &&String| {
        let (number, unit) = split(text);
        number.is_some() && BYTES.iter().any(|it| it.0.eq_ignore_ascii_case(unit.trim()))
    };
    let invalid = || message!("experiment-bytes", text = quote(text), example = example.iter().find(is_size));
    let (number, unit) = split(text.trim());
    let number = number.ok_or_else(invalid)?;
    let unit = unit.trim_start();
    let each = BYTES.iter().find(|it| it.0.eq_ignore_ascii_case(unit)).ok_or_else(invalid)?.1;
    let total = number * each as f64;
    if total > (1u64 << 53) as f64 {
        return Err(invalid());
    }
    Ok(total.round() as u64)
}

fn bytes_per_second(text: &str) -> Quantity<u64> {
    let amount = text.trim().trim_end_matches("/s");
    bytes(amount).map_err(|_| message!("experiment-bytes-per-second", text = quote(text)))
}

fn share(text: &str) -> Quantity<f64> {
    let invalid = || message!("experiment-share", text = quote(text));
    let text = text.trim();
    let share = match text.strip_suffix('%') {
        Some(percent) => percent.parse::<f64>().map(|it| it / 100.0),
        None => text.parse(),
    };
    share.ok().filter(|it| (0.0..=1.0).contains(it)).ok_or_else(invalid)
}

/// Splits `name(argument, argument)` into its parts.
fn call(text: &str) -> Option<(&str, Vec<&str>)> {
    let (name, arguments) = text.trim().strip_suffix(')')?.split_once('(')?;
    Some((name.trim(), arguments.split(',').map(str::trim).collect()))
}

fn pause(text: &str) -> Quantity<ThinkTime> {
    let Some((name, arguments)) = call(text) else { return duration(text).map(ThinkTime::Constant) };

    match (name, arguments.as_slice()) {
        ("exponential", [mean]) => Ok(ThinkTime::Exponential { mean: duration(mean)? }),
        ("lognormal", [median, sigma]) => {
            let median = duration(median)?;
            match sigma.parse::<f64>() {
                // With a larger sigma, one pause in a thousand would be more than 200,000 times as long as the median.
                Ok(sigma) if (0.0..=4.0).contains(&sigma) => Ok(ThinkTime::LogNormal { median, sigma }),
                _ => Err(message!("experiment-sigma", text = quote(sigma))),
            }
        }
        _ => Err(message!("experiment-pause", text = quote(text))),
    }
}

fn order(text: &str) -> Quantity<FeedOrder> {
    let unknown = || message!("experiment-order", text = quote(text));
    match text.trim() {
        "sequential" => return Ok(FeedOrder::Sequential),
        "shuffled" => return Ok(FeedOrder::Shuffled),
        "random" => return Ok(FeedOrder::Random),
        "once" => return Ok(FeedOrder::Once),
        _ => {}
    }
    match call(text).ok_or_else(unknown)? {
        ("zipfian", arguments) if arguments.len() == 1 => match arguments[0].parse::<f64>() {
            Ok(s) if (1.001..=1000.0).contains(&s) => Ok(FeedOrder::Zipfian { s }),
            _ => Err(message!("experiment-exponent", text = quote(arguments[0]))),
        },
        _ => Err(unknown()),
    }
}

/// First and last status of `200`, `2xx` or `200-299`.
fn statuses(text: &str) -> Quantity<(u16, u16)> {
    let text = text.trim();
    let status = |text: &str| text.trim().parse::<u16>().ok().filter(|it| (100..=599).contains(it));
    let class = |part: &str| {
        let digit = part.strip_suffix("xx").or_else(|| part.strip_suffix("XX"))?.parse::<u16>().ok()?;
        (1..=5).contains(&digit).then_some((digit * 100, digit * 100 + 99))
    };
    let range = || {
        let (first, last) = text.split_once('-')?;
        status(first).zip(status(last)).filter(|it| it.0 <= it.1)
    };
    let one = status(text).map(|it| (it, it));
    one.or_else(|| class(text))
        .or_else(range)
        .ok_or_else(|| message!("experiment-status", text = quote(text)))
}

/// Leading number of a text, and the rest; `1_000` is a thousand.
fn split(text: &str) -> (Option<f64>, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    (text[..end].replace('_', "").parse().ok(), &text[end..])
}

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident($inner:ty), $read:ident, $unit:literal, $types:tt, $pattern:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name(pub $inner);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<$name, D::Error> {
                let text = String::deserialize(from)?;
                $read(&text).map($name).map_err(|message| D::Error::custom(message.id))
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": $types, "x-unit": $unit, "pattern": $pattern })
            }
        }
    };
}

quantity!(
    /// `10s`, `50ms`, `1m30s`; without a unit only 0.
    Duration(Nanos), duration, "duration", ["string", "integer"], r"^\s*([0-9._]+\s*(ns|us|µs|ms|s|m|h|d)\s*)+$|^0$"
);
quantity!(
    /// `+2m`, `-90s`; nanoseconds.
    Offset(i64), offset, "offset", ["string"], r"^\s*[-−+]?\s*([0-9._]+\s*(ns|us|µs|ms|s|m|h|d)\s*)+$"
);
quantity!(
    /// `256MB`; a number without a unit is in bytes.
    Bytes(u64), bytes, "bytes", ["string", "integer"], r"^\s*[0-9._]+\s*([kKmMgGtT]?i?[bB])?\s*$"
);
quantity!(
    /// `10MB`, also `10MB/s`; a number without a unit is in bytes per second.
    BytesPerSecond(u64), bytes_per_second, "bytes per second", ["string", "integer"], r"^\s*[0-9._]+\s*([kKmMgGtT]?i?[bB])?(/s)?\s*$"
);
quantity!(
    /// `0.1` or `10%`.
    Share(f64), share, "share", ["string", "number"], r"^\s*[0-9.]+\s*%?\s*$"
);

quantity!(
    /// `50ms`, `exponential(1s)`, `lognormal(1s, 0.5)`.
    Pause(ThinkTime), pause, "pause", ["string", "integer"],
    r"^\s*([0-9._]+\s*(ns|us|µs|ms|s|m|h|d)\s*)+$|^0$|^(exponential|lognormal)\(.*\)$"
);
quantity!(
    /// `sequential`, `shuffled`, `random`, `once`, `zipfian(1.2)`.
    Order(FeedOrder), order, "order", ["string"], r"^(sequential|shuffled|random|once|zipfian\(.*\))$"
);
quantity!(
    /// `200`, `2xx`, `200-299`.
    Statuses((u16, u16)), statuses, "status", ["string", "integer"], r"^[1-5]([0-9][0-9]|xx|XX)(-[1-5][0-9][0-9])?$"
);

/// Text that often looks like a number or a boolean: `off`, `1.21`, `4MB`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(transparent)]
pub struct Word(pub String);

impl JsonSchema for Word {
    fn schema_name() -> Cow<'static, str> {
        "Word".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number", "boolean"] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_durations() {
        let check = |text: &str, expected: Option<u64>| {
            assert_eq!(duration(text).ok().map(|it| it.0), expected, "{text}");
        };
        check("10s", Some(10_000_000_000));
        check("50ms", Some(50_000_000));
        check("1m30s", Some(90_000_000_000));
        check("1.5 s", Some(1_500_000_000));
        check("2d 1h", Some(176_400_000_000_000));
        check("7us", Some(7_000));
        check("7µs", Some(7_000));
        check("0", Some(0));
        check("0s", Some(0));
        for wrong in ["", " ", "10", "s", "10 parsecs", "-1s", "101d", "1..5s", "1e9s", "10s5"] {
            check(wrong, None);
        }
    }

    #[test]
    fn parses_offsets() {
        let check = |text: &str, expected: Option<i64>| assert_eq!(offset(text).ok(), expected, "{text}");
        check("+2m", Some(120_000_000_000));
        check("-1m30s", Some(-90_000_000_000));
        check("−1 s", Some(-1_000_000_000));
        check("50ms", Some(50_000_000));
        for wrong in ["", "-", "0", "+0s", "--1s", "2", "-2", "101d"] {
            check(wrong, None);
        }
    }

    #[test]
    fn parses_byte_amounts() {
        let check = |text: &str, expected: Option<u64>| assert_eq!(bytes(text).ok(), expected, "{text}");
        check("256MB", Some(256 << 20));
        check("256 mb", Some(256 << 20));
        check("1.5kB", Some(1536));
        check("1_000", Some(1000));
        check("2GiB", Some(2 << 30));
        for wrong in ["", "MB", "256M", "-1MB", "1e3", "99999999TB"] {
            check(wrong, None);
        }
        assert_eq!(bytes_per_second("10MB/s").ok(), Some(10 << 20));
        assert_eq!(bytes_per_second("10").ok(), Some(10));
    }

    #[test]
    fn parses_shares() {
        let check = |text: &str, expected: Option<f64>| assert_eq!(share(text).ok(), expected, "{text}");
        check("0.1", Some(0.1));
        check("10%", Some(0.1));
        check("1", Some(1.0));
        for wrong in ["", "1.1", "-0.1", "110%", "NaN", "a"] {
            check(wrong, None);
        }
    }
}
