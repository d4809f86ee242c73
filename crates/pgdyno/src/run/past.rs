//! What has a run measured already?

use crate::account::stored::Reading;
use crate::voice::Trouble;
use model::matrix::Status;
use model::search::{Seen, Step};
use std::path::Path;

/// A trial that is over.
#[derive(Clone, Debug)]
pub struct Past {
    pub cell: usize,
    /// Of a search.
    pub step: Option<Step>,
    /// What a step showed; `None` where the user ended it.
    pub seen: Option<Seen>,
    /// It need not be measured again.
    pub counts: bool,
}

/// All trials of a run's file, in their order.
pub fn of(path: &Path) -> Result<Vec<Past>, Trouble> {
    let trials = Reading::of(path)?.trials.into_iter();
    let past = trials.map(|it| Past {
        cell: it.recorded.trial.cell as usize,
        counts: !matches!(it.status, None | Some(Status::Interrupted)),
        step: it.step,
        seen: it.seen,
    });
    Ok(past.collect())
}
