//! Link: the two sockets of a client and its server process, and the bytes between them

use super::socket::UpstreamTls;
use crate::proxy::StartupReader;
use crate::proxy::mechanisms::MechanismFilter;
use model::Nanos;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SendFlags, Shutdown};
use wire::tls::{TlsError, TlsStream};

/// Capacity in bytes that an endpoint keeps for bytes that are not sent.
const UNSENT_RETAIN_MAX: usize = 64 << 10;

/// Connection of a client, with the connection to the server that belongs to it.
#[derive(Debug)]
pub(super) struct Link<S> {
    /// Number of the session.
    pub id: u64,
    pub connected: Nanos,
    pub phase: Phase,
    pub client: Endpoint,
    /// `None` until the connect has begun.
    pub server: Option<Endpoint>,
    /// `None` if nothing is recorded, as for cancel requests.
    pub session: Option<S>,
    /// Filter of the server's first messages; `None` if they are forwarded as they are.
    pub filter: Option<MechanismFilter>,
    /// True if the client began TLS without a request for it.
    pub is_direct: bool,
}

/// Progress of a link.
#[derive(Debug)]
pub(super) enum Phase {
    /// The client has not sent its StartupMessage yet.
    Startup(StartupReader),
    /// A connect is in progress. `first` are bytes of the client for the server, and `address` the index of the address.
    Connecting {
        first: Vec<u8>,
        address: usize,
    },
    /// The server was asked for TLS and has not answered yet.
    Requesting {
        first: Vec<u8>,
        address: usize,
    },
    Open,
}

/// One socket of a link.
#[derive(Debug)]
pub(super) struct Endpoint {
    pub socket: OwnedFd,
    /// `None` if the bytes are not encrypted.
    pub tls: Option<Box<TlsStream>>,
    /// Events for which the socket is registered.
    events: EventFlags,
    /// Bytes that the socket did not accept yet, from `sent` on.
    unsent: Vec<u8>,
    sent: usize,
    /// True until the peer has sent everything.
    pub is_readable: bool,
    /// True once no more bytes can be sent. Further bytes are dropped.
    is_broken: bool,
    /// True once the other side has sent everything.
    ends: bool,
}

/// Bytes that one side has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Received<'b> {
    pub bytes: &'b [u8],
    /// True if no more bytes follow.
    pub ends: bool,
}

impl Endpoint {
    pub fn new(socket: OwnedFd) -> Endpoint {
        Endpoint {
            socket,
            tls: None,
            events: EventFlags::empty(),
            unsent: Vec::new(),
            sent: 0,
            is_readable: true,
            is_broken: false,
            ends: false,
        }
    }

    /// True if bytes wait until the socket accepts them, or until the handshake is complete.
    #[inline]
    pub fn is_blocked(&self) -> bool {
        self.has_unsent() || self.is_handshaking()
    }

    /// True if bytes wait until the socket accepts them.
    #[inline]
    pub fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// True during the handshake of TLS.
    #[inline]
    pub fn is_handshaking(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.is_handshaking())
    }

    /// Receives bytes into `buffer`, or decrypted bytes into `plain`; `None` if there are none at the moment.
    #[inline]
    pub fn receive<'b>(
        &mut self,
        buffer: &'b mut [u8],
        plain: &'b mut Vec<u8>,
    ) -> Result<Option<Received<'b>>, TlsError> {
        let received = match net::recv(&self.socket, &mut *buffer, RecvFlags::empty()) {
            Ok((received, _)) => received,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
            // A reset connection has sent everything.
            Err(_) => 0,
        };
        let bytes = &buffer[..received];
        if received == 0 || self.tls.is_none() {
            return Ok(Some(Received { bytes, ends: received == 0 }));
        }
        self.decrypt(bytes, plain).map(Some)
    }

    /// Begins the handshake with the server.
    pub fn begin_tls(&mut self, upstream: &UpstreamTls) -> Result<(), TlsError> {
        let mut hello = Vec::new();
        let tls = TlsStream::connect(&upstream.config, &upstream.host, &mut hello)?;
        self.send(&hello);
        self.tls = Some(Box::new(tls));
        Ok(())
    }

    /// Decrypts received bytes into `plain`, and sends what the handshake requires.
    pub fn decrypt<'b>(&mut self, bytes: &[u8], plain: &'b mut Vec<u8>) -> Result<Received<'b>, TlsError> {
        plain.clear();
        let tls = self.tls.as_mut().expect("the bytes are encrypted");
        let received = tls.receive(bytes, plain, &mut self.unsent);
        self.flush();
        received.map(|ends| Received { bytes: plain, ends })
    }

    /// Sends bytes, or keeps those that the socket does not accept now.
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) {
        if let Some(tls) = &mut self.tls {
            tls.send(bytes, &mut self.unsent);
            return self.flush();
        }
        let sent = if self.unsent.is_empty() { self.try_send(bytes) } else { 0 };
        if sent < bytes.len() {
            self.unsent.extend_from_slice(&bytes[sent..]);
        }
    }

    /// Sends the kept bytes.
    pub fn flush(&mut self) {
        let unsent = std::mem::take(&mut self.unsent);
        self.sent += self.try_send(&unsent[self.sent..]);
        self.unsent = unsent;
        if self.sent == self.unsent.len() {
            self.sent = 0;
            self.unsent.clear();
            self.unsent.shrink_to(UNSENT_RETAIN_MAX);
            if self.ends {
                let _ = net::shutdown(&self.socket, Shutdown::Write);
            }
        }
    }

    /// Ends this direction after the kept bytes.
    pub fn end(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.close(&mut self.unsent);
        }
        self.ends = true;
        self.flush();
    }

    /// Number of bytes that were sent. Of a broken connection, these are all.
    #[inline]
    fn try_send(&mut self, bytes: &[u8]) -> usize {
        let mut sent = 0;
        while sent < bytes.len() && !self.is_broken {
            match net::send(&self.socket, &bytes[sent..], SendFlags::NOSIGNAL) {
                Ok(n) => sent += n,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return sent,
                Err(_) => self.is_broken = true,
            }
        }
        bytes.len()
    }

    /// Registers the socket for these events and for writability if it is blocked. A socket without events is not
    /// registered, because epoll reports a hang-up in any case.
    pub fn register(&mut self, epoll: &OwnedFd, data: u64, reads: bool, connects: bool) -> Result<(), Errno> {
        let mut events = EventFlags::empty();
        events.set(EventFlags::IN, reads);
        events.set(EventFlags::OUT, connects || self.has_unsent());
        if events == self.events {
            return Ok(());
        }
        let data = EventData::new_u64(data);
        let before = std::mem::replace(&mut self.events, events);
        if events.is_empty() {
            epoll::delete(epoll, &self.socket)
        } else if before.is_empty() {
            epoll::add(epoll, &self.socket, data, events)
        } else {
            epoll::modify(epoll, &self.socket, data, events)
        }
    }
}
