//! Search for the maximum: steps, results, limiter, and trends of a soak.
//!
//! A *subject* is a cell, unchanged or with one perturbation. A *step* is one trial of a subject at one level. A step's
//! result is a [`StepResult`]; the answer is a function of all results.

use crate::plan::LoadScale;
use crate::{Nanos, PerSecond};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Trial of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchStep {
    pub scale: LoadScale,
    /// Arrivals per second of all operations together, or clients.
    pub level: f64,
    #[serde(alias = "stage")]
    pub purpose: StepPurpose,
    /// Measured duration.
    #[serde(rename = "window_ns")]
    pub window: Nanos,
    /// Difference from the cell's setup; `None` if there is none.
    #[serde(alias = "nudge")]
    pub perturbation: Option<Perturbation>,
    /// Number of the search of its subject, from 0; an experiment's `repeat` asks for several.
    pub round: u32,
}

/// Purpose of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepPurpose {
    /// Increasing levels up to the first that is not sustained.
    Ramp,
    /// Level low enough that a system recovers from overload.
    Rest,
    /// Levels between a sustained one and one that is not.
    Narrow,
    /// Confirmation of the answer, with fresh state.
    Hold,
    /// Smooth ramp to a level, then a hold.
    Confirm,
    Soak,
}

/// Deliberate change of one knob, to see whether it is the limiter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Perturbation {
    #[serde(alias = "turn")]
    pub knob: Knob,
    /// Old and new value in the knob's unit.
    ///
    /// Absent for a switch (on or off, with or without an index). A switch has no elasticity, only a ratio of maxima.
    pub amount: Option<(f64, f64)>,
}

/// Knob of the setup. Nodes are given by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Knob {
    /// CPUs of a node's quota.
    Cpu { node: String },
    /// Reads per second of a node's quota.
    ReadIops { node: String },
    /// Writes per second of a node's quota.
    WriteIops { node: String },
    /// Bytes of a node's memory limit.
    Memory { node: String },
    /// Server connections of a pooler or balancer.
    PoolSize { node: String },
    /// Number in a service's environment, such as its pool size or thread count.
    ServiceEnv { node: String, variable: String },
    /// `max_connections` of PostgreSQL.
    Slots { node: String },
    /// Clients, or the in-flight cap.
    Clients,
    /// PostgreSQL setting, such as `synchronous_commit` to `off`.
    Setting { name: String, value: String },
    /// Additional index.
    Index { ddl: String },
    /// Rows of a feed: the original number, or as many as its table has.
    FeedRows { feed: String },
}

/// Result of one step.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StepResult {
    pub step: SearchStep,
    pub outcome: LevelOutcome,
    /// Successful transactions within the window, per second.
    pub delivered: PerSecond,
    /// Response time; absent with too few samples.
    #[serde(rename = "p99_ns")]
    pub p99: Option<Nanos>,
    #[serde(rename = "mean_ns")]
    pub mean: Option<Nanos>,
}

impl StepResult {
    /// Result of a step that was not measured, or not to its end.
    pub fn from_failed_trial(step: SearchStep, why: String) -> StepResult {
        let outcome = LevelOutcome::Invalid { reason: SearchStopReason::Failed { reason: why } };
        StepResult { step, outcome, delivered: PerSecond(0.0), p99: None, mean: None }
    }
}

/// Outcome of a level: sustained, not sustained, or invalid.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum LevelOutcome {
    #[serde(rename = "sustained")]
    Yes,
    #[serde(rename = "not_sustained")]
    No { reason: OverloadReason },
    /// Invalid: the measurement does not describe the system.
    Invalid { reason: SearchStopReason },
}

/// Reason why a level is not sustained.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum OverloadReason {
    /// Objective that was violated.
    Objective { text: String },
    /// Delivered share of the offered load (0..=1) is too low.
    FellBehind { share: f64 },
    /// All clients were busy and response times rose, so more clients would only queue.
    ClientsSaturated { clients: u32 },
    /// Number of transactions in flight grew until the end of the window, and response times with it. Growth per
    /// second.
    InFlightGrows { per_second: f64 },
    /// Stop rule that fired.
    Rule { rule: String },
}

/// Reason why a search stopped before the system's limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum SearchStopReason {
    /// Generator was late or saturated.
    Generator,
    /// File descriptors or local ports ran out.
    Descriptors,
    /// All clients were busy while the load was still delivered: the test was no longer open-loop.
    ClientCap { clients: u32 },
    /// Level `most` was reached and sustained.
    #[serde(alias = "most")]
    MaxLevelHeld { level: f64 },
    /// Lowest level was not sustained.
    #[serde(alias = "least")]
    MinLevelFailed { level: f64 },
    /// Contradictory results at one level in several trials: the system has two states.
    Undecided { level: f64 },
    /// Trials failed, or the user interrupted them.
    Failed {
        #[serde(alias = "why")]
        reason: String,
    },
}

/// Answer of a search.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SearchResult {
    pub scale: LoadScale,
    /// Highest sustained level; `None` if something else stopped the search.
    pub level: Option<f64>,
    /// 95 % confidence interval.
    pub interval: Option<(f64, f64)>,
    /// Throughput at that level.
    pub delivered: Option<PerSecond>,
    /// Confirming trials at the answer: sustained, total.
    pub confirmed: (u32, u32),
    /// Most frequent reason for overload above the answer.
    pub overload: Option<OverloadReason>,
    /// Reason why there is no answer, or no higher one.
    pub stop_reason: Option<SearchStopReason>,
    /// Number of trials; `measured` is the sum of their windows.
    pub trials: u32,
    #[serde(rename = "measured_ns")]
    pub measured: Nanos,
}

/// Maximum of one cell, with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Maximum {
    pub cell: usize,
    /// Result of each search of the unchanged cell, by round.
    pub rounds: Vec<SearchResult>,
    /// Result of all rounds together.
    pub answer: SearchResult,
    /// Steps of the unchanged cell in order of time.
    pub steps: Vec<StepResult>,
    /// Throughput against clients; closed model only.
    pub scalability: Option<Scalability>,
    /// Perturbations, the most informative first.
    pub proofs: Vec<Proof>,
    pub cause: Cause,
}

/// Limiter of a cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Cause {
    /// Proven: the perturbation moved the maximum.
    ///
    /// `proof` is an index into `proofs`. `by` is the work that saturates PostgreSQL's CPU, if it is known and no knob
    /// changes it.
    Proven {
        proof: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[serde(rename = "root_cause")]
        by: Option<Limit>,
    },
    /// Suspected from samples, not proven: no perturbation was tried, or its result is undecided.
    Suspected { suspect: Suspect },
    #[default]
    NotKnown,
}

/// Suspected limiter, derived from samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Suspect {
    /// Perturbation that would prove it; `None` if there is no knob.
    #[serde(alias = "nudge")]
    pub perturbation: Option<Perturbation>,
    /// Limiter that is suspected.
    pub limit: Limit,
}

/// Suspected limiters of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellSuspects {
    /// Index into the experiment's cells.
    pub cell: usize,
    /// Suspects, the most likely one first.
    pub suspects: Vec<Suspect>,
}

/// Kind of limiter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Limit {
    /// CPUs of a node.
    Cpu {
        node: String,
    },
    /// Disk reads.
    Reads {
        node: String,
    },
    /// Disk writes other than WAL.
    Writes {
        node: String,
    },
    /// WAL flush.
    WalFlush,
    /// Synchronous replicas.
    SyncReplicas,
    /// Memory too small for the requested data.
    Memory {
        node: String,
    },
    /// Pool of server connections.
    Pool {
        node: String,
    },
    /// Connection pool of a service.
    ServicePool {
        node: String,
    },
    /// Threads of a service.
    ServiceThreads {
        node: String,
    },
    /// Connection slots of PostgreSQL.
    Slots {
        node: String,
    },
    /// Row locks.
    RowLocks {
        statement: Option<String>,
    },
    /// Statement that scans a whole table.
    Scan {
        table: String,
        ddl: Option<String>,
    },
    /// Checkpoints.
    Checkpoints,
    /// Too few closed-loop clients.
    Clients,
    /// In-flight cap of an open-loop test.
    ClientCap,
    /// Feed that fits into the cache.
    Feed {
        feed: String,
    },
    /// Saturated CPUs of the machine.
    Host,
    Generator,
}

/// Maximum with one perturbation compared with the unchanged maximum, in interleaved trials.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Proof {
    pub limit: Limit,
    pub perturbation: Perturbation,
    /// Unchanged maximum, measured again together with the perturbed one.
    pub base: SearchResult,
    pub changed: SearchResult,
    /// Changed ÷ base, with its 95 % confidence interval.
    pub ratio: Option<(f64, Option<(f64, f64)>)>,
    /// Elasticity d ln X / d ln Q, with its 95 % confidence interval; absent for switches.
    pub elasticity: Option<(f64, Option<(f64, f64)>)>,
    pub verdict: ProofVerdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProofVerdict {
    /// Interval is above the values expected from chance and from an unrelated resource.
    Limits,
    /// Interval is near 0.
    DoesNotLimit,
    /// Interval includes both, or one of the maxima was not found.
    Undecided,
}

/// Universal Scalability Law, X(N) = λN / (1 + σ(N − 1) + κN(N − 1)), fitted to the measured points. Not extrapolated
/// beyond the measured clients. Source: N. Gunther, "Guerrilla Capacity Planning" (2007).
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Scalability {
    /// Measured points: clients and throughput.
    pub points: Vec<(f64, f64)>,
    /// Points of the fitted law at each measured number of clients.
    pub law: Vec<(f64, f64)>,
    /// Throughput of one client, per second.
    pub lambda: FittedValue,
    /// Contention.
    pub sigma: FittedValue,
    /// Coherency.
    pub kappa: FittedValue,
    /// Number of clients at the peak, if it lies within the measured range.
    pub peak: Option<f64>,
    /// Share of the variance that the law explains.
    pub r2: f64,
}

/// Value with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FittedValue {
    pub value: f64,
    pub interval: Option<(f64, f64)>,
}

/// Trend of one metric over a long trial.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Trend {
    pub metric: TrendMetric,
    /// Slope per hour in the metric's unit, by the Theil–Sen estimator.
    pub per_hour: FittedValue,
    /// Values of the fitted line at the start and the end.
    pub from: f64,
    pub to: f64,
    pub verdict: TrendVerdict,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum TrendMetric {
    /// Bytes.
    Memory {
        node: String,
    },
    /// Response time in seconds.
    Median,
    P99,
    Connections {
        node: String,
    },
    DeadRows {
        table: String,
    },
    /// Bytes of a table with its indexes, or of the database if `table` is empty.
    Size {
        table: String,
    },
    Throughput,
    /// Open files of a node.
    Files {
        node: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrendVerdict {
    /// Growth without a bound: the resource is not released.
    Leak,
    /// Movement of a metric that is not a held resource.
    Drift,
    Steady,
    /// Too short or too noisy to decide.
    Unknown,
}

/// Level held for a long time, with the trends during it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SoakResult {
    pub cell: usize,
    pub purpose: StepPurpose,
    pub level: f64,
    /// Share of the maximum, if it is known.
    #[serde(rename = "share_of_maximum")]
    pub of_maximum: Option<f64>,
    #[serde(rename = "duration_ns")]
    pub duration: Nanos,
    pub outcome: LevelOutcome,
    pub trends: Vec<Trend>,
}

/// Conclusion from a grid of settings.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Plateau {
    /// True if `points` are maxima or the throughput of a closed load; otherwise p99 response times in seconds.
    pub maxima: bool,
    /// Figure and interval by cell; absent if there is none.
    pub points: Vec<Option<FittedValue>>,
    /// Cells that the best one is not shown to beat, the best first.
    pub plateau: Vec<usize>,
    /// Smallest setting of the plateau: fewest threads, smallest pool.
    pub recommended: Option<usize>,
    pub needs: Option<RequiredConnections>,
}

/// Number of connections that the rate requires, by Little's law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RequiredConnections {
    /// Transactions per second.
    pub rate: f64,
    /// Seconds for which a transaction holds a connection.
    #[serde(rename = "hold_time_s")]
    pub hold_time: f64,
    /// Product of rate and hold time.
    pub connections: f64,
    /// CPUs available to PostgreSQL.
    pub processors: f64,
}
