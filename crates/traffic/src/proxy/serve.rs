//! Recording proxy on sockets: accepts clients, forwards their bytes to the server and back, and records the requests
//!
//! The calling thread accepts connections. Each worker thread forwards the bytes of its share of them, and one thread
//! writes the recording, so that no client waits for the disk.

mod batch;
mod http;
mod link;
mod observer;
mod socket;
mod worker;

pub use http::serve_http;
pub use socket::{Upstream, UpstreamTls};

use crate::recording::RecordingWriter;
use batch::{Backlog, BatchSender, write_batches};
use model::Nanos;
use observer::Observer;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{self, SocketFlags};
use rustix::time::Timespec;
use std::fmt;
use std::io::{self, Read, Seek, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use wire::tls::TlsServer;
use worker::{Inbox, Worker};

/// Time within which a worker or the calling thread notices that it must stop.
const TICK: Duration = Duration::from_millis(100);

/// Settings of a recording proxy.
pub struct Proxy<'a> {
    /// Listening socket: TCP or Unix. It is switched to non-blocking mode.
    pub listener: OwnedFd,
    /// Addresses of the server, which are tried in this order. They are not empty.
    pub upstream: Vec<Upstream>,
    /// TLS for clients that ask for it; `None` refuses it.
    pub tls: Option<TlsServer>,
    /// Number of threads that forward bytes, at least 1.
    pub threads: usize,
    /// Time since the Unix epoch, which never decreases.
    pub clock: &'a (dyn Fn() -> Nanos + Sync),
    /// Flag that ends the proxy. Its sessions are closed.
    pub stop: &'a AtomicBool,
    /// Function that is called for events that do not end the proxy, on any thread.
    pub report: &'a (dyn Fn(ProxyEvent<'_>) + Sync),
}

impl fmt::Debug for Proxy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("upstream", &self.upstream).finish_non_exhaustive()
    }
}

/// Failure that does not end the proxy.
#[derive(Debug)]
pub enum ProxyEvent<'a> {
    /// The server cannot be reached. The client got the error.
    ConnectFailed(io::Error),
    /// A client that uses TLS cannot use the channel binding that the server offers, because the certificates differ.
    ChannelBindingRemoved,
    /// No connection can be accepted at the moment.
    AcceptFailed(io::Error),
    /// The recording cannot be written. Bytes are still forwarded; the error is also the result of [`serve`].
    RecordingFailed(&'a io::Error),
}

/// Forwards and records until `proxy.stop` is set. Returns the destination of the finished recording.
///
/// # Errors
/// Returns an error if the recording could not be written, or if the operating system provides no thread or descriptor.
pub fn serve<W: Write + Send, F: Read + Write + Seek + Send>(
    proxy: &Proxy<'_>,
    recording: RecordingWriter<W, F>,
) -> io::Result<W> {
    let backlog = Backlog::default();
    let (sender, batches) = mpsc::channel();
    thread::scope(|scope| {
        let writer = thread::Builder::new().name("recorder".to_owned());
        let writer =
            writer.spawn_scoped(scope, || write_batches(batches, recording, &backlog, proxy.report))?;
        let forwarded = forward(proxy, || BatchSender::new(sender.clone(), &backlog));
        drop(sender);
        let written = writer.join().expect("the recorder does not panic");
        forwarded.and(written)
    })
}

/// Forwards until `proxy.stop` is set. `observer` is called for each worker.
fn forward<O: Observer + Send>(proxy: &Proxy<'_>, observer: impl Fn() -> O) -> io::Result<()> {
    rustix::io::ioctl_fionbio(&proxy.listener, true)?;
    let sessions = AtomicU64::new(0);
    let inboxes = (0..proxy.threads).map(|_| Inbox::new()).collect::<io::Result<Vec<Inbox>>>()?;
    thread::scope(|scope| {
        let mut workers = Vec::new();
        let begun: io::Result<()> = inboxes.iter().try_for_each(|inbox| {
            let worker = Worker::new(proxy, inbox, observer(), &sessions)?;
            let thread = thread::Builder::new().name("proxy".to_owned());
            workers.push(thread.spawn_scoped(scope, move || worker.run())?);
            Ok(())
        });
        let accepted = begun.and_then(|()| accept_all(proxy, &inboxes));
        if accepted.is_err() {
            // Workers that have begun must end.
            inboxes.iter().for_each(Inbox::close);
        }
        let ended = workers.into_iter().map(|worker| worker.join().expect("a worker does not panic"));
        let ended = ended.collect::<Vec<io::Result<()>>>().into_iter().collect::<io::Result<()>>();
        accepted.and(ended)
    })
}

/// Accepts clients, which the workers serve in turn.
fn accept_all(proxy: &Proxy<'_>, inboxes: &[Inbox]) -> io::Result<()> {
    let tick = Timespec { tv_sec: 0, tv_nsec: TICK.as_nanos() as i64 };
    let mut next = inboxes.iter().cycle();
    while !proxy.stop.load(Ordering::Relaxed) {
        match poll(&mut [PollFd::new(&proxy.listener, PollFlags::IN)], Some(&tick)) {
            Ok(0) | Err(Errno::INTR) => continue,
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        match net::accept_with(&proxy.listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
            Ok(client) => next.next().expect("there is a worker").add(client)?,
            Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => {}
            Err(error) => {
                (proxy.report)(ProxyEvent::AcceptFailed(error.into()));
                thread::sleep(TICK);
            }
        }
    }
    Ok(())
}
