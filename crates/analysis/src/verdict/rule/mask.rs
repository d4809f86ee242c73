//! Masks of codes, and the transactions that they match

use model::{Code, FailureCounts, ScriptCounts, Tick};

/// Kind of code that a mask matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeKind {
    Http,
    Net,
    Sql,
    /// All failures; codes are not compared.
    Any,
}

/// Pattern of codes. `x` matches any character; other characters match themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeMask {
    kind: CodeKind,
    pattern: Vec<u8>,
    /// True if the mask may match code 0, a transaction without a network error.
    zero: bool,
}

/// Transactions that a rule reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionScope {
    /// Index of one operation; `None` for all.
    pub operation: Option<usize>,
    /// True if refused connections count as failed transactions. They do not count if the rule names an operation,
    /// because a refused connection belongs to no operation.
    pub refused: bool,
}

/// Number of matching responses and number of all responses in one second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchCount {
    pub matching: u64,
    /// Number of all responses. It includes dropped arrivals only if codes are not compared.
    pub total: u64,
}

impl TransactionScope {
    pub fn cells<'a>(&self, tick: &'a Tick) -> impl Iterator<Item = &'a ScriptCounts> {
        let operation = self.operation;
        let cells = tick.interval.scripts.iter().enumerate();
        cells.filter(move |(i, _)| operation.is_none_or(|it| it == *i)).map(|(_, cell)| cell)
    }
}

impl CodeMask {
    /// Parses a mask; `None` if `text` is not a mask for this kind of code.
    pub fn parse(kind: CodeKind, text: &str) -> Option<CodeMask> {
        let (lengths, pattern) = match kind {
            CodeKind::Sql | CodeKind::Any => (5..=5, text.to_owned()),
            CodeKind::Http | CodeKind::Net => (1..=5, text.to_ascii_lowercase()),
        };
        let is_known = |byte: u8| {
            byte.is_ascii_digit() || byte == b'x' || kind == CodeKind::Sql && byte.is_ascii_uppercase()
        };
        let valid = lengths.contains(&pattern.len()) && pattern.bytes().all(is_known);
        let pattern = pattern.into_bytes();
        valid.then_some(CodeMask { kind, pattern, zero: kind == CodeKind::Http })
    }

    /// Mask of all transactions that did not succeed.
    pub fn any() -> CodeMask {
        CodeMask { kind: CodeKind::Any, pattern: Vec::new(), zero: true }
    }

    /// Extends the mask to code 0 if its pattern matches 0.
    pub fn with_zero(self) -> CodeMask {
        CodeMask { zero: true, ..self }
    }

    /// True if the mask matches all codes except 0.
    pub fn is_any_code(&self) -> bool {
        matches!(self.kind, CodeKind::Http | CodeKind::Net) && self.pattern.iter().all(|it| *it == b'x')
    }

    /// Counts the second's responses whose code matches.
    pub fn count(&self, tick: &Tick, scope: TransactionScope) -> MatchCount {
        let mut sum = MatchCount::default();
        for cell in scope.cells(tick) {
            sum.total += cell.ok;
            sum.matching += if self.matches_ok() { cell.ok } else { 0 };
            self.add(&mut sum, &cell.failed);
            self.add(&mut sum, &cell.unknown);
            if self.kind == CodeKind::Any {
                sum.total += cell.dropped;
                sum.matching += cell.dropped;
            }
        }
        if scope.refused && scope.operation.is_none() {
            self.add(&mut sum, &tick.interval.refused);
        }
        sum
    }

    /// Adds the failures whose code matches. Failures that are counted together as "other" match no mask.
    fn add(&self, sum: &mut MatchCount, failures: &FailureCounts) {
        sum.total += failures.total();
        sum.matching += match self.kind {
            CodeKind::Any => failures.total(),
            _ => failures.iter().filter(|(code, _)| self.matches(*code)).map(|(_, n)| n).sum(),
        };
    }

    fn matches_ok(&self) -> bool {
        match self.kind {
            CodeKind::Http => self.matches_number(200),
            CodeKind::Net => self.matches_number(0),
            CodeKind::Sql | CodeKind::Any => false,
        }
    }

    fn matches(&self, code: Code) -> bool {
        match (self.kind, code) {
            (CodeKind::Sql, Code::SqlState(state)) => self.matches_pattern(&state),
            (CodeKind::Any, _) => true,
            (CodeKind::Sql, _) => false,
            (CodeKind::Http, Code::Http(number)) | (CodeKind::Net, Code::Net(number)) => {
                self.matches_number(number)
            }
            (CodeKind::Http | CodeKind::Net, _) => self.matches_number(0),
        }
    }

    fn matches_number(&self, number: u16) -> bool {
        match number {
            0 if !self.zero || self.is_any_code() => false,
            _ => self.is_any_code() || self.matches_pattern(number.to_string().as_bytes()),
        }
    }

    fn matches_pattern(&self, code: &[u8]) -> bool {
        let one = |(pattern, is): (&u8, &u8)| *pattern == b'x' || pattern == is;
        self.pattern.len() == code.len() && self.pattern.iter().zip(code).all(one)
    }
}
