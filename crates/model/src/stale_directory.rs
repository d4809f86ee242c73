//! Run directory that remained after its process was killed.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Run directory whose keeper process was killed; pgdyno removed or retained the directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StaleRunDirectory {
    pub directory: PathBuf,
    /// Reason for which the directory was not removed; absent if it was removed.
    #[serde(rename = "kept")]
    pub retained: Option<RetainReason>,
}

/// Reason for which a stale directory was not removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RetainReason {
    /// A process has it as working directory, runs a program from it, or has a file in it open or mapped.
    #[serde(rename = "Used")]
    InUse { pid: u32, program: String },
    /// A process may use it, but pgdyno may not inspect that process.
    #[serde(rename = "Hidden")]
    NotInspectable { pid: u32, program: String },
    /// A mount point or listening socket is below it.
    #[serde(rename = "Place")]
    MountOrSocket(PathBuf),
    /// The operating system returned this error message.
    System(String),
}
