//! Pace of a traffic: concurrent sessions, transaction rate, think time

use crate::session::{Statement, Traffic};
use model::{Nanos, PerSecond};

/// How many clients sent transactions, and how fast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Sessions with statements.
    pub sessions: u64,
    /// True if the clients opened a connection for each transaction: there were fewer than two transactions per session.
    pub reconnects: bool,
    /// Maximum number of sessions between their first and their last statement at the same time.
    pub concurrent_sessions: u64,
    /// Transactions per second in the middle 99 % of the transactions, because a log often has single ones long before
    /// or after the others. Of fewer than 200 transactions, all count. `None` if they took no time.
    pub rate: Option<PerSecond>,
    /// Median pause between two transactions of a session. `None` if the log has no durations, or if no session has two
    /// transactions.
    pub think: Option<Nanos>,
}

/// Number of sessions from which their lengths show whether clients reconnect.
const RECONNECTS_MIN: u64 = 20;

pub(super) fn pace(traffic: &Traffic) -> Pace {
    let mut pauses = Vec::new();
    // Starts and ends of sessions. At the same time, starts come first.
    let mut edges: Vec<(Nanos, bool)> = Vec::new();
    let mut starts: Vec<Nanos> = Vec::new();
    for session in &traffic.sessions {
        let statements = &session.statements;
        let Some(start) = statements.iter().map(|statement| statement.start).min() else { continue };
        let end = statements.iter().map(last_moment).max().unwrap_or(start);
        edges.extend([(start, false), (end, true)]);
        let all = session.transactions();
        starts.extend(all.iter().map(|transaction| statements[transaction.statements.start].start));
        for pair in all.windows(2) {
            let (last, next) =
                (&statements[pair[0].statements.end - 1], &statements[pair[1].statements.start]);
            pauses.extend(last.end().map(|end| next.start - end));
        }
    }
    edges.sort_unstable();
    let (mut open, mut most) = (0u64, 0);
    for (_, is_end) in &edges {
        open = if *is_end { open - 1 } else { open + 1 };
        most = most.max(open);
    }
    let sessions = edges.len() as u64 / 2;
    Pace {
        sessions,
        reconnects: sessions >= RECONNECTS_MIN && (starts.len() as u64) < 2 * sessions,
        concurrent_sessions: most,
        rate: rate(starts, edges.last().map(|(end, _)| *end)),
        think: median(pauses),
    }
}

/// Rate of transactions with these starts, the last of which ended at `end`; see [`Pace::rate`].
fn rate(mut starts: Vec<Nanos>, end: Option<Nanos>) -> Option<PerSecond> {
    starts.sort_unstable();
    let trimmed = starts.len() / 200;
    let middle = &starts[trimmed..starts.len() - trimmed];
    let (count, duration) = match (middle, end) {
        ([first, ..], Some(end)) if trimmed == 0 => (middle.len(), end - *first),
        ([first, .., last], _) => (middle.len() - 1, *last - *first),
        _ => return None,
    };
    (duration > Nanos::ZERO).then(|| PerSecond(count as f64 / duration.as_secs_f64()))
}

/// End of a statement, or its start if the duration is unknown.
fn last_moment(statement: &Statement) -> Nanos {
    statement.end().unwrap_or(statement.start)
}

/// Lower median.
pub(super) fn median(mut values: Vec<Nanos>) -> Option<Nanos> {
    let middle = values.len().checked_sub(1)? / 2;
    Some(*values.select_nth_unstable(middle).1)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::session::{Protocol, Session};

    /// Session with statements of the given starts and durations, in milliseconds.
    pub fn session(statements: &[(u64, Option<u64>)]) -> Session {
        let statement = |&(start, duration): &(u64, Option<u64>)| Statement {
            start: Nanos::from_millis(start),
            duration: duration.map(Nanos::from_millis),
            text: "SELECT 1".into(),
            parameters: Vec::new(),
            protocol: Protocol::Simple,
            transaction: None,
            error: None,
        };
        Session { statements: statements.iter().map(statement).collect(), ..Session::default() }
    }

    #[test]
    fn measures_sessions_and_pauses() {
        let mut traffic = Traffic::default();
        traffic.sessions = vec![
            session(&[(0, Some(10)), (30, Some(10)), (1_000, Some(0))]),
            session(&[(1_000, Some(1_000)), (2_100, Some(400))]),
            session(&[]),
            session(&[(1_500, None), (1_600, None)]),
        ];
        let pace = pace(&traffic);
        let expected = Pace {
            sessions: 3,
            reconnects: false,
            concurrent_sessions: 2,
            rate: Some(PerSecond(2.8)),
            // The pauses are 20, 960 and 100 ms.
            think: Some(Nanos::from_millis(100)),
        };
        assert_eq!(pace, expected);
        let empty = super::pace(&Traffic::default());
        assert_eq!((empty.sessions, empty.rate, empty.think), (0, None, None));
    }

    #[test]
    fn recognises_a_connection_for_each_transaction() {
        let traffic = |sessions: u64, transactions: u64| {
            let session = |number| {
                let statements: Vec<(u64, Option<u64>)> =
                    (0..transactions).map(|it| (100 * number + it, Some(0))).collect();
                session(&statements)
            };
            let mut traffic = Traffic::default();
            traffic.sessions = (0..sessions).map(session).collect();
            traffic
        };
        for (sessions, transactions, expected) in [(100, 1, true), (100, 2, false), (19, 1, false)] {
            assert_eq!(pace(&traffic(sessions, transactions)).reconnects, expected);
        }
    }

    #[test]
    fn single_transactions_before_and_after_do_not_lower_the_rate() {
        let steady: Vec<u64> = (0..1_000).map(|number| 100_000 + 10 * number).collect();
        for stragglers in [&[][..], &[0], &[0, 900_000], &[0, 1, 2, 900_000, 900_001]] {
            let starts = stragglers.iter().chain(&steady).map(|ms| Nanos::from_millis(*ms)).collect();
            let rate = rate(starts, Some(Nanos::from_millis(900_010))).expect("there are transactions");
            assert!((rate.0 - 100.0).abs() < 1e-6, "{stragglers:?}: {rate:?}");
        }
    }
}
