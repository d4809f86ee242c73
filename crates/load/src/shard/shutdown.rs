//! Shutdown of sessions whose statement was given up
//!
//! If a client disconnects, the server continues the client's statement and keeps the session until the statement ends.
//! A client that gives up a statement therefore cancels the statement, and opens another session only after the server
//! has closed the old session. So there are never more sessions than clients.
//!
//! Writes with a ledger key are not cancelled, because that would change their outcome. Nothing is cancelled behind a
//! pooler (see `Login::send_cancel`). In both cases, the client only waits.

use super::client::{ClientState, Session, SessionShutdown, todo};
use super::{ConnId, LoadEvent, Shard};
use crate::recorder::Recorder;
use model::{Code, Nanos};
use wire::pg::{Channel, Event};

/// Timeout of a connection that sends a cancel request.
const CANCEL_TIMEOUT: Nanos = Nanos::from_secs(2);
/// Interval between cancel requests. A single request does not suffice, because it may arrive before its statement
/// starts or may cancel the previous statement.
const CANCEL_INTERVAL: Nanos = Nanos::from_secs(1);
/// Time limit for the shutdown of the last sessions at the end of a run.
const SHUTDOWN_TIMEOUT: Nanos = Nanos::from_secs(5);
/// Time limit for the shutdown of sessions after the user aborted the run: long enough for two cancel requests.
const ABANDONED_SHUTDOWN_TIMEOUT: Nanos = Nanos::from_millis(1500);
/// Delay after which a client tries other hosts, if there are several.
const HOST_SWITCH_DELAY: Nanos = Nanos::from_secs(1);

/// Connection that sends a cancel request for the session of its client.
#[derive(Debug, Default)]
pub(super) struct CancelConnection {
    /// Channel of the open connection; `None` while it is closed.
    channel: Option<Box<Channel>>,
    pub pending_actions: u8,
    endpoint: u8,
    host: u16,
    /// Time at which the connection was opened.
    since: Nanos,
}

impl CancelConnection {
    pub fn target(&self) -> (u8, u16) {
        (self.endpoint, self.host)
    }

    pub fn outgoing(&self) -> &[u8] {
        self.channel.as_ref().map_or(&[], |it| it.outgoing())
    }

    pub fn sent(&mut self, n: usize) {
        if let Some(channel) = &mut self.channel {
            channel.sent(n);
        }
    }
}

impl<R: Recorder> Shard<R> {
    /// Begins the shutdown of client `i`'s session, whose transaction is given up. If `deaf` is true, the server
    /// violated the protocol, and further received bytes are ignored.
    ///
    /// Returns false if the server has no statement to end, or if the client disconnects without waiting for the end.
    pub(super) fn end_session(&mut self, now: Nanos, i: u32, deaf: bool) -> bool {
        let conn = self.conn(i);
        let client = &self.clients[i as usize];
        let logging_in = client.state == ClientState::LoggingIn;
        if !client.session.connected
            || client.state == ClientState::Connecting
            || !(logging_in || client.tx.is_some())
            || self.work.plan.abandon_max.is_some()
        {
            return false;
        }
        if logging_in && self.hosts(conn) > 1 {
            return false;
        }
        let awaited =
            client.tx.map_or(0, |it| it.pending_ready) + u16::from(client.state == ClientState::RollingBack);
        let cancels = awaited > 0 && !self.is_in_ledger(i);
        let session = self.session(conn);
        session.channel.set_watched(false);
        let deaf = deaf || logging_in;
        session.shutdown = Some(SessionShutdown {
            since: now,
            pending_ready: awaited,
            cancellable: cancels,
            cancel_sent: false,
            discards_input: deaf,
            finished: false,
        });
        let sends_terminate = deaf || awaited == 0 || !session.channel.outgoing().is_empty();
        self.shutdowns += 1;
        self.request_action(conn, todo::PROBE);
        if sends_terminate {
            self.send_terminate(conn);
        }
        self.cancel(now, conn);
        true
    }

    /// True if client `i`'s transaction is a ledger write.
    pub(super) fn is_in_ledger(&self, i: u32) -> bool {
        self.clients[i as usize].tx.is_some_and(|it| self.work.keyed_write(it.script).is_some())
    }

    /// Sends Terminate: the server closes an idle session at once, and a busy session when its statement ends.
    fn send_terminate(&mut self, conn: ConnId) {
        let session = self.session(conn);
        let Some(ending) = &mut session.shutdown else { return };
        if std::mem::replace(&mut ending.finished, true) {
            return;
        }
        if session.channel.is_open() && session.channel.outgoing().is_empty() {
            session.channel.request(|out| out.extend_from_slice(&wire::pg::terminate()));
            self.request_action(conn, todo::TRANSMIT);
        } else {
            session.pending_actions &= !todo::TRANSMIT;
        }
        self.request_action(conn, todo::FINISH);
    }

    /// Handles bytes that arrived for a session in shutdown.
    pub(super) fn receive_in_shutdown(&mut self, conn: ConnId, bytes: &[u8]) {
        let mut input = bytes;
        loop {
            let Session { channel, shutdown: ending, .. } = self.session(conn);
            let Some(ending) = ending.as_mut().filter(|it| !it.discards_input) else { return };
            match channel.receive(&mut input) {
                Ok(Event::More) => break,
                Ok(Event::Ready(_)) => {
                    ending.pending_ready = ending.pending_ready.saturating_sub(1);
                    if ending.pending_ready == 0 {
                        self.send_terminate(conn);
                    } else {
                        // The next statement of a pipeline has begun.
                        ending.cancel_sent = false;
                    }
                }
                // The server waits for data, which a cancel request does not end.
                Ok(Event::CopyIn) => self.send_terminate(conn),
                Ok(_) => {}
                Err(_) => {
                    ending.discards_input = true;
                    self.send_terminate(conn);
                }
            }
        }
        if !self.session(conn).channel.outgoing().is_empty() {
            self.request_action(conn, todo::TRANSMIT);
        }
    }

    /// Handles the end of a session in shutdown: the server has closed it or is unreachable.
    pub(super) fn session_ended(&mut self, now: Nanos, conn: ConnId) {
        self.discard_shutdown(conn);
        let (i, speaks) = (self.client_of(conn), self.active_client(conn).is_some());
        let client = &self.clients[i as usize];
        if client.state != ClientState::ClosingSession {
            return;
        }
        if client.aborting {
            self.retire_client(i, ClientState::Aborted);
        } else if speaks && client.tx.is_some() {
            self.connect(now, i);
        } else if (speaks || self.is_draining)
            && client.tx.is_none()
            && !(self.is_draining && self.is_shutting_down(i))
        {
            self.go_offline(now, i);
        }
    }

    /// True if a session of client `i` is being ended.
    pub(super) fn is_shutting_down(&self, i: u32) -> bool {
        let parked = self.parked.get(i as usize);
        self.clients[i as usize].session.shutdown.is_some() || parked.is_some_and(|it| it.shutdown.is_some())
    }

    /// Closes the connection of a session in shutdown, and the connection of its cancel requests.
    fn discard_shutdown(&mut self, conn: ConnId) {
        if self.session(conn).shutdown.take().is_some() {
            self.shutdowns -= 1;
            self.close_session(conn);
            let (i, endpoint) = (self.client_of(conn), self.endpoint_of(conn));
            if self.cancels[i as usize].endpoint == endpoint {
                self.cancel_finished(i as usize);
            }
        }
    }

    /// Stops waiting for the shutdown of the sessions of client `i`, which has ended.
    pub(super) fn discard_shutdowns(&mut self, i: u32) {
        self.discard_shutdown(self.endpoint_conn(i, 0));
        if self.has_two_endpoints() {
            self.discard_shutdown(self.endpoint_conn(i, 1));
        }
    }

    /// Checks the time limits of all sessions in shutdown.
    pub(super) fn check_shutdowns(&mut self, now: Nanos) {
        for number in 0..self.sessions() as u32 {
            let conn = ConnId(number);
            let Some(ending) = self.session(conn).shutdown else { continue };
            let i = self.client_of(conn);
            let waits = self.clients[i as usize].state == ClientState::ClosingSession;
            if self.hosts(conn) > 1 && now - ending.since > HOST_SWITCH_DELAY {
                self.session_ended(now, conn);
            } else if waits && self.is_retiring(i) && now > self.shutdown_deadline(ending.since) {
                let aborts = self.clients[i as usize].aborting;
                self.retire_client(i, if aborts { ClientState::Aborted } else { ClientState::Finished });
            } else {
                self.cancel(now, conn);
                if now - ending.since > SHUTDOWN_TIMEOUT
                    && !std::mem::replace(&mut self.reported_slow_shutdown, true)
                {
                    let (client, code) = (self.client_id(i), Code::TIMED_OUT);
                    let message = "the server has not ended an abandoned session yet; its client cannot \
                                   start a transaction until it does";
                    self.events.push_back(LoadEvent::Refused { client, code, message: message.to_owned() });
                }
            }
        }
    }

    /// Deadline for the end of a session whose shutdown began at `start`, if its client begins no further transaction.
    fn shutdown_deadline(&self, start: Nanos) -> Nanos {
        let deadline = start.max(self.drain_start) + SHUTDOWN_TIMEOUT;
        if self.abandoned { deadline.min(self.drain_deadline + ABANDONED_SHUTDOWN_TIMEOUT) } else { deadline }
    }

    /// True if client `i` begins no further transaction.
    fn is_retiring(&self, i: u32) -> bool {
        let client = &self.clients[i as usize];
        let done =
            self.closed && self.work.plan.transactions.is_some_and(|it| client.transactions_started >= it);
        self.is_draining || done || client.aborting
    }

    fn hosts(&self, conn: ConnId) -> u16 {
        self.work.endpoint(self.endpoint_of(conn)).map_or(1, |it| it.hosts.count)
    }

    /// Sends a cancel request for the statement of a session, if one is due.
    fn cancel(&mut self, now: Nanos, conn: ConnId) {
        let (i, endpoint) = (self.client_of(conn) as usize, self.endpoint_of(conn));
        let session = self.session(conn);
        let Some(ending) = session.shutdown.filter(|it| it.cancellable) else { return };
        // Without a cancel key, or behind a pooler, no statement can be cancelled.
        let Some(canceller) = session.channel.cancel_channel() else { return };
        let host = session.host;
        let cancel = &mut self.cancels[i];
        if cancel.channel.is_some() {
            if now - cancel.since > CANCEL_TIMEOUT {
                self.cancel_finished(i);
            }
        } else if !ending.cancel_sent || now - cancel.since >= CANCEL_INTERVAL {
            cancel.channel = Some(Box::new(canceller));
            (cancel.endpoint, cancel.host, cancel.since) = (endpoint, host, now);
            self.session(conn).shutdown = Some(SessionShutdown { cancel_sent: true, ..ending });
            self.request_cancel_action(i, todo::CONNECT);
        }
    }

    pub(super) fn cancel_id(&self, i: usize) -> ConnId {
        ConnId((self.sessions() + self.http_connections.len() + i) as u32)
    }

    pub(super) fn request_cancel_action(&mut self, i: usize, action: u8) {
        let id = self.cancel_id(i);
        let cancel = &mut self.cancels[i];
        if cancel.pending_actions == 0 {
            self.pending_conns.push_back(id.0);
        }
        cancel.pending_actions |= action;
    }

    /// Handles the opened transport of a connection for cancel requests.
    pub(super) fn cancel_connected(&mut self, i: usize) {
        if let Some(channel) = &mut self.cancels[i].channel {
            channel.open();
            self.request_cancel_action(i, todo::TRANSMIT);
        }
    }

    /// Handles bytes on a connection for cancel requests. Only a TLS handshake causes such bytes.
    pub(super) fn cancel_receive(&mut self, i: usize, bytes: &[u8]) {
        let mut input = bytes;
        let Some(channel) = &mut self.cancels[i].channel else { return };
        loop {
            match channel.receive(&mut input) {
                Ok(Event::More) => break,
                Ok(_) => {}
                Err(_) => return self.cancel_finished(i),
            }
        }
        if !channel.outgoing().is_empty() {
            self.request_cancel_action(i, todo::TRANSMIT);
        }
    }

    /// Handles the end of a cancel request: the server has read it, or cannot be reached.
    pub(super) fn cancel_finished(&mut self, i: usize) {
        let cancel = &mut self.cancels[i];
        if cancel.channel.take().is_some() {
            cancel.pending_actions &= !(todo::TRANSMIT | todo::CONNECT);
            self.request_cancel_action(i, todo::CLOSE);
        }
    }
}
