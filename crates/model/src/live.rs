//! Live state of a run.

use crate::{Nanos, PerSecond};

/// Figures of one second of a trial, for all operations together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveSecond {
    /// Rate of successful transactions.
    pub rate: PerSecond,
    /// Median response time; absent with fewer than ten samples beyond the quantile.
    pub p50: Option<Nanos>,
    pub p99: Option<Nanos>,
    /// Number of failed transactions and of transactions with unknown outcome.
    pub failed: u64,
    pub dropped: u64,
    /// Number of refused connections.
    pub refused: u64,
    /// Transactions in flight at the end of the second.
    pub in_flight: u64,
    /// States of the pools in the order of their names.
    pub pools: Vec<PoolState>,
    /// CPU use of the nodes that report it, in the order of their names.
    pub processors: Vec<NodeCpu>,
}

/// Most recent state of a pooler or balancer.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolState {
    pub node: String,
    /// Number of clients that wait for a server connection; absent if the console does not report it.
    pub waiting: Option<f64>,
    /// Number of server connections in use; absent if the console does not report it.
    pub busy: Option<f64>,
}

/// CPUs that a node used between its two most recent samples.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeCpu {
    pub node: String,
    pub processors: f64,
}
