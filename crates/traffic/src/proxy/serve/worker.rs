//! Worker: one thread's event loop, which forwards the bytes of its links

mod opening;

use super::link::{Endpoint, Link, Phase};
use super::observer::Observer;
use super::socket::tune;
use super::{Proxy, ProxyEvent, TICK};
use crate::proxy::mechanisms::{FilterProgress, MechanismFilter};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::time::Timespec;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use wire::tls::{TlsError, TlsServer};

/// Maximum number of events per wait.
const EVENTS: usize = 256;
/// Size of the receive buffer, in bytes.
const BUFFER: usize = 64 << 10;
/// Interval of the attempts to connect to a Unix socket whose queue is full.
const RETRY: Duration = Duration::from_millis(2);
/// Event data of the inbox.
const INBOX: u64 = u64::MAX;

/// New clients of a worker.
#[derive(Debug)]
pub(super) struct Inbox {
    clients: Mutex<Vec<OwnedFd>>,
    wake: OwnedFd,
    is_closed: AtomicBool,
}

impl Inbox {
    pub fn new() -> io::Result<Inbox> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Inbox { clients: Mutex::default(), wake, is_closed: AtomicBool::new(false) })
    }

    /// Adds a client, and wakes the worker.
    pub fn add(&self, client: OwnedFd) -> io::Result<()> {
        self.clients.lock().expect("no thread panics").push(client);
        rustix::io::write(&self.wake, &1u64.to_ne_bytes())?;
        Ok(())
    }

    /// Ends the worker.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
    }
}

/// One of the two sockets of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Client,
    Server,
}

pub(super) struct Worker<'a, O: Observer> {
    proxy: &'a Proxy<'a>,
    inbox: &'a Inbox,
    observer: O,
    /// Number of sessions of all workers.
    sessions: &'a AtomicU64,
    epoll: OwnedFd,
    links: Vec<Option<Link<O::Session>>>,
    /// Unused indices of `links`.
    free: Vec<usize>,
    /// Links whose connect must be repeated.
    retries: Vec<usize>,
    /// Received bytes.
    buffer: Vec<u8>,
    /// Decrypted bytes.
    plain: Vec<u8>,
}

impl<'a, O: Observer> Worker<'a, O> {
    pub fn new(
        proxy: &'a Proxy<'a>,
        inbox: &'a Inbox,
        observer: O,
        sessions: &'a AtomicU64,
    ) -> io::Result<Worker<'a, O>> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &inbox.wake, EventData::new_u64(INBOX), EventFlags::IN)?;
        let (links, free, retries) = (Vec::new(), Vec::new(), Vec::new());
        let (buffer, plain) = (vec![0; BUFFER], Vec::new());
        Ok(Worker { proxy, inbox, observer, sessions, epoll, links, free, retries, buffer, plain })
    }

    /// Forwards until the proxy is stopped.
    ///
    /// # Errors
    /// Returns an error if epoll fails.
    pub fn run(mut self) -> io::Result<()> {
        let mut events = Vec::with_capacity(EVENTS);
        let mut next_send = (self.proxy.clock)();
        while !self.proxy.stop.load(Ordering::Relaxed) && !self.inbox.is_closed.load(Ordering::Relaxed) {
            events.clear();
            let timeout = if self.retries.is_empty() { TICK } else { RETRY };
            let timeout = Timespec { tv_sec: 0, tv_nsec: timeout.as_nanos() as i64 };
            match epoll::wait(&self.epoll, spare_capacity(&mut events), Some(&timeout)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in &events {
                match event.data.u64() {
                    INBOX => self.accept(),
                    data => {
                        let side = if data % 2 == 0 { Side::Client } else { Side::Server };
                        self.on_event((data / 2) as usize, side, event.flags);
                    }
                }
            }
            for index in std::mem::take(&mut self.retries) {
                self.connect(index);
            }
            let now = (self.proxy.clock)();
            if now >= next_send {
                self.observer.send();
                next_send = now + TICK.into();
            }
        }
        for index in 0..self.links.len() {
            self.close(index);
        }
        self.observer.send();
        Ok(())
    }

    /// Adds the new clients.
    fn accept(&mut self) {
        let _ = rustix::io::read(&self.inbox.wake, &mut [0u8; 8]);
        let clients = std::mem::take(&mut *self.inbox.clients.lock().expect("no thread panics"));
        for socket in clients {
            tune(&socket);
            let link = Link {
                id: self.sessions.fetch_add(1, Ordering::Relaxed),
                connected: (self.proxy.clock)(),
                phase: Phase::Startup(O::startup_reader()),
                client: Endpoint::new(socket),
                server: None,
                session: None,
                filter: None,
                is_direct: false,
            };
            let index = self.free.pop().unwrap_or_else(|| {
                self.links.push(None);
                self.links.len() - 1
            });
            self.links[index] = Some(link);
            self.register(index);
        }
    }

    #[inline]
    fn on_event(&mut self, index: usize, side: Side, flags: EventFlags) {
        let Some(Some(link)) = self.links.get_mut(index) else { return };
        match link.phase {
            Phase::Startup(_) => {
                // The rest of a handshake.
                if link.client.has_unsent() {
                    link.client.flush();
                    self.register(index);
                }
                self.receive_startup(index);
            }
            Phase::Connecting { .. } if side == Side::Server => self.on_connected(index),
            Phase::Requesting { .. } if side == Side::Server => self.receive_answer(index),
            Phase::Connecting { .. } | Phase::Requesting { .. } => {}
            Phase::Open => {
                let Some(server) = &mut link.server else { return };
                let (source, other) = match side {
                    Side::Client => (&mut link.client, server),
                    Side::Server => (server, &mut link.client),
                };
                let is_ready = flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR);
                let forwards = is_ready && source.is_readable && !other.is_blocked();
                if source.has_unsent() {
                    source.flush();
                    self.register(index);
                }
                if forwards {
                    self.forward(index, side);
                }
            }
        }
    }

    /// Receives bytes from one side of an open link, sends them to the other side, and then observes them.
    #[inline]
    fn forward(&mut self, index: usize, side: Side) {
        let Some(Some(link)) = self.links.get_mut(index) else { return };
        let Some(server) = &mut link.server else { return };
        let (source, other) = match side {
            Side::Client => (&mut link.client, server),
            Side::Server => (server, &mut link.client),
        };
        let received = match source.receive(&mut self.buffer, &mut self.plain) {
            Ok(Some(received)) => received,
            Ok(None) => return,
            Err(error) => return self.fail(index, side, error),
        };
        let (mut bytes, ends) = (received.bytes, received.ends);
        let mut offer = Vec::new();
        if side == Side::Server && link.filter.is_some() {
            filter_offer(&mut link.filter, self.proxy, (source, other), bytes, &mut offer);
            bytes = &offer;
        }
        if !bytes.is_empty() {
            let now = (self.proxy.clock)();
            other.send(bytes);
            if let Some(session) = &mut link.session {
                match side {
                    Side::Client => self.observer.client_sent(link.id, session, now, bytes),
                    Side::Server => self.observer.server_sent(link.id, session, now, bytes),
                }
            }
        }
        let is_plain = source.tls.is_none() && other.tls.is_none();
        if !is_plain || ends || other.is_blocked() || source.is_blocked() {
            self.after_forward(index, side, ends);
        }
    }

    /// Registers the sockets of a link after its bytes were forwarded. `ends` is true if no more bytes follow.
    fn after_forward(&mut self, index: usize, side: Side, ends: bool) {
        let Some(Some(link)) = self.links.get_mut(index) else { return };
        let Some(server) = &mut link.server else { return };
        if ends && side == Side::Server && server.is_handshaking() {
            return self
                .refuse(index, TlsError("the server closed the connection during the handshake").into());
        }
        if ends {
            let (source, other) = match side {
                Side::Client => (&mut link.client, server),
                Side::Server => (server, &mut link.client),
            };
            source.is_readable = false;
            other.end();
            if let (Side::Server, Some(session)) = (side, &mut link.session) {
                self.observer.server_ended(session, (self.proxy.clock)());
            }
            if !other.is_readable {
                return self.close(index);
            }
        }
        self.register(index);
    }

    /// Ends a link whose encryption failed on one side.
    fn fail(&mut self, index: usize, side: Side, error: TlsError) {
        let Some(Some(link)) = self.links.get_mut(index) else { return };
        match side {
            Side::Server if link.server.as_ref().is_some_and(Endpoint::is_handshaking) => {
                self.refuse(index, error.into());
            }
            _ => self.close(index),
        }
    }

    /// Registers both sockets of a link for the events that it needs.
    fn register(&mut self, index: usize) {
        let Some(Some(link)) = self.links.get_mut(index) else { return };
        let is_blocked = |endpoint: Option<&Endpoint>| endpoint.is_some_and(Endpoint::is_blocked);
        let (reads_client, reads_server, connects) = match link.phase {
            Phase::Startup(_) => (true, false, false),
            Phase::Connecting { .. } => (false, false, true),
            Phase::Requesting { .. } => (false, true, false),
            Phase::Open => (
                link.client.is_readable && !is_blocked(link.server.as_ref()),
                link.server.as_ref().is_some_and(|it| it.is_readable) && !link.client.is_blocked(),
                false,
            ),
        };
        let data = 2 * index as u64;
        let mut registered = link.client.register(&self.epoll, data, reads_client, false);
        if let Some(server) = &mut link.server {
            registered = registered.and(server.register(&self.epoll, data + 1, reads_server, connects));
        }
        if registered.is_err() {
            self.close(index);
        }
    }

    /// Closes both sockets of a link, and ends its session.
    fn close(&mut self, index: usize) {
        let Some(link) = self.links[index].take() else { return };
        self.free.push(index);
        if let Some(session) = link.session {
            self.observer.finish(link.id, session, (self.proxy.clock)());
        }
    }
}

/// Filters the first messages of a server over TLS into `out`, unless the client received the server's certificate.
#[cold]
fn filter_offer(
    slot: &mut Option<MechanismFilter>,
    proxy: &Proxy<'_>,
    (server, client): (&Endpoint, &Endpoint),
    bytes: &[u8],
    out: &mut Vec<u8>,
) {
    let presented = proxy.tls.as_ref().filter(|_| client.tls.is_some()).map(TlsServer::certificate);
    let received = server.tls.as_ref().and_then(|tls| tls.peer_certificate());
    let progress = match slot {
        Some(filter) if presented.is_none() || presented != received => filter.filter(bytes, out),
        _ => {
            out.extend_from_slice(bytes);
            FilterProgress::Passed { removed: false }
        }
    };
    let FilterProgress::Passed { removed } = progress else { return };
    *slot = None;
    if removed && client.tls.is_some() {
        (proxy.report)(ProxyEvent::ChannelBindingRemoved);
    }
}
