//! Query plans, table statistics and index candidates.
//!
//! pgdyno stores them after a trial, so that advice can be derived later. They contain no values from the user's data.

use crate::message::Message;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Plans of the statements that a cell sends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plans {
    /// Statements by total time, the most expensive first.
    pub statements: Vec<StatementPlan>,
    /// Tables that the plans read.
    pub tables: Vec<TableStats>,
    /// Candidate indexes, each with the planner's estimate for this index alone.
    #[serde(alias = "tried")]
    pub estimates: Vec<IndexEstimate>,
    /// Reason why the planner could not estimate costs with hypothetical indexes.
    #[serde(alias = "untried")]
    pub planner_unavailable: Option<Message>,
}

/// Statement, and its plan with parameters that a client sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatementPlan {
    /// Text with `?` or `$1` in place of values; untrusted input.
    pub text: String,
    /// Number of executions of the statement while parameters were captured.
    #[serde(alias = "heard")]
    pub captured: u32,
    /// Identifier in `pg_stat_statements`; `None` before PostgreSQL 14 and if the server computes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_id: Option<i64>,
    pub plan: Option<PlanNode>,
    /// Error message of the server if there is no plan.
    #[serde(alias = "refused")]
    pub error: Option<Message>,
}

/// Node of a query plan with the field names of `EXPLAIN (FORMAT JSON)`; values are masked as `$0`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PlanNode {
    /// Node type: `Seq Scan`, `Sort`, …
    #[serde(rename = "Node Type")]
    pub kind: String,
    /// Operation of `ModifyTable`: `Insert`, `Update`, `Delete`, `Merge`.
    #[serde(rename = "Operation", skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    #[serde(rename = "Schema", skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    #[serde(rename = "Relation Name", skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    #[serde(rename = "Alias", skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    #[serde(rename = "Index Name", skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    #[serde(rename = "Filter", skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    #[serde(rename = "Index Cond", skip_serializing_if = "Option::is_none")]
    pub index_condition: Option<String>,
    /// Index condition that a bitmap heap scan rechecks.
    #[serde(rename = "Recheck Cond", skip_serializing_if = "Option::is_none")]
    pub recheck: Option<String>,
    #[serde(rename = "Hash Cond", skip_serializing_if = "Option::is_none")]
    pub hash_condition: Option<String>,
    #[serde(rename = "Merge Cond", skip_serializing_if = "Option::is_none")]
    pub merge_condition: Option<String>,
    #[serde(rename = "Join Filter", skip_serializing_if = "Option::is_none")]
    pub join_filter: Option<String>,
    /// Sort expressions, some followed by ` DESC` or ` NULLS FIRST`.
    #[serde(rename = "Sort Key", skip_serializing_if = "Vec::is_empty")]
    pub sort_key: Vec<String>,
    /// Total cost in the planner's units.
    #[serde(rename = "Total Cost")]
    pub cost: f64,
    /// Estimated rows per execution.
    #[serde(rename = "Plan Rows")]
    pub rows: f64,
    /// Mean rows per execution; absent if the statement was not executed.
    #[serde(rename = "Actual Rows", skip_serializing_if = "Option::is_none")]
    pub actual_rows: Option<f64>,
    /// Number of executions.
    #[serde(rename = "Actual Loops", skip_serializing_if = "Option::is_none")]
    pub loops: Option<f64>,
    /// Mean number of rows that a filter removed, per execution.
    #[serde(rename = "Rows Removed by Filter", skip_serializing_if = "Option::is_none")]
    pub removed: Option<f64>,
    /// Mean time per execution until the last row, in milliseconds, including the nodes below; absent if the statement was
    /// not executed.
    #[serde(rename = "Actual Total Time", skip_serializing_if = "Option::is_none")]
    pub actual_time: Option<f64>,
    /// Blocks of 8 KiB that all executions found in `shared_buffers`, including the nodes below.
    #[serde(rename = "Shared Hit Blocks", skip_serializing_if = "Option::is_none")]
    pub blocks_hit: Option<u64>,
    /// Blocks that all executions read from the operating system, including the nodes below.
    #[serde(rename = "Shared Read Blocks", skip_serializing_if = "Option::is_none")]
    pub blocks_read: Option<u64>,
    #[serde(rename = "Plans", skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<PlanNode>,
}

impl PlanNode {
    /// List of this node and all nodes below it, parents first.
    pub fn flatten(&self) -> Vec<&PlanNode> {
        let below = self.children.iter().flat_map(PlanNode::flatten);
        std::iter::once(self).chain(below).collect()
    }
}

/// Table with the planner's statistics.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TableStats {
    pub schema: String,
    pub name: String,
    /// Estimated number of rows: `pg_class.reltuples`.
    pub rows: f64,
    /// Size in bytes without indexes.
    pub bytes: u64,
    /// Live rows, dead row versions, and rows changed since the last ANALYZE, by the server's counters; `None` if the
    /// counters know nothing about the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_rows: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dead_rows: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_rows: Option<f64>,
    pub columns: Vec<ColumnStats>,
    pub indexes: Vec<ExistingIndex>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ColumnStats {
    pub name: String,
    /// Number of distinct values; `None` before the first ANALYZE.
    pub distinct: Option<f64>,
    /// Correlation between value order and row order, -1..=1.
    pub correlation: Option<f64>,
}

/// Index that the database already has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExistingIndex {
    pub name: String,
    /// Columns or expressions, in the order of the index.
    pub columns: Vec<String>,
    /// True for a b-tree on all rows.
    pub plain: bool,
}

/// Index that could help.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexCandidate {
    pub schema: String,
    pub table: String,
    /// Columns in the order of the index; at least one.
    pub keys: Vec<IndexKey>,
    /// Positions in [`Plans::statements`] of the statements whose plans suggest this index.
    #[serde(alias = "wanted_by")]
    pub requested_by: Vec<usize>,
}

/// Column of an index with its role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexKey {
    pub column: String,
    pub role: KeyRole,
    /// Number of distinct values of the column in the table.
    pub distinct: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeyRole {
    /// Column compared for equality.
    Equal,
    /// Column compared with bounds.
    Range,
    Ascending,
    Descending,
}

/// Planner's estimate for one index, assuming that no other index is added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexEstimate {
    pub candidate: IndexCandidate,
    /// Estimated size in bytes; `None` if the planner could not estimate hypothetical indexes.
    pub bytes: Option<u64>,
    /// Cost of a plan that uses the index, by statement; `None` if no plan uses it.
    pub costs: Vec<Option<f64>>,
}

/// Normalised statement text, in which parameters such as `$1` and masked constants (`?`) have the same placeholder.
/// Semicolons at the end are removed.
pub fn normalize_placeholders(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.trim().trim_end_matches(|it: char| it == ';' || it.is_whitespace());
    while let Some(at) = rest.find('$') {
        let digits = rest[at + 1..].bytes().take_while(u8::is_ascii_digit).count();
        out.push_str(&rest[..at]);
        out.push(if digits > 0 { '?' } else { '$' });
        rest = &rest[at + 1 + digits..];
    }
    out + rest
}

impl IndexCandidate {
    /// Statement that creates the index, without a semicolon.
    pub fn ddl(&self) -> String {
        let key = |key: &IndexKey| {
            let descending = if key.role == KeyRole::Descending { " DESC" } else { "" };
            format!("{}{descending}", quote_identifier(&key.column))
        };
        let keys: Vec<String> = self.keys.iter().map(key).collect();
        format!(
            "CREATE INDEX ON {}.{} ({})",
            quote_identifier(&self.schema),
            quote_identifier(&self.table),
            keys.join(", ")
        )
    }
}

/// Identifier in SQL syntax: quoted if necessary.
pub fn quote_identifier(name: &str) -> String {
    let plain = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
    let first = name.starts_with(|it: char| it.is_ascii_lowercase() || it == '_');
    if first && name.chars().all(plain) && !RESERVED.contains(&name) {
        return name.to_owned();
    }
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Reserved key words, which must be quoted as identifiers. Source: PostgreSQL's manual, appendix C.
const RESERVED: &[&str] = &[
    "all",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "asymmetric",
    "authorization",
    "between",
    "binary",
    "both",
    "case",
    "cast",
    "check",
    "collate",
    "collation",
    "column",
    "concurrently",
    "constraint",
    "create",
    "cross",
    "current_catalog",
    "current_date",
    "current_role",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_user",
    "default",
    "deferrable",
    "desc",
    "distinct",
    "do",
    "else",
    "end",
    "except",
    "false",
    "fetch",
    "for",
    "foreign",
    "freeze",
    "from",
    "full",
    "grant",
    "group",
    "having",
    "ilike",
    "in",
    "initially",
    "inner",
    "intersect",
    "into",
    "is",
    "isnull",
    "join",
    "lateral",
    "leading",
    "left",
    "like",
    "limit",
    "localtime",
    "localtimestamp",
    "natural",
    "not",
    "notnull",
    "null",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "outer",
    "overlaps",
    "placing",
    "primary",
    "references",
    "returning",
    "right",
    "select",
    "session_user",
    "similar",
    "some",
    "symmetric",
    "table",
    "tablesample",
    "then",
    "to",
    "trailing",
    "true",
    "union",
    "unique",
    "user",
    "using",
    "variadic",
    "verbose",
    "when",
    "where",
    "window",
    "with",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_placeholders_with_question_marks() {
        let check = |text: &str, expected: &str| assert_eq!(normalize_placeholders(text), expected);
        check("select $1, $22 from t", "select ?, ? from t");
        check("select ? from t", "select ? from t");
        check("select a$b, $$ $1", "select a$b, $$ ?");
        check(" select $1 ; ;\n", "select ?");
        check("", "");
    }

    #[test]
    fn quotes_identifiers_in_ddl() {
        let key = |column: &str, role| IndexKey { column: column.to_owned(), role, distinct: None };
        let check = |table: &str, keys: &[(&str, KeyRole)], expected: &str| {
            let keys = keys.iter().map(|it| key(it.0, it.1)).collect();
            let candidate = IndexCandidate {
                schema: "book".to_owned(),
                table: table.to_owned(),
                keys,
                requested_by: Vec::new(),
            };
            assert_eq!(candidate.ddl(), expected);
        };
        check("bookv2", &[("author", KeyRole::Equal)], "CREATE INDEX ON book.bookv2 (author)");
        check(
            "Bücher",
            &[("user", KeyRole::Range), ("a\"b", KeyRole::Descending)],
            "CREATE INDEX ON book.\"Bücher\" (\"user\", \"a\"\"b\" DESC)",
        );
        check(
            "t",
            &[("1a", KeyRole::Equal), ("_x", KeyRole::Ascending)],
            "CREATE INDEX ON book.t (\"1a\", _x)",
        );
    }
}
