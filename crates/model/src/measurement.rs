//! Measurement of one window and the outages in it.

use crate::{EmptyStatement, Interval, LatencyHistogram, Nanos, ThreadUsage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Outage: period of the window, at least 0.1 s long, in which transactions were in flight or failed, but none
/// succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outage {
    /// Start of the outage, relative to the window's start: the last success before the outage, or zero.
    #[serde(rename = "from_ns")]
    pub from: Nanos,
    /// End of the outage, relative to the window's start: the first success after the outage, or the end of the window.
    #[serde(rename = "to_ns")]
    pub to: Nanos,
    /// True if the outage continued until the end of the window.
    #[serde(alias = "unended")]
    pub ongoing: bool,
    /// True if requests failed instead of only being delayed.
    ///
    /// In each whole second of such an outage, requests failed or connections were refused. For an outage shorter than
    /// a second, this applies to the seconds that contain the outage.
    pub failing: bool,
}

impl Outage {
    pub fn duration(&self) -> Nanos {
        self.to - self.from
    }
}

/// Measurement of one window, all threads together.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// Time from the first intended start to the end of the window.
    pub window: Nanos,
    pub interval: Interval,
    /// Periods of at least 0.1 s without a success, in order of time.
    pub outages: Vec<Outage>,
    /// Statements that return no rows.
    pub empty_statements: Vec<EmptyStatement>,
    /// Number of successful transactions within the window, by client.
    pub clients: Vec<u64>,
    /// CPU usage by thread.
    pub thread_usage: Vec<ThreadUsage>,
    /// Time from the first `connect` to the last login before the window.
    pub connect_time: Nanos,
    /// Number of clients that aborted because their script could not continue.
    pub aborted_clients: u32,
    /// Timer jitter: lateness of a thread that only sleeps, measured on the same host at the same time.
    pub jitter: LatencyHistogram,
    /// Time during which the machine was suspended: the elapsed boot time minus the elapsed monotonic time.
    pub suspended: Nanos,
    /// CPU steal, summed over all CPUs; `None` if the kernel does not report it.
    pub steal_time: Option<Nanos>,
    /// Number of connections that could not be opened because file descriptors or local ports ran out.
    pub exhausted_connects: u64,
}
