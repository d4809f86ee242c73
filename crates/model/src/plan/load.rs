//! Load of a trial: model, duration, timeouts and users.

use crate::{Nanos, Spacing};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// Load of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    pub model: LoadModel,
    /// Recording whose transactions an open load sends; `None` if the load has operations, or is a replay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<RecordedMix>,
    /// Duration of the window; `None` if the schedule or the stages determine it.
    #[serde(rename = "duration_ns", alias = "duration")]
    pub duration: Option<Nanos>,
    /// Number of transactions after which each client ends, as in `bench -t`; `None` if only time ends the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions: Option<u32>,
    /// Duration of the unmeasured load before the window.
    #[serde(rename = "warmup_ns", alias = "warmup")]
    pub warmup: Nanos,
    /// Generator threads, at least 1.
    pub threads: u16,
    pub query_mode: crate::summary::QueryMode,
    /// True if each transaction opens its own connection.
    #[serde(alias = "connect_each")]
    pub reconnect: bool,
    /// Timeout for opening a connection, including login; `None` means 30 s.
    #[serde(default)]
    #[serde(rename = "connect_timeout_ns", alias = "connect_timeout")]
    pub connect_timeout: Option<Nanos>,
    /// Timeout for the first byte of an HTTP response, from the time at which its request is due.
    #[serde(default)]
    #[serde(rename = "first_byte_timeout_ns", alias = "first_byte_timeout")]
    pub first_byte_timeout: Option<Nanos>,
    /// True if each client stores cookies of the service and returns them.
    #[serde(default)]
    pub cookies: bool,
    /// Time limit for a transaction, measured from the sending of its request. When it expires, the connection is
    /// closed.
    #[serde(rename = "timeout_ns", alias = "timeout")]
    pub timeout: Option<Nanos>,
    /// Attempts per transaction after serialization failures and deadlocks; 1 means no retry.
    pub max_tries: u16,
    /// Connections per second of additional clients in a trial with faults, each for one transaction; 0 means none.
    #[serde(default)]
    pub new_clients: u32,
    /// Open model: minimum time between two wake-ups of a generator thread, at most [`Load::SLACK_MAX`]; 0 means none.
    #[serde(rename = "slack_ns", default, skip_serializing_if = "Nanos::is_zero")]
    pub slack: Nanos,
}

impl Load {
    /// Largest slack. A thread checks after each wake-up whether the run was interrupted.
    pub const SLACK_MAX: Nanos = Nanos::from_millis(100);
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadModel {
    /// Constant number of clients.
    Closed {
        clients: u32,
        #[serde(rename = "think_ns", alias = "think")]
        think: Nanos,
    },
    /// Closed model with stages, think time distribution and pacing.
    Users {
        /// Consecutive stages, at least one. [`Load::duration`] is their total duration.
        stages: Vec<UserStage>,
        /// Time from the end of a user's transaction to the start of the user's next transaction.
        think: ThinkTime,
        /// Minimum time between the starts of two consecutive transactions of a user. The think time may make it
        /// longer.
        #[serde(rename = "pacing_ns", alias = "pacing")]
        pacing: Option<Nanos>,
        /// Maximum rate of transactions per second of all users together, above 0. Starts that would exceed this rate
        /// are delayed.
        rate_max: Option<f64>,
    },
    Open {
        /// Schedule in Yandex.Tank's grammar.
        schedule: String,
        arrivals: Spacing,
        /// Number of clients; each client has at most one transaction in flight.
        max_in_flight: u32,
    },
    /// Requests of access logs, which are sent at their recorded times regardless of responses.
    Log {
        log: RecordedLog,
        /// Factor by which the load is faster than the recording, above 0.
        speed: f64,
        /// Number of clients; each client has at most one request in flight.
        max_in_flight: u32,
    },
    /// Recorded sessions, whose requests are sent at their recorded times.
    Replay {
        recording: RecordingFile,
        /// Factor by which the replay is faster than the recording, above 0.
        speed: f64,
    },
}

/// Recorded traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordingFile {
    pub path: PathBuf,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Time from the start of the recording to its end.
    #[serde(rename = "duration_ns")]
    pub duration: Nanos,
    /// Number of requests of all sessions, and the maximum number within one second.
    pub requests: u64,
    pub requests_per_second_max: u64,
    /// Number of sessions, and of those that existed at the same time.
    pub sessions: u64,
    pub sessions_max: u32,
}

/// Transactions of a recording, which clients send session by session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedMix {
    pub recording: RecordingFile,
    /// Number of transactions, and of sessions that have at least one.
    pub transactions: u64,
    pub sessions: u64,
    /// Number of requests that are left out, because the recording does not contain the end of their transaction.
    pub unfinished: u64,
}

impl Load {
    /// True if the load sends statements of a recording, whose results are compared with the recorded ones.
    pub fn is_recorded(&self) -> bool {
        self.traffic.is_some() || matches!(self.model, LoadModel::Replay { .. })
    }
}

impl RecordingFile {
    /// Duration of a replay at this speed.
    pub fn duration_at(&self, speed: f64) -> Nanos {
        Nanos::from_secs_f64(self.duration.as_secs_f64() / speed)
    }

    /// Name of the file without its folder.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy().into_owned()
    }
}

/// Requests of one or more access logs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedLog {
    /// Names of the feeds.
    pub feeds: Vec<String>,
    /// Time from the first request to the last, rounded up to whole seconds.
    #[serde(rename = "duration_ns")]
    pub duration: Nanos,
    /// Number of requests that the load sends, and the maximum number within one second.
    pub requests: u64,
    pub requests_per_second_max: u64,
    pub missing: MissingRequests,
    /// Recorded response times of the operations; empty if the logs contain no durations.
    pub times: Vec<RecordedTimes>,
}

/// Numbers of recorded requests that a load does not send, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingRequests {
    /// The method usually has a body, which a log does not contain.
    pub with_body: u64,
    /// The line has no valid request.
    pub without_request: u64,
    /// The line does not fit the format of the log.
    pub misfits: u64,
    /// The line has no time.
    pub without_time: u64,
}

impl MissingRequests {
    pub fn total(&self) -> u64 {
        self.with_body + self.without_request + self.misfits + self.without_time
    }
}

/// Response times of an operation in an access log, as the server measured them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedTimes {
    /// Index of the operation.
    pub operation: u16,
    pub count: u64,
    #[serde(rename = "p50_ns")]
    pub p50: Nanos,
    /// `None` with fewer than 1000 requests, of which ten are longer.
    #[serde(rename = "p99_ns")]
    pub p99: Option<Nanos>,
}

impl RecordedLog {
    /// Duration of the load at this speed.
    pub fn duration_at(&self, speed: f64) -> Nanos {
        Nanos::from_secs_f64(self.duration.as_secs_f64() / speed)
    }

    /// Share of the recorded requests that the load does not send.
    pub fn missing_share(&self) -> f64 {
        let missing = self.missing.total() as f64;
        if missing > 0.0 { missing / (missing + self.requests as f64) } else { 0.0 }
    }
}

/// Stage with a target number of users.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserStage {
    pub users: u32,
    /// Number of users that arrive per second until the target is reached, above 0; `None` means all at once. Surplus
    /// users leave at the same rate, each after its transaction.
    pub spawn_rate: Option<f64>,
    /// Duration of the stage, including the arrival and departure of users.
    #[serde(rename = "duration_ns", alias = "lasting")]
    pub duration: Nanos,
}

/// Distribution of the think time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkTime {
    Constant(Nanos),
    Exponential {
        #[serde(rename = "mean_ns", alias = "mean")]
        mean: Nanos,
    },
    /// Log-normal distribution: the mean of the underlying normal distribution is the logarithm of `median`.
    LogNormal {
        #[serde(rename = "median_ns", alias = "median")]
        median: Nanos,
        /// Standard deviation of the underlying normal distribution. With 0.5, 95 % of all values are between 0.38 and
        /// 2.7 times the median.
        sigma: f64,
    },
}

impl ThinkTime {
    pub const NONE: ThinkTime = ThinkTime::Constant(Nanos::ZERO);

    pub fn is_none(&self) -> bool {
        *self == ThinkTime::NONE
    }
}

impl Default for ThinkTime {
    fn default() -> ThinkTime {
        ThinkTime::NONE
    }
}

/// Notation of the experiment file.
impl fmt::Display for ThinkTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ThinkTime::Constant(it) => f.write_str(&it.notation()),
            ThinkTime::Exponential { mean } => write!(f, "exponential({})", mean.notation()),
            ThinkTime::LogNormal { median, sigma } => write!(f, "lognormal({}, {sigma})", median.notation()),
        }
    }
}

impl LoadModel {
    /// Maximum number of transactions in flight: clients, or the in-flight cap.
    pub fn clients(&self) -> u32 {
        match self {
            LoadModel::Closed { clients, .. } => *clients,
            LoadModel::Users { stages, .. } => stages.iter().map(|it| it.users).max().unwrap_or(1).max(1),
            LoadModel::Open { max_in_flight, .. } | LoadModel::Log { max_in_flight, .. } => *max_in_flight,
            LoadModel::Replay { recording, .. } => recording.sessions_max.max(1),
        }
    }

    /// True if arrivals are independent of responses.
    pub fn is_open(&self) -> bool {
        matches!(self, LoadModel::Open { .. } | LoadModel::Log { .. } | LoadModel::Replay { .. })
    }
}
