//! Words that decide how a constant may be replaced

/// Keywords after which an expression begins, or which join expressions. A constant after any other word belongs to
/// this word, as in `mytype '…'`.
const BEFORE_EXPRESSION: [&str; 43] = [
    "all",
    "and",
    "any",
    "array",
    "between",
    "by",
    "case",
    "conflict",
    "default",
    "distinct",
    "else",
    "end",
    "escape",
    "except",
    "from",
    "having",
    "ilike",
    "in",
    "intersect",
    "is",
    "like",
    "limit",
    "not",
    "offset",
    "on",
    "or",
    "over",
    "placing",
    "returning",
    "rows",
    "select",
    "set",
    "similar",
    "some",
    "symmetric",
    "then",
    "to",
    "union",
    "using",
    "values",
    "when",
    "where",
    "for",
];

/// Keywords before a parenthesis that does not contain arguments of a function.
const BEFORE_PARENTHESIS: [&str; 12] =
    ["as", "exists", "filter", "inner", "into", "join", "lateral", "left", "only", "right", "table", "with"];

/// Types that may precede a string: `date '2024-01-01'`.
const TYPES: [&str; 22] = [
    "bigint",
    "bytea",
    "cidr",
    "date",
    "float4",
    "float8",
    "inet",
    "int2",
    "int4",
    "int8",
    "integer",
    "interval",
    "json",
    "jsonb",
    "numeric",
    "regclass",
    "text",
    "time",
    "timestamp",
    "timestamptz",
    "timetz",
    "uuid",
];

/// Words after an interval that are part of it: `interval '1' day`.
const INTERVAL_FIELDS: [&str; 6] = ["year", "month", "day", "hour", "minute", "second"];

/// First words of statements that may have parameters.
const OPTIMIZABLE: [&str; 8] = ["select", "insert", "update", "delete", "merge", "values", "with", "call"];

/// Words that begin a clause.
const CLAUSES: [&str; 14] = [
    "except",
    "fetch",
    "from",
    "group",
    "having",
    "intersect",
    "limit",
    "offset",
    "order",
    "returning",
    "set",
    "union",
    "values",
    "where",
];

/// Words that begin a join.
const JOINS: [&str; 6] = ["cross", "full", "inner", "join", "left", "right"];

/// Functions with arguments of any type, from which the type of a parameter cannot be derived.
const POLYMORPHIC: [&str; 9] = [
    "concat",
    "concat_ws",
    "format",
    "json_build_array",
    "json_build_object",
    "jsonb_build_array",
    "jsonb_build_object",
    "pg_typeof",
    "quote_nullable",
];

fn contains(words: &[&str], word: &str) -> bool {
    words.iter().any(|known| known.eq_ignore_ascii_case(word))
}

pub(super) fn precedes_expression(word: &str) -> bool {
    contains(&BEFORE_EXPRESSION, word)
}

pub(super) fn precedes_parenthesis(word: &str) -> bool {
    precedes_expression(word) || contains(&BEFORE_PARENTHESIS, word)
}

pub(crate) fn is_type(word: &str) -> bool {
    contains(&TYPES, word)
}

pub(super) fn is_interval_field(word: &str) -> bool {
    contains(&INTERVAL_FIELDS, word)
}

pub(crate) fn is_optimizable(word: &str) -> bool {
    contains(&OPTIMIZABLE, word)
}

pub(super) fn is_clause(word: &str) -> bool {
    contains(&CLAUSES, word)
}

pub(super) fn begins_join(word: &str) -> bool {
    contains(&JOINS, word)
}

pub(super) fn is_polymorphic(function: &str) -> bool {
    contains(&POLYMORPHIC, function)
}
