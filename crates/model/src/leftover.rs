//! Files of a run whose process was killed.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A run directory whose keeper was killed, and whether it was removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leftover {
    pub directory: PathBuf,
    /// Absent if the directory was removed.
    pub kept: Option<KeptBecause>,
}

/// Why a leftover directory was not removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum KeptBecause {
    /// A process works in it, runs a program of it, or has a file of it open or mapped.
    Used { pid: u32, program: String },
    /// A process that could use it may not be inspected.
    Hidden { pid: u32, program: String },
    /// A mount point or a listening socket below it.
    Place(PathBuf),
    /// The system's message.
    System(String),
}
