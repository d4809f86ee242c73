//! Data that pgdyno copied from a database that another program filled

use serde::{Deserialize, Serialize};

/// Origin and tables of the data of a trial, before the trial. They identify the data only roughly: equal values do not
/// prove that the data are equal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiedData {
    pub origin: DataOrigin,
    /// Rows of each table in the sample; empty if no sample was taken. Partitions count as rows of their table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sampled: Vec<(String, SampledRows)>,
    /// Tables in the order of their names.
    pub tables: Vec<CopiedTable>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataOrigin {
    /// Database of the measured server.
    Template { database: String },
    /// Snapshot of a source database.
    Snapshot(Snapshot),
}

/// Source database at the time when it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Address and port, or path of a Unix socket.
    pub address: String,
    pub database: String,
    /// System identifier of the cluster; `None` if the user is not permitted to read it.
    pub system: Option<String>,
    pub major_version: u32,
    /// True if the source was a standby.
    pub is_standby: bool,
    /// Time by the source's clock, such as `2026-11-26 14:00:00 UTC`.
    pub taken_at: String,
}

/// Exact numbers of rows of a table in a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampledRows {
    pub kept: u64,
    /// Number of rows in the source.
    pub total: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiedTable {
    /// Qualified table name, quoted as in SQL.
    pub table: String,
    /// Size of the table with its indexes and TOAST data, bytes.
    pub bytes: u64,
    /// Planner's estimate of the number of rows; `None` if the table was never vacuumed or analyzed.
    pub rows: Option<u64>,
}
