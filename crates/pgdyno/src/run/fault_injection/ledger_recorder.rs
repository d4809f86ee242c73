//! Ledger of a trial's writes, while the load runs

use crate::cli::CommandError;
use crate::clock::{system_us, unix_time};
use crate::run_file::write_error;
use load::driver::Clock;
use load::ledger::LedgerConsumer;
use model::durability::LedgerEntry;
use model::message;
use model::message::Message;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use store::ledger::{self, EntrySource, LedgerFile, LedgerWriter};

/// Writer of a trial's ledger.
#[derive(Debug)]
pub struct LedgerRecorder {
    path: PathBuf,
    writer: LedgerWriter,
}

impl LedgerRecorder {
    /// Starts the ledger of trial number `trial`, from 1, next to the run's file. Times in the ledger are readings of
    /// `clock`.
    pub fn begin(
        run: &Path,
        trial: u32,
        drain: LedgerConsumer,
        clock: Clock,
    ) -> Result<LedgerRecorder, CommandError> {
        let path = ledger::ledger_path(run, trial);
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let boot = u128::from_str_radix(&boot.trim().replace('-', ""), 16).unwrap_or(0);
        let invented = RandomState::new();
        let halves = [invented.hash_one(0), invented.hash_one(1)];
        let header = ledger::LedgerHeader {
            run: u128::from(halves[0]) << 64 | u128::from(halves[1]),
            boot,
            started_ms: unix_time().0 / 1_000_000,
        };
        let file = LedgerFile::create(&path, &header).map_err(|it| CommandError::new(&it))?;
        let clocks = move || (clock.now(), system_us());
        let writer = ledger::start_writer(file, DrainSource(drain), clocks).map_err(|error| {
            CommandError::new(message!(
                "failover-ledger-not-written",
                error = Message::of_file(&path, &error)
            ))
        })?;
        Ok(LedgerRecorder { path, writer })
    }

    /// Write error that makes the ledger unusable.
    pub fn error(&self) -> Option<Message> {
        self.writer.error().map(write_error)
    }

    /// Flushes the ledger and returns its path.
    pub fn finish(self) -> Result<PathBuf, CommandError> {
        let failed = |error| {
            let error = Message::of_file(&self.path, &error);
            CommandError::new(message!("failover-ledger-not-written", error))
        };
        self.writer.finish().map_err(failed)?;
        Ok(self.path)
    }
}

/// Source of the load threads' ledger entries.
struct DrainSource(LedgerConsumer);

impl EntrySource for DrainSource {
    fn take(&mut self, to: &mut Vec<LedgerEntry>) {
        self.0.take(to);
    }

    fn mark_written(&mut self) {
        self.0.mark_written();
    }
}
