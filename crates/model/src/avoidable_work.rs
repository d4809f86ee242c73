//! Work of PostgreSQL that a setting, maintenance or other connections avoid

use crate::advice::IndexObstacle;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kind of avoidable work.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum AvoidableWork {
    /// Sorts and hashes that do not fit into `work_mem`.
    TemporaryFiles,
    /// Just-in-time compilation of statements.
    Jit,
    /// Planning of statements.
    Planning,
    /// Logins.
    Logins,
    /// Dead row versions in a table.
    DeadRows { table: String },
    /// Pages of a table that are almost empty.
    EmptyPages { table: String },
    /// Statistics of a table that are older than its rows.
    OldStatistics { table: String },
    /// Snapshot that keeps vacuum from removing dead row versions.
    OldSnapshot,
    /// Autovacuum, which competes with the load.
    Autovacuum,
    /// Large values of a table, which are stored in its TOAST table.
    LargeValues { table: String },
    /// Rows of a table that index scans read, and that are not returned.
    DiscardedRows { table: String },
    /// Indexes of a table that no statement uses.
    UnusedIndexes { table: String },
    /// Function, such as a trigger function, with its statements.
    Function { function: String },
    /// Scans of a table for the rows that reference a deleted row, because no index begins with the columns of the foreign
    /// key.
    UnindexedForeignKey { table: String, columns: String },
    /// Rows of a table that OFFSET skips.
    SkippedRows { table: String },
    /// Statement that each transaction executes many times.
    RepeatedStatement,
    /// Savepoints and exception blocks.
    Subtransactions,
    /// Query that returns many rows.
    LargeResult,
    /// Scans of a table by plans that do not depend on the values of parameters.
    GenericPlans { table: String },
    /// Scans of a table by a condition that prevents the use of an index.
    Condition { table: String, obstacle: IndexObstacle },
}

/// Evidence for avoidable work.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum WorkEvidence {
    TemporaryFiles {
        files_per_transaction: f64,
        bytes_per_transaction: f64,
        bytes_per_file: f64,
        /// Statement that wrote most; untrusted input. `None` if statements are not counted.
        statement: Option<String>,
    },
    Jit {
        /// Share of PostgreSQL's CPU time, or of the time of statements if the CPU time is unknown, 0..=1.
        share: f64,
        /// Statement with the longest compilation; untrusted input.
        statement: Option<String>,
    },
    Planning {
        /// Share as for JIT.
        share: f64,
        /// Mean duration of planning, in seconds.
        #[serde(rename = "mean_s")]
        mean: f64,
        statement: Option<String>,
    },
    Logins {
        per_second: f64,
        per_transaction: f64,
        /// Mean duration of a login, in seconds; `None` unless the load itself opens the connections.
        #[serde(rename = "mean_s")]
        mean: Option<f64>,
    },
    DeadRows {
        table: String,
        live_rows: f64,
        dead_rows: f64,
        bytes: Option<f64>,
    },
    EmptyPages {
        table: String,
        /// Size of the table, and bytes that its rows need.
        bytes: f64,
        row_bytes: f64,
        scans_per_transaction: f64,
    },
    OldStatistics {
        table: String,
        live_rows: f64,
        /// Number of rows changed since the last ANALYZE when the trial began.
        changed_rows: f64,
    },
    OldSnapshot {
        /// Longest age of a transaction with a snapshot, in seconds.
        #[serde(rename = "age_s")]
        age: f64,
        /// Number of dead row versions at the beginning and at the end of the trial.
        first_dead_rows: f64,
        last_dead_rows: f64,
    },
    Autovacuum {
        /// Share (0..=1) of autovacuum workers among the processes that run or wait for a CPU.
        share: f64,
        /// Mean number of these workers.
        workers: f64,
    },
    /// Rows that index scans read and that are not returned, of a table that has grown since its last ANALYZE.
    GrownTable {
        table: String,
        /// Size relative to the size at the last VACUUM or ANALYZE.
        growth: f64,
        read_per_transaction: f64,
        /// Rows that statements returned or changed, per transaction.
        returned_per_transaction: f64,
    },
    DiscardedRows {
        table: String,
        read_per_transaction: f64,
        returned_per_transaction: f64,
    },
    LargeValues {
        table: String,
        /// Blocks of the TOAST table, and blocks of all tables and indexes.
        toast_blocks_per_transaction: f64,
        blocks_per_transaction: f64,
    },
    UnusedIndexes {
        table: String,
        /// Number of indexes that are not unique and that no statement has used.
        indexes: f64,
        /// Rows inserted, or updated with new index entries.
        rows_per_transaction: f64,
        /// Statement that took most time; untrusted input.
        statement: String,
    },
    Function {
        function: String,
        /// Share as for JIT, without the functions that this function calls.
        share: f64,
        calls_per_transaction: f64,
        #[serde(rename = "mean_s")]
        mean: f64,
    },
    UnindexedForeignKey {
        /// Table with the foreign key, and the columns of the key, as in SQL.
        table: String,
        columns: String,
        /// Rows deleted from the referenced table.
        deletes_per_transaction: f64,
        /// Rows of the table that sequential scans read.
        read_per_transaction: f64,
    },
    SkippedRows {
        table: String,
        read_per_transaction: f64,
        returned_per_transaction: f64,
        /// Statement with OFFSET; untrusted input.
        statement: String,
    },
    RepeatedStatement {
        /// Executions of all such statements.
        calls_per_transaction: f64,
        /// Share of such statements in the time of all statements, 0..=1.
        share: f64,
        /// Number of such statements.
        statements: usize,
        /// The longest of them; untrusted input.
        statement: String,
    },
    Subtransactions {
        /// Transaction ids assigned per transaction of the database.
        ids_per_transaction: f64,
        /// Statement that took most time; untrusted input.
        statement: Option<String>,
    },
    LargeResult {
        rows_per_execution: f64,
        /// Share of the time of all statements, 0..=1.
        share: f64,
        /// The query; untrusted input.
        statement: String,
    },
}

impl WorkEvidence {
    pub fn work(&self) -> AvoidableWork {
        match self {
            WorkEvidence::TemporaryFiles { .. } => AvoidableWork::TemporaryFiles,
            WorkEvidence::Jit { .. } => AvoidableWork::Jit,
            WorkEvidence::Planning { .. } => AvoidableWork::Planning,
            WorkEvidence::Logins { .. } => AvoidableWork::Logins,
            WorkEvidence::DeadRows { table, .. } => AvoidableWork::DeadRows { table: table.clone() },
            WorkEvidence::EmptyPages { table, .. } => AvoidableWork::EmptyPages { table: table.clone() },
            WorkEvidence::OldStatistics { table, .. } | WorkEvidence::GrownTable { table, .. } => {
                AvoidableWork::OldStatistics { table: table.clone() }
            }
            WorkEvidence::OldSnapshot { .. } => AvoidableWork::OldSnapshot,
            WorkEvidence::Autovacuum { .. } => AvoidableWork::Autovacuum,
            WorkEvidence::DiscardedRows { table, .. } => {
                AvoidableWork::DiscardedRows { table: table.clone() }
            }
            WorkEvidence::LargeValues { table, .. } => AvoidableWork::LargeValues { table: table.clone() },
            WorkEvidence::UnusedIndexes { table, .. } => {
                AvoidableWork::UnusedIndexes { table: table.clone() }
            }
            WorkEvidence::Function { function, .. } => AvoidableWork::Function { function: function.clone() },
            WorkEvidence::UnindexedForeignKey { table, columns, .. } => {
                AvoidableWork::UnindexedForeignKey { table: table.clone(), columns: columns.clone() }
            }
            WorkEvidence::SkippedRows { table, .. } => AvoidableWork::SkippedRows { table: table.clone() },
            WorkEvidence::RepeatedStatement { .. } => AvoidableWork::RepeatedStatement,
            WorkEvidence::Subtransactions { .. } => AvoidableWork::Subtransactions,
            WorkEvidence::LargeResult { .. } => AvoidableWork::LargeResult,
        }
    }
}
