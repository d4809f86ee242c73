//! Format of a recording
//!
//! All numbers are little-endian. The parts of a file:
//!
//! | part | contents |
//! |---|---|
//! | magic | [`MAGIC`] |
//! | messages | messages of all requests, in the order in which they were recorded |
//! | requests | one [`REQUEST_SIZE`] entry per request, by session |
//! | sessions | one [`SESSION_SIZE`] entry per session |
//! | summary | JSON text of [`Summary`] |
//! | end | positions of the four parts above and CRC-32C of everything from the requests on, then [`MAGIC`] |
//!
//! A file without its end is the rest of a recording that was not finished.

use super::{Identity, Outcome, RecordedError, RecordedSession, RecordedStatement, Unrecorded};
use model::Nanos;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// First bytes of a recording.
pub const MAGIC: &[u8; 16] = b"pgdyno traffic 1";
pub(super) const REQUEST_SIZE: usize = 48;
pub(super) const SESSION_SIZE: usize = 40;
pub(super) const END_SIZE: usize = 5 * 8 + MAGIC.len();

/// Value of a number that is unknown.
const UNKNOWN: u64 = u64::MAX;
/// SQLSTATE of a request that succeeded, and of an error without SQLSTATE.
const SUCCESS: [u8; 5] = [0; 5];
const UNKNOWN_ERROR: [u8; 5] = *b"?????";

/// Texts of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Summary {
    /// Start of the recording, as nanoseconds since the Unix epoch.
    pub start_ns: Nanos,
    /// Time from the start to the end of the last request or session.
    pub duration_ns: Nanos,
    pub statements: Vec<RecordedStatement>,
    pub identities: Vec<Identity>,
    /// Number of statements that were recorded but are not in the file, by reason.
    pub left_out: BTreeMap<Unrecorded, u64>,
}

/// Entry of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RequestEntry {
    pub start: Nanos,
    /// Position of its messages among all messages.
    pub messages: u64,
    pub length: u32,
    pub statement: u16,
    pub outcome: Outcome,
}

impl RequestEntry {
    pub fn write(&self, out: &mut Vec<u8>) {
        let number = |number: Option<u64>| number.unwrap_or(UNKNOWN).to_le_bytes();
        out.extend(self.start.0.to_le_bytes());
        out.extend(self.messages.to_le_bytes());
        out.extend(self.length.to_le_bytes());
        out.extend(self.statement.to_le_bytes());
        out.extend([0; 2]);
        out.extend(number(self.outcome.duration.map(|it| it.0)));
        out.extend(number(self.outcome.rows));
        out.extend(match self.outcome.error {
            None => SUCCESS,
            Some(RecordedError::SqlState(state)) => state,
            Some(RecordedError::Unknown) => UNKNOWN_ERROR,
        });
        out.extend([0; 3]);
    }

    pub fn read(bytes: &[u8; REQUEST_SIZE]) -> RequestEntry {
        let error: [u8; 5] = take(bytes, 40);
        RequestEntry {
            start: Nanos(u64::from_le_bytes(take(bytes, 0))),
            messages: u64::from_le_bytes(take(bytes, 8)),
            length: u32::from_le_bytes(take(bytes, 16)),
            statement: u16::from_le_bytes(take(bytes, 20)),
            outcome: Outcome {
                duration: known(take(bytes, 24)).map(Nanos),
                rows: known(take(bytes, 32)),
                error: match error {
                    SUCCESS => None,
                    UNKNOWN_ERROR => Some(RecordedError::Unknown),
                    state => Some(RecordedError::SqlState(state)),
                },
            },
        }
    }
}

impl RecordedSession {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let time = |time: Option<Nanos>| time.map_or(UNKNOWN, |it| it.0).to_le_bytes();
        out.extend(u64::from(self.identity).to_le_bytes());
        out.extend(time(self.connected));
        out.extend(time(self.disconnected));
        out.extend(self.first.to_le_bytes());
        out.extend(self.requests.to_le_bytes());
    }

    /// `None` if the entry is invalid.
    pub(super) fn read(bytes: &[u8; SESSION_SIZE]) -> Option<RecordedSession> {
        Some(RecordedSession {
            identity: u64::from_le_bytes(take(bytes, 0)).try_into().ok()?,
            connected: known(take(bytes, 8)).map(Nanos),
            disconnected: known(take(bytes, 16)).map(Nanos),
            first: u64::from_le_bytes(take(bytes, 24)),
            requests: u64::from_le_bytes(take(bytes, 32)),
        })
    }
}

fn known(bytes: [u8; 8]) -> Option<u64> {
    Some(u64::from_le_bytes(bytes)).filter(|it| *it != UNKNOWN)
}

fn take<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().expect("the entry has this length")
}
