//! Circumstances of a measurement.
//!
//! They do not limit the throughput, but determine its meaning.

use super::ReadVolume;
use crate::EventKind;
use crate::validity::InvalidReason;
use schemars::JsonSchema;
use serde::Serialize;

/// Circumstance of a cell's measurement.
///
/// Figures are medians over the cell's valid trials, unless stated otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Circumstance {
    /// Trials of the cell found different data on the attached server.
    DataChanged {
        /// Size of all tables in the trials with the least and the most data.
        least_bytes: u64,
        most_bytes: u64,
        /// True if tables were created, dropped, truncated or rewritten between trials.
        tables_replaced: bool,
        /// True if the server was restarted between trials.
        restarted: bool,
        trials: u32,
    },
    /// Data that the feed touches fits into the server's memory, but its table does not: a cache was measured.
    FeedFitsCache {
        feed: String,
        rows: u64,
        distinct: u64,
        /// Share of the table's rows, 0..=1.
        share: f64,
        /// Bytes that the feed touches; `bytes` is the size of its table, `memory` the memory that the server may use.
        #[serde(rename = "touched_bytes")]
        touched: u64,
        #[serde(rename = "table_bytes")]
        bytes: u64,
        #[serde(rename = "memory_bytes")]
        memory: u64,
        /// Data read during the measurement.
        read: ReadVolume,
    },
    /// Service with more connections than the pool of the next pooler: its connections queue in the pooler.
    ChainedPools {
        service: String,
        /// Maximum number of connections of all the service's instances.
        connections: f64,
        pooler: String,
        pool: u32,
        /// Assignments of a server connection to a client per transaction; `None` if the console does not report them.
        #[serde(rename = "assignments_per_transaction")]
        lent: Option<f64>,
        /// SET, RESET and DISCARD statements per transaction.
        #[serde(rename = "sets_per_transaction")]
        sets: Option<f64>,
        /// Connections of the service that wait in the pooler.
        waiting: Option<f64>,
    },
    /// Connections are opened constantly, or statements are cancelled.
    ConnectionStorm {
        /// PostgreSQL sessions started, per second and per transaction.
        logins: Option<NormalizedRate>,
        /// Cancelled statements (57014) per thousand transactions.
        #[serde(rename = "cancelled_per_thousand")]
        cancelled: f64,
    },
    /// Trials are invalid because the generator was late or saturated.
    GeneratorLate {
        /// First reason that was found.
        reason: InvalidReason,
        trials: u32,
        total_trials: u32,
    },
    /// Noisy host: CPU steal or late timers.
    NoisyHost {
        /// CPUs that the hypervisor gave to other virtual machines.
        #[serde(rename = "stolen_cpu")]
        stolen: Option<f64>,
        /// 99th percentile of the timer jitter, in seconds.
        #[serde(rename = "jitter_s")]
        jitter: Option<f64>,
    },
    /// Dead rows accumulate from trial to trial, or tables were vacuumed during trials.
    Bloat {
        /// Dead rows in the first trial; `to` is the number in the last one.
        from: f64,
        to: f64,
        /// Live rows.
        live: f64,
        /// Vacuums of tables within trials.
        vacuums: f64,
        trials: u32,
    },
    /// Sessions that are idle in transaction for longer than a second and keep their locks. Their client forgot to
    /// commit, or does other work within the transaction.
    IdleTransactions {
        /// Mean number of such sessions.
        sessions: f64,
        /// Longest observed idle time, in seconds.
        #[serde(rename = "longest_s")]
        longest: f64,
        /// Sessions that hold back vacuum's horizon: they have written, or have a snapshot.
        horizon: f64,
        /// Sessions that wait for their locks.
        blocked: f64,
        /// Pool size, and clients that wait for a server connection. `None` without a pooler, or if its console does
        /// not report them.
        pool: Option<(u32, f64)>,
    },
    /// Violation of Little's law: a node's concurrency, rate and time contradict each other. A client that holds a
    /// server connection for longer than the trial causes this.
    LittlesLawViolation {
        node: String,
        #[serde(rename = "concurrency")]
        number: f64,
        /// Expected number: `rate` × `time`.
        expected: f64,
        /// Transactions per second.
        #[serde(rename = "per_second")]
        rate: f64,
        /// Seconds.
        #[serde(rename = "time_s")]
        time: f64,
    },
    /// Pooler or server counted none or far fewer of the transactions that clients completed, or the balancer had no
    /// session: the load took another path.
    NotUsed {
        node: String,
        /// Transactions that clients completed in the trials in which the node was probed.
        transactions: u64,
        /// Quantity that the node counts.
        counter: UsageCounter,
        /// Count of the node in these trials, without the transactions of the monitoring.
        counted: u64,
        trials: u32,
        total_trials: u32,
    },
    /// Errors in PostgreSQL's log, by the path of the sessions that caused them. By kind, the most frequent origin
    /// first.
    ErrorOrigins { errors: Vec<LoggedErrors> },
    /// Rules that were skipped because an input is missing.
    RulesSkipped {
        /// Skipped rules in the order of [`FindingRule`].
        rules: Vec<(FindingRule, MissingInput)>,
    },
}

/// Quantity that shows whether the load passed through a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UsageCounter {
    Transactions,
    Sessions,
}

/// Errors of one kind and origin in PostgreSQL's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LoggedErrors {
    pub kind: EventKind,
    pub origin: SessionOrigin,
    pub lines: u64,
}

/// Path of a session at PostgreSQL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "through")]
pub enum SessionOrigin {
    /// Through this pooler, balancer or service, which is next to PostgreSQL.
    Node { node: String },
    /// A client of the load, without a node in between.
    Direct,
    /// pgdyno itself, such as its monitoring.
    Own,
    /// Another program.
    Other { application: String, client: String },
    /// The line does not name its session.
    Unknown,
}

/// Rate per second and per transaction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NormalizedRate {
    pub per_second: f64,
    pub per_transaction: f64,
}

/// Rule that derives findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingRule {
    ServerCpu,
    PoolerCpu,
    ServiceCpu,
    Pool,
    ServicePool,
    ServiceThreads,
    Waits,
    Reads,
    Writes,
    Memory,
    Scans,
    Checkpoints,
    Storm,
    Bloat,
    IdleTransactions,
    Host,
    Feed,
}

/// Input that a rule needs and did not get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MissingInput {
    /// Control group, or the processes of a node that runs elsewhere.
    Group,
    /// Quota or number of CPUs.
    Quota,
    /// Statistics of the server's sessions and tables.
    Server,
    /// Statistics of the pooler's console.
    Console,
    /// `/stats` of the service.
    Stats,
    /// Statistics of the machine.
    Machine,
    /// Column in which a feed's values occur.
    Column,
}
