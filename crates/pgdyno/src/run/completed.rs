//! Completed trials of a run that is resumed

use crate::cli::CommandError;
use crate::run_result::stored::StoredRun;
use model::matrix::TrialStatus;
use model::search::{SearchStep, StepResult};
use std::path::Path;

/// A trial that has ended.
#[derive(Clone, Debug)]
pub struct CompletedTrial {
    pub cell: usize,
    /// Step of a search; `None` outside searches.
    pub step: Option<SearchStep>,
    /// Result of a step; `None` if the user ended it.
    pub result: Option<StepResult>,
    /// True if the trial need not be measured again.
    pub is_complete: bool,
}

/// All trials of a run's file, in their order.
pub fn read_all(path: &Path) -> Result<Vec<CompletedTrial>, CommandError> {
    let trials = StoredRun::from_file(path)?.trials.into_iter();
    let past = trials.map(|it| CompletedTrial {
        cell: it.recorded.trial.cell as usize,
        is_complete: !matches!(it.status, None | Some(TrialStatus::Interrupted)),
        step: it.step,
        result: it.seen,
    });
    Ok(past.collect())
}
