//! Which runs are there, and what is in them?
//!
//! All reading is done by one thread of the lowest priority, one question after the other, so that however many look,
//! little of the machine is taken from what is being measured. Run files are read in short transactions.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use store::{Listed, State, Wrong};
use tokio::sync::oneshot;

/// Questions that wait for an answer; further ones are turned away.
const WAITING: usize = 64;
/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lack {
    /// There is no such run.
    Unknown,
    /// Too many ask.
    Busy,
    /// It does not run any more.
    Ended,
    /// It cannot be read.
    Broken(String),
}

type Job = Box<dyn FnOnce(&mut Shelf) + Send>;

/// Where questions are put.
#[derive(Clone, Debug)]
pub struct Desk(SyncSender<Job>);

impl Desk {
    /// Starts the thread that reads the runs in `dir`.
    pub fn start(dir: PathBuf) -> std::io::Result<Desk> {
        let (say, said) = sync_channel(WAITING);
        thread::Builder::new().name("page-reader".to_owned()).spawn(move || {
            super::lowest_priority();
            read(&dir, &said);
        })?;
        Ok(Desk(say))
    }

    /// Waits for the answer; not for its turn to be put.
    pub async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Shelf) -> Result<T, Lack> + Send + 'static,
    ) -> Result<T, Lack> {
        let (say, said) = oneshot::channel();
        // Who asked may have gone.
        let job: Job = Box::new(move |shelf| drop(say.send(question(shelf))));
        match self.0.try_send(job) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => return Err(Lack::Busy),
            Err(TrySendError::Disconnected(_)) => {
                unreachable!("the thread reads as long as somebody may ask")
            }
        }
        said.await
            .unwrap_or_else(|_| Err(Lack::Broken("it could not be read; standard error says why".to_owned())))
    }
}

fn read(dir: &Path, said: &Receiver<Job>) {
    let mut shelf = Shelf::new(dir);
    while let Ok(job) = said.recv() {
        // A mistake of ours ends one answer, not the load in the same process.
        if catch_unwind(AssertUnwindSafe(|| job(&mut shelf))).is_err() {
            shelf = Shelf::new(dir);
        }
    }
}

/// The runs of one directory.
#[derive(Debug)]
pub struct Shelf {
    dir: PathBuf,
}

impl Shelf {
    fn new(dir: &Path) -> Shelf {
        Shelf { dir: dir.to_owned() }
    }

    /// All runs, the newest first.
    pub fn list(&self) -> Result<Vec<Listed>, Lack> {
        store::list(&self.dir).map_err(|it| lack(&it))
    }

    /// The file of exactly this name.
    pub fn find(&self, name: &str) -> Result<PathBuf, Lack> {
        store::exact(&self.dir, name).map_err(|it| lack(&it))
    }

    /// Asks the process that writes the run to end it.
    pub fn stop(&self, name: &str) -> Result<(), Lack> {
        let path = self.find(name)?;
        match store::Run::open(&path).and_then(|it| it.state()).map_err(|it| lack(&it))? {
            State::Running => store::ask_to_end(&path).map_err(|it| lack(&it)),
            _ => Err(Lack::Ended),
        }
    }
}

fn lack(it: &store::Error) -> Lack {
    match &it.wrong {
        Wrong::Unknown => Lack::Unknown,
        _ => Lack::Broken(it.to_string()),
    }
}
