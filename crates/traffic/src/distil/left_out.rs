//! Transactions that no operation contains

use model::message;
use model::message::Message;

/// Transactions that are left out for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub reason: LeftOutReason,
    pub transactions: u64,
    /// Number of their statements.
    pub statements: u64,
}

/// Reason why an operation cannot or need not contain a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LeftOutReason {
    /// The sequence of its statements is rare.
    Rare,
    /// A statement failed.
    Failed,
    /// The log does not contain its end.
    Unfinished,
    /// `COPY` from or to the client, whose data are not in the log.
    CopyData,
    /// `PREPARE`, `EXECUTE` or `DEALLOCATE` as SQL, which depend on the session's earlier transactions.
    SqlPrepare,
    /// A statement contains a password.
    Secret,
    /// A statement changes the session for its later transactions, such as `SET` or a session-level advisory lock.
    SessionState,
    /// A statement changes the schema, the configuration or permissions.
    Administration,
    /// A quote or comment is not closed.
    Unreadable,
    /// The log does not contain the values of parameters.
    MissingParameters,
    /// A constant cannot be anonymised, such as an escape string.
    NotAnonymised,
    /// pgbench's language cannot express it: too many parameters, a colon before a name within quotes, or `AND CHAIN`.
    Inexpressible,
}

impl LeftOutReason {
    /// Short description, which completes "12 transactions: …".
    pub fn message(self) -> Message {
        match self {
            LeftOutReason::Rare => message!("traffic-left-out-rare"),
            LeftOutReason::Failed => message!("traffic-left-out-failed"),
            LeftOutReason::Unfinished => message!("traffic-left-out-unfinished"),
            LeftOutReason::CopyData => message!("traffic-left-out-copy"),
            LeftOutReason::SqlPrepare => message!("traffic-left-out-prepare"),
            LeftOutReason::Secret => message!("traffic-left-out-secret"),
            LeftOutReason::SessionState => message!("traffic-left-out-session"),
            LeftOutReason::Administration => message!("traffic-left-out-administration"),
            LeftOutReason::Unreadable => message!("traffic-left-out-unreadable"),
            LeftOutReason::MissingParameters => message!("traffic-left-out-parameters"),
            LeftOutReason::NotAnonymised => message!("traffic-left-out-anonymise"),
            LeftOutReason::Inexpressible => message!("traffic-left-out-inexpressible"),
        }
    }
}

impl LeftOut {
    /// Describes the transactions, with their share of all statements of the traffic.
    pub fn message(&self, all_statements: u64) -> Message {
        let percent = 100.0 * self.statements as f64 / all_statements.max(1) as f64;
        let share = if percent < 0.1 { "< 0.1".to_owned() } else { format!("{percent:.1}") };
        message!("traffic-left-out", transactions = self.transactions, share, reason = self.reason.message())
    }
}

/// Adds transactions to the list.
pub(super) fn add(all: &mut Vec<LeftOut>, reason: LeftOutReason, transactions: u64, statements: u64) {
    match all.iter_mut().find(|left_out| left_out.reason == reason) {
        Some(left_out) => {
            left_out.transactions += transactions;
            left_out.statements += statements;
        }
        None => all.push(LeftOut { reason, transactions, statements }),
    }
}
