//! Recorders of finished transactions

use crate::ledger::LedgerProducer;
use crate::script::Variables;
use model::durability::WriteAttempt;
use model::{
    Answer, ClientId, Code, CommandCounts, Interval, Nanos, Outcome, Record, RequestSample, ScriptId,
    SizeUnit, StatementAnswer, StatementKind,
};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError};

/// Receiver of a shard's results.
///
/// The shard calls the methods on its thread. Implementations must not allocate or block. They ignore the script that
/// clients execute once ([`Program::has_on_start`](crate::script::Program::has_on_start)), which has the highest number.
pub trait Recorder {
    /// True if the recorder receives every request and response. Otherwise, the code that reports them is not compiled.
    const TRACES: bool = false;

    /// Called with each request and response if [`Recorder::TRACES`] is true. Only a tracing recorder may allocate.
    fn trace(&mut self, _event: TraceEvent<'_>) {}
    /// Called when a client begins a transaction.
    fn transaction_started(&mut self) {}
    /// Records one arrival; called exactly once per arrival.
    fn record(&mut self, record: &Record);
    /// Called when command `command` of a script completed.
    fn statement_finished(&mut self, _script: ScriptId, _command: u16, _sample: &RequestSample) {}
    /// Called when command `command` received the expected response; `bytes` is the body's size as received.
    fn response_received(&mut self, _script: ScriptId, _command: u16, _bytes: u64) {}
    /// Called when the statements of command `command` succeeded; `rows` is the number of returned or changed rows.
    fn rows_counted(&mut self, _script: ScriptId, _command: u16, _kind: StatementKind, _rows: u64) {}
    /// Called when a replayed request received a response; `recorded` is the response in the log.
    fn replayed(&mut self, _script: ScriptId, _recorded: Answer, _measured: Answer) {}
    /// Called when a replayed statement has ended; `recorded` is its recorded result.
    fn statement_replayed(&mut self, _: ScriptId, _recorded: StatementAnswer, _measured: StatementAnswer) {}
    /// Called when the transaction failed with this outcome. `command` is the failed command, which may not have been
    /// sent.
    fn statement_failed(
        &mut self,
        _script: ScriptId,
        _command: u16,
        _outcome: Outcome,
        _sample: &RequestSample,
    ) {
    }
    /// Called when command `command` failed and its transaction is retried.
    fn statement_retried(&mut self, _script: ScriptId, _command: u16) {}
    /// Called when an arrival was sent `lag` after its intended start, although a client was idle.
    fn send_lag(&mut self, _lag: Nanos) {}
    /// Called when an arrival was sent `wait` after its intended start, because all clients were busy.
    fn backlog_wait(&mut self, _wait: Nanos) {}
    /// Called when a connection was opened and logged in. The argument is the elapsed time.
    fn connected(&mut self, _took: Nanos) {}
    /// Called when a connection could not be opened.
    fn refused(&mut self, _code: Code) {}
    /// Called when the start of the window is known. The second argument is its end, or [`Nanos::MAX`] while the end
    /// depends on the clients.
    fn window(&mut self, _start: Nanos, _ends: Nanos) {}
    /// Called once per second of the window.
    fn tick(&mut self, _now: Nanos) {}
    /// Called before a client uses this sequence number in a key. The client waits until the call returns. The call may
    /// block for a long time.
    fn reserve(&mut self, _client: ClientId, _sequence: u64) {}
    /// Called when a write with a key has ended, before [`Recorder::record`] for its transaction. `server` is the
    /// identity that the script stored.
    fn write_completed(&mut self, _attempt: &WriteAttempt, _server: &[u8]) {}
}

/// Part of a transaction, for recorders that trace transactions. Texts are not encrypted, even if the session uses TLS.
#[derive(Debug)]
pub enum TraceEvent<'a> {
    /// Statement of command `command` is sent with these variables.
    Statement { command: u16, variables: &'a Variables },
    /// Columns of the rows that follow.
    Columns(Vec<&'a [u8]>),
    /// Row; `None` is NULL.
    Row(Vec<Option<&'a [u8]>>),
    /// Command tag of a completed statement, such as `INSERT 0 1`.
    Tag(&'a [u8]),
    /// Error or notice of the server, or the reason why a response was rejected.
    Message(&'a str),
    /// HTTP request.
    Request(&'a [u8]),
    /// HTTP response; `body` is its beginning, `length` the size of the whole body as received.
    Response { head: &'a [u8], body: &'a [u8], length: u64 },
    /// Command that succeeded after `elapsed`, and the client's variables afterwards.
    Finished { command: u16, elapsed: Nanos, variables: &'a Variables },
}

impl Recorder for Vec<Record> {
    fn record(&mut self, record: &Record) {
        self.push(*record);
    }
}

/// Recorder that counts into an [`Interval`], and replaces it with an empty interval at every tick.
#[derive(Debug)]
pub struct IntervalRecorder {
    interval: Box<Interval>,
    /// Number of successful transactions within the window, by client of this thread.
    clients: Vec<u64>,
    first: u32,
    /// Latency limit above which response times are counted.
    limit: Nanos,
    /// End of the window.
    end: Nanos,
    filled: SyncSender<Box<Interval>>,
    empty: Receiver<Box<Interval>>,
    log: Option<TransactionLog>,
    /// Producer for writes with keys; `None` without a ledger.
    ledger: Option<LedgerProducer>,
}

/// Log of every record, sent in batches to a writer on another thread.
#[derive(Debug)]
pub struct TransactionLog {
    batch: Vec<Record>,
    full_batches: SyncSender<Vec<Record>>,
    empty_batches: Receiver<Vec<Record>>,
}

impl IntervalRecorder {
    /// Creates a recorder for clients `first..first + clients`.
    ///
    /// Response times above `limit` are counted. Full intervals go to `filled`; cleared intervals return through
    /// `empty`.
    pub fn new(
        (first, clients): (u32, u32),
        interval: Interval,
        limit: Nanos,
        filled: SyncSender<Box<Interval>>,
        empty: Receiver<Box<Interval>>,
        log: Option<TransactionLog>,
    ) -> IntervalRecorder {
        let clients = vec![0; clients as usize];
        IntervalRecorder {
            interval: Box::new(interval),
            clients,
            first,
            limit,
            end: Nanos::MAX,
            filled,
            empty,
            log,
            ledger: None,
        }
    }

    /// Sends the outcomes of writes with keys to a ledger.
    pub fn with_ledger(mut self, tap: LedgerProducer) -> IntervalRecorder {
        self.ledger = Some(tap);
        self
    }

    /// Counts of a command, if it is measured individually.
    #[inline]
    fn statement(&mut self, script: ScriptId, command: u16) -> Option<&mut CommandCounts> {
        self.interval.scripts.get_mut(usize::from(script.0))?.statements.get_mut(usize::from(command))
    }

    /// Last interval, and number of successful transactions by client.
    pub fn finish(mut self, now: Nanos) -> (Box<Interval>, Vec<u64>) {
        self.interval.to = now;
        if let Some(log) = &mut self.log {
            log.flush();
        }
        (self.interval, self.clients)
    }
}

impl Recorder for IntervalRecorder {
    #[inline]
    fn transaction_started(&mut self) {
        self.interval.started += 1;
    }

    #[inline]
    fn record(&mut self, record: &Record) {
        let Some(counts) = self.interval.scripts.get_mut(usize::from(record.script.0)) else { return };
        counts.record(record, self.limit, self.end);
        if record.outcome == Outcome::Ok {
            self.interval.record_success(record.finished);
        }
        if record.outcome == Outcome::Ok && record.finished <= self.end {
            self.clients[(record.client.0 - self.first) as usize] += 1;
        }
        if let Some(log) = &mut self.log {
            log.push(record);
        }
    }

    #[inline]
    fn statement_finished(&mut self, script: ScriptId, command: u16, sample: &RequestSample) {
        if let Some(statement) = self.statement(script, command) {
            statement.record(sample);
        }
    }

    #[inline]
    fn response_received(&mut self, script: ScriptId, command: u16, bytes: u64) {
        self.interval.record_answer((script.0, command), SizeUnit::Bytes, bytes);
    }

    #[inline]
    fn rows_counted(&mut self, script: ScriptId, command: u16, kind: StatementKind, rows: u64) {
        self.interval.record_answer((script.0, command), SizeUnit::Rows(kind), rows);
    }

    #[inline]
    fn replayed(&mut self, script: ScriptId, recorded: Answer, measured: Answer) {
        self.interval.record_replay(script.0, recorded, measured);
    }

    #[inline]
    fn statement_replayed(&mut self, script: ScriptId, recorded: StatementAnswer, measured: StatementAnswer) {
        self.interval.record_replayed_statement(script.0, recorded, measured);
    }

    fn statement_failed(&mut self, script: ScriptId, command: u16, outcome: Outcome, sample: &RequestSample) {
        if let Some(statement) = self.statement(script, command) {
            statement.record_failure(outcome, sample);
        }
    }

    fn statement_retried(&mut self, script: ScriptId, command: u16) {
        if let Some(statement) = self.statement(script, command) {
            statement.retries += 1;
        }
    }

    fn send_lag(&mut self, lag: Nanos) {
        self.interval.send_lag.record(lag);
    }

    fn backlog_wait(&mut self, wait: Nanos) {
        self.interval.backlog_wait.record(wait);
    }

    fn connected(&mut self, took: Nanos) {
        self.interval.connects.record(took);
    }

    fn refused(&mut self, code: Code) {
        self.interval.refused.count(code);
    }

    fn window(&mut self, start: Nanos, ends: Nanos) {
        self.interval.from = start;
        self.end = ends;
        if let Some(tap) = &mut self.ledger {
            tap.prepare();
        }
    }

    #[inline]
    fn reserve(&mut self, client: ClientId, sequence: u64) {
        if let Some(tap) = &mut self.ledger {
            tap.reserve(client, sequence);
        }
    }

    #[inline]
    fn write_completed(&mut self, attempt: &WriteAttempt, server: &[u8]) {
        if let Some(tap) = &mut self.ledger {
            tap.push_attempt(attempt, server);
        }
    }

    /// Sends the interval that ends at `now`. If the reader is behind, the interval continues until the next tick.
    fn tick(&mut self, now: Nanos) {
        let Ok(next) = self.empty.try_recv() else { return };
        self.interval.to = now;
        let full = std::mem::replace(&mut self.interval, next);
        self.interval.from = now;
        if let Err(TrySendError::Full(returned) | TrySendError::Disconnected(returned)) =
            self.filled.try_send(full)
        {
            self.interval = returned;
        }
    }
}

impl TransactionLog {
    /// Number of records per batch.
    pub const BATCH_SIZE: usize = 4096;

    pub fn new(filled: SyncSender<Vec<Record>>, empty: Receiver<Vec<Record>>) -> TransactionLog {
        TransactionLog {
            batch: Vec::with_capacity(TransactionLog::BATCH_SIZE),
            full_batches: filled,
            empty_batches: empty,
        }
    }

    fn push(&mut self, record: &Record) {
        self.batch.push(*record);
        if self.batch.len() == TransactionLog::BATCH_SIZE {
            self.flush();
        }
    }

    /// Sends the batch. If the writer is behind, waits for it. A gap in the log would be worse than a late generator,
    /// which is detected.
    fn flush(&mut self) {
        let next =
            self.empty_batches.try_recv().unwrap_or_else(|_| Vec::with_capacity(TransactionLog::BATCH_SIZE));
        // Ignore a writer that has stopped, because it has already reported its error.
        let _ = self.full_batches.send(std::mem::replace(&mut self.batch, next));
    }
}
