//! Results of fault injection: promotions, rejoins, read-backs and outages.

use crate::Nanos;
use crate::durability::{
    AccessKind, Anomaly, ClientKind, Conclusion, ControlResult, DurabilityVerdict, InconclusiveReason,
    InvariantReadings, RecoveryPoint, WriteCounts,
};
use crate::message::Message;
use crate::objective::ObjectiveResult;
use crate::plan::FaultAction;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Result of a trial with faults. Times are relative to the start of its window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultInjection {
    /// Injected faults in order of time.
    #[serde(alias = "inflicted")]
    pub injected: Vec<InjectedFault>,
    /// Promotions of another server to primary.
    #[serde(alias = "promoted")]
    pub promotions: Vec<PromotionRecord>,
    /// Periods of at least half a second in which two servers were primaries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dual_primaries: Vec<DualPrimary>,
    /// Rejoins of old primaries, and of replicas that had more WAL than the promoted replica.
    #[serde(alias = "rejoined")]
    pub rejoins: Vec<RejoinRecord>,
    /// Read-backs in order of time.
    #[serde(alias = "readings")]
    pub read_backs: Vec<ReadBackRecord>,
    /// Verdict of the durability check; `None` if no operation has a ledger.
    pub verdict: Option<DurabilityVerdict>,
    /// Result of the control within the trial: clients whose commits waited for no standby. `None` if there are none.
    #[serde(default)]
    pub local_control: Option<ControlResult>,
    /// Messages of steps that failed, such as a replica that did not return.
    #[serde(alias = "troubles")]
    pub errors: Vec<Message>,
}

/// Injected fault and the nodes that it affected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InjectedFault {
    #[serde(rename = "at_ns", alias = "at")]
    pub at: Nanos,
    /// Time at which the fault was reverted; `None` if it has no duration.
    #[serde(rename = "reverted_ns", alias = "healed")]
    pub reverted: Option<Nanos>,
    #[serde(alias = "deed")]
    pub action: FaultAction,
    /// Names of the affected nodes; empty if the fault could not be injected.
    pub nodes: Vec<String>,
}

/// Promotion of a server to primary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromotionRecord {
    pub from: String,
    pub to: String,
    /// Time at which the promoted server was first observed to accept writes.
    #[serde(rename = "at_ns", alias = "at")]
    pub at: Nanos,
    /// Time at which the health endpoint of the server first reported a primary.
    #[serde(rename = "healthy_ns", alias = "healthy")]
    pub healthy: Option<Nanos>,
    pub timeline: u32,
    /// True if the promoted server certainly has all acknowledged writes; `None` if a failover manager decided.
    pub safe: Option<bool>,
}

/// Period in which two servers of one system were not in recovery, on different timelines. Without a write that the older one
/// acknowledged, it is no anomaly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DualPrimary {
    /// Servers; the first one has the older timeline.
    pub nodes: [String; 2],
    #[serde(rename = "from_ns")]
    pub from: Nanos,
    #[serde(rename = "to_ns")]
    pub to: Nanos,
}

/// Rejoin of an old primary, or of a server that had more WAL than the promoted server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RejoinRecord {
    pub node: String,
    #[serde(rename = "at_ns", alias = "at")]
    pub at: Nanos,
    #[serde(rename = "elapsed_ns", alias = "took")]
    pub elapsed: Nanos,
    /// True if `pg_rewind` was used; otherwise all data was copied again.
    pub rewound: bool,
}

/// Read-back of all rows with a token, from one primary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReadBackRecord {
    #[serde(alias = "after")]
    pub phase: ReadBackPhase,
    pub node: String,
    /// Number of rows with a token.
    pub rows: u64,
    #[serde(rename = "elapsed_ns", alias = "took")]
    pub elapsed: Nanos,
}

/// Phase of the trial that preceded a read-back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadBackPhase {
    /// Load period with its faults.
    Load,
    /// Rejoin of the old primary.
    Rejoining,
    /// Stop and start of all servers.
    Restart,
}

/// Combined results of a cell's trials.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FailoverResult {
    /// Index into the experiment's cells.
    pub cell: usize,
    /// Number of trials whose faults were injected.
    pub trials: u32,
    /// Number of times that another server became the primary.
    pub failovers: u32,
    /// Combined conclusion of all trials; `None` without a ledger.
    pub conclusion: Option<Conclusion>,
    /// Upper bound (95 % confidence) of the probability, 0..=1, that a failover loses a write, if no observed failover
    /// lost a write.
    pub bound: f64,
    /// Write counts summed over all trials.
    pub counts: WriteCounts,
    /// Number of acknowledged writes that were lost, with or without a promise.
    pub lost: u64,
    /// Anomalies of all trials together, each kind once, the worst first.
    pub anomalies: Vec<Anomaly>,
    /// Doubts of all trials; each doubt is listed once.
    pub doubts: Vec<InconclusiveReason>,
    /// Recovery point of the trial that lost the most writes without a promise.
    pub recovery_point: Option<RecoveryPoint>,
    /// Readings of each invariant in all trials together.
    pub invariants: Vec<InvariantReadings>,
    /// Write outage of connected clients, which `outages` contains too.
    pub outage: Option<DurationRange>,
    /// Outages around the faults, for each kind of client and access that was measured.
    pub outages: Vec<OutageSummary>,
    /// Time from the fault on a primary until another server accepted writes.
    pub promoted: Option<DurationRange>,
    /// Time from the fault on a primary until the health endpoint reported the new primary.
    pub healthy: Option<DurationRange>,
    /// Time that the old primary took to rejoin.
    pub rejoined: Option<DurationRange>,
    /// Result of the cell's positive control.
    pub control: Option<ControlSummary>,
    /// Results of the objectives on failovers, over all trials of the cell.
    pub objectives: Vec<ObjectiveResult>,
}

impl FailoverResult {
    /// Number of acknowledged writes that were lost, as far as they were read back. `None` if a trial was not read back
    /// and no loss was found, because 0 would then be a claim without evidence.
    pub fn known_loss(&self) -> Option<u64> {
        let is_read = !self.doubts.contains(&InconclusiveReason::NotReadBack);
        (is_read || self.lost > 0).then_some(self.lost)
    }
}

impl FailoverResult {
    /// Outage of writes that matters to users: that of a new client. If new clients were not measured, that of a
    /// connected client.
    pub fn write_outage(&self) -> Option<&OutageSummary> {
        self.find_outage(ClientKind::New, AccessKind::Write)
            .or(self.find_outage(ClientKind::Connected, AccessKind::Write))
    }

    /// Outage of one kind of client and access, if it was measured.
    pub fn find_outage(&self, client: ClientKind, access: AccessKind) -> Option<&OutageSummary> {
        self.outages.iter().find(|it| it.client == client && it.access == access)
    }
}

/// Longest outage of each trial, for one kind of client and access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OutageSummary {
    pub client: ClientKind,
    pub access: AccessKind,
    /// Durations of the outages. A trial without an outage counts as zero.
    pub duration: DurationRange,
    /// Number of trials whose outage had not ended at the end of the load. Their durations are lower bounds.
    pub ongoing: u32,
    /// Part of a connected client's outages that came after new clients were served again. The connected client then
    /// waited for its own timeouts and retry delays. `None` for new clients, or if they were not measured.
    pub own_wait: Option<DurationRange>,
}

/// Result of the cell's positive control: the same faults on a system that promises nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ControlSummary {
    /// Index into the experiment's cells.
    pub cell: usize,
    pub trials: u32,
    /// Number of trials that lost writes.
    pub lossy_trials: u32,
    /// Number of acknowledged writes that all trials of the control lost.
    pub lost: u64,
}

/// Range of one duration over several trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DurationRange {
    #[serde(rename = "min_ns")]
    pub min: Nanos,
    #[serde(rename = "median_ns")]
    pub median: Nanos,
    #[serde(rename = "max_ns")]
    pub max: Nanos,
}
