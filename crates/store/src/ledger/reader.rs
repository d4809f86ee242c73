//! Reader of ledgers, which stops at the first invalid byte

use super::LedgerHeader;
use super::frame::{self, Frame, MAGIC, MAX_BODY_BYTES};
use crate::error::{Attempt, Error, ErrorCause, Result};
use model::durability::{LedgerEnd, LedgerEntry};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// Iterator over the entries of a ledger.
#[derive(Debug)]
pub struct LedgerReader<R> {
    header: LedgerHeader,
    input: R,
    /// Bytes that were read from the input.
    buffer: Vec<u8>,
    /// Number of bytes at the start of `buffer` that are decoded.
    consumed: usize,
    at_end: bool,
    chain: u32,
    end: Option<LedgerEnd>,
    closed: bool,
    failed: Option<io::Error>,
}

/// Opens a ledger. Fails if the file is not a ledger of this version, or if its header is incomplete.
pub fn open(path: &Path) -> Result<LedgerReader<BufReader<File>>> {
    let meta = std::fs::metadata(path).map_err(Error::system(path, Attempt::Open))?;
    if !meta.is_file() {
        return Err(Error::new(path, ErrorCause::NotRunFile));
    }
    let file = File::open(path).map_err(Error::system(path, Attempt::Open))?;
    LedgerReader::from_reader(BufReader::new(file))
        .map_err(Error::system(path, Attempt::Read))?
        .ok_or(Error::new(path, ErrorCause::NotRunFile))
}

impl<R: Read> LedgerReader<R> {
    /// Reader of the ledger in `from`; `None` if the input does not begin with a valid header.
    pub fn from_reader(from: R) -> io::Result<Option<LedgerReader<R>>> {
        let header = LedgerHeader::default();
        let (ahead, chain, end) = (Vec::with_capacity(2 * CHUNK), 0, None);
        let mut reader = LedgerReader {
            header,
            input: from,
            buffer: ahead,
            consumed: 0,
            at_end: false,
            chain,
            end,
            closed: false,
            failed: None,
        };
        reader.fill()?;
        if !reader.buffer.starts_with(MAGIC) {
            return Ok(None);
        }
        reader.consumed = MAGIC.len();
        let Some((Frame::Header(header), length)) =
            frame::take_frame(&reader.buffer[reader.consumed..], &mut reader.chain)
        else {
            return Ok(None);
        };
        reader.consumed += length;
        reader.header = header;
        Ok(Some(reader))
    }

    pub fn header(&self) -> &LedgerHeader {
        &self.header
    }

    /// State of the ledger's end; `None` until all entries have been returned.
    pub fn end(&self) -> Option<LedgerEnd> {
        self.end
    }

    /// System error that stopped the reader; `None` without an error.
    pub fn error(&self) -> Option<&io::Error> {
        self.failed.as_ref()
    }

    /// Fills the buffer until it contains at least one complete frame or the rest of the input.
    fn fill(&mut self) -> io::Result<()> {
        if self.at_end || self.buffer.len() - self.consumed >= 2 + MAX_BODY_BYTES + 4 {
            return Ok(());
        }
        self.buffer.drain(..self.consumed);
        self.consumed = 0;
        let more = (&mut self.input).take(CHUNK as u64).read_to_end(&mut self.buffer)?;
        self.at_end = more < CHUNK;
        Ok(())
    }

    /// Number of bytes at the end that are not valid entries.
    fn remaining_bytes(&mut self) -> u64 {
        let ahead = (self.buffer.len() - self.consumed) as u64;
        ahead + io::copy(&mut self.input, &mut io::sink()).unwrap_or(0)
    }
}

impl<R: Read> Iterator for LedgerReader<R> {
    type Item = LedgerEntry;

    fn next(&mut self) -> Option<LedgerEntry> {
        if self.end.is_some() {
            return None;
        }
        if let Err(error) = self.fill() {
            self.failed = Some(error);
        }
        if !self.closed
            && let Some((Frame::Entry(entry), length)) =
                frame::take_frame(&self.buffer[self.consumed..], &mut self.chain)
        {
            self.consumed += length;
            self.closed = entry == LedgerEntry::Closed;
            return Some(entry);
        }
        self.end = Some(match (self.remaining_bytes(), self.closed) {
            (0, true) => LedgerEnd::Closed,
            (0, false) => LedgerEnd::Open,
            (bytes, _) => LedgerEnd::Torn { bytes },
        });
        None
    }
}

/// Number of bytes per read.
const CHUNK: usize = 1 << 16;
