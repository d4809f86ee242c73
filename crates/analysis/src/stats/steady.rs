//! Time until the system reaches its steady throughput
//!
//! A database with cold caches reads data from disk at first and from memory later. Its throughput is lower until then.

use super::quantile::median;
use model::{Nanos, PerSecond, Second};

/// Time and throughput at which a trial became steady.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyState {
    /// Median throughput of the seconds in the trial's last third.
    pub rate: PerSecond,
    /// Time from the start of the window to the end of the first second with at least [`STEADY_SHARE`] of `rate`. Zero
    /// if the window's first second has this rate.
    pub after: Nanos,
}

/// Minimum share of the steady rate at which a system counts as warm.
pub const STEADY_SHARE: f64 = 0.9;
/// Minimum number of whole seconds. With fewer, the last third has only one or two seconds.
const SECONDS_MIN: usize = 9;

/// Steady state from the number of successful transactions in each second of the window, in order of time. `None` with
/// too few seconds, or if no transaction succeeds at the end.
///
/// In an open model, the offered rate limits throughput. A system that serves the offered rate from the beginning is
/// then steady at once.
pub fn steady_state(delivered: &[f64]) -> Option<SteadyState> {
    if delivered.len() < SECONDS_MIN {
        return None;
    }
    let rate = median(delivered[delivered.len() - delivered.len() / 3..].iter().copied())?;
    if rate <= 0.0 {
        return None;
    }
    let first = delivered
        .iter()
        .position(|it| *it >= STEADY_SHARE * rate)
        .expect("half of the last third reached the median");
    let after = if first == 0 { Nanos::ZERO } else { Nanos::from_secs(first as u64 + 1) };
    Some(SteadyState { rate: PerSecond(rate), after })
}

/// Steady state from the seconds of a trial. The last second is left out because it may be incomplete. Transactions
/// that ended after the window are left out too.
pub fn from_seconds(seconds: &[Second]) -> Option<SteadyState> {
    let complete = seconds.split_last().map_or(seconds, |it| it.1);
    steady_state(&complete.iter().map(delivered).collect::<Vec<_>>())
}

/// Number of transactions that succeeded within the window, per second.
pub fn delivered(second: &Second) -> f64 {
    let duration = (second.interval.to - second.interval.from).as_secs_f64();
    let ok: u64 = second.interval.scripts.iter().map(|it| it.ok - it.late).sum();
    if duration > 0.0 { ok as f64 / duration } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{CompactInterval, OperationSecond};

    #[test]
    fn finds_the_second_of_the_steady_rate() {
        let check = |delivered: &[u32], expected: Option<(f64, u64)>| {
            let delivered: Vec<f64> = delivered.iter().map(|it| f64::from(*it)).collect();
            let found = steady_state(&delivered).map(|it| (it.rate.0, it.after.0 / 1_000_000_000));
            assert_eq!(found, expected, "{delivered:?}");
        };
        // Cold caches: the system warms up until the fifth second.
        check(&[10, 20, 40, 70, 90, 95, 100, 100, 100, 102, 98, 100], Some((100.0, 5)));
        // 89 is below 90 %. One bad second later does not change the result.
        check(&[89, 90, 100, 30, 100, 100, 100, 100, 100], Some((100.0, 2)));
        // Warm from the start.
        check(&[100; 9], Some((100.0, 0)));
        // The last third has an even number of seconds: the mean of the middle two.
        check(&[50, 100, 100, 100, 100, 100, 100, 100, 100, 100, 110, 120, 110], Some((110.0, 2)));
        // The system slows down: its steady rate is that of the last third, and is reached at once.
        check(&[100, 90, 80, 70, 60, 50, 40, 30, 20], Some((30.0, 0)));
        // Too few seconds, or no throughput at the end.
        check(&[100; 8], None);
        check(&[100, 100, 100, 100, 100, 100, 0, 0, 0], None);
        check(&[], None);
    }

    #[test]
    fn reads_seconds_of_a_trial() {
        let second = |at: u64, ok: u64| {
            let (from, to) = (Nanos::from_secs(at), Nanos::from_secs(at + 1));
            let operation = |ok| OperationSecond { ok: ok + 3, late: 3, ..OperationSecond::default() };
            Second {
                second: at,
                interval: CompactInterval {
                    from,
                    to,
                    scripts: vec![operation(ok / 2), operation(ok - ok / 2)],
                    ..CompactInterval::default()
                },
                ..Second::default()
            }
        };
        let mut seconds: Vec<Second> = (0..12).map(|at| second(at, if at < 3 { 10 } else { 100 })).collect();
        // An incomplete second does not count.
        seconds.push(second(12, 1));
        assert_eq!(
            from_seconds(&seconds),
            Some(SteadyState { rate: PerSecond(100.0), after: Nanos::from_secs(4) })
        );
        assert_eq!(from_seconds(&seconds[..9]), None);
        assert_eq!(from_seconds(&[]), None);
    }
}
