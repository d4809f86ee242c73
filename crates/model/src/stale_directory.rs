//! Files of a run whose process was killed.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A run directory whose keeper was killed, and whether it was removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StaleRunDirectory {
    pub directory: PathBuf,
    /// Absent if the directory was removed.
    #[serde(rename = "kept")]
    pub retained: Option<RetainReason>,
}

/// Why a leftover directory was not removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RetainReason {
    /// A process works in it, runs a program of it, or has a file of it open or mapped.
    #[serde(rename = "Used")]
    InUse { pid: u32, program: String },
    /// A process that could use it may not be inspected.
    #[serde(rename = "Hidden")]
    NotInspectable { pid: u32, program: String },
    /// A mount point or a listening socket below it.
    #[serde(rename = "Place")]
    MountOrSocket(PathBuf),
    /// The system's message.
    System(String),
}
