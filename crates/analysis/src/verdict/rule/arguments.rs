//! Parser of a stop rule's arguments

use super::mask::{CodeMask, MatchCount, TransactionScope};
use super::{RuleContext, RuleDiagnostic, SeriesName, TankDifference, diagnostic};
use model::Nanos;

/// Level at or above which a rule fires.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// Number of transactions, at least 1.
    Count(u64),
    /// Percentage above 0, at most 100.
    Percent(f64),
}

impl Threshold {
    /// True if the count reaches the threshold; false without responses.
    pub fn is_reached(self, count: MatchCount) -> bool {
        match self {
            Threshold::Count(level) => count.matching >= level,
            // Compare products: 29 of 100 are 29 %, but the binary quotient may be slightly less.
            Threshold::Percent(level) => {
                count.total > 0 && count.matching as f64 * 100.0 >= level * count.total as f64
            }
        }
    }
}

/// One argument without surrounding spaces, and its offset in the whole text.
#[derive(Clone, Copy, Debug)]
pub struct Argument<'a> {
    pub offset: usize,
    pub text: &'a str,
}

/// Arguments of one rule, read from left to right. [`Arguments::expect_end`] reports any that remain.
#[derive(Debug)]
pub struct Arguments<'a> {
    remaining: std::vec::IntoIter<Argument<'a>>,
    /// Offset of the closing parenthesis.
    close: usize,
    context: &'a RuleContext,
    /// The rule's name and arguments as documented, for diagnostics.
    form: String,
    pub warnings: Vec<TankDifference>,
    pub series: Option<SeriesName>,
}

impl<'a> Arguments<'a> {
    /// Reader of a rule's arguments. `text` is the text between the parentheses, and `offset` is its place in the
    /// whole rule, in bytes.
    pub fn new(text: &'a str, offset: usize, context: &'a RuleContext, form: String) -> Arguments<'a> {
        let mut given = Vec::new();
        let mut from = 0;
        for part in text.split(',') {
            let before = part.len() - part.trim_start().len();
            given.push(Argument { offset: offset + from + before, text: part.trim() });
            from += part.len() + 1;
        }
        if text.trim().is_empty() {
            given.clear();
        }
        let (warnings, series) = (Vec::new(), None);
        Arguments {
            remaining: given.into_iter(),
            close: offset + text.len(),
            context,
            form,
            warnings,
            series,
        }
    }

    /// Reads the next argument. Diagnostics show `argument_name`.
    pub fn next(&mut self, argument_name: &str) -> Result<Argument<'a>, RuleDiagnostic> {
        let missing = |at| diagnostic(at, "", &format!("{argument_name}: {}", self.form));
        match self.remaining.next() {
            Some(it) if it.text.is_empty() => Err(missing(it.offset)),
            Some(it) => Ok(it),
            None => Err(missing(self.close)),
        }
    }

    /// Returns a diagnostic if arguments remain.
    pub fn expect_end(&mut self) -> Result<(), RuleDiagnostic> {
        match self.remaining.next() {
            Some(it) => Err(diagnostic(it.offset, it.text, &format!("no more arguments: {}", self.form))),
            None => Ok(()),
        }
    }

    /// Reads a time limit. A number without a unit is in milliseconds.
    pub fn time(&mut self) -> Result<Nanos, RuleDiagnostic> {
        let argument = self.next("a time such as `200ms`")?;
        match duration(argument.text, 1) {
            Some(millis) => Ok(Nanos::from_millis(millis)),
            None => Err(diagnostic(argument.offset, argument.text, "a time such as `200ms` or `1s500ms`")),
        }
    }

    /// Reads a number of seconds, at least 1.
    pub fn seconds(&mut self) -> Result<u64, RuleDiagnostic> {
        let argument = self.next("a number of seconds such as `10`")?;
        match duration(argument.text, 1000) {
            Some(millis) if millis > 0 && millis % 1000 == 0 => Ok(millis / 1000),
            _ => Err(diagnostic(argument.offset, argument.text, "whole seconds, such as `10` or `1m`")),
        }
    }

    pub fn level(&mut self) -> Result<Threshold, RuleDiagnostic> {
        let argument = self.next("a count or a percentage")?;
        let level = match argument.text.strip_suffix('%') {
            Some(percent) => {
                let percent = percent.trim_end().parse().ok().filter(|it| *it > 0.0 && *it <= 100.0);
                percent.map(Threshold::Percent)
            }
            None => argument.text.parse().ok().filter(|it| *it > 0).map(Threshold::Count),
        };
        let instead = "a whole number from 1, or a percentage";
        level.ok_or_else(|| diagnostic(argument.offset, argument.text, instead))
    }

    pub fn percent(&mut self) -> Result<f64, RuleDiagnostic> {
        let at = self.remaining.as_slice().first().copied();
        match (self.level()?, at) {
            (Threshold::Percent(it), _) => Ok(it),
            (Threshold::Count(n), at) => {
                let at = at.map_or(self.close, |it| it.offset);
                Err(diagnostic(at, &n.to_string(), &format!("a percentage: `{n}%`")))
            }
        }
    }

    pub fn number(&mut self) -> Result<f64, RuleDiagnostic> {
        let argument = self.next("a number")?;
        let number = argument.text.parse().ok().filter(|it: &f64| it.is_finite());
        number.ok_or_else(|| diagnostic(argument.offset, argument.text, "a number such as `90` or `0.5`"))
    }

    pub fn mask(
        &mut self,
        read: fn(&str) -> Result<CodeMask, &'static str>,
    ) -> Result<CodeMask, RuleDiagnostic> {
        let argument = self.next("a mask of codes")?;
        let mask =
            read(argument.text).map_err(|instead| diagnostic(argument.offset, argument.text, instead))?;
        if mask.is_any_code() {
            self.warnings.push(TankDifference::MaskOfX { mask: argument.text.to_owned() });
        }
        Ok(mask)
    }

    /// Reads the scope: the operation that the last argument names, or all transactions.
    pub fn scope(&mut self) -> Result<TransactionScope, RuleDiagnostic> {
        let refused = !self.context.connect_each;
        let Some(argument) = self.remaining.next() else {
            return Ok(TransactionScope { operation: None, refused });
        };
        let operations = &self.context.operations;
        match operations.iter().position(|known| known == argument.text) {
            Some(operation) => Ok(TransactionScope { operation: Some(operation), refused }),
            None => {
                let instead = match &operations[..] {
                    [] => format!("nothing: {}", self.form),
                    known => format!("an operation: {}", known.join(", ")),
                };
                Err(diagnostic(argument.offset, argument.text, &instead))
            }
        }
    }

    pub fn in_flight_max(&self) -> u32 {
        self.context.in_flight_max
    }
}

/// Milliseconds of a duration such as `1m`, `1s500ms` or `27h103m645`. A part without a unit counts `bare` milliseconds
/// per unit. `None` for anything else, including fractions such as `1.5s`, which Tank reads as 1 s + 5 s.
fn duration(text: &str, bare: u64) -> Option<u64> {
    let mut sum: u64 = 0;
    let mut rest = text;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: u64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let unit = match rest[..letters].to_ascii_lowercase().as_str() {
            "" => bare,
            "ms" => 1,
            "s" => 1000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            "w" => 604_800_000,
            _ => return None,
        };
        rest = &rest[letters..];
        sum = sum.checked_add(number.checked_mul(unit)?)?;
    }
    // The bound is longer than any run, and within the range of nanoseconds.
    (sum < 1_000_000_000_000).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_durations() {
        for (text, as_limit, as_length) in [
            ("10", Some(10), Some(10_000)),
            ("10s", Some(10_000), Some(10_000)),
            ("500ms", Some(500), Some(500)),
            ("1s500ms", Some(1500), Some(1500)),
            ("1s500", Some(1500), Some(501_000)),
            ("1m", Some(60_000), Some(60_000)),
            ("27H103m645S", Some(104_025_000), Some(104_025_000)),
            ("1w2d", Some(777_600_000), Some(777_600_000)),
            ("", None, None),
            ("s", None, None),
            ("1.5s", None, None),
            ("-1", None, None),
            ("1x", None, None),
            ("1 s", None, None),
            ("99999999999999999999", None, None),
            ("9999999w", None, None),
        ] {
            assert_eq!((duration(text, 1), duration(text, 1000)), (as_limit, as_length), "{text}");
        }
    }
}
