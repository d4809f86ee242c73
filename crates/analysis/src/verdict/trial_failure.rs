//! Reasons why a trial failed

use model::Summary;
use model::message;
use model::message::Message;
use model::plan::{LoadModel, Operation, Setup};
use model::search::StepPurpose;
use model::summary::{Failure, ScriptSummary};

/// Reason why a trial without any successful transaction failed; `None` if a transaction succeeded.
pub fn nothing_succeeded(summary: &Summary) -> Option<Message> {
    let reason = summary.top_failure().map(Failure::describe);
    (summary.total.counts.ok == 0).then(|| message!("failure-nothing-succeeded", reason))
}

/// Reason why a trial failed because of its transactions; `None` if it did not.
///
/// A search step may overload the system; its objectives judge that. A step without a successful transaction therefore
/// fails only if a server responded, because a statement that is rejected fails at every level. An operation without a
/// success makes the trial fail, except in steps that look for the highest sustained level.
pub fn transactions_failed(setup: &Setup, summary: &Summary, step: Option<StepPurpose>) -> Option<Message> {
    let nothing = nothing_succeeded(summary).filter(|_| step.is_none() || has_answers(summary));
    let operation =
        || operation_failed(setup, summary).filter(|_| !step.is_some_and(StepPurpose::seeks_limit));
    nothing.or_else(operation)
}

/// True if the server responded to any transaction, even with an error.
fn has_answers(summary: &Summary) -> bool {
    summary.total.counts.arrivals() > summary.total.counts.unanswered
}

/// Reason why a trial with aborted clients failed; `None` if no client aborted. `first` is the reason of the first
/// client that aborted.
pub fn clients_aborted(summary: &Summary, first: Option<Message>) -> Option<Message> {
    let (aborted, clients) = (summary.generator.aborted_clients, summary.plan.clients);
    (aborted > 0).then(|| message!("failure-clients-aborted", aborted, clients, reason = first))
}

/// Number of failures with a response from which an operation without a success counts as wrong. The check before the
/// first trial executes an operation equally often.
const FAILURES_MIN: u64 = 3;

/// Reason why a trial failed: an operation never succeeded although others did, so the load was not the planned mix.
/// `None` if there is no such operation. Operations that faults may have prevented are left out. In a replay, they are a
/// divergence from the recording.
pub fn operation_failed(setup: &Setup, summary: &Summary) -> Option<Message> {
    let mut failed = never_succeeded(setup, summary).into_iter().filter(|it| it.answered >= FAILURES_MIN);
    let is_planned = setup.faults.is_empty() && !matches!(setup.load.model, LoadModel::Replay { .. });
    let FailedOperation { operation, reason, .. } = failed.next().filter(|_| is_planned)?;
    Some(message!("failure-operation", operation, reason))
}

/// Operation that never succeeded although others did.
#[derive(Debug)]
pub struct FailedOperation {
    pub operation: String,
    pub reason: Message,
    /// Number of failures with a response from a server.
    answered: u64,
}

/// Operations that never succeeded although others did.
pub fn never_succeeded(setup: &Setup, summary: &Summary) -> Vec<FailedOperation> {
    let named = setup.operations.iter().zip(&summary.scripts);
    let failed = named.filter(|(_, script)| {
        summary.total.counts.ok > 0 && script.group.counts.ok == 0 && script.group.counts.arrivals() > 0
    });
    let describe = |(operation, script): (&Operation, &ScriptSummary)| {
        let (reason, counts) = (script.failures.first().map(Failure::describe), &script.group.counts);
        let arrivals = counts.arrivals();
        FailedOperation {
            operation: operation.name.clone(),
            reason: message!("failure-operation-never-succeeded", arrivals, reason),
            answered: arrivals.saturating_sub(counts.unanswered),
        }
    };
    failed.map(describe).collect()
}
