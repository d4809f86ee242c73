//! Replay of recorded sessions

use super::arrivals::ARRIVALS_PER_ROUND;
use super::client::{ClientState, Transaction, todo};
use super::{LoadEvent, Shard};
use crate::recorder::Recorder;
use crate::replay::{Replay, ReplayRequest, ReplaySession, messages, statement_name};
use crate::workload::Workload;
use model::{ClientId, Code, Nanos, Outcome, Record, StatementAnswer};
use wire::pg::{Reply, TransactionStatus};

/// Positions of a thread's clients in their sessions.
#[derive(Debug)]
pub(super) struct ReplayState {
    positions: Vec<ReplayPosition>,
    failed_parses: Vec<FailedParse>,
    /// Number of requests that were not sent yet, of all clients.
    pub left: u64,
    /// First client that may have requests to drop.
    dropping: usize,
}

/// Position of a client.
#[derive(Clone, Copy, Debug)]
struct ReplayPosition {
    /// Index of the current session among the client's sessions.
    session: usize,
    /// Number of the next request, and of the request after the session's last one.
    next: u64,
    end: u64,
    /// True if the client waited for the time of its next request, rather than for the server.
    waited: bool,
    /// True if the current transaction has failed, as in the recording.
    failed_as_recorded: bool,
}

/// Parse of a named statement that failed. It is sent again before the next Bind of the statement, which would otherwise
/// fail too, and so would all later ones.
#[derive(Debug)]
struct FailedParse {
    client: u32,
    message: Box<[u8]>,
    /// True while the client's current request sends it again.
    sent: bool,
}

impl ReplayState {
    /// State of clients `first..first + count` before the window; `None` if the load is no replay.
    pub fn new(work: &Workload, (first, count): (u32, u32)) -> Option<ReplayState> {
        let replay = work.replay.as_ref()?;
        let clients = &replay.clients[first as usize..(first + count) as usize];
        let positions = clients.iter().map(|sessions| ReplayPosition::new(0, sessions)).collect();
        Some(ReplayState {
            positions,
            failed_parses: Vec::new(),
            left: replay.requests((first, count)),
            dropping: 0,
        })
    }

    /// Failed Parses of client `i` that must precede these messages, which bind their statements. They remain until
    /// [`ReplayState::settle_parses`].
    #[cold]
    fn parses_before(&mut self, i: u32, request: &[u8]) -> Vec<Box<[u8]>> {
        let mut parses = Vec::new();
        for (kind, message) in messages(request).filter(|it| matches!(it.0, b'P' | b'B')) {
            let name = statement_name(kind, message);
            let is_same = |it: &FailedParse| it.client == i && statement_name(b'P', &it.message) == name;
            if kind == b'P' {
                // The request itself prepares the statement again.
                self.failed_parses.retain(|it| !is_same(it));
            } else if let Some(parse) = self.failed_parses.iter_mut().find(|it| is_same(it) && !it.sent) {
                parse.sent = true;
                parses.push(parse.message.clone());
            }
        }
        parses
    }

    /// Removes the Parses that client `i` has sent again, if they succeeded. Returns their number.
    #[cold]
    fn settle_parses(&mut self, i: u32, has_succeeded: bool) -> u16 {
        let count = self.failed_parses.len();
        if has_succeeded {
            self.failed_parses.retain(|it| it.client != i || !it.sent);
        }
        let mut sent = count - self.failed_parses.len();
        for parse in self.failed_parses.iter_mut().filter(|it| it.client == i) {
            sent += usize::from(std::mem::take(&mut parse.sent));
        }
        sent as u16
    }

    /// Forgets the failed Parses of client `i`, whose session has ended, so that there are never many.
    fn forget_parses(&mut self, i: u32) {
        self.failed_parses.retain(|it| it.client != i);
    }
}

impl ReplayPosition {
    fn new(session: usize, sessions: &[ReplaySession]) -> ReplayPosition {
        let (next, end) = sessions.get(session).map_or((0, 0), |it| (it.first, it.end));
        ReplayPosition { session, next, end, waited: false, failed_as_recorded: false }
    }
}

impl<R: Recorder> Shard<R> {
    pub(super) fn is_replay(&self) -> bool {
        self.replay.is_some()
    }

    fn replay_of(&self) -> &Replay {
        self.work.replay.as_ref().expect("the load is a replay")
    }

    fn position(&mut self, i: u32) -> &mut ReplayPosition {
        &mut self.replay.as_mut().expect("the load is a replay").positions[i as usize]
    }

    /// Makes all clients continue at the start of the window.
    pub(super) fn start_replay(&mut self) {
        for i in 0..self.clients.len() as u32 {
            let state = self.clients[i as usize].state;
            if matches!(state, ClientState::Idle | ClientState::Absent) {
                self.position(i).waited = state == ClientState::Idle;
                self.runnable.push_back(i);
            }
        }
    }

    /// Continues client `i`, which has no request in flight: sends its next request, or waits until it is due.
    pub(super) fn replay_next(&mut self, now: Nanos, i: u32) {
        let ReplayPosition { session: number, next, end, .. } = *self.position(i);
        let first = self.first;
        let Some(&session) = self.replay_of().clients[(first + i) as usize].get(number) else {
            return self.finish_client(i);
        };
        if self.drain_over {
            return self.finish_client(i);
        }
        let is_connected = self.clients[i as usize].state != ClientState::Absent;
        if !is_connected {
            let at = self.window_start + session.connect;
            if at > now {
                return self.wake_at(at, i);
            }
            self.clients[i as usize].state = ClientState::Offline;
            self.connect_queue.push_back(i);
            return self.connect_more(now);
        }
        if next < end {
            let at = self.window_start + self.replay_of().source.request(next).at;
            return if at > now { self.replay_wait(at, i) } else { self.replay_request(now, i) };
        }
        let at = self.window_start + session.disconnect;
        if at > now {
            return self.replay_wait(at, i);
        }
        self.close_connections(i);
        let client = &mut self.clients[i as usize];
        client.state = ClientState::Absent;
        client.backing_off = false;
        client.session.refusals = 0;
        if let Some(state) = &mut self.replay {
            state.forget_parses(i);
        }
        let position = ReplayPosition::new(number + 1, &self.replay_of().clients[(first + i) as usize]);
        *self.position(i) = position;
        // Another client may be due, so this client continues in a later round.
        self.runnable.push_back(i);
    }

    fn replay_wait(&mut self, at: Nanos, i: u32) {
        self.position(i).waited = true;
        self.clients[i as usize].state = ClientState::Thinking;
        self.wake_at(at, i);
    }

    /// Sends the next request of client `i`.
    fn replay_request(&mut self, now: Nanos, i: u32) {
        let Shard { work, clients, recorder, replay: Some(state), .. } = self else { return };
        let position = &mut state.positions[i as usize];
        let source = &work.replay.as_ref().expect("the load is a replay").source;
        let request = source.request(position.next);
        let intended = self.window_start + request.at;
        state.left -= 1;
        position.next += 1;
        match std::mem::take(&mut position.waited) {
            true => recorder.send_lag(now - intended),
            false => recorder.backlog_wait(now - intended),
        }
        recorder.transaction_started();
        let client = &mut clients[i as usize];
        client.transactions_started += 1;
        client.transaction_start = now;
        let mut sent = 0;
        if !state.failed_parses.is_empty() {
            for message in state.parses_before(i, request.messages) {
                sent += client.session.request(|out| out.extend_from_slice(&message));
            }
        }
        sent += client.session.request(|out| out.extend_from_slice(request.messages));
        client.session.received = 0;
        let transaction = Transaction::new(request.script.0, intended, now, client.rng);
        client.tx = Some(Transaction { sent, sent_request: true, pending_ready: 1, ..transaction });
        client.state = ClientState::AwaitingReady;
        self.request_action(self.conn(i), todo::TRANSMIT);
    }

    /// Compares the result of client `i`'s request with the recorded result, and continues with the next request.
    pub(super) fn replay_finished(&mut self, now: Nanos, i: u32, reply: &Reply) {
        let number = self.position(i).next - 1;
        let ReplayRequest { script, recorded, commits, .. } = self.replay_of().source.request(number);
        let id = self.client_id(i);
        let client = &mut self.clients[i as usize];
        let tx = client.tx.as_mut().expect("a request was in flight");
        let state = self.replay.as_mut().expect("the load is a replay");
        let again = match state.failed_parses.is_empty() {
            true => 0,
            false => state.settle_parses(i, reply.parsed > 0),
        };
        let position = &mut state.positions[i as usize];
        if commits && reply.rolled_back && tx.error.is_none() && !position.failed_as_recorded {
            tx.error = Some(Code::SqlState(*b"40000"));
        }
        position.failed_as_recorded |= tx.error.is_some() && recorded.has_same_error(tx.error);
        position.failed_as_recorded &= tx.status != TransactionStatus::Idle;
        let tx = *tx;
        if tx.error.is_some() {
            self.keep_failed_parses(i, number, reply.parsed.saturating_sub(again));
        }
        let client = &mut self.clients[i as usize];
        let rows = reply.row_count.filter(|_| tx.error.is_none());
        let measured = StatementAnswer { error: tx.error, rows: rows.map(|it| it.rows) };
        self.recorder.statement_replayed(script, recorded, measured);
        if let Some(count) = rows {
            let kind = self.work.statement_kind(tx.script, count.command);
            self.recorder.rows_counted(script, 0, kind, count.rows);
        }
        let text = client.error_text.take();
        // A request that failed in the recording is expected to fail.
        let failure = tx.error.filter(|code| !recorded.has_same_error(Some(*code)));
        if let Some(code) = failure {
            self.report_once((Some((tx.script, 0)), code), |_| LoadEvent::Failed {
                client: id,
                script,
                command: 0,
                code,
                message: text.unwrap_or_default().into(),
                body: Vec::new(),
                again: false,
            });
        }
        self.end_transaction(now, i, failure.map_or(Outcome::Ok, Outcome::Failed));
        self.next_transaction(now, i, true);
    }

    /// Keeps the Parses of named statements in client `i`'s request that failed: all but the first `parsed`.
    #[cold]
    fn keep_failed_parses(&mut self, i: u32, number: u64, parsed: u16) {
        let Shard { work, replay: Some(state), .. } = self else { return };
        let source = &work.replay.as_ref().expect("the load is a replay").source;
        let all = messages(source.request(number).messages);
        let failed = all.filter(|it| it.0 == b'P').skip(parsed.into());
        let named = failed.filter(|(kind, message)| !statement_name(*kind, message).is_empty());
        let keep =
            |(_, message): (u8, &[u8])| FailedParse { client: i, message: message.into(), sent: false };
        state.failed_parses.extend(named.map(keep));
    }

    /// Number of requests that were not sent.
    pub(super) fn replay_left(&self) -> u64 {
        self.replay.as_ref().map_or(0, |it| it.left)
    }

    /// Records requests that are never sent as dropped.
    pub(super) fn drop_replay(&mut self, now: Nanos) {
        let Some(state) = &mut self.replay else { return };
        let replay = self.work.replay.as_ref().expect("the load is a replay");
        let mut dropped = 0;
        while dropped < ARRIVALS_PER_ROUND
            && let Some(position) = state.positions.get_mut(state.dropping)
        {
            if position.next == position.end {
                let sessions = &replay.clients[self.first as usize + state.dropping];
                if position.session + 1 < sessions.len() {
                    *position = ReplayPosition::new(position.session + 1, sessions);
                } else {
                    state.dropping += 1;
                }
                continue;
            }
            let request = replay.source.request(position.next);
            position.next += 1;
            state.left -= 1;
            dropped += 1;
            self.recorder.record(&Record {
                script: request.script,
                client: ClientId(self.first),
                outcome: Outcome::Dropped,
                intended: self.window_start + request.at,
                started: now,
                finished: now,
                tries: 0,
            });
        }
    }
}
