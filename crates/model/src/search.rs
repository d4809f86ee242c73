//! Search for the maximum: steps, results and limiters; trends of a soak.
//!
//! A *subject* is a cell, unchanged or with one perturbation. A *step* is one trial of a subject at one level, and its
//! result is a [`StepResult`]. The result of a search is a function of all step results.

use crate::avoidable_work::AvoidableWork;
use crate::finding::ConnectionLimit;
use crate::lock::LockKind;
use crate::message::Message;
use crate::objective::ObjectiveResult;
use crate::plan::LoadScale;
use crate::{Nanos, PerSecond};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Step of a search: one trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchStep {
    pub scale: LoadScale,
    /// Level of the load: arrivals per second of all operations together, or number of clients.
    pub level: f64,
    #[serde(alias = "stage")]
    pub purpose: StepPurpose,
    /// Duration of the measured window.
    #[serde(rename = "window_ns")]
    pub window: Nanos,
    /// Difference from the cell's setup; `None` if the setup is unchanged.
    #[serde(alias = "nudge")]
    pub perturbation: Option<Perturbation>,
    /// Number of the subject's search, from 0. An experiment's `repeat` sets the number of searches.
    pub round: u32,
}

/// Purpose of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepPurpose {
    /// Ramp: increasing levels up to the first level that is not sustained.
    Ramp,
    /// Rest: a level low enough for the system to recover from overload.
    Rest,
    /// Narrowing: levels between a sustained level and a level that is not sustained.
    Narrow,
    /// Confirmation of the maximum, on a fresh state.
    Hold,
    /// Smooth ramp to a level, then a hold at that level.
    Confirm,
    Soak,
}

impl StepPurpose {
    /// True for the steps that look for the highest sustained level; false for those that measure one level.
    pub fn seeks_limit(self) -> bool {
        match self {
            StepPurpose::Ramp | StepPurpose::Rest | StepPurpose::Narrow => true,
            StepPurpose::Hold | StepPurpose::Confirm | StepPurpose::Soak => false,
        }
    }
}

/// Perturbation: a deliberate change of one knob that shows whether the knob limits the maximum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Perturbation {
    #[serde(alias = "turn")]
    pub knob: Knob,
    /// Old and new value in the knob's unit.
    ///
    /// Absent for a knob without a numeric value, such as a setting that is on or off. Such a knob has no elasticity,
    /// only a ratio of maxima.
    pub amount: Option<(f64, f64)>,
    /// Changes that are made together with this one, which then has no elasticity either.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub together_with: Vec<Perturbation>,
}

impl Perturbation {
    pub fn new(knob: Knob, amount: Option<(f64, f64)>) -> Perturbation {
        Perturbation { knob, amount, together_with: Vec::new() }
    }

    /// True if the perturbation lowers a quota.
    pub fn is_decrease(&self) -> bool {
        self.amount.is_some_and(|(from, to)| to < from)
    }

    /// Ratio of the new value to the old one; `None` if the perturbation has no elasticity.
    pub fn ratio(&self) -> Option<f64> {
        let (from, to) = self.amount.filter(|_| self.together_with.is_empty())?;
        Some(to / from)
    }
}

/// Knob of the setup. Nodes are given by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Knob {
    /// CPU quota of a node, in CPUs.
    Cpu { node: String },
    /// Quota of disk reads of a node, per second.
    ReadIops { node: String },
    /// Quota of disk writes of a node, per second.
    WriteIops { node: String },
    /// Memory limit of a node, in bytes.
    Memory { node: String },
    /// Number of server connections of a pooler or balancer.
    PoolSize { node: String },
    /// Setting of a pooler that limits its server connections.
    PoolSetting { node: String, setting: String },
    /// Number in a service's environment, such as a pool size or thread count.
    ServiceEnv { node: String, variable: String },
    /// `max_connections` of PostgreSQL.
    Slots { node: String },
    /// Number of clients, or the in-flight cap.
    Clients,
    /// PostgreSQL setting and its value, such as `synchronous_commit` and `off`.
    Setting { name: String, value: String },
    /// Additional index, created by this statement.
    Index { ddl: String },
    /// VACUUM or ANALYZE of a table, before each trial.
    Maintenance { statement: String },
    /// Connections that stay open from one transaction to the next.
    KeepConnections,
    /// Number of rows of a feed: the feed's own rows, or all rows of the table to which they refer.
    FeedRows { feed: String },
}

/// Result of one step.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StepResult {
    pub step: SearchStep,
    pub outcome: LevelOutcome,
    /// Successful transactions within the window, per second.
    pub delivered: PerSecond,
    /// 95th percentile of the response time; absent with too few samples.
    #[serde(rename = "p95_ns")]
    pub p95: Option<Nanos>,
    /// 99th percentile of the response time; absent with too few samples.
    #[serde(rename = "p99_ns")]
    pub p99: Option<Nanos>,
    #[serde(rename = "mean_ns")]
    pub mean: Option<Nanos>,
    /// Results of the objectives on response times, in the order of the experiment file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub time_objectives: Vec<ObjectiveResult>,
}

impl StepResult {
    /// Result of a step whose trial failed or was not completed.
    pub fn from_failed_trial(step: SearchStep, reason: Message) -> StepResult {
        let outcome = LevelOutcome::Invalid { reason: SearchStopReason::Failed { reason } };
        StepResult {
            step,
            outcome,
            delivered: PerSecond(0.0),
            p95: None,
            p99: None,
            mean: None,
            time_objectives: Vec::new(),
        }
    }
}

/// Outcome of a level: sustained, not sustained, or invalid.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum LevelOutcome {
    #[serde(rename = "sustained")]
    Sustained,
    #[serde(rename = "not_sustained")]
    NotSustained { reason: OverloadReason },
    /// Invalid: the measurement does not describe the system.
    Invalid { reason: SearchStopReason },
}

/// Reason why a level is not sustained.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum OverloadReason {
    /// Violated objective.
    Objective { text: String },
    /// Delivered share of the offered load (0..=1) that is too low.
    FellBehind { share: f64 },
    /// Saturated clients: all were busy and response times rose, so more clients would only queue.
    ClientsSaturated { clients: u32 },
    /// In-flight transactions that increased until the end of the window, by `per_second` transactions per second.
    InFlightGrows { per_second: f64 },
    /// Stop rule that fired.
    Rule { rule: String },
}

/// Reason why a search stopped before the system's limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum SearchStopReason {
    /// Late or saturated generator.
    Generator,
    /// Late or saturated agents; fields are as in [`crate::validity::InvalidReason::AgentsLimit`].
    Agents { agents: usize, more: usize, busy: Option<f64> },
    /// Host that was busy with other programs: a late generator thread waited for a CPU during this share of the
    /// window, 0..=1.
    Host { share: f64 },
    /// Exhausted file descriptors or local ports.
    Descriptors,
    /// In-flight cap that was reached although the system was not shown to be overloaded: the test was no longer
    /// open-loop.
    ClientCap { clients: u32 },
    /// Sustained level at the upper bound of the search.
    #[serde(alias = "most")]
    MaxLevelHeld { level: f64 },
    /// Lowest level of the search, which was not sustained.
    #[serde(alias = "least")]
    MinLevelFailed { level: f64 },
    /// Too few samples to judge an objective or, if `objective` is `None`, the delivered share of the load.
    TooFewSamples {
        objective: Option<String>,
        /// Number of samples that were measured, and that the objective requires.
        samples: u64,
        needed: u64,
    },
    /// Contradictory results of trials at about the same level, which may mean that the system has two states.
    Undecided { level: f64 },
    /// Trials that failed or were interrupted by the user.
    Failed {
        #[serde(alias = "why")]
        reason: Message,
    },
}

/// Result of a search.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SearchResult {
    pub scale: LoadScale,
    /// Highest sustained level; `None` if something else stopped the search.
    pub level: Option<f64>,
    /// 95 % confidence interval of the level.
    pub interval: Option<(f64, f64)>,
    /// Throughput at the level, per second.
    pub delivered: Option<PerSecond>,
    /// Numbers of confirming trials at the level: sustained, total.
    pub confirmations: (u32, u32),
    /// Most frequent reason for overload above the level.
    pub overload: Option<OverloadReason>,
    /// Reason why the search found no level, or tried no higher level.
    pub stop_reason: Option<SearchStopReason>,
    /// Trials at the found level. If no level was found, trials at the highest level that most of its trials sustained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sustained: Option<LevelTrials>,
    /// Trials at the lowest level above `sustained` that some trial did not sustain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<LevelTrials>,
    /// Trials at the highest level below `sustained` that all of its trials sustained. Absent if all trials at the
    /// level of `sustained` sustained it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fully_sustained: Option<LevelTrials>,
    /// Number of trials; `measured` is the total duration of their windows.
    pub trials: u32,
    #[serde(rename = "measured_ns")]
    pub measured: Nanos,
}

/// Level, with the number of trials that measured it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LevelTrials {
    pub level: f64,
    /// Number of trials that sustained the level.
    pub sustained: u32,
    /// Number of trials with a result.
    pub trials: u32,
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
    /// Throughput as a function of the number of clients; closed model only.
    pub scalability: Option<Scalability>,
    /// Proofs by perturbation, the most informative first.
    pub proofs: Vec<Proof>,
    pub cause: Cause,
}

/// Cause that limits a cell's throughput.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Cause {
    /// Proven limiter: the perturbation moved the maximum.
    ///
    /// `proof` is an index into `proofs`. `root_cause` is the work that saturates PostgreSQL's CPU. It is absent if the
    /// work is unknown, or if a knob can change the work.
    Proven {
        proof: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        root_cause: Option<Limit>,
    },
    /// Limiter suspected from samples but not proven: no perturbation was tried, or its result is undecided.
    Suspected { suspect: Suspect },
    #[default]
    NotKnown,
}

/// Suspected limiter, derived from samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Suspect {
    /// Perturbation that would prove the limiter; `None` if there is no knob for it.
    #[serde(alias = "nudge")]
    pub perturbation: Option<Perturbation>,
    /// Suspected limiter.
    pub limit: Limit,
    /// Throughput of the overloaded levels, if it is the only evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saturation: Option<Saturation>,
}

impl Suspect {
    pub fn new(limit: Limit, perturbation: Option<Perturbation>) -> Suspect {
        Suspect { perturbation, limit, saturation: None }
    }
}

/// Throughput that does not rise with the offered load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Saturation {
    /// Successful transactions per second.
    pub delivered: f64,
    /// Lowest and highest offered level.
    pub offered: (f64, f64),
}

/// Suspected limiters of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellSuspects {
    /// Index into the experiment's cells.
    pub cell: usize,
    /// Suspects, the most likely suspect first.
    pub suspects: Vec<Suspect>,
}

/// Resource or setting that limits the throughput.
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
    /// Flushes of WAL to the disk.
    WalFlush,
    /// Confirmations by synchronous replicas.
    SyncReplicas,
    /// Memory too small for the requested data.
    Memory {
        node: String,
    },
    /// Pool of server connections.
    Pool {
        node: String,
    },
    /// Setting of a pooler, other than the pool size, that limits its server connections.
    PoolSetting {
        node: String,
        setting: String,
    },
    /// Connection pool within a service.
    ServicePool {
        node: String,
    },
    /// Threads of a service.
    ServiceThreads {
        node: String,
    },
    /// Inside of a service that shows no exhausted resource.
    Service {
        node: String,
    },
    /// Connection slots of PostgreSQL, or the connections that it allows a role or database.
    Slots {
        node: String,
        /// Absent in older runs.
        #[serde(default)]
        limit: ConnectionLimit,
    },
    /// Row locks.
    RowLocks {
        statement: Option<String>,
    },
    /// Locks other than row locks.
    Locks {
        lock: LockKind,
        statement: Option<String>,
    },
    /// Work of PostgreSQL that could be avoided.
    Work {
        work: AvoidableWork,
    },
    /// Sessions that are idle in transaction.
    IdleTransactions,
    /// Clients that read results slowly.
    ResultReading,
    /// Delayed acknowledgements of TCP.
    DelayedAcknowledgements,
    /// Sequential scan by a statement.
    Scan {
        table: String,
        ddl: Option<String>,
    },
    /// Checkpoints.
    Checkpoints,
    /// Transactions that fail because of concurrent ones: serialization failures or deadlocks.
    Conflicts {
        /// SQLSTATE: `40001` or `40P01`.
        code: String,
    },
    /// Number of closed-loop clients.
    Clients,
    /// In-flight cap of an open-loop test.
    ClientCap,
    /// Feed whose data fits into the cache.
    Feed {
        feed: String,
    },
    /// CPUs of the machine, which are saturated.
    Host,
    Generator,
    /// Limits of which none moves the maximum alone, because the other one is reached at the same load.
    Together {
        limits: Vec<Limit>,
    },
}

/// Proof of a limiter: the maximum with one perturbation is compared with the unchanged maximum. The trials of both are
/// interleaved.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Proof {
    pub limit: Limit,
    pub perturbation: Perturbation,
    /// Unchanged maximum, measured again in trials that alternate with the trials of the perturbation.
    pub base: SearchResult,
    pub perturbed: SearchResult,
    /// Ratio of the perturbed maximum to the unchanged maximum, with its 95 % confidence interval.
    pub ratio: Option<(f64, Option<(f64, f64)>)>,
    /// Elasticity d ln X / d ln Q of the maximum, with its 95 % confidence interval; absent for switches.
    pub elasticity: Option<(f64, Option<(f64, f64)>)>,
    pub verdict: ProofVerdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProofVerdict {
    /// The knob limits the maximum: the whole interval is above the values that chance or an unrelated resource would
    /// cause.
    Limits,
    /// The knob does not limit the maximum: the whole interval is near 0.
    DoesNotLimit,
    /// Undecided: the interval allows both conclusions, or one of the maxima was not found.
    Undecided,
}

/// Fit of the Universal Scalability Law, X(N) = λN / (1 + σ(N − 1) + κN(N − 1)), to measured points. The fit is not
/// extrapolated beyond the measured numbers of clients. Source: N. Gunther, "Guerrilla Capacity Planning" (2007).
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Scalability {
    /// Measured points: number of clients and throughput per second.
    pub points: Vec<(f64, f64)>,
    /// Throughput of the fitted law at each measured number of clients.
    pub law: Vec<(f64, f64)>,
    /// Throughput λ of one client, per second.
    pub lambda: FittedValue,
    /// Contention σ, dimensionless.
    pub sigma: FittedValue,
    /// Coherency κ, dimensionless.
    pub kappa: FittedValue,
    /// Number of clients at the peak of the law; absent if the peak is outside the measured range.
    pub peak: Option<f64>,
    /// Coefficient of determination: share of the variance that the law explains.
    pub r2: f64,
}

/// Fitted value with its 95 % confidence interval.
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
    /// Value of the fitted line at the start of the trial, after the warm-up; `end` is the value at the end of the
    /// trial.
    pub start: f64,
    pub end: f64,
    pub verdict: TrendVerdict,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum TrendMetric {
    /// Memory of a node in bytes.
    Memory {
        node: String,
    },
    /// Median of the response time in seconds.
    Median,
    P99,
    Connections {
        node: String,
    },
    DeadRows {
        table: String,
    },
    /// Size in bytes of a table with its indexes, or of the database if `table` is empty.
    Size {
        table: String,
    },
    Throughput,
    /// Number of open files of a node.
    Files {
        node: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrendVerdict {
    /// Leak: the metric keeps growing, because a resource is not released.
    Leak,
    /// Drift: the metric keeps changing, but is not a growing resource.
    Drift,
    Steady,
    /// Unknown: the trial is too short or the metric too noisy to decide.
    Unknown,
}

/// Result of a soak: a level held for a long time, with trends of metrics.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SoakResult {
    pub cell: usize,
    pub purpose: StepPurpose,
    pub level: f64,
    /// Held level as a share of the maximum; absent if the maximum is unknown.
    pub share_of_maximum: Option<f64>,
    #[serde(rename = "duration_ns")]
    pub duration: Nanos,
    pub outcome: LevelOutcome,
    pub trends: Vec<Trend>,
}

/// Conclusion from a sweep over a grid of settings.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Plateau {
    /// True if `points` are maxima or the throughput of a closed load; false if they are p99 response times in seconds.
    pub maxima: bool,
    /// Value of each cell with its interval; `None` for a cell without a value.
    pub points: Vec<Option<FittedValue>>,
    /// Cells that are not measurably worse than the best cell, the best cell first.
    pub plateau: Vec<usize>,
    /// Cell of the plateau with the smallest setting, such as the fewest threads or the smallest pool.
    pub recommended: Option<usize>,
    pub required_connections: Option<RequiredConnections>,
}

/// Number of connections that a transaction rate requires, by Little's law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RequiredConnections {
    /// Transaction rate per second.
    pub rate: f64,
    /// Time in seconds for which a transaction holds a connection.
    #[serde(rename = "hold_time_s")]
    pub hold_time: f64,
    /// Required connections: product of rate and hold time.
    pub connections: f64,
    /// Number of CPUs available to PostgreSQL.
    pub processors: f64,
}
