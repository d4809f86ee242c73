//! Sizes of the tables before and after trials

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Size of one table at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TableSize {
    /// Size of rows, free space and TOAST, bytes.
    #[serde(rename = "heap_bytes")]
    pub heap: u64,
    /// Size of all indexes, bytes.
    #[serde(rename = "index_bytes")]
    pub indexes: u64,
    /// Number of rows updated or deleted since the last vacuum, as the server's statistics estimate it.
    pub dead_rows: u64,
}

/// Sizes of one table before and after a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableSizes {
    /// Qualified name, quoted as in SQL.
    pub table: String,
    pub before: TableSize,
    pub after: TableSize,
}

/// Growth of one table over the trials of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TableGrowth {
    /// Index into the experiment's cells.
    pub cell: usize,
    /// Qualified name, quoted as in SQL.
    pub table: String,
    /// Number of trials with sizes, at least 1.
    pub trials: u32,
    /// Size before the first trial.
    pub first: TableSize,
    /// Size after the last trial.
    pub last: TableSize,
    /// Median growth during a trial of the table with its indexes, bytes; negative if it shrinks.
    pub growth_bytes: i64,
}

impl TableSize {
    /// Size of the table with its indexes, bytes.
    pub fn total(self) -> u64 {
        self.heap + self.indexes
    }
}
