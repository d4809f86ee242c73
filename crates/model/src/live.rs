//! Live state of a run.

use crate::plan::LoadScale;
use crate::{Nanos, PerSecond};

/// Figures of one second of a trial, for all operations together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveSecond {
    /// Rate of successful transactions.
    pub rate: PerSecond,
    /// Median response time; absent with fewer than ten samples beyond the quantile.
    pub p50: Option<Nanos>,
    pub p99: Option<Nanos>,
    /// Quantile of the response times of the last few seconds: the quantile of the latency objective, or the 99th
    /// percentile without such an objective. Absent if no transaction succeeded in this second.
    pub recent_quantile: Option<RecentQuantile>,
    /// Number of failed transactions and of transactions with unknown outcome.
    pub failed: u64,
    pub dropped: u64,
    /// Number of refused connections.
    pub refused: u64,
    /// Transactions in flight at the end of the second.
    pub in_flight: u64,
    /// States of the pools in the order of their names.
    pub pools: Vec<PoolState>,
    /// CPU usage of the nodes for which it is known, in the order of the nodes' names.
    pub processors: Vec<NodeCpu>,
}

/// Quantile over the shortest period that ends now and has enough samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecentQuantile {
    pub value: Nanos,
    /// Length of the period, in seconds.
    pub seconds: u32,
}

/// Objective on a quantile of the response time.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencyObjective {
    /// Text of the objective as the user wrote it.
    pub text: String,
    /// Quantile with its operation, as the user wrote them: `p95` or `buy: p95`.
    pub metric: String,
    /// Quantile, 0..=1.
    pub quantile: f64,
    /// Index of the operation; `None` for all operations together.
    pub operation: Option<usize>,
    pub bound: Nanos,
}

/// Levels between which the maximum lies, according to the steps of a search so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchBracket {
    pub scale: LoadScale,
    /// Highest level that was sustained.
    pub sustained: Option<f64>,
    /// Lowest level above it that was not sustained.
    pub failed: Option<f64>,
    /// Estimated time until the search ends, including setup.
    pub remaining: Option<Nanos>,
}

/// Current state of a run in progress.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveStatus {
    /// Last measured second; `None` unless it is current.
    pub second: Option<LiveSecond>,
    /// Time since the last measured second, if a newer one is missing.
    pub silence: Option<Nanos>,
    pub objective: Option<LatencyObjective>,
    /// Time since the run began.
    pub elapsed: Nanos,
    /// Estimated time until the run ends; `None` if measurements decide which trials follow.
    pub remaining: Option<Nanos>,
}

/// Most recent state of a pooler or balancer.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolState {
    pub node: String,
    /// Number of clients that wait for a server connection; absent if the console does not report this number.
    pub waiting: Option<f64>,
    /// Number of server connections in use; absent if the console does not report this number.
    pub busy: Option<f64>,
}

/// CPUs that a node used between its two most recent samples.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeCpu {
    pub node: String,
    pub processors: f64,
}
