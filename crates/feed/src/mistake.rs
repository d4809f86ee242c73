//! What is wrong with a feed, and where?

use std::fmt;

/// The first thing that is wrong; what follows it was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Counted from 1; 0 for the whole feed.
    pub line: u64,
    /// What stands there, and what to write instead.
    pub what: String,
}

impl Mistake {
    pub(crate) fn new(line: u64, what: impl Into<String>) -> Mistake {
        Mistake { line, what: what.into() }
    }

    /// The source could not be read to its end.
    pub(crate) fn broken(line: u64, error: &std::io::Error) -> Mistake {
        Mistake::new(line, format!("it cannot be read: {error}"))
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.what),
            line => write!(f, "line {line}: {}", self.what),
        }
    }
}

impl std::error::Error for Mistake {}

/// As much of a text as a message needs.
pub(crate) fn shown(text: &[u8]) -> String {
    let short: String = String::from_utf8_lossy(text).chars().take(40).collect();
    short.escape_debug().to_string()
}
