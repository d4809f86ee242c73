//! How does PostgreSQL answer a statement, and which index would it take?
//!
//! What it was asked after a trial, kept so that advice follows from it at any later time. No value of a user's is in it.

use serde::{Deserialize, Serialize};

/// Plans of the statements that a cell sends. Runs keep them as a trial's note with the subject `plans`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plans {
    /// Those that took most time first.
    pub statements: Vec<StatementPlan>,
    /// Every table that their plans read.
    pub tables: Vec<TableStats>,
    /// Indexes that could help, and what the planner says of each, alone.
    #[serde(rename = "tried")]
    pub estimates: Vec<IndexEstimate>,
    /// Why nobody could ask the planner about indexes that are not there.
    #[serde(rename = "untried")]
    pub planner_unavailable: Option<String>,
}

/// One statement, planned with parameters that a client had sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StatementPlan {
    /// With `?` or `$1` in the place of values; of foreign origin.
    pub text: String,
    /// How often it was heard while parameters were listened for.
    #[serde(rename = "heard")]
    pub captured: u32,
    pub plan: Option<PlanNode>,
    /// Why there is no plan, in the server's words.
    #[serde(rename = "refused")]
    pub error: Option<String>,
}

/// A node of a plan, by the names that `EXPLAIN (FORMAT JSON)` gives its parts; values are masked as `$0`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanNode {
    /// `Seq Scan`, `Sort`, …
    #[serde(rename = "Node Type")]
    pub kind: String,
    /// Of `ModifyTable`: `Insert`, `Update`, `Delete`, `Merge`.
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
    /// Of a bitmap heap scan: what its index was asked.
    #[serde(rename = "Recheck Cond", skip_serializing_if = "Option::is_none")]
    pub recheck: Option<String>,
    #[serde(rename = "Hash Cond", skip_serializing_if = "Option::is_none")]
    pub hash_condition: Option<String>,
    #[serde(rename = "Merge Cond", skip_serializing_if = "Option::is_none")]
    pub merge_condition: Option<String>,
    #[serde(rename = "Join Filter", skip_serializing_if = "Option::is_none")]
    pub join_filter: Option<String>,
    /// Expressions, some with ` DESC` or ` NULLS FIRST` behind them.
    #[serde(rename = "Sort Key", skip_serializing_if = "Vec::is_empty")]
    pub sort_key: Vec<String>,
    /// In the planner's units.
    #[serde(rename = "Total Cost")]
    pub cost: f64,
    /// Expected, of one execution.
    #[serde(rename = "Plan Rows")]
    pub rows: f64,
    /// On average of an execution; absent where the statement was not run.
    #[serde(rename = "Actual Rows", skip_serializing_if = "Option::is_none")]
    pub actual_rows: Option<f64>,
    /// Executions.
    #[serde(rename = "Actual Loops", skip_serializing_if = "Option::is_none")]
    pub loops: Option<f64>,
    /// On average of an execution.
    #[serde(rename = "Rows Removed by Filter", skip_serializing_if = "Option::is_none")]
    pub removed: Option<f64>,
    #[serde(rename = "Plans", skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<PlanNode>,
}

impl PlanNode {
    /// It and all below it, parents first.
    pub fn flatten(&self) -> Vec<&PlanNode> {
        let below = self.children.iter().flat_map(PlanNode::flatten);
        std::iter::once(self).chain(below).collect()
    }
}

/// A table, as the planner knows it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableStats {
    pub schema: String,
    pub name: String,
    /// As last estimated; `pg_class.reltuples`.
    pub rows: f64,
    /// Without its indexes.
    pub bytes: u64,
    pub columns: Vec<ColumnStats>,
    pub indexes: Vec<ExistingIndex>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ColumnStats {
    pub name: String,
    /// Different values; `None` before the first ANALYZE.
    pub distinct: Option<f64>,
    /// Between its order and that of the rows, -1..=1.
    pub correlation: Option<f64>,
}

/// An index that is there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExistingIndex {
    pub name: String,
    /// Columns or expressions, in its order.
    pub columns: Vec<String>,
    /// Of all rows, and a b-tree.
    pub plain: bool,
}

/// An index that could help.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndexCandidate {
    pub schema: String,
    pub table: String,
    /// In its order; at least one.
    pub keys: Vec<IndexKey>,
    /// Indexes into [`Plans::statements`]: those whose plans ask for it.
    #[serde(rename = "wanted_by")]
    pub requested_by: Vec<usize>,
}

/// A column of an index, and what it is there for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndexKey {
    pub column: String,
    pub role: KeyRole,
    /// Different values in the table.
    pub distinct: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyRole {
    /// It is asked for by value.
    Equal,
    /// By bounds.
    Range,
    Ascending,
    Descending,
}

/// What the planner says of an index, as if it were the only new one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndexEstimate {
    pub candidate: IndexCandidate,
    /// Its size, as expected; absent where nobody could be asked.
    pub bytes: Option<u64>,
    /// By statement: the cost of a plan that takes it; `None` where none does.
    pub costs: Vec<Option<f64>>,
}

/// The same for texts that differ only in how values are left out: `$1` of a parameter or `?` of a masked constant.
pub fn normalize_placeholders(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let digits = rest[at + 1..].bytes().take_while(u8::is_ascii_digit).count();
        out.push_str(&rest[..at]);
        out.push(if digits > 0 { '?' } else { '$' });
        rest = &rest[at + 1 + digits..];
    }
    out + rest
}

impl IndexCandidate {
    /// What builds it, without a semicolon.
    pub fn ddl(&self) -> String {
        let key = |it: &IndexKey| {
            let descending = if it.role == KeyRole::Descending { " DESC" } else { "" };
            format!("{}{descending}", quote_identifier(&it.column))
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

/// A name as it is written in SQL: quoted where it has to be.
pub fn quote_identifier(name: &str) -> String {
    let plain = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
    let first = name.starts_with(|it: char| it.is_ascii_lowercase() || it == '_');
    if first && name.chars().all(plain) && !RESERVED.contains(&name) {
        return name.to_owned();
    }
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Key words that cannot name a column or table bare: PostgreSQL's manual, appendix C.
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
        check("", "");
    }

    #[test]
    fn quotes_identifiers_in_ddl() {
        let key = |column: &str, role| IndexKey { column: column.to_owned(), role, distinct: None };
        let check = |table: &str, keys: &[(&str, KeyRole)], expected: &str| {
            let keys = keys.iter().map(|it| key(it.0, it.1)).collect();
            let it = IndexCandidate {
                schema: "book".to_owned(),
                table: table.to_owned(),
                keys,
                requested_by: Vec::new(),
            };
            assert_eq!(it.ddl(), expected);
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
