//! Parsers of option values
//!
//! Errors have pgbench's texts. For some options, pgbench parses only the beginning of the text: `-R 1O0` means 1, and
//! `--max-tries=three` means 0, which is no limit. These parsers reject such texts.

use super::{OptionDiagnostic, SeedOption};
use crate::cli::language;
use crate::diagnostics;
use crate::fleet::options::LabelSelector;
use load::driver::Driver;
use load::schedule::{MAX_DURATION, MAX_RATE};
use load::script::builtin::{self, Builtin};
use model::summary::{PartitionMethod, QueryMode};
use model::{Curve, Nanos, PerSecond};
use report::lang::{Lang, english};
use std::ops::RangeInclusive;
use wire::http::{Method, Url};

/// Largest `int`, which is pgbench's upper bound.
pub const INT_MAX: u32 = i32::MAX as u32;

/// Largest backlog. It is allocated before the run and takes a quarter of a GB.
pub const MAX_BACKLOG: u32 = 10_000_000;

/// Largest number of agents.
const AGENTS_MAX: u16 = 4096;

/// Default name of a stored run, if `--save` contains none.
const DEFAULT_RUN_NAME: &str = "bench";

/// Integer in `range`. `option` is the option's name in messages.
pub fn int(text: &str, option: &str, range: RangeInclusive<u32>) -> Result<u32, OptionDiagnostic> {
    let trimmed = text.trim();
    let digits = trimmed.strip_prefix(['+', '-']).unwrap_or(trimmed);
    // pgbench's message names an option that does not exist.
    let written = match option.rsplit('/').next().unwrap_or(option) {
        "--clients" => "--client",
        written => written,
    };
    let example = if range.contains(&8) { 8 } else { *range.end() };
    let hint =
        format!("write a whole number from {} to {}, as in {written}={example}", range.start(), range.end());
    if digits.is_empty() || !digits.bytes().all(|it| it.is_ascii_digit()) {
        return Err(OptionDiagnostic::new(format!("invalid value \"{text}\" for option {option}"), hint));
    }
    match trimmed.parse::<i64>().ok().and_then(|it| u32::try_from(it).ok()).filter(|it| range.contains(it)) {
        Some(it) => Ok(it),
        None => {
            let (from, to) = range.into_inner();
            Err(OptionDiagnostic::new(format!("{option} must be in range {from}..{to}"), hint))
        }
    }
}

/// Finite number above 0.
fn positive(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|it| it.is_finite() && *it > 0.0)
}

pub fn rate(text: &str) -> Result<PerSecond, OptionDiagnostic> {
    let wrong = |hint: String| OptionDiagnostic::new(format!("invalid rate limit: \"{text}\""), hint);
    let number = positive(text).ok_or_else(|| {
        wrong("write transactions per second, a number above 0, as in --rate=1000".to_owned())
    })?;
    if number > MAX_RATE.0 {
        return Err(wrong(format!("write at most {}: more is beyond one machine", MAX_RATE.0)));
    }
    Ok(PerSecond(number))
}

pub fn latency_limit(text: &str) -> Result<Nanos, OptionDiagnostic> {
    let hint = "write milliseconds, a number above 0 and at most 100 days, as in --latency-limit=50";
    // As in pgbench, round down to whole microseconds, at least one.
    let micros = positive(text).map(|ms| (ms * 1000.0) as u64).filter(|it| *it > 0);
    micros
        .filter(|it| *it <= MAX_DURATION.0 / 1000)
        .map(Nanos::from_micros)
        .ok_or_else(|| OptionDiagnostic::new(format!("invalid latency limit: \"{text}\""), hint))
}

pub fn sampling(text: &str) -> Result<f64, OptionDiagnostic> {
    let hint = "write a share above 0 and at most 1, as in --sampling-rate=0.01";
    positive(text)
        .filter(|it| *it <= 1.0)
        .ok_or_else(|| OptionDiagnostic::new(format!("invalid sampling rate: \"{text}\""), hint))
}

pub fn tries(text: &str) -> Result<u32, OptionDiagnostic> {
    let hint = "write a whole number, as in --max-tries=3; 0 is without bound";
    text.trim()
        .parse::<u32>()
        .ok()
        .filter(|it| *it <= INT_MAX)
        .ok_or_else(|| OptionDiagnostic::new(format!("invalid number of maximum tries: \"{text}\""), hint))
}

/// Duration with its unit, such as `50ms`, `20us` or `1.5s`.
pub fn duration(text: &str, option: &str) -> Result<Nanos, OptionDiagnostic> {
    let unit_at = text.find(|it: char| it.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let nanos_per_unit = match unit {
        "us" => Some(1e3),
        "ms" => Some(1e6),
        "s" => Some(1e9),
        _ => None,
    };
    let number = number.trim().parse::<f64>().ok().filter(|it| it.is_finite() && *it >= 0.0);
    let nanos = number.zip(nanos_per_unit).map(|(number, unit)| Nanos((number * unit).round() as u64));
    nanos.filter(|it| *it <= MAX_DURATION).ok_or_else(|| {
        let hint =
            format!("write a number and its unit us, ms or s, at most 100 days, as in --{option}=50ms");
        OptionDiagnostic::new(format!("invalid duration \"{text}\" for option --{option}"), hint)
    })
}

pub fn url(text: &str) -> Result<Url, OptionDiagnostic> {
    let hint = "write it as --http=http://127.0.0.1:8080/path, or --http=unix:/run/service.sock:/path";
    Url::parse(text).map_err(|error| OptionDiagnostic::new(error.to_string(), hint))
}

pub fn method(text: &str) -> Result<Method, OptionDiagnostic> {
    let known = Method::ALL.into_iter().find(|it| it.name().eq_ignore_ascii_case(text));
    known.ok_or_else(|| {
        let names = Method::ALL.map(Method::name).join(", ");
        OptionDiagnostic::new(format!("unknown method: \"{text}\""), format!("write one of {names}"))
    })
}

/// Name of a stored run; empty for the default.
pub fn run_name(text: &str) -> Result<String, OptionDiagnostic> {
    match text {
        "" => Ok(DEFAULT_RUN_NAME.to_owned()),
        name if store::is_valid_name(name) => Ok(name.to_owned()),
        _ => Err(OptionDiagnostic::new(
            format!("invalid name of a run: \"{text}\""),
            "write at most 64 lower-case letters, digits and -, as in --save=nightly",
        )),
    }
}

/// Statuses and ranges of statuses, separated by commas.
pub fn statuses(text: &str) -> Result<Vec<RangeInclusive<u16>>, OptionDiagnostic> {
    let range = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let status = |code: &str| code.trim().parse().ok().filter(|it| (100..=599).contains(it));
        Some(status(from)?..=status(to)?).filter(|it| !it.is_empty())
    };
    let ranges: Option<Vec<_>> = text.split(',').map(range).collect();
    let hint = "write numbers from 100 to 599, as in --expect=200,404 or --expect=200-299";
    ranges.ok_or_else(|| OptionDiagnostic::new(format!("invalid statuses: \"{text}\""), hint))
}

/// Schedule in Yandex.Tank's grammar: its text, and its curve.
pub fn schedule(text: &str) -> Result<(String, Curve), OptionDiagnostic> {
    load::schedule::parse(text).map(|curve| (text.to_owned(), curve)).map_err(|diagnostics| {
        let diagnostics = diagnostics::in_argument("--schedule", text, diagnostics);
        OptionDiagnostic {
            message: format!("invalid schedule: \"{text}\""),
            detail: Some(format!(
                "errors in the schedule\n{}",
                diagnostics::render(&diagnostics, false, english())
            )),
            hint: "try it out with pgdyno schedule, as in pgdyno schedule 'line(1,200,200s)'".to_owned(),
        }
    })
}

/// Seed. `source` is the name of the option or variable for messages.
pub fn seed(text: &str, source: &str) -> Result<SeedOption, OptionDiagnostic> {
    match text {
        "time" => Ok(SeedOption::Time { explicit: true }),
        "rand" => Ok(SeedOption::Rand),
        _ => text.trim_start().parse().map(SeedOption::Fixed).map_err(|_| OptionDiagnostic {
            message: format!("unrecognized random seed option \"{text}\""),
            detail: Some("Expecting an unsigned integer, \"time\" or \"rand\".".to_owned()),
            hint: format!("error while setting random seed from {source}: write a number such as 42"),
        }),
    }
}

/// Language. `source` is the name of the option or variable for messages.
pub fn lang(code: &str, source: &str) -> Result<&'static Lang, OptionDiagnostic> {
    let unknown = || {
        let error = language::unknown(code, Some(source));
        OptionDiagnostic::new(english().message(&error), english().help(&error))
    };
    report::lang::find(code).ok_or_else(unknown)
}

/// Number of agents. `option` is the option's name in messages.
pub fn agents(text: &str, option: &str) -> Result<u16, OptionDiagnostic> {
    if text == "auto" {
        return Err(OptionDiagnostic::new(
            format!("{option}=auto is not possible, because a benchmark is measured once"),
            "write a number, as in --agents=3; pgdyno run --agents auto repeats a trial with more agents",
        ));
    }
    int(text, option, 1..=AGENTS_MAX.into()).map(|count| count as u16)
}

/// Selector of agents.
pub fn selector(text: &str) -> Result<LabelSelector, OptionDiagnostic> {
    LabelSelector::parse(text)
        .map_err(|error| OptionDiagnostic::new(error, "write a label and a value, as in --label zone=a"))
}

pub fn query_mode(text: &str) -> Result<QueryMode, OptionDiagnostic> {
    match text {
        "simple" => Ok(QueryMode::Simple),
        "extended" => Ok(QueryMode::Extended),
        "prepared" => Ok(QueryMode::Prepared),
        _ => Err(OptionDiagnostic::new(
            format!("invalid query mode (-M): \"{text}\""),
            "write one of simple, extended, prepared, as in -M prepared",
        )),
    }
}

/// Driver; `None` for the driver that suits the load.
pub fn driver(text: &str) -> Result<Option<Driver>, OptionDiagnostic> {
    match Driver::from_name(text) {
        None if text != "auto" => Err(OptionDiagnostic::new(
            format!("invalid driver: \"{text}\""),
            format!("write one of {}, as in --driver=auto", Driver::CHOICES.replace('|', ", ")),
        )),
        driver => Ok(driver),
    }
}

pub fn partition_method(text: &str) -> Result<PartitionMethod, OptionDiagnostic> {
    match text.to_ascii_lowercase().as_str() {
        "range" => Ok(PartitionMethod::Range),
        "hash" => Ok(PartitionMethod::Hash),
        _ => Err(OptionDiagnostic::new(
            format!("invalid partition method, expecting \"range\" or \"hash\", got: \"{text}\""),
            "write --partition-method=range or --partition-method=hash",
        )),
    }
}

/// Variable definition `name=value`.
pub fn define(text: &str) -> Result<(String, String), OptionDiagnostic> {
    let hint = "write a name of letters, digits and _, = and a value, as in -D rows=1000";
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            if name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_' || !it.is_ascii()) {
                Ok((name.to_owned(), value.to_owned()))
            } else {
                Err(OptionDiagnostic::new(format!("option: invalid variable name: \"{name}\""), hint))
            }
        }
        _ => Err(OptionDiagnostic::new(format!("invalid variable definition: \"{text}\""), hint)),
    }
}

/// Script and its weight: `name` or `name@weight`.
pub fn weighted(text: &str) -> Result<(&str, u32), OptionDiagnostic> {
    let Some(at) = text.rfind('@') else { return Ok((text, 1)) };
    let (name, weight) = (&text[..at], &text[at + 1..]);
    let hint = format!("write a whole number from 0 after the @, as in {name}@3");
    match weight.trim_start().parse::<i64>() {
        Ok(weight) => match u32::try_from(weight).ok().filter(|it| *it <= INT_MAX) {
            Some(it) => Ok((name, it)),
            None => Err(OptionDiagnostic::new(
                format!("weight specification out of range (0 .. {INT_MAX}): {weight}"),
                hint,
            )),
        },
        Err(_) => Err(OptionDiagnostic::new(format!("invalid weight specification: @{weight}"), hint)),
    }
}

/// Built-in script by an unambiguous prefix of its name.
pub fn builtin(name: &str) -> Result<&'static Builtin, OptionDiagnostic> {
    builtin::find(name).map_err(|error| {
        let names = builtin::ALL.map(|it| it.name).join(", ");
        OptionDiagnostic::new(error.to_string(), format!("write one of {names}"))
    })
}

/// Initialization steps, letters of `dtgGvpf`. Blanks are allowed and have no effect.
pub fn init_steps(text: &str) -> Result<String, OptionDiagnostic> {
    let hint = "write the first letters of drop, tables, generate (G: in the server), vacuum, primary keys and \
                   foreign keys, as in -I dtgvp";
    if text.is_empty() {
        return Err(OptionDiagnostic::new("no initialization steps specified", hint));
    }
    match text.chars().find(|it| !"dtgGvpf ".contains(*it)) {
        None => Ok(text.to_owned()),
        Some(wrong) => Err(OptionDiagnostic {
            message: format!("unrecognized initialization step \"{wrong}\""),
            detail: Some("Allowed step characters are: \"dtgGvpf\".".to_owned()),
            hint: hint.to_owned(),
        }),
    }
}
