//! Ledgers: queries that read back what operations wrote.

use super::SetupBuilder;
use super::http::Variables;
use super::ledger_statements;
use super::operations::{Context, statements};
use crate::diagnostic::quote;
use crate::file;
use crate::template::is_name;
use model::message;
use model::plan::{LedgerQuery, NodeKind, Operation, OperationKind};

/// Variable with a new value each time the operation begins.
const TOKEN: &str = "token";

impl SetupBuilder<'_> {
    /// Returns the query that reads an operation's tokens, without its semicolon. Also defines the operation's variable
    /// `token`.
    pub(super) fn ledger(
        &mut self,
        path: &str,
        operation: &file::Operation,
        variables: &mut Variables,
        context: &Context<'_>,
    ) -> Option<LedgerQuery> {
        let (written, ledger_path) = match operation.ledger.as_ref()? {
            file::Ledger::Rows(query) => (query, format!("{path}.ledger")),
            file::Ledger::Lists(lists) => (&lists.list, format!("{path}.ledger.list")),
        };
        let all: Vec<String> = statements(written).into_iter().filter(|it| !it.trim().is_empty()).collect();
        match all.as_slice() {
            _ if has_command(written) => {
                self.report(&ledger_path, message!("experiment-ledger-command"));
            }
            [_] => {}
            statements => {
                self.report(&ledger_path, message!("experiment-ledger-query", count = statements.len()));
            }
        }
        if operation.ammo.is_some() {
            self.report(&ledger_path, message!("experiment-ledger-ammo"));
        }
        let is_database = |kind: &NodeKind| !matches!(kind, NodeKind::Service(_));
        if !context.stack.nodes.is_empty() && !context.stack.nodes.iter().any(|it| is_database(&it.kind)) {
            self.report(&ledger_path, message!("experiment-ledger-database"));
        }
        if variables.names.iter().any(|it| it == TOKEN) {
            self.second_token(&format!("{path}.feed"));
        }
        variables.add(TOKEN);
        let mut query = without_semicolon(written).to_owned();
        if query.contains("--") {
            // A trailing comment must not hide the text appended to the query.
            query.push('\n');
        }
        Some(match operation.ledger {
            Some(file::Ledger::Lists(_)) => LedgerQuery::Lists { list: query },
            _ => LedgerQuery::Rows(query),
        })
    }

    /// Queries whose results must not change, without their semicolons.
    pub(super) fn invariants(&mut self, written: &[String], operations: &[Operation]) -> Vec<String> {
        if !written.is_empty() && operations.iter().all(|it| it.ledger.is_none()) {
            self.report("invariants", message!("experiment-invariant-ledger"));
        }
        for (index, query) in written.iter().enumerate() {
            let path = format!("invariants[{index}]");
            let count = statements(query).iter().filter(|it| !it.trim().is_empty()).count();
            if has_command(query) {
                self.report(&path, message!("experiment-invariant-command"));
            } else if count != 1 {
                self.report(&path, message!("experiment-invariant-query", count));
            }
        }
        written.iter().map(|it| without_semicolon(it).to_owned()).collect()
    }

    /// Checks that an operation with a ledger writes the token and does not redefine the variable.
    pub(super) fn writes_token(&mut self, path: &str, operation: &Operation, variables: &Variables) {
        for _ in operation.sets.iter().filter(|it| it.0 == TOKEN) {
            self.second_token(&format!("{path}.set.{TOKEN}"));
        }
        let (written, sign) = match &operation.kind {
            OperationKind::Script { text, .. } => {
                if sets_token(text) {
                    let is_file = crate::path::node(self.tree, &format!("{path}.script")).is_some();
                    self.second_token(&format!("{path}.{}", if is_file { "script" } else { "sql" }));
                }
                (names_token(text), ":token")
            }
            OperationKind::Http(steps) => {
                if steps.iter().flat_map(|it| &it.captures).any(|it| it.0 == TOKEN) {
                    self.second_token(path);
                }
                (variables.used.iter().any(|it| it == TOKEN), "${token}")
            }
            // This error is already reported.
            OperationKind::Ammo
            | OperationKind::TaggedAmmo { .. }
            | OperationKind::Recorded { .. }
            | OperationKind::RecordedTransaction { .. } => return,
        };
        if !written {
            let message =
                message!("experiment-ledger-token", operation = quote(&operation.name), token = sign);
            self.report(&format!("{path}.ledger"), message);
        }
    }

    /// Reports operations that a ledger cannot record, and operations that overwrite another operation's token. All
    /// operations of a client share its variables.
    pub(super) fn check_token_conflicts(&mut self, all: &[Operation]) {
        if !all.iter().any(|it| it.ledger.is_some()) {
            return;
        }
        for (index, message) in ledger_statements::find_conflicts(all) {
            let path = format!("operations.{}", all[index].name);
            let key = ["sql", "script"].map(|key| format!("{path}.{key}"));
            let written = key.into_iter().find(|it| crate::path::node(self.tree, it).is_some());
            self.report(&written.unwrap_or(path), message);
        }
        for operation in all.iter().filter(|it| it.ledger.is_none()) {
            let captured = match &operation.kind {
                OperationKind::Http(steps) => {
                    steps.iter().flat_map(|it| &it.captures).any(|it| it.0 == TOKEN)
                }
                OperationKind::Script { text, .. } => sets_token(text),
                OperationKind::Ammo
                | OperationKind::TaggedAmmo { .. }
                | OperationKind::Recorded { .. }
                | OperationKind::RecordedTransaction { .. } => false,
            };
            if captured || operation.sets.iter().any(|it| it.0 == TOKEN) {
                self.second_token(&format!("operations.{}", operation.name));
            }
        }
    }

    fn second_token(&mut self, at: &str) {
        self.report(at, message!("experiment-ledger-second-token"));
    }
}

/// True if a line of the text is a meta-command of pgbench.
fn has_command(text: &str) -> bool {
    text.lines().any(|it| it.trim_start().starts_with('\\'))
}

fn without_semicolon(query: &str) -> &str {
    query.trim().trim_end_matches(|it: char| it == ';' || it.is_whitespace())
}

/// True if a script sets the variable `token`.
fn sets_token(script: &str) -> bool {
    let sets = |line: &str| {
        let mut words = line.split_whitespace();
        matches!(words.next(), Some("\\set" | "\\setrandom")) && words.next() == Some(TOKEN)
    };
    script.lines().any(sets)
}

/// True if a script uses the variable `token`, as `:token`. A name after two colons is a type.
fn names_token(script: &str) -> bool {
    let continues = |it: char| is_name(&format!("a{it}"));
    script.match_indices(":token").any(|(i, token)| {
        let is_cast = script[..i].ends_with(':');
        !is_cast && !script[i + token.len()..].starts_with(continues)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_token_variables() {
        for (script, expected) in [
            ("INSERT INTO t VALUES (:token)", true),
            ("INSERT INTO t VALUES (:token, 1)", true),
            (":token", true),
            ("SELECT :token_2, :tokens, :tokenж", false),
            ("SELECT '1'::token", false),
            ("SELECT token FROM t", false),
            ("SELECT :'token'", false),
            ("SELECT :tokens, :token", true),
            ("", false),
        ] {
            assert_eq!(names_token(script), expected, "{script}");
        }
    }
}
