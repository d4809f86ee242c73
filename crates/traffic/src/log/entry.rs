//! Entry of a log, in the form that all formats have in common

use crate::session::SqlState;
use model::Nanos;

/// One report of the server: a message with its fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    pub time: Nanos,
    /// Session ID, or process ID if there is no session ID.
    pub session: String,
    pub user: Option<String>,
    pub database: Option<String>,
    pub application: Option<String>,
    /// Number of the virtual transaction in its session; `None` if no transaction is active.
    pub transaction: Option<u64>,
    pub severity: Severity,
    pub sqlstate: Option<SqlState>,
    pub message: String,
    pub detail: Option<String>,
    pub context: Option<String>,
    /// Statement during which an error occurred.
    pub statement: Option<String>,
}

/// Severity of an entry, as far as the reader distinguishes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Severity {
    Log,
    /// `ERROR`, `FATAL` and `PANIC`, which end a statement.
    Error,
    #[default]
    Other,
}

impl From<&str> for Severity {
    fn from(text: &str) -> Severity {
        match text {
            "LOG" => Severity::Log,
            "ERROR" | "FATAL" | "PANIC" => Severity::Error,
            _ => Severity::Other,
        }
    }
}

/// SQLSTATE that a log contains: five digits and capital letters.
pub(super) fn sqlstate(text: &str) -> Option<SqlState> {
    let state: SqlState = text.as_bytes().try_into().ok()?;
    state.iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase()).then_some(state)
}

/// Number of a virtual transaction ID in its session: 45 in `3/45`. 0 means that no transaction is active.
pub(super) fn transaction(text: &str) -> Option<u64> {
    text.split_once('/')?.1.parse().ok().filter(|number| *number > 0)
}

/// Field of a log that may be empty. The server writes `[unknown]` until it knows the value.
pub(super) fn known(text: &str) -> Option<String> {
    (!text.is_empty() && text != "[unknown]").then(|| text.to_owned())
}
