//! What is wrong with a feed, and where?

use std::fmt;

/// The first thing that is wrong; what follows it was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Counted from 1; 0 for the whole feed.
    pub line: u64,
    /// What stands there, and what to write instead.
    pub message: String,
}

impl Diagnostic {
    pub(crate) fn new(line: u64, what: impl Into<String>) -> Diagnostic {
        Diagnostic { line, message: what.into() }
    }

    /// The source could not be read to its end.
    pub(crate) fn from_io_error(line: u64, error: &std::io::Error) -> Diagnostic {
        Diagnostic::new(line, format!("it cannot be read: {error}"))
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.message),
            line => write!(f, "line {line}: {}", self.message),
        }
    }
}

impl std::error::Error for Diagnostic {}

/// As much of a text as a message needs.
pub(crate) fn excerpt(text: &[u8]) -> String {
    let short: String = String::from_utf8_lossy(text).chars().take(40).collect();
    short.escape_debug().to_string()
}
