//! Index advice from stored plans, and the measured effect of indexes

use super::stored::StoredRun;
use crate::cli::CommandError;
use crate::run_result::fact_set::fact_sets;
use model::Sample;
use model::advice::{Advice, IndexEffect};
use model::plan::Setup;
use model::run_result::CellResult;
use model::series::{PG_ROWS_HOT_UPDATED, PG_ROWS_UPDATED};
use std::path::Path;
use store::Run;

/// Advice for each group of cells that share stack, data and operations, because plans are collected once per group.
/// `cells` are the cells' results.
pub fn advice(reading: &StoredRun, cells: &[CellResult]) -> Vec<Advice> {
    let setup = |it: usize| &reading.experiment.cells[it].setup;
    let mut all: Vec<Advice> = Vec::new();
    for trial in &reading.trials {
        let its = trial.recorded.trial.cell as usize;
        let known = |it: &Advice| it.cells.contains(&its);
        let Some(plans) = trial.plans.as_ref().filter(|_| !all.iter().any(known)) else { continue };
        let same: Vec<usize> = (0..cells.len()).filter(|it| shares_plans(setup(*it), setup(its))).collect();
        // Use the statements of the cell with the plans. If it has no statements, use those of another cell of the
        // group.
        let brought = |it: &&usize| !cells[**it].statements.is_empty();
        let counted = same.iter().filter(|it| **it == its).chain(&same).find(brought);
        let statements = counted.map(|it| cells[*it].statements.as_slice()).unwrap_or_default();
        all.push(analysis::explain::advice::advice(same, plans, statements));
    }
    all
}

/// Measured benefit and cost of indexes, if a run has the same cell without and with the indexes; otherwise `None`.
pub fn index_effects(path: &Path) -> Result<Option<IndexEffect>, CommandError> {
    let account = super::from_file(path)?;
    let [plain, indexed] = account.experiment.cells.as_slice() else { return Ok(None) };
    if !adds_indexes(&plain.setup, &indexed.setup) {
        return Ok(None);
    }
    let run = Run::open(path)?;
    let mut facts = fact_sets(&run)?;
    let trials = run.trials()?;
    let trials_of = |cell: u32| trials.iter().filter(move |it| it.trial.cell == cell);
    // Every trial builds the same indexes, so use the durations of the first trial.
    let built = trials_of(1)
        .filter_map(|it| facts.remove(&Some(it.id)))
        .map(|facts| facts.index_builds)
        .find(|builds| !builds.is_empty())
        .unwrap_or_default();
    let existing = plain.setup.dataset.as_ref().map_or(0, |it| it.post_load.len());
    let mut hot_share = [None, None];
    for (cell, hot) in hot_share.iter_mut().enumerate() {
        let mut counts = UpdatedRows::default();
        for record in trials_of(cell as u32) {
            let mut trial = UpdatedRows::default();
            run.for_each_sample(record.id, &[PG_ROWS_UPDATED, PG_ROWS_HOT_UPDATED], |it| trial.push(&it))?;
            counts.add(&trial);
        }
        *hot = counts.share();
    }
    let statements =
        |cell: usize| account.cells.get(cell).map(|it| it.statements.as_slice()).unwrap_or_default();
    Ok(Some(IndexEffect {
        builds: built.into_iter().skip(existing).collect(),
        statements: analysis::explain::advice::statement_changes(statements(0), statements(1)),
        hot_share: hot_share[0].zip(hot_share[1]),
    }))
}

/// True if both cells have the same stack, data and operations, on which plans depend.
pub fn shares_plans(one: &Setup, other: &Setup) -> bool {
    (&one.stack, &one.dataset, &one.operations) == (&other.stack, &other.dataset, &other.operations)
}

/// True if the second setup equals the first setup except for additional post-load statements.
fn adds_indexes(first: &Setup, second: &Setup) -> bool {
    let (Some(one), Some(other)) = (&first.dataset, &second.dataset) else { return false };
    let mut same = second.clone();
    same.dataset.clone_from(&first.dataset);
    same == *first
        && other.post_load.len() > one.post_load.len()
        && other.post_load.starts_with(&one.post_load)
}

/// Counters of updated rows and of HOT updates, each at the first and the last sample.
#[derive(Clone, Copy, Debug, Default)]
struct UpdatedRows {
    all: Option<(f64, f64)>,
    hot_updated: Option<(f64, f64)>,
}

impl UpdatedRows {
    fn push(&mut self, sample: &Sample) {
        let counts = if sample.series == PG_ROWS_UPDATED { &mut self.all } else { &mut self.hot_updated };
        let first = counts.map_or(sample.value, |it| it.0);
        *counts = Some((first, sample.value));
    }

    fn add(&mut self, rows: &UpdatedRows) {
        let sum = |one: Option<(f64, f64)>, other: Option<(f64, f64)>| match (one, other) {
            (Some(one), Some(other)) => Some((one.0 + other.0, one.1 + other.1)),
            (one, other) => one.or(other),
        };
        (self.all, self.hot_updated) = (sum(self.all, rows.all), sum(self.hot_updated, rows.hot_updated));
    }

    /// Share of HOT updates; `None` if no row was updated.
    fn share(&self) -> Option<f64> {
        let ((begun, ended), (hot_begun, hot_ended)) = (self.all?, self.hot_updated?);
        (ended > begun).then(|| ((hot_ended - hot_begun) / (ended - begun)).clamp(0.0, 1.0))
    }
}
