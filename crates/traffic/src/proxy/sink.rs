//! Requests of a session, and their receiver

use crate::recording::{Identity, Outcome, Unrecorded};
use model::Nanos;
use std::ops::Range;
use std::sync::Arc;

/// Receiver of the requests of one session.
pub trait RequestSink {
    /// Called once, when the server has accepted the login. `connected` is the time at which the client connected.
    fn connect(&mut self, identity: &Identity, connected: Nanos);

    /// Called for each request in the order in which the client sent them, when its result is complete.
    fn request(&mut self, request: &FinishedRequest<'_>);

    /// Called instead of [`RequestSink::request`] for a request that is not recorded.
    fn leave_out(&mut self, reason: Unrecorded);

    /// False if the next request cannot be recorded, because the earlier ones have not been written yet.
    fn has_room(&self) -> bool {
        true
    }
}

/// Request with its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedRequest<'a> {
    /// Time at which the client sent the first message.
    pub start: Nanos,
    /// Messages as the client sent them. If a COPY failed before the client ended its data, CopyFail is added, so that
    /// the server never waits for the rest of the data.
    pub messages: &'a [u8],
    /// Text of the first statement; `None` if the request has no statement.
    pub text: Option<StatementText>,
    pub outcome: Outcome,
}

/// Place of a statement's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatementText {
    /// Bytes of the request's messages, in the encoding of the client.
    Messages(Range<usize>),
    /// Text of a statement that an earlier request prepared.
    Prepared(Arc<str>),
}
