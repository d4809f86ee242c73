//! What do the plans that were kept advise, and what came of it?

use super::stored::Reading;
use crate::run::plans::alike;
use crate::run::result::{BUILT, PLANS};
use crate::voice::Trouble;
use model::Sample;
use model::account::CellAccount;
use model::advice::{Advice, Applied, Built};
use model::explain::Plans;
use model::plan::Setup;
use std::path::Path;
use store::Run;

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

/// What indexes brought and cost, where a run has measured the same cell without them and with them; `None` for others.
pub fn applied(path: &Path) -> Result<Option<Applied>, Trouble> {
    let trouble = |it: store::Error| Trouble::new(it.to_string());
    let account = super::of(path)?;
    let [without, with] = account.experiment.cells.as_slice() else { return Ok(None) };
    if !extends(&without.setup, &with.setup) {
        return Ok(None);
    }
    let run = Run::open(path).map_err(trouble)?;
    let notes = run.notes().map_err(trouble)?;
    let trials = run.trials().map_err(trouble)?;
    let its = |cell: u32| trials.iter().filter(move |it| it.trial.cell == cell);
    // Every trial builds the same; the first one's time stands for all.
    let first =
        its(1).map(|it| it.id).find(|id| notes.iter().any(|it| it.trial == Some(*id) && it.subject == BUILT));
    let of_first = notes.iter().filter(|it| first.is_some() && it.trial == first && it.subject == BUILT);
    let built: Vec<Built> = of_first.filter_map(|it| serde_json::from_str(&it.text).ok()).collect();
    let there = without.setup.dataset.as_ref().map_or(0, |it| it.after.len());
    let mut hot = [None, None];
    for (cell, hot) in hot.iter_mut().enumerate() {
        let mut counts = UpdatedRows::default();
        for it in its(cell as u32) {
            let mut trial = UpdatedRows::default();
            run.each_sample(it.id, &[UPDATED, HOT], |it| trial.push(&it)).map_err(trouble)?;
            counts.add(&trial);
        }
        *hot = counts.share();
    }
    let of = |cell: usize| account.cells.get(cell).map(|it| it.statements.as_slice()).unwrap_or_default();
    Ok(Some(Applied {
        built: built.into_iter().skip(there).collect(),
        statements: analysis::advice::changed(of(0), of(1)),
        hot: hot[0].zip(hot[1]),
    }))
}

/// Whether the second is the first with more built into its data, and nothing else.
fn extends(without: &Setup, with: &Setup) -> bool {
    let (Some(one), Some(other)) = (&without.dataset, &with.dataset) else { return false };
    let mut same = with.clone();
    same.dataset.clone_from(&without.dataset);
    same == *without && other.after.len() > one.after.len() && other.after.starts_with(&one.after)
}

const UPDATED: &str = "pg_rows_updated";
const HOT: &str = "pg_rows_hot_updated";

/// Rows updated, and of those without a change to an index: at the first and the last look.
#[derive(Clone, Copy, Debug, Default)]
struct UpdatedRows {
    all: Option<(f64, f64)>,
    hot: Option<(f64, f64)>,
}

impl UpdatedRows {
    fn push(&mut self, it: &Sample) {
        let counts = if it.series == UPDATED { &mut self.all } else { &mut self.hot };
        let first = counts.map_or(it.value, |it| it.0);
        *counts = Some((first, it.value));
    }

    fn add(&mut self, it: &UpdatedRows) {
        let sum = |one: Option<(f64, f64)>, other: Option<(f64, f64)>| match (one, other) {
            (Some(one), Some(other)) => Some((one.0 + other.0, one.1 + other.1)),
            (one, other) => one.or(other),
        };
        (self.all, self.hot) = (sum(self.all, it.all), sum(self.hot, it.hot));
    }

    /// Nothing where no row was updated.
    fn share(&self) -> Option<f64> {
        let ((begun, ended), (hot_begun, hot_ended)) = (self.all?, self.hot?);
        (ended > begun).then(|| ((hot_ended - hot_begun) / (ended - begun)).clamp(0.0, 1.0))
    }
}
