//! Measurement of an interval by one or more threads.

use crate::{
    Answer, AnswerSizes, CommandCounts, FailureCounts, LatencyHistogram, Nanos, Outcome, Record,
    ReplayCounts, SizeUnit, StatementAnswer, Successes,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Measurement from one time to another by one thread, or by all threads after merging. `H` is the type of the
/// histograms.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Interval<H = LatencyHistogram> {
    pub from: Nanos,
    pub to: Nanos,
    /// Number of transactions started. The number in flight is this number minus the number of ended transactions.
    pub started: u64,
    /// Times at which successful transactions ended, by the run's clock; `None` if none succeeded, or in a compact
    /// interval.
    pub successes: Option<Successes>,
    /// Counts by script.
    pub scripts: Vec<ScriptCounts<H>>,
    /// Time from the intended start to sending, for arrivals that found an idle client: the lateness of the generator.
    pub send_lag: H,
    /// Time from the intended start to sending, for arrivals that had to wait for a client.
    pub backlog_wait: H,
    /// Time from `connect` to the end of login.
    pub connects: H,
    pub refused: FailureCounts,
    /// Sizes of expected HTTP responses and rows of successful statements, in the order of operations and commands.
    pub answers: Vec<AnswerSizes>,
    /// Comparison with recorded responses, in the order of the operations that replay a log.
    pub replays: Vec<ReplayCounts>,
}

/// Counts of one script's arrivals. `H` is the type of the histograms.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ScriptCounts<H = LatencyHistogram> {
    pub ok: u64,
    /// Number of `ok` transactions that ended after the window. The histograms include these transactions, but the rate
    /// does not.
    pub late: u64,
    pub failed: FailureCounts,
    pub unknown: FailureCounts,
    pub dropped: u64,
    /// Number of retried transactions; `retries` is the number of all retries.
    pub retried: u64,
    pub retries: u64,
    /// Number of `ok` transactions with a response time above the latency limit.
    pub above_limit: u64,
    /// Response times of `ok` transactions.
    pub response: H,
    pub service: H,
    /// Counts by command of the script; empty unless commands are measured individually.
    pub statements: Vec<CommandCounts<H>>,
}

/// CPU usage and lateness of one generator thread.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct ThreadUsage {
    pub user: Nanos,
    pub system: Nanos,
    /// Part of `user` and `system` during which the thread busy-waited for a timer.
    pub spun: Nanos,
    /// Time during which the thread was runnable but had no CPU; `None` if the kernel does not report it.
    pub starved: Option<Nanos>,
    /// Number of returns from the kernel's wait.
    pub wakeups: u64,
    /// Longest time between two clock reads while work was due.
    pub longest_stall: Nanos,
    /// Wall-clock duration of the window.
    pub wall: Nanos,
    /// Counters of the kernel within the window; `None` if the kernel does not report them, and in stored runs.
    #[serde(default)]
    pub kernel: Option<KernelCounters>,
}

/// Counters that the kernel keeps of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelCounters {
    /// Context switches of a thread that waited, and of a thread that could have continued.
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
    /// Page faults without and with reads from a disk.
    pub minor_faults: u64,
    pub major_faults: u64,
}

impl<H> Interval<H> {
    /// Empty interval; `commands[i]` is the number of commands of script i that are measured individually.
    pub fn with_commands(commands: &[usize]) -> Interval<H>
    where
        H: Default,
    {
        Interval { scripts: commands.iter().map(|&n| ScriptCounts::new(n)).collect(), ..Interval::default() }
    }

    /// The measurement with histograms of another type.
    pub fn convert<'a, T>(&'a self, histogram: impl Fn(&'a H) -> T) -> Interval<T> {
        Interval {
            from: self.from,
            to: self.to,
            started: self.started,
            successes: self.successes,
            scripts: self.scripts.iter().map(|it| it.convert(&histogram)).collect(),
            send_lag: histogram(&self.send_lag),
            backlog_wait: histogram(&self.backlog_wait),
            connects: histogram(&self.connects),
            refused: self.refused.clone(),
            answers: self.answers.clone(),
            replays: self.replays.clone(),
        }
    }

    /// The measurement by another clock, whose readings are `shift` nanoseconds higher.
    pub fn shifted(self, shift: i64) -> Interval<H> {
        let shifted = |it: Nanos| Nanos(it.0.saturating_add_signed(shift));
        let successes = self.successes.map(|it| it.shifted(shift));
        Interval { from: shifted(self.from), to: shifted(self.to), successes, ..self }
    }

    /// Adds the measurement of another thread or of the following interval; `histogram` adds one histogram to another.
    pub(crate) fn add<T>(&mut self, other: &Interval<T>, histogram: impl Fn(&mut H, &T)) {
        self.from = self.from.min(other.from);
        self.to = self.to.max(other.to);
        self.started += other.started;
        match (&mut self.successes, &other.successes) {
            (Some(sum), Some(addend)) => sum.merge(addend),
            (None, addend) => self.successes = *addend,
            (Some(_), None) => {}
        }
        self.scripts.iter_mut().zip(&other.scripts).for_each(|(sum, addend)| sum.add(addend, &histogram));
        histogram(&mut self.send_lag, &other.send_lag);
        histogram(&mut self.backlog_wait, &other.backlog_wait);
        histogram(&mut self.connects, &other.connects);
        self.refused.merge(&other.refused);
        AnswerSizes::merge(&mut self.answers, &other.answers);
        self.replays.iter_mut().zip(&other.replays).for_each(|(sum, addend)| sum.merge(addend));
    }
}

impl Interval {
    /// Empty interval whose histograms are of type [`LatencyHistogram`], see [`Interval::with_commands`].
    pub fn new(commands: &[usize]) -> Interval {
        Interval::with_commands(commands)
    }

    /// Enables size measurement for these commands: ascending pairs of operation and command number.
    pub fn with_answer_sizes(self, calls: &[(u16, u16)]) -> Interval {
        Interval { answers: calls.iter().copied().map(AnswerSizes::new).collect(), ..self }
    }

    /// Records the size of a response or result without allocation. Sizes of commands that are not measured are
    /// ignored.
    #[inline]
    pub fn record_answer(&mut self, command: (u16, u16), unit: SizeUnit, size: u64) {
        if let Ok(at) = self.answers.binary_search_by_key(&command, AnswerSizes::key) {
            self.answers[at].record(unit, size);
        }
    }

    /// Enables the comparison with recorded responses for these operations, ascending.
    pub fn with_replays(self, operations: &[u16]) -> Interval {
        Interval { replays: operations.iter().copied().map(ReplayCounts::new).collect(), ..self }
    }

    /// Compares a response with the recorded response, without allocation. Responses to other operations are ignored.
    #[inline]
    pub fn record_replay(&mut self, operation: u16, recorded: Answer, measured: Answer) {
        if let Some(replay) = self.replays.iter_mut().find(|it| it.operation == operation) {
            replay.record(recorded, measured);
        }
    }

    /// Compares the result of a statement with the recorded result, without allocation. All operations must be replayed.
    #[inline]
    pub fn record_replayed_statement(
        &mut self,
        operation: u16,
        recorded: StatementAnswer,
        measured: StatementAnswer,
    ) {
        if let Some(replay) = self.replays.get_mut(usize::from(operation)) {
            replay.record_statement(recorded, measured);
        }
    }

    pub fn clear(&mut self) {
        (self.started, self.successes) = (0, None);
        self.scripts.iter_mut().for_each(ScriptCounts::clear);
        self.send_lag.clear();
        self.backlog_wait.clear();
        self.connects.clear();
        self.refused = FailureCounts::default();
        self.answers.iter_mut().for_each(|it| it.sizes.clear());
        self.replays.iter_mut().for_each(ReplayCounts::clear);
    }

    /// Adds the measurement of another thread or of the following interval.
    pub fn merge(&mut self, other: &Interval) {
        self.add(other, LatencyHistogram::merge);
    }

    /// Records a successful transaction at this time.
    #[inline]
    pub fn record_success(&mut self, at: Nanos) {
        match &mut self.successes {
            Some(it) => it.add(at),
            None => self.successes = Some(Successes::at(at)),
        }
    }
}

impl<H> ScriptCounts<H> {
    /// Empty counts; `statements` is the number of commands that are measured individually.
    pub fn new(statements: usize) -> ScriptCounts<H>
    where
        H: Default,
    {
        let statements = std::iter::repeat_with(CommandCounts::default).take(statements).collect();
        ScriptCounts { statements, ..ScriptCounts::default() }
    }

    /// Number of arrivals; each arrival has exactly one outcome.
    pub fn arrivals(&self) -> u64 {
        self.ok + self.failed.total() + self.unknown.total() + self.dropped
    }

    /// Number of arrivals without a response or error from a server: dropped, unknown, or failed before they were sent.
    pub fn unanswered(&self) -> u64 {
        self.failed.unanswered() + self.unknown.total() + self.dropped
    }

    /// The counts with histograms of another type; `histogram` converts one histogram.
    pub(crate) fn convert<'a, T>(&'a self, histogram: impl Fn(&'a H) -> T) -> ScriptCounts<T> {
        ScriptCounts {
            ok: self.ok,
            late: self.late,
            failed: self.failed.clone(),
            unknown: self.unknown.clone(),
            dropped: self.dropped,
            retried: self.retried,
            retries: self.retries,
            above_limit: self.above_limit,
            response: histogram(&self.response),
            service: histogram(&self.service),
            statements: self.statements.iter().map(|it| it.convert(&histogram)).collect(),
        }
    }

    /// Adds the counts of another thread or interval; `histogram` adds one histogram to another.
    pub(crate) fn add<T>(&mut self, other: &ScriptCounts<T>, histogram: impl Fn(&mut H, &T)) {
        self.ok += other.ok;
        self.late += other.late;
        self.dropped += other.dropped;
        self.retried += other.retried;
        self.retries += other.retries;
        self.above_limit += other.above_limit;
        self.failed.merge(&other.failed);
        self.unknown.merge(&other.unknown);
        histogram(&mut self.response, &other.response);
        histogram(&mut self.service, &other.service);
        for (sum, addend) in self.statements.iter_mut().zip(&other.statements) {
            sum.add(addend, &histogram);
        }
    }
}

impl ScriptCounts {
    /// Counts one record. `limit` is the latency limit, `end` the end of the window.
    #[inline]
    pub fn record(&mut self, record: &Record, limit: Nanos, end: Nanos) {
        match record.outcome {
            Outcome::Ok => {
                self.ok += 1;
                self.late += u64::from(record.finished > end);
                self.above_limit += u64::from(record.response() > limit);
                self.response.record(record.response());
                self.service.record(record.service());
            }
            Outcome::Failed(code) => self.failed.count(code),
            Outcome::Unknown(code) => self.unknown.count(code),
            Outcome::Dropped => self.dropped += 1,
        }
        if record.tries > 1 {
            self.retried += 1;
            self.retries += u64::from(record.tries) - 1;
        }
    }

    pub fn clear(&mut self) {
        (self.ok, self.late, self.dropped) = (0, 0, 0);
        (self.retried, self.retries, self.above_limit) = (0, 0, 0);
        self.failed = FailureCounts::default();
        self.unknown = FailureCounts::default();
        self.response.clear();
        self.service.clear();
        self.statements.iter_mut().for_each(CommandCounts::clear);
    }

    pub fn merge(&mut self, other: &ScriptCounts) {
        self.add(other, LatencyHistogram::merge);
    }
}
