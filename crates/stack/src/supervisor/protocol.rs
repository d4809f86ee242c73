//! Protocol between supervisor and keeper
//!
//! Messages are lines of JSON over one socket pair. The keeper answers each order of the supervisor with one reply, and
//! sends `Ended` unsolicited. When the supervisor's end closes, for whatever reason, the keeper stops and removes
//! everything.

use super::launch::{Launch, Sig, SystemUser};
use crate::host::Cgroups;
use crate::limits::{Group, UnappliedLimit};
use model::StaleRunDirectory;
use model::message::Message;
use model::plan::Limits;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Id of a process of one supervisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NodeId(pub u32);

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// Create the run directory below `base`; `owner` owns its subdirectory `home`. Create control groups in `cgroups`.
    /// This must be the first order.
    Open {
        base: PathBuf,
        owner: Option<SystemUser>,
        cgroups: Cgroups,
    },
    Launch(NodeId, Box<Launch>),
    /// Limit the supervisor's own process.
    Generator(Limits),
    /// Signal the node's main process. For an isolated node, SIGKILL, SIGSTOP and SIGCONT reach all its processes.
    Signal(NodeId, Sig),
    /// Signal this process, if it belongs to the node.
    SignalOne(NodeId, u32, Sig),
    /// Connect (`true`) or disconnect the network of the node of this name.
    Connect(String, bool),
    /// Disconnect the nodes of these names from each other (`true`), or connect them again.
    Separate([String; 2], bool),
    /// Create a disk for the node of this name, if it has none.
    Disk(String),
    /// Fill the disk (`true`), or free its space again.
    Fill(String, bool),
    /// Freeze the disk (`true`), or let its writes continue.
    Freeze(String, bool),
    /// Stop the node by its stop steps. The reply follows when the node has ended.
    Stop(NodeId),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    /// The run directory was created. Also reports the directories that killed keepers left.
    Opened {
        directory: PathBuf,
        leftovers: Vec<StaleRunDirectory>,
    },
    Launched {
        pid: u32,
        /// Process id of an isolated node's program; the first process waits for it.
        program: Option<u32>,
        /// Control group of the node, if its limits need one.
        group: Option<Group>,
        not_applied: Vec<UnappliedLimit>,
    },
    Limited {
        group: Option<Group>,
        not_applied: Vec<UnappliedLimit>,
    },
    /// The disk exists; contains its directory.
    Disk(PathBuf),
    Done,
    /// The order failed; contains the reason.
    Refused(Message),
    Ended(NodeId, End),
}

/// Way in which a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    Exit(i32),
    Signal(i32),
}
