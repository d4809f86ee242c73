//! Findings: facts about cells that pgdyno reports automatically.
//!
//! A finding is a fact with its evidence. A `cell` is an index into the experiment's cells. Figures are medians over
//! the cell's valid trials unless stated otherwise. A figure that was not measured is `None`. If a finding depends on
//! such a figure, the finding is not reported.

mod bound;
mod circumstance;

pub use bound::Bound;
pub use circumstance::{
    ActiveCount, Circumstance, CopyShare, FindingRule, LoggedErrors, MissingInput, NormalizedRate,
    SessionOrigin, TrialTrend, UsageCounter,
};

use crate::matrix::ChangeVerdict;
use crate::plan::{PoolMode, Transport};
use crate::{Nanos, StatementKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Limit that refused a connection.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionLimit {
    /// `max_connections`. This is also the value if the server's message is unknown.
    #[default]
    Server,
    /// `ALTER ROLE … CONNECTION LIMIT`.
    Role,
    /// `ALTER DATABASE … CONNECTION LIMIT`.
    Database,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Finding {
    /// PostgreSQL allowed no further connection: SQLSTATE 53300.
    SlotsExhausted {
        cell: usize,
        limit: ConnectionLimit,
        /// Number of refusals that clients saw, over all trials.
        refusals: u64,
        /// Number of refusals in the server's log, over all trials.
        logged_refusals: u64,
        max_connections: Option<u32>,
        /// Earliest second with a refusal in any trial; `None` if neither a log nor ticks show it.
        first_second: Option<u64>,
        /// Number of trials with refusals, of `total_trials`.
        trials: u32,
        total_trials: u32,
    },
    /// Many clients received little or no service, although the average looks good. The figures are from the trial with
    /// the median number of such clients.
    ClientsStarved {
        cell: usize,
        /// Number of clients that completed at least a tenth of the mean number of transactions.
        clients_served: u32,
        /// Number of clients that completed no transaction.
        clients_without_success: u32,
        clients: u32,
        /// Mode and size of the pool; `None` without a pooler.
        pool: Option<(PoolMode, u32)>,
        /// Jain's index over all clients.
        jain: f64,
        /// Mean number of transactions per client, over all clients.
        mean_transactions: f64,
    },
    /// The cell's throughput is not compared with other cells, because not all clients did the same work.
    NotCompared { cell: usize, reason: IncomparableReason },
    /// Saturated host: pooler, server and generator competed for its CPUs. Differences between cells may only show
    /// which program got CPU time.
    HostBound {
        cell: usize,
        /// Idle share of the machine's CPU time, 0..=1.
        idle: f64,
        /// Number of CPUs of the machine.
        processors: f64,
        /// CPUs used by the generator.
        generator_cpu: Option<f64>,
        /// CPUs used by the nodes in front of PostgreSQL; `None` if there are no such nodes.
        pooler_cpu: Option<f64>,
        server_cpu: Option<f64>,
        /// CPUs used by all other programs on the machine, including the monitoring; `None` if another figure is
        /// unknown.
        other_cpu: Option<f64>,
    },
    /// Generator used a large share of the machine on which the stack also runs.
    GeneratorShare {
        cell: usize,
        /// CPUs used by the generator.
        generator_cpu: f64,
        /// Number of CPUs of the machine.
        processors: f64,
    },
    /// Throughput cost of the pooler or balancer, measured with the same transport on every hop.
    LikeForLikeCost { cell: usize, other_cell: usize, transport: Transport, comparison: ThroughputComparison },
    /// Apparent throughput cost of the pooler or balancer. The transports differ, so the cost includes their
    /// difference.
    UnlikeComparison {
        cell: usize,
        other_cell: usize,
        transports: Vec<Transport>,
        other_transport: Transport,
        comparison: ThroughputComparison,
        like_for_like_ratio: f64,
    },
    /// Cells that differ only in the pool mode do not differ measurably in throughput.
    NoDifference {
        cell: usize,
        other_cell: usize,
        mode: PoolMode,
        other_mode: PoolMode,
        comparison: ThroughputComparison,
    },
    /// Transactions are queued in the pooler.
    QueueInPooler {
        cell: usize,
        node: String,
        /// Number of waiting clients that the console reports; `None` if the console does not report them.
        waiting: Option<f64>,
        /// Longest wait of a client for a server connection, in seconds.
        #[serde(rename = "longest_wait_s")]
        longest_wait: Option<f64>,
        /// Number of transactions in flight by Little's law: throughput × mean service time.
        in_flight: f64,
        /// Number of PostgreSQL sessions that are in a transaction or execute a statement.
        busy: Option<f64>,
    },
    /// Connections are queued in the balancer, because its server has as many connections as permitted.
    QueueInBalancer {
        cell: usize,
        node: String,
        waiting: f64,
        /// Mean wait of the most recent connections, in seconds.
        #[serde(rename = "wait_s")]
        wait: Option<f64>,
        maxconn: Option<u32>,
    },
    /// CPU-bound pooler, even if its console shows a full pool.
    PoolerBound {
        cell: usize,
        node: String,
        /// CPUs used by the pooler; `cpu_limit` is the number available to it.
        cpu: f64,
        cpu_limit: f64,
        /// Share of the quota's periods in which the pooler was throttled.
        throttled: Option<f64>,
        /// CPUs lost to throttling.
        throttled_cpu: Option<f64>,
        pool: u32,
        /// Number of server connections in use that the console reports.
        in_use: Option<f64>,
        /// Number of PostgreSQL sessions that ran a statement.
        active: f64,
    },
    /// Pool-bound: all server connections are in use and most are active in PostgreSQL without a dominant wait event.
    /// The pooler has idle CPU time.
    PoolBound {
        cell: usize,
        node: String,
        pool: u32,
        /// Setting of the pooler that limits its server connections to `pool`; `None` if the pool size does.
        #[serde(skip_serializing_if = "Option::is_none")]
        setting: Option<String>,
        in_use: f64,
        busy: f64,
        cpu: f64,
        cpu_limit: f64,
    },
    /// PostgreSQL or a balancer is CPU-bound.
    ServerBound {
        cell: usize,
        node: String,
        cpu: f64,
        cpu_limit: f64,
        throttled: Option<f64>,
        throttled_cpu: Option<f64>,
        /// Mean number of sessions that run or wait for a CPU, if they show that the node is CPU-bound, although its CPUs
        /// are idle at times.
        queue: Option<f64>,
    },
    /// Active sessions wait mostly for one event.
    SessionsWait {
        cell: usize,
        /// Wait event as in `pg_stat_activity`, such as `Lock/transactionid`.
        event: String,
        /// Share of the active sessions that wait for this event, 0..=1.
        share: f64,
        active: f64,
    },
    /// Transactions that failed or have an unknown outcome, for a reason that no other finding reports. The numbers are
    /// sums over all trials.
    Failures {
        cell: usize,
        /// SQLSTATE or `net 104`; `name` is the condition's name, if it has one.
        code: String,
        name: Option<&'static str>,
        count: u64,
        /// Number of transactions that were sent.
        sent: u64,
    },
    /// Deadlocks per thousand transactions, with a 95 % confidence interval over the runs.
    Deadlocks { cell: usize, per_thousand: f64, interval: Option<(f64, f64)>, runs: u32 },
    /// Deadlock rates of two cells are not comparable, because one cell had more concurrent transactions in PostgreSQL.
    NotConcurrent { cell: usize, other_cell: usize, busy: f64, other_busy: f64 },
    /// All clients were busy and arrivals were delayed, so the test was no longer open-loop. The numbers are sums over
    /// all trials.
    NotOpenLoop {
        cell: usize,
        arrivals: u64,
        waited: u64,
        dropped: u64,
        in_flight_cap: u32,
        trials: u32,
        total_trials: u32,
    },
    /// A node still had client connections after the end of the load. `clients` is the maximum over the trials.
    ClientsLeftAfterTest { cell: usize, node: String, clients: u64, trials: u32, total_trials: u32 },
    /// Responses with the expected status but different sizes for the same request. Error and login pages typically
    /// differ in size.
    AnswerSizes {
        cell: usize,
        operation: String,
        /// Name of the step, or its method and target; `None` if the operation has one request.
        step: Option<String>,
        change: SizeChange,
        /// Share (0..=1) of responses to this request whose size is unusually small or differs from the recorded size.
        share: f64,
    },
    /// Responses to replayed requests have other statuses than the log recorded.
    RecordedStatus {
        cell: usize,
        operation: String,
        /// Number of responses whose status was compared, over all trials.
        count: u64,
        /// Share of the compared responses with another status, 0..=1.
        share: f64,
    },
    /// The load does not send all recorded requests of its logs.
    RequestsMissing {
        cell: usize,
        /// Number of requests that the load sends, and of those that are missing.
        requests: u64,
        missing: u64,
        /// Share of the recorded requests that are missing, 0..=1.
        share: f64,
    },
    /// Response times in a log, and those of the same requests in the load. The server that wrote the log did not measure the
    /// network, so they are not compared. Of several trials, `measured` is from the one with the median p50.
    RecordedResponseTimes {
        cell: usize,
        operation: String,
        /// Number of recorded response times.
        count: u64,
        #[serde(rename = "recorded_p50_ns")]
        recorded_p50: Nanos,
        #[serde(rename = "recorded_p99_ns")]
        recorded_p99: Option<Nanos>,
        #[serde(rename = "measured_p50_ns")]
        measured_p50: Nanos,
        #[serde(rename = "measured_p99_ns")]
        measured_p99: Option<Nanos>,
    },
    /// Results of replayed statements differ from the recorded results. The numbers are sums over all trials.
    ReplayDiverged {
        cell: usize,
        operation: String,
        /// Number of compared results.
        results: u64,
        /// Number of statements that failed although they succeeded in the recording, that succeeded although they failed,
        /// and that failed with another error.
        failed: u64,
        succeeded: u64,
        other_errors: u64,
        /// Number of results with fewer rows, and with more rows, than recorded.
        fewer_rows: u64,
        more_rows: u64,
    },
    /// All results of a replay are as recorded. The numbers are sums over all trials.
    ReplayAsRecorded {
        cell: usize,
        /// Number of compared results.
        results: u64,
        /// Number of results whose numbers of rows were compared.
        with_rows: u64,
    },
    /// Statement that returns no rows. The figures are from the trial with the largest share of empty results.
    NoRows {
        cell: usize,
        operation: String,
        /// Index of the command in its script.
        command: u16,
        statement: StatementKind,
        /// Number of the statement's results in the trial.
        count: u64,
        /// Share of results without a row, 0..=1.
        share: f64,
        /// First second of the window from which results have no row; `None` if most results of the whole window have
        /// no row.
        second: Option<u64>,
    },
    /// A resource without a separate finding limits the throughput.
    Bound { cell: usize, bound: Bound },
    /// A circumstance of the measurement affects the interpretation of the figures.
    Circumstance { cell: usize, circumstance: Circumstance },
    /// An open-loop test shows response times that the closed-loop test of the same setup hides.
    OpenAndClosed {
        cell: usize,
        /// Index of the cell of the closed-loop test.
        other_cell: usize,
        /// Offered load, in arrivals per second.
        offered: f64,
        open: CellResponse,
        closed: CellResponse,
    },
    /// Two cells with the same operations and server differ in the number of logins. Each login starts a process of
    /// PostgreSQL and verifies a password.
    LoginsDiffer {
        cell: usize,
        /// Cell with the fewest logins per transaction.
        other_cell: usize,
        logins: NormalizedRate,
        other_logins: NormalizedRate,
        /// CPUs used by PostgreSQL in each of the two cells; `None` if unknown.
        server_cpu: Option<f64>,
        other_server_cpu: Option<f64>,
    },
    /// Two feeds of the same setup lead to different results.
    FeedsDiffer {
        cell: usize,
        other_cell: usize,
        /// Name of the feed in which the two cells differ.
        feed: String,
        response: CellResponse,
        other_response: CellResponse,
        /// Data read per transaction in each of the two cells.
        read: ReadVolume,
        other_read: ReadVolume,
    },
}

/// Difference between response sizes; the sizes are medians in bytes of the body as received.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum SizeChange {
    /// Sizes fell at this second of the window in at least one trial.
    Fell { before_bytes: u64, after_bytes: u64, second: u64 },
    /// Sizes form two distinct groups.
    TwoPopulations { small_bytes: u64, large_bytes: u64 },
    /// Sizes are smaller than in another cell with the same requests.
    SmallerThan { other_cell: usize, bytes: u64, other_bytes: u64 },
    /// Many responses are less than half as large as the responses that the log recorded.
    SmallerThanRecorded { bytes: u64, recorded_bytes: u64 },
    /// Many responses are more than twice as large as the responses that the log recorded. The recorded responses may
    /// have been compressed.
    LargerThanRecorded { bytes: u64, recorded_bytes: u64 },
}

/// Throughput and response time of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CellResponse {
    /// Successful transactions per second.
    pub delivered: f64,
    /// 99th percentile of the response time in seconds; absent with too few samples.
    #[serde(rename = "p99_s")]
    pub p99: Option<f64>,
    /// Number of valid runs.
    pub runs: u32,
}

/// Mean amount of data read per transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ReadVolume {
    /// Blocks per transaction that were not in PostgreSQL's shared buffers.
    pub blocks: Option<f64>,
    /// Bytes read from disk per transaction, as counted by the control group, or by the processes if there is no
    /// control group.
    pub disk_bytes: Option<f64>,
}

/// Reason why a cell's throughput is not compared; if several reasons apply, the first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum IncomparableReason {
    SlotsExhausted,
    ClientsStarved,
    /// Failed transactions per thousand.
    Errors {
        per_thousand: f64,
    },
}

/// Throughput of one cell relative to another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ThroughputComparison {
    /// Ratio of the medians.
    pub ratio: f64,
    /// 95 % confidence interval by resampling runs; `None` if either cell has fewer than three runs.
    pub interval: Option<(f64, f64)>,
    /// p-value; `None` with too few runs for a test.
    pub p: Option<f64>,
    /// Verdict after correction for the number of comparisons of the same kind.
    pub verdict: ChangeVerdict,
    /// Numbers of valid runs of the cell and of the other cell.
    pub runs: (u32, u32),
}
