//! Request of a client that the server has not yet answered

use super::sink::StatementText;
use crate::recording::{Outcome, RecordedError, Unrecorded};
use model::Nanos;

/// Request whose messages or whose result are not complete.
#[derive(Debug)]
pub(super) struct PendingRequest {
    /// Time of the first message.
    pub start: Nanos,
    /// Messages as the client sent them. Of a request that is left out, only the current message or its beginning.
    pub messages: Vec<u8>,
    /// Start of the current message in `messages`.
    pub message: usize,
    /// Number of further bytes of the current message to add to `messages`.
    pub keep: usize,
    /// True once the client has sent the last message, after which the server sends ReadyForQuery.
    pub closed: bool,
    /// True if Sync is the last message.
    pub extended: bool,
    /// Number of CopyInResponse messages of the server.
    pub copies: u32,
    /// Number of CopyDone and CopyFail messages of the client.
    pub copy_ends: u32,
    /// Text of the first statement.
    pub text: Option<StatementText>,
    /// Names of the statements and portals that it creates.
    pub created: Vec<CreatedName>,
    pub rows: Option<u64>,
    pub error: Option<RecordedError>,
    /// Time of ReadyForQuery.
    pub answered: Option<Nanos>,
    /// Reason why the request is not recorded.
    pub unrecorded: Option<Unrecorded>,
}

/// Name of a prepared statement or portal.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CreatedName {
    Statement(Box<[u8]>),
    Portal(Box<[u8]>),
}

impl PendingRequest {
    /// Request that begins at `start`. `messages` is an empty buffer.
    pub fn new(start: Nanos, messages: Vec<u8>) -> PendingRequest {
        PendingRequest {
            start,
            messages,
            message: 0,
            keep: 0,
            closed: false,
            extended: false,
            copies: 0,
            copy_ends: 0,
            text: None,
            created: Vec::new(),
            rows: None,
            error: None,
            answered: None,
            unrecorded: None,
        }
    }

    /// True while the server waits for COPY data of the client, or the client still sends them after an error.
    pub fn copies_in(&self) -> bool {
        self.copy_ends < self.copies
    }

    /// Body of the current message.
    pub fn body(&self) -> &[u8] {
        self.messages.get(self.message + 5..).unwrap_or_default()
    }

    /// Appends the messages of the request after this one, which the server reads as a part of this one.
    pub fn merge(&mut self, next: &PendingRequest) {
        self.message = self.messages.len() + next.message;
        self.messages.extend_from_slice(&next.messages);
        self.keep = next.keep;
        self.copy_ends += next.copy_ends;
        self.closed = next.closed && next.extended;
    }

    pub fn outcome(&self) -> Outcome {
        let duration = self.answered.map(|it| it - self.start);
        Outcome { duration, rows: self.rows, error: self.error }
    }
}
