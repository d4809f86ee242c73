//! Which indexes would help, which statements none helps, and what an index costs.

use crate::Nanos;
use crate::explain::{IndexCandidate, KeyRole};
use serde::{Deserialize, Serialize};

/// What follows from the plans of cells that share stack, data and operations.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Advice {
    /// Indexes into the experiment's cells.
    pub cells: Vec<usize>,
    /// The dearest first.
    pub statements: Vec<StatementAdvice>,
    /// The one that saves most first.
    pub indexes: Vec<IndexAdvice>,
    /// What they save together, as [`Advised::saved`].
    pub saved: Option<f64>,
    /// Why the planner could not be asked about indexes that are not there: then their effect is estimated.
    #[serde(rename = "untried")]
    pub planner_unavailable: Option<String>,
}

/// One statement, and what can be done for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatementAdvice {
    /// Of foreign origin.
    pub text: String,
    /// Of the time of all statements, 0..=1; absent where statements were not counted.
    pub share: Option<f64>,
    /// Of one call, seconds.
    pub mean: Option<f64>,
    /// The scan that reads most rows in vain, or most at all.
    pub scan: Option<Scan>,
    pub remedy: Remedy,
}

/// A scan of a whole table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scan {
    /// `schema.table`.
    pub table: String,
    /// Read, and of those passed on.
    pub rows: f64,
    pub passed: f64,
    /// Counted as it ran; else as the planner expects.
    pub counted: bool,
}

/// What helps a statement.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Remedy {
    /// It reads no large table from end to end.
    NotNeeded,
    /// Index into [`Advice::indexes`].
    Index { index: usize },
    /// Nothing: it asks for every row of a table.
    EveryRow,
    /// Nothing: it asks for so much of a table (0..=1) that reading all of it is the quickest way.
    MostRows { share: f64 },
    /// No b-tree over columns answers this condition.
    Condition { condition: String },
    /// There are such indexes, and the planner would take none of them, or gain little.
    NotTaken,
    /// There is no plan; why, in the server's words.
    NoPlan {
        #[serde(rename = "why")]
        reason: String,
    },
}

/// An index that is worth being built.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IndexAdvice {
    pub candidate: IndexCandidate,
    /// What builds it, without a semicolon.
    pub ddl: String,
    /// As expected.
    pub bytes: Option<u64>,
    /// Of the table.
    pub rows: f64,
    #[serde(rename = "helped")]
    pub improved: Vec<CostChange>,
    /// Share of the time of all statements that it saves if time goes with the planner's cost, 0..=1.
    pub saved: Option<f64>,
    /// Indexes into [`Advice::statements`]: those that have to keep it up to date.
    #[serde(rename = "kept_by")]
    pub maintained_by: Vec<usize>,
    /// Of those, updates that change a column of it, which can be heap-only (HOT) no longer.
    pub not_hot: Vec<usize>,
}

/// A statement that an index helps: what the planner says it costs without it and with it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CostChange {
    /// Index into [`Advice::statements`].
    pub statement: usize,
    pub before: f64,
    pub after: f64,
}

/// What a statement that builds something cost. Runs keep it as a trial's note with the subject `built`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndexBuild {
    /// Such as `CREATE INDEX`.
    pub ddl: String,
    #[serde(rename = "took_ns")]
    pub elapsed: Nanos,
    /// By how much the indexes of the database grew.
    pub bytes: u64,
}

/// What indexes brought and cost when they were built in a copy of the data and measured beside it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct IndexEffect {
    pub built: Vec<IndexBuild>,
    /// Those that both cells sent, in the order of the first one's time.
    pub statements: Vec<StatementChange>,
    /// Share of updated rows that stayed heap-only (HOT), without the indexes and with them, 0..=1.
    pub hot: Option<(f64, f64)>,
}

/// Mean time of a statement without the indexes and with them, seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatementChange {
    /// Of foreign origin.
    pub text: String,
    pub before: f64,
    pub after: f64,
    /// It has to keep indexes up to date.
    pub writes: bool,
}

impl IndexAdvice {
    /// Columns that are asked for in this way.
    pub fn columns(&self, role: KeyRole) -> Vec<&str> {
        self.candidate.keys.iter().filter(|it| it.role == role).map(|it| it.column.as_str()).collect()
    }
}
