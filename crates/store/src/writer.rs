//! Writer thread of a run, which keeps callers from waiting for the disk
//!
//! The thread writes one transaction per tick. Messages between ticks wait for the next tick, but not longer than
//! [`batch::MAX_DELAY`], so that a killed process loses little. When the disk is full, the writer frees the reserve.
//! The data measured so far and the reason for the end can then still be written.

mod batch;

use crate::error::{Attempt, Error, ErrorCause, Result};
use crate::file::{self, DiskReserve};
use crate::guard;
use crate::read::{Run, State};
use crate::record::{FactRecord, RunHeader, RunOutcome, TrialEnd, TrialHeader, TrialId};
use crate::stop_request;
use crate::write::{Message, RunDatabase};
use batch::Batch;
use model::fact::Fact;
use model::{LogEvent, Sample, Tick};
use rusqlite::ErrorCode;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Instant;

/// Reason why the run can no longer be recorded completely. The load must then stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteError {
    /// The disk is full, and the reserve is in use.
    DiskFull,
    /// The operating system or SQLite reported an error; the text is its message.
    Refused(String),
    /// More than [`BACKLOG`] messages wait for the disk, and further messages are lost.
    BacklogFull,
}

/// Maximum number of messages in the queue: the ticks of about a minute, which take some megabytes each.
const BACKLOG: usize = 64;

/// Creates `<name>-<UTC time>.dyno` in `dir` and writes the header. Creates `dir` if it does not exist.
pub fn create(dir: &Path, header: &RunHeader) -> Result<Writer> {
    let path = file::create_run_file(dir, &header.name, header.begun_ms)?;
    let writer = DiskReserve::allocate_near(&path)
        .and_then(|reserve| Writer::start(&path, reserve, RunDatabase::open(&path, header)?, 0));
    if writer.is_err() {
        // Remove the file, because it is empty and no other process uses it.
        let _ = std::fs::remove_file(&path);
    }
    writer
}

/// Writer of one run. A writer that is dropped without [`Writer::finish`] marks the run as interrupted.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    messages: Option<SyncSender<Message>>,
    thread: Option<JoinHandle<rusqlite::Result<()>>>,
    write_error: Arc<OnceLock<WriteError>>,
    trials: u32,
}

/// Resumes a run that has ended, or whose process has ended. Further trials are appended.
///
/// A trial that was running counts as interrupted. `now_ms` is the Unix time in milliseconds. Fails for a run that is
/// being written, and for a run of another version.
pub fn resume(path: &Path, now_ms: u64) -> Result<Writer> {
    let path = std::fs::canonicalize(path).map_err(Error::system(path, Attempt::Open))?;
    // Opening rolls back the last transaction of a killed writer, and rejects files that are not runs.
    let run = Run::open(&path)?;
    if run.state()? == State::Running {
        return Err(Error::new(&path, ErrorCause::Busy));
    }
    let upgrade = run.legacy_facts()?;
    drop(run);
    guard::check_journal(&path)?;
    let reserve = DiskReserve::allocate_near(&path)?;
    let (database, trials) = RunDatabase::reopen(&path, upgrade.as_deref(), now_ms)?;
    Writer::start(&path, reserve, database, trials)
}

impl Writer {
    fn start(path: &Path, reserve: DiskReserve, database: RunDatabase, trials: u32) -> Result<Writer> {
        let (sender, receiver) = sync_channel(BACKLOG);
        let error = Arc::new(OnceLock::new());
        let mut writer_thread =
            WriterThread { database, reserve: Some(reserve), write_error: error.clone(), sqlite_error: None };
        let thread = thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || {
                writer_thread.run(&receiver);
                writer_thread.close()
            })
            .map_err(Error::system(path, Attempt::StartThread))?;
        Ok(Writer {
            path: path.to_owned(),
            messages: Some(sender),
            thread: Some(thread),
            write_error: error,
            trials,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// First error; `None` without an error. After an error, the load must stop.
    pub fn error(&self) -> Option<&WriteError> {
        self.write_error.get()
    }

    /// Begins a trial. Call this before the load begins, because it may wait for queued messages.
    pub fn begin_trial(&mut self, trial: TrialHeader) -> TrialId {
        // A number that exceeds the maximum is rejected by the table.
        self.trials = self.trials.saturating_add(1);
        let id = TrialId(self.trials);
        self.send(Message::Begin(id, trial));
        id
    }

    /// Queues a tick without waiting.
    ///
    /// The interval has counts for each operation of the trial. The last, partial tick must be written too, because the
    /// trial is the sum of its ticks.
    pub fn tick(&self, trial: TrialId, tick: Box<Tick>) {
        self.try_send(Message::Tick(trial, tick));
    }

    /// Queues samples that belong to no tick, such as samples before the first tick, without waiting.
    pub fn samples(&self, trial: TrialId, samples: Vec<Sample>) {
        self.try_send(Message::Samples(trial, samples));
    }

    /// Queues events without waiting.
    pub fn events(&self, trial: TrialId, events: Vec<LogEvent>) {
        self.try_send(Message::Events(trial, events));
    }

    /// Queues a fact of a trial, or of the whole run, without waiting.
    pub fn fact(&self, trial: Option<TrialId>, fact: Fact) {
        self.try_send(Message::Fact(Box::new(FactRecord { trial, fact })));
    }

    /// Ends a trial. Call this after the load has ended, because it may wait for queued messages.
    pub fn end_trial(&self, trial: TrialId, end: TrialEnd) {
        self.send(Message::End(trial, Box::new(end)));
    }

    /// Waits until all messages are in the file or cannot be written. The file can then be read.
    pub fn flush(&self) {
        let (sender, receiver) = sync_channel(1);
        self.send(Message::Flush(sender));
        // The writer thread drops the sender when the messages are written.
        let _ = receiver.recv();
    }

    /// Writes the outcome of the run and closes the file.
    ///
    /// After an error, some data are missing in the file, but the rest can be read.
    pub fn finish(mut self, outcome: RunOutcome) -> Result<PathBuf> {
        self.send(Message::Finish(outcome));
        match self.join() {
            Some(Err(error)) => Err(Error::sqlite(&self.path, Attempt::Write)(error)),
            _ => {
                stop_request::clear_request(&self.path);
                Ok(std::mem::take(&mut self.path))
            }
        }
    }

    fn send(&self, message: Message) {
        let sender = self.messages.as_ref().expect("the sender exists until the writer is dropped");
        sender.send(message).expect("the thread receives until the sender is dropped");
    }

    fn try_send(&self, message: Message) {
        let sender = self.messages.as_ref().expect("the sender exists until the writer is dropped");
        match sender.try_send(message) {
            Ok(()) => {}
            // Only the first error is kept.
            Err(TrySendError::Full(_)) => drop(self.write_error.set(WriteError::BacklogFull)),
            Err(TrySendError::Disconnected(_)) => {
                unreachable!("the thread receives until the sender is dropped")
            }
        }
    }

    fn join(&mut self) -> Option<rusqlite::Result<()>> {
        drop(self.messages.take());
        self.thread.take().map(|it| it.join().expect("writing does not panic"))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Ignore the error, because no caller can receive it any more.
        let _ = self.join();
    }
}

/// State of the writer thread.
struct WriterThread {
    database: RunDatabase,
    reserve: Option<DiskReserve>,
    write_error: Arc<OnceLock<WriteError>>,
    /// First SQLite error that caused a loss of data.
    sqlite_error: Option<rusqlite::Error>,
}

impl WriterThread {
    fn run(&mut self, receiver: &Receiver<Message>) {
        let mut batch = Batch::default();
        loop {
            let next = match batch.time_left(Instant::now()) {
                None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(it) => receiver.recv_timeout(it),
            };
            let ends = matches!(next, Err(RecvTimeoutError::Disconnected));
            let due = next.map_or(true, |it| batch.add(it, Instant::now()));
            if due {
                self.write(&batch.take());
            }
            if ends {
                return;
            }
        }
    }

    /// Writes the messages. After a failure, frees the reserve and retries.
    fn write(&mut self, messages: &[Message]) {
        if messages.is_empty() {
            return;
        }
        let Err(error) = self.database.write(messages) else { return };
        // Only the first error is kept.
        let _ = self.write_error.set(match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => WriteError::DiskFull,
            _ => WriteError::Refused(error.to_string()),
        });
        self.reserve = None;
        if let Err(error) = self.database.write(messages) {
            self.sqlite_error.get_or_insert(error);
        }
    }

    fn close(self) -> rusqlite::Result<()> {
        let closed = self.database.close();
        self.sqlite_error.map_or(closed, Err)
    }
}
