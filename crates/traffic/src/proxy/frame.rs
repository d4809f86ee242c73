//! Framing: splits one direction of a connection into messages, whatever the pieces in which its bytes arrive

/// Splits bytes into messages of a type, a length and a body. It buffers nothing but an incomplete header.
#[derive(Debug, Default)]
pub(super) struct Framer {
    header: [u8; HEADER],
    /// Number of bytes of `header` that have arrived.
    filled: usize,
    /// Bytes of the body that are still missing, once the header is complete.
    missing: u32,
}

/// Size of the type and the length of a message, in bytes.
const HEADER: usize = 5;

/// Next part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fragment<'a> {
    /// Header of a message. `length` is that of the body.
    Start {
        tag: u8,
        length: u32,
    },
    Body(&'a [u8]),
    End,
}

/// Length in a header that is too small to include itself: the bytes are no messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FramingError;

impl Framer {
    /// Removes the next fragment from `bytes`; `None` if more bytes are needed.
    ///
    /// # Errors
    /// Returns an error if the bytes are no message. Further calls have no meaning.
    #[inline]
    pub fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> Result<Option<Fragment<'a>>, FramingError> {
        if self.filled == HEADER {
            if self.missing == 0 {
                self.filled = 0;
                return Ok(Some(Fragment::End));
            }
            let (body, rest) = bytes.split_at(bytes.len().min(self.missing as usize));
            self.missing -= body.len() as u32;
            *bytes = rest;
            return Ok(Some(Fragment::Body(body)).filter(|_| !body.is_empty()));
        }
        let (start, rest) = bytes.split_at(bytes.len().min(HEADER - self.filled));
        self.header[self.filled..self.filled + start.len()].copy_from_slice(start);
        self.filled += start.len();
        *bytes = rest;
        if self.filled < HEADER {
            return Ok(None);
        }
        let [tag, a, b, c, d] = self.header;
        let length = u32::from_be_bytes([a, b, c, d]);
        self.missing = length.checked_sub(4).filter(|_| length <= i32::MAX as u32).ok_or(FramingError)?;
        Ok(Some(Fragment::Start { tag, length: self.missing }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fragments of the pieces. Adjacent pieces of one body are joined.
    fn fragments(pieces: &[&[u8]]) -> Result<String, FramingError> {
        let mut framer = Framer::default();
        let mut all = String::new();
        for mut piece in pieces.iter().copied() {
            while let Some(fragment) = framer.next(&mut piece)? {
                match fragment {
                    Fragment::Start { tag, length } => all += &format!("{}{length}:", tag as char),
                    Fragment::Body(bytes) => all += &bytes.escape_ascii().to_string(),
                    Fragment::End => all += ";",
                }
            }
            assert!(piece.is_empty());
        }
        Ok(all)
    }

    #[test]
    fn splits_messages_at_every_byte() {
        let bytes = b"S\0\0\0\x04Q\0\0\0\x07ab\0d\0\0\0\x05x";
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                assert_eq!(fragments(&pieces).as_deref(), Ok("S0:;Q3:ab\\x00;d1:x;"), "{first} {second}");
            }
        }
    }

    #[test]
    fn rejects_lengths_that_no_message_has() {
        assert_eq!(fragments(&[b"Q\0\0\0\x03"]), Err(FramingError));
        assert_eq!(fragments(&[b"Q\xff\xff\xff\xff"]), Err(FramingError));
        assert_eq!(fragments(&[b"Q\x7f\xff\xff\xffa"]).as_deref(), Ok("Q2147483643:a"));
    }
}
