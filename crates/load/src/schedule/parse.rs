//! Parser of schedules in Yandex.Tank's grammar
//!
//! ```text
//! schedule := part { part }                     with blanks, newlines or nothing between
//! part     := line(a, b, duration)              from rate a to rate b
//!           | const(rate, duration)
//!           | step(a, b, increment, duration)   levels a, a±increment, …; the last exactly at b
//! rate     := digits [ . digits ]               per second
//! duration := [Nd][Nh][Nm][N[s]]                whole numbers, in seconds without a unit
//! ```
//!
//! Text that Tank misreads (`1.5s`, `-1`, text between the parts) is an error.

use model::message::Message;
use model::{Curve, GrammarDiagnostic, Nanos, PerSecond, message, quote};
use std::ops::Range;

/// Maximum rate, which exceeds what one machine can generate.
pub const MAX_RATE: PerSecond = PerSecond(1e7);

/// Maximum duration in days. A double represents every nanosecond up to 2^53 ns (104 days).
const MAX_DAYS: u64 = 100;

/// Maximum duration.
pub const MAX_DURATION: Nanos = Nanos::from_secs(MAX_DAYS * 86_400);

/// Maximum number of ramps in one schedule: lines, constant rates and levels of steps.
pub const MAX_RAMPS: usize = 100_000;

/// Names of the parts, with their numbers of values.
const PARTS: [(&str, usize); 3] = [("line", 3), ("const", 2), ("step", 4)];

/// Number of errors after which parsing stops.
const MAX_DIAGNOSTICS: usize = 100;

/// Parses a schedule, or returns all errors in it (about a hundred at most), in the order of their positions.
pub fn parse(text: &str) -> Result<Curve, Vec<GrammarDiagnostic>> {
    let mut reader = ScheduleParser {
        text,
        position: 0,
        ramps: Vec::new(),
        duration: Nanos::ZERO,
        diagnostics: Vec::new(),
    };
    reader.parse_parts();
    let ScheduleParser { mut ramps, mut diagnostics, .. } = reader;
    diagnostics.sort_by_key(|it| it.span.start);
    match (diagnostics.is_empty(), ramps.len()) {
        (false, _) => Err(diagnostics),
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
    diagnostics: Vec<GrammarDiagnostic>,
}

impl<'a> ScheduleParser<'a> {
    fn parse_parts(&mut self) {
        while self.diagnostics.len() < MAX_DIAGNOSTICS && !self.text[self.position..].trim_start().is_empty()
        {
            self.parse_part();
        }
        if self.ramps.is_empty() && self.diagnostics.is_empty() && self.text.trim().is_empty() {
            self.add_diagnostic(0..self.text.len(), message!("schedule-empty"));
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
        // The parenthesis is not closed, because the next part begins or the text ends.
        let end = if end < self.text.len() { self.last_word(begin..end).start } else { end };
        self.position = end;
        let inner = self.trim(begin..end);
        self.add_diagnostic(bracket..inner.end.max(begin), message!("schedule-unclosed"));
        begin..end
    }

    fn reject_junk(&mut self, junk: Span) {
        if !junk.is_empty() {
            let message = message!("schedule-junk", text = self.quote(&junk));
            self.add_diagnostic(junk, message);
        }
    }

    fn add_part(&mut self, name: Span, inner: Span) {
        let word = &self.text[name.clone()];
        let Some((known, arity)) = PARTS.into_iter().find(|(known, _)| *known == word) else {
            let message = match word {
                "" => message!("schedule-unnamed"),
                "ramp" | "wait" | "start" => message!("schedule-instances", name = word),
                _ => {
                    let nearest = PARTS.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(word));
                    let nearest = nearest.map(|(known, _)| known);
                    message!("schedule-part", name = self.quote(&name), nearest)
                }
            };
            let span = if name.is_empty() { inner.start - 1..inner.start } else { name };
            return self.add_diagnostic(span, message);
        };
        let values = self.values(inner.clone());
        if values.len() != arity {
            let message = message!("schedule-arity", name = known, arity, count = values.len());
            return self.add_diagnostic(name.start..inner.end.max(name.end), message);
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
                self.add_diagnostic(last, message!("schedule-line-duration"));
            }
            [from, to] => self.push(name, 1, duration, [(from, to)].into_iter()),
            [_, _, 0] => {
                let third = values[2].clone();
                self.add_diagnostic(third, message!("schedule-increment"));
            }
            [from, to, increment] => self.add_steps(name, from, to, increment, duration),
            _ => unreachable!("no part takes more than three rates"),
        }
    }

    /// Adds the levels `from`, `from` ± `increment`, …, and a last level at exactly `to`.
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
            return self.add_diagnostic(name, message!("schedule-levels", count, max = MAX_RAMPS));
        }
        let total = Nanos(duration.0.saturating_mul(count)) + self.duration;
        if total > MAX_DURATION {
            let days = total.0 / Nanos::from_secs(86_400).0;
            return self.add_diagnostic(name, message!("schedule-total", days, max = MAX_DAYS));
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
        let quoted = self.quote(span);
        let message = if text.is_empty() {
            message!("schedule-rate-missing")
        } else if text.starts_with(['-', '−']) {
            message!("schedule-rate-negative", text = quoted)
        } else if !number {
            message!("schedule-rate", text = quoted)
        } else if decimals.trim_end_matches('0').len() > 6 {
            message!("schedule-decimals", text = quoted)
        } else {
            let micro = format!("{integer}{decimals:0<6.6}")
                .parse()
                .ok()
                .filter(|&it| it as f64 <= MAX_RATE.0 * MICROS_PER_UNIT);
            if micro.is_some() {
                return micro;
            }
            message!("schedule-rate-max", text = quoted, max = MAX_RATE.0 as u64)
        };
        self.add_diagnostic(span.clone(), message);
        None
    }

    fn duration(&mut self, span: &Span) -> Option<Nanos> {
        let text = &self.text[span.clone()];
        let message = match parse_duration(text) {
            Some(seconds) if seconds <= MAX_DURATION.0 / 1_000_000_000 => {
                return Some(Nanos::from_secs(seconds));
            }
            Some(_) => message!("schedule-duration-max", text = self.quote(span), max = MAX_DAYS),
            None if text.is_empty() => message!("schedule-duration-missing"),
            None => match whole_seconds(text) {
                Some((below, above)) => {
                    let below = Some(below).filter(|below| (1..above).contains(below));
                    message!("schedule-duration-fraction", text = self.quote(span), below, above)
                }
                None => message!("schedule-duration", text = self.quote(span)),
            },
        };
        self.add_diagnostic(span.clone(), message);
        None
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
        quote(&self.text[span.clone()])
    }

    fn add_diagnostic(&mut self, span: Span, message: Message) {
        self.diagnostics.push(GrammarDiagnostic { span, message });
    }
}

/// Units of a duration in their order, in seconds.
const UNITS: [(char, u64); 4] = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];

/// Parses a duration; returns seconds, saturating.
fn parse_duration(text: &str) -> Option<u64> {
    let (mut rest, mut units, mut seconds) = (text, &UNITS[..], 0u64);
    if text.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, behind) = rest.split_at(digits);
        let unit = behind.chars().next().unwrap_or('s');
        let i = units.iter().position(|(name, _)| *name == unit)?;
        if number.is_empty() {
            return None;
        }
        seconds = seconds.saturating_add(number.parse().unwrap_or(u64::MAX).saturating_mul(units[i].1));
        units = &units[i + 1..];
        rest = behind.get(1..).unwrap_or("");
    }
    Some(seconds)
}

/// Whole seconds below and above a fractional duration such as `1.5m`.
fn whole_seconds(text: &str) -> Option<(u64, u64)> {
    let number = text.trim_end_matches(char::is_alphabetic);
    let unit = match &text[number.len()..] {
        "" => 1,
        name => UNITS.iter().find(|(unit, _)| name.chars().eq([*unit]))?.1,
    };
    let fraction = number.parse::<f64>().ok().filter(|_| number.contains('.'));
    let seconds = fraction.filter(|fraction| (0.0..1e9).contains(fraction))? * unit as f64;
    Some((seconds.floor() as u64, seconds.ceil() as u64))
}

#[cfg(test)]
mod tests;
