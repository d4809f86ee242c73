//! Records of a run other than ticks, samples and events

use model::Measurement;
use model::fact::Fact;
use model::matrix::UnappliedLimit;
use model::message::Message;
use model::plan::Limits;
use model::summary::Script;
use serde_json::Value;

/// Data of a run that is known before the run begins.
#[derive(Clone, Debug, PartialEq)]
pub struct RunHeader {
    /// Name of the experiment, `[a-z0-9-]{1,64}`; part of the file's name.
    pub name: String,
    /// Text of the experiment file, as the user wrote it.
    pub text: String,
    /// Serialized `model::plan::Experiment`.
    pub experiment: Value,
    /// Description of the host that `stack::host` returns.
    pub machine: Value,
    /// Versions by name of a program or library, such as (`postgres`, `15.18`).
    pub versions: Vec<(String, String)>,
    pub seed: u64,
    /// Version of pgdyno that makes the run.
    pub pgdyno_version: String,
    /// Start of the run, Unix time in milliseconds.
    pub begun_ms: u64,
}

/// Number of a trial within its run, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrialId(pub u32);

/// Data of a trial that is known when the trial begins.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialHeader {
    /// Index into the experiment's cells.
    pub cell: u32,
    /// Label of the cell: the value of `model::plan::Cell::label`.
    pub label: Vec<(String, String)>,
    /// Repetition of the cell, from 0.
    pub repetition: u32,
    /// Position in the order of all trials, from 0. A trial that replaces an interrupted trial has the same position.
    pub position: u32,
    /// Start of the trial, Unix time in milliseconds.
    pub begun_ms: u64,
    /// Operations, in the order in which intervals count them, each with its individually measured commands.
    pub operations: Vec<Script>,
    /// Nodes of the stack; the first node receives the load.
    pub nodes: Vec<NodeRecord>,
}

/// Configuration of a node in a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeRecord {
    pub name: String,
    /// Key of the product, such as `postgres`, or `attached`.
    pub kind: String,
    pub version: String,
    /// Path of the program; `None` if pgdyno did not start the node.
    pub program: Option<String>,
    /// Transport of connections to the node: `unix`, `tcp` or `tls`.
    pub transport: String,
    /// Requested limits of the node.
    pub limits: Limits,
    /// Limits of this node that could not be applied.
    pub unapplied_limits: Vec<UnappliedLimit>,
    pub configuration: Vec<Configuration>,
}

/// Configuration file that pgdyno rendered, without secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    pub name: String,
    pub text: String,
}

/// Final status of a run or of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunStatus {
    Complete,
    /// Interrupted by the user or by the end of the process.
    Interrupted,
    /// Ended by a stop rule.
    Stopped,
    /// Failed, because the environment failed.
    Failed,
    /// Skipped: the measurement never began.
    Skipped,
}

impl RunStatus {
    pub const ALL: [RunStatus; 5] = [
        RunStatus::Complete,
        RunStatus::Interrupted,
        RunStatus::Stopped,
        RunStatus::Failed,
        RunStatus::Skipped,
    ];

    /// Name as stored in the file.
    pub fn name(self) -> &'static str {
        match self {
            RunStatus::Complete => "complete",
            RunStatus::Interrupted => "interrupted",
            RunStatus::Stopped => "stopped",
            RunStatus::Failed => "failed",
            RunStatus::Skipped => "skipped",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<RunStatus> {
        RunStatus::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// Final status and time of a run, with a reason if the run is not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOutcome {
    pub status: RunStatus,
    pub reason: Option<String>,
    /// End of the run, Unix time in milliseconds.
    pub ended_ms: u64,
}

/// Data of a trial that is known when the trial ends.
#[derive(Clone, Debug)]
pub struct TrialEnd {
    pub outcome: RunOutcome,
    /// Serialized `model::Summary`; `None` without a measurement.
    pub summary: Option<Value>,
    /// True unless the verdict is `model::validity::Verdict::Invalid`; `None` without a verdict.
    pub valid: Option<bool>,
    /// Measurement without distributions and counts, because the ticks contain them. `None` if nothing was measured.
    pub measurement: Option<Measurement>,
}

/// Fact of a run or of one of its trials.
#[derive(Clone, Debug, PartialEq)]
pub struct FactRecord {
    /// Number of the trial; `None` for a fact of the whole run.
    pub trial: Option<TrialId>,
    pub fact: Fact,
}

/// Parses the text of a limit that could not be applied, such as `cpu is not limited: no right`.
pub(crate) fn parse_limit(node: &str, text: &str) -> UnappliedLimit {
    let (limit, reason) = text.split_once(NOT_LIMITED).unwrap_or((text, ""));
    UnappliedLimit { node: node.to_owned(), limit: limit.to_owned(), reason: Message::text(reason) }
}

/// Text between the name of a limit and the reason why the limit was not applied.
pub(crate) const NOT_LIMITED: &str = " is not limited: ";
