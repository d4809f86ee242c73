//! Writer of a recording

use super::layout::{MAGIC, RequestEntry, Summary};
use super::spool::Spool;
use super::{Identity, Outcome, RecordedSession, RecordedStatement, STATEMENTS_MAX, Unrecorded};
use crate::distil::unique_name;
use crate::sql::normalise::shape;
use model::Nanos;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Cursor, Read, Seek, Write};

/// Text for requests that only prepare a statement, so that their times are not those of its executions.
const PARSE: &str = "PREPARE";
/// Text of the statements that share one entry.
const OTHERS: &str = "other-statements";
/// Maximum number of different texts that are remembered, so that texts with values do not fill the memory.
const TEXTS_MAX: usize = 65_536;

/// Writes the messages of requests to `W` as they come. The table of requests, which is sorted by session, is kept in the
/// temporary file `F` until [`RecordingWriter::finish`], so that the memory does not grow with the number of requests.
#[derive(Debug)]
pub struct RecordingWriter<W, F> {
    out: W,
    /// Number of bytes of messages that were written.
    position: u64,
    sessions: Vec<RecordedSession>,
    spool: Spool<F>,
    requests: u64,
    /// Time of the first request.
    first: Option<Nanos>,
    identities: Vec<Identity>,
    /// Statements by their normalised text, with the number of their requests.
    statements: Vec<(String, u64)>,
    shapes: HashMap<String, u16>,
    /// Statements by their text as it was sent.
    texts: HashMap<String, u16>,
    left_out: BTreeMap<Unrecorded, u64>,
}

impl RecordingWriter<Vec<u8>, Cursor<Vec<u8>>> {
    /// Begins a recording in memory.
    pub fn in_memory() -> Self {
        Self::new(Vec::new(), Cursor::default()).expect("memory can be written")
    }
}

impl<W: Write, F: Read + Write + Seek> RecordingWriter<W, F> {
    /// Begins a recording. `temporary` is an empty file, which contains times and sizes, but no statements.
    ///
    /// # Errors
    /// Returns an error if `out` cannot be written.
    pub fn new(mut out: W, temporary: F) -> io::Result<RecordingWriter<W, F>> {
        out.write_all(MAGIC)?;
        Ok(RecordingWriter {
            out,
            position: 0,
            sessions: Vec::new(),
            spool: Spool::new(temporary),
            requests: 0,
            first: None,
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
        self.spool.add_session();
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
    /// Returns an error if one of the files cannot be written.
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
        self.requests += 1;
        self.first = Some(self.first.map_or(start, |first| first.min(start)));
        self.spool.push(session as usize, &entry)
    }

    /// Counts statements that are not in the recording.
    pub fn leave_out(&mut self, reason: Unrecorded, statements: u64) {
        *self.left_out.entry(reason).or_default() += statements;
    }

    /// Number of requests so far.
    pub fn requests(&self) -> u64 {
        self.requests
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
    /// Returns an error if one of the files cannot be written, or the temporary one cannot be read.
    pub fn finish(mut self) -> io::Result<W> {
        let (statements, places) = self.select();
        let start = self.start();
        let requests_at = MAGIC.len() as u64 + self.position;
        let mut tables = Tables { out: self.out, position: requests_at, checksum: 0 };
        let mut end = start;
        let mut entry_bytes = Vec::new();
        let mut next = 0;
        for (number, session) in self.sessions.iter_mut().enumerate() {
            session.requests = self.spool.requests(number);
            if session.requests > 0 {
                session.first = next;
                next += session.requests;
            }
            let mut earliest = start;
            self.spool.read(number, |entry| {
                // The clock of a log may be set back.
                let at = entry.start.max(earliest);
                earliest = at;
                end = end.max(at + entry.outcome.duration.unwrap_or_default());
                let statement = places[usize::from(entry.statement)];
                entry_bytes.clear();
                RequestEntry { start: at - start, statement, ..entry }.write(&mut entry_bytes);
                tables.write(&entry_bytes)
            })?;
        }
        let sessions_at = tables.position;
        for session in &self.sessions {
            end = end.max(session.disconnected.unwrap_or_default());
            let since = |time: Option<Nanos>| time.map(|it| it - start);
            let (connected, disconnected) = (since(session.connected), since(session.disconnected));
            entry_bytes.clear();
            RecordedSession { connected, disconnected, ..*session }.write(&mut entry_bytes);
            tables.write(&entry_bytes)?;
        }
        let summary_at = tables.position;
        let (identities, left_out) = (self.identities, self.left_out);
        let summary = Summary { start_ns: start, duration_ns: end - start, statements, identities, left_out };
        tables.write(&serde_json::to_vec(&summary).expect("the summary consists of texts and numbers"))?;
        for position in [requests_at, sessions_at, summary_at, tables.position] {
            tables.write(&position.to_le_bytes())?;
        }
        let checksum = u64::from(tables.checksum);
        tables.write(&checksum.to_le_bytes())?;
        tables.write(MAGIC)?;
        tables.out.flush()?;
        Ok(tables.out)
    }

    /// Time of the first connection or request.
    fn start(&self) -> Nanos {
        let connections = self.sessions.iter().filter_map(|it| it.connected);
        connections.chain(self.first).min().unwrap_or_default()
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

/// Everything after the messages, with its checksum.
struct Tables<W> {
    out: W,
    position: u64,
    checksum: u32,
}

impl<W: Write> Tables<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.position += bytes.len() as u64;
        self.checksum = crc32c::crc32c_append(self.checksum, bytes);
        self.out.write_all(bytes)
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
