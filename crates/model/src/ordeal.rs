//! What did the faults of a trial cost, and did every acknowledged write outlive them?

use crate::Nanos;
use crate::durability::{Conclusion, Counts, Doubt, Found, RecoveryPoint, Verdict};
use crate::plan::Deed;
use serde::{Deserialize, Serialize};

/// What a trial with faults came to. Moments are since its window began.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ordeal {
    /// In their order.
    pub inflicted: Vec<Inflicted>,
    /// Each time that another server became the primary.
    pub promoted: Vec<Promoted>,
    /// Old primaries that came back, and replicas that had more than the one promoted.
    pub rejoined: Vec<Rejoined>,
    /// What was read back, in its order.
    pub readings: Vec<ReadBack>,
    /// `None` where no operation has a ledger.
    pub verdict: Option<Verdict>,
    /// What should have been done and could not be, such as a replica that did not come back.
    pub troubles: Vec<String>,
}

/// A deed that was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inflicted {
    pub at: Nanos,
    /// When it was undone, of what lasts.
    pub healed: Option<Nanos>,
    pub deed: Deed,
    /// Names of nodes; empty where it could not be done.
    pub nodes: Vec<String>,
}

/// A server became the primary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Promoted {
    pub from: String,
    pub to: String,
    /// When it was seen to take writes.
    pub at: Nanos,
    /// When whoever asks for its health was first told that it is the primary.
    pub healthy: Option<Nanos>,
    pub timeline: u32,
    /// Whether nothing that was confirmed can be missing; `None` where somebody else decided, as Patroni does.
    pub safe: Option<bool>,
}

/// A server that was the primary, or had more than the one promoted, follows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rejoined {
    pub node: String,
    pub at: Nanos,
    pub took: Nanos,
    /// By `pg_rewind`; else all was copied anew.
    pub rewound: bool,
}

/// Everything that has a token was read, from one primary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadBack {
    pub after: After,
    pub node: String,
    /// Rows with a token.
    pub rows: u64,
    pub took: Nanos,
}

/// What preceded a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum After {
    /// The load, with its faults.
    Load,
    /// The old primary has come back.
    Rejoining,
    /// All servers were stopped and started.
    Restart,
}

/// What a cell's trials say together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Survival {
    /// Index into the experiment's cells.
    pub cell: usize,
    /// Trials whose faults were done.
    pub trials: u32,
    /// After which another server took writes.
    pub failovers: u32,
    /// Nothing known is lost or the promise broken in any trial; `None` without a ledger.
    pub conclusion: Option<Conclusion>,
    /// Upper bound, at 95 %, of the probability that a failover loses something, when none of these did. 0..=1
    pub bound: f64,
    /// Of all trials together.
    pub counts: Counts,
    /// Acknowledged writes that are gone, whatever had been promised.
    pub lost: u64,
    /// Each kind once, the worst first, of all trials together.
    pub found: Vec<Found>,
    /// Each once.
    pub doubts: Vec<Doubt>,
    /// Of the trial that lost most without a promise broken.
    pub recovery_point: Option<RecoveryPoint>,
    /// The longest time of a trial without an acknowledged write, around its faults.
    pub outage: Option<Spread>,
    /// From what was done to a primary until another server took writes.
    pub promoted: Option<Spread>,
    /// The same until its health was told.
    pub healthy: Option<Spread>,
    /// How long the old primary took to come back.
    pub rejoined: Option<Spread>,
    /// Of the cell's positive control.
    pub control: Option<Controlled>,
}

/// What the same faults did to a system that promises nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Controlled {
    /// Index into the experiment's cells.
    pub cell: usize,
    pub trials: u32,
    /// Those that lost something.
    pub lossy: u32,
    /// Acknowledged writes that they lost.
    pub lost: u64,
}

/// Of several durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Spread {
    pub least: Nanos,
    pub median: Nanos,
    pub greatest: Nanos,
}
