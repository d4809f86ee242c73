//! Errors in the content of a feed

use std::fmt;

/// First error in a feed; reading stops at this error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Line number from 1; 0 for an error of the whole feed.
    pub line: u64,
    /// Offending text and its correction.
    pub message: String,
}

impl Diagnostic {
    pub(crate) fn new(line: u64, what: impl Into<String>) -> Diagnostic {
        Diagnostic { line, message: what.into() }
    }

    /// Error of a source that could not be read to its end.
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

/// Beginning of a text, shortened for a message.
pub(crate) fn excerpt(text: &[u8]) -> String {
    let short: String = String::from_utf8_lossy(text).chars().take(40).collect();
    short.escape_debug().to_string()
}
