//! What may a node use of the machine, and which of its limits could not be applied?

mod device;
mod group;
pub(crate) mod groups;
mod usage;
mod writes;

pub use device::{Disk, disk_behind};
pub use group::{Group, Version};
pub use usage::{Io, Source, Usage, read_cpu_stat};

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// One of the bounds of [`model::plan::Limits`].
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

/// A limit that was asked for and does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotApplied {
    pub limit: Limit,
    pub why: Why,
}

/// Why a limit could not be applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// No mounted hierarchy has this controller.
    NoController(String),
    /// The kernel refused to make, fill or enter a group: the file or directory, and what it said.
    Refused { path: PathBuf, error: String },
    /// The directory lies on no disk of its own: the kind of file system, such as `overlay` or `tmpfs`.
    NoDisk(String),
    /// The processors asked for are not there, or not ours.
    NoSuchProcessors(String),
}

impl Limit {
    /// Its name in an experiment file.
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

impl fmt::Display for NotApplied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not limited: {}", self.limit.name(), self.why)
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::NoController(name) => write!(f, "there is no control group controller `{name}`"),
            Why::Refused { path, error } => write!(f, "{}: {error}", path.display()),
            Why::NoDisk(kind) => {
                write!(f, "the data lies on {kind}, which is no disk that could be throttled")
            }
            Why::NoSuchProcessors(error) => write!(f, "{error}"),
        }
    }
}
