//! How much does a system hold, how was that found, and what stops it there?
//!
//! A *subject* is a cell, as it is or with one thing changed; a *step* is one trial of it at one level. What a step showed is
//! a [`Seen`]; the answer is a function of all of them.

use crate::plan::LoadScale;
use crate::{Nanos, PerSecond};
use serde::{Deserialize, Serialize};

/// One trial of a search. Runs keep it as a trial's note with the subject `step`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchStep {
    pub scale: LoadScale,
    /// Arrivals per second of all operations together, or clients.
    pub level: f64,
    #[serde(rename = "stage")]
    pub purpose: StepPurpose,
    /// What is measured.
    #[serde(rename = "window_ns")]
    pub window: Nanos,
    /// What differs from the cell's setup; nothing when `None`.
    #[serde(rename = "nudge")]
    pub perturbation: Option<Perturbation>,
    /// Which search of its subject, from 0: an experiment's `repeat` asks for several.
    pub round: u32,
}

/// Why a level is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepPurpose {
    /// Growing until the first level that is too much.
    Ramp,
    /// So low that a system recovers from levels that were too much.
    Rest,
    /// Between what held and what did not.
    Narrow,
    /// At the answer, on a fresh state.
    Hold,
    /// A smooth ramp to a level, and a hold.
    Confirm,
    Soak,
}

/// One thing that is changed to see whether it is the cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Perturbation {
    #[serde(rename = "turn")]
    pub knob: Knob,
    /// What it was, and what it is now, in the unit of what is turned; absent where it is a switch (on or off, with or
    /// without an index): there is no elasticity then, only a ratio of maxima.
    pub amount: Option<(f64, f64)>,
}

/// What can be turned. Nodes by their names.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Knob {
    /// Processors of a node's quota.
    Cpu { node: String },
    /// Reads per second of a node's quota.
    ReadIops { node: String },
    /// Writes per second of a node's quota.
    WriteIops { node: String },
    /// Bytes of a node's quota.
    Memory { node: String },
    /// Server connections of a pooler, or connections a balancer makes.
    PoolSize { node: String },
    /// A number in a service's environment: its pool, its threads.
    ServiceEnv { node: String, variable: String },
    /// `max_connections` of PostgreSQL.
    Slots { node: String },
    /// Clients, or what may be in flight.
    Clients,
    /// A setting of PostgreSQL, such as `synchronous_commit` to `off`.
    Setting { name: String, value: String },
    /// An index more.
    Index { ddl: String },
    /// Rows of a feed: as they are, or what its table has.
    FeedRows { feed: String },
}

/// What one step showed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepResult {
    pub step: SearchStep,
    pub outcome: LevelOutcome,
    /// Ended well within the window.
    pub delivered: PerSecond,
    /// Of response time; absent with too few samples.
    pub p99: Option<Nanos>,
    pub mean: Option<Nanos>,
}

impl StepResult {
    /// A step of which nothing was measured, or not to its end.
    pub fn from_failed_trial(step: SearchStep, why: String) -> StepResult {
        let outcome = LevelOutcome::Invalid { reason: SearchStopReason::Failed { reason: why } };
        StepResult { step, outcome, delivered: PerSecond(0.0), p99: None, mean: None }
    }
}

/// Whether a level was held.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum LevelOutcome {
    Yes,
    No {
        #[serde(rename = "why")]
        reason: OverloadReason,
    },
    /// Nothing can be said of the system: it was not the system that was measured.
    Invalid {
        #[serde(rename = "why")]
        reason: SearchStopReason,
    },
}

/// Why a level is too much.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum OverloadReason {
    /// This objective was not met.
    Objective { text: String },
    /// It fell behind: what was delivered, of what was offered (0..=1).
    #[serde(rename = "behind")]
    FellBehind { share: f64 },
    /// All of so many clients were busy, and each answer took longer than before: more of them would only wait.
    #[serde(rename = "crowded")]
    ClientsSaturated { clients: u32 },
    /// What is under way grew to the end of the window, and with it response times: it had not come to rest. By so much per
    /// second.
    #[serde(rename = "growing")]
    InFlightGrows { per_second: f64 },
    /// A stop rule fired.
    Rule { rule: String },
}

/// What stopped a search before the system did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum SearchStopReason {
    /// The generator was late or had no reserve.
    Generator,
    /// File descriptors or local ports ran out.
    Descriptors,
    /// All of so many clients were busy, while what was asked was in time: an open test became a closed one.
    ClientCap { clients: u32 },
    /// `most` was reached, and it held.
    #[serde(rename = "most")]
    MaxLevelHeld { level: f64 },
    /// Not even the least level held.
    #[serde(rename = "least")]
    MinLevelFailed { level: f64 },
    /// Several times at one level, and not twice the same: the system has two states.
    Undecided { level: f64 },
    /// The trials ended otherwise than they should, or by the user.
    Failed {
        #[serde(rename = "why")]
        reason: String,
    },
}

/// What a search came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SearchResult {
    pub scale: LoadScale,
    /// The highest level that was held; `None` where something else stopped the search.
    pub level: Option<f64>,
    /// Of 95 %.
    pub interval: Option<(f64, f64)>,
    /// What it delivered there.
    pub delivered: Option<PerSecond>,
    /// Confirming trials at the answer: held, of.
    pub confirmed: (u32, u32),
    /// What broke first above it, the most frequent.
    #[serde(rename = "broke")]
    pub overload: Option<OverloadReason>,
    /// Why there is no answer, or none beyond it.
    #[serde(rename = "hindered")]
    pub stop_reason: Option<SearchStopReason>,
    /// Trials, and their windows together.
    pub trials: u32,
    #[serde(rename = "measured_ns")]
    pub measured: Nanos,
}

/// One cell's maximum, and all that is known of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Maximum {
    pub cell: usize,
    /// Of each search of the cell as it is, by round.
    pub rounds: Vec<SearchResult>,
    /// Of all rounds together.
    pub answer: SearchResult,
    /// Every step of the cell as it is, in the order of time.
    pub steps: Vec<StepResult>,
    /// Of the closed model: throughput against clients.
    pub scalability: Option<Scalability>,
    /// What was turned, the most telling first.
    pub proofs: Vec<Proof>,
    pub cause: Cause,
}

/// Why it stops there.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Cause {
    /// Index into `proofs`: turning it moved the maximum. `by`: what takes all of it, where that is known and nothing could
    /// turn it.
    Proven {
        proof: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        by: Option<Limit>,
    },
    /// Suspected by what was sampled, and not proved: nothing was turned, or turning it did not decide.
    Suspected { suspect: Suspect },
    #[default]
    NotKnown,
}

/// What may be the cause, by what was sampled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Suspect {
    /// What would have to be turned to prove it; nothing that we can turn when `None`.
    #[serde(rename = "nudge")]
    pub perturbation: Option<Perturbation>,
    /// What is suspected, in one of these words.
    pub limit: Limit,
}

/// What can limit a system.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Limit {
    /// Processors of a node.
    Cpu {
        node: String,
    },
    /// Reading from disk.
    Reads {
        node: String,
    },
    /// Writing to disk, WAL apart.
    Writes {
        node: String,
    },
    /// Waiting for the WAL to be on disk.
    WalFlush,
    /// Waiting for replicas.
    SyncReplicas,
    /// Too little memory for the data that are asked for.
    Memory {
        node: String,
    },
    /// A pool of server connections.
    Pool {
        node: String,
    },
    /// Connections of a service.
    ServicePool {
        node: String,
    },
    /// Threads of a service.
    ServiceThreads {
        node: String,
    },
    /// Slots of PostgreSQL.
    Slots {
        node: String,
    },
    /// Transactions that wait for each other's rows.
    RowLocks {
        statement: Option<String>,
    },
    /// A statement that reads the whole table.
    Scan {
        table: String,
        ddl: Option<String>,
    },
    /// Checkpoints.
    Checkpoints,
    /// Too few clients in a closed loop.
    Clients,
    /// What may be in flight in an open one.
    ClientCap,
    /// A feed that fits the cache.
    Feed {
        feed: String,
    },
    /// The machine has no processor to spare.
    Host,
    Generator,
}

/// The maximum with one thing changed, beside the one as it was; measured interleaved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Proof {
    pub limit: Limit,
    #[serde(rename = "nudge")]
    pub perturbation: Perturbation,
    /// The maximum as it is, measured anew beside the other, and with the change.
    pub base: SearchResult,
    pub changed: SearchResult,
    /// Changed ÷ base, and its interval of 95 %.
    pub ratio: Option<(f64, Option<(f64, f64)>)>,
    /// d ln X / d ln Q, and its interval of 95 %; absent for switches.
    pub elasticity: Option<(f64, Option<(f64, f64)>)>,
    pub verdict: ProofVerdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProofVerdict {
    /// Its interval is above what chance and a bystander would give.
    Limits,
    /// Its interval is near 0.
    #[serde(rename = "does_not")]
    DoesNotLimit,
    /// The interval holds both, or one of the maxima could not be found.
    Undecided,
}

/// The Universal Scalability Law, X(N) = λN / (1 + σ(N − 1) + κN(N − 1)), fitted to what was measured; Gunther, "Guerrilla
/// Capacity Planning" (2007). Never read beyond the clients that were measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scalability {
    /// Clients and throughput, measured.
    pub points: Vec<(f64, f64)>,
    /// The same by the law, at each number of clients that was measured.
    pub law: Vec<(f64, f64)>,
    /// Throughput of one client, per second.
    pub lambda: FittedValue,
    /// Contention.
    pub sigma: FittedValue,
    /// Coherency.
    pub kappa: FittedValue,
    /// Clients at its peak, where that is among those measured.
    pub peak: Option<f64>,
    /// Share of the variance that it explains.
    pub r2: f64,
}

/// A parameter, and its interval of 95 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FittedValue {
    pub value: f64,
    pub interval: Option<(f64, f64)>,
}

/// How something moved over a long trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trend {
    #[serde(rename = "what")]
    pub metric: TrendMetric,
    /// Per hour, in its unit, by Theil and Sen.
    pub per_hour: FittedValue,
    /// At the beginning and at the end, by the line.
    pub from: f64,
    pub to: f64,
    #[serde(rename = "course")]
    pub verdict: TrendVerdict,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum TrendMetric {
    /// Bytes.
    Memory {
        node: String,
    },
    /// Seconds, of response.
    Median,
    P99,
    Connections {
        node: String,
    },
    DeadRows {
        table: String,
    },
    /// Bytes of a table with its indexes, or of the database when empty.
    Size {
        table: String,
    },
    Throughput,
    /// Open files of a node.
    Files {
        node: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrendVerdict {
    /// It grows without end in sight: what is taken is not given back.
    Leak,
    /// It moves, and is no resource that is held.
    Drift,
    Steady,
    /// Too short or too noisy to tell.
    Unknown,
}

/// A level held for long, and what changed meanwhile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SoakResult {
    pub cell: usize,
    #[serde(rename = "stage")]
    pub purpose: StepPurpose,
    pub level: f64,
    /// Share of the maximum, where that is known.
    pub of_maximum: Option<f64>,
    #[serde(rename = "lasting_ns")]
    pub duration: Nanos,
    pub outcome: LevelOutcome,
    pub trends: Vec<Trend>,
}

/// What a grid of settings says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plateau {
    /// What was read of each point: its maximum, or what a closed load brought, when true; else the 99th percentile of
    /// response time in seconds.
    pub maxima: bool,
    /// By cell: the figure and its interval; absent where there is none.
    pub points: Vec<Option<FittedValue>>,
    /// Cells that the best one is not shown to beat, the best first.
    pub plateau: Vec<usize>,
    /// The least of the plateau: fewest threads, smallest pool.
    pub recommended: Option<usize>,
    pub needs: Option<RequiredConnections>,
}

/// How many connections the rate needs, by Little's law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RequiredConnections {
    /// Per second.
    pub rate: f64,
    /// Seconds that one transaction holds a connection.
    #[serde(rename = "held")]
    pub hold_time: f64,
    /// Their product.
    pub connections: f64,
    /// Processors that PostgreSQL may use.
    pub processors: f64,
}
