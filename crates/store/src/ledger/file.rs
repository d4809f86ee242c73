//! Ledger file that is being written

use super::LedgerHeader;
use super::frame::{self, Frame, MAGIC};
use crate::error::{Attempt, Error, Result};
use crate::file;
use model::durability::LedgerEntry;
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Ledger file that is being written. A dropped file has no end mark.
#[derive(Debug)]
pub struct LedgerFile {
    file: File,
    /// Checksum of all frames so far, in order.
    chain: u32,
    /// Encoded frames that are not yet written.
    buffer: Vec<u8>,
    /// Length of the file, in bytes.
    length: u64,
    /// Number of preallocated bytes, at least `length`. It increases in steps of [`LedgerFile::PREALLOCATION`].
    allocated: u64,
    /// True if preallocation failed.
    low_space: bool,
}

impl LedgerFile {
    /// Size of a preallocation in bytes. A failed preallocation reveals that the disk is full while there is still
    /// space for entries.
    pub const PREALLOCATION: u64 = 64 << 20;

    /// Creates the file, which must not exist, and writes its header.
    pub fn create(path: &Path, header: &LedgerHeader) -> Result<LedgerFile> {
        let make = || -> io::Result<LedgerFile> {
            let file = file::create_new(path)?;
            let mut ledger = LedgerFile {
                file,
                chain: 0,
                buffer: MAGIC.to_vec(),
                length: 0,
                allocated: 0,
                low_space: false,
            };
            frame::append(&Frame::Header(*header), &mut ledger.chain, &mut ledger.buffer);
            ledger.write()?;
            ledger.file.sync_data()?;
            Ok(ledger)
        };
        make().map_err(Error::system(path, Attempt::Create))
    }

    /// Appends an entry to the buffer; the next [`LedgerFile::write`] writes it.
    pub fn append(&mut self, entry: LedgerEntry) {
        frame::append(&Frame::Entry(entry), &mut self.chain, &mut self.buffer);
    }

    /// Passes all buffered entries to the kernel, so that they survive the end of this process.
    ///
    /// After an error, the file has its previous content and must not be written again.
    pub fn write(&mut self) -> io::Result<()> {
        self.preallocate();
        if let Err(error) = self.file.write_all(&self.buffer) {
            // Truncation removes a partially written frame.
            let _ = self.file.set_len(self.length);
            return Err(error);
        }
        self.length += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Number of written bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// True if no more space can be preallocated. The next write may be the last for which there is space.
    pub fn is_low_space(&self) -> bool {
        self.low_space
    }

    /// Handle of the file for a separate thread, which syncs the file. A sync takes long.
    pub fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Writes the end mark, frees the unused preallocation and syncs the file.
    pub fn close(mut self) -> io::Result<()> {
        self.append(LedgerEntry::Closed);
        self.write()?;
        // Truncation frees the preallocated space beyond the end.
        self.file.set_len(self.length)?;
        self.file.sync_all()
    }

    fn preallocate(&mut self) {
        let needed = self.length + self.buffer.len() as u64;
        while self.allocated < needed && !self.low_space {
            match fallocate(&self.file, FallocateFlags::KEEP_SIZE, self.allocated, LedgerFile::PREALLOCATION)
            {
                // Some file systems do not support preallocation.
                Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => self.allocated += LedgerFile::PREALLOCATION,
                Err(_) => self.low_space = true,
            }
        }
    }
}
