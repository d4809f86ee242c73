//! Resource limits of nodes

mod cgroup_writes;
mod cpu_limits;
mod device;
mod group;
mod group_entry;
pub(crate) mod groups;
mod rate_limits;
mod usage;

pub(crate) use cpu_limits::cpu_limit_texts;
pub use device::{Disk, find_disk};
pub use group::{CgroupVersion, Group};
pub(crate) use group_entry::cpu_set;
pub use rate_limits::LiftedLimits;
pub use usage::{CounterFile, Io, Usage, read_cpu_stat};

use crate::host::Cgroups;
use groups::Groups;
use model::message;
use model::message::Message;
use model::plan::Limits;
use rustix::thread::CpuSet;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Kind of limit in [`model::plan::Limits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    Cpu,
    Memory,
    ReadIops,
    WriteIops,
    ReadBps,
    WriteBps,
    Cpus,
}

/// Limits that the nodes on a host share: CPU quota and memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostLimits {
    pub name: String,
    pub limits: Limits,
}

/// Requested limit that is not in effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnappliedLimit {
    pub limit: Limit,
    #[serde(rename = "why")]
    pub reason: UnappliedReason,
}

/// Reason why a limit could not be applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnappliedReason {
    /// No mounted cgroup hierarchy has this controller.
    NoController(String),
    /// The kernel rejected an operation on this file or directory of a group.
    Refused { path: PathBuf, error: String },
    /// The directory is not on a disk. Contains the type of its file system, such as `overlay` or `tmpfs`.
    NoDisk(String),
    /// The requested CPUs do not exist, or their use is not permitted.
    NoSuchProcessors(Message),
}

/// Tests every limit on a group that is removed at once. Returns the limits that cannot be applied to a node whose
/// files are in `directory`.
pub fn probe_limits(cgroups: Cgroups, directory: &Path) -> Vec<UnappliedLimit> {
    let affinity = rustix::thread::sched_getaffinity(None).ok();
    let first = affinity.and_then(|it| (0..CpuSet::MAX_CPU).find(|&number| it.is_set(number)));
    let limits = Limits {
        cpu: Some(1.0),
        memory: Some(64 << 20),
        read_iops: Some(1000),
        write_iops: Some(1000),
        read_bps: Some(1 << 20),
        write_bps: Some(1 << 20),
        cpus: first.map(|it| it as u32).into_iter().collect(),
    };
    let mut groups = Groups::new(cgroups, directory, None);
    let entry = groups.prepare_node("trial", &limits, None);
    let not_applied = entry.map_or_else(
        |error| {
            let reason = UnappliedReason::Refused { path: directory.to_owned(), error: error.to_string() };
            Limit::ALL.iter().map(|&limit| UnappliedLimit { limit, reason: reason.clone() }).collect()
        },
        |it| it.not_applied,
    );
    groups.remove(Duration::from_secs(1));
    not_applied
}

impl Limit {
    pub const ALL: [Limit; 7] = [
        Limit::Cpu,
        Limit::Memory,
        Limit::ReadIops,
        Limit::WriteIops,
        Limit::ReadBps,
        Limit::WriteBps,
        Limit::Cpus,
    ];

    /// Key of the limit in an experiment file.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Cpu => "cpu",
            Limit::Memory => "memory",
            Limit::ReadIops => "read_iops",
            Limit::WriteIops => "write_iops",
            Limit::ReadBps => "read_bps",
            Limit::WriteBps => "write_bps",
            Limit::Cpus => "cpus",
        }
    }
}

impl UnappliedReason {
    fn refused(path: &Path, error: &io::Error) -> UnappliedReason {
        UnappliedReason::Refused { path: path.to_owned(), error: error.to_string() }
    }
}

impl From<&UnappliedReason> for Message {
    fn from(reason: &UnappliedReason) -> Message {
        match reason {
            UnappliedReason::NoController(name) => message!("limits-no-controller", name),
            UnappliedReason::Refused { path, error } => {
                message!(
                    "error-of",
                    subject = path.display().to_string(),
                    error = message!("error-quoted", text = error)
                )
            }
            UnappliedReason::NoDisk(kind) => message!("limits-no-disk", kind),
            UnappliedReason::NoSuchProcessors(error) => error.clone(),
        }
    }
}
