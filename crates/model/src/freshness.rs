//! Staleness of reads on replicas.

use crate::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Staleness measured by sessions that write numbers on the primary and read them on its replicas.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Freshness {
    /// Maximum time for which a session waits until a replica shows a number.
    #[serde(rename = "bound_ns", alias = "bound")]
    pub bound: Nanos,
    /// Number of writes that the primary acknowledged.
    pub acknowledged: u64,
    /// Reads by replica, in the order of the names of the servers that were replicas at some time.
    pub replicas: Vec<ReplicaReads>,
    /// Reads of a session that reads from all replicas in turn. A read is stale if it shows a lower number than an
    /// earlier read of the session. `None` with only one replica.
    #[serde(alias = "in_turn")]
    pub round_robin: Option<ReadCounts>,
}

/// Reads of one replica.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplicaReads {
    pub node: String,
    /// Reads sent right after a number was acknowledged. A read that does not show the number is stale.
    #[serde(alias = "own")]
    pub own_writes: ReadCounts,
    /// Number of writes whose first read had no response or was sent late.
    pub unanswered: u64,
    /// Microseconds from the acknowledgement of a write until a read showed the write, ascending. Writes that were not
    /// visible within the bound are not included.
    pub visible_us: Vec<u64>,
}

/// Number of reads and number of stale reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadCounts {
    #[serde(alias = "all")]
    pub total: u64,
    #[serde(alias = "old")]
    pub stale: u64,
    /// Number of transitions between stale and fresh reads.
    pub changes: u64,
}

/// Combined results of a cell's trials.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FreshnessResult {
    /// Index into the experiment's cells.
    pub cell: usize,
    /// Number of trials with data.
    pub trials: u32,
    #[serde(rename = "bound_ns")]
    pub bound: Nanos,
    /// Number of writes that the primary acknowledged.
    pub acknowledged: u64,
    /// True if a commit waits until every replica has applied it.
    pub promised: bool,
    /// Replicas in the order of their names.
    pub replicas: Vec<ReplicaFreshness>,
    /// Stale reads of a session that reads from all replicas in turn; `None` if the session had no reads to compare.
    pub round_robin: Option<StaleReads>,
}

/// Freshness of one replica.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ReplicaFreshness {
    pub node: String,
    /// Reads that did not show the write that was just acknowledged; `None` if no read had a response.
    pub stale: Option<StaleReads>,
    /// Number of writes whose first read had no response or was sent late.
    pub unanswered: u64,
    /// Median time from the acknowledgement of a write until the replica showed the write. `None` with fewer than ten
    /// reads beyond the quantile.
    pub p50: Option<VisibilityDelay>,
    pub p90: Option<VisibilityDelay>,
    pub p99: Option<VisibilityDelay>,
    /// Number of writes that were not visible within the bound.
    pub not_visible: u64,
}

/// Stale reads among all reads, with a confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StaleReads {
    pub stale: u64,
    /// Number of reads, at least 1; `stale` is the number of stale reads.
    pub total: u64,
    /// 95 % confidence interval of the probability of a stale read, 0..=1.
    pub interval: (f64, f64),
}

/// Time from the acknowledgement of a write until a replica showed the write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VisibilityDelay {
    #[serde(rename = "within_ns")]
    Within(Nanos),
    /// Longer than the bound.
    AfterBound,
}

impl FreshnessResult {
    /// True if no read was stale; `None` without a promise, or if no read had a response.
    pub fn is_promise_kept(&self) -> Option<bool> {
        let mut stale = self.replicas.iter().filter_map(|it| it.stale).peekable();
        stale.peek().filter(|_| self.promised)?;
        Some(stale.all(|it| it.stale == 0))
    }
}

impl StaleReads {
    /// Share of stale reads, 0..=1.
    pub fn share(&self) -> f64 {
        self.stale as f64 / self.total as f64
    }
}
