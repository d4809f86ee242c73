//! How do entries get into the file without anybody waiting for the disk?
//!
//! One thread takes what came and writes it every few milliseconds; another one syncs.

use super::Ledger;
use crate::writer::Trouble;
use model::Nanos;
use model::durability::Entry;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Where entries come from. Asked by the thread that writes, every [`EVERY`].
pub trait Source: Send {
    /// Appends what came since the last call, in its order.
    fn take(&mut self, to: &mut Vec<Entry>);
    /// All that was taken outlives this process from now on. Also told after it could not be written: nobody is to wait for
    /// a disk that is full.
    fn written(&mut self);
}

/// Between two writes: with the write itself it stays below the ten milliseconds that a kill may cost.
pub const EVERY: Duration = Duration::from_millis(5);
/// Between two syncs.
const SYNC: Duration = Duration::from_millis(200);
/// Between two entries that tell what both clocks show.
const CLOCK: Nanos = Nanos::from_secs(1);

/// A ledger that is being kept. Dropping it without [`Keeper::finish`] leaves it open.
#[derive(Debug)]
pub struct Keeper {
    stop: Option<SyncSender<()>>,
    writes: Option<JoinHandle<(Option<Ledger>, Kept)>>,
    syncs: Option<JoinHandle<()>>,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    written: AtomicU64,
    synced: AtomicU64,
    trouble: OnceLock<Trouble>,
}

/// What was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    pub entries: u64,
    pub bytes: u64,
}

/// Begins to keep what comes from `source`. `clocks` reads both at one moment: the monotonic one of the entries, and Unix time in
/// microseconds.
pub fn keep(
    ledger: Ledger,
    source: impl Source + 'static,
    clocks: impl Fn() -> (Nanos, u64) + Send + 'static,
) -> io::Result<Keeper> {
    let shared = Arc::new(Shared::default());
    let file = ledger.file()?;
    let (stop, stopped) = sync_channel(0);
    let (synced, ends) = sync_channel::<()>(0);
    let syncs = {
        let shared = shared.clone();
        thread::Builder::new().name("ledger sync".to_owned()).spawn(move || sync(&file, &shared, &ends))?
    };
    let writes = {
        let shared = shared.clone();
        let kept = Kept { entries: 0, bytes: ledger.length() };
        let clerk =
            Clerk { ledger: Some(ledger), source, clocks, shared, batch: Vec::new(), kept, said: None };
        thread::Builder::new().name("ledger".to_owned()).spawn(move || {
            let _ends_with_it = synced;
            clerk.serve(&stopped)
        })?
    };
    Ok(Keeper { stop: Some(stop), writes: Some(writes), syncs: Some(syncs), shared })
}

impl Keeper {
    /// Why the load is to be stopped, as soon as there is a reason: the evidence ends here.
    pub fn trouble(&self) -> Option<&Trouble> {
        self.shared.trouble.get()
    }

    /// Bytes that would outlive this process, and those of them that would outlive the host.
    pub fn safe(&self) -> (u64, u64) {
        (self.shared.written.load(Ordering::Acquire), self.shared.synced.load(Ordering::Acquire))
    }

    /// Writes what is left, and that nothing follows. Where something could not be written the ledger stays open.
    pub fn finish(mut self) -> io::Result<Kept> {
        let (ledger, kept) = self.join().expect("it is joined once");
        match ledger {
            Some(it) => it.close().map(|()| kept),
            None => Ok(kept),
        }
    }

    fn join(&mut self) -> Option<(Option<Ledger>, Kept)> {
        drop(self.stop.take());
        let writes = self.writes.take().map(|it| it.join().expect("writing does not panic"));
        if let Some(it) = self.syncs.take() {
            it.join().expect("syncing does not panic");
        }
        writes
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // Nobody is left to be told.
        let _ = self.join();
    }
}

/// The thread that writes.
struct Clerk<S, C> {
    /// Until something could not be written.
    ledger: Option<Ledger>,
    source: S,
    clocks: C,
    shared: Arc<Shared>,
    batch: Vec<Entry>,
    kept: Kept,
    /// When the clocks were told last.
    said: Option<Nanos>,
}

impl<S: Source, C: Fn() -> (Nanos, u64)> Clerk<S, C> {
    fn serve(mut self, stopped: &Receiver<()>) -> (Option<Ledger>, Kept) {
        loop {
            let ends = stopped.recv_timeout(EVERY) != Err(RecvTimeoutError::Timeout);
            self.round();
            if ends {
                return (self.ledger, self.kept);
            }
        }
    }

    fn round(&mut self) {
        self.source.take(&mut self.batch);
        let (at, wall_us) = (self.clocks)();
        if self.said.is_none_or(|it| at >= it + CLOCK) {
            self.said = Some(at);
            self.batch.push(Entry::Clock { at, wall_us });
        }
        if let Some(ledger) = self.ledger.as_mut().filter(|_| !self.batch.is_empty()) {
            let entries = self.kept.entries + self.batch.len() as u64;
            self.batch.drain(..).for_each(|it| ledger.append(it));
            let written = ledger.write();
            // The first trouble is told.
            let trouble = |it: Trouble| drop(self.shared.trouble.set(it));
            if ledger.is_cramped() {
                trouble(Trouble::DiskFull);
            }
            if let Err(error) = written {
                trouble(Trouble::Refused(error.to_string()));
                self.ledger = None;
            } else {
                self.kept = Kept { entries, bytes: ledger.length() };
                self.shared.written.store(self.kept.bytes, Ordering::Release);
            }
        }
        self.batch.clear();
        self.source.written();
    }
}

/// The thread that syncs.
fn sync(file: &File, shared: &Shared, ends: &Receiver<()>) {
    while ends.recv_timeout(SYNC) == Err(RecvTimeoutError::Timeout) {
        let written = shared.written.load(Ordering::Acquire);
        if written == shared.synced.load(Ordering::Relaxed) {
            continue;
        }
        match file.sync_data() {
            Ok(()) => shared.synced.store(written, Ordering::Release),
            // The first trouble is told.
            Err(error) => drop(shared.trouble.set(Trouble::Refused(error.to_string()))),
        }
    }
}
