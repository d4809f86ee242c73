//! Rows that SQL statements returned or changed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kind of a statement, derived from the command tag in the server's response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StatementKind {
    Select,
    Insert,
    Update,
    Delete,
    Merge,
    Copy,
    /// FETCH or MOVE.
    Cursor,
    /// Statement with `SKIP LOCKED`, which takes rows from a queue; the queue may be empty.
    Queue,
    /// Several statements that one command or pipeline sends together.
    Mixed,
}

impl StatementKind {
    pub const ALL: [StatementKind; 9] = [
        StatementKind::Select,
        StatementKind::Insert,
        StatementKind::Update,
        StatementKind::Delete,
        StatementKind::Merge,
        StatementKind::Copy,
        StatementKind::Cursor,
        StatementKind::Queue,
        StatementKind::Mixed,
    ];

    /// SQL keyword of the statement; `None` for mixed statements.
    pub fn keyword(self) -> Option<&'static str> {
        Some(match self {
            StatementKind::Select => "SELECT",
            StatementKind::Insert => "INSERT",
            StatementKind::Update => "UPDATE",
            StatementKind::Delete => "DELETE",
            StatementKind::Merge => "MERGE",
            StatementKind::Copy => "COPY",
            StatementKind::Cursor => "FETCH",
            StatementKind::Queue => "SKIP LOCKED",
            StatementKind::Mixed => return None,
        })
    }

    /// True if statements of this kind should find rows. If they do not, a benchmark usually has wrong keys or an empty
    /// table. Statements of other kinds may correctly find none: a DELETE of old rows, an INSERT with `ON CONFLICT DO
    /// NOTHING`, an empty queue.
    pub fn needs_rows(self) -> bool {
        matches!(
            self,
            StatementKind::Select | StatementKind::Update | StatementKind::Merge | StatementKind::Mixed
        )
    }
}

/// Statement that returns no rows almost every time, in the whole window or from some second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EmptyStatement {
    /// Index of the operation; `command` is the index of the command in its script.
    pub operation: u16,
    pub command: u16,
    pub statement: StatementKind,
    /// Number of results.
    pub count: u64,
    /// Share of results without a row, 0..=1.
    pub share: f64,
    /// First second of the window from which results have no row; `None` if most results of the whole window have no
    /// row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second: Option<u64>,
}
