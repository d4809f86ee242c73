//! Writer of a recording

use super::layout::{MAGIC, RequestEntry, Summary};
use super::{Identity, Outcome, RecordedSession, RecordedStatement, STATEMENTS_MAX, Unrecorded};
use crate::distil::unique_name;
use crate::sql::normalise::shape;
use model::Nanos;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};

/// Text for requests that only prepare a statement, so that their times are not those of its executions.
const PARSE: &str = "PREPARE";
/// Text of the statements that share one entry.
const OTHERS: &str = "other-statements";
/// Maximum number of different texts that are remembered, so that texts with values do not fill the memory.
const TEXTS_MAX: usize = 65_536;

/// Writes the messages of requests as they come, and keeps the rest until [`RecordingWriter::finish`].
#[derive(Debug)]
pub struct RecordingWriter<W> {
    out: W,
    /// Number of bytes of messages that were written.
    position: u64,
    sessions: Vec<RecordedSession>,
    /// Requests with their sessions, in the order in which they were recorded.
    requests: Vec<(u32, RequestEntry)>,
    identities: Vec<Identity>,
    /// Statements by their normalised text, with the number of their requests.
    statements: Vec<(String, u64)>,
    shapes: HashMap<String, u16>,
    /// Statements by their text as it was sent.
    texts: HashMap<String, u16>,
    left_out: BTreeMap<Unrecorded, u64>,
}

impl<W: Write> RecordingWriter<W> {
    /// Begins a recording.
    ///
    /// # Errors
    /// Returns an error if `out` cannot be written.
    pub fn new(mut out: W) -> io::Result<RecordingWriter<W>> {
        out.write_all(MAGIC)?;
        Ok(RecordingWriter {
            out,
            position: 0,
            sessions: Vec::new(),
            requests: Vec::new(),
            identities: Vec::new(),
            statements: Vec::new(),
            shapes: HashMap::new(),
            texts: HashMap::new(),
            left_out: BTreeMap::new(),
        })
    }

    /// Adds a session, and returns its number. `connected` is a time since the Unix epoch, as are all times here.
    pub fn session(&mut self, identity: Identity, connected: Option<Nanos>) -> u32 {
        let index = self.identities.iter().position(|it| *it == identity).unwrap_or_else(|| {
            self.identities.push(identity);
            self.identities.len() - 1
        });
        let identity = u32::try_from(index).expect("there are fewer identities than sessions");
        self.sessions.push(RecordedSession {
            identity,
            connected,
            disconnected: None,
            first: 0,
            requests: 0,
        });
        u32::try_from(self.sessions.len() - 1).expect("a recording has at most 2³² sessions")
    }

    /// Sets the end of a session.
    pub fn disconnect(&mut self, session: u32, at: Nanos) {
        self.sessions[session as usize].disconnected = Some(at);
    }

    /// Adds a request. `text` is its first statement, and `start` the time at which its first message was sent. Requests
    /// of one session are added in their order.
    ///
    /// # Errors
    /// Returns an error if `out` cannot be written.
    pub fn request(
        &mut self,
        session: u32,
        text: &str,
        start: Nanos,
        messages: &[u8],
        outcome: Outcome,
    ) -> io::Result<()> {
        let Ok(length) = u32::try_from(messages.len()) else {
            self.leave_out(Unrecorded::TooLong, 1);
            return Ok(());
        };
        self.out.write_all(messages)?;
        let statement = self.statement(if is_parse_only(messages) { PARSE } else { text });
        self.statements[usize::from(statement)].1 += 1;
        let entry = RequestEntry { start, messages: self.position, length, statement, outcome };
        self.position += messages.len() as u64;
        self.requests.push((session, entry));
        Ok(())
    }

    /// Counts statements that are not in the recording.
    pub fn leave_out(&mut self, reason: Unrecorded, statements: u64) {
        *self.left_out.entry(reason).or_default() += statements;
    }

    /// Number of requests so far.
    pub fn requests(&self) -> u64 {
        self.requests.len() as u64
    }

    /// Index of a statement among [`RecordingWriter::statements`].
    fn statement(&mut self, text: &str) -> u16 {
        if let Some(&index) = self.texts.get(text) {
            return index;
        }
        let shape = shape(text).unwrap_or_default();
        let index = match self.shapes.get(&shape) {
            Some(&index) => index,
            // Only a mix of generated statements has as many kinds.
            None if self.statements.len() == usize::from(u16::MAX) => 0,
            None => {
                let index = self.statements.len() as u16;
                self.statements.push((shape.clone(), 0));
                self.shapes.insert(shape, index);
                index
            }
        };
        if self.texts.len() < TEXTS_MAX {
            self.texts.insert(text.to_owned(), index);
        }
        index
    }

    /// Writes the rest of the recording.
    ///
    /// # Errors
    /// Returns an error if `out` cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        // The sort is stable, so that the order within each session remains.
        self.requests.sort_by_key(|it| it.0);
        let (statements, places) = self.select();
        let start = self.start();
        let mut tables = Vec::new();
        let mut end = start;
        let mut last = (u32::MAX, start);
        for (n, (session, entry)) in self.requests.iter().enumerate() {
            let record = &mut self.sessions[*session as usize];
            if record.requests == 0 {
                record.first = n as u64;
            }
            record.requests += 1;
            // The clock of a log may be set back.
            let earliest = if last.0 == *session { last.1 } else { start };
            let at = entry.start.max(earliest);
            last = (*session, at);
            end = end.max(at + entry.outcome.duration.unwrap_or_default());
            let statement = places[usize::from(entry.statement)];
            RequestEntry { start: at - start, statement, ..*entry }.write(&mut tables);
        }
        let sessions_at = tables.len();
        for session in &self.sessions {
            end = end.max(session.disconnected.unwrap_or_default());
            let since = |time: Option<Nanos>| time.map(|it| it - start);
            let (connected, disconnected) = (since(session.connected), since(session.disconnected));
            RecordedSession { connected, disconnected, ..*session }.write(&mut tables);
        }
        let summary_at = tables.len();
        let (identities, left_out) = (self.identities, self.left_out);
        let summary = Summary { start_ns: start, duration_ns: end - start, statements, identities, left_out };
        tables.extend(serde_json::to_vec(&summary).expect("the summary consists of texts and numbers"));
        let requests_at = MAGIC.len() as u64 + self.position;
        let position = |at: usize| requests_at + at as u64;
        let positions = [requests_at, position(sessions_at), position(summary_at), position(tables.len())];
        for at in positions {
            tables.extend(at.to_le_bytes());
        }
        let checksum = u64::from(crc32c::crc32c(&tables));
        tables.extend(checksum.to_le_bytes());
        tables.extend(MAGIC);
        self.out.write_all(&tables)?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// Time of the first connection or request.
    fn start(&self) -> Nanos {
        let connections = self.sessions.iter().filter_map(|it| it.connected);
        let requests = self.requests.iter().map(|it| it.1.start);
        connections.chain(requests).min().unwrap_or_default()
    }

    /// Statements by decreasing number of requests, at most [`STATEMENTS_MAX`], and the new index of each statement.
    fn select(&self) -> (Vec<RecordedStatement>, Vec<u16>) {
        let mut order: Vec<usize> = (0..self.statements.len()).collect();
        order.sort_by_key(|it| Reverse(self.statements[*it].1));
        let mut places = vec![0; self.statements.len()];
        let mut chosen: Vec<RecordedStatement> = Vec::new();
        let mut taken = HashSet::new();
        for (place, index) in order.into_iter().enumerate() {
            let (text, requests) = &self.statements[index];
            let place = place.min(STATEMENTS_MAX - 1);
            places[index] = place as u16;
            match chosen.get_mut(place) {
                None => {
                    let name = unique_name(std::slice::from_ref(text), &mut taken);
                    chosen.push(RecordedStatement { name, text: text.clone(), requests: *requests });
                }
                Some(others) => {
                    others.requests += requests;
                    (others.name, others.text) = (OTHERS.to_owned(), String::new());
                }
            }
        }
        (chosen, places)
    }
}

/// True if the messages prepare statements and execute none.
fn is_parse_only(messages: &[u8]) -> bool {
    let (mut rest, mut parses) = (messages, false);
    while let [kind, a, b, c, d, ..] = *rest {
        match kind {
            b'P' => parses = true,
            b'S' | b'D' | b'H' | b'C' => {}
            _ => return false,
        }
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        let Some(after) = length.checked_add(1).and_then(|it| rest.get(it..)) else { return false };
        rest = after;
    }
    parses && rest.is_empty()
}
