//! Live state of a run.

use crate::{Nanos, PerSecond};

/// One second of a trial, all operations together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveSecond {
    /// Successful transactions.
    pub rate: PerSecond,
    /// Response time; absent with fewer than ten samples beyond the quantile.
    pub p50: Option<Nanos>,
    pub p99: Option<Nanos>,
    /// Failed and unknown transactions.
    pub failed: u64,
    pub dropped: u64,
    /// Refused connections.
    pub refused: u64,
    /// Transactions in flight at the end of the second.
    pub in_flight: u64,
    /// Pools in the order of their names.
    pub pools: Vec<PoolState>,
    /// CPU use of the nodes that report it, in the order of their names.
    pub processors: Vec<NodeCpu>,
}

/// Most recent state of a pooler or balancer.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolState {
    pub node: String,
    /// Clients that wait for a server connection; absent if the console does not report them.
    pub waiting: Option<f64>,
    /// Server connections in use; absent if the console does not report them.
    pub busy: Option<f64>,
}

/// CPUs that a node used between its two most recent samples.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeCpu {
    pub node: String,
    pub processors: f64,
}
