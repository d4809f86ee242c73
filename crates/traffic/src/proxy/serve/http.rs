//! Recording proxy for HTTP/1

use super::observer::Observer;
use super::{Proxy, forward};
use crate::proxy::http::{HttpEvent, HttpSession};
use crate::proxy::{Startup, StartupReader};
use model::Nanos;
use std::io;

/// Forwards connections of HTTP until `proxy.stop` is set. `sink` is called for each event, on any thread.
///
/// # Errors
/// Returns an error if the operating system provides no thread or descriptor.
pub fn serve_http(proxy: &Proxy<'_>, sink: &(dyn Fn(HttpEvent) + Sync)) -> io::Result<()> {
    forward(proxy, || HttpObserver(sink))
}

struct HttpObserver<'a>(&'a (dyn Fn(HttpEvent) + Sync));

impl Observer for HttpObserver<'_> {
    type Session = HttpSession;

    const ASKS_FOR_TLS: bool = false;

    fn startup_reader() -> StartupReader {
        StartupReader::http()
    }

    fn session(_: Startup, _: Nanos) -> Option<HttpSession> {
        Some(HttpSession::default())
    }

    fn client_sent(&mut self, _: u64, session: &mut HttpSession, now: Nanos, bytes: &[u8]) {
        session.from_client(now, bytes, &mut |event| (self.0)(event));
    }

    fn server_sent(&mut self, _: u64, session: &mut HttpSession, now: Nanos, bytes: &[u8]) {
        session.from_server(now, bytes, &mut |event| (self.0)(event));
    }

    fn server_ended(&mut self, session: &mut HttpSession, now: Nanos) {
        session.server_ended(now, &mut |event| (self.0)(event));
    }

    fn finish(&mut self, _: u64, session: HttpSession, _: Nanos) {
        session.finish(&mut |event| (self.0)(event));
    }

    fn send(&mut self) {}

    fn connect_error(error: &io::Error) -> Vec<u8> {
        let text = format!("pgdyno record: the service cannot be reached: {error}\n");
        let head =
            "HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n";
        format!("{head}Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
    }
}
