//! Worker: one thread's event loop, which forwards the bytes of its links

use super::batch::BatchSender;
use super::link::{Endpoint, Link, Phase};
use super::socket::{Connect, begin_connect, tune};
use super::{Proxy, ProxyEvent, TICK};
use crate::proxy::{ProxySession, Startup, StartupReader};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{self, RecvFlags, sockopt};
use rustix::time::Timespec;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

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

pub(super) struct Worker<'a> {
    proxy: &'a Proxy<'a>,
    inbox: &'a Inbox,
    batches: BatchSender<'a>,
    /// Number of sessions of all workers.
    sessions: &'a AtomicU64,
    epoll: OwnedFd,
    links: Vec<Option<Link>>,
    /// Unused indices of `links`.
    free: Vec<usize>,
    /// Links whose connect must be repeated.
    retries: Vec<usize>,
    buffer: Vec<u8>,
}

impl<'a> Worker<'a> {
    pub fn new(
        proxy: &'a Proxy<'a>,
        inbox: &'a Inbox,
        batches: BatchSender<'a>,
        sessions: &'a AtomicU64,
    ) -> io::Result<Worker<'a>> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &inbox.wake, EventData::new_u64(INBOX), EventFlags::IN)?;
        let (links, free, retries) = (Vec::new(), Vec::new(), Vec::new());
        let buffer = vec![0; BUFFER];
        Ok(Worker { proxy, inbox, batches, sessions, epoll, links, free, retries, buffer })
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
                self.batches.send();
                next_send = now + TICK.into();
            }
        }
        for index in 0..self.links.len() {
            self.close(index);
        }
        self.batches.send();
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
                phase: Phase::Startup(StartupReader::default()),
                client: Endpoint::new(socket),
                server: None,
                session: None,
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
            Phase::Startup(_) => self.receive_startup(index),
            Phase::Connecting { .. } if side == Side::Server => self.on_connected(index),
            Phase::Connecting { .. } => {}
            Phase::Open => {
                let Some(server) = &mut link.server else { return };
                let (source, other) = match side {
                    Side::Client => (&mut link.client, server),
                    Side::Server => (server, &mut link.client),
                };
                let is_ready = flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR);
                let forwards = is_ready && source.is_readable && !other.is_blocked();
                if source.is_blocked() {
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
        let received = match net::recv(&source.socket, &mut *self.buffer, RecvFlags::empty()) {
            Ok((received, _)) => received,
            Err(Errno::AGAIN | Errno::INTR) => return,
            // A reset connection has sent everything.
            Err(_) => 0,
        };
        if received == 0 {
            source.is_readable = false;
            other.end();
            if !other.is_readable {
                return self.close(index);
            }
            return self.register(index);
        }
        let now = (self.proxy.clock)();
        let bytes = &self.buffer[..received];
        other.send(bytes);
        let is_blocked = other.is_blocked() || source.is_blocked();
        if let Some(session) = &mut link.session {
            let sink = &mut self.batches.sink(link.id);
            match side {
                Side::Client => session.from_client(now, bytes, sink),
                Side::Server => session.from_server(now, bytes, sink),
            }
        }
        if is_blocked {
            self.register(index);
        }
    }

    /// Receives the first packets of a client.
    fn receive_startup(&mut self, index: usize) {
        let Some(Some(link)) = self.links.get_mut(index) else { return };
        let Phase::Startup(reader) = &mut link.phase else { return };
        let received = match net::recv(&link.client.socket, &mut *self.buffer, RecvFlags::empty()) {
            Ok((received @ 1.., _)) => received,
            Err(Errno::AGAIN | Errno::INTR) => return,
            _ => return self.close(index),
        };
        match reader.read(&self.buffer[..received]) {
            Startup::Incomplete => return,
            // A server without TLS gives the same answer.
            Startup::Encryption => return link.client.send(b"N"),
            Startup::Invalid => return self.close(index),
            Startup::Cancel => {}
            // A session that streams changes has no requests that can be sent again.
            Startup::Session { replication: true, .. } => {}
            Startup::Session { identity, .. } => {
                link.session = Some(ProxySession::new(identity, link.connected));
            }
        }
        let length = reader.packet_length();
        let first = std::mem::take(reader).into_bytes();
        if let Some(session) = &mut link.session {
            let now = (self.proxy.clock)();
            session.from_client(now, &first[length..], &mut self.batches.sink(link.id));
        }
        link.phase = Phase::Connecting { first, address: 0 };
        self.connect(index);
    }

    /// Connects to the current address of the server, or to the next one that can be reached.
    fn connect(&mut self, index: usize) {
        let Some(Some(link)) = self.links.get_mut(index) else { return };
        let Phase::Connecting { address, .. } = &mut link.phase else { return };
        loop {
            match begin_connect(&self.proxy.upstream[*address]) {
                Ok(Connect::Open(socket)) => {
                    link.server = Some(Endpoint::new(socket));
                    return self.open(index);
                }
                Ok(Connect::InProgress(socket)) => {
                    link.server = Some(Endpoint::new(socket));
                    return self.register(index);
                }
                Ok(Connect::Busy) => {
                    self.retries.push(index);
                    return self.register(index);
                }
                Err(_) if *address + 1 < self.proxy.upstream.len() => *address += 1,
                Err(error) => return self.refuse(index, error),
            }
        }
    }

    /// Handles the end of a connect.
    fn on_connected(&mut self, index: usize) {
        let Some(Some(link)) = self.links.get_mut(index) else { return };
        let Some(server) = &link.server else { return };
        let Phase::Connecting { address, .. } = &mut link.phase else { return };
        match sockopt::socket_error(&server.socket) {
            Ok(Ok(())) => self.open(index),
            Ok(Err(_)) if *address + 1 < self.proxy.upstream.len() => {
                *address += 1;
                link.server = None;
                self.connect(index);
            }
            Ok(Err(error)) | Err(error) => self.refuse(index, error),
        }
    }

    /// Begins to forward.
    fn open(&mut self, index: usize) {
        let Some(Some(link)) = self.links.get_mut(index) else { return };
        let Some(server) = &mut link.server else { return };
        if let Phase::Connecting { first, .. } = std::mem::replace(&mut link.phase, Phase::Open) {
            server.send(&first);
        }
        self.register(index);
    }

    /// Reports to the client that the server cannot be reached, and closes the link.
    fn refuse(&mut self, index: usize, error: Errno) {
        let Some(Some(link)) = self.links.get_mut(index) else { return };
        let error = io::Error::from(error);
        // sqlclient_unable_to_establish_sqlconnection
        let fields = format!("SFATAL\0VFATAL\0C08001\0M{error}\0\0");
        let mut message = b"E".to_vec();
        message.extend((fields.len() as u32 + 4).to_be_bytes());
        message.extend(fields.as_bytes());
        link.client.send(&message);
        (self.proxy.report)(ProxyEvent::ConnectFailed(error));
        self.close(index);
    }

    /// Registers both sockets of a link for the events that it needs.
    fn register(&mut self, index: usize) {
        let Some(Some(link)) = self.links.get_mut(index) else { return };
        let is_blocked = |endpoint: Option<&Endpoint>| endpoint.is_some_and(Endpoint::is_blocked);
        let (reads_client, reads_server, connects) = match link.phase {
            Phase::Startup(_) => (true, false, false),
            Phase::Connecting { .. } => (false, false, true),
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
            session.finish(&mut self.batches.sink(link.id));
            self.batches.disconnect(link.id, (self.proxy.clock)());
        }
    }
}
