//! Which writes were attempted, and what came of each, even if this process is killed?
//!
//! A file of each trial beside the run's: `NAME.1.ledger` beside `NAME.dyno`. Frames are only appended, each with a checksum over itself and
//! all before it. What [`Ledger::write`] has handed to the system outlives this process; what was synced outlives the host.
//! A tail that was lost turns outcomes into unknown ones: that can hide a loss, and never invents one.
//!
//! ```text
//! file   magic frame frame …
//! frame  length: u16 of the body | body | CRC-32C: u32 of the checksum before, length and body      little-endian
//! body   kind: u8 | fields
//! ```

mod crc;
mod file;
mod frame;
mod reader;
mod writer;

pub use file::LedgerFile;
pub use reader::{LedgerReader, open};
pub use writer::{EntrySource, LedgerStats, LedgerWriter, start_writer};

use std::path::{Path, PathBuf};

/// Whose ledger it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerHeader {
    /// Invented for the run; it stands in every row.
    pub run: u128,
    /// `/proc/sys/kernel/random/boot_id`: while it is the same, the host has not lost its memory.
    pub boot: u128,
    /// Unix time.
    pub started_ms: u64,
}

/// The ledger that belongs to a trial, numbered from 1, of a run's file.
pub fn ledger_path(run: &Path, trial: u32) -> PathBuf {
    run.with_extension(format!("{trial}.ledger"))
}
