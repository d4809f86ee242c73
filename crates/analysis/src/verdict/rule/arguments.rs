//! Parser of a stop rule's arguments

use super::mask::{CodeKind, CodeMask, MatchCount, TransactionScope};
use super::{RuleContext, SeriesName, TankDifference, quoted, unknown_operation};
use model::message::Message;
use model::{GrammarDiagnostic, Nanos, message};

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
            // Compare products, because rounding may make the quotient of 29 and 100 less than 29 %.
            Threshold::Percent(level) => {
                count.total > 0 && count.matching as f64 * 100.0 >= level * count.total as f64
            }
        }
    }
}

/// One argument without surrounding spaces, and its offset in the rule.
#[derive(Clone, Copy, Debug)]
pub struct Argument<'a> {
    pub offset: usize,
    pub text: &'a str,
}

/// Arguments of one rule, read from left to right. [`Arguments::expect_end`] reports remaining arguments.
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
    /// Reader of a rule's arguments. `text` is the text between the parentheses, and `offset` is its position in the
    /// rule, in bytes.
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

    /// Reads the next argument, which is empty if it is missing.
    fn next(&mut self) -> Argument<'a> {
        self.remaining.next().unwrap_or(Argument { offset: self.close, text: "" })
    }

    /// Parses the next argument. If it is invalid or missing, `describe` returns the message. The parameters of
    /// `describe` are the quoted argument, if there is one, and the rule's form.
    pub fn parse<T>(
        &mut self,
        parse: impl FnOnce(Argument<'a>) -> Option<T>,
        describe: impl FnOnce(Option<String>, &str) -> Message,
    ) -> Result<T, GrammarDiagnostic> {
        let argument = self.next();
        parse(argument).ok_or_else(|| argument.diagnostic(describe(quoted(argument.text), &self.form)))
    }

    /// Returns a diagnostic if arguments remain.
    pub fn expect_end(&mut self) -> Result<(), GrammarDiagnostic> {
        self.remaining.next().map_or(Ok(()), |argument| Err(self.surplus(argument)))
    }

    fn surplus(&self, argument: Argument<'_>) -> GrammarDiagnostic {
        argument.diagnostic(message!("rule-surplus", text = quoted(argument.text), form = &self.form))
    }

    /// Reads a name. An empty name is an error.
    pub fn name(
        &mut self,
        describe: impl FnOnce(Option<String>, &str) -> Message,
    ) -> Result<Argument<'a>, GrammarDiagnostic> {
        self.parse(|argument| Some(argument).filter(|it| !it.text.is_empty()), describe)
    }

    /// Reads a time limit. A number without a unit is in milliseconds.
    pub fn time(&mut self) -> Result<Nanos, GrammarDiagnostic> {
        self.parse(
            |argument| duration(argument.text, 1).map(Nanos::from_millis),
            |text, form| message!("rule-time", text, form),
        )
    }

    /// Reads a number of seconds, at least 1.
    pub fn seconds(&mut self) -> Result<u64, GrammarDiagnostic> {
        self.parse(
            |argument| {
                let millis = duration(argument.text, 1000).filter(|it| *it > 0 && it % 1000 == 0);
                millis.map(|it| it / 1000)
            },
            |text, form| message!("rule-seconds", text, form),
        )
    }

    pub fn level(&mut self) -> Result<Threshold, GrammarDiagnostic> {
        self.parse(
            |argument| match argument.text.strip_suffix('%') {
                Some(percent) => {
                    let percent = percent.trim_end().parse().ok().filter(|it| *it > 0.0 && *it <= 100.0);
                    percent.map(Threshold::Percent)
                }
                None => argument.text.parse().ok().filter(|it| *it > 0).map(Threshold::Count),
            },
            |text, form| message!("rule-level", text, form),
        )
    }

    pub fn percent(&mut self) -> Result<f64, GrammarDiagnostic> {
        let first = self.remaining.as_slice().first().copied();
        match (self.level()?, first) {
            (Threshold::Percent(percent), _) => Ok(percent),
            (Threshold::Count(count), argument) => {
                let argument = argument.expect("a level was parsed from it");
                Err(argument.diagnostic(message!("rule-percent", count)))
            }
        }
    }

    pub fn number(&mut self) -> Result<f64, GrammarDiagnostic> {
        self.parse(
            |argument| argument.text.parse().ok().filter(|it: &f64| it.is_finite()),
            |text, form| message!("rule-number", text, form),
        )
    }

    pub fn mask(&mut self, kind: CodeKind) -> Result<CodeMask, GrammarDiagnostic> {
        let (argument, mask) = self.parse(
            |argument| Some((argument, CodeMask::parse(kind, argument.text)?)),
            |text, form| match kind {
                CodeKind::Http => message!("rule-mask-http", text, form),
                CodeKind::Net => message!("rule-mask-net", text, form),
                CodeKind::Sql => message!("rule-mask-sql", text, form),
                CodeKind::Any => unreachable!("no rule has a mask of all failures as an argument"),
            },
        )?;
        if mask.is_any_code() {
            self.warnings.push(TankDifference::MaskOfX { mask: argument.text.to_owned() });
        }
        Ok(mask)
    }

    /// Reads the scope: the operation that the last argument names, or all transactions.
    pub fn scope(&mut self) -> Result<TransactionScope, GrammarDiagnostic> {
        let refused = !self.context.reconnect;
        let Some(argument) = self.remaining.next() else {
            return Ok(TransactionScope { operation: None, refused });
        };
        let operations = &self.context.operations;
        match operations.iter().position(|known| known == argument.text) {
            Some(operation) => Ok(TransactionScope { operation: Some(operation), refused }),
            None if operations.is_empty() => Err(self.surplus(argument)),
            None => Err(argument.diagnostic(unknown_operation(argument.text, operations))),
        }
    }

    pub fn in_flight_max(&self) -> u32 {
        self.context.in_flight_max
    }
}

impl Argument<'_> {
    fn diagnostic(self, message: Message) -> GrammarDiagnostic {
        GrammarDiagnostic { span: self.offset..self.offset + self.text.len(), message }
    }
}

/// Duration in milliseconds of a text such as `1m`, `1s500ms` or `27h103m645`. A number without a unit counts in units
/// of `bare` milliseconds. `None` for other texts, including fractions such as `1.5s`, which Tank reads as 1 s + 5 s.
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
    // This limit is longer than any run, and fits into 64 bits as nanoseconds.
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
