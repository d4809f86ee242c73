//! Which trials does a search take?
//!
//! What comes next is a function of what there is already, so that a run that is gone on with takes the steps that it would
//! have taken.

use super::past::Past;
use super::result::SUSPECTS;
use super::{Bench, Task};
use crate::account;
use analysis::search::{self, Subject};
use analysis::setting;
use load::schedule;
use model::plan::{Experiment, Find, Level, LoadModel, Max, Scale, Setup};
use model::search::{Answer, Nudge, Proven, Seen, Stage, Step, Suspect};
use serde::{Deserialize, Serialize};
use store::Note;

/// What may be a cell's cause, as a run keeps it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Suspected {
    pub cell: usize,
    /// The likeliest first.
    pub suspects: Vec<Suspect>,
}

/// Suspects that are turned, unless an earlier one is proved to be the cause.
pub const TURNED: usize = 3;

/// One search: of a cell as it is, or with one thing changed.
#[derive(Clone, Debug)]
struct Search {
    cell: usize,
    nudge: Option<Nudge>,
    round: u32,
    /// The first level.
    start: f64,
    done: Vec<Seen>,
}

impl Bench {
    /// Searches, and what follows from them.
    pub(super) fn search(&mut self, experiment: &Experiment, before: &[Past]) {
        let cells = 0..experiment.cells.len();
        let mut answers: Vec<Option<Answer>> = vec![None; cells.len()];
        if let Some(max) = experiment.find.max() {
            let mut rounds: Vec<Vec<Answer>> = vec![Vec::new(); cells.len()];
            for round in 0..experiment.repeat {
                let begin = |cell: usize| {
                    let start = start(max, &experiment.cells[cell].setup);
                    Search { cell, nudge: None, round, start, done: Vec::new() }
                };
                let mut all: Vec<Search> = cells.clone().map(begin).collect();
                self.take_turns(experiment, max, &mut all, before, &|_| false);
                all.iter().for_each(|it| rounds[it.cell].push(search::answer(max, &it.done)));
            }
            answers = rounds.iter().map(|it| Some(search::together(it, experiment.seed))).collect();
            for cell in cells.clone().filter(|_| max.prove) {
                if let Some(level) = answers[cell].as_ref().and_then(|it| it.level) {
                    self.prove(experiment, max, (cell, level), before);
                }
            }
        }
        for cell in cells {
            let setup = &experiment.cells[cell].setup;
            let Some(step) = held(&experiment.find, setup, answers[cell].as_ref()) else { continue };
            let done = |it: &Past| it.cell == cell && it.counts && it.step.as_ref() == Some(&step);
            if !self.is_over() && !before.iter().any(done) {
                self.trial(experiment, &Task { cell, repetition: 0, step: Some(step) });
            }
        }
    }

    /// All searches to their end, or until it is `enough`, a step of each in turn.
    fn take_turns(
        &mut self,
        experiment: &Experiment,
        max: &Max,
        all: &mut [Search],
        before: &[Past],
        enough: &dyn Fn(&[Search]) -> bool,
    ) {
        all.iter_mut().for_each(|it| it.done = known(before, it));
        while !self.is_over() && !enough(all) {
            let subjects: Vec<Subject<'_>> = all.iter().map(|it| it.subject(max)).collect();
            let Some((turn, step)) = search::interleave(&subjects, experiment.seed) else { return };
            let Search { cell, round, .. } = all[turn];
            let task = Task { cell, repetition: round, step: Some(step.clone()) };
            // `None` where the user ended it, and with it the run.
            all[turn].done.extend(self.trial(experiment, &task));
        }
    }

    /// Turns what is suspected, one after the other, each beside the cell as it is, until one is proved.
    fn prove(&mut self, experiment: &Experiment, max: &Max, (cell, level): (usize, f64), before: &[Past]) {
        let Some(suspects) = self.suspects(cell) else { return };
        let turned = suspects.iter().filter_map(|it| Some((&it.limit, it.nudge.clone()?)));
        for (number, (limit, nudge)) in turned.take(TURNED).enumerate() {
            if self.is_over() {
                return;
            }
            let round = experiment.repeat + number as u32;
            let max = &setting::near(max, level);
            let start = max.from.unwrap_or(level);
            let pair = [None, Some(nudge.clone())];
            let mut pair = pair.map(|nudge| Search { cell, nudge, round, start, done: Vec::new() });
            let plain = |it: &[Search]| search::is_plain(&nudge, &it[0].done, &it[1].done, max);
            self.take_turns(experiment, max, &mut pair, before, &plain);
            let [base, changed] = &pair;
            let seed = experiment.seed;
            let proof = search::proof(limit.clone(), &nudge, &base.done, &changed.done, max, seed);
            if proof.verdict == Proven::Limits {
                return;
            }
        }
    }

    /// What may be the cause of a cell's maximum; kept with the run, which is asked for it first.
    fn suspects(&mut self, cell: usize) -> Option<Vec<Suspect>> {
        self.writer.settle();
        let (suspects, known) = account::suspected(self.writer.path(), cell).ok()?;
        if !known {
            let suspected = Suspected { cell, suspects: suspects.clone() };
            let text = serde_json::to_string(&suspected).expect("plain data");
            self.writer.note(Note { trial: None, subject: SUSPECTS.to_owned(), text });
        }
        Some(suspects)
    }
}

impl Search {
    fn subject<'a>(&'a self, max: &'a Max) -> Subject<'a> {
        let Search { nudge, round, start, done, .. } = self;
        Subject { max, start: *start, nudge: nudge.as_ref(), round: *round, done }
    }
}

/// What a run that is gone on with knows of a search.
fn known(before: &[Past], search: &Search) -> Vec<Seen> {
    let its = before.iter().filter(|it| it.cell == search.cell && it.counts);
    let of = |it: &&Past| {
        it.step.as_ref().is_some_and(|it| {
            it.round == search.round
                && it.nudge == search.nudge
                && !matches!(it.stage, Stage::Confirm | Stage::Soak)
        })
    };
    its.filter(of).filter_map(|it| it.seen.clone()).collect()
}

/// The first level: what the file says, or the cell's own load.
pub(super) fn start(max: &Max, setup: &Setup) -> f64 {
    let of_load = || match (&setup.load.model, max.scale) {
        (LoadModel::Open { schedule, .. }, Scale::Rate) => {
            schedule::parse(schedule).ok().map(|it| schedule::rate_range(&it).1.0)
        }
        (it, Scale::Clients) => Some(f64::from(it.clients())),
        _ => None,
    };
    max.from.or_else(of_load).unwrap_or(1.0).max(f64::MIN_POSITIVE)
}

/// The trial at a level that is held for long, if that is asked for and the level is known.
pub(super) fn held(find: &Find, setup: &Setup, answer: Option<&Answer>) -> Option<Step> {
    let level = |it: &Level| match it {
        Level::Given { level, .. } => Some(*level),
        Level::Share { share, .. } => Some(share * answer?.level?),
    };
    let step = |level: f64, stage, window, scale| Step { scale, level, stage, window, nudge: None, round: 0 };
    let scale = if setup.load.model.is_open() { Scale::Rate } else { Scale::Clients };
    match find {
        Find::Confirm(it) => Some(step(level(&it.level)?, Stage::Confirm, it.hold, scale)),
        Find::Soak(it) => Some(step(level(&it.level)?, Stage::Soak, it.lasting, scale)),
        Find::Once | Find::Failover | Find::Max(_) | Find::Sweep(_) => None,
    }
}
