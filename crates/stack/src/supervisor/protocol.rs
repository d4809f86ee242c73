//! What do supervisor and keeper say to each other?
//!
//! Lines of JSON over one socket pair. The supervisor orders, the keeper answers each order with one word; `Ended` comes
//! unasked. When the supervisor's end closes, for whatever reason, the keeper clears everything away.

use super::launch::{Launch, Sig, User};
use crate::host::Cgroups;
use crate::limits::{Group, UnappliedLimit};
use model::StaleRunDirectory;
use model::plan::Limits;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// Numbers the processes of one supervisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NodeId(pub u32);

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// First of all: make the run directory below `base`; its `home` belongs to `owner`. Groups are made in `cgroups`.
    Open {
        base: PathBuf,
        owner: Option<User>,
        cgroups: Cgroups,
    },
    Launch(NodeId, Launch),
    /// Limit the supervisor's own process.
    Generator(Limits),
    /// To the node's own process; of one that is apart, SIGKILL, SIGSTOP and SIGCONT reach all.
    Signal(NodeId, Sig),
    /// To this process, if it is the node's.
    SignalOne(NodeId, u32, Sig),
    /// Cut its network off, or mend it.
    Link(NodeId, bool),
    /// Make a disk for the node of this name, if it has none.
    Disk(String),
    /// Take all that is free there, or give it back.
    Fill(String, bool),
    /// Stop it in its own way; answered when it has ended.
    Stop(NodeId),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    /// The run directory, and what became of those that killed keepers left.
    Opened {
        directory: PathBuf,
        leftovers: Vec<StaleRunDirectory>,
    },
    Launched {
        pid: u32,
        /// Of a node that is apart: its program, which the first process waits for.
        program: Option<u32>,
        /// The group it is in, if its limits need one.
        group: Option<Group>,
        not_applied: Vec<UnappliedLimit>,
    },
    Limited {
        group: Option<Group>,
        not_applied: Vec<UnappliedLimit>,
    },
    /// Where it is.
    Disk(PathBuf),
    Done,
    /// The order could not be carried out.
    Refused(String),
    Ended(NodeId, End),
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    Exit(i32),
    Signal(i32),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Exit(status) => write!(f, "exited with status {status}"),
            End::Signal(signal) => write!(f, "was ended by signal {signal}"),
        }
    }
}
