//! Sans-I/O state machine of one PostgreSQL connection.

use super::auth::ChannelProtection;
use super::session::{Session, SessionStage, Step};
use super::{Encryption, Event, Login, ProtocolError, SslMode, Transport};
use crate::output::OutputBuffer;
use crate::tls::{self, TlsInfo};
use crate::x509::Certificate;
use rustls::ClientConnection;
use std::fmt;
use std::io::{BufRead, ErrorKind};
use std::sync::Arc;

/// State machine of one connection: bytes in, events and bytes out.
///
/// ```text
/// open ─▶ (SSLRequest ─▶ handshake) ─▶ StartupMessage ─▶ authentication ─▶ Opened ─▶ (request ─▶ Ready)*
/// ```
///
/// After an `Err`, or an `Event::Error` before `Opened`, the connection is unusable and must be closed.
pub struct Channel {
    out: OutputBuffer,
    session: Session,
    transport: Transport,
    /// Encryption with which this connection was opened.
    attempt: Encryption,
    tls: Tls,
}

#[derive(Debug)]
enum Tls {
    No,
    /// The client has sent SSLRequest, and the server has not responded yet.
    Requested,
    Active(Box<TlsSession>),
}

#[derive(Debug)]
struct TlsSession {
    connection: ClientConnection,
    /// Number of bytes of the first decrypted chunk that were consumed.
    used: usize,
    /// True if the handshake is complete.
    established: bool,
}

impl fmt::Debug for Channel {
    /// Formats the channel without its outgoing bytes, because they may contain a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = self.session.stage();
        f.debug_struct("Channel")
            .field("stage", &stage)
            .field("queued", &self.outgoing().len())
            .finish_non_exhaustive()
    }
}

impl Channel {
    /// Creates the channel of one connection. `nonce` must be freshly generated for each connection, because SCRAM uses
    /// it.
    pub fn new(login: Arc<Login>, transport: Transport, nonce: [u8; 18]) -> Channel {
        Channel {
            out: OutputBuffer::default(),
            attempt: login.first_attempt(transport),
            session: Session::new(login, nonce),
            transport,
            tls: Tls::No,
        }
    }

    /// Creates a channel for another connection to the same server. The only purpose of that connection is to cancel
    /// this session's current statement.
    ///
    /// It is encrypted in the same way as this connection, and the server closes it without a response. Returns `None`
    /// if the server sent no cancel key, or if [`Login::send_cancel`] is false.
    pub fn cancel_channel(&self) -> Option<Channel> {
        if !self.session.login.send_cancel {
            return None;
        }
        let session = Session::for_cancel(self.session.login.clone(), self.session.backend?);
        let Channel { transport, attempt, .. } = *self;
        Some(Channel { out: OutputBuffer::default(), session, transport, attempt, tls: Tls::No })
    }

    /// Allows cancel requests for this session, as [`Login::send_cancel`] does.
    pub fn allow_cancel(&mut self) {
        Arc::make_mut(&mut self.session.login).send_cancel = true;
    }

    /// Starts the protocol on a connected transport: queues SSLRequest, StartupMessage or CancelRequest.
    pub fn open(&mut self) {
        self.open_with(self.attempt);
    }

    /// Starts the protocol for a second attempt with this encryption, see `second_attempt`.
    pub fn open_with(&mut self, attempt: Encryption) {
        self.attempt = attempt;
        match attempt {
            Encryption::Plain => self.out.bytes().extend(self.session.startup()),
            Encryption::Tls => {
                self.tls = Tls::Requested;
                self.out.bytes().extend_from_slice(SSL_REQUEST);
            }
        }
    }

    /// Encryption of a second attempt after a failed login; `None` if no second attempt is allowed. A second attempt
    /// needs a new connection and a new channel. Only `allow` and `prefer` of `sslmode` permit it.
    pub fn second_attempt(&self) -> Option<Encryption> {
        let login = &self.session.login;
        let first = self.attempt == login.first_attempt(self.transport);
        if first && self.session.retry_without_encryption {
            login.second_attempt(self.transport, self.attempt)
        } else {
            None
        }
    }

    /// Returns the next event in `input`, and consumes its bytes. Callers repeat the call until it returns `More`.
    #[inline]
    pub fn receive<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Result<Event<'a>, ProtocolError> {
        if !matches!(self.tls, Tls::No) {
            return self.receive_tls(input);
        }
        loop {
            let before = *input;
            match self.session.next(input)? {
                Step::More => return Ok(self.session.last_reply()?.map_or(Event::More, Event::Ready)),
                Step::Ready(reply) => return Ok(Event::Ready(reply)),
                Step::Event { tag, body } => {
                    return self.session.event(tag, body, &before[..before.len() - input.len()]);
                }
                Step::Send(bytes) => self.out.bytes().extend(bytes),
            }
        }
    }

    /// Enables or disables the events for rows, columns and command tags, up to the next `Ready`.
    pub fn set_watched(&mut self, enabled: bool) {
        self.session.watch(enabled);
    }

    /// Queues a request: `write` appends whole frontend messages to the buffer. The server responds to each Query or
    /// Sync in the request with one `Ready`. After the last `Ready`, only asynchronous messages may arrive.
    ///
    /// Callers may send requests only after `Opened`.
    #[inline]
    pub fn request(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        debug_assert_eq!(
            self.session.stage(),
            SessionStage::Open,
            "requests are allowed only after `Opened`"
        );
        let out = self.out.bytes();
        let from = out.len();
        write(out);
        self.session.request(&out[from..]);
        if let Tls::Active(spoken) = &mut self.tls {
            tls::encrypt_from(&mut spoken.connection, out, from);
        }
    }

    /// True if the login is complete, so that requests may be sent.
    pub fn is_open(&self) -> bool {
        self.session.stage() == SessionStage::Open
    }

    /// Bytes to be sent.
    #[inline]
    pub fn outgoing(&self) -> &[u8] {
        self.out.unsent()
    }

    /// Marks the first `n` bytes of `outgoing` as sent, and removes them.
    #[inline]
    pub fn sent(&mut self, n: usize) {
        self.out.mark_sent(n);
    }

    /// Process ID and cancel key of the server process, for a cancel request; `None` if the server sent no key.
    pub fn backend(&self) -> Option<(i32, i32)> {
        self.session.backend
    }

    /// Most recent value of a server parameter such as `server_version`; only with `Login::keep_parameters`.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.session.parameter(name)
    }

    /// TLS version and cipher; `None` if the connection is not encrypted.
    pub fn protection(&self) -> Option<TlsInfo> {
        if let Tls::Active(spoken) = &self.tls { tls::protection(&spoken.connection) } else { None }
    }

    /// Heap memory of the channel in bytes, without the data of `Login` and rustls.
    pub fn memory(&self) -> usize {
        self.out.memory() + self.session.memory()
    }

    fn receive_tls<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Result<Event<'a>, ProtocolError> {
        if let Tls::Requested = self.tls {
            let Some((&answer, rest)) = input.split_first() else { return Ok(Event::More) };
            *input = rest;
            self.handle_ssl_response(answer, rest)?;
            return self.receive(input);
        }
        let (tag, body) = loop {
            let Tls::Active(spoken) = &mut self.tls else { return Ok(Event::More) };
            spoken.connection.reader().consume(std::mem::take(&mut spoken.used));
            match spoken.connection.reader().into_first_chunk() {
                Ok(chunk) if !chunk.is_empty() => {
                    let mut rest = chunk;
                    let step = self.session.next(&mut rest);
                    spoken.used = chunk.len() - rest.len();
                    match step? {
                        Step::More => {}
                        Step::Ready(reply) => return Ok(Event::Ready(reply)),
                        Step::Event { tag, body } => break (tag, body),
                        Step::Send(bytes) => self.encrypt(&bytes),
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock && !input.is_empty() => {
                    self.decrypt(input)?;
                }
                // No data is left, or the server has closed its sending direction.
                _ => {
                    *input = &[];
                    return Ok(self.session.last_reply()?.map_or(Event::More, Event::Ready));
                }
            }
        };
        let Tls::Active(spoken) = &mut self.tls else { return Ok(Event::More) };
        let chunk = spoken.connection.reader().into_first_chunk().unwrap_or_default();
        self.session.event(tag, body, &chunk[..spoken.used])
    }

    /// Handles the server's response to SSLRequest, and the bytes after it.
    fn handle_ssl_response(&mut self, answer: u8, rest: &[u8]) -> Result<(), ProtocolError> {
        let login = self.session.login.clone();
        match answer {
            // Bytes injected into the plain connection must not be processed on the encrypted connection:
            // CVE-2021-23214.
            b'S' | b'N' if !rest.is_empty() => {
                Err(ProtocolError::Tls("the server sent data before the handshake"))
            }
            b'S' => {
                let config = login.tls.clone().ok_or(ProtocolError::NoTls)?;
                let mut connection = ClientConnection::new(config, tls::server_name(&login.host))
                    .map_err(|error| ProtocolError::Tls(tls::describe(&error)))?;
                connection.set_buffer_limit(None);
                self.tls = Tls::Active(Box::new(TlsSession { connection, used: 0, established: false }));
                // rustls sends these bytes only after it has accepted the server's certificate.
                self.encrypt(&self.session.startup());
                Ok(())
            }
            b'N' if matches!(login.ssl, SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull) => {
                Err(ProtocolError::NoTls)
            }
            b'N' => {
                self.tls = Tls::No;
                self.attempt = Encryption::Plain;
                self.out.bytes().extend(self.session.startup());
                Ok(())
            }
            // An error at this point is not authenticated and must not be displayed: CVE-2024-10977.
            tag => Err(ProtocolError::Unexpected { tag }),
        }
    }

    fn encrypt(&mut self, plain: &[u8]) {
        if let Tls::Active(spoken) = &mut self.tls {
            let out = self.out.bytes();
            let from = out.len();
            out.extend_from_slice(plain);
            tls::encrypt_from(&mut spoken.connection, out, from);
        }
    }

    fn decrypt(&mut self, input: &mut &[u8]) -> Result<(), ProtocolError> {
        let Tls::Active(spoken) = &mut self.tls else { return Ok(()) };
        let TlsSession { connection, established: stands, .. } = &mut **spoken;
        if connection.read_tls(input).map_err(|_| ProtocolError::Tls("a record is too long"))? == 0 {
            // Everything after close_notify is ignored.
            *input = &[];
        }
        let processed = connection.process_new_packets();
        tls::flush(connection, self.out.bytes());
        if let Err(error) = processed {
            self.session.retry_without_encryption |= self.session.stage() == SessionStage::Authenticating;
            return Err(ProtocolError::Tls(tls::describe(&error)));
        }
        if !*stands && !connection.is_handshaking() {
            *stands = true;
            let certificate = connection.peer_certificates().and_then(|it| it.first());
            let hash = certificate.and_then(|der| Certificate::read(der)?.channel_binding_hash());
            self.session.set_protection(ChannelProtection::Tls(hash));
        }
        Ok(())
    }
}

/// Source: PostgreSQL manual, "Message Formats".
const SSL_REQUEST: &[u8] = b"\0\0\0\x08\x04\xd2\x16\x2f";
