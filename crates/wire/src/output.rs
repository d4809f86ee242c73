//! Output buffer of a connection

use std::fmt;

/// Number of sent bytes above which the buffer is compacted.
const COMPACT: usize = 64 << 10;

/// Bytes to be sent. Bytes at the front may have been sent already.
#[derive(Default)]
pub(crate) struct OutputBuffer {
    bytes: Vec<u8>,
    /// Number of bytes at the front of `bytes` that were sent.
    sent: usize,
}

impl fmt::Debug for OutputBuffer {
    /// Omits the bytes, because they may contain a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.unsent().len())
    }
}

impl OutputBuffer {
    /// Vector to which bytes may be appended.
    #[inline]
    pub fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    #[inline]
    pub fn unsent(&self) -> &[u8] {
        &self.bytes[self.sent..]
    }

    /// Marks the first `n` unsent bytes as sent.
    #[inline]
    pub fn mark_sent(&mut self, n: usize) {
        self.sent += n;
        if self.sent >= self.bytes.len() {
            assert!(self.sent == self.bytes.len(), "more bytes were sent than queued");
            self.clear();
        } else if self.sent > COMPACT && self.sent * 2 > self.bytes.len() {
            // Compact the buffer, which would otherwise grow without bound if the sender never catches up. Each
            // compaction moves fewer bytes than were sent.
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
    }

    /// True if bytes were sent since the buffer was last empty.
    pub fn is_partly_sent(&self) -> bool {
        self.sent > 0
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
        self.sent = 0;
    }

    /// Number of bytes on the heap.
    pub fn memory(&self) -> usize {
        self.bytes.capacity()
    }
}
