//! Data that pgdyno copied from a database that another program filled

use serde::{Deserialize, Serialize};

/// Origin and tables of the data of a trial, before the trial. They identify the data only roughly: equal values do not
/// prove that the data are equal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiedData {
    pub origin: DataOrigin,
    /// Tables in the order of their names.
    pub tables: Vec<CopiedTable>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataOrigin {
    /// Database of the measured server.
    Template { database: String },
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
