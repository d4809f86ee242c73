//! What is seen of a run while it goes on?

use super::Ended;
use super::lab::News;
use super::news::{self, Told};
use super::result::GENERATOR;
use super::screen::Screen;
use super::trial::Done;
use super::watch::Seen;
use analysis::live::Live as Recent;
use experiment::Plan;
use model::live::Second;
use model::plan::{Cell, Scale, Setup};
use model::reach::Reach;
use model::search::{self, Held, Step};
use model::{LogEvent, Nanos};
use report::lang::Lang;
use report::live::{self, Doing, End, Event, Figures, Finished, Live, Milestone, Way};
use std::collections::VecDeque;
use std::path::Path;
use std::time::{Duration, Instant};
use store::Status;

/// Seconds that are drawn: as many as a wide terminal has columns.
const PAST: usize = 240;
/// Log events that are kept.
const EVENTS: usize = 3;

/// Gathers what there is to see, and gives it to the [`Screen`]. Nothing here waits for who is looking.
#[derive(Debug)]
pub struct Show {
    screen: Screen,
    lang: &'static dyn Lang,
    /// `None` where what is measured decides.
    trials: Option<usize>,
    seed: u64,
    cells: Vec<Shown>,
    /// Under load, of trials still to come after the one that runs.
    ahead: Duration,
    begun: Instant,
    /// What setting up and ending has taken so far, and how often.
    overhead: (Duration, u32),
    trial: Option<Trial>,
    told: Option<Instant>,
}

/// What is to be known of a cell.
#[derive(Debug)]
struct Shown {
    name: String,
    /// One trial under load, its warm-up included.
    lasting: Nanos,
    /// Of that, what is measured.
    window: Nanos,
    /// By node, in processors.
    quotas: Vec<(String, f64)>,
}

#[derive(Debug)]
struct Trial {
    position: usize,
    cell: usize,
    /// The cell, and its level in a search.
    name: String,
    /// What is measured of it.
    window: Nanos,
    searched: bool,
    begun: Instant,
    figures: Option<Figures>,
    doing: Doing,
    recent: Recent,
    past: VecDeque<Second>,
    events: VecDeque<Event>,
}

impl Show {
    pub fn new(plan: &Plan, lang: &'static dyn Lang) -> Show {
        let experiment = &plan.experiment;
        let cells = experiment.cells.iter().zip(&plan.lasting);
        let once: u64 = plan.lasting.iter().map(|it| it.0).sum();
        Show {
            screen: Screen::start(lang),
            lang,
            trials: experiment.trials(),
            seed: experiment.seed,
            cells: cells.map(|(cell, lasting)| Shown::new(cell, *lasting, lang)).collect(),
            ahead: Duration::from_nanos(once * u64::from(experiment.repeat)),
            begun: Instant::now(),
            overhead: (Duration::ZERO, 0),
            trial: None,
            told: None,
        }
    }

    pub fn begins(&self) {
        let (cells, seed) = (self.cells.len(), self.seed);
        self.screen.whole(&match self.trials {
            Some(trials) => self.lang.run_begins(trials, cells, seed, self.ahead.into()),
            None => self.lang.search_begins(cells, seed, self.cells[0].lasting),
        });
    }

    pub fn scraped(&self, url: &str) {
        self.screen.whole(&self.lang.run_scraped(url));
    }

    /// What a cell is called.
    pub fn cell(&self, cell: usize) -> &str {
        &self.cells[cell].name
    }

    pub fn remark(&self, it: &str) {
        self.screen.whole(&self.lang.run_note(it));
    }

    pub fn reach(&self, it: &Reach) {
        self.remark(&self.lang.reach(it));
    }

    /// `step`: of a search.
    pub fn trial(&mut self, position: usize, cell: usize, step: Option<&Step>) {
        let shown = &self.cells[cell];
        self.ahead = self.ahead.saturating_sub(shown.lasting.into());
        let of_many = if self.cells.len() > 1 { shown.name.as_str() } else { "" };
        self.trial = Some(Trial {
            position,
            cell,
            name: step.map_or(shown.name.clone(), |it| self.lang.at_level(of_many, it.scale, it.level)),
            window: step.map_or(shown.window, |it| it.window),
            searched: step.is_some(),
            begun: Instant::now(),
            figures: None,
            doing: Doing::SettingUp,
            recent: Recent::default(),
            past: VecDeque::new(),
            events: VecDeque::new(),
        });
        self.draw();
    }

    /// What takes long enough to be told.
    pub fn news(&mut self, it: &News<'_>) {
        match news::told(it) {
            // Of a chain of nodes, the one that starts is enough.
            None | Some(Told::Lasting(Milestone::Ready { .. })) => {}
            Some(Told::Lasting(it)) => self.screen.whole(&self.lang.milestone(&it)),
            Some(Told::Passing(it)) => {
                let often = matches!(it, Doing::Loading { .. });
                if often && self.told.is_some_and(|it| it.elapsed() < news::OFTEN) {
                    return;
                }
                self.told = Some(Instant::now());
                self.doing(it);
            }
        }
    }

    pub fn seen(&mut self, it: Seen<'_>) {
        let Some(trial) = &mut self.trial else { return };
        match it {
            Seen::WarmingUp => trial.doing = Doing::WarmingUp,
            Seen::Second(tick) => {
                trial.past.push_back(trial.recent.second(tick));
                trial.past.drain(..trial.past.len().saturating_sub(PAST));
                let of = trial.window;
                trial.doing = Doing::Measuring { second: tick.second + 1, of };
            }
            Seen::Rest(_) => {}
            Seen::Events(all) => all.iter().for_each(|it| trial.event(it)),
        }
        self.draw();
    }

    pub fn measured(&mut self, done: &Done) {
        let total = &done.summary.total;
        if let Some(trial) = &mut self.trial {
            trial.figures = Some(Figures {
                rate: total.tps,
                p99: total.response.p99,
                failed: total.counts.failed + total.counts.unknown,
                invalid: done.summary.validity.reasons.first().copied(),
                outage: analysis::outage_doubt(&done.summary),
            });
        }
        for rule in &done.blind {
            self.screen.calm(&self.lang.blind(rule));
        }
    }

    /// `seen`: what a step of a search showed.
    pub fn ended(&mut self, it: &Ended, seen: Option<&search::Seen>) {
        let Some(trial) = self.trial.take() else { return };
        let lasting: Duration = self.cells[trial.cell].lasting.into();
        let reason = || it.reason.clone().unwrap_or_default();
        let end = match it.status {
            Status::Complete | Status::Stopped if trial.searched => match seen.map(|it| &it.outcome) {
                Some(Held::Yes) => End::Held,
                Some(Held::No { .. }) => End::TooMuch,
                Some(Held::Invalid { why }) => {
                    let scale = seen.map_or(Scale::Rate, |it| it.step.scale);
                    End::NotCounted(self.lang.hindered(why, scale))
                }
                None => End::NotCounted(String::new()),
            },
            Status::Complete => End::Complete,
            Status::Stopped => match &it.fired {
                Some(fired) => End::Stopped { rule: fired.rule.clone(), second: fired.at_second },
                None => End::Interrupted,
            },
            Status::Interrupted => End::Interrupted,
            Status::Skipped => End::Skipped(reason()),
            Status::Failed => End::Failed(reason()),
        };
        if it.status == Status::Complete {
            self.overhead.0 += trial.begun.elapsed().saturating_sub(lasting);
            self.overhead.1 += 1;
        }
        let (number, figures, cell) = (trial.position + 1, trial.figures, trial.name);
        let finished = Finished { trial: number, trials: self.trials, cell, figures, end };
        self.screen.calm(&live::finished(&finished, self.screen.characters(), self.lang));
    }

    pub fn ends(&self, path: &Path, trouble: Option<&str>) {
        if let Some(trouble) = trouble {
            self.screen.whole(&self.lang.run_broken_off(trouble));
        }
        let took = self.begun.elapsed().into();
        self.screen.whole(&self.lang.run_kept(&path.display().to_string(), took));
    }

    /// What is left, as far as can be known: the load of all trials, and what setting up has taken on average.
    fn left(&self, trial: &Trial, trials: usize) -> Duration {
        let lasting: Duration = self.cells[trial.cell].lasting.into();
        let (overhead, count) = self.overhead;
        let each = overhead.checked_div(count).unwrap_or_default();
        let after = trials.saturating_sub(trial.position + 1) as u32;
        let this = (lasting + each).saturating_sub(trial.begun.elapsed());
        this + self.ahead + each * after
    }

    fn doing(&mut self, it: Doing) {
        if let Some(trial) = &mut self.trial {
            trial.doing = it;
        }
        self.draw();
    }

    fn draw(&self) {
        let Some(trial) = &self.trial else { return };
        let cell = &self.cells[trial.cell];
        let over = self.begun.elapsed().as_secs_f64();
        let way = self.trials.map(|trials| {
            let left = self.left(trial, trials);
            Way { trials, over: over / (over + left.as_secs_f64()), left: left.into() }
        });
        let past = |of: fn(&Second) -> Option<f64>| trial.past.iter().map(of).collect();
        self.screen.live(Live {
            trial: trial.position + 1,
            cell: trial.name.clone(),
            way,
            doing: trial.doing.clone(),
            second: trial.past.back().cloned(),
            rates: past(|it| Some(it.rate.0)),
            medians: past(|it| it.p50.map(Nanos::as_secs_f64)),
            p99s: past(|it| it.p99.map(Nanos::as_secs_f64)),
            quotas: cell.quotas.clone(),
            events: trial.events.iter().cloned().collect(),
        });
    }
}

impl Trial {
    /// The same again is told once, as late as it was.
    fn event(&mut self, it: &LogEvent) {
        if self.events.back().is_some_and(|last| last.node == it.node && last.text == it.text) {
            self.events.pop_back();
        }
        self.events.push_back(Event { at: it.at, node: it.node.clone(), text: it.text.clone() });
        self.events.drain(..self.events.len().saturating_sub(EVENTS));
    }
}

impl Shown {
    fn new(cell: &Cell, lasting: Nanos, lang: &dyn Lang) -> Shown {
        let Setup { stack, load, .. } = &cell.setup;
        let own = (GENERATOR.to_owned(), &stack.generator);
        let nodes = stack.nodes.iter().map(|it| (it.name.clone(), &it.limits));
        let quotas = nodes.chain([own]).filter_map(|(name, limits)| Some((name, limits.cpu?)));
        let values: Vec<&str> = cell.label.iter().map(|it| it.1.as_str()).collect();
        // `transaction, 125`.
        let name = if values.is_empty() { lang.only_cell().to_owned() } else { values.join(", ") };
        Shown { name, lasting, window: lasting - load.warmup, quotas: quotas.collect() }
    }
}
