//! Index of the stored runs and cache of their documents
//!
//! A single thread of low priority reads all run files, one query after the other, so that viewers take little CPU time
//! from the measurement. Run files are read in short transactions.

use super::follower::Follower;
use super::snapshot::Snapshot;
use crate::compare::{self, CompareRequest};
use crate::http_server::server;
use hyper::body::Bytes;
use model::message;
use model::message::Message;
use model::percent_encode;
use report::document::document;
use report::html::{HtmlShell, served, to_html};
use report::lang::{self, Lang};
use report::page::{Line, Page, Tone, page};
use report::say;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use store::{ErrorCause, FindError, RunEntry, State};
use tokio::sync::{mpsc, oneshot};

/// Maximum number of pending queries. Further queries are rejected. A connection sends one query at a time, but the
/// queue also contains queries of closed connections, so this limit exceeds the connection limit.
const QUEUE_LENGTH: usize = 1024;

/// Reasons why a query has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryError {
    /// No run has this name.
    Unknown,
    /// Too many queries are pending.
    Busy,
    /// The run has ended.
    Ended,
    /// The run cannot be read.
    Broken(Message),
}

type Job = Box<dyn FnOnce(&mut RunIndex) + Send>;

/// Handle that sends queries to the reader thread.
#[derive(Clone, Debug)]
pub struct RunIndexHandle(SyncSender<Job>);

impl RunIndexHandle {
    /// Starts the thread that reads the runs in `dir`.
    pub fn start(dir: PathBuf) -> std::io::Result<RunIndexHandle> {
        let (sender, receiver) = sync_channel(QUEUE_LENGTH);
        thread::Builder::new().name("page-reader".to_owned()).spawn(move || {
            server::lower_priority();
            serve_queries(&dir, &receiver);
        })?;
        Ok(RunIndexHandle(sender))
    }

    /// Waits for the result of a query. If the queue is full, fails at once.
    pub async fn query<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut RunIndex) -> Result<T, QueryError> + Send + 'static,
    ) -> Result<T, QueryError> {
        let (sender, receiver) = oneshot::channel();
        // Ignore a caller that no longer waits for the result.
        let job: Job = Box::new(move |index| drop(sender.send(question(index))));
        match self.0.try_send(job) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => return Err(QueryError::Busy),
            Err(TrySendError::Disconnected(_)) => {
                unreachable!("the reader thread runs while a handle exists")
            }
        }
        receiver.await.unwrap_or_else(|_| Err(QueryError::Broken(message!("serve-reader-failed"))))
    }
}

/// Interval at which followed runs are polled.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

impl RunIndexHandle {
    /// Polls all followed runs now and waits for the end of the polls. Returns false after a timeout.
    pub fn poll(&self, timeout: Duration) -> bool {
        let (sender, receiver) = sync_channel(1);
        let job: Job = Box::new(move |index| {
            index.poll();
            // Ignore a caller that has timed out.
            let _ = sender.send(());
        });
        self.0.try_send(job).is_ok() && receiver.recv_timeout(timeout).is_ok()
    }
}

fn serve_queries(dir: &Path, receiver: &Receiver<Job>) {
    let mut index = RunIndex::new(dir);
    let mut beat = Instant::now() + POLL_INTERVAL;
    loop {
        let next = match index.followers.is_empty() {
            true => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            false => receiver.recv_timeout(beat.saturating_duration_since(Instant::now())),
        };
        if matches!(next, Err(RecvTimeoutError::Disconnected)) {
            return;
        }
        let work = || match next {
            Ok(job) => job(&mut index),
            Err(_) => {
                beat = Instant::now() + POLL_INTERVAL;
                index.poll();
            }
        };
        // Catch a panic, so that it ends only one query and not the load in the same process.
        if catch_unwind(AssertUnwindSafe(work)).is_err() {
            index = RunIndex::new(dir);
        }
    }
}

/// Runs of one directory.
#[derive(Debug)]
pub struct RunIndex {
    dir: PathBuf,
    /// Running tests that have subscribers, by name.
    followers: HashMap<String, Follower>,
    /// Cached documents, the most recently used document last.
    documents: Vec<CachedDocument>,
    /// Summaries of ended runs, by name.
    summaries: HashMap<String, CachedSummary>,
}

/// Version of a file: its length and modification time.
type FileVersion = (u64, Option<SystemTime>);

/// Document of an ended run.
#[derive(Debug)]
struct CachedDocument {
    name: String,
    file: FileVersion,
    snapshot: Snapshot,
}

/// Summary of a run in one sentence.
#[derive(Debug)]
struct CachedSummary {
    file: FileVersion,
    /// Summary in each language of [`lang::ALL`].
    lines: Vec<Line>,
}

/// All runs, with the summaries read so far.
#[derive(Debug)]
pub struct Listing {
    /// Runs, the newest first. The line of a run in progress is its progress.
    pub runs: Vec<(RunEntry, Option<Line>)>,
    /// True if the time limit passed before all summaries were read. A repeated query returns more summaries.
    pub is_partial: bool,
}

/// Maximum number of cached documents.
const DOCUMENTS_MAX: usize = 8;
const DOCUMENT_BYTES_MAX: usize = 64 << 20;
/// Time limit for reading summaries while a viewer waits for the list.
const LIST_TIME_MAX: Duration = Duration::from_millis(250);

impl RunIndex {
    fn new(dir: &Path) -> RunIndex {
        RunIndex {
            dir: dir.to_owned(),
            followers: HashMap::new(),
            documents: Vec::new(),
            summaries: HashMap::new(),
        }
    }

    /// Lists all runs. `lang` is an index into [`lang::ALL`].
    pub fn list(&mut self, lang: usize) -> Result<Listing, QueryError> {
        let begun = Instant::now();
        let all = store::list(&self.dir).map_err(|it| query_error(&it))?;
        self.summaries.retain(|name, _| all.iter().any(|it| it.name == *name));
        let mut more = false;
        let mut runs = Vec::with_capacity(all.len());
        for run in all {
            let ended = run.overview.as_ref().is_ok_and(|it| it.state != State::Running);
            let is_running = run.overview.as_ref().is_ok_and(|it| it.state == State::Running);
            let line = match is_running {
                false if ended => self.summary(&run, lang, begun.elapsed() < LIST_TIME_MAX),
                false => None,
                // A run that has ended meanwhile has a summary in the next list.
                true => self
                    .follower(&run.name)
                    .ok()
                    .flatten()
                    .map(|follower| Line { text: follower.headline(&lang::all()[lang]), tone: Tone::Plain }),
            };
            more |= ended && line.is_none();
            runs.push((run, line));
        }
        Ok(Listing { runs, is_partial: more })
    }

    /// Summary of an ended run. `None` if it is not cached and `read` is false.
    fn summary(&mut self, entry: &RunEntry, lang: usize, read: bool) -> Option<Line> {
        // A run that was removed in the meantime counts as unreadable.
        let file = file_version(&entry.path).unwrap_or_default();
        if let Some(known) = self.summaries.get(&entry.name).filter(|it| it.file == file) {
            return Some(known.lines[lang].clone());
        }
        if !read {
            return None;
        }
        let lines: Vec<Line> = match crate::run_result::from_file(&entry.path) {
            Ok(account) => lang::all().iter().map(|it| report::page::headline(&account, it)).collect(),
            Err(error) => lang::all()
                .iter()
                .map(|it| Line { text: it.unreadable(&it.message(&error.message)), tone: Tone::Bad })
                .collect(),
        };
        let line = lines[lang].clone();
        self.summaries.insert(entry.name.clone(), CachedSummary { file, lines });
        Some(line)
    }

    /// Path of the run with exactly this name.
    pub fn find(&self, name: &str) -> Result<PathBuf, QueryError> {
        store::find_exact(&self.dir, name).map_err(|it| query_error(&it))
    }

    /// Name of the run to which `text` refers: a whole name, or another text that `store::find_in` accepts.
    pub fn resolve(&self, text: &str) -> Result<String, QueryError> {
        let found = store::find_in(&self.dir, text).map_err(|error| match error {
            FindError::Unreadable(error) => query_error(&error),
            FindError::Unknown { .. } | FindError::Ambiguous { .. } => QueryError::Unknown,
        })?;
        Ok(found.path.file_stem().unwrap_or_default().to_string_lossy().into_owned())
    }

    /// Data of a run's page. `lang` is an index into [`report::lang::ALL`].
    pub fn document(&mut self, name: &str, lang: usize) -> Result<Bytes, QueryError> {
        if let Some(growth) = self.follower(name)? {
            return growth.document(lang).map_err(|it| QueryError::Broken(it.message));
        }
        let path = self.find(name)?;
        let file = file_version(&path).map_err(|it| QueryError::Broken((&it).into()))?;
        let cached = self.documents.iter().position(|it| it.name == name).map(|at| self.documents.remove(at));
        let cached = match cached.filter(|it| it.file == file) {
            Some(it) => it,
            None => {
                let snapshot = Snapshot::build(&path, 0, false, None, None)
                    .map_err(|it| QueryError::Broken(it.message))?;
                CachedDocument { name: name.to_owned(), file, snapshot }
            }
        };
        let text = cached.snapshot.document(lang).clone();
        self.documents.push(cached);
        let bytes = |cached: &[CachedDocument]| cached.iter().map(|it| it.snapshot.bytes()).sum::<usize>();
        while self.documents.len() > 1
            && (self.documents.len() > DOCUMENTS_MAX || bytes(&self.documents) > DOCUMENT_BYTES_MAX)
        {
            self.documents.remove(0);
        }
        Ok(text)
    }

    /// Events of a run; `None` if it has ended. `last` is the id of the last received event.
    pub fn subscribe(
        &mut self,
        name: &str,
        last: Option<&str>,
        lang: usize,
    ) -> Result<Option<mpsc::Receiver<Bytes>>, QueryError> {
        let Some(growth) = self.follower(name)? else { return Ok(None) };
        growth.subscribe(last, lang).map(Some).map_err(|it| QueryError::Broken(it.message))
    }

    /// Report of a run as one self-contained file.
    pub fn report(&self, name: &str, lang: &'static Lang) -> Result<String, QueryError> {
        let path = self.find(name)?;
        let account = crate::run_result::from_file(&path).map_err(|it| QueryError::Broken(it.message))?;
        let pages: Vec<Page> = lang::all().iter().map(|it| page(&account, it)).collect();
        let (title, no_script) = (&account.experiment.name, &say!(lang, "web-no_script"));
        let shell = HtmlShell { lang: lang.code(), title, no_script, live: false };
        Ok(to_html(shell, &document(&account, &pages, lang.code(), None)))
    }

    /// Page that compares the first of these runs with the other runs.
    pub fn compare(&self, names: &[String], lang: &'static Lang) -> Result<String, QueryError> {
        let paths: Vec<PathBuf> =
            names.iter().map(|it| self.find(&self.resolve(it)?)).collect::<Result<_, _>>()?;
        let compared = compare::compare_files(&paths, CompareRequest::default())
            .map_err(|it| QueryError::Broken(it.message))?;
        if let Some(error) = compared.unreadable.first() {
            return Err(QueryError::Broken(error.message.clone()));
        }
        let experiment = compared.experiment;
        let comparison = compared
            .comparison
            .unwrap_or_else(|_| unreachable!("only conditions have diagnostics, and there are none"));
        let page = |lang: &Lang| {
            let mut page = report::comparison::page(&comparison, lang.for_experiment(&experiment));
            page.words.extend(lang.catalogue().with_prefix("bar-"));
            page
        };
        let title = page(lang).title;
        let no_script = &say!(lang, "web-no_script");
        let shell = HtmlShell { lang: lang.code(), title: &title, no_script, live: false };
        Ok(served(shell, &[("home", "/")], Some(&compare::page_document(&page, lang))))
    }

    /// Requests that the process that writes the run ends it.
    pub fn stop(&self, name: &str) -> Result<(), QueryError> {
        let path = self.find(name)?;
        match store::Run::open(&path).and_then(|it| it.state()).map_err(|it| query_error(&it))? {
            State::Running => store::request_stop(&path).map_err(|it| query_error(&it)),
            _ => Err(QueryError::Ended),
        }
    }

    /// Sends new data to the subscribers of all followed runs.
    pub fn poll(&mut self) {
        // Remove followers of ended and unreadable runs. Subscribers of an unreadable run reconnect and receive the
        // error.
        self.followers.retain(|_, it| it.poll().is_ok() && !it.is_over());
    }

    /// Follower of a run; `None` if the run has ended.
    fn follower(&mut self, name: &str) -> Result<Option<&mut Follower>, QueryError> {
        if !self.followers.contains_key(name) {
            let path = self.find(name)?;
            let state = store::Run::open(&path).and_then(|it| it.state()).map_err(|it| query_error(&it))?;
            if state != State::Running {
                return Ok(None);
            }
            let events = format!("/runs/{}/events", percent_encode(name));
            let growth = Follower::open(&path, events).map_err(|it| QueryError::Broken(it.message))?;
            self.followers.insert(name.to_owned(), growth);
        }
        Ok(self.followers.get_mut(name))
    }
}

fn file_version(path: &Path) -> std::io::Result<FileVersion> {
    let meta = std::fs::metadata(path)?;
    Ok((meta.len(), meta.modified().ok()))
}

fn query_error(error: &store::Error) -> QueryError {
    match &error.cause {
        ErrorCause::NotFound => QueryError::Unknown,
        _ => QueryError::Broken(error.into()),
    }
}
