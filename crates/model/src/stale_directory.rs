//! Files of a run whose process was killed.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Run directory whose keeper was killed, and whether the directory was removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StaleRunDirectory {
    pub directory: PathBuf,
    /// Absent if the directory was removed.
    #[serde(rename = "kept")]
    pub retained: Option<RetainReason>,
}

/// Reason why a stale directory was not removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RetainReason {
    /// Process that has it as working directory, runs a program from it, or has a file in it open or mapped.
    #[serde(rename = "Used")]
    InUse { pid: u32, program: String },
    /// Process that may use it, but that we may not inspect.
    #[serde(rename = "Hidden")]
    NotInspectable { pid: u32, program: String },
    /// Mount point or listening socket below it.
    #[serde(rename = "Place")]
    MountOrSocket(PathBuf),
    /// Error message of the operating system.
    System(String),
}
