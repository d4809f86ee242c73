//! How does an entry get into the file?

use super::LedgerHeader;
use super::frame::{self, Frame, MAGIC};
use crate::error::{Error, Result};
use crate::file;
use model::durability::LedgerEntry;
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// One ledger, as long as it is written. Dropping it leaves a ledger that is open.
#[derive(Debug)]
pub struct LedgerFile {
    file: File,
    /// Checksum of all so far.
    chain: u32,
    /// What is to be written.
    buffer: Vec<u8>,
    /// Bytes in the file.
    length: u64,
    /// Bytes of the disk that are ours, at least `length`; grows by [`Ledger::ROOM`].
    allocated: u64,
    /// No further room could be taken.
    low_space: bool,
}

impl LedgerFile {
    /// Room on the disk is taken in pieces of this size, before it is needed: a full disk is met while there is still room.
    pub const PREALLOCATION: u64 = 64 << 20;

    /// Makes the file, which must not be there, with nothing but its header.
    pub fn create(path: &Path, header: &LedgerHeader) -> Result<LedgerFile> {
        let make = || -> io::Result<LedgerFile> {
            let file = file::create_new(path)?;
            let mut it = LedgerFile {
                file,
                chain: 0,
                buffer: MAGIC.to_vec(),
                length: 0,
                allocated: 0,
                low_space: false,
            };
            frame::append(&Frame::Header(*header), &mut it.chain, &mut it.buffer);
            it.write()?;
            it.file.sync_data()?;
            Ok(it)
        };
        make().map_err(Error::system(path, "make the file"))
    }

    /// To be written with the next [`Ledger::write`].
    pub fn append(&mut self, entry: LedgerEntry) {
        frame::append(&Frame::Entry(entry), &mut self.chain, &mut self.buffer);
    }

    /// Hands everything to the system: it outlives this process from now on. After an error the file holds what it did
    /// before, and is not to be written any more.
    pub fn write(&mut self) -> io::Result<()> {
        self.preallocate();
        if let Err(error) = self.file.write_all(&self.buffer) {
            // What was written of it would be a torn tail.
            let _ = self.file.set_len(self.length);
            return Err(error);
        }
        self.length += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Bytes that were written.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The disk has no further room to be taken: what is written now may be the last that fits.
    pub fn is_low_space(&self) -> bool {
        self.low_space
    }

    /// For another thread to sync, which takes long.
    pub fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Nothing follows: on the disk, and no more of it than that.
    pub fn close(mut self) -> io::Result<()> {
        self.append(LedgerEntry::Closed);
        self.write()?;
        // Gives back what lies beyond the end.
        self.file.set_len(self.length)?;
        self.file.sync_all()
    }

    fn preallocate(&mut self) {
        let needed = self.length + self.buffer.len() as u64;
        while self.allocated < needed && !self.low_space {
            match fallocate(&self.file, FallocateFlags::KEEP_SIZE, self.allocated, LedgerFile::PREALLOCATION)
            {
                // Some file systems know no rooms.
                Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => self.allocated += LedgerFile::PREALLOCATION,
                Err(_) => self.low_space = true,
            }
        }
    }
}
