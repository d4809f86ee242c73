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
    Other,
}

/// First words of all commands other than [`Command::Other`].
const FIRST_WORDS: [&str; 14] = [
    "abort",
    "alter",
    "begin",
    "commit",
    "copy",
    "create",
    "deallocate",
    "end",
    "execute",
    "prepare",
    "release",
    "rollback",
    "savepoint",
    "start",
];

/// Commands of a text, which may contain several statements; `None` if it cannot be read. Empty statements are left
/// out. The text of one statement is read only if its first word matters.
pub(crate) fn commands(text: &str) -> Option<Vec<Command>> {
    let end = text.find(|character: char| !character.is_ascii_alphabetic()).unwrap_or(text.len());
    let is_single = || !text.trim_end_matches(';').contains(';');
    if end > 0 && !FIRST_WORDS.iter().any(|word| word.eq_ignore_ascii_case(&text[..end])) && is_single() {
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
