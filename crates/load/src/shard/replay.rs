//! Replay of recorded sessions

use super::Shard;
use super::arrivals::ARRIVALS_PER_ROUND;
use super::client::{ClientState, Transaction};
use crate::recorder::Recorder;
use crate::replay::{Replay, ReplaySession};
use crate::workload::Workload;
use model::{ClientId, Nanos, Outcome, Record};
use wire::pg::Reply;

/// Positions of a thread's clients in their sessions.
#[derive(Debug)]
pub(super) struct ReplayState {
    positions: Vec<ReplayPosition>,
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
}

impl ReplayState {
    /// State of clients `first..first + count` before the window; `None` if the load is no replay.
    pub fn new(work: &Workload, (first, count): (u32, u32)) -> Option<ReplayState> {
        let replay = work.replay.as_ref()?;
        let clients = &replay.clients[first as usize..(first + count) as usize];
        let positions = clients.iter().map(|sessions| ReplayPosition::new(0, sessions)).collect();
        Some(ReplayState { positions, left: replay.requests((first, count)), dropping: 0 })
    }
}

impl ReplayPosition {
    fn new(session: usize, sessions: &[ReplaySession]) -> ReplayPosition {
        let (next, end) = sessions.get(session).map_or((0, 0), |it| (it.first, it.end));
        ReplayPosition { session, next, end, waited: false }
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
        if let Some(requests) = &mut self.recorded {
            requests.end_session(i);
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
        client.tx = Some(Transaction::new(request.script.0, intended, now, client.rng));
        let number = position.next - 1;
        self.send_recorded(i, number);
    }

    /// Ends client `i`'s request, and continues with the next request.
    pub(super) fn replay_finished(&mut self, now: Nanos, i: u32, reply: &Reply) {
        let failure = self.compare_recorded(i, reply);
        let tx = self.clients[i as usize].tx.as_mut().expect("a request was in flight");
        tx.error = failure;
        self.end_transaction(now, i, failure.map_or(Outcome::Ok, Outcome::Failed));
        self.next_transaction(now, i, true);
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
