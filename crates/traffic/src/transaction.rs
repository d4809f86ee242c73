//! Transactions of a session

use crate::session::{Session, Statement};
use crate::sql::command::{Command, commands};
use std::ops::Range;

/// Statements of a session that belong to one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// Indices of its statements in the session.
    pub statements: Range<usize>,
    pub end: TransactionEnd,
    /// True if a statement began the transaction: `BEGIN` or `START TRANSACTION`.
    pub explicit: bool,
}

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionEnd {
    Committed,
    RolledBack,
    /// A statement failed, and the transaction did not return to an earlier savepoint.
    Failed,
    /// The log ends within the transaction, or its session does.
    Unfinished,
}

impl Session {
    /// Transactions in the order of their statements. Each statement belongs to one transaction.
    ///
    /// `BEGIN`, `COMMIT` and similar statements delimit explicit transactions. A statement outside of them is a
    /// transaction of its own, unless the log shows that several statements had the same virtual transaction.
    pub fn transactions(&self) -> Vec<Transaction> {
        let mut all = Vec::new();
        let mut start = 0;
        let mut state = State::default();
        for (index, statement) in self.statements.iter().enumerate() {
            let was_open = state.is_open;
            state.apply(statement);
            if state.is_open {
                continue;
            }
            if !was_open && !state.is_explicit && continues(&self.statements[index..]) {
                continue;
            }
            all.push(state.transaction(start..index + 1));
            start = index + 1;
            state = State { is_open: state.is_chained, is_explicit: state.is_chained, ..State::default() };
        }
        if start < self.statements.len() {
            let end = TransactionEnd::Unfinished;
            all.push(Transaction { statements: start..self.statements.len(), end, explicit: true });
        }
        all
    }

    /// Transactions at the start of the session that do not change if further entries of its log are read.
    ///
    /// The last transaction may not be complete, and its last statement may still get a duration or an error. A transaction that
    /// ends with `AND CHAIN` begins the next one, and is therefore not returned without it.
    pub fn finished_transactions(&self) -> Vec<Transaction> {
        let mut all = self.transactions();
        all.pop();
        let chain = |it| matches!(it, Command::Commit { chain: true } | Command::Rollback { chain: true });
        let is_chained = |transaction: &mut Transaction| {
            let last = &self.statements[transaction.statements.end - 1];
            commands(&last.text).unwrap_or_default().into_iter().any(chain)
        };
        while all.pop_if(is_chained).is_some() {}
        all
    }
}

/// True if the second statement has the same implicit transaction as the first one.
fn continues(statements: &[Statement]) -> bool {
    let [first, second, ..] = statements else { return false };
    first.transaction.is_some() && first.transaction == second.transaction && first.error.is_none()
}

/// State of the transaction that is being read.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// True within an explicit transaction.
    is_open: bool,
    is_explicit: bool,
    is_chained: bool,
    has_failed: bool,
    is_rolled_back: bool,
}

impl State {
    fn apply(&mut self, statement: &Statement) {
        self.is_chained = false;
        if statement.error.is_some() {
            self.has_failed = true;
            // An error while it commits ends the transaction. Any other error is kept until the transaction ends.
            let commits = |command: &Command| matches!(command, Command::Commit { .. });
            if commands(&statement.text).is_some_and(|all| all.iter().any(commits)) {
                self.is_open = false;
            }
            return;
        }
        for command in commands(&statement.text).unwrap_or_default() {
            match command {
                Command::Begin => (self.is_open, self.is_explicit) = (true, true),
                Command::Commit { chain } => self.end(chain),
                Command::Rollback { chain } => {
                    self.is_rolled_back = true;
                    self.end(chain);
                }
                Command::RollbackToSavepoint => self.has_failed = false,
                _ => {}
            }
        }
    }

    fn end(&mut self, chain: bool) {
        self.is_chained = chain && self.is_open;
        self.is_open = false;
    }

    fn transaction(&self, statements: Range<usize>) -> Transaction {
        let end = match (self.has_failed, self.is_rolled_back) {
            (true, _) => TransactionEnd::Failed,
            (_, true) => TransactionEnd::RolledBack,
            _ => TransactionEnd::Committed,
        };
        Transaction { statements, end, explicit: self.is_explicit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Protocol, StatementError};
    use model::Nanos;

    /// Statements are separated by blanks. `!` marks an error and `@1` a virtual transaction; `_` is a blank.
    fn session(text: &str) -> Session {
        let statement = |word: &str| {
            let (word, error) = word.strip_suffix('!').map_or((word, false), |word| (word, true));
            let (text, transaction) = word.split_once('@').unwrap_or((word, ""));
            Statement {
                start: Nanos::ZERO,
                duration: None,
                text: text.replace('_', " ").into(),
                parameters: Vec::new(),
                protocol: Protocol::Simple,
                transaction: transaction.parse().ok(),
                error: error.then_some(StatementError { sqlstate: None }),
            }
        };
        Session { statements: text.split(' ').map(statement).collect(), ..Session::default() }
    }

    #[test]
    fn finds_transactions() {
        for (statements, expected) in [
            ("select select", "0..1 C, 1..2 C"),
            ("begin update commit select", "0..3 CX, 3..4 C"),
            ("start_transaction update rollback", "0..3 RX"),
            ("begin update! rollback select", "0..3 FX, 3..4 C"),
            ("begin update! select! commit", "0..4 FX"),
            ("begin savepoint_a update! rollback_to_a commit", "0..5 CX"),
            ("begin update commit! select", "0..3 FX, 3..4 C"),
            ("begin;update;commit select", "0..1 CX, 1..2 C"),
            ("begin;update commit", "0..2 CX"),
            ("begin update", "0..2 UX"),
            ("begin update commit_and_chain update commit", "0..3 CX, 3..5 CX"),
            ("commit select", "0..1 C, 1..2 C"),
            ("insert@7 insert@7 insert@8", "0..2 C, 2..3 C"),
            ("insert@7 insert@7! insert@8", "0..2 F, 2..3 C"),
            ("insert@7! insert@7", "0..1 F, 1..2 C"),
            ("select@1 begin@2 select@2 end@2 select@3", "0..1 C, 1..4 CX, 4..5 C"),
            ("select!", "0..1 F"),
        ] {
            let all = session(statements).transactions();
            let all: Vec<String> = all
                .iter()
                .map(|transaction| {
                    let end = &format!("{:?}", transaction.end)[..1];
                    let explicit = if transaction.explicit { "X" } else { "" };
                    format!("{:?} {end}{explicit}", transaction.statements)
                })
                .collect();
            assert_eq!(all.join(", "), expected, "{statements}");
        }
    }

    /// The finished transactions after any number of statements are the first transactions of all statements.
    #[test]
    fn finished_transactions_do_not_change() {
        for (statements, finished) in [
            ("select", 0),
            ("select select", 1),
            ("begin update commit select", 1),
            ("begin update commit begin", 1),
            ("insert@7 insert@7 insert@8", 1),
            ("select begin commit_and_chain", 1),
            ("select begin commit_and_chain update commit_and_chain update commit select", 4),
            ("begin rollback_and_chain update update", 0),
            ("begin update! commit! select select", 2),
        ] {
            let all = session(statements);
            let expected = all.transactions();
            assert_eq!(all.finished_transactions(), expected[..finished], "{statements}");
            for length in 0..all.statements.len() {
                let part = Session { statements: all.statements[..length].to_vec(), ..Session::default() };
                let finished = part.finished_transactions();
                assert_eq!(finished, expected[..finished.len()], "{statements}: {length}");
                // The rest is read as if the finished part had never been there.
                let cut = finished.last().map_or(0, |it| it.statements.end);
                let rest = Session { statements: all.statements[cut..].to_vec(), ..Session::default() };
                let shift = |it: Transaction| (it.statements.start + cut..it.statements.end + cut, it.end);
                let shifted = rest.transactions().into_iter().map(shift);
                let later = expected[finished.len()..].iter().map(|it| (it.statements.clone(), it.end));
                assert!(shifted.eq(later), "{statements}: {length}");
            }
        }
    }
}
