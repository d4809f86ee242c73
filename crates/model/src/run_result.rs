//! What is there to be told of a run?
//!
//! Everything that a page shows, as facts: computed once, said in any language, drawn in any form.

use crate::advice::Advice;
use crate::chart::Charts;
use crate::fault_injection::{FailoverResult, FaultInjection};
use crate::finding::Finding;
use crate::freshness::FreshnessResult;
use crate::matrix::{Matrix, TrialStatus};
use crate::objective::ObjectiveResult;
use crate::plan::{Experiment, Limits};
use crate::search::{Maximum, Plateau, SearchStep, SoakResult};
use crate::stop::StopEvent;
use crate::summary::{Doubt, Failure, InvalidReason, Unanswered};
use crate::{Nanos, PerSecond};
use serde::Serialize;

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunResult {
    #[serde(rename = "about")]
    pub info: RunInfo,
    pub experiment: Experiment,
    /// Which figures each cell has, in the order of `experiment.cells`.
    pub matrix: Matrix,
    pub findings: Vec<Finding>,
    /// In the order of `experiment.cells`.
    pub cells: Vec<CellResult>,
    /// In the order in which they began.
    pub trials: Vec<TrialResult>,
    #[serde(rename = "stand")]
    pub environment: Environment,
    /// How much each cell holds, where that was looked for; else empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub maxima: Vec<Maximum>,
    /// Levels that were held for long.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "endured")]
    pub soaks: Vec<SoakResult>,
    /// Whether what was acknowledged outlived the faults, by cell; controls are told with the cells they are of. Empty
    /// without faults.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "survivals")]
    pub failovers: Vec<FailoverResult>,
    /// How old what is read on replicas is, by cell; empty where nobody asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub freshness: Vec<FreshnessResult>,
    /// What a grid of settings says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plateau: Option<Plateau>,
    /// Of cells that share stack, data and operations; empty where the server was not asked for plans.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<Advice>,
}

/// When, where and by whom.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunInfo {
    /// The run's file without `.dyno`.
    pub name: String,
    /// Unix time in milliseconds.
    #[serde(rename = "begun_ms")]
    pub started_ms: u64,
    pub ended_ms: Option<u64>,
    pub state: RunState,
    /// Why it is not complete.
    pub reason: Option<String>,
    pub seed: u64,
    /// Version of pgdyno.
    #[serde(rename = "program")]
    pub pgdyno_version: String,
    /// What repeats the run, as it is typed into a shell.
    pub command: String,
    /// The experiment file, as the user wrote it.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    Running,
    Complete,
    Interrupted,
    Stopped,
    Failed,
    Skipped,
    /// Its process was ended before it could say how.
    Lost,
}

/// What one cell brought: its valid trials together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CellResult {
    /// Absent without a valid trial.
    pub total: Option<OperationResult>,
    /// In the order of the cell's operations; empty without a valid trial.
    pub operations: Vec<OperationResult>,
    /// The way to PostgreSQL, the generator first.
    pub hops: Vec<HopMetrics>,
    /// Servers that follow the PostgreSQL at the end of the way, in the order of their names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replicas: Vec<HopMetrics>,
    /// The most expensive first, at most ten; empty where `pg_stat_statements` is not there.
    pub statements: Vec<StatementStats>,
}

/// What came of one operation, or all of them. Quantiles are of merged histograms.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OperationResult {
    /// Empty for all operations together.
    pub name: String,
    /// Arrivals.
    pub offered: PerSecond,
    /// Ended well within the window.
    pub delivered: PerSecond,
    /// Of those, within the latency that an objective demands; absent without such an objective.
    pub goodput: Option<PerSecond>,
    pub count: u64,
    pub response: Quantiles,
    pub service: Quantiles,
    /// By code, the most frequent first.
    pub failures: Vec<Failure>,
    pub dropped: u64,
    /// Sizes of the expected HTTP answers; absent where there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<SizeFigures>,
}

/// Sizes of answers in bytes of the body as received, over all trials. Quantiles are within 1/16, and absent with fewer than
/// ten answers beyond them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SizeFigures {
    pub count: u64,
    pub mean: f64,
    pub p50: Option<u64>,
    pub p99: Option<u64>,
    pub max: u64,
}

/// As [`crate::summary::Distribution`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Quantiles {
    /// Absent where all were answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unanswered: Option<Unanswered>,
    pub mean: Option<Nanos>,
    pub p50: Option<Nanos>,
    pub p90: Option<Nanos>,
    pub p95: Option<Nanos>,
    pub p99: Option<Nanos>,
    pub p999: Option<Nanos>,
    pub max: Option<Nanos>,
}

/// Where the time and the queue are: one node. Medians over the valid trials of the last third of the window.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HopMetrics {
    /// `generator` for the first.
    pub node: String,
    /// Version of TLS on the way into it, as RFCs name it, `1.3`; where there is none, or it is not known, absent.
    pub tls: Option<String>,
    /// Processors used.
    pub cpu: Option<f64>,
    /// Processors it might use: its quota, or the machine's.
    #[serde(rename = "of_cpu")]
    pub cpu_limit: Option<f64>,
    /// Share of the quota's periods in which it was held back.
    pub throttled: Option<f64>,
    /// Transactions at work here: sessions active in PostgreSQL, servers lent by a pooler.
    pub busy: Option<f64>,
    /// Transactions that wait here for what is behind.
    pub queue: Option<f64>,
    /// Mean time of a transaction in `busy` and `queue` together, by Little's law, without what is behind it.
    pub time: Option<Nanos>,
}

/// One statement of `pg_stat_statements`, within the window; medians over the valid trials.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatementStats {
    /// Its normalised text: of foreign origin.
    pub text: String,
    pub calls: f64,
    /// Of execution, all calls together, seconds.
    pub total: f64,
    /// Of one call, seconds.
    pub mean: f64,
    /// Of the time of all statements, 0..=1.
    pub share: f64,
    pub rows: f64,
    /// Of 8 KiB, found in shared buffers and not.
    pub hit: Option<f64>,
    pub read: Option<f64>,
}

/// One trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialResult {
    /// In the store, from 1.
    pub id: u32,
    pub cell: usize,
    pub repetition: u32,
    /// Of a search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<SearchStep>,
    #[serde(rename = "begun_ms")]
    pub started_ms: u64,
    /// `None` while it runs.
    pub status: Option<TrialStatus>,
    pub valid: bool,
    pub reasons: Vec<InvalidReason>,
    pub doubts: Vec<Doubt>,
    #[serde(rename = "fired")]
    pub stop: Option<StopEvent>,
    /// What came of its cell's objectives, in their order; empty where nothing was measured.
    #[serde(rename = "judged")]
    pub objectives: Vec<ObjectiveResult>,
    pub tps: Option<PerSecond>,
    pub p99: Option<Nanos>,
    /// What its faults cost, where it had some.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "ordeal")]
    pub fault_injection: Option<FaultInjection>,
    pub charts: Charts,
    /// Whose probes could not be asked, and what else was noted: subject and words.
    pub notes: Vec<(String, String)>,
}

/// The test stand.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Environment {
    /// Of the machine, in reading order: a key such as `cpu_model`, and its value.
    pub machine: Vec<(String, String)>,
    /// Every node that a trial had, once per configuration.
    pub nodes: Vec<NodeInfo>,
}

/// A node as it really was.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeInfo {
    pub name: String,
    pub kind: String,
    pub version: String,
    pub program: Option<String>,
    #[serde(rename = "entrance")]
    pub transport: String,
    pub limits: Limits,
    /// What of them was not applied, and why.
    #[serde(rename = "not_applied")]
    pub unapplied_limits: Vec<String>,
    /// Cells that had it so.
    pub cells: Vec<usize>,
    /// Files that were rendered: name and text.
    pub configuration: Vec<(String, String)>,
}
