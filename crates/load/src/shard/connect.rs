//! Connection attempts, retry delays and lost sessions

use super::client::{Client, ClientState, todo};
use super::endpoint::new_channel;
use super::{ConnId, LoadEvent, ReportedFailure, Shard};
use crate::recorder::Recorder;
use model::{Code, Nanos, Outcome};

/// First delay before a client retries a connection. The delay doubles after each failure.
const RETRY_DELAY: Nanos = Nanos::from_millis(10);
/// Contribution of each client to the maximum retry delay of its thread. The maximum is this value times the number of
/// the thread's clients, within the range `RETRY_DELAY_MAX`.
///
/// The clients of a thread thus make about a hundred attempts per second together. The end of an outage is then
/// detected within a tenth of a second, and retries hardly load a recovering server.
const RETRY_DELAY_PER_CLIENT: Nanos = Nanos::from_millis(10);
const RETRY_DELAY_MAX: (Nanos, Nanos) = (Nanos::from_millis(100), Nanos::from_secs(1));

/// SQLSTATE `cannot_connect_now`, recorded for a client that waits until a server of the required role is available.
const CANNOT_CONNECT_NOW: Code = Code::SqlState(*b"57P03");
/// Maximum interval between checks of time limits.
const TIMEOUT_CHECK_INTERVAL: Nanos = Nanos::from_millis(100);

/// Reason why a session is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionLoss {
    /// The transport broke.
    Broken,
    /// The request timed out; the server may still execute it.
    TimedOut,
    /// The server violated the protocol.
    ProtocolViolation,
}

impl<R: Recorder> Shard<R> {
    /// Begins as many logins as there are free slots.
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

    /// True if logins or transactions have a time limit.
    pub(super) fn has_timeouts(&self) -> bool {
        self.connecting > 0
            || self.shutdowns > 0
            || (self.window_started && self.shortest_timeout < Nanos::MAX)
    }

    /// Gives up logins and transactions that exceed their time limits.
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
            if late && !logs_in {
                self.abandoned_sessions.add();
            }
            if let Some(w) = self.awaited_connection(i).filter(|_| late) {
                self.http_lost(now, w, Code::TIMED_OUT, "timeout expired");
            } else if late && self.clients[i as usize].state == ClientState::ClosingSession {
                // The client has not sent a request, so the transaction has no effect.
                self.end_transaction(now, i, Outcome::Failed(Code::TIMED_OUT));
                self.go_offline(now, i);
            } else if late
                || (logs_in && now - self.clients[i as usize].session.connecting_since > logs_in_within)
            {
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

    /// Handles an opened transport.
    pub fn connected(&mut self, now: Nanos, conn: ConnId) {
        if let Some(w) = self.http_index(conn) {
            return match w.checked_sub(self.http_connections.len()) {
                Some(i) => self.cancel_connected(i),
                None => self.http_connected(now, w),
            };
        }
        let i = self.client_of(conn);
        let Client { session, endpoint, state, .. } = &mut self.clients[i as usize];
        if *state != ClientState::Connecting {
            return;
        }
        *state = ClientState::LoggingIn;
        session.channel = new_channel(&self.work, *endpoint, &mut self.misc_rng);
        session.prepared.fill(false);
        session.parsing.clear();
        match session.attempt.take() {
            Some(attempt) => session.channel.open_with(attempt),
            None => session.channel.open(),
        }
        self.request_action(conn, todo::TRANSMIT);
    }

    /// Handles a successful login.
    pub(super) fn opened(&mut self, now: Nanos, i: u32) {
        if !self.is_target_role(i) {
            return self.broken(
                now,
                self.conn(i),
                CANNOT_CONNECT_NOW,
                "the server does not have the required role",
            );
        }
        self.connecting -= 1;
        let client = &mut self.clients[i as usize];
        (client.session.refusals, client.session.tried) = (0, 0);
        client.session.fatal_code = None;
        self.recorder.connected(now - client.session.connecting_since);
        self.reset_backoff(now);
        self.begin_recorded_session(i);
        let client = &mut self.clients[i as usize];
        if client.tx.is_some() {
            // The client must be in this state before its transaction begins, because the transaction may end the
            // client before it sends a request.
            client.state = ClientState::Idle;
            self.run(now, i);
        } else {
            if client.has_started {
                self.mark_settled(i);
            }
            self.become_idle(now, i);
        }
    }

    /// Handles a transport that the peer has closed.
    pub fn closed(&mut self, now: Nanos, conn: ConnId) {
        match self.http_index(conn) {
            Some(w) if w < self.http_connections.len() => self.http_closed(now, w),
            _ => self.broken(now, conn, Code::RESET, "server closed the connection unexpectedly"),
        }
    }

    /// Handles a transport that broke or could not be opened. `code` and `words` are the system's error code and
    /// message.
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

    /// Handles the loss of client `i`'s session, which also ends its transaction.
    pub(super) fn session_lost(&mut self, now: Nanos, i: u32, code: Code, words: &str, loss: SessionLoss) {
        let conn = self.conn(i);
        let two_endpoints = self.has_two_endpoints();
        let client = &mut self.clients[i as usize];
        if client.is_over() || !client.session.connected {
            return;
        }
        let logging_in = matches!(client.state, ClientState::Connecting | ClientState::LoggingIn);
        if two_endpoints && client.tx.is_none() && !logging_in {
            // The client opens the session again when it needs the session.
            return self.close_session(conn);
        }
        let text = client.error_text.take();
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
            self.report_once((None, code), |_| LoadEvent::Refused {
                client,
                code,
                message: text.map_or(words.to_owned(), Into::into),
            });
            self.mark_settled(i);
        }
        let client = &mut self.clients[i as usize];
        client.session.refusals += 1;
        client.state = ClientState::Offline;
        if let Some(tx) = &mut client.tx {
            // In a pipeline, statements after a failed statement may still have had an effect.
            tx.settled |= tx.error.is_some() && tx.pending_ready > 0;
            let outcome = match tx.error {
                Some(error) => Outcome::Failed(error),
                None if tx.sent_request => Outcome::Unknown(code),
                None => Outcome::Failed(code),
            };
            self.end_transaction(now, i, outcome);
        }
        // With two endpoints, the client may continue with the other endpoint.
        let goes_on = two_endpoints && !self.is_draining && !self.clients[i as usize].leaving;
        if ends && !goes_on {
            return self.await_end(i);
        }
        self.go_offline(now, i);
    }

    /// Makes client `i` wait until its session has ended.
    pub(super) fn await_end(&mut self, i: u32) {
        self.clients[i as usize].state = ClientState::ClosingSession;
    }

    /// Makes client `i`, whose session is lost, reconnect after a delay or for its next transaction.
    pub(super) fn go_offline(&mut self, now: Nanos, i: u32) {
        self.clients[i as usize].state = ClientState::Offline;
        if self.is_draining {
            return self.finish_client(i);
        }
        if self.clients[i as usize].leaving {
            return self.user_left(i);
        }
        if self.work.plan.reconnect || self.has_two_endpoints() {
            // The client connects for its next transaction. In a closed model, a delay limits the retries on an
            // unavailable server; in an open model, the arrivals limit them.
            self.clients[i as usize].state = ClientState::Thinking;
            if !self.closed {
                return self.become_idle(now, i);
            }
        }
        self.back_off(now, i);
    }

    /// Delays the next connection attempt of client `i` after a refusal.
    pub(super) fn back_off(&mut self, now: Nanos, i: u32) {
        let doublings = (self.clients[i as usize].session.refusals - 1).min(10);
        let most = RETRY_DELAY_PER_CLIENT.0.saturating_mul(self.clients.len() as u64);
        let most = most.clamp(RETRY_DELAY_MAX.0.0, RETRY_DELAY_MAX.1.0);
        let pause = RETRY_DELAY.0.saturating_mul(1 << doublings).min(most);
        // Half of the delay is random, so that many clients do not retry at once.
        let pause = Nanos(pause / 2 + self.misc_rng.u64() % (pause / 2 + 1));
        self.clients[i as usize].backing_off = true;
        self.wake_at(now + pause, i);
    }

    /// Lets clients that were refused retry at once, because a login has succeeded and the server is available again.
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

    /// Ends the client's sessions with a Terminate message, and closes its connections to services.
    pub(super) fn close_connections(&mut self, i: u32) {
        self.close_all_http(i, true);
        let client = &self.clients[i as usize];
        let logging_in = matches!(client.state, ClientState::Connecting | ClientState::LoggingIn);
        self.connecting -= u32::from(logging_in && client.session.connected);
        self.close_sessions(i, logging_in);
    }

    /// Marks client `i` as settled: it was connected or refused for the first time.
    pub(super) fn mark_settled(&mut self, i: u32) {
        let client = &mut self.clients[i as usize];
        self.unsettled -= u32::from(!client.settled);
        client.settled = true;
    }

    pub(super) fn finish_client(&mut self, i: u32) {
        self.retire_client(i, ClientState::Finished);
    }

    /// Ends client `i`. `state` is finished or aborted.
    pub(super) fn retire_client(&mut self, i: u32, state: ClientState) {
        if !self.clients[i as usize].is_over() {
            self.close_connections(i);
            self.discard_shutdowns(i);
            self.mark_settled(i);
            self.clients[i as usize].state = state;
            self.active -= 1;
        }
    }

    /// Reports an event if it is the first with this code at this command, or if the plan is verbose.
    pub(super) fn report_once(&mut self, failure: ReportedFailure, event: impl FnOnce(&Self) -> LoadEvent) {
        let known = was_reported(&self.reported_failures, failure);
        if !known && self.reported_failures.len() < self.reported_failures.capacity() {
            self.reported_failures.push(failure);
        }
        if !known || self.work.plan.verbose {
            let event = event(self);
            self.events.push_back(event);
        }
    }
}

/// True if an earlier report had this code and either the same command or a failed connection.
pub(super) fn was_reported(reported: &[ReportedFailure], failure: ReportedFailure) -> bool {
    reported.iter().any(|it| *it == failure || *it == (None, failure.1))
}
