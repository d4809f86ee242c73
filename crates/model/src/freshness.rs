//! How old is what is read on replicas?

use crate::Nanos;
use serde::{Deserialize, Serialize};

/// What a trial's sessions saw that put numbers on the primary and read them on its replicas.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Freshness {
    /// So long a number was waited for.
    pub bound: Nanos,
    /// Numbers that the primary acknowledged.
    pub acknowledged: u64,
    /// Of each server that was asked as a replica, in the order of their names.
    pub replicas: Vec<ReplicaReads>,
    /// Of a session that read all replicas in turn, and remembered the highest number it had seen: a read is old that shows
    /// less. `None` where there is one replica.
    #[serde(rename = "in_turn")]
    pub round_robin: Option<ReadCounts>,
}

/// What one replica showed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplicaReads {
    pub node: String,
    /// Of a number that had just been acknowledged: a read is old that does not show it.
    #[serde(rename = "own")]
    pub own_writes: ReadCounts,
    /// Numbers for which there was no answer, or for which the question was late.
    pub unanswered: u64,
    /// Microseconds from the acknowledgement until a read had shown the number, ascending. Of those numbers that were
    /// shown within the bound: the others of `own` were not.
    pub visible_us: Vec<u64>,
}

/// Reads, and how many of them were old.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadCounts {
    #[serde(rename = "all")]
    pub total: u64,
    #[serde(rename = "old")]
    pub stale: u64,
    /// How often a read was old and the one before it was not, or the other way round.
    pub changes: u64,
}

/// What a cell's trials say together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FreshnessResult {
    /// Index into the experiment's cells.
    pub cell: usize,
    /// Trials that say something.
    pub trials: u32,
    pub bound: Nanos,
    /// Numbers that the primary acknowledged.
    pub acknowledged: u64,
    /// Whether a commit waits until every replica shows it.
    pub promised: bool,
    /// In the order of their names.
    pub replicas: Vec<ReplicaFreshness>,
    /// Of a session that read all replicas in turn; `None` where it had nothing to compare.
    #[serde(rename = "in_turn")]
    pub round_robin: Option<StaleReads>,
}

/// What is read on one replica.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplicaFreshness {
    pub node: String,
    /// Reads that did not show what had just been acknowledged; `None` where there was no answer.
    pub stale: Option<StaleReads>,
    /// Numbers for which there was no answer, or for which the question was late.
    pub unanswered: u64,
    /// Time from the acknowledgement until it was there. Absent with fewer than ten reads beyond.
    pub p50: Option<VisibilityDelay>,
    pub p90: Option<VisibilityDelay>,
    pub p99: Option<VisibilityDelay>,
    /// Numbers that were not there within the bound.
    #[serde(rename = "unseen")]
    pub not_visible: u64,
}

/// How many reads were old.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StaleReads {
    #[serde(rename = "old")]
    pub stale: u64,
    /// At least 1.
    #[serde(rename = "all")]
    pub total: u64,
    /// Between these the probability of an old read lies, with 95 %. 0..=1
    pub interval: (f64, f64),
}

/// When something that was written could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VisibilityDelay {
    Within(Nanos),
    /// Not within the bound.
    #[serde(rename = "later")]
    AfterBound,
}

impl FreshnessResult {
    /// Whether what was promised of reads was kept; `None` where nothing was, or nobody answered.
    pub fn is_promise_kept(&self) -> Option<bool> {
        let mut stale = self.replicas.iter().filter_map(|it| it.stale).peekable();
        stale.peek().filter(|_| self.promised)?;
        Some(stale.all(|it| it.stale == 0))
    }
}

impl StaleReads {
    /// 0..=1
    pub fn share(&self) -> f64 {
        self.stale as f64 / self.total as f64
    }
}
