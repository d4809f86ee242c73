//! epoll driver: edge-triggered, with inline sends and one receive buffer for all connections

use super::socket::{begin_connect, connect_result, enable_keepalive};
use super::{
    DriveResult, DriverContext, DriverState, Properties, describe, index, is_local_exhaustion, run_shell,
};
use crate::recorder::Recorder;
use crate::shard::{Action, ConnId, Shard};
use model::{Code, Nanos};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SendFlags};
use rustix::time::Timespec;
use std::io;

pub(super) const PROPERTIES: Properties =
    Properties { requirement: None, suits_few: true, reserves_files: false };

/// Maximum number of events per wait.
const EVENTS: usize = 256;
/// Size of the receive buffer, in bytes.
const BUFFER: usize = 64 * 1024;

/// Epoll implementation of [`super::Driver::drive`]. Fails if a call of epoll fails.
pub(super) fn drive<R: Recorder>(shard: Shard<R>, ground: &DriverContext<'_>) -> io::Result<DriveResult<R>> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let links = Vec::new();
    let mut driver = EpollLoop { shard, ground, epoll, links, exhausted: 0 };
    let mut progress = DriverState::new();
    let mut events = Vec::with_capacity(EVENTS);
    let mut buffer = vec![0; BUFFER];
    loop {
        let now = ground.clock.now();
        progress.update(now, &mut driver.shard, ground);
        driver.shard.advance(now);
        let Some(deadline) = driver.perform() else { break };
        let wait = progress.sleep_until(now, deadline);
        // Shortly before the due time, the driver polls instead of sleeping.
        let sleep = wait - ground.spin;
        let spins = sleep == Nanos::ZERO && wait > Nanos::ZERO;
        let sleep = progress.coalesce(now, sleep, ground);
        events.clear();
        driver.wait(&mut events, sleep)?;
        progress.meter.wakeups += 1;
        if spins && events.is_empty() {
            progress.meter.spun += ground.clock.now() - now;
        }
        for event in &events {
            let conn = ConnId(event.data.u64() as u32);
            let flags = event.flags;
            if flags.intersects(EventFlags::OUT | EventFlags::ERR | EventFlags::HUP) {
                driver.on_writable(conn);
            }
            let ends = flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
            if ends || flags.contains(EventFlags::IN) {
                driver.on_readable(conn, ends, &mut buffer);
            }
        }
    }
    let now = ground.clock.now();
    Ok(DriveResult {
        shard: driver.shard,
        effort: progress.finish(now),
        exhausted: driver.exhausted,
        finished: now,
    })
}

struct EpollLoop<'a, R> {
    shard: Shard<R>,
    ground: &'a DriverContext<'a>,
    epoll: OwnedFd,
    /// Connections, indexed by connection number.
    links: Vec<Option<Connection>>,
    exhausted: u64,
}

struct Connection {
    socket: OwnedFd,
    /// True while `connect` is in progress.
    connecting: bool,
    /// True after a partial send; epoll then reports when the socket is writable.
    blocked: bool,
}

impl<R: Recorder> EpollLoop<'_, R> {
    fn wait(&self, events: &mut Vec<epoll::Event>, sleep: Nanos) -> io::Result<()> {
        let timeout =
            Timespec { tv_sec: (sleep.0 / 1_000_000_000) as i64, tv_nsec: (sleep.0 % 1_000_000_000) as i64 };
        match epoll::wait(&self.epoll, spare_capacity(events), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Performs all actions of the shard. Returns the time until which the shard waits; `None` when the shard is done.
    #[inline]
    fn perform(&mut self) -> Option<Nanos> {
        loop {
            match self.shard.poll() {
                Action::Transmit(conn, bytes) => {
                    let Some(Some(link)) = self.links.get(index(conn)) else { continue };
                    let sent = net::send(&link.socket, bytes, SendFlags::NOSIGNAL);
                    let complete = sent == Ok(bytes.len());
                    match sent {
                        Ok(n) => {
                            self.shard.sent(conn, n);
                            if !complete {
                                self.shard.writable(conn);
                            }
                        }
                        Err(Errno::INTR) => self.shard.writable(conn),
                        Err(Errno::AGAIN) => self.await_writable(conn),
                        Err(error) => self.broken(conn, error),
                    }
                }
                Action::Wait(deadline) => return Some(deadline),
                Action::Done => return None,
                Action::Connect(conn) => self.connect(conn),
                Action::Finish(conn) => {
                    if let Some(link) = self.link(conn) {
                        let _ = net::shutdown(&link.socket, net::Shutdown::Write);
                    }
                }
                Action::Close(conn) => self.close(conn),
                Action::Probe(conn) => {
                    if let Some(link) = self.link(conn) {
                        enable_keepalive(&link.socket);
                    }
                }
                Action::Shell { conn, line, keep } => {
                    run_shell(&mut self.shard, self.ground, conn, &line, keep);
                }
                // The event is dropped if its receiver has ended.
                Action::Report(event) => drop(self.ground.events.send(event)),
            }
        }
    }

    fn link(&self, conn: ConnId) -> Option<&Connection> {
        self.links.get(index(conn))?.as_ref()
    }

    fn connect(&mut self, conn: ConnId) {
        if self.links.len() <= index(conn) {
            self.links.resize_with(index(conn) + 1, || None);
        }
        match begin_connect(self.ground.address(self.shard.target(conn))) {
            Ok((socket, open)) => {
                let out = if open { EventFlags::empty() } else { EventFlags::OUT };
                let events = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET | out;
                if let Err(error) =
                    epoll::add(&self.epoll, &socket, EventData::new_u64(conn.0.into()), events)
                {
                    return self.broken(conn, error);
                }
                self.links[index(conn)] = Some(Connection { socket, connecting: !open, blocked: false });
                if open {
                    self.shard.connected(self.ground.clock.now(), conn);
                }
            }
            Err(error) => self.broken(conn, error),
        }
    }

    fn close(&mut self, conn: ConnId) {
        if let Some(link) = self.links.get_mut(index(conn)) {
            // Closing the dropped descriptor also removes it from the epoll set.
            *link = None;
        }
    }

    fn broken(&mut self, conn: ConnId, error: Errno) {
        self.exhausted += u64::from(is_local_exhaustion(error));
        let now = self.ground.clock.now();
        self.shard.broken(now, conn, Code::Net(error.raw_os_error() as u16), &describe(error));
    }

    /// Watches for writability after the kernel refused further bytes.
    #[cold]
    fn await_writable(&mut self, conn: ConnId) {
        self.watch(conn, EventFlags::OUT, true);
    }

    fn watch(&mut self, conn: ConnId, out: EventFlags, blocked: bool) {
        let Some(Some(link)) = self.links.get_mut(index(conn)) else { return };
        link.blocked = blocked;
        let events = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET | out;
        if let Err(error) =
            epoll::modify(&self.epoll, &link.socket, EventData::new_u64(conn.0.into()), events)
        {
            self.broken(conn, error);
        }
    }

    fn on_writable(&mut self, conn: ConnId) {
        let Some(Some(link)) = self.links.get_mut(index(conn)) else { return };
        if link.connecting {
            link.connecting = false;
            match connect_result(&link.socket) {
                Ok(()) => {
                    self.shard.connected(self.ground.clock.now(), conn);
                    // Stop watching for writability. Otherwise every response would also report that the socket is
                    // writable.
                    self.watch(conn, EventFlags::empty(), false);
                }
                Err(error) => self.broken(conn, error),
            }
        } else if link.blocked {
            self.watch(conn, EventFlags::empty(), false);
            self.shard.writable(conn);
        }
        self.perform();
    }

    /// Receives from a connection. `ends` is true if the event also reports that the peer closed the connection; no
    /// later event reports it.
    #[inline]
    fn on_readable(&mut self, conn: ConnId, ends: bool, buffer: &mut [u8]) {
        loop {
            let Some(Some(link)) = self.links.get(index(conn)) else { return };
            if link.connecting {
                // The event belongs to an earlier transport of this connection.
                return;
            }
            match net::recv(&link.socket, &mut *buffer, RecvFlags::empty()) {
                Ok((_, 0)) => {
                    let now = self.ground.clock.now();
                    self.shard.closed(now, conn);
                    self.perform();
                    return;
                }
                Ok((_, n)) => {
                    let now = self.ground.clock.now();
                    self.shard.receive(now, conn, &buffer[..n]);
                    self.perform();
                    // A short read has emptied the socket. If the peer closes the connection later, a separate event
                    // reports it.
                    if n < buffer.len() && !ends {
                        return;
                    }
                }
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR) => {}
                Err(error) => {
                    self.broken(conn, error);
                    self.perform();
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without `epoll_pwait2`, a wait is rounded up to whole milliseconds, which delays arrivals by 0.5 ms on average.
    #[test]
    fn short_wait_is_not_rounded_up() {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).expect("a file descriptor is free");
        let timeout = Timespec { tv_sec: 0, tv_nsec: 50_000 };
        let mut events = Vec::with_capacity(1);
        let took = (0..200).map(|_| {
            let begun = std::time::Instant::now();
            epoll::wait(&epoll, spare_capacity(&mut events), Some(&timeout)).expect("the wait succeeds");
            begun.elapsed()
        });
        let shortest = took.min().expect("there are waits");
        assert!(
            shortest < std::time::Duration::from_millis(1),
            "the shortest of 200 waits took {shortest:?}"
        );
    }
}
