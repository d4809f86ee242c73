//! Statements that a ledger cannot record: they overwrite, delete or repeat tokens, or change what is promised
//!
//! A ledger expects one row per token, which nothing removes. The statements are not parsed completely: a statement is
//! reported only if it certainly breaks this rule.

use super::operations::statements;
use crate::diagnostic::quote;
use model::message;
use model::message::Message;
use model::plan::{LedgerQuery, Operation, OperationKind};

/// Reasons why the ledgers of `all` would report violations that are none, with the index of the operation.
pub(super) fn find_conflicts(all: &[Operation]) -> Vec<(usize, Message)> {
    let ledgers: Vec<LedgerTable> = all.iter().filter_map(LedgerTable::from_operation).flatten().collect();
    let mut found = Vec::new();
    if all.iter().all(|it| it.ledger.is_none()) {
        return found;
    }
    for (index, operation) in all.iter().enumerate() {
        let OperationKind::Script { text, .. } = &operation.kind else { continue };
        let name = quote(&operation.name);
        let parsed: Vec<Vec<String>> = statements(text).iter().map(|it| tokens(it)).collect();
        let mut messages = Vec::new();
        if sets_commit_level(text, &parsed) {
            messages.push(message!("experiment-ledger-commit-setting", operation = name.clone()));
        }
        if operation.ledger.is_some() {
            let rows = parsed.iter().map(|it| token_rows(it)).sum::<usize>();
            if rows > 1 {
                messages.push(message!("experiment-ledger-token-twice", operation = name.clone(), rows));
            }
        }
        let overwrites =
            parsed.iter().find_map(|it| overwriting_clause(it, operation.ledger.as_ref(), &ledgers));
        messages.extend(
            overwrites
                .map(|statement| message!("experiment-ledger-update", operation = name.clone(), statement)),
        );
        let deleted = parsed.iter().find_map(|it| deleted_table(it, &ledgers));
        messages.extend(deleted.map(|table| {
            message!("experiment-ledger-delete", operation = name.clone(), table = quote(&table.name))
        }));
        found.extend(messages.into_iter().map(|it| (index, it)));
    }
    found
}

/// Table that a ledger's query reads.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LedgerTable {
    name: String,
    /// Words between SELECT and FROM, which include the columns with tokens.
    columns: Vec<String>,
    /// True if the values are lists, to which operations may append.
    is_list: bool,
}

impl LedgerTable {
    fn from_operation(operation: &Operation) -> Option<Vec<LedgerTable>> {
        let ledger = operation.ledger.as_ref()?;
        let words = tokens(statements(ledger.text()).first()?);
        let columns: Vec<String> = words.iter().skip(1).take_while(|it| *it != "from").cloned().collect();
        let follows = |pair: &[String]| matches!(pair[0].as_str(), "from" | "join").then(|| pair[1].clone());
        let names = words.windows(2).filter_map(follows).filter(|it| it != "(");
        let is_list = ledger.is_list();
        Some(names.map(|name| LedgerTable { name, columns: columns.clone(), is_list }).collect())
    }

    /// True for the same table. A name without a schema may be in any schema.
    fn is_named(&self, other: &str) -> bool {
        let table = |it: &str| it.rsplit('.').next().map(str::to_owned);
        let qualified = self.name.contains('.') && other.contains('.');
        if qualified { self.name == other } else { table(&self.name) == table(other) }
    }
}

/// Words of a statement in lower case, with variables such as `:token`, and all other characters one by one.
fn tokens(statement: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut in_word = false;
    for c in statement.to_lowercase().chars() {
        let is_word = c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
        match all.last_mut() {
            Some(last) if is_word && (in_word || last == ":") => last.push(c),
            _ if c.is_whitespace() => {}
            _ => all.push(c.to_string()),
        }
        in_word = is_word;
    }
    all
}

/// True if the script sets `synchronous_commit` for its session or transaction.
fn sets_commit_level(script: &str, statements: &[Vec<String>]) -> bool {
    let contains = |word: &str| statements.iter().flatten().any(|it| it == word);
    let is_quoted = script.to_lowercase().contains("'synchronous_commit'");
    contains("synchronous_commit") || contains("set_config") && is_quoted
}

/// Number of rows into which a statement certainly inserts the token.
fn token_rows(words: &[String]) -> usize {
    if !words.iter().any(|it| it == "insert") {
        return 0;
    }
    let (mut rows, mut selected) = (0, 0);
    // For each open bracket: whether it encloses a row of VALUES, and whether the token occurred in it.
    let mut open: Vec<(bool, bool)> = Vec::new();
    let mut row_ended = false;
    for (i, word) in words.iter().enumerate() {
        let before = if i == 0 { "" } else { words[i - 1].as_str() };
        match word.as_str() {
            "(" => {
                let is_row = before == "values" || before == "," && row_ended;
                open.push((is_row, false));
            }
            ")" => row_ended = open.pop().is_some_and(|it| it.0),
            "," => {}
            ":token" => match open.iter_mut().rfind(|it| it.0) {
                Some(row) if row.1 => {}
                Some(row) => {
                    row.1 = true;
                    rows += 1;
                }
                None => selected = 1,
            },
            _ => row_ended = false,
        }
    }
    rows.max(selected)
}

/// Clause with which a statement overwrites tokens. `own` is the ledger of its operation. If this is a list, statements may
/// write a token into a column that keeps its contents.
fn overwriting_clause(
    words: &[String],
    own: Option<&LedgerQuery>,
    ledgers: &[LedgerTable],
) -> Option<&'static str> {
    const CLAUSES: [&str; 8] =
        ["insert", "update", "delete", "select", "values", "where", "set", "returning"];
    let has = |word: &str| words.iter().any(|it| it == word);
    let token = words.iter().position(|it| it == ":token").filter(|_| own.is_some_and(|it| !it.is_list()));
    if let Some(token) = token {
        if has("merge") && (has("update") || has("delete")) {
            return Some("MERGE … UPDATE");
        }
        if words.windows(2).any(|it| it[0] == "do" && it[1] == "update") {
            return Some("ON CONFLICT … DO UPDATE");
        }
        let clause = words[..token].iter().rfind(|it| CLAUSES.contains(&it.as_str()));
        if clause.is_some_and(|it| it == "set") {
            return Some("UPDATE … SET");
        }
    }
    // Another operation may overwrite the column as well.
    let update = words.iter().position(|it| it == "update")?;
    let name = words[update + 1..].iter().find(|it| *it != "only")?;
    let table = ledgers.iter().find(|it| it.is_named(name))?;
    let set = words.iter().skip(update).skip_while(|it| *it != "set").skip(1);
    let assigned: Vec<&String> =
        set.take_while(|it| !matches!(it.as_str(), "where" | "from" | "returning")).collect();
    let overwrites = |at: usize| {
        let column = assigned[at];
        let is_assignment = assigned.get(at + 1).is_some_and(|it| *it == "=");
        is_assignment
            && table.columns.contains(column)
            && !(table.is_list && keeps(column, &assigned[at + 2..]))
    };
    (0..assigned.len()).any(overwrites).then_some("UPDATE … SET")
}

/// True if an assigned expression contains the column itself. `words` begin with the expression, which a comma outside of
/// brackets ends.
fn keeps(column: &str, words: &[&String]) -> bool {
    let mut depth = 0;
    for word in words {
        match word.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            "," if depth == 0 => return false,
            name if name.rsplit('.').next() == column.rsplit('.').next() => return true,
            _ => {}
        }
    }
    false
}

/// Table of a ledger from which a statement deletes rows.
fn deleted_table<'a>(words: &[String], ledgers: &'a [LedgerTable]) -> Option<&'a LedgerTable> {
    let truncates = words.first().is_some_and(|it| it == "truncate");
    let deleted =
        words.windows(2).position(|it| it[0] == "delete" && it[1] == "from").map(|at| &words[at + 2..]);
    let names =
        if truncates { &words[1..] } else { deleted?.split_at_checked(2).map_or(deleted?, |it| it.0) };
    ledgers.iter().find(|ledger| names.iter().any(|it| ledger.is_named(it)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the messages about a second operation, next to one that writes tokens into `app.t`.
    fn check(sql: &str, has_ledger: bool, expected: &[&str]) {
        let ledger = |has: bool| has.then(|| LedgerQuery::Rows("SELECT token FROM app.t".to_owned()));
        let first =
            Operation { ledger: ledger(true), ..Operation::script("a", 1, "INSERT INTO t VALUES (:token)") };
        let second = Operation { ledger: ledger(has_ledger), ..Operation::script("b", 1, sql) };
        let found = find_conflicts(&[first, second]);
        let ids: Vec<&str> =
            found.iter().map(|it| it.1.id.trim_start_matches("experiment-ledger-")).collect();
        assert_eq!(ids, expected, "{sql}");
        assert!(found.iter().all(|it| it.0 == 1), "{sql}");
    }

    #[test]
    fn reports_operations_that_a_ledger_cannot_record() {
        for (sql, expected) in [
            ("INSERT INTO t (token) VALUES (:token) RETURNING pgdyno_server() AS server", None),
            ("INSERT INTO t (token, copy) VALUES (:token, md5(:token))", None),
            ("INSERT INTO t SELECT :token, id FROM accounts WHERE id = 1", None),
            ("INSERT INTO t VALUES (:token) ON CONFLICT DO NOTHING", None),
            ("UPDATE accounts SET n = n + 1 WHERE id = 1; INSERT INTO t VALUES (:token)", None),
            ("WITH u AS (UPDATE x SET n = 1 RETURNING id) INSERT INTO t SELECT :token, id FROM u", None),
            ("UPDATE t SET seen = true WHERE token = :token; INSERT INTO t VALUES (:token)", None),
            ("SELECT pay(:token)", None),
            ("-- UPDATE t SET token = :token\nINSERT INTO t VALUES (:token)", None),
            ("UPDATE t SET token = :token WHERE id = 1", Some("update")),
            ("UPDATE t SET tokens = array_append(tokens, :token) WHERE id = 1", Some("update")),
            ("UPDATE t SET log = log || :token WHERE id = 1", Some("update")),
            (
                "INSERT INTO t VALUES (1, :token) ON CONFLICT (id) DO UPDATE SET token = excluded.token",
                Some("update"),
            ),
            (
                "MERGE INTO t USING x ON t.id = x.id WHEN MATCHED THEN UPDATE SET token = :token",
                Some("update"),
            ),
            ("INSERT INTO t VALUES (:token), (:token)", Some("token-twice")),
            ("INSERT INTO t VALUES (:token); INSERT INTO audit VALUES (:token)", Some("token-twice")),
            (
                "WITH a AS (INSERT INTO t VALUES (:token)) INSERT INTO audit VALUES (:token)",
                Some("token-twice"),
            ),
            ("INSERT INTO t VALUES (:token); DELETE FROM app.t WHERE id < 5", Some("delete")),
            ("SET synchronous_commit = off; INSERT INTO t VALUES (:token)", Some("commit-setting")),
            (
                "BEGIN; SET LOCAL synchronous_commit TO local; INSERT INTO t VALUES (:token); END",
                Some("commit-setting"),
            ),
            (
                "SELECT set_config('synchronous_commit', 'off', true); INSERT INTO t VALUES (:token)",
                Some("commit-setting"),
            ),
            ("/* synchronous_commit */ INSERT INTO t VALUES (:token)", None),
        ] {
            check(sql, true, expected.as_slice());
        }
    }

    #[test]
    fn reports_other_operations_that_remove_tokens() {
        for (sql, expected) in [
            ("DELETE FROM t", Some("delete")),
            ("DELETE FROM ONLY app.t WHERE id = 1", Some("delete")),
            ("DELETE FROM other.t", None),
            ("DELETE FROM x USING t WHERE x.id = t.id", None),
            ("TRUNCATE TABLE x, t", Some("delete")),
            ("TRUNCATE x", None),
            ("UPDATE t SET token = NULL", Some("update")),
            ("UPDATE t SET state = 'done' WHERE token = 'a'", None),
            ("UPDATE x SET token = NULL", None),
            ("SELECT token FROM t FOR UPDATE", None),
            ("SET synchronous_commit = off", Some("commit-setting")),
            ("INSERT INTO t VALUES ('a'), ('b')", None),
        ] {
            check(sql, false, expected.as_slice());
        }
    }

    #[test]
    fn lists_may_grow_but_not_shrink() {
        for (sql, expected) in [
            ("UPDATE t SET log = log || ' ' || :token WHERE id = 1", &[][..]),
            ("UPDATE t SET n = 1, log = concat(t.log, :token), m = 2 WHERE id = 1", &[]),
            ("UPDATE t SET log = array_append(log, :token) WHERE id = 1", &[]),
            (
                "INSERT INTO t VALUES (1, :token) ON CONFLICT (id) DO UPDATE SET log = t.log || excluded.log",
                &[],
            ),
            ("UPDATE t SET log = :token, n = log WHERE id = 1", &["update"]),
            ("UPDATE t SET log = left(:token, 9) WHERE log = ''", &["update"]),
            ("DELETE FROM t; INSERT INTO t VALUES (1, :token)", &["delete"]),
            ("UPDATE t SET log = log || :token; INSERT INTO t VALUES (:token), (:token)", &["token-twice"]),
        ] {
            let ledger = Some(LedgerQuery::Lists { list: "SELECT log FROM app.t".to_owned() });
            let found = find_conflicts(&[Operation { ledger, ..Operation::script("a", 1, sql) }]);
            let ids: Vec<&str> =
                found.iter().map(|it| it.1.id.trim_start_matches("experiment-ledger-")).collect();
            assert_eq!(ids, expected, "{sql}");
        }
    }

    #[test]
    fn operations_without_ledgers_are_free() {
        let operation = Operation::script("a", 1, "SET synchronous_commit = off; DELETE FROM t");
        assert_eq!(find_conflicts(&[operation]), []);
    }
}
