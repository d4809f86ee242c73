//! Statements that no operation contains

use model::message::Message;
use model::{Nanos, message};

/// Statements that are left out for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOutStatements {
    pub reason: StatementLeftOutReason,
    pub statements: u64,
    pub calls: u64,
    pub time: Nanos,
}

/// Reason why a statement is not an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementLeftOutReason {
    /// Few calls and little time.
    Rare,
    /// The server does not show its text.
    Hidden,
    /// It was executed inside of functions, which other statements call.
    Nested,
    /// `BEGIN`, `COMMIT`, `SAVEPOINT` and so on.
    TransactionControl,
    /// It is a utility statement, or changes the session or the server.
    Utility,
    /// It reads only system catalogs and statistics.
    Monitoring,
    /// It uses objects of pgdyno.
    Pgdyno,
    /// A quote or comment is not closed.
    Unreadable,
    /// pgbench's language cannot express it.
    Inexpressible,
}

impl LeftOutStatements {
    /// Describes the statements, with their share of all calls and of the total time.
    pub fn message(&self, all_calls: u64, all_time: Nanos) -> Message {
        let reason = match self.reason {
            StatementLeftOutReason::Rare => message!("traffic-skeleton-rare"),
            StatementLeftOutReason::Hidden => message!("traffic-skeleton-hidden"),
            StatementLeftOutReason::Nested => message!("traffic-skeleton-nested"),
            StatementLeftOutReason::TransactionControl => message!("traffic-skeleton-transaction"),
            StatementLeftOutReason::Utility => message!("traffic-skeleton-utility"),
            StatementLeftOutReason::Monitoring => message!("traffic-skeleton-monitoring"),
            StatementLeftOutReason::Pgdyno => message!("traffic-skeleton-pgdyno"),
            StatementLeftOutReason::Unreadable => message!("traffic-left-out-unreadable"),
            StatementLeftOutReason::Inexpressible => message!("traffic-left-out-inexpressible"),
        };
        let calls = percent(self.calls as f64, all_calls as f64);
        let time = percent(self.time.0 as f64, all_time.0 as f64);
        message!("traffic-skeleton-left-out", statements = self.statements, calls, time, reason)
    }
}

/// A share in percent, with one decimal.
pub(super) fn percent(part: f64, all: f64) -> String {
    let percent = if all > 0.0 { 100.0 * part / all } else { 0.0 };
    if percent > 0.0 && percent < 0.1 { "< 0.1".to_owned() } else { format!("{percent:.1}") }
}

/// Adds a statement to the list.
pub(super) fn add(all: &mut Vec<LeftOutStatements>, reason: StatementLeftOutReason, calls: u64, time: Nanos) {
    match all.iter_mut().find(|it| it.reason == reason) {
        Some(left_out) => {
            left_out.statements += 1;
            left_out.calls += calls;
            left_out.time = Nanos(left_out.time.0 + time.0);
        }
        None => all.push(LeftOutStatements { reason, statements: 1, calls, time }),
    }
}
