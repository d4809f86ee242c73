//! What do a rule's arguments say?

use super::codes::{Mask, Scope};
use super::{Complaint, Difference, Scene, SeriesName, complaint};
use model::Nanos;

/// How much is too much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Level {
    /// At least 1.
    Count(u64),
    /// Above 0, at most 100.
    Percent(f64),
}

/// One argument without the spaces around it, and where it stands in the whole text.
#[derive(Clone, Copy, Debug)]
pub struct Argument<'a> {
    pub at: usize,
    pub text: &'a str,
}

/// The arguments of one rule, read from left to right; [`Arguments::end`] tells of those left over.
#[derive(Debug)]
pub struct Arguments<'a> {
    given: std::vec::IntoIter<Argument<'a>>,
    /// Where the closing parenthesis stands.
    close: usize,
    scene: &'a Scene,
    /// The rule and its arguments, for complaints.
    form: String,
    pub warnings: Vec<Difference>,
    pub series: Option<SeriesName>,
}

impl<'a> Arguments<'a> {
    /// `text` is what stands between the parentheses, `at` where it begins.
    pub fn new(text: &'a str, at: usize, scene: &'a Scene, form: String) -> Arguments<'a> {
        let mut given = Vec::new();
        let mut from = 0;
        for part in text.split(',') {
            let before = part.len() - part.trim_start().len();
            given.push(Argument { at: at + from + before, text: part.trim() });
            from += part.len() + 1;
        }
        if text.trim().is_empty() {
            given.clear();
        }
        let (warnings, series) = (Vec::new(), None);
        Arguments { given: given.into_iter(), close: at + text.len(), scene, form, warnings, series }
    }

    /// The next argument, which is `what`.
    pub fn next(&mut self, what: &str) -> Result<Argument<'a>, Complaint> {
        let missing = |at| complaint(at, "", &format!("{what}: {}", self.form));
        match self.given.next() {
            Some(it) if it.text.is_empty() => Err(missing(it.at)),
            Some(it) => Ok(it),
            None => Err(missing(self.close)),
        }
    }

    /// Nothing may be left.
    pub fn end(&mut self) -> Result<(), Complaint> {
        match self.given.next() {
            Some(it) => Err(complaint(it.at, it.text, &format!("no more arguments: {}", self.form))),
            None => Ok(()),
        }
    }

    /// A limit of time; milliseconds without a unit.
    pub fn time(&mut self) -> Result<Nanos, Complaint> {
        let it = self.next("a time such as `200ms`")?;
        match duration(it.text, 1) {
            Some(millis) => Ok(Nanos::from_millis(millis)),
            None => Err(complaint(it.at, it.text, "a time such as `200ms` or `1s500ms`")),
        }
    }

    /// How many seconds; at least 1.
    pub fn seconds(&mut self) -> Result<u64, Complaint> {
        let it = self.next("a number of seconds such as `10`")?;
        match duration(it.text, 1000) {
            Some(millis) if millis > 0 && millis % 1000 == 0 => Ok(millis / 1000),
            _ => Err(complaint(it.at, it.text, "whole seconds, such as `10` or `1m`")),
        }
    }

    pub fn level(&mut self) -> Result<Level, Complaint> {
        let it = self.next("a count or a percentage")?;
        let level = match it.text.strip_suffix('%') {
            Some(percent) => {
                let percent = percent.trim_end().parse().ok().filter(|it| *it > 0.0 && *it <= 100.0);
                percent.map(Level::Percent)
            }
            None => it.text.parse().ok().filter(|it| *it > 0).map(Level::Count),
        };
        let instead = "a whole number from 1, or a percentage";
        level.ok_or_else(|| complaint(it.at, it.text, instead))
    }

    pub fn percent(&mut self) -> Result<f64, Complaint> {
        let at = self.given.as_slice().first().copied();
        match (self.level()?, at) {
            (Level::Percent(it), _) => Ok(it),
            (Level::Count(n), at) => {
                let at = at.map_or(self.close, |it| it.at);
                Err(complaint(at, &n.to_string(), &format!("a percentage: `{n}%`")))
            }
        }
    }

    pub fn number(&mut self) -> Result<f64, Complaint> {
        let it = self.next("a number")?;
        let number = it.text.parse().ok().filter(|it: &f64| it.is_finite());
        number.ok_or_else(|| complaint(it.at, it.text, "a number such as `90` or `0.5`"))
    }

    pub fn mask(&mut self, read: fn(&str) -> Result<Mask, &'static str>) -> Result<Mask, Complaint> {
        let it = self.next("a mask of codes")?;
        let mask = read(it.text).map_err(|instead| complaint(it.at, it.text, instead))?;
        if mask.is_of_x() {
            self.warnings.push(Difference::MaskOfX { mask: it.text.to_owned() });
        }
        Ok(mask)
    }

    /// Of which transactions: those of the operation that the last argument names, or all.
    pub fn scope(&mut self) -> Result<Scope, Complaint> {
        let refused = !self.scene.connect_each;
        let Some(it) = self.given.next() else { return Ok(Scope { operation: None, refused }) };
        let operations = &self.scene.operations;
        match operations.iter().position(|known| known == it.text) {
            Some(operation) => Ok(Scope { operation: Some(operation), refused }),
            None => {
                let instead = match &operations[..] {
                    [] => format!("nothing: {}", self.form),
                    known => format!("an operation: {}", known.join(", ")),
                };
                Err(complaint(it.at, it.text, &instead))
            }
        }
    }

    pub fn in_flight_max(&self) -> u32 {
        self.scene.in_flight_max
    }
}

/// Milliseconds of a text such as `1m`, `1s500ms`, `27h103m645`; a part without a unit counts `bare` milliseconds. `None`
/// for anything else: a fraction such as `1.5s` too, which Tank reads as 1 s + 5 s.
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
    // Beyond any run, and below where nanoseconds end.
    (sum < 1_000_000_000_000).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
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
