//! Transactions of a recorded mix

use super::Shard;
use super::client::ClientState;
use crate::recorded_mix::{MixSession, RecordedMix, SessionQueue};
use crate::recorder::Recorder;
use crate::workload::Workload;
use model::{Code, Nanos, Outcome, ScriptId};
use wire::pg::{Reply, TransactionStatus};

/// SQLSTATE `active_sql_transaction`, recorded for a transaction that did not end as in the recording.
const ACTIVE_TRANSACTION: Code = Code::SqlState(*b"25001");

/// Positions of a thread's clients in their sessions.
#[derive(Debug)]
pub(super) struct MixState {
    positions: Vec<MixPosition>,
    queue: SessionQueue,
    /// Number of the thread's first client.
    first: u32,
}

/// Position of a client.
#[derive(Clone, Copy, Debug, Default)]
struct MixPosition {
    /// Number of the session; `None` before the first one.
    session: Option<usize>,
    /// Number of transactions of the session that have begun.
    begun: u64,
    /// Next transaction of the session; `end` is the one after its last transaction.
    next: usize,
    end: usize,
    /// Next request of the session, and the one after the current transaction's last request.
    request: u64,
    transaction_end: u64,
    /// First error of the current transaction that is not in the recording. It is already counted for its step.
    failure: Option<Code>,
}

impl MixState {
    /// State of clients `first..first + count` before their first sessions.
    pub fn new(mix: &RecordedMix, part: (u16, u16), (first, count): (u32, u32)) -> MixState {
        let positions = vec![MixPosition::default(); count as usize];
        MixState { positions, queue: SessionQueue::new(mix, part), first }
    }

    /// Begins the next transaction of client `i`'s session. Returns its script.
    pub fn begin_transaction(&mut self, work: &Workload, i: u32) -> ScriptId {
        let mix = work.mix.as_ref().expect("the load is a recorded mix");
        let position = &mut self.positions[i as usize];
        let session = position.session.expect("an idle client has a session");
        assert!(position.next < position.end, "the session of an idle client has a next transaction");
        let transaction = mix.transaction(position.next);
        self.queue.execute(session, position.begun);
        position.next += 1;
        position.begun += 1;
        position.transaction_end = position.request + u64::from(transaction.requests);
        position.failure = None;
        transaction.script
    }
}

impl<R: Recorder> Shard<R> {
    /// Begins a session of the recorded mix, because client `i` has opened a connection. A session whose connection broke
    /// begins again.
    pub(super) fn begin_recorded_session(&mut self, i: u32) {
        let Some(MixState { positions, queue, first }) = &mut self.mix else { return };
        let mix = self.work.mix.as_ref().expect("the load is a recorded mix");
        let position = &mut positions[i as usize];
        let session = match position.session {
            None => mix.first_session(*first + i, self.work.plan().clients),
            Some(_) if position.next == position.end => queue.next(mix),
            Some(session) => session,
        };
        queue.begin(mix, session);
        let MixSession { request, first, end } = mix.session(session);
        *position =
            MixPosition { session: Some(session), next: first, end, request, ..MixPosition::default() };
        if let Some(requests) = &mut self.recorded {
            requests.end_session(i);
        }
    }

    /// True if the failure of client `i`'s transaction is counted for its step.
    pub(super) fn has_counted_failure(&self, i: u32) -> bool {
        self.mix.as_ref().is_some_and(|it| it.positions[i as usize].failure.is_some())
    }

    /// Sends the next request of client `i`'s transaction.
    pub(super) fn run_recorded(&mut self, now: Nanos, i: u32) {
        let Some(state) = &mut self.mix else { return };
        let position = &mut state.positions[i as usize];
        let number = position.request;
        position.request += 1;
        let tx = self.clients[i as usize].tx.as_mut().expect("a running client has a transaction");
        tx.command_started = now;
        self.send_recorded(i, number);
    }

    /// Continues after the result of client `i`'s request: with the next request of its transaction, after the recorded
    /// pause, or with the end of the transaction.
    pub(super) fn recorded_finished(&mut self, now: Nanos, i: u32, reply: &Reply) {
        let failure = self.compare_recorded(i, reply);
        let Some(state) = &mut self.mix else { return };
        let position = &mut state.positions[i as usize];
        let is_first_failure = position.failure.is_none();
        let failed = failure.filter(|_| is_first_failure);
        position.failure = position.failure.or(failed);
        let position = *position;
        match failed {
            Some(code) => self.record_failure(now, i, Outcome::Failed(code)),
            None if failure.is_none() => {
                let sample = self.request_sample(now, i);
                let tx = self.clients[i as usize].tx.as_ref().expect("a request was in flight");
                self.recorder.statement_finished(ScriptId(tx.script), tx.command, &sample);
            }
            // The transaction has failed before, and so do its statements until its end.
            None => {}
        }
        let tx = self.clients[i as usize].tx.as_mut().expect("a request was in flight");
        tx.error = position.failure;
        if position.request < position.transaction_end {
            // Kinds without steps have no commands.
            tx.command += u16::from(!self.work.script(tx.script).commands.is_empty());
            let pause = self.work.recorded_source().pause_before(position.request);
            if pause == Nanos::ZERO {
                return self.run_recorded(now, i);
            }
            if self.is_draining {
                return self.discard_transaction(now, i);
            }
            tx.paused += pause;
            self.clients[i as usize].state = ClientState::Pausing;
            return self.wake_at(now + pause, i);
        }
        if tx.status != TransactionStatus::Idle {
            // The transaction ended in the recording. Its client would otherwise begin the next one within it.
            tx.error = Some(position.failure.unwrap_or(ACTIVE_TRANSACTION));
            return self.roll_back(i);
        }
        let script = tx.script;
        if position.failure.is_none() {
            self.succeeded[usize::from(script)] = true;
        }
        self.end_transaction(now, i, position.failure.map_or(Outcome::Ok, Outcome::Failed));
        self.next_transaction(now, i, true);
    }

    /// Reconnects client `i` for its next session if its session has ended. Returns true if it has.
    pub(super) fn end_recorded_session(&mut self, now: Nanos, i: u32) -> bool {
        let position = self.mix.as_ref().map(|it| it.positions[i as usize]);
        if position.is_none_or(|it| it.next < it.end) {
            return false;
        }
        if self.is_draining {
            self.finish_client(i);
            return true;
        }
        self.close_connections(i);
        self.clients[i as usize].state = ClientState::Offline;
        self.connect_queue.push_back(i);
        self.connect_more(now);
        true
    }
}
