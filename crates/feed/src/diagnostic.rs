//! Errors in the content of a feed

use model::message;
use model::message::Message;
use std::fmt;
use std::io;

/// First error in a feed; reading stops at this error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Line number from 1; 0 for an error of the whole feed.
    pub line: u64,
    /// Offending text and its correction.
    pub message: Message,
}

impl Diagnostic {
    pub(crate) fn new(line: u64, message: Message) -> Diagnostic {
        Diagnostic { line, message }
    }

    /// Creates the error for a source that could not be read to its end.
    pub(crate) fn from_io_error(line: u64, error: &io::Error) -> Diagnostic {
        Diagnostic::new(line, message!("feed-unreadable", error = io_message(error)))
    }

    /// True if most lines of a log do not fit its format.
    pub fn is_misfit(&self) -> bool {
        self.message.id == "feed-log-misfits"
    }

    /// Text form for tests: the line, and the message's identifier and arguments.
    #[cfg(test)]
    pub(crate) fn describe(&self) -> String {
        format!("{}: {}", self.line, self.message.describe())
    }
}

impl From<&Diagnostic> for Message {
    fn from(Diagnostic { line, message }: &Diagnostic) -> Message {
        message!("feed-invalid", line = (*line > 0).then(|| line.to_string()), found = message)
    }
}

/// Limit that a feed exceeds. Readers and writers return it within an I/O error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExceededLimit {
    /// A row is longer than this many bytes.
    Row(u64),
    /// A field has 4 GiB or more.
    Field,
    /// The packed rows take more than this many bytes.
    PackedRows(u64),
}

impl fmt::Display for ExceededLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for ExceededLimit {}

impl From<ExceededLimit> for io::Error {
    fn from(limit: ExceededLimit) -> io::Error {
        io::Error::other(limit)
    }
}

/// Message for an error that a reader or writer of this crate returned.
pub fn io_message(error: &io::Error) -> Message {
    match error.get_ref().and_then(|inner| inner.downcast_ref()) {
        Some(ExceededLimit::Row(bytes)) => message!("feed-long-row", mebibytes = bytes >> 20),
        Some(ExceededLimit::Field) => message!("feed-long-field"),
        Some(ExceededLimit::PackedRows(bytes)) => message!("feed-large", gibibytes = bytes >> 30),
        None => error.into(),
    }
}

/// Beginning of a text, shortened for a message.
pub(crate) fn excerpt(text: &[u8]) -> String {
    let short: String = String::from_utf8_lossy(text).chars().take(40).collect();
    short.escape_debug().to_string()
}
