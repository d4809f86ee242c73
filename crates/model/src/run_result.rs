//! Result of a run: everything that a report shows.
//!
//! The result is computed once. Reports present it in any language and format.

use crate::advice::Advice;
use crate::chart::Charts;
use crate::copied_data::CopiedData;
use crate::fault_injection::{FailoverResult, FaultInjection};
use crate::finding::Finding;
use crate::freshness::FreshnessResult;
use crate::matrix::{Matrix, TrialStatus, UnappliedLimit};
use crate::message::Message;
use crate::note::Note;
use crate::objective::ObjectiveResult;
use crate::plan::{Experiment, Limits};
use crate::search::{Maximum, Plateau, SearchStep, SoakResult};
use crate::server_log::CellLog;
use crate::states::CellStates;
use crate::stop::StopEvent;
use crate::summary::{Failure, UnansweredArrivals};
use crate::table_sizes::TableGrowth;
use crate::validity::{Doubt, InvalidReason, Verdict};
use crate::{AgentPart, Nanos, PerSecond, RequestPhase, SizeFigures, StatementRows};
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
    /// Results of soaks, in which a level was held for a long time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub soaks: Vec<SoakResult>,
    /// Durability results by cell; empty without faults. A control is part of the result of its cell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failovers: Vec<FailoverResult>,
    /// Staleness of reads on replicas, by cell; empty if it was not measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub freshness: Vec<FreshnessResult>,
    /// Growth of the dataset's tables, by cell, and the largest table first; empty without a dataset.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<TableGrowth>,
    /// Contents of the logs of servers and services by cell; cells without contents are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<CellLog>,
    /// States of sessions, pools and balanced servers by cell; cells without samples are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<CellStates>,
    /// Conclusion from a grid of settings; absent if the run was not a sweep.
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
    /// Start of the run, Unix time in milliseconds.
    pub started_ms: u64,
    pub ended_ms: Option<u64>,
    pub state: RunState,
    /// Reason why the run is not complete; `None` if it is complete.
    pub reason: Option<Message>,
    pub seed: u64,
    /// Version of pgdyno that made the run.
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
    /// The process ended without recording the run's end.
    Lost,
}

/// Combined results of a cell's valid trials.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CellResult {
    /// Results of all operations together; absent without a valid trial.
    pub total: Option<OperationResult>,
    /// Results in the order of the cell's operations; empty without a valid trial.
    pub operations: Vec<OperationResult>,
    /// Time until all clients were connected before the window; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_connects: Option<InitialConnects>,
    /// Results by stage of users or of rates, in order; empty if the load has only one stage. Stages that no trial reached
    /// are missing at the end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageResult>,
    /// First stage at which the system broke; absent if it sustained all stages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage_break: Option<StageBreak>,
    /// Results before, during and after the faults; empty without a fault. Phases that no trial had are missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fault_phases: Vec<FaultPhaseResult>,
    /// Metrics of the nodes on the path to PostgreSQL, the generator first.
    pub hops: Vec<HopMetrics>,
    /// Parts of the mean response time, in the order of the path; the last part is the rest that no sample explains. Their
    /// sum is the mean response time. Empty without a valid trial.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub time_parts: Vec<TimePart>,
    /// Metrics of the replicas of the last node, in the order of their names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replicas: Vec<HopMetrics>,
    /// At most ten statements, the most expensive first; empty without `pg_stat_statements`.
    pub statements: Vec<StatementStats>,
}

/// Part of the mean response time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimePart {
    /// Node in which the time is spent, running or queued, such as `generator`; `None` for the rest that no sample explains.
    pub node: Option<String>,
    /// Activity of PostgreSQL's sessions in this time; `None` for other nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activity: Option<SessionActivity>,
    #[serde(rename = "time_ns")]
    pub time: Nanos,
}

/// Activity of a session of PostgreSQL in a transaction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum SessionActivity {
    /// Runs a statement, or waits for a CPU.
    Running,
    /// Waits for this event, such as `Lock/transactionid`.
    Waiting { event: String },
    /// Waits for other events, each of which takes little time.
    OtherWaits,
    /// Is idle in transaction: waits for the next statement of the client.
    IdleInTransaction,
}

/// Time from the first `connect` to the end of the last login before the window, over the valid trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct InitialConnects {
    #[serde(rename = "median_ns")]
    pub median: Nanos,
    #[serde(rename = "max_ns")]
    pub max: Nanos,
    pub trials: usize,
}

/// Level of the load in one stage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StageLevel {
    Users(u32),
    /// Planned arrivals per second at the start and at the end of the stage.
    Rate {
        from: PerSecond,
        to: PerSecond,
    },
}

/// Results of some seconds of the trials, of all operations and all valid trials together. A transaction counts in the
/// second in which it ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PeriodResult {
    /// Measured duration, summed over the trials.
    #[serde(rename = "measured_ns")]
    pub measured: Nanos,
    /// Successful transactions per second.
    pub delivered: PerSecond,
    pub arrivals: u64,
    /// Number of arrivals with a response.
    pub count: u64,
    pub response: Quantiles,
    /// Number of failed transactions, and of those with an unknown outcome.
    pub failed: u64,
    pub dropped: u64,
    /// Number of refused connections.
    pub refused: u64,
}

/// Results of one stage of the load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageResult {
    pub level: StageLevel,
    /// Mean rate that the schedule plans; absent for users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered: Option<PerSecond>,
    #[serde(flatten)]
    pub period: PeriodResult,
}

/// Phase of a trial with faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultPhase {
    /// Before the first fault.
    Before,
    /// Seconds in which a fault was in effect, or in which clients were not yet served again.
    During,
    /// All later seconds, including those between two faults.
    After,
}

/// Results of one phase of the trials with faults.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FaultPhaseResult {
    pub phase: FaultPhase,
    #[serde(flatten)]
    pub period: PeriodResult,
    /// Longest sampled time by which a replica's data were behind; absent without a sample of replication.
    #[serde(rename = "replay_lag_ns", skip_serializing_if = "Option::is_none")]
    pub replay_lag: Option<Nanos>,
}

/// Stage at which the system broke.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StageBreak {
    /// Index into [`CellResult::stages`].
    pub stage: usize,
    pub reason: StageBreakReason,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum StageBreakReason {
    /// This share (0..=1) of the arrivals failed or was dropped.
    Failed { share: f64 },
    /// Connections were refused, so that some clients may not have been served at all.
    Refused { count: u64 },
    /// The delivered rate was lower than the offered rate.
    Behind { offered: PerSecond, delivered: PerSecond },
    /// More users than in an earlier stage delivered less than that stage.
    Slower { highest: PerSecond, delivered: PerSecond },
}

/// Results of one operation, or of all operations together. Quantiles are computed from merged histograms.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OperationResult {
    /// Name of the operation; empty for all operations together.
    pub name: String,
    /// Offered load in arrivals per second.
    pub offered: PerSecond,
    /// Successful transactions within the window, per second.
    pub delivered: PerSecond,
    /// Rate of successful transactions whose response time is within the bound of an objective; absent without such an
    /// objective.
    pub goodput: Option<PerSecond>,
    pub count: u64,
    pub response: Quantiles,
    /// Response time by quantile, ascending, for a plot on the scale of HdrHistogram; empty if too little was measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub response_curve: Vec<QuantilePoint>,
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
    /// Steps in the order of the operation; empty if it has one SQL statement.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<OperationStep>,
}

/// Results of one step of an operation: an HTTP request, an SQL statement or a pipeline of statements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct OperationStep {
    /// Number of the step in its operation, from 1.
    pub number: u32,
    /// Index of the command in the operation's script, as in the run file.
    pub command: u16,
    /// Name in the experiment file, otherwise the request line or the first line of the statement.
    pub name: String,
    /// Number of requests that succeeded.
    pub ok: u64,
    /// Number of requests at which the operation failed, or may have failed.
    pub failed: u64,
    /// Number of failures after which the transaction was tried again.
    pub retries: u64,
    /// Number of executions of the operation that failed before this step. Absent for SQL: its branches may skip a
    /// step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_reached: Option<u64>,
    /// Times from the end of the previous step to the end of the response, for successful requests and for failures
    /// without a response. Such a failure counts as slower than every measured value.
    pub response: Quantiles,
    /// Failures by code, the most frequent first.
    pub failures: Vec<Failure>,
    /// Bytes of all requests, including failed ones.
    pub sent_bytes: u64,
    /// Bytes of all responses, including responses to failed requests.
    pub received_bytes: u64,
    /// Phases of the HTTP requests that succeeded, in the order of time; phases that did not occur are absent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseFigures>,
}

/// Durations of one phase of HTTP requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PhaseFigures {
    pub phase: RequestPhase,
    /// Number of requests with this phase. Most requests use an open connection, so they have no connect phase.
    pub count: u64,
    /// Mean over these requests.
    #[serde(rename = "mean_ns")]
    pub mean: Nanos,
    #[serde(rename = "max_ns")]
    pub max: Nanos,
}

/// Quantiles of a distribution, with the rules of [`crate::summary::Distribution`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Quantiles {
    /// Unanswered arrivals; absent if all were answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unanswered: Option<UnansweredArrivals>,
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

/// One quantile of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct QuantilePoint {
    /// Share (0..1) of the samples that do not exceed `time`.
    pub quantile: f64,
    #[serde(rename = "time_ns")]
    pub time: Nanos,
}

/// Metrics of one node on the path. Each metric is the median over the valid trials, measured in the last third of the
/// window.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HopMetrics {
    /// Node name; `generator` for the first node.
    pub node: String,
    /// TLS version of connections into the node as in RFCs, such as `1.3`; absent if unencrypted or unknown.
    pub tls: Option<String>,
    /// Number of CPUs used.
    pub cpu: Option<f64>,
    /// Number of CPUs available: the node's quota, or the machine's CPUs.
    pub cpu_limit: Option<f64>,
    /// Share of the quota's periods in which the node was throttled, 0..=1.
    pub throttled: Option<f64>,
    /// Number of transactions that run in the node: active sessions in PostgreSQL, server connections in use in a
    /// pooler.
    pub busy: Option<f64>,
    /// Number of transactions queued in the node for the next node.
    pub queue: Option<f64>,
    /// Mean time that a transaction spends in this node, running or queued, excluding the next nodes. It is computed by
    /// Little's law.
    #[serde(rename = "time_ns")]
    pub time: Option<Nanos>,
}

/// Statement of `pg_stat_statements` within the window; figures are medians over the valid trials.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatementStats {
    /// Normalised text; untrusted input.
    pub text: String,
    /// Identifiers of the statements with this text.
    #[serde(skip)]
    pub query_ids: Vec<i64>,
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
    /// Number of 8 KiB blocks found in shared buffers; `read` is the number of blocks that were not found there.
    #[serde(rename = "blocks_hit")]
    pub hit: Option<f64>,
    #[serde(rename = "blocks_read")]
    pub read: Option<f64>,
}

/// Result of one trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialResult {
    /// Number of the trial in the store, from 1.
    pub id: u32,
    pub cell: usize,
    pub repetition: u32,
    /// Search step that the trial measured; absent for trials outside a search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<SearchStep>,
    pub started_ms: u64,
    /// Status at the trial's end; `None` while the trial runs.
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
    /// Share of the arrivals that did not succeed, 0..=1; `None` without an arrival.
    pub errors: Option<f64>,
    /// Effects of the injected faults; absent without faults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault_injection: Option<FaultInjection>,
    pub charts: Charts,
    /// Notes, such as a note about a probe that could not be read.
    pub notes: Vec<Note>,
    /// Parts of the agents that generated the load; empty without agents.
    #[serde(skip)]
    pub agents: Vec<AgentPart>,
}

impl TrialResult {
    /// Verdict on the trial; invalid if nothing was measured.
    pub fn verdict(&self) -> Verdict {
        if !self.valid || !self.reasons.is_empty() {
            Verdict::Invalid
        } else if self.doubts.iter().any(Doubt::is_in_verdict) {
            Verdict::ValidWithDoubts
        } else {
            Verdict::Valid
        }
    }
}

/// Machine and nodes of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Environment {
    /// Facts about the machine, in the order of display: a key such as `cpu_model`, and its value.
    pub machine: Vec<(String, String)>,
    /// Nodes of all trials; each configuration is listed once.
    pub nodes: Vec<NodeInfo>,
    /// Data that were copied from a database, with the indexes of the cells that found them; empty for other datasets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copied_data: Vec<(Vec<usize>, CopiedData)>,
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
    pub unapplied_limits: Vec<UnappliedLimit>,
    /// Indexes of the cells that use this configuration.
    pub cells: Vec<usize>,
    /// Names and texts of the rendered configuration files.
    pub configuration: Vec<(String, String)>,
}
