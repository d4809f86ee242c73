//! What does a report of one benchmark need to know?
//!
//! Facts with their evidence, no sentences. Durations are whole nanoseconds, and in the serialised form their names say
//! so; shares are 0..=1; a quantile is absent when fewer than [`crate::Latency::TAIL`] samples lie beyond it.

use crate::{Nanos, Outage, PerSecond, Spacing, is_quantile_unanswered};
use serde::{Deserialize, Serialize};

/// One benchmark.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    pub server: Server,
    pub plan: BenchPlan,
    /// From the first intended start to the end of the window.
    #[serde(rename = "window_ns")]
    pub window: Nanos,
    pub total: GroupSummary,
    /// In the order of `plan.scripts`.
    pub scripts: Vec<ScriptSummary>,
    /// All failures of all scripts by code, the most frequent first.
    pub failures: Vec<Failure>,
    #[serde(rename = "connecting")]
    pub connects: ConnectSummary,
    /// Stretches without a success that chance does not explain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<Outage>,
    /// Absent without clients, and in an open model, where whoever is idle serves an arrival.
    pub fairness: Option<Fairness>,
    pub generator: GeneratorSummary,
    pub validity: Validity,
}

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// As the server tells it, e.g. `15.18 (Debian 15.18-0+deb12u1)`.
    pub version: String,
    /// Where its programs came from, where known: `attached`, a directory, `embedded`.
    pub origin: Option<String>,
    pub transport: ServerTransport,
    /// Host name, address or socket directory, with the port.
    pub address: String,
    /// Empty: an HTTP service, which has none, and whose version is its name for itself, e.g. `nginx/1.22.1`.
    pub database: String,
}

impl Server {
    /// Or an HTTP service.
    pub fn is_postgres(&self) -> bool {
        !self.database.is_empty()
    }
}

/// What the bytes travelled over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum ServerTransport {
    #[default]
    UnixSocket,
    Tcp,
    /// With the version as it is named in RFCs, e.g. `1.3`.
    TcpTls {
        version: String,
    },
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchPlan {
    pub scripts: Vec<Script>,
    pub scale: u32,
    /// How `pgbench_accounts` is partitioned; absent when it is not.
    pub partitions: Option<Partitions>,
    pub query_mode: QueryMode,
    pub clients: u32,
    pub threads: u32,
    /// 0: unlimited.
    pub max_tries: u32,
    #[serde(rename = "until")]
    pub end: EndCondition,
    pub model: LoadModelSummary,
    /// Each transaction opens a connection of its own.
    #[serde(rename = "connect_each")]
    pub reconnect: bool,
    /// Transactions above it are counted, and late arrivals dropped.
    #[serde(rename = "latency_limit_ns")]
    pub latency_limit: Option<Nanos>,
    pub seed: u64,
    /// `epoll`, `io_uring`, `simulator`.
    pub driver: String,
}

/// One script of the mix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// `<builtin: select only>`, or the file's name.
    pub name: String,
    pub weight: u32,
    /// The first line of each command; empty unless commands are measured one by one.
    pub commands: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partitions {
    pub method: PartitionMethod,
    pub count: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartitionMethod {
    Range,
    Hash,
}

/// How queries are submitted: pgbench's `-M`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueryMode {
    #[default]
    Simple,
    Extended,
    Prepared,
}

/// When the run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndCondition {
    /// Each client has run this many transactions.
    Transactions(u32),
    #[serde(rename = "time_ns")]
    Time(Nanos),
    /// The schedule's last arrival has its outcome.
    ScheduleEnds,
}

/// What makes transactions start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum LoadModelSummary {
    Closed {
        #[serde(rename = "think_ns")]
        think: Nanos,
    },
    Open {
        /// As the user wrote it: a schedule, or the rate of `-R`.
        schedule: String,
        #[serde(with = "spacing")]
        arrivals: Spacing,
    },
}

/// Spacing by its name.
pub(crate) mod spacing {
    use crate::Spacing;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(it: &Spacing, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(match it {
            Spacing::Even => "even",
            Spacing::Poisson => "poisson",
        })
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Spacing, D::Error> {
        match String::deserialize(from)?.as_str() {
            "even" => Ok(Spacing::Even),
            "poisson" => Ok(Spacing::Poisson),
            other => Err(serde::de::Error::unknown_variant(other, &["even", "poisson"])),
        }
    }
}

/// What came of one script's arrivals, or of all.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GroupSummary {
    pub counts: OutcomeCounts,
    /// Transactions that ended well within the window, by its length.
    pub tps: PerSecond,
    /// From the intended start, of transactions that ended well and of arrivals that were never answered.
    pub response: Distribution,
    /// From the send, of the same.
    pub service: Distribution,
    /// From the intended start to the send, of the same.
    #[serde(rename = "lag_mean_ns")]
    pub lag_mean: Nanos,
}

/// One script's part.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ScriptSummary {
    #[serde(flatten)]
    pub group: GroupSummary,
    /// Of the total's `ok`.
    pub share: f64,
    pub failures: Vec<Failure>,
    /// In the order of the script's commands.
    pub statements: Vec<CommandSummary>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OutcomeCounts {
    pub ok: u64,
    pub failed: u64,
    pub unknown: u64,
    pub dropped: u64,
    /// Of failed, unknown and dropped: arrivals that no server answered.
    pub unanswered: u64,
    /// Transactions that were tried more than once, and all tries beyond the first.
    pub retried: u64,
    pub retries: u64,
    /// Of `failed`: SQLSTATE 40001 and 40P01.
    pub serialization: u64,
    pub deadlock: u64,
    /// Of `ok`: above the latency limit.
    pub above_limit: u64,
}

impl OutcomeCounts {
    /// Every arrival has exactly one outcome.
    pub fn arrivals(&self) -> u64 {
        self.ok + self.failed + self.unknown + self.dropped
    }

    /// Arrivals that reached the server, or may have.
    pub fn executed(&self) -> u64 {
        self.ok + self.failed + self.unknown
    }
}

/// A distribution of durations, read at the usual places. A quantile is absent with too few samples beyond it, and where it is
/// one of the unanswered; then mean and max are absent too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Distribution {
    /// Without the unanswered.
    pub count: u64,
    /// Absent where all were answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unanswered: Option<Unanswered>,
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

/// Arrivals that were never answered: longer than any bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Unanswered {
    pub count: u64,
    /// They are known to be longer than this: the window, or the longest answered one.
    #[serde(rename = "longer_than_ns")]
    pub longer_than: Nanos,
    /// Mean of the answered ones alone; absent without any.
    #[serde(rename = "mean_of_answered_ns")]
    pub mean_of_answered: Option<Nanos>,
}

impl Summary {
    /// The most frequent failure of a measurement in which nothing succeeded, or a refused connection.
    pub fn top_failure(&self) -> Option<&Failure> {
        self.failures.first().or(self.connects.refused.first())
    }

    /// Adds to each failure what was said of the first one of its code.
    pub fn set_messages(&mut self, said: impl Fn(&str) -> Option<String>) {
        let of_scripts = self.scripts.iter_mut().flat_map(|it| &mut it.failures);
        for it in self.failures.iter_mut().chain(&mut self.connects.refused).chain(of_scripts) {
            it.message = said(&it.code);
        }
    }
}

impl Distribution {
    /// Lower bound of the quantile `q` (0..=1) where it falls among the unanswered; `q` = 1 is the maximum.
    pub fn longer_than(&self, q: f64) -> Option<Nanos> {
        self.unanswered?.longer_than(q, self.count)
    }
}

impl Unanswered {
    /// As [`Distribution::longer_than`], with `answered` samples that were answered.
    pub fn longer_than(&self, q: f64, answered: u64) -> Option<Nanos> {
        (q == 1.0 || is_quantile_unanswered(q, answered, self.count)).then_some(self.longer_than)
    }
}

/// One command of a script, measured by itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CommandSummary {
    /// Its first line.
    pub text: String,
    pub service: Distribution,
    pub failures: u64,
    pub retries: u64,
}

/// Failures of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// SQLSTATE or `net 104`; `other` for all codes beyond those that are counted one by one.
    pub code: String,
    /// The condition's name in PostgreSQL's manual, appendix A, or errno's; absent for an unknown code.
    pub name: Option<&'static str>,
    pub class: FailureClass,
    pub count: u64,
    /// What the server said of the first one, its first line, shortened; absent where nothing is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Failure {
    /// The code and the server's words, such as `42601 syntax error at or near "SELEC"`; the condition's name where no words
    /// are known.
    pub fn describe(&self) -> String {
        let words = self.message.as_deref().or(self.name).unwrap_or_default();
        format!("{} {words}", self.code).trim_end().to_owned()
    }
}

/// What a failure says of the transaction's effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// It has none.
    Failed,
    /// It may or may not have one: the connection broke after the request left.
    Unknown,
    /// No connection was opened.
    Refused,
}

/// How the clients got their connections.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ConnectSummary {
    /// From the first `connect` to the last log-in before the window.
    #[serde(rename = "initial_ns")]
    pub initial: Nanos,
    /// From `connect` to the end of log-in, within the window.
    pub each: Distribution,
    pub refused: Vec<Failure>,
    /// Clients of a closed model that never succeeded, where connections were refused.
    pub turned_away: u32,
}

/// How evenly the clients were served: transactions that ended well within the window, by client.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fairness {
    pub fewest: u64,
    pub median: u64,
    pub most: u64,
    /// Jain's index (Σx)² / (n Σx²): 1 when all are equal, 1/n when one client gets everything.
    pub jain: f64,
}

/// What the generator cost and suffered.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GeneratorSummary {
    /// Of arrivals that found an idle client: the generator's own lateness.
    pub send_lag: Distribution,
    /// Of arrivals that had to wait for a client.
    pub backlog_wait: Distribution,
    /// The longest of both.
    #[serde(rename = "lag_max_ns")]
    pub lag_max: Nanos,
    /// Lateness of a thread that slept until a moment and did nothing else: the host's.
    pub jitter: Distribution,
    /// Processor time of all threads by transactions executed; absent without any.
    pub per_transaction: Option<CpuCost>,
    /// By thread.
    pub threads: Vec<ThreadSummary>,
    /// Clients that gave up, because their script cannot go on.
    #[serde(rename = "aborted")]
    pub aborted_clients: u32,
}

/// Processor time of one transaction. `spun` is part of `user` and `system`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CpuCost {
    #[serde(rename = "user_ns")]
    pub user: Nanos,
    #[serde(rename = "system_ns")]
    pub system: Nanos,
    /// Waiting by spinning for a moment that was near.
    #[serde(rename = "spun_ns")]
    pub spun: Nanos,
}

/// One thread's window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ThreadSummary {
    /// Share of the window in which it worked: processor time without spinning.
    pub busy: f64,
    /// Share of the window in which it was ready to run, but without a processor; absent where the kernel does not tell.
    pub starved: Option<f64>,
    /// Returns from the kernel's wait.
    pub wakeups: u64,
    #[serde(rename = "longest_stall_ns")]
    pub longest_stall: Nanos,
}

/// Whether the numbers can be believed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Validity {
    /// No reason speaks against it.
    pub valid: bool,
    pub reasons: Vec<InvalidReason>,
    pub doubts: Vec<Doubt>,
}

/// Why the measurement is not of the server under the planned load, but of the generator, its host or a smaller load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum InvalidReason {
    /// Requests left later than they should, and the host alone does not explain it. `quantile` (0..=1) of the send lag
    /// was `lag`; that of the jitter probe `jitter`, absent when it has too few samples.
    Late {
        quantile: f64,
        #[serde(rename = "lag_ns")]
        lag: Nanos,
        #[serde(rename = "jitter_ns")]
        jitter: Option<Nanos>,
    },
    /// A thread had no reserve: it worked in this share of the window.
    Saturated { thread: usize, busy: f64 },
    /// So many connections could not be opened because file descriptors or local ports ran out.
    #[serde(rename = "exhausted")]
    ResourcesExhausted { connections: u64 },
    /// The machine was suspended.
    Suspended {
        #[serde(rename = "lasting_ns")]
        duration: Nanos,
    },
    /// Its own limit held the generator back in this share of the quota's periods.
    Throttled { share: f64 },
    /// A thread did not look at the clock for so long, while something was due.
    Stalled {
        thread: usize,
        #[serde(rename = "lasting_ns")]
        duration: Nanos,
    },
    /// So many of all clients aborted, because their script could not go on; the load was smaller than planned.
    Aborted { clients: u32, of: u32 },
}

/// What a careful reader should know.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Doubt {
    /// Requests left late, and so does everything on this host: fields as in [`Reason::Late`].
    HostLate {
        quantile: f64,
        #[serde(rename = "lag_ns")]
        lag: Nanos,
        #[serde(rename = "jitter_ns")]
        jitter: Nanos,
    },
    /// The hypervisor gave away so much processor time: 0.1 is a tenth of one processor.
    Stolen { processors: f64 },
    /// A thread was ready to run, but without a processor, in this share of the window.
    Starved { thread: usize, share: f64 },
    /// All clients were busy: `waited` of `arrivals` had to wait for one, `dropped` were never sent. What an open test
    /// then measures is a closed one.
    #[serde(rename = "cap_reached")]
    InFlightCapReached { arrivals: u64, waited: u64, dropped: u64 },
    /// Some clients were hardly served.
    #[serde(rename = "unfair")]
    UnevenClients { jain: f64, fewest: u64, most: u64 },
    /// No transaction ended well.
    #[serde(rename = "nothing_ok")]
    NoSuccess,
    /// Nothing succeeded for `lasting` in total, in `count` outages. The longest one was from `from` to `to`, counted from the
    /// beginning of the window.
    Outage {
        count: usize,
        #[serde(rename = "lasting_ns")]
        duration: Nanos,
        #[serde(rename = "from_ns")]
        from: Nanos,
        #[serde(rename = "to_ns")]
        to: Nanos,
    },
    /// So few that the 99th percentile is not known.
    FewSamples { count: u64 },
    /// Share (0..=1) of expected HTTP answers that have the smaller of two separate sizes, as error and log-in pages do. Sizes in
    /// bytes.
    SmallAnswers { small: u64, large: u64, share: f64 },
    /// The generator's wall clock was set by `step` nanoseconds, back if negative. No duration is taken from it.
    #[serde(rename = "clock_set")]
    ClockStepped {
        #[serde(rename = "step_ns")]
        step: i64,
    },
}

/// One line of progress: the time since the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Progress {
    /// Since the window's beginning.
    pub at: Nanos,
    pub tps: PerSecond,
    /// Of response time; zero without samples.
    pub mean: Nanos,
    pub deviation: Nanos,
    pub p99: Option<Nanos>,
    /// Failed and unknown.
    pub failed: u64,
    /// Mean time from the intended start to the send.
    pub lag: Nanos,
    pub dropped: u64,
    pub retried: u64,
    pub retries: u64,
}

/// What came of one stretch of a log, for one line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LogAggregate {
    /// Its beginning, Unix time in whole seconds.
    pub from_epoch_secs: u64,
    pub ok: u64,
    /// Response times.
    pub latency: DurationSums,
    /// From the intended start to the send.
    pub lag: DurationSums,
    pub dropped: u64,
    pub retried: u64,
    pub retries: u64,
    pub serialization: u64,
    pub deadlock: u64,
}

/// Moments of durations in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DurationSums {
    pub count: u64,
    pub sum: f64,
    pub sum_of_squares: f64,
    pub min: f64,
    pub max: f64,
}
