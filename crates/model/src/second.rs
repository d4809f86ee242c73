//! Compact measurement of one second of a trial.

use crate::{
    AnswerSizes, FailureCounts, HistogramSum, Interval, LatencyHistogram, Nanos, ScriptCounts,
    SparseHistogram, Tick,
};

/// Part of a [`Tick`] that sums and charts need; a tick itself takes megabytes.
#[derive(Clone, Debug, Default)]
pub struct Second {
    /// Whole seconds since the window's start: 0 for the first.
    pub second: u64,
    /// Times by the clock of the trial, as in [`Interval`].
    pub from: Nanos,
    pub to: Nanos,
    /// Transactions started.
    pub started: u64,
    /// Transactions in flight at the end of the second.
    pub in_flight: u64,
    /// Measurements in the order of the trial's operations.
    pub operations: Vec<OperationSecond>,
    pub send_lag: SparseHistogram,
    pub backlog_wait: SparseHistogram,
    pub connects: SparseHistogram,
    pub refused: FailureCounts,
    /// Sizes as in [`Interval`], of commands with responses.
    pub answers: Vec<AnswerSizes>,
}

/// Measurement of one operation.
pub type OperationSecond = ScriptCounts<SparseHistogram>;

impl Second {
    /// Second with the service times of `other`, which are the same second's, read separately.
    pub fn with_service_of(mut self, other: Second) -> Second {
        for (it, other) in self.operations.iter_mut().zip(other.operations) {
            it.service = other.service;
            for (it, other) in it.statements.iter_mut().zip(other.statements) {
                it.service = other.service;
            }
        }
        self
    }
}

impl From<&Tick> for Second {
    fn from(tick: &Tick) -> Second {
        let interval = &tick.interval;
        Second {
            second: tick.second,
            from: interval.from,
            to: interval.to,
            started: interval.started,
            in_flight: tick.in_flight,
            operations: interval.scripts.iter().map(|it| it.convert(SparseHistogram::from)).collect(),
            send_lag: (&interval.send_lag).into(),
            backlog_wait: (&interval.backlog_wait).into(),
            connects: (&interval.connects).into(),
            refused: interval.refused.clone(),
            answers: interval.answers.iter().filter(|it| it.sizes.count() > 0).cloned().collect(),
        }
    }
}

/// Sum of seconds.
#[derive(Debug, Default)]
pub struct SecondSum {
    /// Sum of the counts without operations and histograms, which the fields below sum up.
    counts: Second,
    operations: Vec<ScriptCounts<HistogramSum>>,
    /// Send lag, backlog wait, connects.
    generator: [HistogramSum; 3],
    empty: bool,
}

impl SecondSum {
    /// Empty sum; `commands[i]` is the number of commands of operation i that are measured individually.
    pub fn new(commands: &[usize]) -> SecondSum {
        let operations = commands.iter().map(|&n| ScriptCounts::new(n)).collect();
        SecondSum { operations, empty: true, ..SecondSum::default() }
    }

    pub fn add(&mut self, it: &Second) {
        let all = &mut self.counts;
        all.from = if self.empty { it.from } else { all.from.min(it.from) };
        all.to = all.to.max(it.to);
        self.empty = false;
        all.started += it.started;
        all.refused.merge(&it.refused);
        AnswerSizes::merge(&mut all.answers, &it.answers);
        for (sum, it) in self.generator.iter_mut().zip([&it.send_lag, &it.backlog_wait, &it.connects]) {
            sum.add(it);
        }
        self.operations.iter_mut().zip(&it.operations).for_each(|(sum, it)| sum.add(it, HistogramSum::add));
    }

    /// Sum in the form of one second, however long.
    pub fn to_second(&self) -> Second {
        let [send_lag, backlog_wait, connects] = self.generator.each_ref().map(SparseHistogram::from);
        let operations = self.operations.iter().map(|it| it.convert(SparseHistogram::from)).collect();
        Second { operations, send_lag, backlog_wait, connects, ..self.counts.clone() }
    }
}

impl From<&Second> for Interval {
    fn from(it: &Second) -> Interval {
        Interval {
            from: it.from,
            to: it.to,
            started: it.started,
            successes: None,
            scripts: it.operations.iter().map(|it| it.convert(LatencyHistogram::from)).collect(),
            send_lag: LatencyHistogram::from(&it.send_lag),
            backlog_wait: LatencyHistogram::from(&it.backlog_wait),
            connects: LatencyHistogram::from(&it.connects),
            refused: it.refused.clone(),
            answers: it.answers.clone(),
            replays: Vec::new(),
        }
    }
}
