//! Sessions with their statements, as they were recorded

use model::Nanos;
use model::message;
use model::message::Message;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// SQLSTATE of an error: five ASCII characters.
pub type SqlState = [u8; 5];

/// Sessions that were read from one or more logs, in the order of their first entry.
#[derive(Clone, Debug, Default)]
pub struct Traffic {
    pub sessions: Vec<Session>,
    /// Entries that are no statements, in the order in which their kinds first occurred.
    pub skipped: Vec<Skipped>,
    /// Number of inputs that were read.
    pub inputs: usize,
    /// Number of log entries that were read, including those that were skipped.
    pub entries: u64,
    /// Sessions that may continue, by the identifier that the log gives to them. A process ID may occur again.
    open: HashMap<String, usize>,
    /// Texts of statements. Executions of one prepared statement share its text.
    texts: HashSet<Arc<str>>,
}

/// One connection of a client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Session {
    /// Session ID (`%c`), or process ID if the log has no session IDs.
    pub id: String,
    pub user: Option<String>,
    pub database: Option<String>,
    pub application: Option<String>,
    /// Time of the entry for the connection, if connections are logged.
    pub connected: Option<Nanos>,
    /// Time of the entry for the disconnection, if disconnections are logged.
    pub disconnected: Option<Nanos>,
    /// Statements in the order of the log.
    pub statements: Vec<Statement>,
}

/// One execution of a statement, or one message of several statements in the simple query protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Start of the execution, as time since the Unix epoch. It has the resolution of the log. If the log has only the
    /// abbreviation of a time zone, the time is that of this zone, not of UTC.
    pub start: Nanos,
    /// Duration of the execution, without parse and bind.
    pub duration: Option<Nanos>,
    pub text: Arc<str>,
    /// Values of `$1`, `$2` and so on; `None` is NULL. Empty if there are none, or if the log does not contain them.
    pub parameters: Vec<Option<String>>,
    pub protocol: Protocol,
    /// Number of the virtual transaction in its session, if the log contains it and a transaction was active.
    pub transaction: Option<u64>,
    pub error: Option<StatementError>,
}

/// Protocol that sent a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Protocol {
    Simple,
    /// Extended query protocol, with the name of the prepared statement; `None` is the unnamed statement.
    Extended(Option<Arc<str>>),
}

/// Error that ended a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementError {
    /// `None` if the log does not contain it.
    pub sqlstate: Option<SqlState>,
}

/// Entries of one kind that are not statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skipped {
    pub kind: SkipKind,
    pub count: u64,
    /// Number of the first such entry's input, from 0, and of its line there, from 1.
    pub first_input: usize,
    pub first_line: u64,
}

/// Reason why an entry of a log is not a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SkipKind {
    /// Line that does not have the format of the log, or an entry that is cut off.
    Malformed,
    /// Text that is not UTF-8.
    NotUtf8,
    /// Message of another kind, such as a checkpoint, a warning or a background process.
    OtherMessage,
    /// Duration of a parse or a bind, which belongs to an execution.
    ParseOrBind,
    /// Further rows of an execution that was already counted.
    Fetch,
    /// Duration without a statement, such as that of a parse under `log_duration`.
    DurationAlone,
    /// Execution plan of `auto_explain`.
    Plan,
    /// Error without its statement, which `log_min_error_statement` excluded.
    ErrorAlone,
    /// Parameters that could not be read; the statement was kept without them.
    Parameters,
}

impl SkipKind {
    /// Short description, which completes "12 entries: …".
    pub fn message(self) -> Message {
        match self {
            SkipKind::Malformed => message!("traffic-skipped-malformed"),
            SkipKind::NotUtf8 => message!("traffic-skipped-encoding"),
            SkipKind::OtherMessage => message!("traffic-skipped-other"),
            SkipKind::ParseOrBind => message!("traffic-skipped-parse"),
            SkipKind::Fetch => message!("traffic-skipped-fetch"),
            SkipKind::DurationAlone => message!("traffic-skipped-duration"),
            SkipKind::Plan => message!("traffic-skipped-plan"),
            SkipKind::ErrorAlone => message!("traffic-skipped-error"),
            SkipKind::Parameters => message!("traffic-skipped-parameters"),
        }
    }
}

impl From<&Skipped> for Message {
    fn from(skipped: &Skipped) -> Message {
        let kind = skipped.kind.message();
        let line = skipped.first_line.to_string();
        message!("traffic-skipped", count = skipped.count, kind, line, input = skipped.first_input as u64 + 1)
    }
}

impl Statement {
    /// End of the execution; `None` if its duration is unknown.
    pub fn end(&self) -> Option<Nanos> {
        self.duration.map(|duration| self.start + duration)
    }
}

impl Traffic {
    /// Number of statements of all sessions, without those that a consumer has removed.
    pub fn statements(&self) -> usize {
        self.sessions.iter().map(|session| session.statements.len()).sum()
    }

    /// Counts an entry that is not a statement.
    pub(crate) fn skip(&mut self, kind: SkipKind, line: u64) {
        match self.skipped.iter_mut().find(|skipped| skipped.kind == kind) {
            Some(skipped) => skipped.count += 1,
            None => {
                let first_input = self.inputs.saturating_sub(1);
                self.skipped.push(Skipped { kind, count: 1, first_input, first_line: line });
            }
        }
    }

    /// Index of the open session with this identifier, which is created if there is none.
    pub(crate) fn session(&mut self, id: &str) -> usize {
        if let Some(&index) = self.open.get(id) {
            return index;
        }
        let index = self.sessions.len();
        self.sessions.push(Session { id: id.to_owned(), ..Session::default() });
        self.open.insert(id.to_owned(), index);
        index
    }

    /// Indices of the sessions that may continue.
    pub(crate) fn open_sessions(&self) -> HashSet<usize> {
        self.open.values().copied().collect()
    }

    /// Ends all sessions.
    pub(crate) fn close_all(&mut self) {
        self.open.clear();
    }

    #[cfg(test)]
    pub(crate) fn retained_texts(&self) -> usize {
        self.texts.len()
    }

    /// Releases the texts that no statement has any more.
    pub(crate) fn release_texts(&mut self) {
        self.texts.retain(|text| Arc::strong_count(text) > 1);
    }

    pub(crate) fn has_session(&self, id: &str) -> bool {
        self.open.contains_key(id)
    }

    /// Ends a session: a later entry with its identifier belongs to another session.
    pub(crate) fn close(&mut self, id: &str) {
        self.open.remove(id);
    }

    /// The shared copy of a text.
    pub(crate) fn intern(&mut self, text: &str) -> Arc<str> {
        if let Some(shared) = self.texts.get(text) {
            return shared.clone();
        }
        let shared: Arc<str> = text.into();
        self.texts.insert(shared.clone());
        shared
    }
}
