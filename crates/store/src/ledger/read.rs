//! What stands in a ledger, up to its first byte that cannot be?

use super::Header;
use super::frame::{self, Frame, LONGEST, MAGIC};
use crate::error::{Error, Result, Wrong};
use model::durability::{Entry, LedgerEnd};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// The entries of a ledger, from the first on.
#[derive(Debug)]
pub struct Entries<R> {
    header: Header,
    from: R,
    /// Bytes that were read and not yet understood.
    ahead: Vec<u8>,
    /// Of `ahead`, those that were understood.
    used: usize,
    drained: bool,
    chain: u32,
    end: Option<LedgerEnd>,
    closed: bool,
    failed: Option<io::Error>,
}

/// Reads a file of this kind, of this version, with a whole header; otherwise tells why not.
pub fn open(path: &Path) -> Result<Entries<BufReader<File>>> {
    let meta = std::fs::metadata(path).map_err(Error::system(path, "open"))?;
    if !meta.is_file() {
        return Err(Error::new(path, Wrong::Foreign));
    }
    let file = File::open(path).map_err(Error::system(path, "open"))?;
    Entries::of(BufReader::new(file))
        .map_err(Error::system(path, "read"))?
        .ok_or(Error::new(path, Wrong::Foreign))
}

impl<R: Read> Entries<R> {
    /// `None` where no ledger begins.
    pub fn of(from: R) -> io::Result<Option<Entries<R>>> {
        let header = Header::default();
        let (ahead, chain, end) = (Vec::with_capacity(2 * CHUNK), 0, None);
        let mut it =
            Entries { header, from, ahead, used: 0, drained: false, chain, end, closed: false, failed: None };
        it.fill()?;
        if !it.ahead.starts_with(MAGIC) {
            return Ok(None);
        }
        it.used = MAGIC.len();
        let Some((Frame::Header(header), length)) = frame::take(&it.ahead[it.used..], &mut it.chain) else {
            return Ok(None);
        };
        it.used += length;
        it.header = header;
        Ok(Some(it))
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    /// How it ended; `None` until every entry was taken.
    pub fn end(&self) -> Option<LedgerEnd> {
        self.end
    }

    /// Why nothing more could be read, where it was the system that refused.
    pub fn error(&self) -> Option<&io::Error> {
        self.failed.as_ref()
    }

    /// At least one whole frame lies ahead, or all that there is.
    fn fill(&mut self) -> io::Result<()> {
        if self.drained || self.ahead.len() - self.used >= 2 + LONGEST + 4 {
            return Ok(());
        }
        self.ahead.drain(..self.used);
        self.used = 0;
        let more = (&mut self.from).take(CHUNK as u64).read_to_end(&mut self.ahead)?;
        self.drained = more < CHUNK;
        Ok(())
    }

    /// Bytes that are no entries.
    fn left(&mut self) -> u64 {
        let ahead = (self.ahead.len() - self.used) as u64;
        ahead + io::copy(&mut self.from, &mut io::sink()).unwrap_or(0)
    }
}

impl<R: Read> Iterator for Entries<R> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        if self.end.is_some() {
            return None;
        }
        if let Err(error) = self.fill() {
            self.failed = Some(error);
        }
        if !self.closed
            && let Some((Frame::Entry(entry), length)) =
                frame::take(&self.ahead[self.used..], &mut self.chain)
        {
            self.used += length;
            self.closed = entry == Entry::Closed;
            return Some(entry);
        }
        self.end = Some(match (self.left(), self.closed) {
            (0, true) => LedgerEnd::Closed,
            (0, false) => LedgerEnd::Open,
            (bytes, _) => LedgerEnd::Torn { bytes },
        });
        None
    }
}

/// Read at once.
const CHUNK: usize = 1 << 16;
