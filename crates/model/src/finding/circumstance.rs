//! Circumstances of a measurement: facts that affect the interpretation of the throughput but do not limit it.

use super::ReadVolume;
use crate::EventKind;
use crate::matrix::Figure;
use crate::server_log::CellDeadlocks;
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
        /// Size of all tables in bytes, in the trial with the least data; `max_bytes` is the size in the trial with the
        /// most data.
        min_bytes: u64,
        max_bytes: u64,
        /// True if tables were created, dropped, truncated or rewritten between trials.
        tables_replaced: bool,
        /// True if the server was restarted between trials.
        restarted: bool,
        trials: u32,
    },
    /// The table's rows that the feed selects fit into the server's memory, but the table does not, so a cache was
    /// measured.
    FeedFitsCache {
        feed: String,
        rows: u64,
        distinct: u64,
        /// Share of the table's rows that the feed touches, 0..=1.
        share: f64,
        /// Bytes that the feed touches. `table_bytes` is the size of the feed's table, and `memory_bytes` is the memory
        /// that the server may use.
        touched_bytes: u64,
        table_bytes: u64,
        memory_bytes: u64,
        /// Data read per transaction.
        read: ReadVolume,
    },
    /// The copies of a service did not get equal shares of the requests.
    UnevenCopies {
        service: String,
        /// Balancer in front of the copies.
        balancer: String,
        /// Number of requests that the balancer distributed, over all valid trials.
        requests: u64,
        shares: Vec<CopyShare>,
    },
    /// A service has more connections than the pool of the next pooler, so its connections queue in the pooler.
    ChainedPools {
        service: String,
        /// Maximum number of connections of all instances of the service together.
        connections: f64,
        pooler: String,
        pool: u32,
        /// Number of assignments of a server connection to a client, per transaction; `None` if the console does not
        /// report them.
        assignments_per_transaction: Option<f64>,
        /// Number of SET, RESET and DISCARD statements per transaction.
        sets_per_transaction: Option<f64>,
        /// Number of the service's connections that wait in the pooler.
        waiting: Option<f64>,
    },
    /// Connections are opened constantly, or statements are cancelled.
    ConnectionStorm {
        /// PostgreSQL sessions started, per second and per transaction.
        logins: Option<NormalizedRate>,
        /// Number of cancelled statements (57014) per thousand transactions.
        cancelled_per_thousand: f64,
    },
    /// Statements between which the most deadlocks occurred, by the server's log.
    DeadlockStatements {
        most: CellDeadlocks,
        /// Number of all deadlocks in the log, over all trials.
        total: u64,
        /// Number of distinct combinations of statements.
        kinds: u64,
    },
    /// PostgreSQL counted far more deadlocks than clients saw: the service or the driver retried or hid the errors. The
    /// numbers are sums over all trials.
    HiddenDeadlocks {
        /// Number of deadlocks by the server's counters (`pg_stat_database.deadlocks`).
        counted: u64,
        /// Number of transactions that failed for clients with a deadlock.
        clients: u64,
        /// Databases in which they occurred. The server does not count them by session.
        databases: Vec<String>,
    },
    /// PostgreSQL had no free connection slot, so it refuses further logins (53300).
    NoFreeSlots {
        /// Share of the samples without a free slot, 0..=1.
        share: f64,
        /// Largest number of sessions, without those of the monitoring.
        sessions: f64,
    },
    /// Active clients or sessions fell to less than half for several seconds, while the offered load was constant and
    /// transactions in flight grew. The figures describe the longest such time.
    ActiveCollapse {
        node: String,
        counted: ActiveCount,
        /// Number of active clients or sessions before the collapse, as a median of five seconds, and their mean during
        /// it.
        before: f64,
        during: f64,
        /// First second of the collapse in the trial's window, from 0, and the number of its seconds.
        from_second: u64,
        seconds: u64,
        /// Offered load in arrivals per second.
        rate: f64,
        /// Transactions in flight before the collapse, and at its end.
        in_flight_before: f64,
        in_flight_after: u64,
        /// Cancelled statements (57014) in the logs, from the second before the collapse to its end.
        cancelled: u64,
        /// PostgreSQL's logins per second before and during the collapse; `None` if the server does not count them.
        logins: Option<(f64, f64)>,
        /// Number of PostgreSQL's sessions before the collapse minus their number during it, at least 0.
        closed: f64,
        /// Repetition of the described trial, from 0.
        repetition: u32,
        /// Number of trials with a collapse.
        trials: u32,
        total_trials: u32,
    },
    /// Sessions of PostgreSQL ended abnormally, by the server's counters. The numbers are sums over all trials.
    SessionsLost {
        /// Sessions that ended with a FATAL error.
        fatal: u64,
        /// Sessions that were terminated by an operator or a shutdown.
        killed: u64,
        /// Sessions whose clients vanished without closing the connection.
        abandoned: u64,
        databases: Vec<String>,
    },
    /// Trials are invalid because the generator was late or saturated.
    GeneratorLate {
        /// Reason why the trials are invalid; if there are several reasons, the first.
        reason: InvalidReason,
        trials: u32,
        total_trials: u32,
    },
    /// Noisy host: CPU steal or late timers.
    NoisyHost {
        /// Number of CPUs that the hypervisor gave to other virtual machines.
        stolen_cpu: Option<f64>,
        /// 99th percentile of the timer jitter, in seconds.
        #[serde(rename = "jitter_s")]
        jitter: Option<f64>,
    },
    /// Trends of figures over the trials of a dataset that is not restored between them.
    TrialTrends { trends: Vec<TrialTrend>, trials: u32 },
    /// Dead rows accumulate from trial to trial, or tables were vacuumed during trials.
    Bloat {
        /// Number of dead rows in the first trial; `last_dead_rows` is the number in the last trial.
        first_dead_rows: f64,
        last_dead_rows: f64,
        /// Number of live rows.
        live_rows: f64,
        /// Number of vacuums of tables during trials.
        vacuums: f64,
        trials: u32,
    },
    /// Sessions are idle in transaction for longer than a second and keep their locks. Their clients forget to commit,
    /// or do other work before they commit.
    IdleTransactions {
        /// Mean number of idle sessions.
        sessions: f64,
        /// Longest observed idle time, in seconds.
        #[serde(rename = "longest_idle_s")]
        longest_idle: f64,
        /// Number of idle sessions that hold back vacuum's horizon: they have written, or have a snapshot.
        horizon_sessions: f64,
        /// Number of sessions that wait for a lock of an idle session.
        blocked_sessions: f64,
        /// Pool size, and number of clients that wait for a server connection. `None` without a pooler, or if the
        /// pooler's console does not report the number of waiting clients.
        pool: Option<(u32, f64)>,
    },
    /// A node's concurrency, rate and time violate Little's law. A possible cause is a client that holds a server
    /// connection for longer than the trial.
    LittlesLawViolation {
        node: String,
        concurrency: f64,
        /// Concurrency expected by Little's law: `per_second` × `time`.
        expected: f64,
        /// Transactions per second.
        per_second: f64,
        /// Mean time of a transaction in the node, in seconds.
        #[serde(rename = "time_s")]
        time: f64,
    },
    /// The load did not pass through the node. The pooler or server counted far fewer transactions than clients
    /// completed, or the balancer had no session.
    NotUsed {
        node: String,
        /// Number of transactions that clients completed in the trials in which the node was probed.
        transactions: u64,
        /// Quantity that the node counts.
        counter: UsageCounter,
        /// Number that the node counted in these trials, without the transactions of the monitoring.
        node_count: u64,
        trials: u32,
        total_trials: u32,
    },
    /// Errors in PostgreSQL's log, grouped by the path of the sessions that caused them. Errors of one kind are sorted
    /// by origin, the most frequent origin first.
    ErrorOrigins { errors: Vec<LoggedErrors> },
    /// Rules that were skipped because an input is missing.
    RulesSkipped {
        /// Skipped rules in the order of [`FindingRule`].
        rules: Vec<(FindingRule, MissingInput)>,
    },
}

/// Quantity whose collapse [`Circumstance::ActiveCollapse`] reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActiveCount {
    /// Clients of a pooler that do not wait for a server connection.
    Clients,
    /// Active sessions of PostgreSQL.
    Sessions,
}

/// Share of the requests that one copy of a service got.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CopyShare {
    pub node: String,
    /// Share of the requests, 0..=1.
    pub share: f64,
}

/// Quantity that a node counts and that shows whether the load passed through the node.
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

/// Path on which a session reached PostgreSQL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum SessionOrigin {
    /// Session through this pooler, balancer or service, which is next to PostgreSQL.
    Node { node: String },
    /// Session of a load client, without a node in between.
    Direct,
    /// Session of pgdyno itself, such as its monitoring.
    Own,
    /// Session of another program.
    Other { application: String, client: String },
    /// Session that the log line does not identify.
    Unknown,
}

/// Number of events per second and per transaction.
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
    BalancerCpu,
    ServiceCpu,
    RemoteHost,
    SharedHost,
    Pool,
    ServicePool,
    ServiceThreads,
    Waits,
    Reads,
    Writes,
    Memory,
    Scans,
    AvoidableWork,
    ResultReading,
    Checkpoints,
    Storm,
    Bloat,
    IdleTransactions,
    Host,
    Feed,
}

/// Trend of a figure over the trials of a cell: the Theil–Sen line through its values, in order of the trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TrialTrend {
    pub figure: Figure,
    /// Value of the line at the first trial, at least 0; `last` is its value at the last trial. Times are in seconds.
    pub first: f64,
    pub last: f64,
    /// 95 % confidence interval of `last` − `first`.
    pub change_interval: (f64, f64),
}

/// Input that a rule needs but that was not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MissingInput {
    /// Figures of the control group, or of the processes of a node that runs elsewhere.
    Group,
    /// CPU quota or number of CPUs.
    Quota,
    /// Statistics of the server's sessions and tables.
    Server,
    /// Statistics of the pooler's console.
    Console,
    /// Enough samples of the pooler's console under full load, because full load was too short.
    Samples,
    /// Statistics that the service publishes at `/stats`.
    Stats,
    /// Metrics of another host.
    Metrics,
    /// Statistics of the machine.
    Machine,
    /// Table column in which a feed's values occur.
    Column,
}
