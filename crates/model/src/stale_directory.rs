//! Run directory that remained after its process was killed.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Run directory whose keeper process was killed; pgdyno removed or retained the directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StaleRunDirectory {
    pub directory: PathBuf,
    /// Reason why the directory was not removed; absent if the directory was removed.
    #[serde(rename = "kept")]
    pub retained: Option<RetainReason>,
}

/// Reason why a stale directory was not removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RetainReason {
    /// A process uses the directory as its working directory, runs a program from it, or has opened or mapped a file in
    /// it.
    #[serde(rename = "Used")]
    InUse { pid: u32, program: String },
    /// A process may use the directory, but pgdyno has no permission to inspect the process.
    #[serde(rename = "Hidden")]
    NotInspectable { pid: u32, program: String },
    /// A mount point or listening socket is below the directory.
    #[serde(rename = "Place")]
    MountOrSocket(PathBuf),
    /// The control groups of the run cannot be removed.
    ControlGroups,
    /// The operating system returned this error message.
    System(String),
}
