//! TLS of one connection, without a protocol above it: bytes in, bytes out

use super::{TlsServer, describe, server_name};
use rustls::{ClientConfig, ClientConnection, Connection, ServerConnection};
use std::fmt;
use std::io::{self, BufRead, Write};
use std::sync::Arc;

/// Encryption of one connection, as its client or as its server.
pub struct TlsStream {
    connection: Connection,
}

impl fmt::Debug for TlsStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsStream").field("is_handshaking", &self.is_handshaking()).finish_non_exhaustive()
    }
}

/// Reason why a TLS connection cannot continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlsError(pub &'static str);

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TLS: {}", self.0)
    }
}

impl std::error::Error for TlsError {}

impl From<TlsError> for io::Error {
    fn from(error: TlsError) -> io::Error {
        io::Error::other(error)
    }
}

impl TlsStream {
    /// Client of a connection to the server `host`. Appends the first bytes of the handshake to `out`.
    pub fn connect(config: &Arc<ClientConfig>, host: &str, out: &mut Vec<u8>) -> Result<TlsStream, TlsError> {
        let connection = ClientConnection::new(config.clone(), server_name(host));
        let mut stream = TlsStream::new(connection.map_err(|error| TlsError(describe(&error)))?.into());
        stream.flush(out);
        Ok(stream)
    }

    /// Server of a connection. The client sends the first bytes.
    pub fn accept(server: &TlsServer) -> Result<TlsStream, TlsError> {
        let connection = ServerConnection::new(server.config.clone());
        Ok(TlsStream::new(connection.map_err(|error| TlsError(describe(&error)))?.into()))
    }

    fn new(mut connection: Connection) -> TlsStream {
        connection.set_buffer_limit(None);
        TlsStream { connection }
    }

    /// Decrypts received bytes. Appends the plain bytes to `plain`, and bytes that must be sent to `out`. Returns true
    /// once the peer has ended its direction.
    ///
    /// # Errors
    /// Returns an error if the connection cannot continue. `out` then contains the alert for the peer.
    pub fn receive(
        &mut self,
        mut input: &[u8],
        plain: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<bool, TlsError> {
        loop {
            let read = self.connection.read_tls(&mut input).map_err(|_| TlsError("a record is too long"))?;
            let processed = self.connection.process_new_packets();
            self.flush(out);
            let state = processed.map_err(|error| TlsError(describe(&error)))?;
            let mut reader = self.connection.reader();
            while let Ok(chunk @ [_, ..]) = reader.fill_buf() {
                plain.extend_from_slice(chunk);
                let length = chunk.len();
                reader.consume(length);
            }
            // Everything after close_notify is ignored.
            if state.peer_has_closed() || input.is_empty() || read == 0 {
                return Ok(state.peer_has_closed());
            }
        }
    }

    /// Encrypts bytes, and appends the records to `out`. During the handshake, the bytes are kept until it is complete.
    pub fn send(&mut self, plain: &[u8], out: &mut Vec<u8>) {
        self.connection.writer().write_all(plain).expect("the buffer has no limit");
        self.flush(out);
    }

    /// Ends this direction: appends close_notify to `out`.
    pub fn close(&mut self, out: &mut Vec<u8>) {
        self.connection.send_close_notify();
        self.flush(out);
    }

    /// True until the peers have agreed on the keys.
    pub fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// True if ALPN has selected a protocol.
    pub fn has_protocol(&self) -> bool {
        self.connection.alpn_protocol().is_some()
    }

    /// Certificate of the peer in DER; `None` during the handshake, or if it has none.
    pub fn peer_certificate(&self) -> Option<&[u8]> {
        Some(self.connection.peer_certificates()?.first()?)
    }

    fn flush(&mut self, out: &mut Vec<u8>) {
        while self.connection.wants_write() {
            self.connection.write_tls(out).expect("writing to a vector cannot fail");
        }
    }
}
