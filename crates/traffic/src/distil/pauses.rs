//! Pauses of clients within transactions

use super::pace::median;
use crate::session::Statement;
use model::Nanos;

/// Pauses from which an operation sleeps. Shorter ones are hardly longer than the time resolution of a log, 1 ms, and the
/// network's round trip.
const PAUSE_MIN: Nanos = Nanos::from_millis(2);

/// Median pause before each statement of transactions that have the same statements. `None` before the first statement,
/// for a short pause, and without durations in the log.
pub(super) fn pauses(transactions: &[&[Statement]]) -> Vec<Option<Nanos>> {
    let length = transactions.first().map_or(0, |statements| statements.len());
    let pause = |index: usize| {
        let before = index.checked_sub(1)?;
        let pauses = transactions.iter().filter_map(|statements| {
            let end = statements[before].end()?;
            Some(statements[index].start - end)
        });
        median(pauses.collect()).filter(|pause| *pause >= PAUSE_MIN)
    };
    (0..length).map(pause).collect()
}

#[cfg(test)]
mod tests {
    use super::super::pace::tests::session;
    use super::*;

    #[test]
    fn measures_the_median_pause_before_each_statement() {
        let check = |transactions: &[&[(u64, Option<u64>)]], expected: &[Option<u64>]| {
            let all: Vec<Vec<Statement>> = transactions.iter().map(|it| session(it).statements).collect();
            let found = pauses(&all.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let expected: Vec<Option<Nanos>> = expected.iter().map(|it| it.map(Nanos::from_millis)).collect();
            assert_eq!(found, expected, "{transactions:?}");
        };
        check(&[], &[]);
        check(&[&[(0, Some(5))]], &[None]);
        let quick: &[(u64, Option<u64>)] = &[(0, Some(1)), (21, Some(4)), (26, Some(0))];
        check(&[quick], &[None, Some(20), None]);
        let slow: &[(u64, Option<u64>)] = &[(100, Some(1)), (901, Some(4)), (925, Some(0))];
        let other: &[(u64, Option<u64>)] = &[(200, Some(1)), (231, Some(4)), (237, Some(0))];
        check(&[quick, slow, other], &[None, Some(30), Some(2)]);
        check(&[&[(0, None), (50, None)]], &[None, None]);
    }
}
