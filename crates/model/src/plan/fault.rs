//! Faults that an experiment injects: trigger, action and target.

use crate::Nanos;
use crate::product::Product;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Fault that pgdyno injects during the window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    #[serde(alias = "when")]
    pub trigger: FaultTrigger,
    #[serde(alias = "deed")]
    pub action: FaultAction,
}

/// Trigger of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaultTrigger {
    /// Injection after this delay from the start of the window.
    At(Nanos),
    /// Injection with this delay after an event. The first such event after the preceding fault in the list counts.
    After(TriggerEvent, Nanos),
}

/// Event that can trigger a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TriggerEvent {
    /// Promotion: a former replica accepts writes.
    Promoted,
    /// Rejoin: a former primary follows another server.
    Rejoined,
}

/// Action that a fault performs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaultAction {
    /// Kill processes with SIGKILL.
    Kill {
        #[serde(alias = "whom")]
        target: FaultTarget,
        #[serde(alias = "part")]
        scope: FaultScope,
    },
    /// Suspend all processes, and resume them after a time.
    Pause {
        #[serde(alias = "whom")]
        target: FaultTarget,
        #[serde(rename = "duration_ns", alias = "lasting")]
        duration: Nanos,
    },
    /// Shut the node down in the regular way and start it again.
    Restart {
        #[serde(alias = "whom")]
        target: FaultTarget,
    },
    /// Switch over to another server as planned maintenance does; `None` promotes the best replica.
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
        /// Nodes with which the target cannot communicate.
        #[serde(default)]
        from: IsolationPeers,
    },
    /// Freeze the disk, so that writes and flushes wait. Reads of cached data continue.
    FreezeDisk {
        target: FaultTarget,
        #[serde(rename = "duration_ns")]
        duration: Nanos,
    },
    /// Shift the clock of a PostgreSQL server. The monotonic clock continues, as after a real jump.
    ShiftClock {
        target: FaultTarget,
        /// Offset from this machine's clock, in nanoseconds; negative for a clock that is behind.
        by_ns: i64,
        #[serde(rename = "duration_ns")]
        duration: Nanos,
    },
    /// Fill the disk, so that writes that need space fail.
    FillDisk {
        #[serde(alias = "whom")]
        target: FaultTarget,
        #[serde(rename = "duration_ns", alias = "lasting")]
        duration: Nanos,
    },
    /// Block WAL from the primary to all replicas. Writes that the primary acknowledges meanwhile exist only on the
    /// primary.
    #[serde(alias = "withhold")]
    BlockReplication {
        /// Duration; `None` blocks until another server is promoted.
        #[serde(rename = "duration_ns", alias = "lasting", default, skip_serializing_if = "Option::is_none")]
        duration: Option<Nanos>,
    },
    /// Run a command of the user that causes a failover.
    Run {
        /// Program and arguments.
        command: Vec<String>,
        /// Program and arguments that revert the fault after the load; empty if there are none.
        undo: Vec<String>,
        /// Time within which another server must accept writes.
        #[serde(rename = "within_ns")]
        within: Nanos,
    },
    /// Wait for a failover that the user causes.
    External {
        /// Time within which another server must accept writes.
        #[serde(rename = "within_ns")]
        within: Nanos,
    },
}

impl FaultAction {
    /// Time within which a failover that pgdyno does not cause must be over; `None` for faults that pgdyno injects.
    pub fn external_deadline(&self) -> Option<Nanos> {
        match self {
            FaultAction::Run { within, .. } | FaultAction::External { within } => Some(*within),
            _ => None,
        }
    }
}

/// Target of a fault, resolved when the fault is injected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaultTarget {
    Primary,
    /// First server that is a replica when the fault is injected.
    Replica,
    /// Node name, such as `postgres-2` or `pooler`.
    Node(String),
    /// All servers of the cluster manager's consensus store. Serialised as the key of the experiment file, such as
    /// `etcd`.
    #[serde(untagged)]
    Store(&'static Product),
}

/// Nodes from which a fault isolates a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IsolationPeers {
    /// All nodes and this machine.
    #[default]
    All,
    /// All servers and the store of the cluster manager. Clients, poolers and balancers still reach the node.
    Servers,
    /// These servers and stores.
    Nodes(Vec<FaultTarget>),
}

/// Processes of a node that the fault kills.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaultScope {
    /// All processes of the node at once, as in a power failure.
    #[default]
    Node,
    /// PostgreSQL's postmaster.
    Postmaster,
    /// Cluster manager of the server. The stored form is the manager's key.
    #[serde(untagged)]
    Manager(&'static Product),
}
