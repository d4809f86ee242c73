//! Follower of a run in progress, and its subscribers
//!
//! Each second, the follower reads new ticks in short transactions and sends them to the subscribers. It reads the
//! whole run only if a trial has begun or ended, or if the document has no series for new data.

use super::snapshot::{Snapshot, SnapshotLag, extent};
use crate::cli::CommandError;
use crate::clock::unix_time;
use crate::run_result::stored::load_duration;
use analysis::present::chart::ChartBuilder;
use analysis::present::live::LiveState;
use analysis::present::remaining::{self, RemainingTrials, TrialProgress};
use analysis::verdict::objective;
use hyper::body::Bytes;
use model::Nanos;
use model::chart::Charts;
use model::live::{LatencyObjective, LiveSecond, LiveStatus};
use model::message;
use model::plan::{Experiment, Setup};
use report::lang::Lang;
use report::live_events::{sse_event, state_event};
use serde::Deserialize;
use std::path::Path;
use std::time::{Duration, Instant};
use store::{Run, RunProgress, RunStatus, State, TrialId, TrialRecord};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Maximum number of pending events of one subscriber. A slower subscriber is disconnected, reconnects, and resumes
/// from the current state.
const QUEUE_LENGTH: usize = 32;
/// Maximum number of subscribers of one run. A further subscriber replaces the oldest.
const SUBSCRIBERS_MAX: usize = 128;
/// Number of polls without a subscriber after which the run is closed.
const IDLE_POLLS_MAX: u32 = 30;
/// Minimum delay before the document is rebuilt for new series, because new series usually arrive together.
const TRACK_DELAY: Duration = Duration::from_secs(5);
/// Maximum age at which the last measured second still counts as current. The writer commits about once per second.
const CURRENT_MAX: Duration = Duration::from_secs(5);

/// A run in progress, and its subscribers.
#[derive(Debug)]
pub struct Follower {
    run: Run,
    /// URL of the run's events in the document.
    events: String,
    /// Setups, by cell.
    setups: Vec<Setup>,
    /// Number of trials of all cells.
    trials: Option<usize>,
    /// Start of the run, Unix time in milliseconds.
    begun_ms: u64,
    /// Time under load of all trials.
    load: Nanos,
    /// Trials after the current one. Valid only if `trials` is known.
    after: RemainingTrials,
    progress: RunProgress,
    trial: Option<FollowedTrial>,
    snapshot: Option<Snapshot>,
    lag: SnapshotLag,
    /// Number of the next snapshot. It differs from the snapshot numbers of all other processes.
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
    begun_ms: u64,
    /// Planned load time. `warmup` is its part before the first measured second.
    load: Nanos,
    warmup: Nanos,
    objective: Option<LatencyObjective>,
    recent: LiveState,
    /// Last measured second, and the time at which it was read.
    second: Option<(LiveSecond, Instant)>,
}

#[derive(Debug)]
struct Subscriber {
    /// Language that the subscriber's document shows first: an index into [`report::lang::ALL`].
    lang: usize,
    sender: Sender<Bytes>,
}

impl Follower {
    /// Opens a run. `events` is the URL of its events.
    pub fn open(path: &Path, events: String) -> Result<Follower, CommandError> {
        let run = Run::open(path).map_err(|it| store_error(&it))?;
        let header = run.header().map_err(|it| store_error(&it))?;
        let experiment = Experiment::deserialize(&header.experiment).map_err(|error| {
            let (path, error) = (path.display().to_string(), error.to_string());
            CommandError::new(message!("runs-other-version", path, error))
        })?;
        let trials = experiment.trials();
        let once: u64 = experiment.cells.iter().map(|cell| load_duration(&cell.setup).0).sum();
        let load = Nanos(once * u64::from(experiment.repeat));
        let mut growth = Follower {
            run,
            events,
            setups: experiment.cells.into_iter().map(|it| it.setup).collect(),
            trials,
            begun_ms: header.begun_ms,
            load,
            after: RemainingTrials::default(),
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
        Ok(self.snapshot.as_ref().expect("the snapshot was made").document(lang).clone())
    }

    /// Subscribes to future events, and to the events since the event with the id `last`.
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
        // Limit rebuilding to a tenth of an idle CPU. If only series are added, limit it to a hundredth.
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
                    let snapshot = follower.snapshot.as_ref().expect("the snapshot was made");
                    let progress = if follower.is_running() {
                        follower.progress_event()
                    } else {
                        sse_event("end", None, "{}")
                    };
                    snapshot.replace_event(lang) + &progress
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
            // Drop the senders. Pending events are still delivered before the streams end.
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
    fn broadcast(&mut self, render: impl Fn(&Follower, usize) -> String) {
        let mut texts: Vec<Option<Bytes>> = vec![None; report::lang::all().len()];
        let mut watchers = std::mem::take(&mut self.subscribers);
        watchers.retain(|watcher| {
            let text = texts[watcher.lang].get_or_insert_with(|| Bytes::from(render(self, watcher.lang)));
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

    /// Event with one sentence about the progress and the current values. Repeated events also serve as a heartbeat.
    fn progress_event(&self) -> String {
        sse_event("state", None, &state_event(|lang| self.sentence(lang), &self.status()))
    }

    /// Progress for the list of runs, with the remaining time.
    pub fn headline(&self, lang: &Lang) -> String {
        let remaining = self.status().remaining.map(|remaining| lang.live_left(remaining));
        [Some(self.sentence(lang)), remaining].into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// One sentence of progress.
    fn sentence(&self, lang: &Lang) -> String {
        let asked_to_end = store::is_stop_requested(self.run.path());
        match &self.trial {
            _ if asked_to_end => lang.stop_requested(),
            Some(trial) if trial.ticks > 0 => {
                lang.running_trial(trial.id.0 as usize, self.trials, &lang.number(&trial.ticks.to_string()))
            }
            Some(it) => lang.trial_setup(it.id.0 as usize, self.trials),
            None => {
                let next = self.progress.started as usize + 1;
                lang.trial_setup(self.trials.map_or(next, |it| next.min(it)), self.trials)
            }
        }
    }

    /// Values at the moment.
    fn status(&self) -> LiveStatus {
        let now_ms = unix_time().0 / 1_000_000;
        let elapsed_since = |begun_ms: u64| Nanos::from_millis(now_ms.saturating_sub(begun_ms));
        let trial = self.trial.as_ref();
        let last = trial.and_then(|trial| trial.second.as_ref());
        let age = last.map(|(_, read)| read.elapsed()).filter(|age| *age > CURRENT_MAX);
        let progress = trial.map(|trial| TrialProgress {
            load: trial.load,
            elapsed: elapsed_since(trial.begun_ms),
            under_load: (trial.ticks > 0).then(|| trial.warmup + Nanos::from_secs(trial.ticks as u64)),
        });
        LiveStatus {
            second: last.filter(|_| age.is_none()).map(|(second, _)| second.clone()),
            silence: age.map(Nanos::from),
            objective: trial.and_then(|trial| trial.objective.clone()),
            elapsed: elapsed_since(self.begun_ms),
            remaining: self.trials.map(|_| remaining::remaining(progress, self.after)),
        }
    }

    /// Computes the trials after the current one from the trials in the file.
    fn remaining_trials(&self, trials: usize) -> Result<RemainingTrials, CommandError> {
        let begun = self.run.trials().map_err(|it| store_error(&it))?;
        let load = |trial: &TrialRecord| self.setups.get(trial.trial.cell as usize).map(load_duration);
        let overhead = |trial: &TrialRecord| match &trial.state {
            State::Ended(end) if end.status == RunStatus::Complete => {
                let took = Nanos::from_millis(end.ended_ms.saturating_sub(trial.trial.begun_ms));
                Some(took.0.saturating_sub(load(trial)?.0))
            }
            _ => None,
        };
        let overheads: Vec<u64> = begun.iter().filter_map(overhead).collect();
        let loaded: u64 = begun.iter().filter_map(load).map(|load| load.0).sum();
        Ok(RemainingTrials {
            trials: trials.saturating_sub(begun.len()) as u32,
            load: Nanos(self.load.0.saturating_sub(loaded)),
            overhead: overheads.iter().sum::<u64>().checked_div(overheads.len() as u64).map(Nanos),
        })
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
            if let Some(trials) = self.trials {
                self.after = self.remaining_trials(trials)?;
            }
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
        let recorded = recorded
            .ok_or_else(|| CommandError::new(message!("serve-no-trial", trial = id.0.to_string())))?;
        let setup = setups.get(recorded.trial.cell as usize);
        let setup =
            setup.ok_or_else(|| CommandError::new(message!("serve-no-cell", trial = id.0.to_string())))?;
        let processors = run.header().map_err(|it| store_error(&it))?.machine["processors"].as_f64();
        let objective = objective::latency_objective(setup);
        let steps = recorded.trial.operations.iter().map(|it| it.commands.as_slice());
        let charting = ChartBuilder::new(setup, processors, load_duration(setup)).with_steps(steps);
        Ok(FollowedTrial {
            id,
            charting,
            ticks: 0,
            events: 0,
            charts: Charts::default(),
            begun_ms: recorded.trial.begun_ms,
            load: load_duration(setup),
            warmup: setup.load.warmup,
            recent: LiveState::new(objective.as_ref()),
            objective,
            second: None,
        })
    }

    fn read(&mut self, run: &Run) -> Result<(), CommandError> {
        let before = (self.ticks, self.events);
        for tick in run.ticks_after(self.id, self.ticks).map_err(|it| store_error(&it))? {
            let tick = tick.map_err(|it| store_error(&it))?;
            self.charting.push(&tick);
            self.second = Some((self.recent.second(&tick), Instant::now()));
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
    CommandError::new(error)
}
