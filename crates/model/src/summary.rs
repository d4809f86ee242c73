//! Summary of one benchmark.
//!
//! A summary contains facts with their evidence, and no sentences. Durations are whole nanoseconds; their serialised
//! names end in `_ns`. Shares are 0..=1. A quantile is absent if fewer than
//! [`crate::LatencyHistogram::MIN_TAIL_SAMPLES`] samples lie beyond it.

use crate::validity::Validity;
use crate::{
    EmptyStatement, KernelCounters, Nanos, Outage, PerSecond, Spacing, StatementRows, is_quantile_unanswered,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Summary of one benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    pub server: Server,
    pub plan: BenchPlan,
    /// Time from the first intended start to the end of the window.
    #[serde(rename = "window_ns")]
    pub window: Nanos,
    pub total: GroupSummary,
    /// Per-script results in the order of `plan.scripts`.
    pub scripts: Vec<ScriptSummary>,
    /// Failures of all scripts together by code, the most frequent first.
    pub failures: Vec<Failure>,
    pub connects: ConnectSummary,
    /// Periods without a success whose length chance does not explain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<Outage>,
    /// Rows by statement, in the order of operations and commands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<StatementRows>,
    /// Statements that return no rows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub empty_statements: Vec<EmptyStatement>,
    /// Fairness among clients. Absent without clients, and in the open model, where any idle client serves an arrival.
    pub fairness: Option<Fairness>,
    pub generator: GeneratorSummary,
    pub validity: Validity,
}

/// Server that was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Server {
    /// Version as the server reports it, such as `15.18 (Debian 15.18-0+deb12u1)`.
    pub version: String,
    /// Source of the server's programs: `attached`, `embedded` or a directory. Absent if unknown.
    pub origin: Option<String>,
    pub transport: ServerTransport,
    /// Host name, address or socket directory, with the port.
    pub address: String,
    /// Database name; empty for an HTTP service, whose `version` is its `Server` header, such as `nginx/1.22.1`.
    pub database: String,
}

impl Server {
    /// True for PostgreSQL, false for an HTTP service.
    pub fn is_postgres(&self) -> bool {
        !self.database.is_empty()
    }
}

/// Transport between the generator and the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum ServerTransport {
    #[default]
    UnixSocket,
    Tcp,
    /// TCP with TLS; the version is written as in RFCs, such as `1.3`.
    TcpTls {
        version: String,
    },
}

/// Parameters of the benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BenchPlan {
    pub scripts: Vec<Script>,
    pub scale: u32,
    /// Partitioning of `pgbench_accounts`; absent if it is not partitioned.
    pub partitions: Option<Partitions>,
    pub query_mode: QueryMode,
    pub clients: u32,
    pub threads: u32,
    /// Maximum number of attempts per transaction; 0 means unlimited.
    pub max_tries: u32,
    #[serde(alias = "until")]
    pub end: EndCondition,
    pub model: LoadModelSummary,
    /// True if each transaction opens a new connection.
    #[serde(alias = "connect_each")]
    pub reconnect: bool,
    /// Latency limit. Slower transactions are counted separately, and arrivals that cannot be sent within the limit are
    /// dropped.
    #[serde(rename = "latency_limit_ns")]
    pub latency_limit: Option<Nanos>,
    pub seed: u64,
    /// Name of the I/O driver, or `simulator`.
    pub driver: String,
}

/// Script of the mix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Script {
    /// Name of the script: `<builtin: select only>`, or the file's name.
    pub name: String,
    pub weight: u32,
    /// First line of each command; empty unless commands are measured individually.
    pub commands: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Partitions {
    pub method: PartitionMethod,
    pub count: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartitionMethod {
    Range,
    Hash,
}

/// Query protocol: pgbench's `-M`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueryMode {
    #[default]
    Simple,
    Extended,
    Prepared,
}

/// Condition on which the run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndCondition {
    /// Each client completed this number of transactions.
    Transactions(u32),
    #[serde(rename = "time_ns")]
    Time(Nanos),
    /// Every arrival of the schedule has an outcome.
    ScheduleEnds,
}

/// Load model with its think time or schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum LoadModelSummary {
    Closed {
        #[serde(rename = "think_ns")]
        think: Nanos,
    },
    Open {
        /// Text of the schedule as the user wrote it, or the rate of `-R`.
        schedule: String,
        arrivals: Spacing,
        /// Minimum time between two wake-ups of a thread. Arrivals may be sent this much later than they are due, and
        /// response times may be this much too long.
        #[serde(rename = "slack_ns", default)]
        slack: Nanos,
    },
    /// Sessions of a recording, whose requests were sent at their recorded times.
    Replay {
        /// Name of the recording's file.
        recording: String,
        /// Factor by which the replay was faster than the recording.
        speed: f64,
    },
}

/// Results of the arrivals of one script, or of all scripts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct GroupSummary {
    pub counts: OutcomeCounts,
    /// Rate of successful transactions within the window.
    pub tps: PerSecond,
    /// Response times, from the intended start, of successful transactions and unanswered arrivals.
    pub response: Distribution,
    /// Service times, from sending, of the same arrivals as in `response`.
    pub service: Distribution,
    /// Mean time from the intended start to sending, for the same arrivals as in `response`.
    #[serde(rename = "lag_mean_ns")]
    pub lag_mean: Nanos,
}

/// Results of one script.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ScriptSummary {
    #[serde(flatten)]
    pub group: GroupSummary,
    /// Share of the total number of successful transactions, 0..=1.
    pub share: f64,
    pub failures: Vec<Failure>,
    /// Per-command results in the order of the script.
    pub statements: Vec<CommandSummary>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OutcomeCounts {
    pub ok: u64,
    pub failed: u64,
    pub unknown: u64,
    pub dropped: u64,
    /// Number of failed, unknown and dropped arrivals that received no response from a server.
    pub unanswered: u64,
    /// Number of retried transactions; `retries` is the number of all retries.
    pub retried: u64,
    pub retries: u64,
    /// Number of failures with SQLSTATE 40001; `deadlock` is the number with 40P01.
    pub serialization: u64,
    pub deadlock: u64,
    /// Number of successful transactions with a response time above the latency limit.
    pub above_limit: u64,
}

impl OutcomeCounts {
    /// Number of arrivals. Every arrival has exactly one outcome, so it is the sum over all outcomes.
    pub fn arrivals(&self) -> u64 {
        self.ok + self.failed + self.unknown + self.dropped
    }

    /// Share of the arrivals that did not succeed, 0..=1; `None` without an arrival.
    pub fn error_share(&self) -> Option<f64> {
        (self.arrivals() > 0).then(|| (self.arrivals() - self.ok) as f64 / self.arrivals() as f64)
    }

    /// Number of arrivals that reached the server, or may have reached it.
    pub fn executed(&self) -> u64 {
        self.ok + self.failed + self.unknown
    }
}

/// Summary of a distribution of durations.
///
/// A quantile is absent if too few samples lie beyond it, or if it falls among the unanswered arrivals. In the latter
/// case, the mean and the maximum are absent too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Distribution {
    /// Number of answered samples.
    pub count: u64,
    /// Unanswered arrivals; absent if all were answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unanswered: Option<UnansweredArrivals>,
    #[serde(rename = "mean_ns")]
    pub mean: Option<Nanos>,
    #[serde(rename = "deviation_ns")]
    pub deviation: Option<Nanos>,
    #[serde(rename = "min_ns")]
    pub min: Option<Nanos>,
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

/// Arrivals without a response. They count as slower than every measured value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnansweredArrivals {
    pub count: u64,
    /// Lower bound of the durations of these arrivals: the window, or the longest duration of an answered arrival.
    #[serde(rename = "longer_than_ns")]
    pub longer_than: Nanos,
    /// Mean duration of the answered arrivals; absent if no arrival was answered.
    #[serde(rename = "mean_of_answered_ns")]
    pub mean_of_answered: Option<Nanos>,
}

impl Summary {
    /// Most frequent failure. If there are no failures, the most frequent reason for a refused connection.
    pub fn top_failure(&self) -> Option<&Failure> {
        self.failures.first().or(self.connects.refused.first())
    }

    /// Sets the message of each failure; `message_for` returns the server's first message for an error code.
    pub fn set_messages(&mut self, message_for: impl Fn(&str) -> Option<String>) {
        let script_failures = self.scripts.iter_mut().flat_map(|it| &mut it.failures);
        for failure in self.failures.iter_mut().chain(&mut self.connects.refused).chain(script_failures) {
            failure.message = message_for(&failure.code);
        }
    }
}

impl Distribution {
    /// Lower bound of the quantile `q` (0..=1) if the quantile falls among the unanswered arrivals. `q` = 1 is the
    /// maximum.
    pub fn longer_than(&self, q: f64) -> Option<Nanos> {
        self.unanswered?.longer_than(q, self.count)
    }
}

impl UnansweredArrivals {
    /// Lower bound as in [`Distribution::longer_than`]; `answered` is the number of answered samples.
    pub fn longer_than(&self, q: f64, answered: u64) -> Option<Nanos> {
        (q == 1.0 || is_quantile_unanswered(q, answered, self.count)).then_some(self.longer_than)
    }
}

/// Results of one command of a script.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CommandSummary {
    /// First line of the command, or the name of the step.
    pub text: String,
    /// Times of the requests that succeeded.
    pub service: Distribution,
    /// Times of successful requests and of failures without a response. Such a failure counts as slower than every
    /// measured value.
    pub response: Distribution,
    /// Number of failures that ended the transaction at this command.
    pub failures: u64,
    /// Number of failures after which the transaction was tried again.
    pub retries: u64,
}

/// Failures with one code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Failure {
    /// SQLSTATE or `net 104`; `other` for all codes that are not counted individually.
    pub code: String,
    /// Condition name (PostgreSQL's manual, appendix A) or errno name; absent for an unknown code.
    pub name: Option<&'static str>,
    pub class: FailureClass,
    pub count: u64,
    /// First line of the server's first message with this code, shortened; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Beginning of the body of the first HTTP response that failed with this code; only in the failures of a step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

impl Failure {
    /// Code and message, such as `42601 syntax error at or near "SELEC"`. Without a message, the condition's name
    /// follows the code.
    pub fn describe(&self) -> String {
        let words = self.message.as_deref().or(self.name).unwrap_or_default();
        format!("{} {words}", self.code).trim_end().to_owned()
    }
}

/// Class of a failure by the effect that the transaction may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The transaction has no effect.
    Failed,
    /// The effect is unknown: the connection broke after the request was sent.
    Unknown,
    /// The transaction has no effect: no connection was opened.
    Refused,
}

/// Connection times and refusals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ConnectSummary {
    /// Time from the first `connect` to the end of the last login before the window.
    #[serde(rename = "initial_ns")]
    pub initial: Nanos,
    /// Time from `connect` to the end of login, for connections opened within the window.
    pub durations: Distribution,
    pub refused: Vec<Failure>,
    /// Number of closed-model clients without any success, if connections were refused.
    pub clients_without_success: u32,
}

/// Evenness of service, measured by the number of successful transactions of each client within the window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Fairness {
    pub min_transactions: u64,
    pub median: u64,
    pub max_transactions: u64,
    /// Jain's index (Σx)² / (n Σx²): 1 if all clients are served equally, 1/n if only one client is served.
    pub jain: f64,
}

/// CPU cost and lateness of the generator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct GeneratorSummary {
    /// Send lag of arrivals that found an idle client: the lateness of the generator.
    pub send_lag: Distribution,
    /// Time that arrivals waited for an idle client.
    pub backlog_wait: Distribution,
    /// Maximum of send lag and backlog wait.
    #[serde(rename = "lag_max_ns")]
    pub lag_max: Nanos,
    /// Timer jitter of the host: the lateness of a thread that only sleeps.
    pub jitter: Distribution,
    /// CPU time of all threads per executed transaction; absent if no transaction was executed.
    pub per_transaction: Option<CpuCost>,
    /// Results by thread.
    pub threads: Vec<ThreadSummary>,
    /// Number of clients that aborted because their script could not continue.
    pub aborted_clients: u32,
}

/// CPU time of one transaction; `spun` is included in `user` and `system`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CpuCost {
    #[serde(rename = "user_ns")]
    pub user: Nanos,
    #[serde(rename = "system_ns")]
    pub system: Nanos,
    /// CPU time spent busy-waiting for a timer.
    #[serde(rename = "spun_ns")]
    pub spun: Nanos,
}

/// Load of one thread during the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ThreadSummary {
    /// Share of the window during which the thread worked, 0..=1: its CPU time without busy-waiting.
    pub busy: f64,
    /// Share of the window during which the thread was runnable but had no CPU, 0..=1. Absent if the kernel does not
    /// report it.
    pub starved: Option<f64>,
    /// Number of returns from the kernel's wait.
    pub wakeups: u64,
    #[serde(rename = "longest_stall_ns")]
    pub longest_stall: Nanos,
    /// Counters of the kernel within the window. Absent if the kernel does not report them, and in stored runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelCounters>,
}

/// Progress line: figures for the time since the previous progress line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Progress {
    /// End of the reported time, relative to the start of the window.
    #[serde(rename = "at_ns")]
    pub at: Nanos,
    pub tps: PerSecond,
    /// Mean response time; zero without samples.
    #[serde(rename = "mean_ns")]
    pub mean: Nanos,
    #[serde(rename = "deviation_ns")]
    pub deviation: Nanos,
    #[serde(rename = "p99_ns")]
    pub p99: Option<Nanos>,
    /// Number of failed transactions and of transactions with unknown outcome.
    pub failed: u64,
    /// Mean time from the intended start to sending.
    #[serde(rename = "lag_ns")]
    pub lag: Nanos,
    pub dropped: u64,
    pub retried: u64,
    pub retries: u64,
}

/// Aggregate of one interval, for one line of the transaction log.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LogAggregate {
    /// Start of the interval, Unix time in seconds.
    pub from_epoch_secs: u64,
    pub ok: u64,
    /// Sums of the response times.
    pub latency: DurationSums,
    /// Sums of the times from the intended start to sending.
    pub lag: DurationSums,
    pub dropped: u64,
    pub retried: u64,
    pub retries: u64,
    pub serialization: u64,
    pub deadlock: u64,
}

/// Sums and extremes of durations, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DurationSums {
    pub count: u64,
    pub sum: f64,
    pub sum_of_squares: f64,
    pub min: f64,
    pub max: f64,
}
