//! Result of a run: everything that a report shows.
//!
//! Facts, computed once and presented in any language and format.

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
use crate::summary::{Failure, Unanswered};
use crate::validity::{Doubt, InvalidReason};
use crate::{Nanos, PerSecond, SizeFigures, StatementRows};
use schemars::JsonSchema;
use serde::Serialize;

/// Result of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunResult {
    pub info: RunInfo,
    pub experiment: Experiment,
    /// Figures of each cell, in the order of `experiment.cells`.
    pub matrix: Matrix,
    pub findings: Vec<Finding>,
    /// Results of each cell, in the order of `experiment.cells`.
    pub cells: Vec<CellResult>,
    /// Trials in the order of their start.
    pub trials: Vec<TrialResult>,
    pub environment: Environment,
    /// Maximum of each cell; empty if the run did not search for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub maxima: Vec<Maximum>,
    /// Levels that were held for a long time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub soaks: Vec<SoakResult>,
    /// Durability results by cell; a control is reported with the cell that it belongs to. Empty without faults.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failovers: Vec<FailoverResult>,
    /// Staleness of reads on replicas, by cell; empty if it was not measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub freshness: Vec<FreshnessResult>,
    /// Conclusion from a grid of settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plateau: Option<Plateau>,
    /// Index advice for cells that share stack, data and operations; empty if no plans were collected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<Advice>,
}

/// Date, state and origin of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunInfo {
    /// File name of the run without `.dyno`.
    pub name: String,
    /// Unix time in milliseconds.
    pub started_ms: u64,
    pub ended_ms: Option<u64>,
    pub state: RunState,
    /// Reason why the run is not complete.
    pub reason: Option<String>,
    pub seed: u64,
    /// Version of pgdyno.
    pub pgdyno_version: String,
    /// Shell command that repeats the run.
    pub command: String,
    /// Text of the experiment file, as the user wrote it.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    Running,
    Complete,
    Interrupted,
    Stopped,
    Failed,
    Skipped,
    /// Process ended without recording the run's end.
    Lost,
}

/// Combined results of a cell's valid trials.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CellResult {
    /// Absent without a valid trial.
    pub total: Option<OperationResult>,
    /// Results in the order of the cell's operations; empty without a valid trial.
    pub operations: Vec<OperationResult>,
    /// Path to PostgreSQL, the generator first.
    pub hops: Vec<HopMetrics>,
    /// Replicas of the last node, in the order of their names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replicas: Vec<HopMetrics>,
    /// At most ten statements, the most expensive first; empty without `pg_stat_statements`.
    pub statements: Vec<StatementStats>,
}

/// Results of one operation, or of all together. Quantiles are of merged histograms.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OperationResult {
    /// Empty for all operations together.
    pub name: String,
    /// Arrivals per second.
    pub offered: PerSecond,
    /// Successful transactions within the window, per second.
    pub delivered: PerSecond,
    /// Part of `delivered` within the latency bound of an objective; absent without such an objective.
    pub goodput: Option<PerSecond>,
    pub count: u64,
    pub response: Quantiles,
    pub service: Quantiles,
    /// Failures by code, the most frequent first.
    pub failures: Vec<Failure>,
    pub dropped: u64,
    /// Sizes of the expected HTTP responses; absent if there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<SizeFigures>,
    /// Rows by statement, in the order of the commands; empty if no statement has rows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<StatementRows>,
}

/// Quantiles as in [`crate::summary::Distribution`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Quantiles {
    /// Absent if all were answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unanswered: Option<Unanswered>,
    #[serde(rename = "mean_ns")]
    pub mean: Option<Nanos>,
    #[serde(rename = "p50_ns")]
    pub p50: Option<Nanos>,
    #[serde(rename = "p90_ns")]
    pub p90: Option<Nanos>,
    #[serde(rename = "p95_ns")]
    pub p95: Option<Nanos>,
    #[serde(rename = "p99_ns")]
    pub p99: Option<Nanos>,
    #[serde(rename = "p999_ns")]
    pub p999: Option<Nanos>,
    #[serde(rename = "max_ns")]
    pub max: Option<Nanos>,
}

/// Metrics of one node on the path. Each is the median over the valid trials, measured in the last third of the
/// window.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HopMetrics {
    /// Node name; `generator` for the first.
    pub node: String,
    /// TLS version of connections into the node, as in RFCs, `1.3`; absent if unencrypted or unknown.
    pub tls: Option<String>,
    /// CPUs used.
    pub cpu: Option<f64>,
    /// CPUs available: the node's quota, or the machine's CPUs.
    pub cpu_limit: Option<f64>,
    /// Share of the quota's periods in which the node was throttled.
    pub throttled: Option<f64>,
    /// Transactions that run here: active sessions in PostgreSQL, server connections in use in a pooler.
    pub busy: Option<f64>,
    /// Transactions queued here for the next node.
    pub queue: Option<f64>,
    /// Mean time of a transaction in `busy` and `queue` together, by Little's law, without the time in the next nodes.
    #[serde(rename = "time_ns")]
    pub time: Option<Nanos>,
}

/// Statement of `pg_stat_statements` within the window; medians over the valid trials.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatementStats {
    /// Normalised text; untrusted input.
    pub text: String,
    pub calls: f64,
    /// Total execution time of all calls, in seconds.
    #[serde(rename = "total_s")]
    pub total: f64,
    /// Mean execution time of a call, in seconds.
    #[serde(rename = "mean_s")]
    pub mean: f64,
    /// Share of the time of all statements, 0..=1.
    pub share: f64,
    pub rows: f64,
    /// Blocks of 8 KiB found in shared buffers; `read` counts those that were not.
    #[serde(rename = "blocks_hit")]
    pub hit: Option<f64>,
    #[serde(rename = "blocks_read")]
    pub read: Option<f64>,
}

/// Result of one trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialResult {
    /// Number in the store, from 1.
    pub id: u32,
    pub cell: usize,
    pub repetition: u32,
    /// Step of a search that this trial is, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<SearchStep>,
    pub started_ms: u64,
    /// `None` while the trial runs.
    pub status: Option<TrialStatus>,
    pub valid: bool,
    pub reasons: Vec<InvalidReason>,
    pub doubts: Vec<Doubt>,
    pub stop: Option<StopEvent>,
    /// Results of the cell's objectives, in their order; empty if nothing was measured.
    pub objectives: Vec<ObjectiveResult>,
    pub tps: Option<PerSecond>,
    #[serde(rename = "p99_ns")]
    pub p99: Option<Nanos>,
    /// Effects of the injected faults, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault_injection: Option<FaultInjection>,
    pub charts: Charts,
    /// Probes that could not be read, and other notes: subject and text.
    pub notes: Vec<(String, String)>,
}

/// Machine and nodes of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Environment {
    /// Facts about the machine in reading order: a key such as `cpu_model`, and its value.
    pub machine: Vec<(String, String)>,
    /// Nodes of all trials, once per configuration.
    pub nodes: Vec<NodeInfo>,
}

/// Node with its actual version, limits and configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeInfo {
    pub name: String,
    pub kind: String,
    pub version: String,
    pub program: Option<String>,
    pub transport: String,
    pub limits: Limits,
    /// Limits that were not applied, and why.
    pub unapplied_limits: Vec<String>,
    /// Indexes of the cells with this configuration.
    pub cells: Vec<usize>,
    /// Names and texts of the rendered files.
    pub configuration: Vec<(String, String)>,
}
