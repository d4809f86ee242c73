//! How do clients come by their connections?

use super::client::{State, todo};
use super::{ConnId, Said, Shard, channel};
use crate::recorder::Recorder;
use model::{Code, Nanos, Outcome};

/// The first pause before another attempt, doubled with each up to the second.
const PAUSE: (Nanos, Nanos) = (Nanos::from_millis(10), Nanos::from_secs(1));

/// How often log-ins and transactions are looked over for those that take too long, at least.
const SWEEP: Nanos = Nanos::from_millis(100);

impl<R: Recorder> Shard<R> {
    /// Begins as many log-ins as there are places.
    pub(super) fn connect_more(&mut self, now: Nanos) {
        while self.connecting < self.connecting_max {
            let Some(i) = self.offline.pop_front() else { break };
            if self.clients[i as usize].state == State::Offline {
                self.connect(now, i);
            }
        }
        if !self.waiting.is_empty() {
            self.dial_more(now);
        }
        if self.sweeps() && now >= self.sweep {
            self.sweep(now);
        }
    }

    /// Whether anything may take too long.
    pub(super) fn sweeps(&self) -> bool {
        self.connecting > 0 || (self.begun && self.patience < Nanos::MAX)
    }

    /// Gives up log-ins and transactions that take too long.
    fn sweep(&mut self, now: Nanos) {
        let plan = &self.work.plan;
        let (logs_in_within, answers_within) = (plan.connect_timeout, plan.timeout.unwrap_or(Nanos::MAX));
        self.sweep = now + SWEEP.min(Nanos(self.patience.0 / 10));
        self.sweep_webs(now);
        for i in 0..self.clients.len() as u32 {
            let client = &self.clients[i as usize];
            let logs_in = matches!(client.state, State::Connecting | State::LoggingIn);
            let late = client.tx.is_some_and(|it| now - it.started > answers_within);
            if let Some(w) = self.called(i).filter(|_| late) {
                self.web_lost(now, w, Code::TIMED_OUT, "timeout expired");
            } else if late || (logs_in && now - client.connecting_since > logs_in_within) {
                self.broken(now, ConnId(i), Code::TIMED_OUT, "timeout expired");
            }
        }
    }

    pub(super) fn connect(&mut self, now: Nanos, i: u32) {
        let client = &mut self.clients[i as usize];
        client.state = State::Connecting;
        client.connecting_since = now;
        client.linked = true;
        self.connecting += 1;
        self.demand(i, todo::CONNECT);
    }

    /// The transport is open.
    pub fn connected(&mut self, now: Nanos, conn: ConnId) {
        if let Some(w) = self.web_number(conn) {
            return self.web_connected(now, w);
        }
        let client = &mut self.clients[conn.0 as usize];
        if client.state != State::Connecting {
            return;
        }
        client.channel = channel(&self.work, &mut self.other);
        client.prepared.fill(false);
        client.parsing.clear();
        client.state = State::LoggingIn;
        match client.attempt.take() {
            Some(attempt) => client.channel.open_with(attempt),
            None => client.channel.open(),
        }
        self.demand(conn.0, todo::TRANSMIT);
    }

    /// The server accepted the log-in.
    pub(super) fn opened(&mut self, now: Nanos, i: u32) {
        self.connecting -= 1;
        let client = &mut self.clients[i as usize];
        client.refusals = 0;
        client.last_words = None;
        self.recorder.connected(now - client.connecting_since);
        if client.tx.is_some() {
            self.run(now, i);
        } else {
            self.settle(i);
            self.become_idle(now, i);
        }
    }

    /// The other side has closed the transport.
    pub fn closed(&mut self, now: Nanos, conn: ConnId) {
        match self.web_number(conn) {
            Some(w) => self.web_closed(now, w),
            None => self.broken(now, conn, Code::RESET, "server closed the connection unexpectedly"),
        }
    }

    /// The transport broke, or could not be opened: `code` and `words` are the system's.
    pub fn broken(&mut self, now: Nanos, conn: ConnId, code: Code, words: &str) {
        if let Some(w) = self.web_number(conn) {
            return self.web_broken(now, w, code, words);
        }
        let i = conn.0;
        let client = &mut self.clients[i as usize];
        if client.is_over() || !client.linked {
            return;
        }
        let said = client.words.take();
        let code = client.last_words.take().unwrap_or(code);
        let logging_in = matches!(client.state, State::Connecting | State::LoggingIn);
        let attempt = if client.state == State::LoggingIn { client.channel.second_attempt() } else { None };
        self.unlink(i);
        self.hang_up_webs(i, false);
        if logging_in {
            self.connecting -= 1;
            if attempt.is_some() {
                self.clients[i as usize].attempt = attempt;
                return self.connect(now, i);
            }
            self.recorder.refused(code);
            let client = self.id(i);
            self.say_once(code, |_| Said::Refused {
                client,
                code,
                message: said.map_or(words.to_owned(), Into::into),
            });
            self.settle(i);
        }
        let client = &mut self.clients[i as usize];
        client.refusals += 1;
        client.state = State::Offline;
        if let Some(tx) = &mut client.tx {
            // In a pipeline, what follows a failure may have been done all the same.
            tx.settled |= tx.error.is_some() && tx.awaited > 0;
            let outcome = match tx.error {
                Some(error) => Outcome::Failed(error),
                None if tx.spoke => Outcome::Unknown(code),
                None => Outcome::Failed(code),
            };
            self.end_transaction(now, i, outcome);
        }
        if self.wound_up {
            return self.finish_client(i);
        }
        if self.clients[i as usize].leaving {
            return self.depart(i);
        }
        let pause = self.pause(i);
        let client = &mut self.clients[i as usize];
        if self.work.plan.reconnect {
            // It connects for its next transaction. In a closed model a server that is down is not to be asked without a
            // pause; in an open one arrivals are the pause.
            client.state = State::Thinking;
            if !self.closed {
                return self.become_idle(now, i);
            }
        }
        self.wake_at(now + pause, i);
    }

    /// Before the next attempt of a client that was refused.
    pub(super) fn pause(&mut self, i: u32) -> Nanos {
        let doublings = (self.clients[i as usize].refusals - 1).min(10);
        let pause = PAUSE.0.0.saturating_mul(1 << doublings).min(PAUSE.1.0);
        // Half of it by chance, so that many clients do not come back at once.
        Nanos(pause / 2 + self.other.u64() % (pause / 2 + 1))
    }

    /// Forgets the connection and has the driver close it.
    fn unlink(&mut self, i: u32) {
        let client = &mut self.clients[i as usize];
        client.linked = false;
        client.todo &= !(todo::TRANSMIT | todo::CONNECT);
        self.demand(i, todo::CLOSE);
    }

    /// Ends the session in the orderly way, and closes the connections to services.
    pub(super) fn hang_up(&mut self, i: u32) {
        self.hang_up_webs(i, true);
        let client = &mut self.clients[i as usize];
        if client.linked {
            let logging_in = matches!(client.state, State::Connecting | State::LoggingIn);
            self.connecting -= u32::from(logging_in);
            client.linked = false;
            client.todo &= !todo::CONNECT;
            if !logging_in {
                client.channel.request(|out| out.extend_from_slice(&wire::pg::terminate()));
                self.demand(i, todo::TRANSMIT);
            }
            self.demand(i, todo::CLOSE);
        }
    }

    /// Client `i` has been connected or refused once.
    pub(super) fn settle(&mut self, i: u32) {
        let client = &mut self.clients[i as usize];
        self.unsettled -= u32::from(!client.settled);
        client.settled = true;
    }

    pub(super) fn finish_client(&mut self, i: u32) {
        self.leave(i, State::Finished);
    }

    /// Client `i` does no more, for one reason or the other.
    pub(super) fn leave(&mut self, i: u32, state: State) {
        if !self.clients[i as usize].is_over() {
            self.hang_up(i);
            self.settle(i);
            self.clients[i as usize].state = state;
            self.active -= 1;
        }
    }

    /// Tells it if it is the first with this code, or if the plan is verbose.
    pub(super) fn say_once(&mut self, code: Code, said: impl FnOnce(&Self) -> Said) {
        let known = self.told.contains(&code);
        if !known && self.told.len() < self.told.capacity() {
            self.told.push(code);
        }
        if !known || self.work.plan.verbose {
            let said = said(self);
            self.said.push_back(said);
        }
    }
}
