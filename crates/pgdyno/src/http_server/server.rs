//! HTTP server and its connection limits
//!
//! One thread of low priority serves all browsers. [`super::run_index`] reads the run files. Limits protect the thread
//! from stalled clients: request heads and writes have timeouts, and above the connection limit the oldest connection
//! is closed.

use super::response::{ConnectionGuard, HttpResponse};
use super::write_timeout::WriteTimeoutStream;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::TcpListener;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Maximum number of simultaneous connections.
const CONNECTIONS_MAX: usize = 256;
/// Timeout for the head of a request. It also limits the time between two requests.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);
/// Timeout for a write without progress.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// Largest request head. It includes cookies of other programs on this machine.
const HEAD_BYTES_MAX: usize = 32 << 10;
const HEAD_FIELDS_MAX: usize = 100;

/// Serves connections on a separate thread until the program ends. `answer` must return quickly, because all
/// connections share this thread.
pub fn start<F, A>(listener: TcpListener, thread: &str, answer: F) -> io::Result<()>
where
    F: Fn(Request<Incoming>) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = HttpResponse> + Send + 'static,
{
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    thread::Builder::new().name(thread.to_owned()).spawn(move || {
        lower_priority();
        runtime.block_on(accept(listener, answer));
    })?;
    Ok(())
}

/// Lowers the priority of the current thread; on Linux the call affects only the thread. At nice 10, the thread gets a
/// hundredth of a CPU that it shares with ten other threads. This suffices for one update per second. At nice 19, a
/// page froze for ten seconds on a saturated machine.
pub fn lower_priority() {
    // Ignore errors, because the server also works with normal priority.
    let _ = rustix::process::setpriority_process(None, 10);
}

async fn accept<F, A>(listener: TcpListener, answer: F)
where
    F: Fn(Request<Incoming>) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = HttpResponse> + Send + 'static,
{
    let listener = tokio::net::TcpListener::from_std(listener)
        .expect("the listener is a socket, and a runtime is active");
    let mut connected: VecDeque<JoinHandle<()>> = VecDeque::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Probably no file descriptor is free. Wait, so that the load gets the next free descriptor.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        connected.retain(|it| !it.is_finished());
        if connected.len() >= CONNECTIONS_MAX {
            connected.pop_front().inspect(JoinHandle::abort);
        }
        // Without TCP_NODELAY, each event would wait for the acknowledgement of the previous event.
        let _ = stream.set_nodelay(true);
        connected
            .push_back(tokio::spawn(serve(WriteTimeoutStream::new(stream, WRITE_TIMEOUT), answer.clone())));
    }
}

async fn serve<F, A>(stream: WriteTimeoutStream, answer: F)
where
    F: Fn(Request<Incoming>) -> A,
    A: Future<Output = HttpResponse>,
{
    let held = OnceLock::new();
    let service = service_fn(|request| {
        let (answer, held) = (answer(request), &held);
        async move {
            let answer = answer.await;
            if let Some(guard) = answer.extensions().get::<ConnectionGuard>() {
                held.get_or_init(|| guard.clone());
            }
            Ok::<_, Infallible>(answer)
        }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_headers(HEAD_FIELDS_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service);
    // A connection error cannot be reported, because the peer is gone.
    let _ = served.await;
}
