//! Trials of a search
//!
//! The next step depends only on the steps so far, so a resumed run takes the same steps as an uninterrupted run.

use super::completed::CompletedTrial;
use super::{Runner, Task};
use crate::run_result;
use analysis::explain::cause;
use analysis::strategy::search::{self, SearchRun};
use analysis::strategy::step_setup;
use load::schedule;
use model::fact::Fact;
use model::live::SearchBracket;
use model::plan::{Experiment, Goal, LoadModel, LoadScale, MaxSearch, Setup, TargetLevel};
use model::search::{CellSuspects, Perturbation, SearchResult, SearchStep, StepPurpose, StepResult, Suspect};

/// One search, with at most one perturbation.
#[derive(Clone, Debug)]
struct SearchState {
    cell: usize,
    perturbation: Option<Perturbation>,
    round: u32,
    /// First level.
    start: f64,
    done: Vec<StepResult>,
}

impl Runner {
    /// Runs the searches, and the trials that depend on their results.
    pub(super) fn search(&mut self, experiment: &Experiment, before: &[CompletedTrial]) {
        let cells = 0..experiment.cells.len();
        let mut answers: Vec<Option<SearchResult>> = vec![None; cells.len()];
        if let Some(max) = experiment.goal.max_search() {
            let mut rounds: Vec<Vec<SearchResult>> = vec![Vec::new(); cells.len()];
            for round in 0..experiment.repeat {
                let begin = |cell: usize| {
                    let start = first_level(max, &experiment.cells[cell].setup);
                    SearchState { cell, perturbation: None, round, start, done: Vec::new() }
                };
                let mut all: Vec<SearchState> = cells.clone().map(begin).collect();
                self.interleave(experiment, max, &mut all, before, &|_| false);
                all.iter().for_each(|it| rounds[it.cell].push(search::answer(max, &it.done)));
            }
            answers = rounds.iter().map(|it| Some(search::combine(it, experiment.seed))).collect();
            for cell in cells.clone().filter(|_| max.prove) {
                if let Some(level) = answers[cell].as_ref().and_then(|it| it.level) {
                    self.prove_cause(experiment, max, (cell, level), before);
                }
            }
        }
        for cell in cells {
            let setup = &experiment.cells[cell].setup;
            let Some(step) = soak_step(&experiment.goal, setup, answers[cell].as_ref()) else { continue };
            let done =
                |it: &CompletedTrial| it.cell == cell && it.is_complete && it.step.as_ref() == Some(&step);
            if !self.is_over() && !before.iter().any(done) {
                self.display.set_search(None, None);
                self.trial(experiment, &Task { cell, repetition: 0, step: Some(step) });
            }
        }
    }

    /// Runs one step of each search in turn, until all have ended or `enough` is true.
    fn interleave(
        &mut self,
        experiment: &Experiment,
        max: &MaxSearch,
        all: &mut [SearchState],
        before: &[CompletedTrial],
        enough: &dyn Fn(&[SearchState]) -> bool,
    ) {
        all.iter_mut().for_each(|it| it.done = completed_steps(before, it));
        while !self.is_over() && !enough(all) {
            let subjects: Vec<SearchRun<'_>> = all.iter().map(|it| it.subject(max)).collect();
            let Some((turn, step)) = search::interleave(&subjects, experiment.seed) else { return };
            let SearchState { cell, round, .. } = all[turn];
            let task = Task { cell, repetition: round, step: Some(step.clone()) };
            let SearchResult { scale, sustained, failed, .. } = search::answer(max, &all[turn].done);
            let [sustained, failed] = [sustained, failed].map(|level| level.map(|trials| trials.level));
            let bracket = SearchBracket { scale, sustained, failed, remaining: None };
            let forecasts = all.iter().map(|it| search::forecast(max, it.start, &it.done));
            self.display.set_search(Some(bracket), forecasts.sum());
            // `None` means that the user ended the trial and the run.
            all[turn].done.extend(self.trial(experiment, &task));
        }
    }

    /// Perturbs the suspects one after the other, each interleaved with the unchanged cell, until a raised quota or another
    /// setting proves a limiter. If none does, perturbs two of them together.
    fn prove_cause(
        &mut self,
        experiment: &Experiment,
        max: &MaxSearch,
        (cell, level): (usize, f64),
        before: &[CompletedTrial],
    ) {
        let Some(suspects) = self.suspects(cell) else { return };
        let mut proofs = Vec::new();
        for (number, (limit, perturbation)) in cause::perturbations(&suspects).into_iter().enumerate() {
            if self.is_over() || !cause::is_needed(&limit, &proofs) {
                return;
            }
            let round = experiment.repeat + number as u32;
            let max = &step_setup::near_level(max, level);
            let start = max.from.unwrap_or(level);
            let pair = [None, Some(perturbation.clone())];
            let mut pair =
                pair.map(|perturbation| SearchState { cell, perturbation, round, start, done: Vec::new() });
            let plain = |it: &[SearchState]| search::is_decided(&perturbation, &it[0].done, &it[1].done, max);
            self.interleave(experiment, max, &mut pair, before, &plain);
            let [base, changed] = &pair;
            let seed = experiment.seed;
            let proof = search::proof(limit, &perturbation, &base.done, &changed.done, max, seed);
            if cause::ends_search_for_cause(&proof) {
                return;
            }
            proofs.push(proof);
        }
    }

    /// Suspected limiters of a cell's maximum. They are read from the run's file. If the file contains none, they are
    /// computed and stored there.
    fn suspects(&mut self, cell: usize) -> Option<Vec<Suspect>> {
        self.writer.flush();
        let suspected = run_result::suspected(self.writer.path(), cell);
        let (suspects, known) = suspected
            .map_err(|error| self.display.print_diagnostic(&self.lang.message(&error.message)))
            .ok()?;
        if !known {
            let suspects = suspects.clone();
            self.writer.fact(None, Fact::Suspects(CellSuspects { cell, suspects }));
        }
        Some(suspects)
    }
}

impl SearchState {
    fn subject<'a>(&'a self, max: &'a MaxSearch) -> SearchRun<'a> {
        let SearchState { perturbation, round, start, done, .. } = self;
        SearchRun { max, start: *start, perturbation: perturbation.as_ref(), round: *round, done }
    }
}

/// Steps of a search that were completed before the run was resumed.
fn completed_steps(before: &[CompletedTrial], search: &SearchState) -> Vec<StepResult> {
    let of_cell = before.iter().filter(|it| it.cell == search.cell && it.is_complete);
    let is_same_search = |trial: &&CompletedTrial| {
        trial.step.as_ref().is_some_and(|step| {
            step.round == search.round
                && step.perturbation == search.perturbation
                && !matches!(step.purpose, StepPurpose::Confirm | StepPurpose::Soak)
        })
    };
    of_cell.filter(is_same_search).filter_map(|it| it.result.clone()).collect()
}

/// First level: the goal's `from`. If it is not set, the level of the cell's load.
pub(super) fn first_level(max: &MaxSearch, setup: &Setup) -> f64 {
    let of_load = || match (&setup.load.model, max.scale) {
        (LoadModel::Open { schedule, .. }, LoadScale::Rate) => {
            schedule::parse(schedule).ok().map(|it| schedule::rate_range(&it).1.0)
        }
        (it, LoadScale::Clients) => Some(f64::from(it.clients())),
        _ => None,
    };
    max.from.or_else(of_load).unwrap_or(1.0).max(f64::MIN_POSITIVE)
}

/// Trial that holds a level for a long time; `None` if the goal holds no level or the level is unknown.
pub(super) fn soak_step(find: &Goal, setup: &Setup, answer: Option<&SearchResult>) -> Option<SearchStep> {
    let level = |target: &TargetLevel| match target {
        TargetLevel::Absolute { level, .. } => Some(*level),
        TargetLevel::Share { share, .. } => Some(share * answer?.level?),
    };
    let step = |level: f64, stage, window, scale| SearchStep {
        scale,
        level,
        purpose: stage,
        window,
        perturbation: None,
        round: 0,
    };
    let scale = if setup.load.model.is_open() { LoadScale::Rate } else { LoadScale::Clients };
    match find {
        Goal::Confirm(it) => Some(step(level(&it.level)?, StepPurpose::Confirm, it.hold, scale)),
        Goal::Soak(it) => Some(step(level(&it.level)?, StepPurpose::Soak, it.duration, scale)),
        Goal::Once | Goal::Failover | Goal::Max(_) | Goal::Sweep(_) => None,
    }
}
