//! How do clients come by their connections?

use super::client::{Client, ClientState, todo};
use super::endpoint::new_channel;
use super::{ConnId, LoadEvent, Shard};
use crate::recorder::Recorder;
use model::{Code, Nanos, Outcome};

/// The first pause before another attempt of a client, doubled with each.
const RETRY_DELAY: Nanos = Nanos::from_millis(10);
/// It grows until the clients of a thread make about a hundred attempts per second together, but stays between these: an outage
/// is seen to end within a tenth of a second, and many clients do not disturb who is about to end it.
const RETRY_DELAY_PER_CLIENT: Nanos = Nanos::from_millis(10);
const RETRY_DELAY_MAX: (Nanos, Nanos) = (Nanos::from_millis(100), Nanos::from_secs(1));

/// `cannot_connect_now`, as of one who must wait until there is another server.
const CANNOT_CONNECT_NOW: Code = Code::SqlState(*b"57P03");
/// How often log-ins and transactions are looked over for those that take too long, at least.
const TIMEOUT_CHECK_INTERVAL: Nanos = Nanos::from_millis(100);

/// Why a session is of no more use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionLoss {
    /// Its transport broke.
    Broken,
    /// What was asked is given up; the server may still be about it.
    TimedOut,
    /// The server's bytes make no sense.
    ProtocolViolation,
}

impl<R: Recorder> Shard<R> {
    /// Begins as many log-ins as there are places.
    pub(super) fn connect_more(&mut self, now: Nanos) {
        while self.connecting < self.connecting_max {
            let Some(i) = self.connect_queue.pop_front() else { break };
            if self.clients[i as usize].state == ClientState::Offline {
                self.connect(now, i);
            }
        }
        if !self.http_connect_queue.is_empty() {
            self.open_more_http(now);
        }
        if self.has_timeouts() && now >= self.next_timeout_check {
            self.check_timeouts(now);
        }
    }

    /// Whether anything may take too long.
    pub(super) fn has_timeouts(&self) -> bool {
        self.connecting > 0
            || self.shutdowns > 0
            || (self.window_started && self.shortest_timeout < Nanos::MAX)
    }

    /// Gives up log-ins and transactions that take too long.
    fn check_timeouts(&mut self, now: Nanos) {
        let plan = &self.work.plan;
        let (logs_in_within, answers_within) = (plan.connect_timeout, plan.timeout.unwrap_or(Nanos::MAX));
        self.next_timeout_check = now + TIMEOUT_CHECK_INTERVAL.min(Nanos(self.shortest_timeout.0 / 10));
        self.check_http_timeouts(now);
        if self.shutdowns > 0 {
            self.check_shutdowns(now);
        }
        for i in 0..self.clients.len() as u32 {
            let client = &self.clients[i as usize];
            let logs_in = matches!(client.state, ClientState::Connecting | ClientState::LoggingIn);
            let late = client.tx.is_some_and(|it| now - it.started > answers_within);
            if let Some(w) = self.awaited_connection(i).filter(|_| late) {
                self.http_lost(now, w, Code::TIMED_OUT, "timeout expired");
            } else if late && client.state == ClientState::ClosingSession {
                // It did not come to ask anything.
                self.end_transaction(now, i, Outcome::Failed(Code::TIMED_OUT));
                self.go_offline(now, i);
            } else if late || (logs_in && now - client.session.connecting_since > logs_in_within) {
                self.session_lost(now, i, Code::TIMED_OUT, "timeout expired", SessionLoss::TimedOut);
            }
        }
    }

    pub(super) fn connect(&mut self, now: Nanos, i: u32) {
        let client = &mut self.clients[i as usize];
        if client.session.shutdown.is_some() {
            client.state = ClientState::ClosingSession;
            return;
        }
        client.state = ClientState::Connecting;
        client.session.connecting_since = now;
        client.session.connected = true;
        self.connecting += 1;
        self.request_action(self.conn(i), todo::CONNECT);
    }

    /// The transport is open.
    pub fn connected(&mut self, now: Nanos, conn: ConnId) {
        if let Some(w) = self.http_index(conn) {
            return match w.checked_sub(self.http_connections.len()) {
                Some(i) => self.cancel_connected(i),
                None => self.http_connected(now, w),
            };
        }
        let i = self.client_of(conn);
        let Client { session, endpoint: door, state, .. } = &mut self.clients[i as usize];
        if *state != ClientState::Connecting {
            return;
        }
        *state = ClientState::LoggingIn;
        session.channel = new_channel(&self.work, *door, &mut self.misc_rng);
        session.prepared.fill(false);
        session.parsing.clear();
        match session.attempt.take() {
            Some(attempt) => session.channel.open_with(attempt),
            None => session.channel.open(),
        }
        self.request_action(conn, todo::TRANSMIT);
    }

    /// The server accepted the log-in.
    pub(super) fn opened(&mut self, now: Nanos, i: u32) {
        if !self.is_target_role(i) {
            return self.broken(
                now,
                self.conn(i),
                CANNOT_CONNECT_NOW,
                "the server is not of the role that is wanted",
            );
        }
        self.connecting -= 1;
        let client = &mut self.clients[i as usize];
        (client.session.refusals, client.session.tried) = (0, 0);
        client.session.fatal_code = None;
        self.recorder.connected(now - client.session.connecting_since);
        self.reset_backoff(now);
        let client = &mut self.clients[i as usize];
        if client.tx.is_some() {
            // No longer logging in: the transaction may end the client before it asks anything.
            client.state = ClientState::Idle;
            self.run(now, i);
        } else {
            self.mark_settled(i);
            self.become_idle(now, i);
        }
    }

    /// The other side has closed the transport.
    pub fn closed(&mut self, now: Nanos, conn: ConnId) {
        match self.http_index(conn) {
            Some(w) if w < self.http_connections.len() => self.http_closed(now, w),
            _ => self.broken(now, conn, Code::RESET, "server closed the connection unexpectedly"),
        }
    }

    /// The transport broke, or could not be opened: `code` and `words` are the system's.
    pub fn broken(&mut self, now: Nanos, conn: ConnId, code: Code, words: &str) {
        if let Some(w) = self.http_index(conn) {
            return match w.checked_sub(self.http_connections.len()) {
                Some(i) => self.cancel_finished(i),
                None => self.http_broken(now, w, code, words),
            };
        }
        if self.session(conn).shutdown.is_some() {
            return self.session_ended(now, conn);
        }
        match self.active_client(conn) {
            Some(i) => self.session_lost(now, i, code, words, SessionLoss::Broken),
            None => self.close_session(conn),
        }
    }

    /// The session of client `i` is of no more use to it, and its transaction is over.
    pub(super) fn session_lost(&mut self, now: Nanos, i: u32, code: Code, words: &str, loss: SessionLoss) {
        let conn = self.conn(i);
        let two_doors = self.has_two_endpoints();
        let client = &mut self.clients[i as usize];
        if client.is_over() || !client.session.connected {
            return;
        }
        let logging_in = matches!(client.state, ClientState::Connecting | ClientState::LoggingIn);
        if two_doors && client.tx.is_none() && !logging_in {
            // It opens it again when it needs it.
            return self.close_session(conn);
        }
        let said = client.error_text.take();
        let code = client.session.fatal_code.take().unwrap_or(code);
        let logged_in = client.state != ClientState::LoggingIn;
        let attempt = if logged_in { None } else { client.session.channel.second_attempt() };
        let given_up = match loss {
            SessionLoss::Broken => false,
            SessionLoss::TimedOut => true,
            SessionLoss::ProtocolViolation => logged_in,
        };
        let ends =
            given_up && attempt.is_none() && self.end_session(now, i, loss == SessionLoss::ProtocolViolation);
        if !ends {
            self.close_session(conn);
        }
        self.close_all_http(i, false);
        if logging_in {
            self.connecting -= 1;
            if attempt.is_some() {
                self.clients[i as usize].session.attempt = attempt;
                return self.connect(now, i);
            }
            if !self.is_draining && self.try_next_host(i) {
                return self.connect(now, i);
            }
            self.login_refused(code);
            let client = self.client_id(i);
            self.report_once(code, |_| LoadEvent::Refused {
                client,
                code,
                message: said.map_or(words.to_owned(), Into::into),
            });
            self.mark_settled(i);
        }
        let client = &mut self.clients[i as usize];
        client.session.refusals += 1;
        client.state = ClientState::Offline;
        if let Some(tx) = &mut client.tx {
            // In a pipeline, what follows a failure may have been done all the same.
            tx.settled |= tx.error.is_some() && tx.pending_ready > 0;
            let outcome = match tx.error {
                Some(error) => Outcome::Failed(error),
                None if tx.sent_request => Outcome::Unknown(code),
                None => Outcome::Failed(code),
            };
            self.end_transaction(now, i, outcome);
        }
        // Where there are two doors, it may go on by the other.
        let goes_on = two_doors && !self.is_draining && !self.clients[i as usize].leaving;
        if ends && !goes_on {
            return self.await_end(i);
        }
        self.go_offline(now, i);
    }

    /// Client `i` waits until its session has ended.
    pub(super) fn await_end(&mut self, i: u32) {
        self.clients[i as usize].state = ClientState::ClosingSession;
    }

    /// Client `i`, whose session is no more, comes back after a pause, or for its next transaction.
    pub(super) fn go_offline(&mut self, now: Nanos, i: u32) {
        self.clients[i as usize].state = ClientState::Offline;
        if self.is_draining {
            return self.finish_client(i);
        }
        if self.clients[i as usize].leaving {
            return self.user_left(i);
        }
        if self.work.plan.reconnect || self.has_two_endpoints() {
            // It connects for its next transaction. In a closed model a server that is down is not to be asked without a
            // pause; in an open one arrivals are the pause.
            self.clients[i as usize].state = ClientState::Thinking;
            if !self.closed {
                return self.become_idle(now, i);
            }
        }
        self.back_off(now, i);
    }

    /// Client `i` was refused: it pauses before it tries again.
    pub(super) fn back_off(&mut self, now: Nanos, i: u32) {
        let doublings = (self.clients[i as usize].session.refusals - 1).min(10);
        let most = RETRY_DELAY_PER_CLIENT.0.saturating_mul(self.clients.len() as u64);
        let most = most.clamp(RETRY_DELAY_MAX.0.0, RETRY_DELAY_MAX.1.0);
        let pause = RETRY_DELAY.0.saturating_mul(1 << doublings).min(most);
        // Half of it by chance, so that many clients do not come back at once.
        let pause = Nanos(pause / 2 + self.misc_rng.u64() % (pause / 2 + 1));
        self.clients[i as usize].backing_off = true;
        self.wake_at(now + pause, i);
    }

    /// Somebody was let in. Who was refused before, as if nobody listened, need not pause any longer.
    pub(super) fn reset_backoff(&mut self, now: Nanos) {
        if !std::mem::take(&mut self.is_refusing) {
            return;
        }
        for i in 0..self.clients.len() as u32 {
            if self.clients[i as usize].backing_off {
                self.wake_at(now, i);
            }
        }
    }

    /// Ends the sessions in the orderly way, and closes the connections to services.
    pub(super) fn close_connections(&mut self, i: u32) {
        self.close_all_http(i, true);
        let client = &self.clients[i as usize];
        let logging_in = matches!(client.state, ClientState::Connecting | ClientState::LoggingIn);
        self.connecting -= u32::from(logging_in && client.session.connected);
        self.close_sessions(i, logging_in);
    }

    /// Client `i` has been connected or refused once.
    pub(super) fn mark_settled(&mut self, i: u32) {
        let client = &mut self.clients[i as usize];
        self.unsettled -= u32::from(!client.settled);
        client.settled = true;
    }

    pub(super) fn finish_client(&mut self, i: u32) {
        self.retire_client(i, ClientState::Finished);
    }

    /// Client `i` does no more, for one reason or the other.
    pub(super) fn retire_client(&mut self, i: u32, state: ClientState) {
        if !self.clients[i as usize].is_over() {
            self.close_connections(i);
            self.discard_shutdowns(i);
            self.mark_settled(i);
            self.clients[i as usize].state = state;
            self.active -= 1;
        }
    }

    /// Tells it if it is the first with this code, or if the plan is verbose.
    pub(super) fn report_once(&mut self, code: Code, said: impl FnOnce(&Self) -> LoadEvent) {
        let known = self.reported_codes.contains(&code);
        if !known && self.reported_codes.len() < self.reported_codes.capacity() {
            self.reported_codes.push(code);
        }
        if !known || self.work.plan.verbose {
            let said = said(self);
            self.events.push_back(said);
        }
    }
}
