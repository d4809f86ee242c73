//! What is told to the store besides ticks, samples and events?

use model::Measurement;
use model::summary::Script;
use serde_json::Value;

/// What is known before anything is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct RunHeader {
    /// The experiment's, `[a-z0-9-]{1,64}`: it names the file.
    pub name: String,
    /// The experiment file, as the user wrote it.
    pub text: String,
    /// `model::plan::Experiment`.
    pub experiment: Value,
    /// The host, as `stack::host` describes it.
    pub machine: Value,
    /// By program or library, such as (`postgres`, `15.18`).
    pub versions: Vec<(String, String)>,
    pub seed: u64,
    /// Version of pgdyno.
    pub pgdyno_version: String,
    /// Unix time in milliseconds.
    pub begun_ms: u64,
}

/// A trial of this run: 1 for the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrialId(pub u32);

/// What is known when a trial begins.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialHeader {
    /// Index into the experiment's cells.
    pub cell: u32,
    /// `model::plan::Cell::label`.
    pub label: Vec<(String, String)>,
    /// 0 for the first time this cell is measured.
    pub repetition: u32,
    /// Place in the order of all trials, from 0.
    pub position: u32,
    /// Unix time in milliseconds.
    pub begun_ms: u64,
    /// In the order of the intervals' cells, with the commands that are measured one by one.
    pub operations: Vec<Script>,
    /// The entrance first.
    pub nodes: Vec<NodeRecord>,
}

/// A node as it really was.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeRecord {
    pub name: String,
    /// `postgres`, `pgbouncer`, …
    pub kind: String,
    pub version: String,
    /// Path of the program; `None` for what is not ours.
    pub program: Option<String>,
    /// What the bytes on the way into it travel over: `unix`, `tcp`, `tls`.
    pub transport: String,
    /// `model::plan::Limits` that were asked for.
    pub limits: Value,
    /// What of them was not applied, and why.
    pub unapplied_limits: Vec<String>,
    pub configuration: Vec<Configuration>,
}

/// A file that we rendered; without secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    pub name: String,
    pub text: String,
}

/// How a trial or a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunStatus {
    Complete,
    /// By the user, or with the process.
    Interrupted,
    /// By a stop rule.
    Stopped,
    /// Something in our surroundings failed.
    Failed,
    /// It never began to be measured.
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

    /// As it stands in the file.
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

/// How it ended, when, and why if it was not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOutcome {
    pub status: RunStatus,
    pub reason: Option<String>,
    /// Unix time in milliseconds.
    pub ended_ms: u64,
}

/// What is known when a trial has ended.
#[derive(Clone, Debug)]
pub struct TrialEnd {
    pub outcome: RunOutcome,
    /// `model::Summary`.
    pub summary: Option<Value>,
    /// `model::summary::Validity::valid`.
    pub valid: Option<bool>,
    /// All but its distributions and counts, which the ticks told. `None` when nothing was measured.
    pub measurement: Option<Measurement>,
}

/// Something that is missing or to be known, such as a probe without its right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// `None`: of the whole run.
    pub trial: Option<TrialId>,
    /// A node, a probe, a limit.
    pub subject: String,
    pub text: String,
}
