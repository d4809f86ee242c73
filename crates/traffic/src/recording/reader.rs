//! Reader of a recording

use super::layout::{END_SIZE, MAGIC, REQUEST_SIZE, RequestEntry, SESSION_SIZE, Summary};
use super::{Identity, RecordedSession, RecordedStatement, Request, Unrecorded};
use model::Nanos;
use model::message;
use model::message::Message;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// Recording in the memory `bytes`, such as a mapped file.
pub struct Recording<B> {
    bytes: B,
    requests: Range<usize>,
    sessions: Vec<RecordedSession>,
    summary: Summary,
}

/// Size of the parts in which the table of requests is read, a multiple of the size of an entry.
const PART: usize = REQUEST_SIZE << 20;

/// Extent of the messages and statements to which the requests refer.
#[derive(Debug, Default)]
struct Extent {
    /// End of the messages; the largest number if it overflows.
    messages_end: u64,
    /// Largest index of a statement, plus one.
    statements: usize,
}

impl Extent {
    /// Adds a part of the table of requests.
    fn add(&mut self, table: &[u8]) {
        for entry in table.as_chunks().0.iter().map(RequestEntry::read) {
            self.messages_end = self.messages_end.max(entry.messages.saturating_add(entry.length.into()));
            self.statements = self.statements.max(usize::from(entry.statement) + 1);
        }
    }
}

/// Reason why a file is no recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordingError {
    /// The file does not begin like a recording.
    NoRecording,
    /// The recording was not finished, or the file is cut off.
    Incomplete,
    /// The contents do not match their checksum, or contradict each other.
    Damaged,
}

impl From<RecordingError> for Message {
    fn from(error: RecordingError) -> Message {
        match error {
            RecordingError::NoRecording => message!("traffic-no-recording"),
            RecordingError::Incomplete => message!("traffic-recording-incomplete"),
            RecordingError::Damaged => message!("traffic-recording-damaged"),
        }
    }
}

impl<B> fmt::Debug for Recording<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recording").field("summary", &self.summary).finish_non_exhaustive()
    }
}

impl<B: AsRef<[u8]>> Recording<B> {
    /// Checks the tables of a recording, whose requests can then be read without errors.
    ///
    /// # Errors
    /// Returns an error if the bytes are no complete recording.
    pub fn open(bytes: B) -> Result<Recording<B>, RecordingError> {
        Recording::open_in_parts(bytes, &|_, _| {})
    }

    /// Opens a recording as [`Recording::open`] does. The tables are read once, in parts; `release` is called for each part that
    /// was read, so that a mapped file needs little memory.
    ///
    /// # Errors
    /// Returns an error if the bytes are no complete recording.
    pub fn open_in_parts(
        bytes: B,
        release: &dyn Fn(&B, Range<usize>),
    ) -> Result<Recording<B>, RecordingError> {
        let all = bytes.as_ref();
        if !all.starts_with(MAGIC) {
            return Err(RecordingError::NoRecording);
        }
        if all.len() < MAGIC.len() + END_SIZE || !all.ends_with(MAGIC) {
            return Err(RecordingError::Incomplete);
        }
        let end = all.len() - END_SIZE;
        let positions: Vec<usize> = (0..5)
            .map(|n| u64::from_le_bytes(all[end + 8 * n..end + 8 * n + 8].try_into().expect("eight bytes")))
            .map(|it| usize::try_from(it).unwrap_or(usize::MAX))
            .collect();
        let [requests, sessions, summary, summary_end, checksum] = positions[..] else { unreachable!() };
        let sorted = [MAGIC.len(), requests, sessions, summary, summary_end].is_sorted();
        if !sorted || summary_end != end {
            return Err(RecordingError::Damaged);
        }
        let (mut extent, mut actual) = (Extent::default(), 0);
        for start in (requests..sessions).step_by(PART) {
            let part = start..sessions.min(start + PART);
            actual = crc32c::crc32c_append(actual, &all[part.clone()]);
            extent.add(&all[part.clone()]);
            release(&bytes, part);
        }
        if crc32c::crc32c_append(actual, &all[sessions..end + 4 * 8]) as usize != checksum {
            return Err(RecordingError::Damaged);
        }
        let summary: Summary =
            serde_json::from_slice(&all[summary..end]).map_err(|_| RecordingError::Damaged)?;
        let (entries, rest) = all[sessions..positions[2]].as_chunks::<SESSION_SIZE>();
        let sessions: Option<Vec<RecordedSession>> = entries.iter().map(RecordedSession::read).collect();
        let recording = Recording {
            requests: requests..positions[1],
            sessions: sessions.filter(|_| rest.is_empty()).ok_or(RecordingError::Damaged)?,
            summary,
            bytes,
        };
        if recording.is_consistent(&extent) { Ok(recording) } else { Err(RecordingError::Damaged) }
    }

    /// True if every entry refers to something that exists.
    fn is_consistent(&self, extent: &Extent) -> bool {
        let (entries, rest) = self.entries();
        let messages = (self.requests.start - MAGIC.len()) as u64;
        let mut next = 0;
        let in_order = self.sessions.iter().filter(|it| it.requests > 0).all(|session| {
            let starts = session.first == next;
            next = next.saturating_add(session.requests);
            starts
        });
        let identities = self.summary.identities.len() as u64;
        rest.is_empty()
            && in_order
            && next == entries.len() as u64
            && self.sessions.iter().all(|it| u64::from(it.identity) < identities)
            && extent.messages_end <= messages
            && extent.statements <= self.summary.statements.len()
    }

    fn entries(&self) -> (&[[u8; REQUEST_SIZE]], &[u8]) {
        self.bytes.as_ref()[self.requests.clone()].as_chunks()
    }

    /// Sessions in the order in which they were recorded.
    pub fn sessions(&self) -> &[RecordedSession] {
        &self.sessions
    }

    /// Statements by decreasing number of requests.
    pub fn statements(&self) -> &[RecordedStatement] {
        &self.summary.statements
    }

    pub fn identities(&self) -> &[Identity] {
        &self.summary.identities
    }

    /// Number of statements that were recorded but are not in the file, by reason.
    pub fn left_out(&self) -> &BTreeMap<Unrecorded, u64> {
        &self.summary.left_out
    }

    /// Start of the recording since the Unix epoch.
    pub fn start(&self) -> Nanos {
        self.summary.start_ns
    }

    /// Time from the start to the end of the last request or session.
    pub fn duration(&self) -> Nanos {
        self.summary.duration_ns
    }

    /// Number of requests of all sessions.
    pub fn requests(&self) -> u64 {
        self.entries().0.len() as u64
    }

    /// Request number `n`, less than [`Recording::requests`].
    #[inline]
    pub fn request(&self, n: u64) -> Request<'_> {
        let entry = RequestEntry::read(&self.entries().0[n as usize]);
        let at = MAGIC.len() + entry.messages as usize;
        Request {
            start: entry.start,
            statement: entry.statement,
            messages: &self.bytes.as_ref()[at..at + entry.length as usize],
            outcome: entry.outcome,
        }
    }
}
