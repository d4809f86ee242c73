//! Which runs are there, and what is in them?
//!
//! All reading is done by one thread of low priority, one question after the other, so that however many look,
//! little of the machine is taken from what is being measured. Run files are read in short transactions.

use super::edition::Edition;
use super::growth::Growth;
use crate::compare::{self, Asked};
use hyper::body::Bytes;
use report::document::document;
use report::html::{Shell, html, served};
use report::lang::page::Word;
use report::lang::serve::Shown;
use report::lang::{self, Lang};
use report::page::{Line, Page, Tone, page};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use store::{Listed, State, Wrong};
use tokio::sync::{mpsc, oneshot};

/// Questions that wait for an answer; further ones are turned away. More than there are connections, each of which asks one
/// at a time: those of connections that have gone are among them.
const WAITING: usize = 1024;

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
            super::low_priority();
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

/// What happens to a run is looked at so often while somebody watches.
const BEAT: Duration = Duration::from_secs(1);

impl Desk {
    /// Has those who watch be told now, and waits for that; false if it took longer.
    pub fn look(&self, patience: Duration) -> bool {
        let (say, said) = sync_channel(1);
        let job: Job = Box::new(move |shelf| {
            shelf.look();
            // Who waited may have given up.
            let _ = say.send(());
        });
        self.0.try_send(job).is_ok() && said.recv_timeout(patience).is_ok()
    }
}

fn read(dir: &Path, said: &Receiver<Job>) {
    let mut shelf = Shelf::new(dir);
    let mut beat = Instant::now() + BEAT;
    loop {
        let next = match shelf.growing.is_empty() {
            true => said.recv().map_err(|_| RecvTimeoutError::Disconnected),
            false => said.recv_timeout(beat.saturating_duration_since(Instant::now())),
        };
        if matches!(next, Err(RecvTimeoutError::Disconnected)) {
            return;
        }
        let work = || match next {
            Ok(job) => job(&mut shelf),
            Err(_) => {
                beat = Instant::now() + BEAT;
                shelf.look();
            }
        };
        // A mistake of ours ends one answer, not the load in the same process.
        if catch_unwind(AssertUnwindSafe(work)).is_err() {
            shelf = Shelf::new(dir);
        }
    }
}

/// The runs of one directory.
#[derive(Debug)]
pub struct Shelf {
    dir: PathBuf,
    /// By name: those that are being written and that somebody watches.
    growing: HashMap<String, Growth>,
    /// The one that was asked for last at the end.
    kept: Vec<Kept>,
    /// By name: of those that have ended.
    answers: HashMap<String, Answer>,
}

/// A file as it was: its length, and when it was written last.
type Seen = (u64, Option<SystemTime>);

/// The document of a run that has ended.
#[derive(Debug)]
struct Kept {
    name: String,
    file: Seen,
    edition: Edition,
}

/// What a run says in one sentence.
#[derive(Debug)]
struct Answer {
    file: Seen,
    /// By language, as in [`lang::ALL`].
    lines: Vec<Line>,
}

/// All runs, and what they say as far as it was read.
#[derive(Debug)]
pub struct Listing {
    /// The newest first. A run that goes on says nothing yet.
    pub runs: Vec<(Listed, Option<Line>)>,
    /// Some were not read for want of time: who asks again gets more.
    pub more: bool,
}

/// So many documents are kept, and at most so many bytes of them.
const KEPT: usize = 8;
const KEPT_BYTES: usize = 64 << 20;
/// To read answers in while somebody waits for the list.
const LISTING: Duration = Duration::from_millis(250);

impl Shelf {
    fn new(dir: &Path) -> Shelf {
        Shelf { dir: dir.to_owned(), growing: HashMap::new(), kept: Vec::new(), answers: HashMap::new() }
    }

    /// All runs; their answers in this language, an index into [`lang::ALL`].
    pub fn list(&mut self, lang: usize) -> Result<Listing, Lack> {
        let begun = Instant::now();
        let all = store::list(&self.dir).map_err(|it| lack(&it))?;
        self.answers.retain(|name, _| all.iter().any(|it| it.name == *name));
        let mut more = false;
        let mut runs = Vec::with_capacity(all.len());
        for it in all {
            let ended = it.content.as_ref().is_ok_and(|it| it.state != State::Running);
            let line = if ended { self.answer(&it, lang, begun.elapsed() < LISTING) } else { None };
            more |= ended && line.is_none();
            runs.push((it, line));
        }
        Ok(Listing { runs, more })
    }

    /// What a run that has ended says; `None` if it was not read before and may not be `read` now.
    fn answer(&mut self, it: &Listed, lang: usize, read: bool) -> Option<Line> {
        // One that has gone meanwhile cannot be read either.
        let file = seen(&it.path).unwrap_or_default();
        if let Some(known) = self.answers.get(&it.name).filter(|it| it.file == file) {
            return Some(known.lines[lang].clone());
        }
        if !read {
            return None;
        }
        let lines: Vec<Line> = match crate::account::of(&it.path) {
            Ok(account) => lang::ALL.iter().map(|it| report::page::answer(&account, *it)).collect(),
            Err(why) => {
                lang::ALL.iter().map(|it| Line { text: it.unreadable(&why.what), tone: Tone::Bad }).collect()
            }
        };
        let line = lines[lang].clone();
        self.answers.insert(it.name.clone(), Answer { file, lines });
        Some(line)
    }

    /// The file of exactly this name.
    pub fn find(&self, name: &str) -> Result<PathBuf, Lack> {
        store::exact(&self.dir, name).map_err(|it| lack(&it))
    }

    /// What the page of a run shows, in this language, an index into [`report::lang::ALL`].
    pub fn document(&mut self, name: &str, lang: usize) -> Result<Bytes, Lack> {
        if let Some(growth) = self.growth(name)? {
            return growth.document(lang).map_err(|it| Lack::Broken(it.what));
        }
        let path = self.find(name)?;
        let file = seen(&path).map_err(|it| Lack::Broken(it.to_string()))?;
        let kept = self.kept.iter().position(|it| it.name == name).map(|at| self.kept.remove(at));
        let kept = match kept.filter(|it| it.file == file) {
            Some(it) => it,
            None => {
                let edition =
                    Edition::make(&path, 0, false, None, None).map_err(|it| Lack::Broken(it.what))?;
                Kept { name: name.to_owned(), file, edition }
            }
        };
        let text = kept.edition.text(lang).clone();
        self.kept.push(kept);
        let bytes = |kept: &[Kept]| kept.iter().map(|it| it.edition.bytes()).sum::<usize>();
        while self.kept.len() > 1 && (self.kept.len() > KEPT || bytes(&self.kept) > KEPT_BYTES) {
            self.kept.remove(0);
        }
        Ok(text)
    }

    /// What happens to a run; `None` if nothing does any more. `last`: the event that was seen last.
    pub fn watch(
        &mut self,
        name: &str,
        last: Option<&str>,
        lang: usize,
    ) -> Result<Option<mpsc::Receiver<Bytes>>, Lack> {
        let Some(growth) = self.growth(name)? else { return Ok(None) };
        growth.watch(last, lang).map(Some).map_err(|it| Lack::Broken(it.what))
    }

    /// One file with all of it.
    pub fn report(&self, name: &str, lang: &'static dyn Lang) -> Result<String, Lack> {
        let path = self.find(name)?;
        let account = crate::account::of(&path).map_err(|it| Lack::Broken(it.what))?;
        let pages: Vec<Page> = lang::ALL.iter().map(|it| page(&account, *it)).collect();
        let no_script = lang.word(Word::NoScript);
        let shell = Shell { lang: lang.code(), title: &account.experiment.name, no_script, live: false };
        Ok(html(shell, &document(&account, &pages, lang.code(), None)))
    }

    /// A page on what changed from the first of these runs to the others.
    pub fn compare(&self, names: &[String], lang: &'static dyn Lang) -> Result<String, Lack> {
        let paths: Vec<PathBuf> = names.iter().map(|it| self.find(it)).collect::<Result<_, _>>()?;
        let compared = compare::of(&paths, Asked::default()).map_err(|it| Lack::Broken(it.what))?;
        if let Some(it) = compared.unreadable.first() {
            return Err(Lack::Broken(it.what.clone()));
        }
        let comparison = compared
            .comparison
            .unwrap_or_else(|_| unreachable!("mistakes stand in conditions, and there are none"));
        let page = |lang: &dyn Lang| {
            let mut page = report::comparison::page(&comparison, lang);
            page.words.extend(Shown::BAR.map(|(key, word)| (key, lang.shown(word).to_owned())));
            page
        };
        let title = page(lang).title;
        let shell =
            Shell { lang: lang.code(), title: &title, no_script: lang.word(Word::NoScript), live: false };
        Ok(served(shell, &[("home", "/")], Some(&compare::document(&page, lang))))
    }

    /// Asks the process that writes the run to end it.
    pub fn stop(&self, name: &str) -> Result<(), Lack> {
        let path = self.find(name)?;
        match store::Run::open(&path).and_then(|it| it.state()).map_err(|it| lack(&it))? {
            State::Running => store::ask_to_end(&path).map_err(|it| lack(&it)),
            _ => Err(Lack::Ended),
        }
    }

    /// Tells those who watch what is new.
    pub fn look(&mut self) {
        // Who watched one that cannot be read any more comes back and is told why.
        self.growing.retain(|_, it| it.look().is_ok() && !it.is_over());
    }

    /// `None` for one that has ended.
    fn growth(&mut self, name: &str) -> Result<Option<&mut Growth>, Lack> {
        if !self.growing.contains_key(name) {
            let path = self.find(name)?;
            let state = store::Run::open(&path).and_then(|it| it.state()).map_err(|it| lack(&it))?;
            if state != State::Running {
                return Ok(None);
            }
            let events = format!("/runs/{}/events", super::path::encode(name));
            let growth = Growth::open(&path, events).map_err(|it| Lack::Broken(it.what))?;
            self.growing.insert(name.to_owned(), growth);
        }
        Ok(self.growing.get_mut(name))
    }
}

fn seen(path: &Path) -> std::io::Result<Seen> {
    let meta = std::fs::metadata(path)?;
    Ok((meta.len(), meta.modified().ok()))
}

fn lack(it: &store::Error) -> Lack {
    match &it.wrong {
        Wrong::Unknown => Lack::Unknown,
        _ => Lack::Broken(it.to_string()),
    }
}
