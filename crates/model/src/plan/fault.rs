//! What is done to the system while it is measured, to whom, and when?

use crate::Nanos;
use serde::{Deserialize, Serialize};

/// One thing that goes wrong on purpose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    pub when: When,
    pub deed: Deed,
}

/// When it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// So long after the window began.
    At(Nanos),
    /// So long after the first such event that follows the previous fault of the list.
    After(Event, Nanos),
}

/// What may be waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A server that was a replica takes writes.
    Promoted,
    /// A server that was the primary follows another.
    Rejoined,
}

/// What is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    /// SIGKILL.
    Kill { whom: Whom, part: Part },
    /// All its processes stand still, then go on.
    Pause { whom: Whom, lasting: Nanos },
    /// Stopped in its own way, and started again.
    Restart { whom: Whom },
    /// Planned: a replica becomes the primary, and the primary a replica. The best one when `None`.
    Switchover { to: Option<Whom> },
    /// Nothing goes over its network, either way.
    CutOff { whom: Whom, lasting: Nanos },
    /// Its disk is full: nothing that takes room can be written there.
    FillDisk { whom: Whom, lasting: Nanos },
    /// The primary's log is sent to no replica: what is acknowledged by the primary alone exists there only.
    Withhold { lasting: Nanos },
}

/// Who is meant, at the moment when it happens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Whom {
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
pub enum Part {
    /// All at once, as when its machine loses power.
    #[default]
    Node,
    /// The first process of PostgreSQL.
    Postmaster,
    /// Patroni, and nothing else.
    Patroni,
}
