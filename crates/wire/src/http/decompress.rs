//! Decompression of bodies.
//!
//! Sources: RFC 9110, section 8.4 (codings), RFC 1952 (gzip), RFC 1950 (format of `deflate`).

use super::Error;
use flate2::{Crc, Decompress, FlushDecompress, Status};

/// Supported codings, in the format of `Accept-Encoding`.
pub const ACCEPTED_CODINGS: &str = "gzip, deflate";
/// Maximum decompressed size in bytes. A longer body is rejected as a decompression bomb.
pub const DECOMPRESSED_MAX: u64 = 16 << 20;

/// Coding of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Coding {
    #[default]
    Plain,
    Gzip,
    Deflate,
    /// Unsupported coding, or several codings.
    Other,
}

impl Coding {
    /// Combines this coding with a further item of Content-Encoding.
    pub fn combine(self, name: &[u8]) -> Coding {
        let is_coding = |it: &str| name.eq_ignore_ascii_case(it.as_bytes());
        match self {
            _ if is_coding("identity") => self,
            Coding::Plain if is_coding("gzip") || is_coding("x-gzip") => Coding::Gzip,
            Coding::Plain if is_coding("deflate") => Coding::Deflate,
            _ => Coding::Other,
        }
    }
}

/// Decompressor that is reused for consecutive bodies. It allocates only when it is created.
#[derive(Debug)]
pub(super) struct Decompressor {
    inflate: Decompress,
    out: Box<[u8]>,
    at: DecodeState,
    /// Flags in the header of a gzip member. `extra` is the remaining length of the extra field; `check` is the
    /// checksum.
    flags: u8,
    extra: u16,
    check: Crc,
    trailer: [u8; 8],
    /// Number of decompressed bytes of the current body so far.
    length: u64,
}

/// Position within a compressed body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DecodeState {
    /// Before the first byte of a `deflate` body.
    Deflate,
    /// Position within the data of a `deflate` body. `End` is the position after the data, where no byte may follow.
    Stream,
    End,
    /// Position before the byte with this index in a gzip member's header. At index 0, the body may end.
    Head(u8),
    ExtraLength(u8),
    Extra,
    Name,
    Comment,
    HeadCheck(u8),
    Member,
    Trailer(u8),
}

/// Bits of the flags in a gzip header: checksum, extra field, name, comment; the other bits are reserved.
const HEAD_CHECK: u8 = 2;
const EXTRA: u8 = 4;
const NAME: u8 = 8;
const COMMENT: u8 = 16;
const RESERVED: u8 = 0xe0;

impl Decompressor {
    pub fn new() -> Decompressor {
        Decompressor {
            inflate: Decompress::new(false),
            out: vec![0; 8 << 10].into(),
            at: DecodeState::End,
            flags: 0,
            extra: 0,
            check: Crc::new(),
            trailer: [0; 8],
            length: 0,
        }
    }

    /// Starts a new body with this coding.
    pub fn begin(&mut self, coding: Coding) {
        self.length = 0;
        self.at = if coding == Coding::Gzip { DecodeState::Head(0) } else { DecodeState::Deflate };
    }

    /// Decompresses these bytes of the body and passes the result to `take` in pieces.
    pub fn decompress(&mut self, packed: &[u8], mut take: impl FnMut(&[u8])) -> Result<(), Error> {
        let mut rest = packed;
        while let Some(&byte) = rest.first() {
            match self.at {
                DecodeState::Member | DecodeState::Stream => self.inflate(&mut rest, &mut take)?,
                DecodeState::Deflate => {
                    // Most servers send a zlib stream, as the specification requires; some send a raw deflate stream.
                    self.inflate.reset(byte & 0x0f == 8 && byte >> 4 <= 7);
                    self.at = DecodeState::Stream;
                }
                DecodeState::End => return Err(Error::Compressed),
                _ => {
                    self.step_frame(byte)?;
                    rest = &rest[1..];
                }
            }
        }
        Ok(())
    }

    /// True if the body may end here.
    pub fn is_complete(&self) -> bool {
        // A body of zero bytes is complete.
        matches!(self.at, DecodeState::End | DecodeState::Deflate | DecodeState::Head(0))
    }

    /// Approximate number of bytes on the heap. The size of zlib's state and its 32 KiB window is not known exactly.
    pub fn memory(&self) -> usize {
        size_of::<Decompressor>() + self.out.len() + (40 << 10)
    }

    fn inflate(&mut self, rest: &mut &[u8], take: &mut impl FnMut(&[u8])) -> Result<(), Error> {
        loop {
            let (read, made) = (self.inflate.total_in(), self.inflate.total_out());
            let status = self.inflate.decompress(rest, &mut self.out, FlushDecompress::None);
            let status = status.map_err(|_| Error::Compressed)?;
            let read = (self.inflate.total_in() - read) as usize;
            let made = (self.inflate.total_out() - made) as usize;
            *rest = &rest[read..];
            self.length += made as u64;
            if self.length > DECOMPRESSED_MAX {
                return Err(Error::DecompressedTooLong);
            }
            let piece = &self.out[..made];
            if self.at == DecodeState::Member {
                self.check.update(piece);
            }
            take(piece);
            if status == Status::StreamEnd {
                self.at =
                    if self.at == DecodeState::Member { DecodeState::Trailer(0) } else { DecodeState::End };
                return Ok(());
            }
            // Free space in the output means that the input is used up.
            if made < self.out.len() {
                return if rest.is_empty() { Ok(()) } else { Err(Error::Compressed) };
            }
        }
    }

    /// Processes one byte of a gzip member's header or trailer.
    fn step_frame(&mut self, byte: u8) -> Result<(), Error> {
        self.at = match self.at {
            DecodeState::Head(at) => {
                let right = match at {
                    0 => byte == 0x1f,
                    1 => byte == 0x8b,
                    2 => byte == 8,
                    3 => byte & RESERVED == 0,
                    _ => true,
                };
                if !right {
                    return Err(Error::Compressed);
                }
                if at == 3 {
                    self.flags = byte;
                }
                if at < 9 { DecodeState::Head(at + 1) } else { self.next_header_field(0) }
            }
            DecodeState::ExtraLength(0) => {
                self.extra = byte.into();
                DecodeState::ExtraLength(1)
            }
            DecodeState::ExtraLength(_) => {
                self.extra |= u16::from(byte) << 8;
                if self.extra > 0 { DecodeState::Extra } else { self.next_header_field(EXTRA) }
            }
            DecodeState::Extra => {
                self.extra -= 1;
                if self.extra > 0 { DecodeState::Extra } else { self.next_header_field(EXTRA) }
            }
            DecodeState::Name if byte == 0 => self.next_header_field(NAME),
            DecodeState::Comment if byte == 0 => self.next_header_field(COMMENT),
            DecodeState::HeadCheck(0) => DecodeState::HeadCheck(1),
            DecodeState::HeadCheck(_) => self.next_header_field(RESERVED),
            DecodeState::Trailer(at) => {
                self.trailer[usize::from(at)] = byte;
                if at < 7 {
                    DecodeState::Trailer(at + 1)
                } else {
                    let [a, b, c, d, length @ ..] = self.trailer;
                    if u32::from_le_bytes([a, b, c, d]) != self.check.sum()
                        || u32::from_le_bytes(length) != self.check.amount()
                    {
                        return Err(Error::Compressed);
                    }
                    // Another gzip member may follow.
                    DecodeState::Head(0)
                }
            }
            same => same,
        };
        Ok(())
    }

    /// State for the header field that follows the field with the flag `part`. If `part` is 0, the state for the first
    /// optional field.
    fn next_header_field(&mut self, part: u8) -> DecodeState {
        let next = |it: u8, at: DecodeState| (part < it && self.flags & it != 0).then_some(at);
        // The checksum is the last field, although its flag is not the last flag.
        let last = |at: DecodeState| (part < RESERVED && self.flags & HEAD_CHECK != 0).then_some(at);
        let at = next(EXTRA, DecodeState::ExtraLength(0))
            .or(next(NAME, DecodeState::Name))
            .or(next(COMMENT, DecodeState::Comment))
            .or(last(DecodeState::HeadCheck(0)));
        at.unwrap_or_else(|| {
            self.inflate.reset(false);
            self.check.reset();
            DecodeState::Member
        })
    }
}
