//! What did searches come to, from a run's file alone?

use super::stored::{Reading, Stored};
use crate::run::turns;
use analysis::search;
use model::plan::{Find, Max};
use model::search::{Answer, Cause, Maximum, Seen, Stage};

/// Levels above the answer by no more than this tell what stops the system; far beyond it other things break too.
const EDGE: f64 = 1.35;

/// Of each cell that was searched.
pub fn maxima(reading: &Reading) -> Vec<Maximum> {
    let Some(max) = reading.experiment.find.max() else { return Vec::new() };
    let cells = 0..reading.experiment.cells.len();
    cells.filter_map(|cell| maximum(reading, max, cell)).collect()
}

/// Trials whose figures are their cells'.
pub fn counting(reading: &Reading) -> Vec<&Stored> {
    figures(reading, &maxima(reading))
}

fn maximum(reading: &Reading, max: &Max, cell: usize) -> Option<Maximum> {
    let repeat = reading.experiment.repeat;
    let of_round = |round: u32, nudged: bool| -> Vec<Seen> {
        let its = searched(reading, cell).filter_map(|it| it.seen.clone());
        its.filter(|it| it.step.round == round && it.step.nudge.is_some() == nudged).collect()
    };
    let steps: Vec<Seen> = (0..repeat).flat_map(|it| of_round(it, false)).collect();
    if steps.is_empty() {
        return None;
    }
    let rounds: Vec<Answer> = (0..repeat)
        .map(|it| of_round(it, false))
        .filter(|it| !it.is_empty())
        .map(|it| search::answer(max, &it))
        .collect();
    let answer = turns::together(&rounds);
    let (scalability, proofs, cause) = (None, Vec::new(), Cause::NotKnown);
    Some(Maximum { cell, rounds, answer, steps, scalability, proofs, cause })
}

/// The steps of a cell's searches.
fn searched(reading: &Reading, cell: usize) -> impl Iterator<Item = &Stored> {
    let of_search =
        |it: &&Stored| it.step.as_ref().is_some_and(|it| !matches!(it.stage, Stage::Confirm | Stage::Soak));
    reading.trials.iter().filter(move |it| it.recorded.trial.cell as usize == cell).filter(of_search)
}

/// Trials whose figures are the cell's: where a level was looked for, those that were held long at it.
pub fn figures<'a>(reading: &'a Reading, maxima: &[Maximum]) -> Vec<&'a Stored> {
    let held = match &reading.experiment.find {
        Find::Once => return reading.ended(),
        Find::Confirm(_) => Stage::Confirm,
        Find::Soak(_) => Stage::Soak,
        Find::Max(_) | Find::Sweep(_) => Stage::Hold,
    };
    let counts = |it: &Stored| {
        let Some(step) = &it.step else { return true };
        let cell = it.recorded.trial.cell as usize;
        let of_cell = maxima.iter().find(|it| it.cell == cell);
        let at_answer = || of_cell.is_some_and(|it| it.rounds.iter().any(|it| it.level == Some(step.level)));
        step.stage == held && step.nudge.is_none() && (held != Stage::Hold || at_answer())
    };
    reading.ended().into_iter().filter(|it| counts(it)).collect()
}

/// Trials that tell what stops the cells: where a maximum was looked for, those that were a little too much.
pub fn telling<'a>(reading: &'a Reading, maxima: &[Maximum]) -> Vec<&'a Stored> {
    if reading.experiment.find.max().is_none() {
        return reading.ended();
    }
    let level = |cell: usize| maxima.iter().find(|it| it.cell == cell).and_then(|it| it.answer.level);
    let too_much = |it: &Stored| {
        let cell = it.recorded.trial.cell as usize;
        it.seen.as_ref().is_some_and(|seen| {
            let near = level(cell).is_none_or(|level| seen.step.level <= level * EDGE);
            let system = matches!(seen.outcome, model::search::Held::No { .. });
            seen.step.nudge.is_none() && near && system
        })
    };
    let any =
        |cell: usize| reading.trials.iter().any(|it| it.recorded.trial.cell as usize == cell && too_much(it));
    let cells: Vec<bool> = (0..reading.experiment.cells.len()).map(any).collect();
    let tells = |it: &&Stored| {
        let plain = it.step.as_ref().is_none_or(|it| it.nudge.is_none());
        if cells[it.recorded.trial.cell as usize] { too_much(it) } else { plain }
    };
    reading.ended().into_iter().filter(tells).collect()
}
