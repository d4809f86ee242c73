//! Identity of an attached server and state of its data, as a trial found them

use serde::{Deserialize, Serialize};

/// Attached server: its identity, and the state of its data before a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetState {
    pub server: ServerIdentity,
    /// State of the data. `None` if pgdyno restores the data before each trial, or if the state could not be read.
    pub data: Option<DataState>,
}

/// Identity of a PostgreSQL server and of one of its databases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerIdentity {
    /// System identifier of the cluster; `None` if the user is not permitted to read it.
    pub system: Option<String>,
    pub major_version: u32,
    pub database: String,
}

/// State of a database's tables, except system and temporary tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataState {
    /// Start of the server by the server's clock, microseconds of Unix time.
    pub started_us: i64,
    /// Digest of the tables' identifiers and files. It changes when a table is created, truncated or rewritten.
    pub tables: String,
    /// Size of the tables in bytes, with indexes and TOAST data.
    pub bytes: u64,
}

impl ServerIdentity {
    /// True if both may be the same server and database. An unknown system identifier matches every identifier.
    pub fn matches(&self, other: &ServerIdentity) -> bool {
        let differ = matches!((&self.system, &other.system), (Some(one), Some(other)) if one != other);
        !differ && (self.major_version, &self.database) == (other.major_version, &other.database)
    }
}
