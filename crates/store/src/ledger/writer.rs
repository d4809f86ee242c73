//! Writer threads of a ledger, which keep clients from waiting for the disk
//!
//! One thread collects entries and writes them every few milliseconds. Another thread syncs the file.

use super::LedgerFile;
use crate::writer::WriteError;
use model::Nanos;
use model::durability::LedgerEntry;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Source of entries. The writing thread calls it every [`WRITE_INTERVAL`].
pub trait EntrySource: Send {
    /// Appends the entries since the previous call to `to`, in their order.
    fn take(&mut self, to: &mut Vec<LedgerEntry>);
    /// Called after the taken entries were written and therefore survive the end of this process. Also called after a
    /// failed write; otherwise clients would wait forever when the disk is full.
    fn mark_written(&mut self);
}

/// Interval between two writes. The interval and the write together take less than 10 ms, so a killed process
/// loses at most the entries of the last 10 ms.
pub const WRITE_INTERVAL: Duration = Duration::from_millis(5);
/// Interval between two syncs.
const SYNC_INTERVAL: Duration = Duration::from_millis(200);
/// Interval between two entries with readings of the monotonic clock and the wall clock.
const CLOCK_INTERVAL: Nanos = Nanos::from_secs(1);

/// Ledger and the threads that write it. Dropping the value without [`LedgerWriter::finish`] leaves the ledger without
/// an end mark.
#[derive(Debug)]
pub struct LedgerWriter {
    stop: Option<SyncSender<()>>,
    writes: Option<JoinHandle<(Option<LedgerFile>, LedgerStats)>>,
    syncs: Option<JoinHandle<()>>,
    shared: Arc<WriterState>,
}

#[derive(Debug, Default)]
struct WriterState {
    written: AtomicU64,
    synced: AtomicU64,
    error: OnceLock<WriteError>,
}

/// Number of written entries and of written bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerStats {
    pub entries: u64,
    pub bytes: u64,
}

/// Starts the threads that write the entries of `source`.
///
/// `clocks` reads two clocks at the same time: the monotonic clock of the entries, and Unix time in microseconds.
pub fn start_writer(
    ledger: LedgerFile,
    source: impl EntrySource + 'static,
    clocks: impl Fn() -> (Nanos, u64) + Send + 'static,
) -> io::Result<LedgerWriter> {
    let shared = Arc::new(WriterState::default());
    let file = ledger.file()?;
    let (stop, stopped) = sync_channel(0);
    let (synced, ends) = sync_channel::<()>(0);
    let syncs = {
        let shared = shared.clone();
        thread::Builder::new()
            .name("ledger sync".to_owned())
            .spawn(move || run_sync(&file, &shared, &ends))?
    };
    let writes = {
        let shared = shared.clone();
        let stats = LedgerStats { entries: 0, bytes: ledger.length() };
        let writer_thread = LedgerThread {
            ledger: Some(ledger),
            source,
            clocks,
            shared,
            batch: Vec::new(),
            stats,
            last_clock: None,
        };
        thread::Builder::new().name("ledger".to_owned()).spawn(move || {
            let _ends_with_it = synced;
            writer_thread.run(&stopped)
        })?
    };
    Ok(LedgerWriter { stop: Some(stop), writes: Some(writes), syncs: Some(syncs), shared })
}

impl LedgerWriter {
    /// First error; `None` without an error. After an error, the load must stop, because the ledger is complete only up
    /// to the error.
    pub fn error(&self) -> Option<&WriteError> {
        self.shared.error.get()
    }

    /// Number of bytes that survive the end of this process, and number of bytes that survive a crash of the host.
    pub fn durable_bytes(&self) -> (u64, u64) {
        (self.shared.written.load(Ordering::Acquire), self.shared.synced.load(Ordering::Acquire))
    }

    /// Writes the remaining entries and the end mark. After a failed write, the ledger has no end mark.
    pub fn finish(mut self) -> io::Result<LedgerStats> {
        let (ledger, stats) = self.join().expect("the thread is joined once");
        match ledger {
            Some(it) => it.close().map(|()| stats),
            None => Ok(stats),
        }
    }

    fn join(&mut self) -> Option<(Option<LedgerFile>, LedgerStats)> {
        drop(self.stop.take());
        let writes = self.writes.take().map(|it| it.join().expect("writing does not panic"));
        if let Some(thread) = self.syncs.take() {
            thread.join().expect("syncing does not panic");
        }
        writes
    }
}

impl Drop for LedgerWriter {
    fn drop(&mut self) {
        // Ignore the error, because no caller can receive it any more.
        let _ = self.join();
    }
}

/// State of the thread that writes entries.
struct LedgerThread<S, C> {
    /// Open ledger file; `None` after a failed write.
    ledger: Option<LedgerFile>,
    source: S,
    clocks: C,
    shared: Arc<WriterState>,
    batch: Vec<LedgerEntry>,
    stats: LedgerStats,
    /// Time of the last entry with readings of the monotonic clock and the wall clock.
    last_clock: Option<Nanos>,
}

impl<S: EntrySource, C: Fn() -> (Nanos, u64)> LedgerThread<S, C> {
    fn run(mut self, stopped: &Receiver<()>) -> (Option<LedgerFile>, LedgerStats) {
        loop {
            let ends = stopped.recv_timeout(WRITE_INTERVAL) != Err(RecvTimeoutError::Timeout);
            self.write_batch();
            if ends {
                return (self.ledger, self.stats);
            }
        }
    }

    fn write_batch(&mut self) {
        self.source.take(&mut self.batch);
        let (at, wall_us) = (self.clocks)();
        if self.last_clock.is_none_or(|it| at >= it + CLOCK_INTERVAL) {
            self.last_clock = Some(at);
            self.batch.push(LedgerEntry::Clock { at, wall_us });
        }
        if let Some(ledger) = self.ledger.as_mut().filter(|_| !self.batch.is_empty()) {
            let entries = self.stats.entries + self.batch.len() as u64;
            self.batch.drain(..).for_each(|it| ledger.append(it));
            let written = ledger.write();
            // Only the first error is kept.
            let keep_error = |it: WriteError| drop(self.shared.error.set(it));
            if ledger.is_low_space() {
                keep_error(WriteError::DiskFull);
            }
            if let Err(error) = written {
                keep_error(WriteError::Refused(error.to_string()));
                self.ledger = None;
            } else {
                self.stats = LedgerStats { entries, bytes: ledger.length() };
                self.shared.written.store(self.stats.bytes, Ordering::Release);
            }
        }
        self.batch.clear();
        self.source.mark_written();
    }
}

/// Runs the syncing thread.
fn run_sync(file: &File, shared: &WriterState, ends: &Receiver<()>) {
    while ends.recv_timeout(SYNC_INTERVAL) == Err(RecvTimeoutError::Timeout) {
        let written = shared.written.load(Ordering::Acquire);
        if written == shared.synced.load(Ordering::Relaxed) {
            continue;
        }
        match file.sync_data() {
            Ok(()) => shared.synced.store(written, Ordering::Release),
            // Only the first error is kept.
            Err(error) => drop(shared.error.set(WriteError::Refused(error.to_string()))),
        }
    }
}
