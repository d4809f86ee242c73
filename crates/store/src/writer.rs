//! How does a run get to the disk without anybody waiting for the disk?
//!
//! A thread of its own writes, one transaction per tick. What comes between ticks waits for the next one, for a second at
//! most. When the disk is full, the reserve is given back: what was measured until then, and why it ended, still fits.

use crate::error::{Error, ErrorCause, Result};
use crate::file::{self, DiskReserve};
use crate::guard;
use crate::read::{Run, State};
use crate::record::{Note, RunHeader, RunOutcome, TrialEnd, TrialHeader, TrialId};
use crate::stop_request;
use crate::write::{Message, RunDatabase};
use model::{LogEvent, Sample, Tick};
use rusqlite::ErrorCode;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Why the run cannot be kept as it should: the load is to be stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteError {
    /// No room is left. The reserve is in use.
    DiskFull,
    /// The system or SQLite refused to write, in its words.
    Refused(String),
    /// More than [`BACKLOG`] ticks wait for the disk; further ones are lost.
    BacklogFull,
}

/// Messages under way to the disk: a minute's ticks, some megabytes each, where nothing else is told.
const BACKLOG: usize = 64;

/// What was told outside of ticks waits so long for company, and at most for so much.
const BATCH_DELAY: Duration = Duration::from_millis(500);
const BATCH_SIZE: usize = 32;

/// Begins a run: makes `<name>-<UTC time>.dyno` in `dir`, which is made too if need be, and writes the header.
pub fn create(dir: &Path, header: &RunHeader) -> Result<Writer> {
    let path = file::create_run_file(dir, &header.name, header.begun_ms)?;
    let writer = DiskReserve::allocate_near(&path)
        .and_then(|reserve| Writer::start(&path, reserve, RunDatabase::open(&path, header)?, 0));
    if writer.is_err() {
        // Nothing is in it, and nobody else knows it.
        let _ = std::fs::remove_file(&path);
    }
    writer
}

/// One run, as long as it is written. Dropping it without [`Writer::finish`] leaves a run that was interrupted.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    messages: Option<SyncSender<Message>>,
    thread: Option<JoinHandle<rusqlite::Result<()>>>,
    trouble: Arc<OnceLock<WriteError>>,
    trials: u32,
}

/// Goes on with a run that has ended, or whose process was ended: further trials follow those that are there. A trial that
/// was under way then counts as interrupted. `now_ms`: Unix time in milliseconds. Refuses a run that is being written, and
/// one of another version.
pub fn resume(path: &Path, now_ms: u64) -> Result<Writer> {
    let path = std::fs::canonicalize(path).map_err(Error::system(path, "open"))?;
    // A killed writer's last transaction is taken back, and what is not a run of ours refused.
    if Run::open(&path)?.state()? == State::Running {
        return Err(Error::new(&path, ErrorCause::Busy));
    }
    guard::check_journal(&path)?;
    let reserve = DiskReserve::allocate_near(&path)?;
    let (desk, trials) = RunDatabase::reopen(&path, now_ms)?;
    Writer::start(&path, reserve, desk, trials)
}

impl Writer {
    fn start(path: &Path, reserve: DiskReserve, desk: RunDatabase, trials: u32) -> Result<Writer> {
        let (say, said) = sync_channel(BACKLOG);
        let trouble = Arc::new(OnceLock::new());
        let mut clerk = WriterThread {
            database: desk,
            reserve: Some(reserve),
            trouble: trouble.clone(),
            sqlite_error: None,
        };
        let thread = thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || {
                clerk.run(&said);
                clerk.close()
            })
            .map_err(Error::system(path, "start a thread that writes"))?;
        Ok(Writer { path: path.to_owned(), messages: Some(say), thread: Some(thread), trouble, trials })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Why the load is to be stopped, as soon as there is a reason; it does not go away.
    pub fn error(&self) -> Option<&WriteError> {
        self.trouble.get()
    }

    /// May wait for what is under way; before the load begins.
    pub fn begin_trial(&mut self, trial: TrialHeader) -> TrialId {
        // One too many is refused by the table.
        self.trials = self.trials.saturating_add(1);
        let id = TrialId(self.trials);
        self.send(Message::Begin(id, trial));
        id
    }

    /// Never waits. The interval has a cell for each operation of the trial. The last, partial one must be told as well:
    /// the ticks of a trial together are the whole.
    pub fn tick(&self, trial: TrialId, tick: Box<Tick>) {
        self.try_send(Message::Tick(trial, tick));
    }

    /// Never waits. For samples that belong to no tick, such as those before the first.
    pub fn samples(&self, trial: TrialId, samples: Vec<Sample>) {
        self.try_send(Message::Samples(trial, samples));
    }

    /// Never waits.
    pub fn events(&self, trial: TrialId, events: Vec<LogEvent>) {
        self.try_send(Message::Events(trial, events));
    }

    /// Never waits.
    pub fn note(&self, note: Note) {
        self.try_send(Message::Note(note));
    }

    /// May wait for what is under way; after the load has ended.
    pub fn end_trial(&self, trial: TrialId, end: TrialEnd) {
        self.send(Message::End(trial, Box::new(end)));
    }

    /// Waits until all that was told is in the file, or cannot be: for whoever is to read it next.
    pub fn flush(&self) {
        let (say, said) = sync_channel(1);
        self.send(Message::Flush(say));
        // It is dropped with the messages that are written.
        let _ = said.recv();
    }

    /// Writes how the run ended and leaves one file. An error tells why some of it is not there; what is can be read.
    pub fn finish(mut self, outcome: RunOutcome) -> Result<PathBuf> {
        self.send(Message::Finish(outcome));
        match self.join() {
            Some(Err(error)) => Err(Error::sqlite(&self.path, "write")(error)),
            _ => {
                stop_request::clear_request(&self.path);
                Ok(std::mem::take(&mut self.path))
            }
        }
    }

    fn send(&self, message: Message) {
        let say = self.messages.as_ref().expect("it is there until the writer is dropped");
        say.send(message).expect("the thread listens until then");
    }

    fn try_send(&self, message: Message) {
        let say = self.messages.as_ref().expect("it is there until the writer is dropped");
        match say.try_send(message) {
            Ok(()) => {}
            // The first trouble is told.
            Err(TrySendError::Full(_)) => drop(self.trouble.set(WriteError::BacklogFull)),
            Err(TrySendError::Disconnected(_)) => unreachable!("the thread listens until then"),
        }
    }

    fn join(&mut self) -> Option<rusqlite::Result<()>> {
        drop(self.messages.take());
        self.thread.take().map(|it| it.join().expect("writing does not panic"))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Nobody is left to be told.
        let _ = self.join();
    }
}

/// The thread that writes.
struct WriterThread {
    database: RunDatabase,
    reserve: Option<DiskReserve>,
    trouble: Arc<OnceLock<WriteError>>,
    /// Why something was lost.
    sqlite_error: Option<rusqlite::Error>,
}

impl WriterThread {
    fn run(&mut self, said: &Receiver<Message>) {
        let mut waiting = Vec::new();
        loop {
            let next = match waiting.is_empty() {
                true => said.recv().map_err(|_| RecvTimeoutError::Disconnected),
                false => said.recv_timeout(BATCH_DELAY),
            };
            let ends = matches!(next, Err(RecvTimeoutError::Disconnected));
            let rests = next.is_err();
            let counts =
                !matches!(next, Ok(Message::Samples(..) | Message::Events(..) | Message::Note(_)) | Err(_));
            waiting.extend(next);
            if counts || rests || waiting.len() >= BATCH_SIZE {
                self.write(&waiting);
                waiting.clear();
            }
            if ends {
                return;
            }
        }
    }

    /// Tries again with the room of the reserve.
    fn write(&mut self, messages: &[Message]) {
        if messages.is_empty() {
            return;
        }
        let Err(error) = self.database.write(messages) else { return };
        // The first trouble is told.
        let _ = self.trouble.set(match error.sqlite_error_code() {
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
