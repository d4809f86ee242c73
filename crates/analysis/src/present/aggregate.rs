//! Intervals of an aggregated transaction log

use model::summary::{DurationSums, LogAggregate};
use model::{Nanos, Outcome, Record};

/// Aggregator that fills the log's intervals in order of time.
#[derive(Clone, Debug)]
pub struct LogAggregator {
    /// Unix time at which the run's clock was 0.
    epoch: Nanos,
    /// Length of an interval, in seconds; at least 1.
    interval: u64,
    current: LogAggregate,
}

impl LogAggregator {
    /// Creates the first interval, which begins with the whole second that contains `from`, as in pgbench.
    pub fn new(epoch: Nanos, from: Nanos, every: u32) -> LogAggregator {
        let from_epoch_secs = (epoch + from).0 / 1_000_000_000;
        let current = LogAggregate { from_epoch_secs, ..LogAggregate::default() };
        LogAggregator { epoch, interval: u64::from(every.max(1)), current }
    }

    /// Counts `record` in the interval in which it ended, after passing all earlier intervals to `done`. Callers must
    /// add transactions in the order of their ends.
    pub fn add(&mut self, record: &Record, done: impl FnMut(&LogAggregate)) {
        self.advance(record.finished, done);
        count(&mut self.current, record);
    }

    /// Passes all intervals that ended before `now` to `done`, including empty intervals.
    pub fn advance(&mut self, now: Nanos, mut done: impl FnMut(&LogAggregate)) {
        let now = (self.epoch + now).0 / 1_000_000_000;
        while self.current.from_epoch_secs + self.interval <= now {
            done(&self.current);
            let from_epoch_secs = self.current.from_epoch_secs + self.interval;
            self.current = LogAggregate { from_epoch_secs, ..LogAggregate::default() };
        }
    }
}

fn count(to: &mut LogAggregate, record: &Record) {
    if record.tries > 1 {
        to.retried += 1;
        to.retries += u64::from(record.tries) - 1;
    }
    match record.outcome {
        Outcome::Ok => {
            to.ok += 1;
            add(&mut to.latency, record.response());
            add(&mut to.lag, record.started - record.intended);
        }
        Outcome::Failed(code) if code.is_serialization_failure() => to.serialization += 1,
        Outcome::Failed(code) if code.is_deadlock() => to.deadlock += 1,
        Outcome::Failed(_) | Outcome::Unknown(_) => {}
        Outcome::Dropped => to.dropped += 1,
    }
}

fn add(to: &mut DurationSums, duration: Nanos) {
    let micros = duration.as_micros_f64();
    to.min = if to.count == 0 { micros } else { to.min.min(micros) };
    to.max = to.max.max(micros);
    to.count += 1;
    to.sum += micros;
    to.sum_of_squares += micros * micros;
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{ClientId, ScriptId};

    #[test]
    fn splits_records_into_intervals() {
        let record = |finished: u64, outcome| Record {
            script: ScriptId(0),
            client: ClientId(0),
            outcome,
            intended: Nanos::from_millis(finished - 3),
            started: Nanos::from_millis(finished - 2),
            finished: Nanos::from_millis(finished),
            tries: 3,
        };
        let mut done = Vec::new();
        let mut log = LogAggregator::new(Nanos::from_millis(1_000_500), Nanos::from_millis(700), 2);
        for (finished, outcome) in
            [(1000, Outcome::Ok), (2499, Outcome::Ok), (2500, Outcome::Dropped), (8600, Outcome::Ok)]
        {
            log.add(&record(finished, outcome), |it| done.push(*it));
        }
        let shown: Vec<_> =
            done.iter().map(|it| (it.from_epoch_secs, it.ok, it.dropped, it.retries)).collect();
        assert_eq!(shown, [(1001, 2, 0, 4), (1003, 0, 1, 2), (1005, 0, 0, 0), (1007, 0, 0, 0)]);
        let two = DurationSums { count: 2, sum: 6000.0, sum_of_squares: 18e6, min: 3000.0, max: 3000.0 };
        assert_eq!(done[0].latency, two);
        assert_eq!(done[0].lag.sum, 2000.0);
    }
}
