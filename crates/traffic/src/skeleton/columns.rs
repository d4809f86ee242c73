//! Tables of a statement, and the columns with which it compares its parameters

use super::Comparison;
use crate::sql::lexer::{Token, TokenKind};

/// Table that a statement names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    /// Name as the statement contains it, with its schema.
    pub name: String,
    /// Name by which the statement refers to the columns of the table.
    alias: String,
}

/// Words that end the list of tables, or that are no alias.
const NO_ALIAS: [&str; 31] = [
    "as",
    "cross",
    "default",
    "do",
    "except",
    "fetch",
    "for",
    "full",
    "group",
    "having",
    "inner",
    "intersect",
    "join",
    "lateral",
    "left",
    "limit",
    "natural",
    "offset",
    "on",
    "order",
    "overriding",
    "returning",
    "right",
    "select",
    "set",
    "tablesample",
    "union",
    "using",
    "values",
    "when",
    "where",
];

/// Words that introduce a clause. Parameters are compared only in some of them.
const CLAUSES: [&str; 12] = [
    "from",
    "having",
    "limit",
    "offset",
    "on",
    "returning",
    "select",
    "set",
    "then",
    "values",
    "when",
    "where",
];

/// Clauses in which `column = $1` selects rows.
const CONDITIONS: [&str; 3] = ["having", "on", "where"];

fn is_any(token: &Token<'_>, words: &[&str]) -> bool {
    words.iter().any(|word| token.is_word(word))
}

fn is_identifier(token: &Token<'_>) -> bool {
    match token.kind {
        TokenKind::Word => !is_any(token, &NO_ALIAS),
        TokenKind::QuotedIdentifier => true,
        _ => false,
    }
}

/// Tables of a statement in the order of their first mention, without those that a `WITH` defines.
pub(super) fn tables(tokens: &[Token<'_>]) -> Vec<Table> {
    let mut all: Vec<Table> = Vec::new();
    let opens = |token: &Token<'_>| token.is("(") || token.is_word("materialized");
    let is_defined = |it: &[Token<'_>]| is_identifier(&it[0]) && it[1].is_word("as") && opens(&it[2]);
    let defined: Vec<&str> = tokens.windows(3).filter(|it| is_defined(it)).map(|it| &*it[0].text).collect();
    for (index, token) in tokens.iter().enumerate() {
        let before = index.checked_sub(1).map(|it| &tokens[it]);
        let is_other = before.is_some_and(|it| is_any(it, &["distinct", "for", "do", "no"]));
        if is_other || !is_any(token, &["from", "join", "into", "update", "using"]) {
            continue;
        }
        let mut at = index + 1;
        while let Some((table, end)) = table(tokens, at, token.is_word("into")) {
            if !defined.contains(&&*table.name) && !all.contains(&table) {
                all.push(table);
            }
            if !token.is_word("from") || !tokens.get(end).is_some_and(|it| it.is(",")) {
                break;
            }
            at = end + 1;
        }
    }
    all
}

/// Table whose name begins at `at`, and the index after its alias. `None` for a function or a subquery.
fn table(tokens: &[Token<'_>], mut at: usize, is_insert: bool) -> Option<(Table, usize)> {
    while tokens.get(at).is_some_and(|it| it.is_word("only")) {
        at += 1;
    }
    let (name, mut end) = qualified_name(tokens, at)?;
    if !is_insert && tokens.get(end).is_some_and(|it| it.is("(")) {
        return None;
    }
    let mut alias = tokens[end - 1].text.to_string();
    if tokens.get(end).is_some_and(|it| it.is_word("as")) {
        end += 1;
    }
    if let Some(token) = tokens.get(end).filter(|it| is_identifier(it)) {
        alias = token.text.to_string();
        end += 1;
    }
    Some((Table { name, alias }, end))
}

/// Name such as `shop.item` that begins at `at`, and the index after it.
fn qualified_name(tokens: &[Token<'_>], at: usize) -> Option<(String, usize)> {
    let first = tokens.get(at).filter(|it| is_identifier(it))?;
    let (mut name, mut end) = (first.text.to_string(), at + 1);
    while let [dot, part, ..] = &tokens[end..]
        && dot.is(".")
        && is_identifier(part)
    {
        name += ".";
        name += &part.text;
        end += 2;
    }
    Some((name, end))
}

/// Column with which the parameter at `at` is compared in a condition, as in `item.id = $1`.
pub(super) fn comparison(tokens: &[Token<'_>], at: usize, tables: &[Table]) -> Option<Comparison> {
    let clause = tokens[..at].iter().rev().find(|it| is_any(it, &CLAUSES))?;
    if !is_any(clause, &CONDITIONS) {
        return None;
    }
    let (qualifier, column) = column_before(tokens, at).or_else(|| column_after(tokens, at))?;
    let candidates = tables.iter().filter(|table| match &qualifier {
        Some(qualifier) => same_name(&table.alias, qualifier) || same_name(&table.name, qualifier),
        None => true,
    });
    let mut names: Vec<String> = candidates.map(|it| it.name.clone()).collect();
    names.dedup();
    (!names.is_empty()).then_some(Comparison { column, tables: names })
}

fn same_name(a: &str, b: &str) -> bool {
    a == b || !a.contains('"') && !b.contains('"') && a.eq_ignore_ascii_case(b)
}

/// Qualifier and name of the column in `column = $1`.
fn column_before(tokens: &[Token<'_>], at: usize) -> Option<(Option<String>, String)> {
    let operator = at.checked_sub(1).filter(|it| tokens[*it].is("="))?;
    let mut start = operator.checked_sub(1).filter(|it| is_identifier(&tokens[*it]))?;
    while start >= 2 && tokens[start - 1].is(".") && is_identifier(&tokens[start - 2]) {
        start -= 2;
    }
    let before = start.checked_sub(1).map(|it| &tokens[it])?;
    let begins = before.is("(") || is_any(before, &["and", "having", "not", "on", "or", "where"]);
    begins.then(|| split(tokens, start))?
}

/// Qualifier and name of the column in `$1 = column`.
fn column_after(tokens: &[Token<'_>], at: usize) -> Option<(Option<String>, String)> {
    tokens.get(at + 1).filter(|it| it.is("="))?;
    let (_, end) = qualified_name(tokens, at + 2)?;
    let ends = tokens.get(end).is_none_or(|it| it.is(")") || it.kind == TokenKind::Word);
    ends.then(|| split(tokens, at + 2))?
}

fn split(tokens: &[Token<'_>], start: usize) -> Option<(Option<String>, String)> {
    let (name, end) = qualified_name(tokens, start)?;
    let column = tokens[end - 1].text.to_string();
    let qualifier = name.strip_suffix(&column).and_then(|it| it.strip_suffix('.')).map(str::to_owned);
    Some((qualifier, column))
}
