//! Entries of requests on disk, while a recording is written

use super::layout::{REQUEST_SIZE, RequestEntry};
use std::io::{self, Read, Seek, SeekFrom, Write};

/// Size of the blocks in which the entries of one session are written, in bytes.
const BLOCK: usize = 64 * REQUEST_SIZE;
/// Entries of all sessions that are kept in memory, in bytes.
const BUFFERED_MAX: usize = 32 << 20;

/// Entries of requests by session. They come in any order of sessions and are read session by session.
#[derive(Debug)]
pub(super) struct Spool<F> {
    file: F,
    /// Length of the file.
    end: u64,
    sessions: Vec<SpooledSession>,
    /// Length of all buffers.
    buffered: usize,
}

#[derive(Debug, Default)]
struct SpooledSession {
    /// Positions and lengths of the blocks that were written.
    blocks: Vec<(u64, u32)>,
    /// Entries after those blocks.
    buffer: Vec<u8>,
    requests: u64,
}

impl<F: Read + Write + Seek> Spool<F> {
    /// `file` is empty.
    pub fn new(file: F) -> Spool<F> {
        Spool { file, end: 0, sessions: Vec::new(), buffered: 0 }
    }

    pub fn add_session(&mut self) {
        self.sessions.push(SpooledSession::default());
    }

    /// Number of the session's requests.
    pub fn requests(&self, session: usize) -> u64 {
        self.sessions[session].requests
    }

    /// Adds a request to a session.
    pub fn push(&mut self, session: usize, entry: &RequestEntry) -> io::Result<()> {
        let spooled = &mut self.sessions[session];
        entry.write(&mut spooled.buffer);
        spooled.requests += 1;
        self.buffered += REQUEST_SIZE;
        if spooled.buffer.len() >= BLOCK {
            return self.write(session);
        }
        if self.buffered >= BUFFERED_MAX {
            for session in 0..self.sessions.len() {
                self.write(session)?;
                self.sessions[session].buffer = Vec::new();
            }
        }
        Ok(())
    }

    /// Writes the buffer of a session as a block.
    fn write(&mut self, session: usize) -> io::Result<()> {
        let spooled = &mut self.sessions[session];
        let length = spooled.buffer.len();
        if length > 0 {
            self.file.write_all(&spooled.buffer)?;
            spooled.buffer.clear();
            spooled.blocks.push((self.end, length as u32));
            self.end += length as u64;
            self.buffered -= length;
        }
        Ok(())
    }

    /// Passes the requests of a session in their order.
    pub fn read(
        &mut self,
        session: usize,
        mut each: impl FnMut(RequestEntry) -> io::Result<()>,
    ) -> io::Result<()> {
        let SpooledSession { blocks, buffer, .. } = &self.sessions[session];
        let mut pass = |bytes: &[u8]| {
            let (entries, _) = bytes.as_chunks::<REQUEST_SIZE>();
            entries.iter().try_for_each(|entry| each(RequestEntry::read(entry)))
        };
        let mut block = Vec::new();
        for &(position, length) in blocks {
            block.resize(length as usize, 0);
            self.file.seek(SeekFrom::Start(position))?;
            self.file.read_exact(&mut block)?;
            pass(&block)?;
        }
        pass(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Outcome;
    use super::*;
    use model::Nanos;
    use std::io::Cursor;

    fn entry(number: u64) -> RequestEntry {
        let outcome = Outcome { duration: None, rows: Some(number), error: None };
        RequestEntry { start: Nanos(number), messages: number, length: 1, statement: 2, outcome }
    }

    /// More entries than the memory may contain, in sessions of very different lengths.
    #[test]
    fn returns_the_requests_of_each_session_in_their_order() {
        let mut spool = Spool::new(Cursor::new(Vec::new()));
        let lengths = [1, 63, 64, 65, 0];
        // Sessions with few requests each, which together exceed the limit.
        let short = (BUFFERED_MAX / REQUEST_SIZE / 10) as u64 + 1;
        let requests = |session: u64| lengths.get(session as usize).copied().unwrap_or(10);
        let sessions = lengths.len() as u64 + short;
        (0..sessions).for_each(|_| spool.add_session());
        for round in 0..65 {
            for session in (0..sessions).filter(|it| round < requests(*it)) {
                spool.push(session as usize, &entry(session * 100 + round)).expect("memory can be written");
            }
        }
        assert!(spool.buffered < BUFFERED_MAX && spool.end > BUFFERED_MAX as u64 / 2, "{}", spool.end);
        for session in 0..sessions {
            let mut found = Vec::new();
            let all = spool.read(session as usize, |entry| {
                found.push(entry);
                Ok(())
            });
            all.expect("memory can be read");
            let expected = (0..requests(session)).map(|round| entry(session * 100 + round));
            assert!(expected.eq(found), "session {session}");
            assert_eq!(spool.requests(session as usize), requests(session));
        }
    }
}
