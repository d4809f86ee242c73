//! `http`, `net`, `sql`, `errors`: did too many transactions end with such a code, or with any, second after second?

use super::arguments::{Arguments, Level};
use super::window::Consecutive;
use super::{Cause, Complaint, Watch};
use model::{Cell, Code, Failures, Tick};

/// Which number a transaction is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Http,
    Net,
    Sql,
    /// It is not asked for.
    Any,
}

/// Which codes are meant. `x` is any character; of the others each is itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask {
    kind: Kind,
    pattern: Vec<u8>,
    /// Whether a transaction without a fault, code 0, may match.
    zero: bool,
}

/// Which transactions are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Those of one operation, or all.
    pub operation: Option<usize>,
    /// Refused connections count as transactions that failed; not when one operation is looked at, which none of them
    /// belongs to.
    pub refused: bool,
}

/// Of one second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Matched {
    pub matching: u64,
    /// All responses: dropped arrivals are none, and count only where no code is asked for.
    pub of: u64,
}

impl Scope {
    pub fn cells<'a>(&self, tick: &'a Tick) -> impl Iterator<Item = &'a Cell> {
        let wanted = self.operation;
        let cells = tick.interval.cells.iter().enumerate();
        cells.filter(move |(i, _)| wanted.is_none_or(|it| it == *i)).map(|(_, cell)| cell)
    }
}

impl Mask {
    pub fn http(text: &str) -> Result<Mask, &'static str> {
        digits(Kind::Http, text, "a status, `x` for any digit: `5xx`")
    }

    pub fn net(text: &str) -> Result<Mask, &'static str> {
        digits(Kind::Net, text, "an errno such as `110`, `11x` or `xx`")
    }

    pub fn sql(text: &str) -> Result<Mask, &'static str> {
        let pattern = text.as_bytes().to_vec();
        let known = |it: &u8| it.is_ascii_digit() || it.is_ascii_uppercase() || *it == b'x';
        match pattern.len() == 5 && pattern.iter().all(known) {
            true => Ok(Mask { kind: Kind::Sql, pattern, zero: false }),
            false => Err("a SQLSTATE of five characters: `53xxx`"),
        }
    }

    /// Whatever did not end well.
    pub fn any() -> Mask {
        Mask { kind: Kind::Any, pattern: Vec::new(), zero: true }
    }

    /// The same, and 0 too where the pattern matches it.
    pub fn with_zero(self) -> Mask {
        Mask { zero: true, ..self }
    }

    /// Whether it is one of those that mean all codes but 0.
    pub fn is_of_x(&self) -> bool {
        matches!(self.kind, Kind::Http | Kind::Net) && self.pattern.iter().all(|it| *it == b'x')
    }

    /// How many of the second's responses have such a code.
    pub fn count(&self, tick: &Tick, scope: Scope) -> Matched {
        let mut sum = Matched::default();
        for cell in scope.cells(tick) {
            sum.of += cell.ok;
            sum.matching += if self.matches_ok() { cell.ok } else { 0 };
            self.add(&mut sum, &cell.failed);
            self.add(&mut sum, &cell.unknown);
            if self.kind == Kind::Any {
                sum.of += cell.dropped;
                sum.matching += cell.dropped;
            }
        }
        if scope.refused && scope.operation.is_none() {
            self.add(&mut sum, &tick.interval.refused);
        }
        sum
    }

    /// Codes beyond those that are counted one by one match no mask.
    fn add(&self, sum: &mut Matched, failures: &Failures) {
        sum.of += failures.total();
        sum.matching += match self.kind {
            Kind::Any => failures.total(),
            _ => failures.iter().filter(|(code, _)| self.matches(*code)).map(|(_, n)| n).sum(),
        };
    }

    fn matches_ok(&self) -> bool {
        match self.kind {
            Kind::Http => self.matches_number(200),
            Kind::Net => self.matches_number(0),
            Kind::Sql | Kind::Any => false,
        }
    }

    fn matches(&self, code: Code) -> bool {
        match (self.kind, code) {
            (Kind::Sql, Code::SqlState(state)) => self.fits(&state),
            (Kind::Any, _) => true,
            (Kind::Sql, _) => false,
            (Kind::Http, Code::Http(number)) | (Kind::Net, Code::Net(number)) => self.matches_number(number),
            (Kind::Http | Kind::Net, _) => self.matches_number(0),
        }
    }

    fn matches_number(&self, number: u16) -> bool {
        match number {
            0 if !self.zero || self.is_of_x() => false,
            _ => self.is_of_x() || self.fits(number.to_string().as_bytes()),
        }
    }

    fn fits(&self, code: &[u8]) -> bool {
        let one = |(wanted, is): (&u8, &u8)| *wanted == b'x' || wanted == is;
        self.pattern.len() == code.len() && self.pattern.iter().zip(code).all(one)
    }
}

fn digits(kind: Kind, text: &str, instead: &'static str) -> Result<Mask, &'static str> {
    let pattern = text.to_ascii_lowercase().into_bytes();
    match (1..=5).contains(&pattern.len()) && pattern.iter().all(|it| it.is_ascii_digit() || *it == b'x') {
        true => Ok(Mask { kind, pattern, zero: kind == Kind::Http }),
        false => Err(instead),
    }
}

impl Level {
    /// Whether so many of so many are too many: from the level on. Without responses nothing is.
    pub fn reached(self, it: Matched) -> bool {
        match self {
            Level::Count(level) => it.matching >= level,
            // As a product: 29 of 100 are 29 %, which a quotient of binary fractions need not say.
            Level::Percent(level) => it.of > 0 && it.matching as f64 * 100.0 >= level * it.of as f64,
        }
    }
}

/// One of the four.
#[derive(Debug)]
struct Codes {
    mask: Mask,
    level: Level,
    scope: Scope,
    seconds: Consecutive,
}

impl Watch for Codes {
    fn see(&mut self, tick: &Tick) -> Option<Cause> {
        let bad = self.level.reached(self.mask.count(tick, self.scope));
        self.seconds.see(tick, bad)
    }
}

pub fn http(from: &mut Arguments<'_>) -> Result<Box<dyn Watch>, Complaint> {
    build(from, Mask::http)
}

pub fn net(from: &mut Arguments<'_>) -> Result<Box<dyn Watch>, Complaint> {
    build(from, Mask::net)
}

pub fn sql(from: &mut Arguments<'_>) -> Result<Box<dyn Watch>, Complaint> {
    build(from, Mask::sql)
}

pub fn errors(from: &mut Arguments<'_>) -> Result<Box<dyn Watch>, Complaint> {
    codes(from, Mask::any())
}

fn build(
    from: &mut Arguments<'_>,
    mask: fn(&str) -> Result<Mask, &'static str>,
) -> Result<Box<dyn Watch>, Complaint> {
    let mask = from.mask(mask)?;
    codes(from, mask)
}

fn codes(from: &mut Arguments<'_>, mask: Mask) -> Result<Box<dyn Watch>, Complaint> {
    let level = from.level()?;
    let (seconds, scope) = (Consecutive::new(from.seconds()?), from.scope()?);
    Ok(Box::new(Codes { mask, level, scope, seconds }))
}
