//! How do clients come by their connections?

use super::client::{Client, State, todo};
use super::door::channel;
use super::{ConnId, Said, Shard};
use crate::recorder::Recorder;
use model::{Code, Nanos, Outcome};

/// The first pause before another attempt of a client, doubled with each.
const PAUSE: Nanos = Nanos::from_millis(10);
/// It grows until the clients of a thread make about a hundred attempts per second together, but stays between these: an outage
/// is seen to end within a tenth of a second, and many clients do not disturb who is about to end it.
const PAUSE_EACH: Nanos = Nanos::from_millis(10);
const PAUSE_MAX: (Nanos, Nanos) = (Nanos::from_millis(100), Nanos::from_secs(1));

/// `cannot_connect_now`, as of one who must wait until there is another server.
const NOT_YET: Code = Code::SqlState(*b"57P03");
/// How often log-ins and transactions are looked over for those that take too long, at least.
const SWEEP: Nanos = Nanos::from_millis(100);

/// Why a session is of no more use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// Its transport broke.
    Broken,
    /// What was asked is given up; the server may still be about it.
    Late,
    /// The server's bytes make no sense.
    Garbled,
}

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
        self.connecting > 0 || self.endings > 0 || (self.begun && self.patience < Nanos::MAX)
    }

    /// Gives up log-ins and transactions that take too long.
    fn sweep(&mut self, now: Nanos) {
        let plan = &self.work.plan;
        let (logs_in_within, answers_within) = (plan.connect_timeout, plan.timeout.unwrap_or(Nanos::MAX));
        self.sweep = now + SWEEP.min(Nanos(self.patience.0 / 10));
        self.sweep_webs(now);
        if self.endings > 0 {
            self.sweep_endings(now);
        }
        for i in 0..self.clients.len() as u32 {
            let client = &self.clients[i as usize];
            let logs_in = matches!(client.state, State::Connecting | State::LoggingIn);
            let late = client.tx.is_some_and(|it| now - it.started > answers_within);
            if let Some(w) = self.called(i).filter(|_| late) {
                self.web_lost(now, w, Code::TIMED_OUT, "timeout expired");
            } else if late && client.state == State::Ending {
                // It did not come to ask anything.
                self.end_transaction(now, i, Outcome::Failed(Code::TIMED_OUT));
                self.go_offline(now, i);
            } else if late || (logs_in && now - client.session.connecting_since > logs_in_within) {
                self.lost(now, i, Code::TIMED_OUT, "timeout expired", Loss::Late);
            }
        }
    }

    pub(super) fn connect(&mut self, now: Nanos, i: u32) {
        let client = &mut self.clients[i as usize];
        if client.session.ending.is_some() {
            client.state = State::Ending;
            return;
        }
        client.state = State::Connecting;
        client.session.connecting_since = now;
        client.session.linked = true;
        self.connecting += 1;
        self.demand(self.conn(i), todo::CONNECT);
    }

    /// The transport is open.
    pub fn connected(&mut self, now: Nanos, conn: ConnId) {
        if let Some(w) = self.web_number(conn) {
            return match w.checked_sub(self.webs.len()) {
                Some(i) => self.cancel_connected(i),
                None => self.web_connected(now, w),
            };
        }
        let i = self.client_of(conn);
        let Client { session, door, state, .. } = &mut self.clients[i as usize];
        if *state != State::Connecting {
            return;
        }
        *state = State::LoggingIn;
        session.channel = channel(&self.work, *door, &mut self.other);
        session.prepared.fill(false);
        session.parsing.clear();
        match session.attempt.take() {
            Some(attempt) => session.channel.open_with(attempt),
            None => session.channel.open(),
        }
        self.demand(conn, todo::TRANSMIT);
    }

    /// The server accepted the log-in.
    pub(super) fn opened(&mut self, now: Nanos, i: u32) {
        if !self.is_wanted(i) {
            return self.broken(now, self.conn(i), NOT_YET, "the server is not of the role that is wanted");
        }
        self.connecting -= 1;
        let client = &mut self.clients[i as usize];
        (client.session.refusals, client.session.tried) = (0, 0);
        client.session.last_words = None;
        self.recorder.connected(now - client.session.connecting_since);
        self.let_in(now);
        let client = &mut self.clients[i as usize];
        if client.tx.is_some() {
            // No longer logging in: the transaction may end the client before it asks anything.
            client.state = State::Idle;
            self.run(now, i);
        } else {
            self.settle(i);
            self.become_idle(now, i);
        }
    }

    /// The other side has closed the transport.
    pub fn closed(&mut self, now: Nanos, conn: ConnId) {
        match self.web_number(conn) {
            Some(w) if w < self.webs.len() => self.web_closed(now, w),
            _ => self.broken(now, conn, Code::RESET, "server closed the connection unexpectedly"),
        }
    }

    /// The transport broke, or could not be opened: `code` and `words` are the system's.
    pub fn broken(&mut self, now: Nanos, conn: ConnId, code: Code, words: &str) {
        if let Some(w) = self.web_number(conn) {
            return match w.checked_sub(self.webs.len()) {
                Some(i) => self.cancel_over(i),
                None => self.web_broken(now, w, code, words),
            };
        }
        if self.session(conn).ending.is_some() {
            return self.session_ended(now, conn);
        }
        match self.speaker(conn) {
            Some(i) => self.lost(now, i, code, words, Loss::Broken),
            None => self.unlink(conn),
        }
    }

    /// The session of client `i` is of no more use to it, and its transaction is over.
    pub(super) fn lost(&mut self, now: Nanos, i: u32, code: Code, words: &str, loss: Loss) {
        let conn = self.conn(i);
        let two_doors = self.has_two_doors();
        let client = &mut self.clients[i as usize];
        if client.is_over() || !client.session.linked {
            return;
        }
        let logging_in = matches!(client.state, State::Connecting | State::LoggingIn);
        if two_doors && client.tx.is_none() && !logging_in {
            // It opens it again when it needs it.
            return self.unlink(conn);
        }
        let said = client.words.take();
        let code = client.session.last_words.take().unwrap_or(code);
        let logged_in = client.state != State::LoggingIn;
        let attempt = if logged_in { None } else { client.session.channel.second_attempt() };
        let given_up = match loss {
            Loss::Broken => false,
            Loss::Late => true,
            Loss::Garbled => logged_in,
        };
        let ends = given_up && attempt.is_none() && self.end_session(now, i, loss == Loss::Garbled);
        if !ends {
            self.unlink(conn);
        }
        self.hang_up_webs(i, false);
        if logging_in {
            self.connecting -= 1;
            if attempt.is_some() {
                self.clients[i as usize].session.attempt = attempt;
                return self.connect(now, i);
            }
            if !self.wound_up && self.turn_to_next(i) {
                return self.connect(now, i);
            }
            self.turned_away(code);
            let client = self.id(i);
            self.say_once(code, |_| Said::Refused {
                client,
                code,
                message: said.map_or(words.to_owned(), Into::into),
            });
            self.settle(i);
        }
        let client = &mut self.clients[i as usize];
        client.session.refusals += 1;
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
        // Where there are two doors, it may go on by the other.
        let goes_on = two_doors && !self.wound_up && !self.clients[i as usize].leaving;
        if ends && !goes_on {
            return self.await_end(i);
        }
        self.go_offline(now, i);
    }

    /// Client `i` waits until its session has ended.
    pub(super) fn await_end(&mut self, i: u32) {
        self.clients[i as usize].state = State::Ending;
    }

    /// Client `i`, whose session is no more, comes back after a pause, or for its next transaction.
    pub(super) fn go_offline(&mut self, now: Nanos, i: u32) {
        self.clients[i as usize].state = State::Offline;
        if self.wound_up {
            return self.finish_client(i);
        }
        if self.clients[i as usize].leaving {
            return self.depart(i);
        }
        if self.work.plan.reconnect || self.has_two_doors() {
            // It connects for its next transaction. In a closed model a server that is down is not to be asked without a
            // pause; in an open one arrivals are the pause.
            self.clients[i as usize].state = State::Thinking;
            if !self.closed {
                return self.become_idle(now, i);
            }
        }
        self.stay_away(now, i);
    }

    /// Client `i` was refused: it pauses before it tries again.
    pub(super) fn stay_away(&mut self, now: Nanos, i: u32) {
        let doublings = (self.clients[i as usize].session.refusals - 1).min(10);
        let most = PAUSE_EACH.0.saturating_mul(self.clients.len() as u64);
        let most = most.clamp(PAUSE_MAX.0.0, PAUSE_MAX.1.0);
        let pause = PAUSE.0.saturating_mul(1 << doublings).min(most);
        // Half of it by chance, so that many clients do not come back at once.
        let pause = Nanos(pause / 2 + self.other.u64() % (pause / 2 + 1));
        self.clients[i as usize].barred = true;
        self.wake_at(now + pause, i);
    }

    /// Somebody was let in. Who was refused before, as if nobody listened, need not pause any longer.
    pub(super) fn let_in(&mut self, now: Nanos) {
        if !std::mem::take(&mut self.shut) {
            return;
        }
        for i in 0..self.clients.len() as u32 {
            if self.clients[i as usize].barred {
                self.wake_at(now, i);
            }
        }
    }

    /// Ends the sessions in the orderly way, and closes the connections to services.
    pub(super) fn hang_up(&mut self, i: u32) {
        self.hang_up_webs(i, true);
        let client = &self.clients[i as usize];
        let logging_in = matches!(client.state, State::Connecting | State::LoggingIn);
        self.connecting -= u32::from(logging_in && client.session.linked);
        self.hang_up_sessions(i, logging_in);
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
            self.forget_endings(i);
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
