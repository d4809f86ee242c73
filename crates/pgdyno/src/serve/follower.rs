//! How does a run grow, and who watches it?
//!
//! Each second its new ticks are read, in short transactions, and those who watch are told. All of the run is read only
//! when a trial has begun or ended, or when something is to be drawn that the document has no track for.

use super::snapshot::{Snapshot, SnapshotLag, extent};
use crate::cli::CommandError;
use crate::clock::unix_time;
use crate::run_result::stored::load_duration;
use analysis::chart::ChartBuilder;
use hyper::body::Bytes;
use model::chart::Charts;
use model::plan::{Experiment, Setup};
use report::lang::Lang;
use report::live_events::{sse_event, state_event};
use serde::Deserialize;
use std::path::Path;
use std::time::Duration;
use store::{Run, RunProgress, State, TrialId};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Events under way to one browser. Who is further behind is let go, comes back, and gets what is there then.
const QUEUE_LENGTH: usize = 32;
/// Those who watch one run; where there are more, the one who came first goes.
const SUBSCRIBERS_MAX: usize = 128;
/// So many looks after the last one was interested, the run is closed.
const IDLE_POLLS_MAX: u32 = 30;
/// New tracks wait at least so long for others: they come in crowds.
const TRACK_DELAY: Duration = Duration::from_secs(5);

/// A run that is being written, and those who watch it.
#[derive(Debug)]
pub struct Follower {
    run: Run,
    /// Where its news are, as the document says it.
    events: String,
    /// By cell.
    setups: Vec<Setup>,
    /// Of all cells.
    trials: Option<usize>,
    glance: RunProgress,
    trial: Option<FollowedTrial>,
    snapshot: Option<Snapshot>,
    lag: SnapshotLag,
    /// Of the next edition; unlike those of any other process.
    number: u64,
    subscribers: Vec<Subscriber>,
    idle_polls: u32,
}

/// The trial that goes on.
#[derive(Debug)]
struct FollowedTrial {
    id: TrialId,
    charting: ChartBuilder,
    /// That were read.
    ticks: usize,
    events: usize,
    /// Whole points only.
    charts: Charts,
}

#[derive(Debug)]
struct Subscriber {
    /// That its document shows first: an index into [`report::lang::ALL`].
    lang: usize,
    sender: Sender<Bytes>,
}

impl Follower {
    /// Begins to look at a run. `events`: where its news are.
    pub fn open(path: &Path, events: String) -> Result<Follower, CommandError> {
        let run = Run::open(path).map_err(|it| store_error(&it))?;
        let header = run.header().map_err(|it| store_error(&it))?;
        let experiment = Experiment::deserialize(&header.experiment).map_err(|error| {
            CommandError::new(format!("{} was written by another version: {error}", path.display()))
        })?;
        let trials = experiment.trials();
        let mut growth = Follower {
            run,
            events,
            setups: experiment.cells.into_iter().map(|it| it.setup).collect(),
            trials,
            glance: RunProgress { state: State::Running, started: 0, finished: 0 },
            trial: None,
            snapshot: None,
            lag: SnapshotLag::None,
            number: unix_time().0 / 1000,
            subscribers: Vec::new(),
            idle_polls: 0,
        };
        growth.read()?;
        Ok(growth)
    }

    /// Whether it need not be looked at any more.
    pub fn is_over(&self) -> bool {
        self.idle_polls > IDLE_POLLS_MAX || !self.is_running()
    }

    pub fn is_running(&self) -> bool {
        self.glance.state == State::Running
    }

    /// The document that shows this language first, an index into [`report::lang::ALL`].
    pub fn document(&mut self, lang: usize) -> Result<Bytes, CommandError> {
        self.idle_polls = 0;
        if self.snapshot.is_none() {
            self.read()?;
            self.rebuild(false)?;
        }
        Ok(self.snapshot.as_ref().expect("it was made").document(lang).clone())
    }

    /// What happens from now on, and what has happened since the event of the id `last`.
    pub fn subscribe(&mut self, last: Option<&str>, lang: usize) -> Result<Receiver<Bytes>, CommandError> {
        self.document(lang)?;
        let edition = self.snapshot.as_ref().expect("the document is its");
        let stands = edition.resume_position(last);
        let mut text = String::from("retry: 2000\n\n");
        if stands.is_none() {
            text += &edition.replace_event(lang);
        }
        text += &self.append_event(stands.unwrap_or(edition.initial));
        text += &self.progress_event();
        let (say, said) = channel(QUEUE_LENGTH);
        say.try_send(Bytes::from(text)).expect("nothing is in it yet");
        if self.subscribers.len() >= SUBSCRIBERS_MAX {
            self.subscribers.remove(0);
        }
        self.subscribers.push(Subscriber { lang, sender: say });
        Ok(said)
    }

    /// Once per second: reads what is new and tells those who watch.
    pub fn poll(&mut self) -> Result<(), CommandError> {
        self.subscribers.retain(|it| !it.sender.is_closed());
        self.idle_polls = if self.subscribers.is_empty() { self.idle_polls + 1 } else { 0 };
        let changed = self.read()?;
        let Some(edition) = &self.snapshot else { return Ok(()) };
        let lag = edition.lag(self.trial.as_ref().map(|it| &it.charts));
        self.lag = self.lag.max(if changed { SnapshotLag::Trial } else { lag });
        let spent = edition.built_at.elapsed();
        // Making editions takes a tenth of one processor at most, which has nothing else to do; a hundredth where they
        // only have more tracks.
        let due = match self.lag {
            SnapshotLag::None => false,
            SnapshotLag::Tracks => spent >= TRACK_DELAY.max(edition.build_duration * 100),
            SnapshotLag::Trial => spent >= edition.build_duration * 10 || !self.is_running(),
        };
        match (due, self.subscribers.is_empty()) {
            (true, true) => self.snapshot = None,
            (true, false) => {
                self.rebuild(true)?;
                self.broadcast(|it, lang| {
                    let edition = it.snapshot.as_ref().expect("it was made");
                    let then =
                        if it.is_running() { it.progress_event() } else { sse_event("end", None, "{}") };
                    edition.replace_event(lang) + &then
                });
            }
            (false, _) => {
                let told = edition.sent;
                self.broadcast(|it, _| it.append_event(told) + &it.progress_event());
                if let (Some(edition), Some(trial), true) =
                    (&mut self.snapshot, &self.trial, self.lag < SnapshotLag::Trial)
                {
                    edition.sent = extent(&trial.charts);
                }
            }
        }
        if !self.is_running() {
            // What is under way to them arrives, and then their streams end.
            self.subscribers.clear();
        }
        Ok(())
    }

    fn rebuild(&mut self, replaces: bool) -> Result<(), CommandError> {
        let trial = self.trial.as_ref().map(|it| (it.id.0, &it.charts));
        let events = self.is_running().then_some(self.events.as_str());
        self.number += 1;
        self.snapshot = Some(Snapshot::build(self.run.path(), self.number, replaces, trial, events)?);
        self.lag = SnapshotLag::None;
        Ok(())
    }

    /// To everybody, who may have another document than others. Whose queue is full is let go.
    fn broadcast(&mut self, what: impl Fn(&Follower, usize) -> String) {
        let mut texts: Vec<Option<Bytes>> = vec![None; report::lang::ALL.len()];
        let mut watchers = std::mem::take(&mut self.subscribers);
        watchers.retain(|it| {
            let text = texts[it.lang].get_or_insert_with(|| Bytes::from(what(self, it.lang)));
            it.sender.try_send(text.clone()).is_ok()
        });
        self.subscribers = watchers;
    }

    /// What is to be appended by those who stand there.
    fn append_event(&self, from: (usize, usize)) -> String {
        match (&self.snapshot, &self.trial) {
            (Some(edition), Some(trial)) if self.lag < SnapshotLag::Trial => {
                edition.append_event(from, &trial.charts)
            }
            _ => String::new(),
        }
    }

    /// One sentence; being said again and again it also shows that somebody is there.
    fn progress_event(&self) -> String {
        let asked_to_end = store::is_stop_requested(self.run.path());
        let sentence = |lang: &dyn Lang| match &self.trial {
            _ if asked_to_end => lang.ending().to_owned(),
            Some(it) if it.ticks > 0 => {
                lang.goes_on(it.id.0 as usize, self.trials, &lang.number(&it.ticks.to_string()))
            }
            Some(it) => lang.sets_up(it.id.0 as usize, self.trials),
            None => {
                let next = self.glance.started as usize + 1;
                lang.sets_up(self.trials.map_or(next, |it| next.min(it)), self.trials)
            }
        };
        sse_event("state", None, &state_event(sentence))
    }

    /// What is new in the file; true if a trial or the run has begun or ended.
    fn read(&mut self) -> Result<bool, CommandError> {
        let glance = self.run.progress().map_err(|it| store_error(&it))?;
        let changed = glance != self.glance;
        if changed {
            self.trial = match glance.started > glance.finished && glance.state == State::Running {
                true => Some(FollowedTrial::begin(&self.run, TrialId(glance.started), &self.setups)?),
                false => None,
            };
            self.glance = glance;
        }
        if let Some(trial) = &mut self.trial {
            trial.read(&self.run)?;
        }
        Ok(changed)
    }
}

impl FollowedTrial {
    fn begin(run: &Run, id: TrialId, setups: &[Setup]) -> Result<FollowedTrial, CommandError> {
        let recorded = run.trials().map_err(|it| store_error(&it))?.into_iter().find(|it| it.id == id);
        let recorded = recorded.ok_or_else(|| CommandError::new(format!("trial {} is not there", id.0)))?;
        let setup = setups.get(recorded.trial.cell as usize);
        let setup = setup.ok_or_else(|| CommandError::new(format!("trial {} is of no cell", id.0)))?;
        let processors = run.header().map_err(|it| store_error(&it))?.machine["processors"].as_f64();
        let charting = ChartBuilder::new(setup, processors, load_duration(setup));
        Ok(FollowedTrial { id, charting, ticks: 0, events: 0, charts: Charts::default() })
    }

    fn read(&mut self, run: &Run) -> Result<(), CommandError> {
        let before = (self.ticks, self.events);
        for tick in run.ticks_after(self.id, self.ticks).map_err(|it| store_error(&it))? {
            self.charting.push(&tick.map_err(|it| store_error(&it))?);
            self.ticks += 1;
        }
        for it in run.events_after(self.id, self.events).map_err(|it| store_error(&it))? {
            self.charting.event(&it);
            self.events += 1;
        }
        if (self.ticks, self.events) != before {
            self.charts = whole_points(self.charting.charts());
        }
        Ok(())
    }
}

/// Without the last point if more may come to it.
fn whole_points(mut it: Charts) -> Charts {
    if it.bin > 1 {
        it.times.pop();
        let tracks = it.charts.iter_mut().flat_map(|it| &mut it.series);
        tracks.for_each(|track| track.values.truncate(it.times.len()));
    }
    it
}

fn store_error(it: &store::Error) -> CommandError {
    CommandError::new(it.to_string())
}
