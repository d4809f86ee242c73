//! Proxy that runs on a thread of the test

use model::Nanos;
use rustix::fd::OwnedFd;
use std::io::{self, Cursor, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{SystemTime, UNIX_EPOCH};
use traffic::proxy::serve;
use traffic::proxy::serve::{Proxy, Upstream};
use traffic::recording::{Recording, RecordingWriter};
use wire::tls::TlsServer;

pub struct RunningProxy<W> {
    stop: Arc<AtomicBool>,
    /// Events of the proxy, as text.
    pub events: Arc<Mutex<Vec<String>>>,
    thread: JoinHandle<io::Result<W>>,
}

fn unix_time() -> Nanos {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is set");
    Nanos(time.as_nanos() as u64)
}

impl<W: Write + Send + 'static> RunningProxy<W> {
    pub fn start(listener: impl Into<OwnedFd>, upstream: Vec<Upstream>, out: W) -> RunningProxy<W> {
        RunningProxy::start_with_tls(listener, upstream, None, out)
    }

    /// Starts a proxy that offers TLS to clients.
    pub fn start_with_tls(
        listener: impl Into<OwnedFd>,
        upstream: Vec<Upstream>,
        tls: Option<TlsServer>,
        out: W,
    ) -> RunningProxy<W> {
        let (stop, events) = (Arc::<AtomicBool>::default(), Arc::<Mutex<Vec<String>>>::default());
        let (listener, flag, list) = (listener.into(), stop.clone(), events.clone());
        let thread = thread::spawn(move || {
            let report = |event: serve::ProxyEvent<'_>| list.lock().unwrap().push(format!("{event:?}"));
            let (clock, stop) = (&unix_time, &*flag);
            let proxy = Proxy { listener, upstream, tls, threads: 2, clock, stop, report: &report };
            serve(&proxy, RecordingWriter::new(out, Cursor::new(Vec::new()))?)
        });
        RunningProxy { stop, events, thread }
    }

    /// Stops the proxy, and returns the destination of the recording.
    pub fn stop(self) -> io::Result<W> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the proxy does not panic")
    }
}

impl RunningProxy<Vec<u8>> {
    pub fn recording(self) -> Recording<Vec<u8>> {
        Recording::open(self.stop().expect("memory can be written")).expect("the recording is complete")
    }
}
