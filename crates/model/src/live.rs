//! What does a run look like at this moment?

use crate::{Nanos, PerSecond};

/// One second of a trial, of all operations together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveSecond {
    /// Ended well.
    pub rate: PerSecond,
    /// Of response time; absent with fewer than ten samples beyond.
    pub p50: Option<Nanos>,
    pub p99: Option<Nanos>,
    /// Failed and unknown.
    pub failed: u64,
    pub dropped: u64,
    /// Connections that were refused.
    pub refused: u64,
    /// Sent and not yet answered when it ended.
    pub in_flight: u64,
    /// In the order of their names.
    pub pools: Vec<PoolState>,
    /// Nodes that tell, in the order of their names.
    pub processors: Vec<NodeCpu>,
}

/// A pooler or balancer, as it last told.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolState {
    pub node: String,
    /// Who waits for a server; absent where the console does not tell.
    pub waiting: Option<f64>,
    /// Servers at work; absent where the console does not tell.
    pub busy: Option<f64>,
}

/// Processors that a node used between its last two samples.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeCpu {
    pub node: String,
    pub processors: f64,
}
