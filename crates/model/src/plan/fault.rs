//! What is done to the system while it is measured, to whom, and when?

use crate::Nanos;
use serde::{Deserialize, Serialize};

/// One thing that goes wrong on purpose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    #[serde(rename = "when")]
    pub trigger: FaultTrigger,
    #[serde(rename = "deed")]
    pub action: FaultAction,
}

/// When it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultTrigger {
    /// So long after the window began.
    At(Nanos),
    /// So long after the first such event that follows the previous fault of the list.
    After(TriggerEvent, Nanos),
}

/// What may be waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TriggerEvent {
    /// A server that was a replica takes writes.
    Promoted,
    /// A server that was the primary follows another.
    Rejoined,
}

/// What is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultAction {
    /// SIGKILL.
    Kill {
        #[serde(rename = "whom")]
        target: FaultTarget,
        #[serde(rename = "part")]
        scope: FaultScope,
    },
    /// All its processes stand still, then go on.
    Pause {
        #[serde(rename = "whom")]
        target: FaultTarget,
        #[serde(rename = "lasting")]
        duration: Nanos,
    },
    /// Stopped in its own way, and started again.
    Restart {
        #[serde(rename = "whom")]
        target: FaultTarget,
    },
    /// Planned: a replica becomes the primary, and the primary a replica. The best one when `None`.
    Switchover {
        #[serde(rename = "to")]
        target: Option<FaultTarget>,
    },
    /// Nothing goes over its network, either way.
    #[serde(rename = "cut_off")]
    Isolate {
        #[serde(rename = "whom")]
        target: FaultTarget,
        #[serde(rename = "lasting")]
        duration: Nanos,
    },
    /// Its disk is full: nothing that takes room can be written there.
    FillDisk {
        #[serde(rename = "whom")]
        target: FaultTarget,
        #[serde(rename = "lasting")]
        duration: Nanos,
    },
    /// The primary's log is sent to no replica: what is acknowledged by the primary alone exists there only.
    #[serde(rename = "withhold")]
    BlockReplication {
        #[serde(rename = "lasting")]
        duration: Nanos,
    },
}

/// Who is meant, at the moment when it happens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultTarget {
    Primary,
    /// The first that is one.
    Replica,
    /// All servers of etcd.
    Etcd,
    /// A node's name, such as `postgres-2` or `pooler`.
    Node(String),
}

/// Which of a node's processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultScope {
    /// All at once, as when its machine loses power.
    #[default]
    Node,
    /// The first process of PostgreSQL.
    Postmaster,
    /// Patroni, and nothing else.
    Patroni,
}
