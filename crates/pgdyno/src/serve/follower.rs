//! Follower of a growing run, and its subscribers
//!
//! Each second, it reads new ticks in short transactions and sends them to the subscribers. It reads the whole run only
//! if a trial has begun or ended, or if the document has no series for new data.

use super::snapshot::{Snapshot, SnapshotLag, extent};
use crate::cli::CommandError;
use crate::clock::unix_time;
use crate::run_result::stored::load_duration;
use analysis::present::chart::ChartBuilder;
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

/// Most pending events of one subscriber. A slower one is disconnected, reconnects, and resumes from the current state.
const QUEUE_LENGTH: usize = 32;
/// Most subscribers of one run; a further one replaces the oldest.
const SUBSCRIBERS_MAX: usize = 128;
/// Polls without a subscriber after which the run is closed.
const IDLE_POLLS_MAX: u32 = 30;
/// Minimum delay before new series rebuild the document, because new series usually arrive together.
const TRACK_DELAY: Duration = Duration::from_secs(5);

/// A run in progress, and its subscribers.
#[derive(Debug)]
pub struct Follower {
    run: Run,
    /// URL of the run's events, as the document states it.
    events: String,
    /// Setups, by cell.
    setups: Vec<Setup>,
    /// Number of trials of all cells.
    trials: Option<usize>,
    progress: RunProgress,
    trial: Option<FollowedTrial>,
    snapshot: Option<Snapshot>,
    lag: SnapshotLag,
    /// Number of the next snapshot; it differs from those of all other processes.
    number: u64,
    subscribers: Vec<Subscriber>,
    idle_polls: u32,
}

/// The current trial.
#[derive(Debug)]
struct FollowedTrial {
    id: TrialId,
    charting: ChartBuilder,
    /// Number of ticks read.
    ticks: usize,
    events: usize,
    /// Charts with complete points only.
    charts: Charts,
}

#[derive(Debug)]
struct Subscriber {
    /// Language that its document shows first: an index into [`report::lang::ALL`].
    lang: usize,
    sender: Sender<Bytes>,
}

impl Follower {
    /// Opens a run. `events` is the URL of its events.
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
            progress: RunProgress { state: State::Running, started: 0, finished: 0 },
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

    /// True if the run need not be polled any more.
    pub fn is_over(&self) -> bool {
        self.idle_polls > IDLE_POLLS_MAX || !self.is_running()
    }

    pub fn is_running(&self) -> bool {
        self.progress.state == State::Running
    }

    /// Document that shows this language first, an index into [`report::lang::ALL`].
    pub fn document(&mut self, lang: usize) -> Result<Bytes, CommandError> {
        self.idle_polls = 0;
        if self.snapshot.is_none() {
            self.read()?;
            self.rebuild(false)?;
        }
        Ok(self.snapshot.as_ref().expect("it was made").document(lang).clone())
    }

    /// Subscribes to future events, and to those since the event with the id `last`.
    pub fn subscribe(&mut self, last: Option<&str>, lang: usize) -> Result<Receiver<Bytes>, CommandError> {
        self.document(lang)?;
        let snapshot = self.snapshot.as_ref().expect("the document is its");
        let position = snapshot.resume_position(last);
        let mut text = String::from("retry: 2000\n\n");
        if position.is_none() {
            text += &snapshot.replace_event(lang);
        }
        text += &self.append_event(position.unwrap_or(snapshot.initial));
        text += &self.progress_event();
        let (sender, receiver) = channel(QUEUE_LENGTH);
        sender.try_send(Bytes::from(text)).expect("nothing is in it yet");
        if self.subscribers.len() >= SUBSCRIBERS_MAX {
            self.subscribers.remove(0);
        }
        self.subscribers.push(Subscriber { lang, sender });
        Ok(receiver)
    }

    /// Reads new data and sends it to the subscribers. Called once per second.
    pub fn poll(&mut self) -> Result<(), CommandError> {
        self.subscribers.retain(|it| !it.sender.is_closed());
        self.idle_polls = if self.subscribers.is_empty() { self.idle_polls + 1 } else { 0 };
        let changed = self.read()?;
        let Some(snapshot) = &self.snapshot else { return Ok(()) };
        let lag = snapshot.lag(self.trial.as_ref().map(|it| &it.charts));
        self.lag = self.lag.max(if changed { SnapshotLag::Trial } else { lag });
        let spent = snapshot.built_at.elapsed();
        // Rebuilding takes at most a tenth of one idle CPU, or a hundredth if only series are added.
        let due = match self.lag {
            SnapshotLag::None => false,
            SnapshotLag::Tracks => spent >= TRACK_DELAY.max(snapshot.build_duration * 100),
            SnapshotLag::Trial => spent >= snapshot.build_duration * 10 || !self.is_running(),
        };
        match (due, self.subscribers.is_empty()) {
            (true, true) => self.snapshot = None,
            (true, false) => {
                self.rebuild(true)?;
                self.broadcast(|follower, lang| {
                    let snapshot = follower.snapshot.as_ref().expect("it was made");
                    let then = if follower.is_running() {
                        follower.progress_event()
                    } else {
                        sse_event("end", None, "{}")
                    };
                    snapshot.replace_event(lang) + &then
                });
            }
            (false, _) => {
                let sent = snapshot.sent;
                self.broadcast(|it, _| it.append_event(sent) + &it.progress_event());
                if let (Some(snapshot), Some(trial), true) =
                    (&mut self.snapshot, &self.trial, self.lag < SnapshotLag::Trial)
                {
                    snapshot.sent = extent(&trial.charts);
                }
            }
        }
        if !self.is_running() {
            // Pending events are still delivered before the streams end.
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

    /// Sends an event to all subscribers, in their languages. Subscribers with a full queue are disconnected.
    fn broadcast(&mut self, what: impl Fn(&Follower, usize) -> String) {
        let mut texts: Vec<Option<Bytes>> = vec![None; report::lang::all().len()];
        let mut watchers = std::mem::take(&mut self.subscribers);
        watchers.retain(|watcher| {
            let text = texts[watcher.lang].get_or_insert_with(|| Bytes::from(what(self, watcher.lang)));
            watcher.sender.try_send(text.clone()).is_ok()
        });
        self.subscribers = watchers;
    }

    /// Event that appends the points after `from`.
    fn append_event(&self, from: (usize, usize)) -> String {
        match (&self.snapshot, &self.trial) {
            (Some(snapshot), Some(trial)) if self.lag < SnapshotLag::Trial => {
                snapshot.append_event(from, &trial.charts)
            }
            _ => String::new(),
        }
    }

    /// Event with one sentence of progress. Its repetition also serves as a heartbeat.
    fn progress_event(&self) -> String {
        let asked_to_end = store::is_stop_requested(self.run.path());
        let sentence = |lang: &Lang| match &self.trial {
            _ if asked_to_end => lang.stop_requested(),
            Some(trial) if trial.ticks > 0 => {
                lang.running_trial(trial.id.0 as usize, self.trials, &lang.number(&trial.ticks.to_string()))
            }
            Some(it) => lang.trial_setup(it.id.0 as usize, self.trials),
            None => {
                let next = self.progress.started as usize + 1;
                lang.trial_setup(self.trials.map_or(next, |it| next.min(it)), self.trials)
            }
        };
        sse_event("state", None, &state_event(sentence))
    }

    /// Reads new data of the file. Returns true if a trial or the run has begun or ended.
    fn read(&mut self) -> Result<bool, CommandError> {
        let progress = self.run.progress().map_err(|it| store_error(&it))?;
        let changed = progress != self.progress;
        if changed {
            self.trial = match progress.started > progress.finished && progress.state == State::Running {
                true => Some(FollowedTrial::begin(&self.run, TrialId(progress.started), &self.setups)?),
                false => None,
            };
            self.progress = progress;
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
        for event in run.events_after(self.id, self.events).map_err(|it| store_error(&it))? {
            self.charting.event(&event);
            self.events += 1;
        }
        if (self.ticks, self.events) != before {
            self.charts = whole_points(self.charting.charts());
        }
        Ok(())
    }
}

/// Removes the last point if it may still change.
fn whole_points(mut charts: Charts) -> Charts {
    if charts.bin > 1 {
        charts.times.pop();
        let tracks = charts.charts.iter_mut().flat_map(|it| &mut it.series);
        tracks.for_each(|track| track.values.truncate(charts.times.len()));
    }
    charts
}

fn store_error(error: &store::Error) -> CommandError {
    CommandError::new(error.to_string())
}
