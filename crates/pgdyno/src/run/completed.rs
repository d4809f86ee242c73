//! Completed trials of a run that is resumed

use super::known_nodes::KnownNodes;
use crate::run_result::stored::StoredRun;
use model::matrix::TrialStatus;
use model::plan::Setup;
use model::search::{SearchStep, StepResult};
use model::target::ServerIdentity;
use store::NodeRecord;

/// A trial that has ended.
#[derive(Clone, Debug)]
pub struct CompletedTrial {
    pub cell: usize,
    /// Step of a search; `None` outside searches.
    pub step: Option<SearchStep>,
    /// Result of the search step; `None` if the user ended the step.
    pub result: Option<StepResult>,
    /// True if the trial need not be measured again.
    pub is_complete: bool,
    /// Setup of the trial.
    setup: Setup,
    nodes: Vec<NodeRecord>,
    server: Option<ServerIdentity>,
}

/// Number of trials that need not be measured again.
pub fn count_complete(trials: &[CompletedTrial]) -> usize {
    trials.iter().filter(|it| it.is_complete).count()
}

/// Nodes that these trials measured.
pub fn known_nodes(trials: &[CompletedTrial]) -> KnownNodes {
    let mut known = KnownNodes::default();
    trials.iter().for_each(|it| known.add_stored(&it.setup, &it.nodes, it.server.as_ref()));
    known
}

/// All trials of a run, in their order.
pub fn from_stored(run: StoredRun) -> Vec<CompletedTrial> {
    let past = run.trials.into_iter().map(|trial| CompletedTrial {
        cell: trial.recorded.trial.cell as usize,
        is_complete: !matches!(trial.status, None | Some(TrialStatus::Interrupted)),
        step: trial.step,
        result: trial.step_result,
        setup: trial.setup,
        nodes: trial.recorded.trial.nodes,
        server: trial.target.map(|target| target.server),
    });
    past.collect()
}
