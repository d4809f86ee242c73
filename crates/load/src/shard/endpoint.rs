//! Sessions with one or two PostgreSQL endpoints
//!
//! A primary and its replicas may have an endpoint each. Each client then has a session with each endpoint. The client
//! uses one session at a time; the other session is parked. With one endpoint, no session is ever parked.

use super::client::{Client, Session, todo};
use super::{ConnId, Shard};
use crate::random::Prng;
use crate::recorder::Recorder;
use crate::workload::{PostgresEndpoint, Target, Workload};
use model::Code;
use model::plan::SqlTarget;
use std::sync::Arc;
use wire::pg::{Channel, Event, Login, Transport};

impl<R: Recorder> Shard<R> {
    /// Address to which the driver opens the connection.
    pub fn target(&self, conn: ConnId) -> Target {
        match self.http_index(conn) {
            None => {
                let i = self.client_of(conn) as usize;
                let speaks = self.active_client(conn).is_some();
                let session = if speaks { &self.clients[i].session } else { &self.parked[i] };
                Target::Postgres { endpoint: u16::from(self.endpoint_of(conn)), host: session.host }
            }
            Some(w) if w >= self.http_connections.len() => {
                let (endpoint, host) = self.cancels[w - self.http_connections.len()].target();
                Target::Postgres { endpoint: endpoint.into(), host }
            }
            Some(w) => Target::Service((w % self.work.services.len()) as u16),
        }
    }

    /// Number of sessions with PostgreSQL. Their connections have the first numbers.
    #[inline]
    pub(super) fn sessions(&self) -> usize {
        self.clients.len() + self.parked.len()
    }

    #[inline]
    pub(super) fn endpoint_of(&self, conn: ConnId) -> u8 {
        u8::from(conn.0 as usize >= self.clients.len())
    }

    /// Client that owns the session.
    #[inline]
    pub(super) fn client_of(&self, conn: ConnId) -> u32 {
        let clients = self.clients.len() as u32;
        if conn.0 < clients { conn.0 } else { conn.0 - clients }
    }

    /// Client that uses this session; `None` if the session is parked.
    #[inline]
    pub(super) fn active_client(&self, conn: ConnId) -> Option<u32> {
        let i = self.client_of(conn);
        (self.clients[i as usize].endpoint == self.endpoint_of(conn)).then_some(i)
    }

    #[inline]
    pub(super) fn session(&mut self, conn: ConnId) -> &mut Session {
        let i = self.client_of(conn) as usize;
        match self.clients[i].endpoint == self.endpoint_of(conn) {
            true => &mut self.clients[i].session,
            false => &mut self.parked[i],
        }
    }

    /// Connection of client `i`'s active session.
    #[inline]
    pub(super) fn conn(&self, i: u32) -> ConnId {
        self.endpoint_conn(i, self.clients[i as usize].endpoint)
    }

    #[inline]
    pub(super) fn endpoint_conn(&self, i: u32, endpoint: u8) -> ConnId {
        ConnId(if endpoint == 0 { i } else { i + self.clients.len() as u32 })
    }

    pub(super) fn has_two_endpoints(&self) -> bool {
        !self.parked.is_empty()
    }

    /// Selects the session for the SQL of `script` before client `i` begins the script. Returns true if the session
    /// must be opened first.
    pub(super) fn switch_endpoint(&mut self, i: u32, script: u16) -> bool {
        if !self.has_two_endpoints() {
            // With one endpoint, the session is already open, unless each transaction opens its own session.
            return self.work.plan.reconnect && self.work.postgres.is_some();
        }
        let Some(to) = self.work.sql_target(script) else { return false };
        let client = &mut self.clients[i as usize];
        let endpoint = match to {
            SqlTarget::Primary => 0,
            SqlTarget::Replica => 1,
            SqlTarget::Any => (client.rng.u64() & 1) as u8,
        };
        if client.endpoint != endpoint {
            std::mem::swap(&mut client.session, &mut self.parked[i as usize]);
            client.endpoint = endpoint;
        }
        !client.session.connected || client.session.shutdown.is_some()
    }

    /// Handles bytes for a parked session, which has no request in flight.
    pub(super) fn receive_parked(&mut self, conn: ConnId, bytes: &[u8]) {
        if self.session(conn).shutdown.is_some() {
            return self.receive_in_shutdown(conn, bytes);
        }
        let mut input = bytes;
        let session = self.session(conn);
        while session.connected {
            match session.channel.receive(&mut input) {
                Ok(Event::More) => break,
                Ok(_) => {}
                Err(_) => return self.close_session(conn),
            }
        }
    }

    /// Resets a session and has the driver close its connection.
    pub(super) fn close_session(&mut self, conn: ConnId) {
        let session = self.session(conn);
        if session.connected {
            session.connected = false;
            session.fatal_code = None;
            session.pending_actions &= !(todo::TRANSMIT | todo::FINISH | todo::CONNECT | todo::PROBE);
            self.request_action(conn, todo::CLOSE);
        }
    }

    /// Ends the sessions of client `i` with a Terminate message. `logging_in` is true if the active session is not
    /// logged in yet.
    pub(super) fn close_sessions(&mut self, i: u32, logging_in: bool) {
        let endpoint = self.clients[i as usize].endpoint;
        self.terminate_session(self.endpoint_conn(i, endpoint), logging_in);
        if self.has_two_endpoints() {
            self.terminate_session(self.endpoint_conn(i, 1 - endpoint), false);
        }
    }

    fn terminate_session(&mut self, conn: ConnId, logging_in: bool) {
        let session = self.session(conn);
        // A session in shutdown is closed when the shutdown ends.
        if session.connected && session.shutdown.is_none() {
            session.connected = false;
            session.pending_actions &= !todo::CONNECT;
            if !logging_in {
                session.channel.request(|out| out.extend_from_slice(&wire::pg::terminate()));
                self.request_action(conn, todo::TRANSMIT);
            }
            self.request_action(conn, todo::CLOSE);
        }
    }

    /// Switches client `i` to the endpoint's next host after a refusal. Returns false if all hosts have refused the
    /// client.
    pub(super) fn try_next_host(&mut self, i: u32) -> bool {
        let Client { session, endpoint, .. } = &mut self.clients[i as usize];
        let count = self.work.endpoint(*endpoint).map_or(1, |it| it.hosts.count);
        session.host = (session.host + 1) % count;
        session.tried = (session.tried + 1) % count;
        session.tried > 0
    }

    /// True if client `i` has logged in to a server of the role that its endpoint requires. A primary must also accept
    /// writes by default, as for libpq's `read-write`.
    pub(super) fn is_target_role(&self, i: u32) -> bool {
        let Client { session, endpoint, .. } = &self.clients[i as usize];
        let required_role = self.work.endpoint(*endpoint).map_or(SqlTarget::Any, |it| it.hosts.target_role);
        if required_role == SqlTarget::Primary
            && session.channel.parameter("default_transaction_read_only") == Some("on")
        {
            return false;
        }
        match session.channel.parameter("in_hot_standby") {
            Some("on") => required_role != SqlTarget::Primary,
            Some(_) => required_role != SqlTarget::Replica,
            None => true,
        }
    }

    /// Records a refused login.
    pub(super) fn login_refused(&mut self, code: Code) {
        self.recorder.refused(code);
        // These codes mean that no server is available yet. Other reasons for refusals, such as too many connections,
        // may persist when another client logs in.
        self.is_refusing |= match code {
            Code::Net(_) => true,
            Code::SqlState(state) => matches!(state, [b'0', b'8', ..] | [b'5', b'7', ..]),
            Code::Http(_) | Code::TextNotFound | Code::TextFound | Code::CaptureNotFound => false,
        };
    }
}

/// New session of a client with this endpoint, not yet open.
pub(super) fn new_session(work: &Workload, endpoint: u8, client: u32, other: &mut Prng) -> Session {
    let host = work.endpoint(endpoint).map_or(0, |it| it.hosts.first_host(client));
    Session { host, ..Session::new(new_channel(work, endpoint, other), work.statements) }
}

/// Channel of a new session, for one connection.
pub(super) fn new_channel(work: &Workload, endpoint: u8, other: &mut Prng) -> Channel {
    let mut nonce = [0; 18];
    for part in nonce.chunks_mut(8) {
        part.copy_from_slice(&other.u64().to_ne_bytes()[..part.len()]);
    }
    let PostgresEndpoint { login, transport, .. } =
        work.endpoint(endpoint).cloned().unwrap_or_else(unused_postgres);
    Channel::new(login, transport, nonce)
}

/// Endpoint of sessions that are never opened, for a workload without SQL.
fn unused_postgres() -> PostgresEndpoint {
    PostgresEndpoint::new(Arc::new(Login::new("", "")), Transport::Unix)
}
