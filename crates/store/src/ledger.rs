//! Ledger of attempted writes and their outcomes, which survives a kill of this process
//!
//! Each trial has a file next to the run's: `NAME.1.ledger` next to `NAME.dyno`. Frames are only appended. Each has a
//! checksum over itself and all frames before it. Entries written by [`LedgerFile::write`] survive this process; synced
//! entries survive the host. A lost tail makes outcomes unknown. This can hide a lost write, but never reports one that
//! was not lost.
//!
//! ```text
//! file   magic frame frame …
//! frame  length: u16 of the body | body | CRC-32C: u32 of the checksum before, length and body      little-endian
//! body   kind: u8 | fields
//! ```

mod file;
mod frame;
mod reader;
mod writer;

pub use file::LedgerFile;
pub use reader::{LedgerReader, open};
pub use writer::{EntrySource, LedgerStats, LedgerWriter, start_writer};

use std::path::{Path, PathBuf};

/// Identity of a ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerHeader {
    /// Random id of the run, contained in every row that it writes.
    pub run: u128,
    /// Content of `/proc/sys/kernel/random/boot_id`. While it is unchanged, the host has not lost its memory.
    pub boot: u128,
    /// Unix time.
    pub started_ms: u64,
}

/// Path of the ledger for a trial, numbered from 1, of the run in `run`.
pub fn ledger_path(run: &Path, trial: u32) -> PathBuf {
    run.with_extension(format!("{trial}.ledger"))
}
