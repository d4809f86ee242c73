//! What do the plans that were kept advise?

use super::stored::Reading;
use crate::run::plans::alike;
use crate::run::result::PLANS;
use model::account::CellAccount;
use model::advice::Advice;
use model::explain::Plans;

/// Once for cells that share stack, data and operations: for them the server was asked once. `cells`: what each brought.
pub fn advice(reading: &Reading, cells: &[CellAccount]) -> Vec<Advice> {
    let setup = |it: usize| &reading.experiment.cells[it].setup;
    let mut all: Vec<Advice> = Vec::new();
    for trial in &reading.trials {
        let (id, its) = (trial.recorded.id, trial.recorded.trial.cell as usize);
        let note = reading.notes.iter().find(|it| it.trial == Some(id) && it.subject == PLANS);
        let plans: Option<Plans> = note.and_then(|it| serde_json::from_str(&it.text).ok());
        let known = |it: &Advice| it.cells.contains(&its);
        let Some(plans) = plans.filter(|_| !all.iter().any(known)) else { continue };
        let same: Vec<usize> = (0..cells.len()).filter(|it| alike(setup(*it), setup(its))).collect();
        // The cell that was asked; where it brought nothing, another of them.
        let brought = |it: &&usize| !cells[**it].statements.is_empty();
        let counted = same.iter().filter(|it| **it == its).chain(&same).find(brought);
        let statements = counted.map(|it| cells[*it].statements.as_slice()).unwrap_or_default();
        all.push(analysis::advice::advice(same, &plans, statements));
    }
    all
}
