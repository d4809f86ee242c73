//! Recording: the requests of all sessions, ready to be sent again
//!
//! A recording is one file, which is mapped into memory and never read as a whole. The requests of a session follow one
//! another in the file's table, and each refers to the messages that the client sent. See `layout` for the format.

mod convert;
mod decode;
mod layout;
mod reader;
mod spool;
mod transactions;
mod writer;

pub use convert::{LogConverter, convert};
pub use decode::decode;
pub use layout::MAGIC;
pub use reader::{Recording, RecordingError};
pub use transactions::{RecordedTransaction, RecordedTransactions, SessionTransactions, TransactionKind};
pub use writer::RecordingWriter;

use crate::session::SqlState;
use crate::sql::command::{Command, commands};
use model::Nanos;
use model::message;
use model::message::Message;
use serde::{Deserialize, Serialize};

/// Messages that a client sent before it waited for the server: a simple query, or the messages up to a Sync. The server
/// answers them with one ReadyForQuery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// Time at which the client sent the first message, since the start of the recording.
    pub start: Nanos,
    /// Index of its statement in [`Recording::statements`].
    pub statement: u16,
    /// Messages of the protocol as the client sent them.
    pub messages: &'a [u8],
    pub outcome: Outcome,
}

/// Recorded result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Time until the result was complete; `None` if it is unknown.
    pub duration: Option<Nanos>,
    /// Rows that the request returned or changed; `None` if the number is unknown.
    pub rows: Option<u64>,
    pub error: Option<RecordedError>,
}

/// Error of a recorded request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedError {
    SqlState(SqlState),
    /// The recording does not contain its SQLSTATE.
    Unknown,
}

/// One connection of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedSession {
    /// Index of its identity in [`Recording::identities`].
    pub identity: u32,
    /// Time at which the client connected, since the start of the recording; `None` if it is unknown.
    pub connected: Option<Nanos>,
    /// Time at which the session ended; `None` if it is unknown.
    pub disconnected: Option<Nanos>,
    /// Number of its first request in the recording.
    pub first: u64,
    /// Number of its requests.
    pub requests: u64,
}

/// User, database and application of sessions; `None` if the recording does not contain them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    pub user: Option<String>,
    pub database: Option<String>,
    pub application: Option<String>,
}

/// Statements that differ only in their values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedStatement {
    /// Name that is valid for an operation, such as `select-item`.
    pub name: String,
    /// Statement with `$1` and so on in place of values. Of the rarest statements, which share one entry, the text is
    /// empty.
    pub text: String,
    /// Number of its requests.
    pub requests: u64,
}

impl RecordedStatement {
    /// True if the statement commits a transaction, and does nothing else.
    pub fn commits(&self) -> bool {
        let commands = commands(&self.text);
        commands.is_some_and(|all| matches!(all[..], [Command::Commit { .. }]))
    }
}

/// Reason why a statement is not in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unrecorded {
    /// The source does not contain the data of a `COPY`.
    CopyData,
    /// The statement contains a password.
    Secret,
    /// The source does not contain the values of the parameters.
    MissingParameters,
    /// The text is no SQL, so that it may contain a password.
    Unreadable,
    /// The messages are longer than 4 GiB, or than the limit of the recording proxy.
    TooLong,
    /// The connection ended before the client had sent the whole request.
    Unfinished,
    /// The recording was not written as fast as the clients sent requests.
    Overload,
}

impl From<Unrecorded> for Message {
    fn from(reason: Unrecorded) -> Message {
        match reason {
            Unrecorded::CopyData => message!("traffic-unrecorded-copy"),
            Unrecorded::Secret => message!("traffic-unrecorded-secret"),
            Unrecorded::MissingParameters => message!("traffic-unrecorded-parameters"),
            Unrecorded::Unreadable => message!("traffic-unrecorded-unreadable"),
            Unrecorded::TooLong => message!("traffic-unrecorded-length"),
            Unrecorded::Unfinished => message!("traffic-unrecorded-unfinished"),
            Unrecorded::Overload => message!("traffic-unrecorded-overload"),
        }
    }
}

/// Maximum number of statements in a recording. The rarest statements share the last entry.
pub const STATEMENTS_MAX: usize = 120;

#[cfg(test)]
mod tests;
