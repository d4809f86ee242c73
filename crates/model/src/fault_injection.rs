//! What did the faults of a trial cost, and did every acknowledged write outlive them?

use crate::Nanos;
use crate::durability::{
    Anomaly, Conclusion, DurabilityVerdict, InconclusiveReason, RecoveryPoint, WriteCounts,
};
use crate::plan::FaultAction;
use serde::{Deserialize, Serialize};

/// What a trial with faults came to. Moments are since its window began.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FaultInjection {
    /// In their order.
    #[serde(rename = "inflicted")]
    pub injected: Vec<InjectedFault>,
    /// Each time that another server became the primary.
    #[serde(rename = "promoted")]
    pub promotions: Vec<PromotionRecord>,
    /// Old primaries that came back, and replicas that had more than the one promoted.
    #[serde(rename = "rejoined")]
    pub rejoins: Vec<RejoinRecord>,
    /// What was read back, in its order.
    #[serde(rename = "readings")]
    pub read_backs: Vec<ReadBackRecord>,
    /// `None` where no operation has a ledger.
    pub verdict: Option<DurabilityVerdict>,
    /// What should have been done and could not be, such as a replica that did not come back.
    #[serde(rename = "troubles")]
    pub errors: Vec<String>,
}

/// A deed that was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InjectedFault {
    pub at: Nanos,
    /// When it was undone, of what lasts.
    #[serde(rename = "healed")]
    pub reverted: Option<Nanos>,
    #[serde(rename = "deed")]
    pub action: FaultAction,
    /// Names of nodes; empty where it could not be done.
    pub nodes: Vec<String>,
}

/// A server became the primary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PromotionRecord {
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
pub struct RejoinRecord {
    pub node: String,
    pub at: Nanos,
    #[serde(rename = "took")]
    pub elapsed: Nanos,
    /// By `pg_rewind`; else all was copied anew.
    pub rewound: bool,
}

/// Everything that has a token was read, from one primary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadBackRecord {
    #[serde(rename = "after")]
    pub phase: ReadBackPhase,
    pub node: String,
    /// Rows with a token.
    pub rows: u64,
    #[serde(rename = "took")]
    pub elapsed: Nanos,
}

/// What preceded a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadBackPhase {
    /// The load, with its faults.
    Load,
    /// The old primary has come back.
    Rejoining,
    /// All servers were stopped and started.
    Restart,
}

/// What a cell's trials say together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailoverResult {
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
    pub counts: WriteCounts,
    /// Acknowledged writes that are gone, whatever had been promised.
    pub lost: u64,
    /// Each kind once, the worst first, of all trials together.
    #[serde(rename = "found")]
    pub anomalies: Vec<Anomaly>,
    /// Each once.
    pub doubts: Vec<InconclusiveReason>,
    /// Of the trial that lost most without a promise broken.
    pub recovery_point: Option<RecoveryPoint>,
    /// The longest time of a trial without an acknowledged write, around its faults.
    pub outage: Option<DurationRange>,
    /// From what was done to a primary until another server took writes.
    pub promoted: Option<DurationRange>,
    /// The same until its health was told.
    pub healthy: Option<DurationRange>,
    /// How long the old primary took to come back.
    pub rejoined: Option<DurationRange>,
    /// Of the cell's positive control.
    pub control: Option<ControlSummary>,
}

/// What the same faults did to a system that promises nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ControlSummary {
    /// Index into the experiment's cells.
    pub cell: usize,
    pub trials: u32,
    /// Those that lost something.
    #[serde(rename = "lossy")]
    pub lossy_trials: u32,
    /// Acknowledged writes that they lost.
    pub lost: u64,
}

/// Of several durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DurationRange {
    #[serde(rename = "least")]
    pub min: Nanos,
    pub median: Nanos,
    #[serde(rename = "greatest")]
    pub max: Nanos,
}
