//! Pace of a traffic: concurrent sessions, transaction rate, think time

use crate::session::{Statement, Traffic};
use model::{Nanos, PerSecond};

/// How many clients sent transactions, and how fast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Sessions with statements.
    pub sessions: u64,
    /// Maximum number of sessions between their first and their last statement at the same time.
    pub concurrent_sessions: u64,
    /// Duration from the first statement to the end of the last one.
    pub duration: Nanos,
    /// Transactions per second over this duration; `None` if the duration is 0.
    pub rate: Option<PerSecond>,
    /// Median pause between two transactions of a session. `None` if the log has no durations, or if no session has two
    /// transactions.
    pub think: Option<Nanos>,
}

pub(super) fn pace(traffic: &Traffic) -> Pace {
    let mut pauses = Vec::new();
    // Starts and ends of sessions. At the same time, starts come first.
    let mut edges: Vec<(Nanos, bool)> = Vec::new();
    let mut transactions = 0u64;
    for session in &traffic.sessions {
        let statements = &session.statements;
        let Some(start) = statements.iter().map(|statement| statement.start).min() else { continue };
        let end = statements.iter().map(last_moment).max().unwrap_or(start);
        edges.extend([(start, false), (end, true)]);
        let all = session.transactions();
        transactions += all.len() as u64;
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
    let duration = match (edges.first(), edges.last()) {
        (Some((start, _)), Some((end, _))) => *end - *start,
        _ => Nanos::ZERO,
    };
    let rate = transactions as f64 / duration.as_secs_f64();
    Pace {
        sessions: edges.len() as u64 / 2,
        concurrent_sessions: most,
        duration,
        rate: (duration > Nanos::ZERO).then_some(PerSecond(rate)),
        think: median(pauses),
    }
}

/// End of a statement, or its start if the duration is unknown.
fn last_moment(statement: &Statement) -> Nanos {
    statement.end().unwrap_or(statement.start)
}

/// Lower median.
fn median(mut values: Vec<Nanos>) -> Option<Nanos> {
    let middle = values.len().checked_sub(1)? / 2;
    Some(*values.select_nth_unstable(middle).1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Protocol, Session};

    /// Session with statements of the given starts and durations, in milliseconds.
    fn session(statements: &[(u64, Option<u64>)]) -> Session {
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
            concurrent_sessions: 2,
            duration: Nanos::from_millis(2_500),
            rate: Some(PerSecond(2.8)),
            // The pauses are 20, 960 and 100 ms.
            think: Some(Nanos::from_millis(100)),
        };
        assert_eq!(pace, expected);
        let empty = super::pace(&Traffic::default());
        assert_eq!((empty.sessions, empty.rate, empty.think), (0, None, None));
    }
}
