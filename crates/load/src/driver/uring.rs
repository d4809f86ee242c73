//! io_uring driver: submits queued sends together, with one multishot receive per connection
//!
//! The driver needs Linux 6.1 or newer (`IORING_SETUP_DEFER_TASKRUN`); see [`is_available`].

mod pool;

use super::socket::{begin_connect, connect_result, enable_keepalive};
use super::{
    DriveResult, DriverContext, DriverState, Properties, Requirement, describe, index, is_local_exhaustion,
    run_shell,
};
use crate::recorder::Recorder;
use crate::shard::{Action, ConnId, Shard};
use io_uring::{IoUring, cqueue, opcode, squeue, types};
use model::{Code, Nanos};
use pool::BufferPool;
use rustix::event::PollFlags;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use std::io;

/// Number of entries of the submission queue. A full queue is submitted at once.
const QUEUE: u32 = 1024;
/// Maximum number of completions per round. The next round reads the clock and then handles further completions.
const COMPLETIONS: usize = 256;
/// Flag `IORING_ENTER_GETEVENTS`, which also runs work that the kernel has deferred; io_uring_enter(2).
const GET_EVENTS: u32 = 1;
/// Flags of a send: it either completes in full or fails.
const SEND: i32 = (SendFlags::NOSIGNAL.bits() | RecvFlags::WAITALL.bits()) as i32;

/// Properties of the driver. It uses less CPU time than epoll if many responses arrive at once, but single responses
/// arrive later. Source: measurements in docs/bench.md. The ring reserves a slot for each possible connection.
pub(super) const PROPERTIES: Properties = Properties {
    requirement: Some(Requirement {
        text: "Linux 6.1 or newer, not forbidden by the container",
        is_met: || ring(1).and_then(|ring| BufferPool::register(&ring)).is_ok(),
    }),
    suits_few: false,
    reserves_files: true,
};

fn ring(connections: u32) -> io::Result<IoUring> {
    // Each connection has at most one receive and one poll in progress. Sends complete without an event.
    let completions = (2 * connections).next_power_of_two().clamp(4096, 65536);
    let ring = IoUring::builder()
        .setup_single_issuer()
        .setup_coop_taskrun()
        .setup_defer_taskrun()
        .setup_taskrun_flag()
        .setup_cqsize(completions)
        .build(QUEUE)?;
    ring.submitter().register_files_sparse(connections)?;
    Ok(ring)
}

/// io_uring implementation of [`super::Driver::drive`]. Fails if the ring cannot be created.
pub(super) fn drive<R: Recorder>(shard: Shard<R>, ground: &DriverContext<'_>) -> io::Result<DriveResult<R>> {
    let connections = shard.connections();
    let ring = ring(connections)?;
    let pool = BufferPool::register(&ring)?;
    let links = (0..connections).map(|_| RingConnection::default()).collect();
    let mut driver = UringLoop { ring, links, pool, armed: 0, shard, ground, exhausted: 0 };
    let mut progress = DriverState::new();
    let mut completed = Vec::with_capacity(COMPLETIONS);
    loop {
        let now = ground.clock.now();
        progress.update(now, &mut driver.shard, ground);
        driver.shard.advance(now);
        let Some(deadline) = driver.perform() else { break };
        let wait = progress.sleep_until(now, deadline);
        let sleep = wait - ground.spin;
        let spins = sleep == Nanos::ZERO && wait > Nanos::ZERO;
        if ground.slack > Nanos::ZERO && sleep > Nanos::ZERO {
            driver.submit(Nanos::ZERO)?;
        }
        let sleep = progress.coalesce(now, sleep, ground);
        driver.submit(sleep)?;
        progress.meter.wakeups += 1;
        completed.extend(driver.ring.completion().take(COMPLETIONS));
        if spins && completed.is_empty() {
            progress.meter.spun += ground.clock.now() - now;
        }
        for entry in completed.drain(..) {
            driver.complete(&entry);
        }
    }
    let now = ground.clock.now();
    driver.drain_kernel()?;
    let UringLoop { shard, exhausted, .. } = driver;
    Ok(DriveResult { shard, effort: progress.finish(now), exhausted, finished: now })
}

struct UringLoop<'a, R> {
    ring: IoUring,
    links: Vec<RingConnection>,
    pool: BufferPool,
    /// Number of receives and polls that the kernel has not ended.
    armed: u32,
    shard: Shard<R>,
    ground: &'a DriverContext<'a>,
    exhausted: u64,
}

/// Connection and its state in the ring.
#[derive(Default)]
struct RingConnection {
    socket: Option<OwnedFd>,
    /// Number of the current transport of this connection. It identifies completions of earlier transports.
    generation: u16,
    /// Bytes that the kernel may still read.
    ///
    /// They stay unmodified until the server has responded or the socket is shut down. After a shutdown, a send fails
    /// without reading.
    outbox: Vec<u8>,
    /// True from the time a send is queued until bytes arrive.
    unanswered: bool,
    /// True if the shard has more bytes to send, but `outbox` is in use.
    deferred: bool,
}

/// Operation of a completion; stored in one word with the generation and the connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OperationKind {
    Receive = 1,
    Send = 2,
    Connect = 3,
}

fn tag(kind: OperationKind, generation: u16, conn: ConnId) -> u64 {
    (kind as u64) << 48 | u64::from(generation) << 32 | u64::from(conn.0)
}

fn is_send(entry: &cqueue::Entry) -> bool {
    entry.user_data() >> 48 == OperationKind::Send as u64
}

impl<R: Recorder> UringLoop<'_, R> {
    /// Waits until the kernel uses no memory of the driver. All sockets must have been shut down.
    fn drain_kernel(&mut self) -> io::Result<()> {
        while self.armed > 0 {
            self.submit(Nanos::from_millis(1))?;
            let ended = self.ring.completion().filter(|it| !cqueue::more(it.flags()) && !is_send(it)).count();
            self.armed -= ended as u32;
        }
        Ok(())
    }

    /// Submits the queue and waits at most `sleep` for a completion; a `sleep` of zero means no wait.
    fn submit(&mut self, sleep: Nanos) -> io::Result<()> {
        let submitted = if sleep == Nanos::ZERO {
            let queue = self.ring.submission();
            let (queued, work) = (queue.len(), queue.taskrun());
            drop(queue);
            if queued == 0 && !work {
                return Ok(());
            }
            // SAFETY: no argument is passed, so none can be invalid.
            unsafe { self.ring.submitter().enter::<()>(queued as u32, 0, GET_EVENTS, None) }
        } else {
            let sleep =
                types::Timespec::new().sec(sleep.0 / 1_000_000_000).nsec((sleep.0 % 1_000_000_000) as u32);
            let args = types::SubmitArgs::new().timespec(&sleep);
            self.ring.submitter().submit_with_args(1, &args)
        };
        match submitted {
            Ok(_) => Ok(()),
            Err(error) => match error.raw_os_error().map(Errno::from_raw_os_error) {
                Some(Errno::TIME | Errno::INTR | Errno::BUSY) => Ok(()),
                _ => Err(error),
            },
        }
    }

    #[inline]
    fn push(&mut self, entry: &squeue::Entry) {
        // SAFETY: entries refer only to `outbox`es and the pool's buffers. Both stay at their address for as long as
        // the kernel may use them: see `RingConnection::outbox`, `close` and `BufferPool`.
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            self.ring.submit().expect("a full submission queue can be submitted");
        }
    }

    /// Performs all actions of the shard. Returns the time until which the shard waits; `None` when the shard is done.
    #[inline]
    fn perform(&mut self) -> Option<Nanos> {
        loop {
            match self.shard.poll() {
                Action::Transmit(conn, bytes) => {
                    let link = &mut self.links[index(conn)];
                    if link.unanswered || link.socket.is_none() {
                        link.deferred = true;
                        continue;
                    }
                    link.outbox.clear();
                    link.outbox.extend_from_slice(bytes);
                    link.unanswered = true;
                    let (from, length) = (link.outbox.as_ptr(), link.outbox.len());
                    let entry = opcode::Send::new(types::Fixed(conn.0), from, length as u32)
                        .flags(SEND)
                        .build()
                        .flags(squeue::Flags::SKIP_SUCCESS)
                        .user_data(tag(OperationKind::Send, link.generation, conn));
                    self.push(&entry);
                    self.shard.sent(conn, length);
                }
                Action::Wait(deadline) => return Some(deadline),
                Action::Done => return None,
                Action::Connect(conn) => self.connect(conn),
                Action::Finish(conn) => {
                    // Submits transmitted bytes that may still be queued.
                    let _ = self.ring.submit();
                    if let Some(socket) = &self.links[index(conn)].socket {
                        let _ = rustix::net::shutdown(socket, rustix::net::Shutdown::Write);
                    }
                }
                Action::Close(conn) => self.close(conn),
                Action::Probe(conn) => {
                    if let Some(socket) = &self.links[index(conn)].socket {
                        enable_keepalive(socket);
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

    fn connect(&mut self, conn: ConnId) {
        let begun = begin_connect(self.ground.address(self.shard.target(conn))).and_then(|(socket, open)| {
            let registered = self.ring.submitter().register_files_update(conn.0, &[socket.as_raw_fd()]);
            registered.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::INVAL))?;
            Ok((socket, open))
        });
        let link = &mut self.links[index(conn)];
        link.generation = link.generation.wrapping_add(1);
        link.unanswered = false;
        link.deferred = false;
        match begun {
            Ok((socket, open)) => {
                link.socket = Some(socket);
                if open {
                    self.opened(conn);
                } else {
                    let entry = opcode::PollAdd::new(types::Fixed(conn.0), u32::from(PollFlags::OUT.bits()))
                        .build()
                        .user_data(tag(OperationKind::Connect, link.generation, conn));
                    self.push(&entry);
                    self.armed += 1;
                }
            }
            Err(error) => self.broken(conn, error),
        }
    }

    fn opened(&mut self, conn: ConnId) {
        self.receive(conn);
        self.shard.connected(self.ground.clock.now(), conn);
    }

    /// Queues the multishot receive of a connection.
    fn receive(&mut self, conn: ConnId) {
        let generation = self.links[index(conn)].generation;
        let entry = opcode::RecvMulti::new(types::Fixed(conn.0), BufferPool::GROUP).build().user_data(tag(
            OperationKind::Receive,
            generation,
            conn,
        ));
        self.push(&entry);
        self.armed += 1;
    }

    fn close(&mut self, conn: ConnId) {
        // A Terminate message may still be queued.
        let _ = self.ring.submit();
        let link = &mut self.links[index(conn)];
        link.generation = link.generation.wrapping_add(1);
        let Some(socket) = link.socket.take() else { return };
        // Ends any blocked send and the multishot receive, which would otherwise keep the socket open after the
        // descriptor is closed.
        let _ = rustix::net::shutdown(&socket, rustix::net::Shutdown::Both);
        let _ = self.ring.submitter().register_files_update(conn.0, &[-1]);
    }

    fn broken(&mut self, conn: ConnId, error: Errno) {
        self.exhausted += u64::from(is_local_exhaustion(error));
        let now = self.ground.clock.now();
        self.shard.broken(now, conn, Code::Net(error.raw_os_error() as u16), &describe(error));
    }

    #[inline]
    fn complete(&mut self, entry: &cqueue::Entry) {
        let (user_data, result) = (entry.user_data(), entry.result());
        let conn = ConnId(user_data as u32);
        let current = (user_data >> 32) as u16 == self.links[index(conn)].generation;
        let kind = user_data >> 48;
        self.armed -= u32::from(!cqueue::more(entry.flags()) && !is_send(entry));
        if kind == OperationKind::Receive as u64 {
            self.received(conn, current, entry);
        } else if current && kind == OperationKind::Connect as u64 {
            let socket = self.links[index(conn)].socket.as_ref().expect("the current generation has one");
            match connect_result(socket) {
                Ok(()) => self.opened(conn),
                Err(error) => self.broken(conn, error),
            }
        } else if current && result < 0 {
            self.broken(conn, Errno::from_raw_os_error(-result));
        }
        self.perform();
    }

    #[inline]
    fn received(&mut self, conn: ConnId, current: bool, entry: &cqueue::Entry) {
        let result = entry.result();
        let buffer = cqueue::buffer_select(entry.flags());
        if current {
            let now = self.ground.clock.now();
            match (buffer, result) {
                (Some(buffer), 1..) => {
                    let link = &mut self.links[index(conn)];
                    link.unanswered = false;
                    let deferred = std::mem::take(&mut link.deferred);
                    self.shard.receive(now, conn, self.pool.bytes(buffer, result as usize));
                    if deferred {
                        self.shard.writable(conn);
                    }
                    if !cqueue::more(entry.flags()) {
                        self.receive(conn);
                    }
                }
                // All buffers were full. They are emptied in this round, so the receive is queued again.
                (_, error) if error == -Errno::NOBUFS.raw_os_error() => self.receive(conn),
                (_, 0) => self.shard.closed(now, conn),
                (_, error) => self.broken(conn, Errno::from_raw_os_error(-error)),
            }
        }
        if let Some(buffer) = buffer {
            self.pool.recycle(buffer);
        }
    }
}
