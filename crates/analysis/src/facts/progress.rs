//! Progress lines: figures since the previous line

use model::summary::Progress;
use model::{Interval, LatencyHistogram, Nanos, PerSecond, ScriptCounts};

/// Figures of a progress line. `interval` covers all threads since the previous line. `start` is the start of the
/// window.
pub fn progress(interval: &Interval, start: Nanos) -> Progress {
    let mut response = LatencyHistogram::new();
    let mut service_sum = 0;
    let mut progress = Progress { at: interval.to - start, ..Progress::default() };
    for cell in &interval.scripts {
        response.merge(&cell.response);
        service_sum += cell.service.sum();
        progress.failed += cell.failed.total() + cell.unknown.total();
        progress.dropped += cell.dropped;
        progress.retried += cell.retried;
        progress.retries += cell.retries;
    }
    let seconds = (interval.to - interval.from).as_secs_f64();
    if seconds > 0.0 {
        progress.tps = PerSecond(response.count() as f64 / seconds);
    }
    progress.mean = response.mean().unwrap_or_default();
    progress.deviation = response.deviation().unwrap_or_default();
    progress.p99 =
        response.quantile_with_unanswered(0.99, interval.scripts.iter().map(ScriptCounts::unanswered).sum());
    progress.lag = mean_difference(response.sum(), service_sum, response.count());
    progress
}

/// Mean of `count` differences, computed from the sum of the minuends and the sum of the subtrahends.
pub fn mean_difference(minuends: u128, subtrahends: u128, count: u64) -> Nanos {
    match count {
        0 => Nanos::ZERO,
        count => Nanos((minuends.saturating_sub(subtrahends) / u128::from(count)) as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{ClientId, Code, Outcome, Record, ScriptId};

    #[test]
    fn summarises_a_second() {
        let mut interval = Interval::new(&[0, 0]);
        (interval.from, interval.to) = (Nanos::from_secs(11), Nanos::from_secs(13));
        let mut record = |script: u16, outcome, lag: u64, service: u64, tries| {
            let intended = Nanos::from_secs(11);
            let started = intended + Nanos::from_millis(lag);
            let finished = started + Nanos::from_millis(service);
            let script = ScriptId(script);
            let client = ClientId(0);
            let record = Record { script, client, outcome, intended, started, finished, tries };
            interval.scripts[usize::from(script.0)].record(&record, Nanos::MAX, Nanos::MAX);
        };
        record(0, Outcome::Ok, 1, 9, 1);
        record(1, Outcome::Ok, 3, 27, 3);
        record(1, Outcome::Failed(Code::SqlState(*b"40001")), 0, 1, 2);
        record(0, Outcome::Unknown(Code::RESET), 0, 1, 1);
        record(0, Outcome::Dropped, 0, 0, 0);
        let expected = Progress {
            at: Nanos::from_secs(3),
            tps: PerSecond(1.0),
            mean: Nanos::from_millis(20),
            deviation: Nanos::from_millis(10),
            p99: None,
            failed: 2,
            lag: Nanos::from_millis(2),
            dropped: 1,
            retried: 2,
            retries: 3,
        };
        assert_eq!(progress(&interval, Nanos::from_secs(10)), expected);
        interval.clear();
        let nothing = progress(&interval, Nanos::from_secs(10));
        assert_eq!((nothing.tps, nothing.mean, nothing.lag), (PerSecond(0.0), Nanos::ZERO, Nanos::ZERO));
    }
}
