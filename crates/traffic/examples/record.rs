//! Records until standard input ends: `record LISTEN SERVER FILE`, each address as `host:port` or as a path
//!
//! For measurements of the proxy; users call `pgdyno record`.

use model::Nanos;
use rustix::fd::OwnedFd;
use rustix::time::{ClockId, clock_gettime};
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Read};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use traffic::proxy::serve::{Proxy, ProxyEvent, Upstream, serve};
use traffic::recording::RecordingWriter;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [listen, server, file] = &arguments[..] else { return Err("give LISTEN, SERVER and FILE".into()) };
    let listener: OwnedFd = match listen.starts_with('/') {
        true => UnixListener::bind(listen)?.into(),
        false => TcpListener::bind(listen)?.into(),
    };
    let upstream = match server.starts_with('/') {
        true => Upstream::Unix(server.into()),
        false => Upstream::Tcp(server.parse()?),
    };
    let threads = std::env::var("THREADS").map_or(Ok(1), |it| it.parse())?;
    let clock = || {
        let time = clock_gettime(ClockId::Realtime);
        Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
    };
    let report = |event: ProxyEvent<'_>| eprintln!("{event:?}");
    let stop = AtomicBool::new(false);
    let proxy =
        Proxy { listener, upstream: vec![upstream], threads, clock: &clock, stop: &stop, report: &report };
    thread::scope(|scope| {
        scope.spawn(|| {
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            stop.store(true, Ordering::Relaxed);
        });
        let recording = RecordingWriter::new(BufWriter::with_capacity(1 << 18, File::create(file)?))?;
        serve(&proxy, recording)?;
        Ok(())
    })
}
