//! Statements that are no operations of an application

use super::StatementLeftOutReason as Reason;
use super::columns::tables;
use crate::sql::command::{Command, commands};
use crate::sql::lexer::{Token, TokenKind, tokens};
use crate::sql::template::literal;
use crate::sql::words::{is_optimizable, is_type};

/// Text in place of statements of other users.
const HIDDEN: &str = "<insufficient privilege>";

/// Beginnings of the functions that monitoring calls.
const MONITORING_FUNCTIONS: [&str; 10] = [
    "current_setting",
    "pg_current_wal",
    "pg_database_size",
    "pg_is_",
    "pg_last_",
    "pg_postmaster",
    "pg_stat",
    "pg_total_relation_size",
    "pg_wal_",
    "version",
];

/// Text of a statement that may be an operation, in a form that can be prepared. `Err` if it is left out.
pub(super) fn operation_text(text: Option<&str>, is_nested: bool) -> Result<String, Reason> {
    let text = text.filter(|it| *it != HIDDEN).ok_or(Reason::Hidden)?;
    if is_nested {
        return Err(Reason::Nested);
    }
    let all = tokens(text).ok_or(Reason::Unreadable)?;
    let all = all.strip_suffix(&[semicolon()]).unwrap_or(&all);
    if all.iter().any(is_pgdyno) {
        return Err(Reason::Pgdyno);
    }
    let commands = commands(text).ok_or(Reason::Unreadable)?;
    match commands[..] {
        [Command::Other] => {}
        [
            Command::Begin
            | Command::Commit { .. }
            | Command::Rollback { .. }
            | Command::Savepoint
            | Command::RollbackToSavepoint,
        ] => return Err(Reason::TransactionControl),
        [_] => return Err(Reason::Utility),
        _ => return Err(Reason::Inexpressible),
    }
    let first = all.iter().find(|it| !it.is("("));
    if !first.is_some_and(|it| is_optimizable(&it.text)) {
        return Err(Reason::Utility);
    }
    if is_monitoring(all) {
        return Err(Reason::Monitoring);
    }
    Ok(preparable(all))
}

fn semicolon() -> Token<'static> {
    Token { kind: TokenKind::Punctuation, text: ";".into() }
}

fn is_pgdyno(token: &Token<'_>) -> bool {
    let name = token.text.trim_start_matches('"');
    matches!(token.kind, TokenKind::Word | TokenKind::QuotedIdentifier)
        && name.get(..6).is_some_and(|it| it.eq_ignore_ascii_case("pgdyno"))
}

/// True for a statement that reads only system catalogs, or no table but functions for monitoring.
fn is_monitoring(all: &[Token<'_>]) -> bool {
    let is_system = |name: &str| {
        let name = name.to_ascii_lowercase();
        let relation = name.rsplit('.').next().unwrap_or_default();
        relation.starts_with("pg_")
            || name.starts_with("pg_catalog.")
            || name.starts_with("information_schema.")
    };
    let tables = tables(all);
    if !tables.is_empty() {
        return tables.iter().all(|it| is_system(&it.name));
    }
    let calls = all.windows(2).filter(|it| it[0].kind == TokenKind::Word && it[1].is("("));
    let mut names = calls.map(|it| it[0].text.to_ascii_lowercase());
    names.any(|name| MONITORING_FUNCTIONS.iter().any(|prefix| name.starts_with(prefix)))
}

/// Text of the tokens. The server replaces the constant in `interval '1 day'` by a parameter, but cannot prepare the
/// result, so that it becomes a cast.
fn preparable(all: &[Token<'_>]) -> String {
    let mut words: Vec<String> = Vec::new();
    for token in all {
        let last = words.last_mut().filter(|it| token.kind == TokenKind::Parameter && is_type(it));
        match (last, token.kind) {
            (Some(last), _) => *last = format!("CAST({} AS {last})", token.text),
            (None, TokenKind::String) => words.push(literal(&token.text)),
            (None, _) => words.push(token.text.to_string()),
        }
    }
    words.join(" ")
}
