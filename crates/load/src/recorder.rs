//! Where do finished transactions go?

use crate::ledger::LedgerProducer;
use model::durability::WriteAttempt;
use model::{ClientId, Code, Interval, Nanos, Record, ScriptId};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError};

/// Told by a shard, on its own thread, what came of everything. Must not allocate or block.
pub trait Recorder {
    /// A client began a transaction.
    fn transaction_started(&mut self) {}
    /// Once for every arrival.
    fn record(&mut self, record: &Record);
    /// Command `command` of a script took this long.
    fn statement_finished(&mut self, _script: ScriptId, _command: u16, _service: Nanos) {}
    /// Command `command` was answered as expected, by a body of `bytes` bytes as received.
    fn response_received(&mut self, _script: ScriptId, _command: u16, _bytes: u64) {}
    /// Command `command` failed; `again` when its transaction is tried once more.
    fn statement_failed(&mut self, _script: ScriptId, _command: u16, _again: bool) {}
    /// An arrival was sent this long after its intended start, for which it had an idle client.
    fn send_lag(&mut self, _lag: Nanos) {}
    /// An arrival was sent this long after its intended start, because all clients were busy.
    fn backlog_wait(&mut self, _wait: Nanos) {}
    /// A connection was opened and logged in within this time.
    fn connected(&mut self, _took: Nanos) {}
    /// A connection could not be opened.
    fn refused(&mut self, _code: Code) {}
    /// The window lies between these moments; [`Nanos::MAX`] while its end depends on the clients.
    fn window(&mut self, _begins: Nanos, _ends: Nanos) {}
    /// Another second of the window is over.
    fn tick(&mut self, _now: Nanos) {}
    /// A client is about to use this sequence as a key: not before this returns, which may be late.
    fn reserve(&mut self, _client: ClientId, _sequence: u64) {}
    /// What came of a write with a key, before its record; `server`: what its script keeps of who that was.
    fn write_completed(&mut self, _attempt: &WriteAttempt, _server: &[u8]) {}
}

impl Recorder for Vec<Record> {
    fn record(&mut self, record: &Record) {
        self.push(*record);
    }
}

/// Counts into an [`Interval`], which is exchanged for an empty one at every tick.
#[derive(Debug)]
pub struct IntervalRecorder {
    interval: Box<Interval>,
    /// Transactions that ended well within the window, by client of this thread.
    clients: Vec<u64>,
    first: u32,
    /// Response times above it are counted.
    limit: Nanos,
    /// End of the window.
    end: Nanos,
    filled: SyncSender<Box<Interval>>,
    empty: Receiver<Box<Interval>>,
    log: Option<TransactionLog>,
    /// Where writes with keys are told.
    ledger: Option<LedgerProducer>,
}

/// Every record, in batches, for a writer on another thread.
#[derive(Debug)]
pub struct TransactionLog {
    batch: Vec<Record>,
    full_batches: SyncSender<Vec<Record>>,
    empty_batches: Receiver<Vec<Record>>,
}

impl IntervalRecorder {
    /// For clients `first..first + clients`; response times above `limit` are counted; full intervals go to `filled`, cleared ones come back by `empty`.
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

    /// Writes with keys go to a ledger.
    pub fn with_ledger(mut self, tap: LedgerProducer) -> IntervalRecorder {
        self.ledger = Some(tap);
        self
    }

    /// The last interval, and the transactions by client.
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
    fn record(&mut self, it: &Record) {
        self.interval.scripts[it.script.0 as usize].record(it, self.limit, self.end);
        if it.outcome == model::Outcome::Ok {
            self.interval.record_success(it.finished);
        }
        if it.outcome == model::Outcome::Ok && it.finished <= self.end {
            self.clients[(it.client.0 - self.first) as usize] += 1;
        }
        if let Some(log) = &mut self.log {
            log.push(it);
        }
    }

    fn statement_finished(&mut self, script: ScriptId, command: u16, service: Nanos) {
        if let Some(it) = self.interval.scripts[script.0 as usize].statements.get_mut(command as usize) {
            it.service.record(service);
        }
    }

    #[inline]
    fn response_received(&mut self, script: ScriptId, command: u16, bytes: u64) {
        self.interval.record_answer((script.0, command), bytes);
    }

    fn statement_failed(&mut self, script: ScriptId, command: u16, again: bool) {
        if let Some(it) = self.interval.scripts[script.0 as usize].statements.get_mut(command as usize) {
            *(if again { &mut it.retries } else { &mut it.failures }) += 1;
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

    fn window(&mut self, begins: Nanos, ends: Nanos) {
        self.interval.from = begins;
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

    /// Hands the interval over that ends `now`. Where the reader is behind, it grows until the next tick.
    fn tick(&mut self, now: Nanos) {
        let Ok(next) = self.empty.try_recv() else { return };
        self.interval.to = now;
        let full = std::mem::replace(&mut self.interval, next);
        self.interval.from = now;
        if let Err(TrySendError::Full(back) | TrySendError::Disconnected(back)) = self.filled.try_send(full) {
            self.interval = back;
        }
    }
}

impl TransactionLog {
    /// Records in one batch.
    pub const BATCH_SIZE: usize = 4096;

    pub fn new(filled: SyncSender<Vec<Record>>, empty: Receiver<Vec<Record>>) -> TransactionLog {
        TransactionLog {
            batch: Vec::with_capacity(TransactionLog::BATCH_SIZE),
            full_batches: filled,
            empty_batches: empty,
        }
    }

    fn push(&mut self, it: &Record) {
        self.batch.push(*it);
        if self.batch.len() == TransactionLog::BATCH_SIZE {
            self.flush();
        }
    }

    /// Waits for the writer where it is behind: a log with holes would be worse than a late generator, which is noticed.
    fn flush(&mut self) {
        let next =
            self.empty_batches.try_recv().unwrap_or_else(|_| Vec::with_capacity(TransactionLog::BATCH_SIZE));
        // A writer that is gone has told its error itself.
        let _ = self.full_batches.send(std::mem::replace(&mut self.batch, next));
    }
}
