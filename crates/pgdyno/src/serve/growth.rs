//! How does a run grow, and who watches it?
//!
//! Each second its new ticks are read, in short transactions, and those who watch are told. All of the run is read only
//! when a trial has begun or ended, or when something is to be drawn that the document has no track for.

use super::edition::{Edition, Lag, extent};
use crate::account::stored::lasting;
use crate::clock::unix_time;
use crate::voice::Trouble;
use analysis::chart::Charting;
use hyper::body::Bytes;
use model::chart::Charts;
use model::plan::{Experiment, Setup};
use report::growth::{event, state};
use report::lang::Lang;
use serde::Deserialize;
use std::path::Path;
use std::time::Duration;
use store::{Glance, Run, State, TrialId};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Events under way to one browser. Who is further behind is let go, comes back, and gets what is there then.
const BEHIND: usize = 32;
/// Those who watch one run; where there are more, the one who came first goes.
const WATCHERS: usize = 128;
/// So many looks after the last one was interested, the run is closed.
const IDLE: u32 = 30;
/// New tracks wait at least so long for others: they come in crowds.
const CROWD: Duration = Duration::from_secs(5);

/// A run that is being written, and those who watch it.
#[derive(Debug)]
pub struct Growth {
    run: Run,
    /// Where its news are, as the document says it.
    events: String,
    /// By cell.
    setups: Vec<Setup>,
    /// Of all cells.
    trials: Option<usize>,
    glance: Glance,
    trial: Option<Trial>,
    edition: Option<Edition>,
    lag: Lag,
    /// Of the next edition; unlike those of any other process.
    number: u64,
    watchers: Vec<Watcher>,
    idle: u32,
}

/// The trial that goes on.
#[derive(Debug)]
struct Trial {
    id: TrialId,
    charting: Charting,
    /// That were read.
    ticks: usize,
    events: usize,
    /// Whole points only.
    charts: Charts,
}

#[derive(Debug)]
struct Watcher {
    /// That its document shows first: an index into [`report::lang::ALL`].
    lang: usize,
    say: Sender<Bytes>,
}

impl Growth {
    /// Begins to look at a run. `events`: where its news are.
    pub fn open(path: &Path, events: String) -> Result<Growth, Trouble> {
        let run = Run::open(path).map_err(|it| of_store(&it))?;
        let header = run.header().map_err(|it| of_store(&it))?;
        let experiment = Experiment::deserialize(&header.experiment).map_err(|error| {
            Trouble::new(format!("{} was written by another version: {error}", path.display()))
        })?;
        let trials = experiment.trials();
        let mut growth = Growth {
            run,
            events,
            setups: experiment.cells.into_iter().map(|it| it.setup).collect(),
            trials,
            glance: Glance { state: State::Running, begun: 0, ended: 0 },
            trial: None,
            edition: None,
            lag: Lag::None,
            number: unix_time().0 / 1000,
            watchers: Vec::new(),
            idle: 0,
        };
        growth.read()?;
        Ok(growth)
    }

    /// Whether it need not be looked at any more.
    pub fn is_over(&self) -> bool {
        self.idle > IDLE || !self.is_running()
    }

    pub fn is_running(&self) -> bool {
        self.glance.state == State::Running
    }

    /// The document that shows this language first, an index into [`report::lang::ALL`].
    pub fn document(&mut self, lang: usize) -> Result<Bytes, Trouble> {
        self.idle = 0;
        if self.edition.is_none() {
            self.read()?;
            self.make(false)?;
        }
        Ok(self.edition.as_ref().expect("it was made").text(lang).clone())
    }

    /// What happens from now on, and what has happened since the event of the id `last`.
    pub fn watch(&mut self, last: Option<&str>, lang: usize) -> Result<Receiver<Bytes>, Trouble> {
        self.document(lang)?;
        let edition = self.edition.as_ref().expect("the document is its");
        let stands = edition.stands(last);
        let mut text = String::from("retry: 2000\n\n");
        if stands.is_none() {
            text += &edition.whole(lang);
        }
        text += &self.news(stands.unwrap_or(edition.first));
        text += &self.goes_on();
        let (say, said) = channel(BEHIND);
        say.try_send(Bytes::from(text)).expect("nothing is in it yet");
        if self.watchers.len() >= WATCHERS {
            self.watchers.remove(0);
        }
        self.watchers.push(Watcher { lang, say });
        Ok(said)
    }

    /// Once per second: reads what is new and tells those who watch.
    pub fn look(&mut self) -> Result<(), Trouble> {
        self.watchers.retain(|it| !it.say.is_closed());
        self.idle = if self.watchers.is_empty() { self.idle + 1 } else { 0 };
        let changed = self.read()?;
        let Some(edition) = &self.edition else { return Ok(()) };
        let lag = edition.lag(self.trial.as_ref().map(|it| &it.charts));
        self.lag = self.lag.max(if changed { Lag::Trial } else { lag });
        let spent = edition.made.elapsed();
        // Making editions takes a tenth of one processor at most, which has nothing else to do; a hundredth where they
        // only have more tracks.
        let due = match self.lag {
            Lag::None => false,
            Lag::Tracks => spent >= CROWD.max(edition.took * 100),
            Lag::Trial => spent >= edition.took * 10 || !self.is_running(),
        };
        match (due, self.watchers.is_empty()) {
            (true, true) => self.edition = None,
            (true, false) => {
                self.make(true)?;
                self.tell(|it, lang| {
                    let edition = it.edition.as_ref().expect("it was made");
                    let then = if it.is_running() { it.goes_on() } else { event("end", None, "{}") };
                    edition.whole(lang) + &then
                });
            }
            (false, _) => {
                let told = edition.told;
                self.tell(|it, _| it.news(told) + &it.goes_on());
                if let (Some(edition), Some(trial), true) =
                    (&mut self.edition, &self.trial, self.lag < Lag::Trial)
                {
                    edition.told = extent(&trial.charts);
                }
            }
        }
        if !self.is_running() {
            // What is under way to them arrives, and then their streams end.
            self.watchers.clear();
        }
        Ok(())
    }

    fn make(&mut self, replaces: bool) -> Result<(), Trouble> {
        let trial = self.trial.as_ref().map(|it| (it.id.0, &it.charts));
        let events = self.is_running().then_some(self.events.as_str());
        self.number += 1;
        self.edition = Some(Edition::make(self.run.path(), self.number, replaces, trial, events)?);
        self.lag = Lag::None;
        Ok(())
    }

    /// To everybody, who may have another document than others. Whose queue is full is let go.
    fn tell(&mut self, what: impl Fn(&Growth, usize) -> String) {
        let mut texts: Vec<Option<Bytes>> = vec![None; report::lang::ALL.len()];
        let mut watchers = std::mem::take(&mut self.watchers);
        watchers.retain(|it| {
            let text = texts[it.lang].get_or_insert_with(|| Bytes::from(what(self, it.lang)));
            it.say.try_send(text.clone()).is_ok()
        });
        self.watchers = watchers;
    }

    /// What is to be appended by those who stand there.
    fn news(&self, from: (usize, usize)) -> String {
        match (&self.edition, &self.trial) {
            (Some(edition), Some(trial)) if self.lag < Lag::Trial => edition.news(from, &trial.charts),
            _ => String::new(),
        }
    }

    /// One sentence; being said again and again it also shows that somebody is there.
    fn goes_on(&self) -> String {
        let asked_to_end = store::is_asked_to_end(self.run.path());
        let sentence = |lang: &dyn Lang| match &self.trial {
            _ if asked_to_end => lang.ending().to_owned(),
            Some(it) if it.ticks > 0 => {
                lang.goes_on(it.id.0 as usize, self.trials, &lang.number(&it.ticks.to_string()))
            }
            Some(it) => lang.sets_up(it.id.0 as usize, self.trials),
            None => {
                let next = self.glance.begun as usize + 1;
                lang.sets_up(self.trials.map_or(next, |it| next.min(it)), self.trials)
            }
        };
        event("state", None, &state(sentence))
    }

    /// What is new in the file; true if a trial or the run has begun or ended.
    fn read(&mut self) -> Result<bool, Trouble> {
        let glance = self.run.glance().map_err(|it| of_store(&it))?;
        let changed = glance != self.glance;
        if changed {
            self.trial = match glance.begun > glance.ended && glance.state == State::Running {
                true => Some(Trial::begin(&self.run, TrialId(glance.begun), &self.setups)?),
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

impl Trial {
    fn begin(run: &Run, id: TrialId, setups: &[Setup]) -> Result<Trial, Trouble> {
        let recorded = run.trials().map_err(|it| of_store(&it))?.into_iter().find(|it| it.id == id);
        let recorded = recorded.ok_or_else(|| Trouble::new(format!("trial {} is not there", id.0)))?;
        let setup = setups.get(recorded.trial.cell as usize);
        let setup = setup.ok_or_else(|| Trouble::new(format!("trial {} is of no cell", id.0)))?;
        let processors = run.header().map_err(|it| of_store(&it))?.machine["processors"].as_f64();
        let charting = Charting::new(setup, processors, lasting(setup));
        Ok(Trial { id, charting, ticks: 0, events: 0, charts: Charts::default() })
    }

    fn read(&mut self, run: &Run) -> Result<(), Trouble> {
        let before = (self.ticks, self.events);
        for tick in run.ticks_after(self.id, self.ticks).map_err(|it| of_store(&it))? {
            self.charting.push(&tick.map_err(|it| of_store(&it))?);
            self.ticks += 1;
        }
        for it in run.events_after(self.id, self.events).map_err(|it| of_store(&it))? {
            self.charting.event(&it);
            self.events += 1;
        }
        if (self.ticks, self.events) != before {
            self.charts = whole(self.charting.charts());
        }
        Ok(())
    }
}

/// Without the last point if more may come to it.
fn whole(mut it: Charts) -> Charts {
    if it.bin > 1 {
        it.at.pop();
        let tracks = it.charts.iter_mut().flat_map(|it| &mut it.tracks);
        tracks.for_each(|track| track.values.truncate(it.at.len()));
    }
    it
}

fn of_store(it: &store::Error) -> Trouble {
    Trouble::new(it.to_string())
}
