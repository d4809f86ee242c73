//! Conflicts between transactions that violate an objective on errors

use model::finding::Finding;
use model::search::{LevelOutcome, OverloadReason, StepResult};

/// Share of the sent transactions that conflicts must make fail to be suspected.
const SHARE_MIN: f64 = 0.005;

/// SQLSTATE of the most frequent conflicts, serialization failures or deadlocks, and the share of the transactions that failed
/// because of them. `None` if most levels that were not sustained violated no objective on errors, or if there are few
/// conflicts.
pub(super) fn conflict(number: usize, findings: &[Finding], steps: &[StepResult]) -> Option<(String, f64)> {
    let shares = findings.iter().filter_map(|finding| match finding {
        Finding::Failures { cell, code, count, sent, .. } if *cell == number && code == "40001" => {
            Some((code.clone(), *count as f64 / *sent as f64))
        }
        Finding::Deadlocks { cell, per_thousand, .. } if *cell == number => {
            Some(("40P01".to_owned(), per_thousand / 1000.0))
        }
        _ => None,
    });
    let most = shares.max_by(|a, b| a.1.total_cmp(&b.1))?;
    (most.1 >= SHARE_MIN && violates_errors(steps)).then_some(most)
}

/// True if most levels that were not sustained violated an objective on errors.
fn violates_errors(steps: &[StepResult]) -> bool {
    let failed = steps.iter().filter_map(|step| match &step.outcome {
        LevelOutcome::NotSustained { reason } => Some(reason),
        LevelOutcome::Sustained | LevelOutcome::Invalid { .. } => None,
    });
    let is_errors = |reason: &&OverloadReason| matches!(reason, OverloadReason::Objective { text } if text.trim_start().starts_with("errors"));
    let (all, errors) = (failed.clone().count(), failed.filter(is_errors).count());
    2 * errors > all
}
