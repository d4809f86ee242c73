//! One session over one connection, sans I/O.

use super::{Event, Login, ProtocolError, Transport};
use std::sync::Arc;

/// One connection's protocol machine: bytes in, events and bytes out.
#[derive(Debug)]
pub struct Channel {
    out: Vec<u8>,
}

impl Channel {
    /// A machine for one connection. `nonce` must be fresh randomness for each (SCRAM).
    pub fn new(_login: Arc<Login>, _transport: Transport, _nonce: [u8; 18]) -> Channel {
        unimplemented!()
    }

    /// The transport is connected: queues the first bytes (SSLRequest or StartupMessage).
    pub fn open(&mut self) {
        unimplemented!()
    }

    /// Takes the next event from `input`, consuming what it meant. Call until `More`.
    pub fn receive<'a>(&'a mut self, _input: &mut &'a [u8]) -> Result<Event<'a>, ProtocolError> {
        unimplemented!()
    }

    /// Rows, columns and command tags become events until the next `Ready` when `on`.
    pub fn watch(&mut self, _on: bool) {
        unimplemented!()
    }

    /// Queues a request: appends frontend messages to the buffer that is handed to `write`.
    #[inline]
    pub fn request(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.out);
    }

    /// Bytes that await sending.
    pub fn outgoing(&self) -> &[u8] {
        unimplemented!()
    }

    /// The first `n` bytes of `outgoing` have left.
    pub fn sent(&mut self, _n: usize) {
        unimplemented!()
    }
}
