//! Compact measurement of one second of a trial.

use crate::{
    AnswerSizes, CommandCounts, FailureCounts, HistogramSum, Interval, LatencyHistogram, Nanos, ScriptCounts,
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

/// Measurement of one operation, as in [`ScriptCounts`].
#[derive(Clone, Debug, Default)]
pub struct OperationSecond {
    pub ok: u64,
    pub late: u64,
    pub failed: FailureCounts,
    pub unknown: FailureCounts,
    pub dropped: u64,
    pub retried: u64,
    pub retries: u64,
    pub above_limit: u64,
    pub response: SparseHistogram,
    pub service: SparseHistogram,
    /// Service time, failures and retries by command.
    pub statements: Vec<(SparseHistogram, u64, u64)>,
}

impl OperationSecond {
    /// Number of arrivals; each has exactly one outcome.
    pub fn arrivals(&self) -> u64 {
        self.ok + self.failed.total() + self.unknown.total() + self.dropped
    }

    /// Unanswered arrivals as in [`ScriptCounts::unanswered`].
    pub fn unanswered(&self) -> u64 {
        self.failed.unanswered() + self.unknown.total() + self.dropped
    }
}

impl Second {
    /// Second with the service times of `other`, which are the same second's, read separately.
    pub fn with_service_of(mut self, other: Second) -> Second {
        for (it, other) in self.operations.iter_mut().zip(other.operations) {
            it.service = other.service;
            for (it, other) in it.statements.iter_mut().zip(other.statements) {
                it.0 = other.0;
            }
        }
        self
    }
}

impl From<&Tick> for Second {
    fn from(tick: &Tick) -> Second {
        let operation = |counts: &ScriptCounts| OperationSecond {
            ok: counts.ok,
            late: counts.late,
            failed: counts.failed.clone(),
            unknown: counts.unknown.clone(),
            dropped: counts.dropped,
            retried: counts.retried,
            retries: counts.retries,
            above_limit: counts.above_limit,
            response: (&counts.response).into(),
            service: (&counts.service).into(),
            statements: counts
                .statements
                .iter()
                .map(|it| ((&it.service).into(), it.failures, it.retries))
                .collect(),
        };
        let interval = &tick.interval;
        Second {
            second: tick.second,
            from: interval.from,
            to: interval.to,
            started: interval.started,
            in_flight: tick.in_flight,
            operations: interval.scripts.iter().map(operation).collect(),
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
    /// Sum of the counts; its histograms are unused, see the fields below.
    counts: Second,
    /// Histograms by operation: response, service, then its commands.
    operations: Vec<Vec<HistogramSum>>,
    /// Send lag, backlog wait, connects.
    generator: [HistogramSum; 3],
    empty: bool,
}

impl SecondSum {
    /// Empty sum; `commands[i]` is the number of commands of operation i that are measured individually.
    pub fn new(commands: &[usize]) -> SecondSum {
        let operation = |n: &usize| OperationSecond {
            statements: vec![Default::default(); *n],
            ..OperationSecond::default()
        };
        let counts = Second { operations: commands.iter().map(operation).collect(), ..Second::default() };
        let gathered = |n: &usize| vec![HistogramSum::new(); n + 2];
        SecondSum {
            counts,
            operations: commands.iter().map(gathered).collect(),
            generator: Default::default(),
            empty: true,
        }
    }

    pub fn add(&mut self, second: &Second) {
        let all = &mut self.counts;
        all.from = if self.empty { second.from } else { all.from.min(second.from) };
        all.to = all.to.max(second.to);
        self.empty = false;
        all.started += second.started;
        all.refused.merge(&second.refused);
        AnswerSizes::merge(&mut all.answers, &second.answers);
        for (gathered, it) in
            self.generator.iter_mut().zip([&second.send_lag, &second.backlog_wait, &second.connects])
        {
            gathered.add(it);
        }
        for ((all, gathered), it) in
            all.operations.iter_mut().zip(&mut self.operations).zip(&second.operations)
        {
            all.ok += it.ok;
            all.late += it.late;
            all.failed.merge(&it.failed);
            all.unknown.merge(&it.unknown);
            all.dropped += it.dropped;
            all.retried += it.retried;
            all.retries += it.retries;
            all.above_limit += it.above_limit;
            let statements = it.statements.iter().map(|it| &it.0);
            let times = [&it.response, &it.service].into_iter().chain(statements);
            gathered.iter_mut().zip(times).for_each(|(gathered, it)| gathered.add(it));
            for (all, it) in all.statements.iter_mut().zip(&it.statements) {
                all.1 += it.1;
                all.2 += it.2;
            }
        }
    }

    /// Sum in the form of one second, however long.
    pub fn to_second(&self) -> Second {
        let [send_lag, backlog_wait, connects] = self.generator.each_ref().map(SparseHistogram::from);
        let operations = self.counts.operations.iter().zip(&self.operations).map(|(it, gathered)| {
            let mut operation = it.clone();
            (operation.response, operation.service) = ((&gathered[0]).into(), (&gathered[1]).into());
            for (statement, gathered) in operation.statements.iter_mut().zip(&gathered[2..]) {
                statement.0 = gathered.into();
            }
            operation
        });
        Second { operations: operations.collect(), send_lag, backlog_wait, connects, ..self.counts.clone() }
    }
}

impl From<&Second> for Interval {
    fn from(second: &Second) -> Interval {
        let statement = |(service, failures, retries): &(SparseHistogram, u64, u64)| CommandCounts {
            service: service.into(),
            failures: *failures,
            retries: *retries,
        };
        let cell = |operation: &OperationSecond| ScriptCounts {
            ok: operation.ok,
            late: operation.late,
            failed: operation.failed.clone(),
            unknown: operation.unknown.clone(),
            dropped: operation.dropped,
            retried: operation.retried,
            retries: operation.retries,
            above_limit: operation.above_limit,
            response: (&operation.response).into(),
            service: (&operation.service).into(),
            statements: operation.statements.iter().map(statement).collect(),
        };
        Interval {
            from: second.from,
            to: second.to,
            started: second.started,
            successes: None,
            scripts: second.operations.iter().map(cell).collect(),
            send_lag: LatencyHistogram::from(&second.send_lag),
            backlog_wait: LatencyHistogram::from(&second.backlog_wait),
            connects: LatencyHistogram::from(&second.connects),
            refused: second.refused.clone(),
            answers: second.answers.clone(),
            replays: Vec::new(),
        }
    }
}
