//! Exit statuses, which have the same meaning for all commands

use model::objective::ObjectiveVerdict;
use std::process::ExitCode;

/// Exit status of a command, in the order of precedence: if several statuses apply, the first is returned.
///
/// `docs/exit-statuses.md` is the table for users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExitStatus {
    /// Failure: the command could not start, nothing was measured, or a file could not be read or written.
    Failed,
    /// Arguments or files contain errors, or the work is incomplete because a trial failed or the user interrupted it.
    Incomplete,
    /// A measurement is invalid, and `--strict` is given.
    Invalid,
    /// An objective is violated, a stop rule ended a trial, or a condition of `compare` is met.
    Violated,
    /// A question has no answer: a search found no maximum, or an objective could not be judged.
    NoAnswer,
    Success,
}

impl ExitStatus {
    /// The status to return if all of these statuses apply; success if `all` is empty.
    pub fn first_of(all: impl IntoIterator<Item = ExitStatus>) -> ExitStatus {
        all.into_iter().min().unwrap_or(ExitStatus::Success)
    }

    /// Number that the process returns.
    pub fn code(self) -> u8 {
        match self {
            ExitStatus::Failed => 1,
            ExitStatus::Incomplete => 2,
            ExitStatus::Invalid => 3,
            // k6 uses this status for violated thresholds.
            ExitStatus::Violated => 99,
            ExitStatus::NoAnswer => 4,
            ExitStatus::Success => 0,
        }
    }
}

impl From<ObjectiveVerdict> for ExitStatus {
    fn from(verdict: ObjectiveVerdict) -> ExitStatus {
        match verdict {
            ObjectiveVerdict::Met => ExitStatus::Success,
            ObjectiveVerdict::Violated => ExitStatus::Violated,
            ObjectiveVerdict::Unknown => ExitStatus::NoAnswer,
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> ExitCode {
        ExitCode::from(status.code())
    }
}
