//! Index advice: recommended indexes, statements that no index improves, and measured effects of indexes.

use crate::Nanos;
use crate::explain::{IndexCandidate, KeyRole, PlanNode};
use crate::message::Message;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Advice derived from the plans of cells that share stack, data and operations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Advice {
    /// Indexes into the experiment's cells.
    pub cells: Vec<usize>,
    /// Statements by total time, the most expensive first.
    pub statements: Vec<StatementAdvice>,
    /// Recommended indexes by time saved, the largest saving first.
    pub indexes: Vec<IndexAdvice>,
    /// Share of the time of all statements (0..=1) that all recommended indexes together save; see
    /// [`IndexAdvice::saved_share`].
    pub saved_share: Option<f64>,
    /// Reason why the planner could not estimate costs with hypothetical indexes; savings are then estimated without
    /// the planner.
    pub planner_unavailable: Option<Message>,
}

/// Statement of the load and the remedy that the advice suggests for it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StatementAdvice {
    /// Text of the statement; untrusted input.
    pub text: String,
    /// Share of the time of all statements, 0..=1; absent if statements were not counted.
    pub share: Option<f64>,
    /// Mean time of a call, in seconds.
    #[serde(rename = "mean_s")]
    pub mean: Option<f64>,
    /// Scan that discards the most rows; if no scan discards rows, the scan that reads the most rows.
    pub scan: Option<Scan>,
    pub remedy: Remedy,
    /// Plan; if the statement was executed for it, with the measured rows, times and blocks of each node.
    pub plan: Option<PlanNode>,
}

/// Sequential scan of a table.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Scan {
    /// `schema.table`.
    pub table: String,
    /// Number of rows read; `rows_kept` is the number of rows that the filter kept.
    pub rows: f64,
    pub rows_kept: f64,
    /// True if the rows were counted in an execution; otherwise they are the planner's estimate.
    pub actual: bool,
}

/// Remedy for an expensive statement.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Remedy {
    /// No remedy needed: the statement scans no large table.
    NotNeeded,
    /// Remedy: create the index at position `index` of [`Advice::indexes`].
    Index { index: usize },
    /// Remedy: VACUUM FULL or an equivalent, because most of the table's space holds dead row versions.
    Vacuum { table: String, live_rows: f64, dead_rows: f64, bytes: u64 },
    /// Remedy: ANALYZE, because the planner's estimate for a scan of the table is far from the rows that it returned, and
    /// the table was changed since its statistics were collected.
    Analyze { table: String, estimated_rows: f64, actual_rows: f64 },
    /// No remedy: the statement needs every row of a table.
    EveryRow,
    /// No remedy: a full scan is fastest, because the statement needs a large share (0..=1) of a table.
    MostRows { share: f64 },
    /// Remedy: another condition, or an index of another kind.
    Rewrite { obstacle: IndexObstacle },
    /// No remedy: no b-tree on columns supports this condition.
    Condition { condition: String },
    /// No remedy: the planner would use none of the possible indexes, or gain little.
    NotTaken,
    /// No plan is available; `reason` is the server's message, or `None` if the run file has no message.
    NoPlan { reason: Option<Message> },
}

/// Reason why no b-tree index on columns supports the condition of a scan.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum IndexObstacle {
    /// Cast of a column to another type.
    Cast {
        column: String,
        data_type: String,
        /// Index that could be used without the cast, if there is one.
        index: Option<String>,
    },
    /// Comparison of an expression on columns, as the server prints it.
    Expression { expression: String },
    /// Pattern, as of LIKE or a regular expression.
    Pattern { column: String },
    /// Conditions on several columns, one of which must hold (OR).
    Alternatives { columns: Vec<String> },
}

/// Recommended index.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct IndexAdvice {
    pub candidate: IndexCandidate,
    /// Statement that creates the index, without a semicolon.
    pub ddl: String,
    /// Expected size of the index in bytes.
    pub bytes: Option<u64>,
    /// Number of rows of the table.
    pub rows: f64,
    pub cost_changes: Vec<CostChange>,
    /// Share of the time of all statements (0..=1) that the index saves, if time is proportional to the planner's cost.
    pub saved_share: Option<f64>,
    /// Positions in [`Advice::statements`] of the statements that have to maintain the index.
    pub maintaining_statements: Vec<usize>,
    /// Subset of `maintaining_statements`: updates that change an indexed column and therefore can no longer be
    /// heap-only (HOT).
    pub non_hot_updates: Vec<usize>,
}

/// Planner's cost of a statement without and with an index.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CostChange {
    /// Index into [`Advice::statements`].
    pub statement: usize,
    pub before: f64,
    pub after: f64,
}

/// Cost of a statement that builds an index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexBuild {
    /// Statement, such as `CREATE INDEX`.
    pub ddl: String,
    #[serde(rename = "elapsed_ns", alias = "took_ns")]
    pub elapsed: Nanos,
    /// Increase of the size of the database's indexes, in bytes.
    pub bytes: u64,
}

/// Measured effect of indexes, from cells with and without the indexes on copies of the same data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct IndexEffect {
    pub builds: Vec<IndexBuild>,
    /// Statements that both cells sent, ordered by their time in the cell without the indexes.
    pub statements: Vec<StatementChange>,
    /// Share of heap-only (HOT) updates without and with the indexes, 0..=1.
    pub hot_share: Option<(f64, f64)>,
}

/// Mean time of a statement without and with the indexes, in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StatementChange {
    /// Text of the statement; untrusted input.
    pub text: String,
    pub before: f64,
    pub after: f64,
    /// True if the statement has to maintain indexes.
    pub writes: bool,
}

impl IndexAdvice {
    /// Names of the index's columns that have this role.
    pub fn columns(&self, role: KeyRole) -> Vec<&str> {
        self.candidate.keys.iter().filter(|it| it.role == role).map(|it| it.column.as_str()).collect()
    }
}
