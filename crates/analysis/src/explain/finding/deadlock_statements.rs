//! Finding on the statements between which most deadlocks occurred

use super::{CellTrials, Finding};
use crate::present::run_result::deadlocks;
use model::finding::Circumstance;

/// Finding on the most frequent deadlocks whose statements the server's log shows.
pub fn deadlock_statements(cell: &CellTrials<'_>) -> Option<Finding> {
    let groups = deadlocks(&cell.trials);
    let total = groups.iter().map(|it| it.group.count).sum();
    let kinds = groups.iter().filter(|it| !it.group.statements.is_empty()).count() as u64;
    let most = groups.into_iter().find(|it| !it.group.statements.is_empty())?;
    let circumstance = Circumstance::DeadlockStatements { most, total, kinds };
    Some(Finding::Circumstance { cell: cell.number, circumstance })
}
