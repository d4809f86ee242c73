//! Sans-I/O state machine of one HTTP connection.

use super::{BodySearch, Error, Method, Response, ResponseReader, Retain};
use crate::output::OutputBuffer;
use crate::tls::{self, HttpsClient, TlsInfo};
use rustls::ClientConnection;
use std::io::{BufRead, ErrorKind};
use std::sync::Arc;

/// State machine of one HTTP connection: bytes in, events and bytes out.
///
/// ```text
/// open ─▶ (handshake) ─▶ Opened ─▶ (request ─▶ Response)*
/// ```
///
/// After an `Err`, or a response with `close`, the connection is unusable and must be closed.
#[derive(Debug, Default)]
pub struct Channel {
    out: OutputBuffer,
    reader: ResponseReader,
    tls: Option<Box<TlsSession>>,
}

#[derive(Debug)]
struct TlsSession {
    connection: ClientConnection,
    /// True if the handshake is complete and `Opened` was returned.
    established: bool,
    /// True if the server sent close_notify.
    close_notified: bool,
}

/// Result of processing a part of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// All input is consumed; more is needed.
    More,
    /// Connection is open; requests may be sent.
    Opened,
    Response(Response),
}

impl Channel {
    /// Starts a new connection on a connected transport and reuses the buffers. Returns true if requests may be sent at
    /// once. With TLS it returns false, and `Opened` follows.
    pub fn open(&mut self, tls: Option<&HttpsClient>) -> Result<bool, Error> {
        self.out.clear();
        self.reader = ResponseReader::default();
        self.tls = None;
        let Some(tls) = tls else { return Ok(true) };
        let connection = ClientConnection::new(Arc::clone(&tls.config), tls.name.clone());
        let mut connection = connection.map_err(|it| Error::Tls(tls::describe(&it)))?;
        tls::flush(&mut connection, self.out.bytes());
        self.tls = Some(Box::new(TlsSession { connection, established: false, close_notified: false }));
        Ok(false)
    }

    /// Queues a request: `write` appends its bytes. The response to the previous request must be complete.
    #[inline]
    pub fn request(&mut self, method: Method, keep: Retain, write: impl FnOnce(&mut Vec<u8>)) {
        debug_assert!(!self.reader.is_awaiting(), "one request at a time");
        self.reader.begin(method, keep);
        let out = self.out.bytes();
        let from = out.len();
        write(out);
        if let Some(spoken) = &mut self.tls {
            tls::encrypt_from(&mut spoken.connection, out, from);
        }
    }

    /// Returns the next event from `input` and consumes its bytes. Call it until it returns `More`.
    ///
    /// Surplus bytes after a response are an error, because no request belongs to them.
    #[inline]
    pub fn receive(&mut self, input: &mut &[u8]) -> Result<Event, Error> {
        self.receive_seeking(input, None)
    }

    /// Returns the next event as [`Channel::receive`] does, and searches the body for texts. The texts must stay the
    /// same until the end of the response.
    #[inline]
    pub fn receive_seeking(
        &mut self,
        input: &mut &[u8],
        search: Option<&BodySearch>,
    ) -> Result<Event, Error> {
        if self.tls.is_some() {
            return self.receive_tls(input, search);
        }
        match self.reader.next_seeking(input, search)? {
            None => Ok(Event::More),
            Some(_) if !input.is_empty() => Err(Error::SurplusBytes),
            Some(response) => Ok(Event::Response(self.check_surplus(response))),
        }
    }

    /// Handles the server's close. Returns the response if the close ends it. With TLS, this requires a close_notify.
    pub fn closed(&mut self) -> Option<Response> {
        if self.tls.as_ref().is_some_and(|it| !it.close_notified) {
            return None;
        }
        self.reader.closed()
    }

    /// Bytes that must be sent to the server.
    #[inline]
    pub fn outgoing(&self) -> &[u8] {
        self.out.unsent()
    }

    /// Marks the first `n` bytes of `outgoing` as sent.
    #[inline]
    pub fn sent(&mut self, n: usize) {
        self.out.mark_sent(n);
    }

    /// Reader with the state of the current response.
    pub fn reader(&self) -> &ResponseReader {
        &self.reader
    }

    /// True if bytes were sent since the send buffer was last empty, or since the connection was opened.
    pub fn has_sent_some(&self) -> bool {
        self.out.is_partly_sent()
    }

    /// TLS version and cipher; `None` if the connection is not encrypted.
    pub fn protection(&self) -> Option<TlsInfo> {
        tls::protection(&self.tls.as_ref()?.connection)
    }

    /// True if the TLS session of an earlier connection was resumed, which shortens the handshake.
    pub fn is_resumed(&self) -> bool {
        let kind = self.tls.as_ref().and_then(|it| it.connection.handshake_kind());
        kind == Some(rustls::HandshakeKind::Resumed)
    }

    /// Number of bytes on the heap, without the bytes that rustls allocates.
    pub fn memory(&self) -> usize {
        self.out.memory() + self.reader.memory()
    }

    /// Marks the connection as closing if a response arrives before its request was sent completely. The server would
    /// interpret the rest of the request as another request.
    fn check_surplus(&self, response: Response) -> Response {
        Response { close: response.close || !self.outgoing().is_empty(), ..response }
    }

    fn receive_tls(&mut self, input: &mut &[u8], search: Option<&BodySearch>) -> Result<Event, Error> {
        loop {
            let Some(spoken) = &mut self.tls else { return Ok(Event::More) };
            let TlsSession { connection, established: stands, close_notified: goodbye } = &mut **spoken;
            let mut reader = connection.reader();
            match reader.fill_buf() {
                Ok(chunk) if !chunk.is_empty() => {
                    let mut rest = chunk;
                    let answer = self.reader.next_seeking(&mut rest, search);
                    let (used, surplus) = (chunk.len() - rest.len(), !rest.is_empty());
                    reader.consume(used);
                    match answer? {
                        None => {}
                        Some(_) if surplus => return Err(Error::SurplusBytes),
                        Some(response) => return Ok(Event::Response(self.check_surplus(response))),
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock && !input.is_empty() => {
                    if connection.read_tls(input).map_err(|_| Error::Tls("a record is too long"))? == 0 {
                        *input = &[];
                    }
                    let processed = connection.process_new_packets();
                    tls::flush(connection, self.out.bytes());
                    let state = processed.map_err(|it| Error::Tls(tls::describe(&it)))?;
                    *goodbye |= state.peer_has_closed();
                    if !*stands && !connection.is_handshaking() {
                        *stands = true;
                        return Ok(Event::Opened);
                    }
                }
                // No data is left, or the server has closed its side.
                _ => {
                    *input = &[];
                    return Ok(Event::More);
                }
            }
        }
    }
}
