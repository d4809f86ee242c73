//! Observer: the protocol of the connections, as the workers need it

use super::batch::BatchSender;
use crate::proxy::{ProxySession, Startup, StartupReader};
use model::Nanos;
use std::fmt;
use std::io;

/// Protocol of the connections, and the receiver of what one worker observes. Its worker calls it after it has forwarded
/// the bytes.
pub(super) trait Observer {
    type Session: fmt::Debug + Send;

    /// True if a client asks for TLS before it begins the handshake, as in PostgreSQL.
    const ASKS_FOR_TLS: bool;

    /// Reader of a client's first bytes.
    fn startup_reader() -> StartupReader;

    /// Session of a client; `None` if nothing is recorded. `connected` is the time at which the client connected.
    fn session(startup: Startup, connected: Nanos) -> Option<Self::Session>;

    /// Observes bytes that the client sent at `now`. `id` is the number of the session.
    fn client_sent(&mut self, id: u64, session: &mut Self::Session, now: Nanos, bytes: &[u8]);

    /// Observes bytes that the server sent at `now`.
    fn server_sent(&mut self, id: u64, session: &mut Self::Session, now: Nanos, bytes: &[u8]);

    /// Observes that the server has sent everything.
    fn server_ended(&mut self, session: &mut Self::Session, now: Nanos);

    /// Ends a session.
    fn finish(&mut self, id: u64, session: Self::Session, now: Nanos);

    /// Called several times per second.
    fn send(&mut self);

    /// Message to a client whose server cannot be reached.
    fn connect_error(error: &io::Error) -> Vec<u8>;
}

impl Observer for BatchSender<'_> {
    type Session = ProxySession;

    const ASKS_FOR_TLS: bool = true;

    fn startup_reader() -> StartupReader {
        StartupReader::default()
    }

    fn session(startup: Startup, connected: Nanos) -> Option<ProxySession> {
        match startup {
            Startup::Session { identity, replication: false } => Some(ProxySession::new(identity, connected)),
            // A session that streams changes has no requests that can be sent again, and a cancel request is no session.
            _ => None,
        }
    }

    #[inline]
    fn client_sent(&mut self, id: u64, session: &mut ProxySession, now: Nanos, bytes: &[u8]) {
        session.from_client(now, bytes, &mut self.sink(id));
    }

    #[inline]
    fn server_sent(&mut self, id: u64, session: &mut ProxySession, now: Nanos, bytes: &[u8]) {
        session.from_server(now, bytes, &mut self.sink(id));
    }

    fn server_ended(&mut self, _: &mut ProxySession, _: Nanos) {}

    fn finish(&mut self, id: u64, session: ProxySession, now: Nanos) {
        session.finish(&mut self.sink(id));
        self.disconnect(id, now);
    }

    fn send(&mut self) {
        BatchSender::send(self);
    }

    fn connect_error(error: &io::Error) -> Vec<u8> {
        // sqlclient_unable_to_establish_sqlconnection
        let fields = format!("SFATAL\0VFATAL\0C08001\0M{error}\0\0");
        let mut message = b"E".to_vec();
        message.extend((fields.len() as u32 + 4).to_be_bytes());
        message.extend(fields.as_bytes());
        message
    }
}
