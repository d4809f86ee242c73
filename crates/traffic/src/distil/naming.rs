//! Names of operations

use crate::sql::lexer::{Token, TokenKind, tokens};
use std::collections::HashSet;

/// Maximum length of a name in bytes, without a number. Experiment files allow 64.
const LENGTH_MAX: usize = 48;

/// Name for an operation: the verb and the table of its first statement that reads or writes, such as `select-item`. A
/// transaction of several statements begins with `tx-`. A single statement that controls a transaction is named by its
/// verb.
pub(crate) fn name(statements: &[String], taken: &mut HashSet<String>) -> String {
    let control = || match statements {
        [one] => verb(&tokens(one)?).filter(|it| CONTROL.contains(&&**it)),
        _ => None,
    };
    let named = statements.iter().find_map(|statement| statement_name(statement)).or_else(control);
    let base = named.unwrap_or_else(|| "other".to_owned());
    let mut name = if statements.len() > 1 { format!("tx-{base}") } else { base };
    name.truncate(LENGTH_MAX);
    let mut unique = name.clone();
    let mut number = 2;
    while !taken.insert(unique.clone()) {
        unique = format!("{name}-{number}");
        number += 1;
    }
    unique
}

/// First words of statements that control a transaction or its session.
const CONTROL: [&str; 9] =
    ["begin", "start", "commit", "end", "rollback", "abort", "savepoint", "release", "set"];

/// First word of a statement.
fn verb(tokens: &[Token<'_>]) -> Option<String> {
    tokens.iter().find(|token| token.kind == TokenKind::Word).map(plain)
}

/// Verb and object of a statement; `None` for a statement that controls a transaction.
fn statement_name(statement: &str) -> Option<String> {
    let tokens = tokens(statement)?;
    let verb = verb(&tokens)?;
    if verb.is_empty() || CONTROL.contains(&&*verb) {
        return None;
    }
    let object = object(&tokens).unwrap_or_default();
    Some(if object.is_empty() { verb } else { format!("{verb}-{object}") })
}

/// Table of a statement, or the first function that it calls.
fn object(tokens: &[Token<'_>]) -> Option<String> {
    let is_name = |token: &Token<'_>| matches!(token.kind, TokenKind::Word | TokenKind::QuotedIdentifier);
    let introduces = |token: &Token<'_>| {
        ["from", "into", "update", "table", "call"].iter().any(|word| token.is_word(word))
    };
    for (index, _) in tokens.iter().enumerate().filter(|(_, token)| introduces(token)) {
        let mut at = index + 1;
        while tokens.get(at).is_some_and(|token| {
            token.is_word("only") || token.is_word("if") || token.is_word("not") || token.is_word("exists")
        }) {
            at += 1;
        }
        // The last part of a qualified name.
        while tokens.get(at + 1).is_some_and(|token| token.is(".")) {
            at += 2;
        }
        if let Some(token) = tokens.get(at).filter(|token| is_name(token)) {
            return Some(plain(token));
        }
    }
    let call = tokens.windows(2).skip(1).find(|pair| pair[0].kind == TokenKind::Word && pair[1].is("("));
    call.map(|pair| plain(&pair[0]))
}

/// Text in small letters, with only `a-z`, `0-9` and `_`.
fn plain(token: &Token<'_>) -> String {
    let letters = token.text.chars().map(|letter| letter.to_ascii_lowercase());
    letters.filter(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_operations() {
        let mut taken = HashSet::new();
        for (statements, expected) in [
            (&["SELECT a FROM shop.\"Item\" WHERE b = $1"][..], "select-item"),
            (&["select * from item"], "select-item-2"),
            (&["BEGIN", "UPDATE ONLY a SET b = 1", "SELECT 1", "END"], "tx-update-a"),
            (&["INSERT INTO a VALUES ($1)"], "insert-a"),
            (&["SELECT pg_sleep($1)"], "select-pg_sleep"),
            (&["WITH x AS (SELECT 1) SELECT * FROM x"], "with-x"),
            (&["BEGIN", "COMMIT"], "tx-other"),
            (&["COMMIT"], "commit"),
            (&["VACUUM"], "vacuum"),
            (&["имя"], "other"),
            (&["SELECT a FROM b WHERE c IN ($1, …)"], "select-b"),
            (&["SELECT 1"], "select"),
            (&["SELECT * FROM имя"], "select-2"),
        ] {
            let statements: Vec<String> = statements.iter().map(|&statement| statement.to_owned()).collect();

            assert_eq!(name(&statements, &mut taken), expected);
        }
    }
}
