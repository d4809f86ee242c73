//! Ledger of attempted writes and their outcomes, which survives if the generator is killed
//!
//! Each trial has a ledger file next to the run's file: `NAME.1.ledger` next to `NAME.dyno`. Frames are only appended.
//! Each frame has a checksum over all preceding frames and the frame itself. Entries written by [`LedgerFile::write`]
//! survive the end of this process; synced entries survive a crash of the host. If the end of a ledger is lost, the
//! outcomes that it contained are unknown. pgdyno may then miss a lost write, but it never reports a loss that did not
//! happen.
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

/// Header of a ledger file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerHeader {
    /// Random id of the run; every row that the run writes contains it.
    pub run: u128,
    /// Boot id of the host from `/proc/sys/kernel/random/boot_id`. If it is unchanged, the host was not rebooted, so
    /// unsynced entries are not lost.
    pub boot: u128,
    /// Start of the ledger, Unix time in milliseconds.
    pub started_ms: u64,
}

/// Path of the ledger for a trial (numbered from 1) of the run whose file is `run`.
pub fn ledger_path(run: &Path, trial: u32) -> PathBuf {
    run.with_extension(format!("{trial}.ledger"))
}
