//! One connection to a server, sans I/O.

use super::{BodySearch, Error, Method, Response, ResponseReader, Retain};
use crate::tls::{self, HttpsClient, TlsInfo};
use rustls::ClientConnection;
use std::io::{BufRead, ErrorKind, Write};
use std::sync::Arc;

/// One connection's protocol machine: bytes in, events and bytes out.
///
/// ```text
/// open ─▶ (handshake) ─▶ Opened ─▶ (request ─▶ Response)*
/// ```
///
/// After an `Err`, or a response that says `close`, the connection is of no more use and must be closed.
#[derive(Debug, Default)]
pub struct Channel {
    out: Vec<u8>,
    /// Bytes at the front of `out` that have left.
    sent_bytes: usize,
    reader: ResponseReader,
    tls: Option<Box<TlsSession>>,
}

#[derive(Debug)]
struct TlsSession {
    connection: ClientConnection,
    /// The handshake is over, and was told.
    established: bool,
    /// The server said goodbye within TLS.
    close_notified: bool,
}

/// What came of a prefix of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Nothing more; all was taken.
    More,
    /// Requests may be sent.
    Opened,
    Response(Response),
}

/// Sent bytes above which the buffer is moved together.
const COMPACT: usize = 64 << 10;

impl Channel {
    /// The transport is connected: a new connection begins, with the last one's buffers. True when requests may be sent
    /// at once; with TLS, `Opened` follows.
    pub fn open(&mut self, tls: Option<&HttpsClient>) -> Result<bool, Error> {
        self.out.clear();
        self.sent_bytes = 0;
        self.reader = ResponseReader::default();
        self.tls = None;
        let Some(tls) = tls else { return Ok(true) };
        let connection = ClientConnection::new(Arc::clone(&tls.config), tls.name.clone());
        let mut connection = connection.map_err(|it| Error::Tls(tls::describe(&it)))?;
        flush(&mut connection, &mut self.out);
        self.tls = Some(Box::new(TlsSession { connection, established: false, close_notified: false }));
        Ok(false)
    }

    /// Queues a request: `write` appends its bytes. One at a time: the last one's answer has come.
    #[inline]
    pub fn request(&mut self, method: Method, keep: Retain, write: impl FnOnce(&mut Vec<u8>)) {
        debug_assert!(!self.reader.is_awaiting(), "one request at a time");
        self.reader.begin(method, keep);
        match &mut self.tls {
            None => write(&mut self.out),
            Some(spoken) => {
                let mut plain = Vec::new();
                write(&mut plain);
                spoken.connection.writer().write_all(&plain).expect("the buffer has no limit");
                flush(&mut spoken.connection, &mut self.out);
            }
        }
    }

    /// Takes the next event from `input`, consuming what it meant. Call until `More`.
    ///
    /// Whatever follows an answer was not asked for: it makes the answer an error, since who it was meant for is unknown.
    #[inline]
    pub fn receive(&mut self, input: &mut &[u8]) -> Result<Event, Error> {
        self.receive_seeking(input, None)
    }

    /// The same, looking for a text in the body: the same one until the answer has ended.
    #[inline]
    pub fn receive_seeking(
        &mut self,
        input: &mut &[u8],
        needle: Option<&BodySearch>,
    ) -> Result<Event, Error> {
        if self.tls.is_some() {
            return self.receive_tls(input, needle);
        }
        match self.reader.next_seeking(input, needle)? {
            None => Ok(Event::More),
            Some(_) if !input.is_empty() => Err(Error::SurplusBytes),
            Some(response) => Ok(Event::Response(self.check_surplus(response))),
        }
    }

    /// The server has closed its side: the answer, if that is how it ends. Within TLS only a goodbye is an end.
    pub fn closed(&mut self) -> Option<Response> {
        if self.tls.as_ref().is_some_and(|it| !it.close_notified) {
            return None;
        }
        self.reader.closed()
    }

    /// Bytes that await sending.
    #[inline]
    pub fn outgoing(&self) -> &[u8] {
        &self.out[self.sent_bytes..]
    }

    /// The first `n` bytes of `outgoing` have left.
    #[inline]
    pub fn sent(&mut self, n: usize) {
        self.sent_bytes += n;
        if self.sent_bytes >= self.out.len() {
            assert!(self.sent_bytes == self.out.len(), "more was sent than there was");
            self.out.clear();
            self.sent_bytes = 0;
        } else if self.sent_bytes > COMPACT && self.sent_bytes * 2 > self.out.len() {
            self.out.drain(..self.sent_bytes);
            self.sent_bytes = 0;
        }
    }

    /// What is known of the answer.
    pub fn reader(&self) -> &ResponseReader {
        &self.reader
    }

    /// Bytes have left since the connection was opened or last had nothing to send.
    pub fn has_sent_some(&self) -> bool {
        self.sent_bytes > 0
    }

    /// TLS version and cipher; `None` when the connection is not encrypted.
    pub fn protection(&self) -> Option<TlsInfo> {
        tls::protection(&self.tls.as_ref()?.connection)
    }

    /// The server knew us from an earlier connection, which made the handshake shorter.
    pub fn is_resumed(&self) -> bool {
        let kind = self.tls.as_ref().and_then(|it| it.connection.handshake_kind());
        kind == Some(rustls::HandshakeKind::Resumed)
    }

    /// Bytes on the heap, without what rustls keeps for TLS.
    pub fn memory(&self) -> usize {
        self.out.capacity() + self.reader.memory()
    }

    /// An answer that comes before its request has left ends the connection: the rest of the request would be read as
    /// another one.
    fn check_surplus(&self, response: Response) -> Response {
        Response { close: response.close || !self.outgoing().is_empty(), ..response }
    }

    fn receive_tls(&mut self, input: &mut &[u8], needle: Option<&BodySearch>) -> Result<Event, Error> {
        loop {
            let Some(spoken) = &mut self.tls else { return Ok(Event::More) };
            let TlsSession { connection, established: stands, close_notified: goodbye } = &mut **spoken;
            let mut reader = connection.reader();
            match reader.fill_buf() {
                Ok(chunk) if !chunk.is_empty() => {
                    let mut rest = chunk;
                    let answer = self.reader.next_seeking(&mut rest, needle);
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
                    flush(connection, &mut self.out);
                    let state = processed.map_err(|it| Error::Tls(tls::describe(&it)))?;
                    *goodbye |= state.peer_has_closed();
                    if !*stands && !connection.is_handshaking() {
                        *stands = true;
                        return Ok(Event::Opened);
                    }
                }
                // Nothing left, or the server has closed its side.
                _ => {
                    *input = &[];
                    return Ok(Event::More);
                }
            }
        }
    }
}

/// Moves what rustls wants to send.
fn flush(connection: &mut ClientConnection, out: &mut Vec<u8>) {
    while connection.wants_write() {
        connection.write_tls(out).expect("a vector takes all");
    }
}
