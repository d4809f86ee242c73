//! Parser of schedules in Yandex.Tank's grammar
//!
//! ```text
//! schedule := part { part }                     with blanks, newlines or nothing between
//! part     := line(a, b, duration)              from rate a to rate b
//!           | const(rate, duration)
//!           | step(a, b, increment, duration)   levels a, a±increment, …; the last exactly at b
//! rate     := digits [ . digits ]               per second
//! duration := [Nd][Nh][Nm][N[s]]                whole numbers; bare ones are seconds
//! ```
//!
//! Text that Tank misreads (`1.5s`, `-1`, text between the parts) is an error.

use super::diagnostic::{ScheduleDiagnostic, ScheduleDiagnostics};
use model::{Curve, Nanos, PerSecond};
use std::ops::Range;

/// Maximum rate; one machine cannot generate more.
pub const MAX_RATE: PerSecond = PerSecond(1e7);

/// Maximum duration: 100 days. A double represents every nanosecond up to 2^53 ns (104 days).
pub const MAX_DURATION: Nanos = Nanos::from_secs(100 * 86_400);

/// Maximum number of lines, constants and levels of steps in one schedule.
pub const MAX_RAMPS: usize = 100_000;

const PARTS: [(&str, &str); 3] = [
    ("line", "line(from, to, duration)"),
    ("const", "const(rate, duration)"),
    ("step", "step(from, to, increment, duration)"),
];

const ANY_PART: &str = "`line(…)`, `const(…)` or `step(…)`";

/// Parses a schedule, or returns all errors in it (at most a hundred).
pub fn parse(text: &str) -> Result<Curve, ScheduleDiagnostics> {
    let mut reader = ScheduleParser {
        text,
        position: 0,
        ramps: Vec::new(),
        duration: Nanos::ZERO,
        diagnostics: Vec::new(),
    };
    reader.parse_parts();
    let ScheduleParser { mut ramps, diagnostics, .. } = reader;
    match (diagnostics.is_empty(), ramps.len()) {
        (false, _) => Err(ScheduleDiagnostics::new(text, diagnostics)),
        (true, 1) => Ok(ramps.remove(0)),
        (true, _) => Ok(Curve::Chain(ramps)),
    }
}

/// Range of bytes in the text.
type Span = Range<usize>;

/// Rate in millionths per second, so that decimals add up exactly.
type MicroRate = u64;

const MICROS_PER_UNIT: f64 = 1e6;

struct ScheduleParser<'a> {
    text: &'a str,
    position: usize,
    ramps: Vec<Curve>,
    duration: Nanos,
    diagnostics: Vec<ScheduleDiagnostic>,
}

impl<'a> ScheduleParser<'a> {
    fn parse_parts(&mut self) {
        while self.diagnostics.len() < ScheduleDiagnostics::MAX
            && !self.text[self.position..].trim_start().is_empty()
        {
            self.parse_part();
        }
        if self.ramps.is_empty() && self.diagnostics.is_empty() && self.text.trim().is_empty() {
            self.add_diagnostic(
                0..self.text.len(),
                "nothing stands here",
                "a schedule such as `const(100, 60s)`",
            );
        }
    }

    /// Parses one part, with any text before it.
    fn parse_part(&mut self) {
        let begin = self.position;
        let Some(bracket) = self.text[begin..].find(['(', ')']).map(|i| begin + i) else {
            self.position = self.text.len();
            return self.reject_junk(self.trim(begin..self.position));
        };
        self.position = bracket + 1;
        if self.text[bracket..].starts_with(')') {
            return self.reject_junk(self.trim(begin..self.position));
        }
        let name = self.last_word(begin..bracket);
        self.reject_junk(self.trim(begin..name.start));
        let inner = self.bracket_contents(bracket);
        self.add_part(name, inner);
    }

    /// Text between the parentheses; sets `position` to the end of the part.
    fn bracket_contents(&mut self, bracket: usize) -> Span {
        let begin = bracket + 1;
        let end = self.text[begin..].find(['(', ')']).map_or(self.text.len(), |i| begin + i);
        if self.text[end..].starts_with(')') {
            self.position = end + 1;
            return begin..end;
        }
        // The parenthesis is not closed: the next part has begun, or the text has ended.
        let end = if end < self.text.len() { self.last_word(begin..end).start } else { end };
        self.position = end;
        let inner = self.trim(begin..end);
        self.add_diagnostic(
            bracket..inner.end.max(begin),
            "this bracket is never closed",
            "`)` behind the duration",
        );
        begin..end
    }

    fn reject_junk(&mut self, junk: Span) {
        if !junk.is_empty() {
            let found = format!("{} is no part of a schedule", self.quote(&junk));
            self.add_diagnostic(junk, found, ANY_PART);
        }
    }

    fn add_part(&mut self, name: Span, inner: Span) {
        let word = &self.text[name.clone()];
        let Some((known, usage)) = PARTS.into_iter().find(|(known, _)| *known == word) else {
            let meant = PARTS.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(word));
            let write = meant.map_or(ANY_PART.to_owned(), |(known, _)| format!("`{known}`"));
            let found = match word {
                "" => "a bracket without a name".to_owned(),
                "ramp" | "wait" | "start" => {
                    format!("`{word}` starts instances; a schedule is made of rates")
                }
                _ => format!("{} is no kind of part", self.quote(&name)),
            };
            let span = if name.is_empty() { inner.start - 1..inner.start } else { name };
            return self.add_diagnostic(span, found, write);
        };
        let values = self.values(inner.clone());
        let arity = usage.split(',').count();
        if values.len() != arity {
            let found = format!("{known} takes {arity} values, here are {}", values.len());
            return self.add_diagnostic(name.start..inner.end.max(name.end), found, format!("`{usage}`"));
        }
        let rates: Vec<Option<MicroRate>> = values[..arity - 1].iter().map(|span| self.rate(span)).collect();
        let duration = self.duration(&values[arity - 1]);
        let (Some(rates), Some(duration)) = (rates.into_iter().collect::<Option<Vec<_>>>(), duration) else {
            return;
        };
        match rates[..] {
            [rate] => self.add_steps(name, rate, rate, 1, duration),
            [_, _] if duration == Nanos::ZERO => {
                let last = values[arity - 1].clone();
                self.add_diagnostic(
                    last,
                    "a line that lasts no time has no slope",
                    "a duration of at least `1s`",
                );
            }
            [from, to] => self.push(name, 1, duration, [(from, to)].into_iter()),
            [_, _, 0] => {
                let third = values[2].clone();
                self.add_diagnostic(third, "steps of 0 never arrive", "an increment above 0");
            }
            [from, to, increment] => self.add_steps(name, from, to, increment, duration),
            _ => unreachable!("no part takes more than three rates"),
        }
    }

    /// Adds the levels `from`, `from` ± `increment`, …, and one at exactly `to`.
    fn add_steps(
        &mut self,
        name: Span,
        from: MicroRate,
        to: MicroRate,
        increment: MicroRate,
        duration: Nanos,
    ) {
        let count = from.abs_diff(to).div_ceil(increment) + 1;
        let level = move |i: u64| {
            if from <= to { to.min(from + i * increment) } else { to.max(from.saturating_sub(i * increment)) }
        };
        self.push(name, count, duration, (0..count).map(level).map(|rate| (rate, rate)));
    }

    /// Adds `count` ramps of the same duration, unless the schedule would become too large.
    fn push(
        &mut self,
        name: Span,
        count: u64,
        duration: Nanos,
        rates: impl Iterator<Item = (MicroRate, MicroRate)>,
    ) {
        let room = (MAX_RAMPS - self.ramps.len()) as u64;
        if count > room {
            let found = format!("{count} levels here; a schedule has at most {MAX_RAMPS}");
            return self.add_diagnostic(name, found, "larger increments, or fewer parts");
        }
        let total = Nanos(duration.0.saturating_mul(count)) + self.duration;
        if total > MAX_DURATION {
            let days = total.0 / Nanos::from_secs(86_400).0;
            let found = format!("here the schedule has grown to {days} days; it lasts at most 100");
            return self.add_diagnostic(name, found, "shorter durations");
        }
        self.duration = total;
        let rate = |micro: MicroRate| PerSecond(micro as f64 / MICROS_PER_UNIT);
        self.ramps.extend(rates.map(|(from, to)| Curve::Ramp { from: rate(from), to: rate(to), duration }));
    }

    fn rate(&mut self, span: &Span) -> Option<MicroRate> {
        let text = &self.text[span.clone()];
        let (integer, decimals) = text.split_once('.').unwrap_or((text, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits(integer) && digits(decimals) && integer.len() + decimals.len() > 0;
        let (found, write) = if text.is_empty() {
            ("a rate is missing here".to_owned(), "a number such as `10` or `0.5`")
        } else if text.starts_with(['-', '−']) {
            (format!("{} is negative", self.quote(span)), "a rate of 0 or more")
        } else if !number {
            (format!("{} is no rate", self.quote(span)), "a number such as `10` or `0.5`, per second")
        } else if decimals.trim_end_matches('0').len() > 6 {
            (format!("{} has more than six decimals", self.quote(span)), "at most six")
        } else {
            let micro = format!("{integer}{decimals:0<6.6}")
                .parse()
                .ok()
                .filter(|&it| it as f64 <= MAX_RATE.0 * MICROS_PER_UNIT);
            if micro.is_some() {
                return micro;
            }
            (format!("{} per second is beyond one machine", self.quote(span)), "at most 10000000")
        };
        self.add_diagnostic(span.clone(), found, write);
        None
    }

    fn duration(&mut self, span: &Span) -> Option<Nanos> {
        match parse_duration(&self.text[span.clone()]) {
            Ok(seconds) if seconds <= MAX_DURATION.0 / 1_000_000_000 => Some(Nanos::from_secs(seconds)),
            Ok(_) => {
                let found = format!("{} is more than 100 days", self.quote(span));
                self.add_diagnostic(span.clone(), found, "a shorter duration");
                None
            }
            Err(Suggestion(write)) => {
                let empty = span.is_empty();
                let found = if empty {
                    "a duration is missing here".to_owned()
                } else {
                    format!("{} is no duration", self.quote(span))
                };
                self.add_diagnostic(span.clone(), found, write);
                None
            }
        }
    }

    /// Comma-separated values, without surrounding blanks.
    fn values(&self, inner: Span) -> Vec<Span> {
        let mut begin = inner.start;
        let pieces = self.text[inner].split(',').map(|piece| {
            let span = begin..begin + piece.len();
            begin = span.end + 1;
            self.trim(span)
        });
        // No part takes more than a few values, so 16 pieces are enough to detect an excess.
        pieces.take(16).collect()
    }

    fn trim(&self, span: Span) -> Span {
        let text = &self.text[span.clone()];
        let begin = span.start + text.len() - text.trim_start().len();
        begin..begin + text.trim().len()
    }

    /// Name before a parenthesis, if any.
    fn last_word(&self, span: Span) -> Span {
        let text = self.text[span.clone()].trim_end();
        let rest = text.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
        span.start + rest.len()..span.start + text.len()
    }

    fn quote(&self, span: &Span) -> String {
        super::diagnostic::quote(&self.text[span.clone()])
    }

    fn add_diagnostic(&mut self, at: Span, found: impl Into<String>, write: impl Into<String>) {
        self.diagnostics.push(ScheduleDiagnostic { span: at, found: found.into(), suggestion: write.into() });
    }
}

/// Units of a duration in their order, in seconds.
const UNITS: [(char, u64); 4] = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];

/// Text to write instead of an invalid one.
struct Suggestion(String);

/// Parses a duration; returns seconds, saturating.
fn parse_duration(text: &str) -> Result<u64, Suggestion> {
    const USAGE: &str = "whole days, hours, minutes and seconds in this order, such as `1h30m` or `90s`";
    let usage = || Suggestion(USAGE.to_owned());
    let (mut rest, mut units, mut seconds) = (text, &UNITS[..], 0u64);
    if text.is_empty() {
        return Err(usage());
    }
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, behind) = rest.split_at(digits);
        let unit = behind.chars().next().unwrap_or('s');
        if unit == '.' {
            return Err(suggest_whole_units(text).map_or_else(usage, Suggestion));
        }
        let Some(i) = units.iter().position(|(name, _)| *name == unit) else { return Err(usage()) };
        if number.is_empty() {
            return Err(usage());
        }
        seconds = seconds.saturating_add(number.parse().unwrap_or(u64::MAX).saturating_mul(units[i].1));
        units = &units[i + 1..];
        rest = behind.get(1..).unwrap_or("");
    }
    Ok(seconds)
}

/// Correction for a fraction of one unit.
fn suggest_whole_units(text: &str) -> Option<String> {
    let number = text.trim_end_matches(char::is_alphabetic);
    let unit = match &text[number.len()..] {
        "" => 1,
        name => UNITS.iter().find(|(unit, _)| name.chars().eq([*unit]))?.1,
    };
    let seconds = number.parse::<f64>().ok().filter(|it| (0.0..1e9).contains(it))? * unit as f64;
    let (below, above) = (seconds.floor() as u64, seconds.ceil() as u64);
    Some(match below {
        0 => format!("a whole number, such as `{above}s`"),
        _ if below == above => format!("a whole number: `{below}s`"),
        _ => format!("a whole number: `{below}s` or `{above}s`"),
    })
}

#[cfg(test)]
mod tests;
