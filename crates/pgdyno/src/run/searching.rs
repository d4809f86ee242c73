//! Which trials does a search take?
//!
//! What comes next is a function of what there is already, so that a run that is gone on with takes the steps that it would
//! have taken.

use super::past::Past;
use super::result::SUSPECTS;
use super::turns::{self, Subject};
use super::{Bench, Task};
use crate::account;
use analysis::search::{self, Next};
use load::schedule;
use model::plan::{Experiment, Find, Level, LoadModel, Max, Scale, Setup};
use model::search::{Answer, Proven, Seen, Stage, Step, Suspect};
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

impl Bench {
    /// Searches, and what follows from them.
    pub(super) fn search(&mut self, experiment: &Experiment, before: &[Past]) {
        let cells = 0..experiment.cells.len();
        let mut answers: Vec<Option<Answer>> = vec![None; cells.len()];
        if let Some(max) = experiment.find.max() {
            let mut subjects: Vec<Subject> = Vec::new();
            for round in 0..experiment.repeat {
                let starts = cells.clone().map(|cell| start(max, &experiment.cells[cell].setup));
                let these =
                    cells.clone().zip(starts).map(|(cell, start)| Subject::new(cell, None, round, start));
                let mut these: Vec<Subject> = these.collect();
                self.take_turns(experiment, max, &mut these, before);
                subjects.extend(these);
            }
            for (cell, answer) in answers.iter_mut().enumerate() {
                let rounds: Vec<Answer> = subjects
                    .iter()
                    .filter(|it| it.cell == cell)
                    .map(|it| search::answer(max, &it.done))
                    .collect();
                *answer = Some(turns::together(&rounds));
            }
        }
        for cell in cells {
            if let Some(step) = held(&experiment.find, &experiment.cells[cell].setup, answers[cell].as_ref())
                && !self.is_over()
                && !before.iter().any(|it| it.cell == cell && it.counts && it.step.as_ref() == Some(&step))
            {
                self.trial(experiment, &Task { cell, repetition: 0, step: Some(step) });
            }
        }
    }

    /// All subjects' searches to their end, a step of each in turn.
    fn take_turns(&mut self, experiment: &Experiment, max: &Max, subjects: &mut [Subject], before: &[Past]) {
        for it in subjects.iter_mut() {
            it.done = known(before, it);
        }
        while let Some(turn) = turns::interleave(max, subjects, experiment.seed)
            && !self.is_over()
        {
            let subject = &mut subjects[turn];
            let Next::Measure(step) = search::next(max, subject.start, &subject.done) else { continue };
            let step = Step { nudge: subject.nudge.clone(), round: subject.round, ..step };
            let task = Task { cell: subject.cell, repetition: subject.round, step: Some(step.clone()) };
            let seen = self.trial(experiment, &task);
            subject.done.push(seen.unwrap_or_else(|| unmeasured(step)));
        }
    }
}

/// What a run that is gone on with knows of a search.
fn known(before: &[Past], subject: &Subject) -> Vec<Seen> {
    let its = before.iter().filter(|it| it.cell == subject.cell && it.counts);
    let of = |it: &&Past| {
        it.step.as_ref().is_some_and(|it| {
            it.round == subject.round
                && it.nudge == subject.nudge
                && !matches!(it.stage, Stage::Confirm | Stage::Soak)
        })
    };
    its.filter(of).filter_map(|it| it.seen.clone().or_else(|| it.step.clone().map(unmeasured))).collect()
}

/// A step of which nothing was measured.
fn unmeasured(step: Step) -> Seen {
    use model::search::{Held, Hindered};
    let outcome = Held::Invalid { why: Hindered::Failed { why: String::new() } };
    Seen { step, outcome, delivered: model::PerSecond(0.0), p99: None, mean: None }
}

/// The first level: what the file says, or the cell's own load.
pub fn start(max: &Max, setup: &Setup) -> f64 {
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
pub fn held(find: &Find, setup: &Setup, answer: Option<&Answer>) -> Option<Step> {
    let level = |it: &Level| match it {
        Level::Given { level, .. } => Some(*level),
        Level::Share { share, .. } => Some(share * answer?.level?),
    };
    let step = |level: f64, stage, window, scale| Step { scale, level, stage, window, nudge: None, round: 0 };
    let scale = if setup.load.model.is_open() { Scale::Rate } else { Scale::Clients };
    match find {
        Find::Confirm(it) => Some(step(level(&it.level)?, Stage::Confirm, it.ramp + it.hold, scale)),
        Find::Soak(it) => Some(step(level(&it.level)?, Stage::Soak, it.lasting, scale)),
        Find::Once | Find::Max(_) | Find::Sweep(_) => None,
    }
}
