//! Who is connected, and for how long?
//!
//! One thread of low priority serves all browsers; [`super::shelf`] reads. Nobody can hold what others need: a head
//! must arrive in time, what is sent must be taken in time, and where too many are connected the one who came first goes.

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

/// Connections at a time.
const CONNECTIONS_MAX: usize = 256;
/// Until the head of a request is there; also between two requests.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);
/// Until the other side takes some of what is sent.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// A head's size. Cookies of other programs on this machine are in it.
const HEAD_BYTES_MAX: usize = 32 << 10;
const HEAD_FIELDS_MAX: usize = 100;

/// Serves whoever connects on a thread of its own, until the program ends. `answer` must not take long: it is everybody's
/// thread.
pub fn start<F, A>(listener: TcpListener, thread: &str, answer: F) -> io::Result<()>
where
    F: Fn(Request<Incoming>) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = HttpResponse> + Send + 'static,
{
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    thread::Builder::new().name(thread.to_owned()).spawn(move || {
        super::lower_priority();
        runtime.block_on(accept(listener, answer));
    })?;
    Ok(())
}

async fn accept<F, A>(listener: TcpListener, answer: F)
where
    F: Fn(Request<Incoming>) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = HttpResponse> + Send + 'static,
{
    let listener =
        tokio::net::TcpListener::from_std(listener).expect("it is a socket, and we are in the runtime");
    let mut connected: VecDeque<JoinHandle<()>> = VecDeque::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors, most likely: the load has more use for the next one.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        connected.retain(|it| !it.is_finished());
        if connected.len() >= CONNECTIONS_MAX {
            connected.pop_front().inspect(JoinHandle::abort);
        }
        // Else each event of a stream would wait for the acknowledgement of the one before.
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
            if let Some(it) = answer.extensions().get::<ConnectionGuard>() {
                held.get_or_init(|| it.clone());
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
    // Whatever was wrong with it: the one who could be told has gone.
    let _ = served.await;
}
