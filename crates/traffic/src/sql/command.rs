//! Kind of a statement, as far as it matters for transactions and for replaying it

use super::lexer::{Token, TokenKind, tokens};

/// Effect of a statement on the transaction or on its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// `BEGIN`, `START TRANSACTION`
    Begin,
    /// `COMMIT`, `END`, `PREPARE TRANSACTION`. `chain`: another transaction begins at once.
    Commit {
        chain: bool,
    },
    /// `ROLLBACK`, `ABORT`
    Rollback {
        chain: bool,
    },
    /// `SAVEPOINT`, `RELEASE`
    Savepoint,
    RollbackToSavepoint,
    /// `COPY … FROM STDIN` or `TO STDOUT`, whose data are not in the log.
    CopyData,
    /// `PREPARE`, `EXECUTE` and `DEALLOCATE` as SQL, which depend on earlier statements of the session.
    SqlPrepare,
    /// Statement that contains a password.
    Secret,
    /// Statement that changes the session for its later transactions, such as `SET`, `LISTEN` or a session-level lock.
    Session,
    /// Statement that changes the schema, the configuration or permissions, or maintains tables.
    Administration,
    Other,
}

/// First words of all commands other than [`Command::Other`].
const FIRST_WORDS: [&str; 34] = [
    "abort",
    "alter",
    "analyze",
    "begin",
    "checkpoint",
    "cluster",
    "comment",
    "commit",
    "copy",
    "create",
    "deallocate",
    "discard",
    "drop",
    "end",
    "execute",
    "grant",
    "import",
    "listen",
    "load",
    "prepare",
    "reassign",
    "reindex",
    "release",
    "reset",
    "revoke",
    "rollback",
    "savepoint",
    "security",
    "set",
    "start",
    "truncate",
    "unlisten",
    "vacuum",
    "refresh",
];

/// Functions that change the session or the server.
const SESSION_FUNCTIONS: [&str; 3] = ["pg_advisory_lock", "pg_advisory_unlock", "pg_advisory_unlock_all"];
const ADMINISTRATION_FUNCTIONS: [&str; 4] =
    ["pg_reload_conf", "pg_rotate_logfile", "pg_terminate_backend", "pg_cancel_backend"];

/// Commands of a text, which may contain several statements; `None` if it cannot be read. Empty statements are left
/// out. The text of one statement is read only if its first word matters.
pub(crate) fn commands(text: &str) -> Option<Vec<Command>> {
    let end = text.find(|character: char| !character.is_ascii_alphabetic()).unwrap_or(text.len());
    let is_single = || !text.trim_end_matches(';').contains(';');
    let is_plain =
        || !SESSION_FUNCTIONS.iter().chain(&ADMINISTRATION_FUNCTIONS).any(|name| text.contains(name));
    let is_other = end > 0 && !FIRST_WORDS.iter().any(|word| word.eq_ignore_ascii_case(&text[..end]));
    if is_other && is_single() && is_plain() {
        return Some(vec![Command::Other]);
    }
    let tokens = tokens(text)?;
    let statements = tokens.split(|token| token.is(";"));
    Some(statements.filter(|statement| !statement.is_empty()).map(command).collect())
}

fn command(tokens: &[Token<'_>]) -> Command {
    let word = |index: usize| tokens.get(index).filter(|token| token.kind == TokenKind::Word);
    let is = |index: usize, wanted: &str| word(index).is_some_and(|token| token.is_word(wanted));
    let has = |wanted: &str| tokens.iter().any(|token| token.is_word(wanted));
    let Some(first) = word(0) else { return Command::Other };
    let chain = || has("chain") && !has("no");
    match first.text.to_ascii_lowercase().as_str() {
        "begin" => Command::Begin,
        "start" if is(1, "transaction") => Command::Begin,
        "commit" if is(1, "prepared") => Command::Other,
        "commit" | "end" => Command::Commit { chain: chain() },
        "prepare" if is(1, "transaction") => Command::Commit { chain: false },
        "rollback" if is(1, "prepared") => Command::Other,
        "rollback" if has("to") => Command::RollbackToSavepoint,
        "rollback" | "abort" => Command::Rollback { chain: chain() },
        "savepoint" | "release" => Command::Savepoint,
        "prepare" | "execute" | "deallocate" => Command::SqlPrepare,
        "copy" if has("stdin") || has("stdout") => Command::CopyData,
        "create" | "alter" if has("password") || has("connection") => Command::Secret,
        "set" if is(1, "local") || is(1, "transaction") || is(1, "constraints") => Command::Other,
        "set" | "reset" | "discard" | "listen" | "unlisten" | "load" => Command::Session,
        // A table or sequence of the session may be part of an application's transaction.
        "create" | "drop" if is(1, "temp") || is(1, "temporary") => Command::Other,
        "alter" | "analyze" | "checkpoint" | "cluster" | "comment" | "create" | "drop" | "grant"
        | "import" | "reassign" | "refresh" | "reindex" | "revoke" | "security" | "truncate" | "vacuum" => {
            Command::Administration
        }
        _ if SESSION_FUNCTIONS.into_iter().any(has) => Command::Session,
        _ if ADMINISTRATION_FUNCTIONS.into_iter().any(has) => Command::Administration,
        _ => Command::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classifies_statements() {
        use Command::*;
        for (text, expected) in [
            ("BEGIN;", Some(vec![Begin])),
            ("/* a */ start transaction isolation level serializable", Some(vec![Begin])),
            ("BEGIN; UPDATE a SET b = 1; END", Some(vec![Begin, Other, Commit { chain: false }])),
            ("commit and chain", Some(vec![Commit { chain: true }])),
            ("ROLLBACK AND NO CHAIN", Some(vec![Rollback { chain: false }])),
            ("ROLLBACK TO SAVEPOINT a", Some(vec![RollbackToSavepoint])),
            ("rollback work to a", Some(vec![RollbackToSavepoint])),
            ("RELEASE a; SAVEPOINT b", Some(vec![Savepoint, Savepoint])),
            ("PREPARE TRANSACTION 'x'", Some(vec![Commit { chain: false }])),
            ("COMMIT PREPARED 'x'", Some(vec![Other])),
            ("PREPARE a AS SELECT 1", Some(vec![SqlPrepare])),
            ("COPY a FROM STDIN", Some(vec![CopyData])),
            ("COPY a FROM '/tmp/stdin'", Some(vec![Other])),
            ("ALTER USER a PASSWORD 'b'", Some(vec![Secret])),
            ("set search_path to a", Some(vec![Session])),
            ("SET LOCAL work_mem = '1MB'", Some(vec![Other])),
            ("select pg_advisory_lock($1)", Some(vec![Session])),
            ("select pg_advisory_xact_lock($1)", Some(vec![Other])),
            ("LISTEN a", Some(vec![Session])),
            ("alter system set log_statement = 'all'", Some(vec![Administration])),
            ("select pg_reload_conf()", Some(vec![Administration])),
            ("TRUNCATE a", Some(vec![Administration])),
            ("create temp table a(b int)", Some(vec![Other])),
            ("SELECT password FROM users", Some(vec![Other])),
            ("SELECT 'BEGIN'", Some(vec![Other])),
            (" ; ; ", Some(vec![])),
            ("SELECT 'a", Some(vec![Other])),
            ("SELECT 'a; b", None),
            ("BEGIN 'a", None),
        ] {
            assert_eq!(commands(text), expected, "{text}");
        }
    }
}
