//! Faults that an experiment injects: trigger, action and target.

use crate::Nanos;
use crate::product::Product;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Fault that is injected during the window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    #[serde(alias = "when")]
    pub trigger: FaultTrigger,
    #[serde(alias = "deed")]
    pub action: FaultAction,
}

/// Time at which a fault is injected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaultTrigger {
    /// Delay from the start of the window.
    At(Nanos),
    /// Delay from the first such event after the previous fault in the list.
    After(TriggerEvent, Nanos),
}

/// Event that can trigger a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TriggerEvent {
    /// A former replica accepts writes.
    Promoted,
    /// A former primary follows another server.
    Rejoined,
}

/// Effect of a fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaultAction {
    /// SIGKILL.
    Kill {
        #[serde(alias = "whom")]
        target: FaultTarget,
        #[serde(alias = "part")]
        scope: FaultScope,
    },
    /// Stop all processes for a time, then continue them.
    Pause {
        #[serde(alias = "whom")]
        target: FaultTarget,
        #[serde(rename = "duration_ns", alias = "lasting")]
        duration: Nanos,
    },
    /// Regular stop and start.
    Restart {
        #[serde(alias = "whom")]
        target: FaultTarget,
    },
    /// Planned switchover; `None` promotes the best replica.
    Switchover {
        #[serde(alias = "to")]
        target: Option<FaultTarget>,
    },
    /// Drop all network traffic in both directions.
    #[serde(alias = "cut_off")]
    Isolate {
        #[serde(alias = "whom")]
        target: FaultTarget,
        #[serde(rename = "duration_ns", alias = "lasting")]
        duration: Nanos,
    },
    /// Full disk: writes that need space fail.
    FillDisk {
        #[serde(alias = "whom")]
        target: FaultTarget,
        #[serde(rename = "duration_ns", alias = "lasting")]
        duration: Nanos,
    },
    /// Block WAL from the primary to all replicas. Writes acknowledged by the primary alone then exist only there.
    #[serde(alias = "withhold")]
    BlockReplication {
        #[serde(rename = "duration_ns", alias = "lasting")]
        duration: Nanos,
    },
}

/// Target of a fault, resolved when the fault is injected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaultTarget {
    Primary,
    /// First server that is a replica at that time.
    Replica,
    /// Node name, such as `postgres-2` or `pooler`.
    Node(String),
    /// All servers of the cluster manager's consensus store. Stored as its key.
    #[serde(untagged)]
    Store(&'static Product),
}

/// Processes of the node that are killed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaultScope {
    /// All processes at once, as in a power failure.
    #[default]
    Node,
    /// Postmaster of PostgreSQL.
    Postmaster,
    /// Cluster manager of the server. Stored as its key.
    #[serde(untagged)]
    Manager(&'static Product),
}
