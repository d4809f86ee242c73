//! What does a packed body say?
//!
//! Sources: RFC 9110, section 8.4 (codings), RFC 1952 (gzip), RFC 1950 (what `deflate` means).

use super::Error;
use flate2::{Crc, Decompress, FlushDecompress, Status};

/// The codings that are unpacked, as `Accept-Encoding` offers them.
pub const CODINGS: &str = "gzip, deflate";
/// A body that holds more is given up, in bytes: it is made to fill memory, or time.
pub const UNPACKED_MAX: u64 = 16 << 20;

/// How a body is packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Coding {
    #[default]
    Plain,
    Gzip,
    Deflate,
    /// Another, or several.
    Other,
}

impl Coding {
    /// With what one more member of Content-Encoding says.
    pub fn and(self, name: &[u8]) -> Coding {
        let is = |it: &str| name.eq_ignore_ascii_case(it.as_bytes());
        match self {
            _ if is("identity") => self,
            Coding::Plain if is("gzip") || is("x-gzip") => Coding::Gzip,
            Coding::Plain if is("deflate") => Coding::Deflate,
            _ => Coding::Other,
        }
    }
}

/// Unpacks one body after the other; allocates when it is made, not later.
#[derive(Debug)]
pub(super) struct Unpacker {
    inflate: Decompress,
    out: Box<[u8]>,
    at: At,
    /// Of a gzip member: what its head has, bytes of the extra field that are to come, its check sum.
    flags: u8,
    extra: u16,
    check: Crc,
    trailer: [u8; 8],
    /// Unpacked bytes of this body.
    length: u64,
}

/// Where in a packed body we are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// Before the first byte of a `deflate` body.
    Deflate,
    /// Within one: what it holds, and behind it, where nothing follows.
    Stream,
    End,
    /// Before this byte of a gzip member's head; before the first, the body may end.
    Head(u8),
    ExtraLength(u8),
    Extra,
    Name,
    Comment,
    HeadCheck(u8),
    Member,
    Trailer(u8),
}

/// Bits of a gzip head's flags: a check sum, an extra field, a name, a comment; the rest is reserved.
const HEAD_CHECK: u8 = 2;
const EXTRA: u8 = 4;
const NAME: u8 = 8;
const COMMENT: u8 = 16;
const RESERVED: u8 = 0xe0;

impl Unpacker {
    pub fn new() -> Unpacker {
        Unpacker {
            inflate: Decompress::new(false),
            out: vec![0; 8 << 10].into(),
            at: At::End,
            flags: 0,
            extra: 0,
            check: Crc::new(),
            trailer: [0; 8],
            length: 0,
        }
    }

    /// A body of this coding begins.
    pub fn begin(&mut self, coding: Coding) {
        self.length = 0;
        self.at = if coding == Coding::Gzip { At::Head(0) } else { At::Deflate };
    }

    /// Gives what these bytes of the body hold to `take`, in pieces.
    pub fn unpack(&mut self, packed: &[u8], mut take: impl FnMut(&[u8])) -> Result<(), Error> {
        let mut rest = packed;
        while let Some(&byte) = rest.first() {
            match self.at {
                At::Member | At::Stream => self.inflate(&mut rest, &mut take)?,
                At::Deflate => {
                    // Most send what the name means, a zlib stream; some send what it sounds like.
                    self.inflate.reset(byte & 0x0f == 8 && byte >> 4 <= 7);
                    self.at = At::Stream;
                }
                At::End => return Err(Error::Packed),
                _ => {
                    self.frame(byte)?;
                    rest = &rest[1..];
                }
            }
        }
        Ok(())
    }

    /// Whether the body may end here.
    pub fn is_whole(&self) -> bool {
        // One without any byte holds nothing.
        matches!(self.at, At::End | At::Deflate | At::Head(0))
    }

    /// Bytes on the heap, about: the state of zlib and its window of 32 KiB are not told by it.
    pub fn memory(&self) -> usize {
        size_of::<Unpacker>() + self.out.len() + (40 << 10)
    }

    fn inflate(&mut self, rest: &mut &[u8], take: &mut impl FnMut(&[u8])) -> Result<(), Error> {
        loop {
            let (read, made) = (self.inflate.total_in(), self.inflate.total_out());
            let status = self.inflate.decompress(rest, &mut self.out, FlushDecompress::None);
            let status = status.map_err(|_| Error::Packed)?;
            let read = (self.inflate.total_in() - read) as usize;
            let made = (self.inflate.total_out() - made) as usize;
            *rest = &rest[read..];
            self.length += made as u64;
            if self.length > UNPACKED_MAX {
                return Err(Error::PackedTooMuch);
            }
            let piece = &self.out[..made];
            if self.at == At::Member {
                self.check.update(piece);
            }
            take(piece);
            if status == Status::StreamEnd {
                self.at = if self.at == At::Member { At::Trailer(0) } else { At::End };
                return Ok(());
            }
            // Room that is left says that the input was not enough.
            if made < self.out.len() {
                return if rest.is_empty() { Ok(()) } else { Err(Error::Packed) };
            }
        }
    }

    /// A byte around what a gzip member holds.
    fn frame(&mut self, byte: u8) -> Result<(), Error> {
        self.at = match self.at {
            At::Head(at) => {
                let right = match at {
                    0 => byte == 0x1f,
                    1 => byte == 0x8b,
                    2 => byte == 8,
                    3 => byte & RESERVED == 0,
                    _ => true,
                };
                if !right {
                    return Err(Error::Packed);
                }
                if at == 3 {
                    self.flags = byte;
                }
                if at < 9 { At::Head(at + 1) } else { self.after(0) }
            }
            At::ExtraLength(0) => {
                self.extra = byte.into();
                At::ExtraLength(1)
            }
            At::ExtraLength(_) => {
                self.extra |= u16::from(byte) << 8;
                if self.extra > 0 { At::Extra } else { self.after(EXTRA) }
            }
            At::Extra => {
                self.extra -= 1;
                if self.extra > 0 { At::Extra } else { self.after(EXTRA) }
            }
            At::Name if byte == 0 => self.after(NAME),
            At::Comment if byte == 0 => self.after(COMMENT),
            At::HeadCheck(0) => At::HeadCheck(1),
            At::HeadCheck(_) => self.after(RESERVED),
            At::Trailer(at) => {
                self.trailer[usize::from(at)] = byte;
                if at < 7 {
                    At::Trailer(at + 1)
                } else {
                    let [a, b, c, d, length @ ..] = self.trailer;
                    if u32::from_le_bytes([a, b, c, d]) != self.check.sum()
                        || u32::from_le_bytes(length) != self.check.amount()
                    {
                        return Err(Error::Packed);
                    }
                    // Another member may follow.
                    At::Head(0)
                }
            }
            same => same,
        };
        Ok(())
    }

    /// What follows the part of a gzip head that has this flag, in their order; 0 is before all of them.
    fn after(&mut self, part: u8) -> At {
        let next = |it: u8, at: At| (part < it && self.flags & it != 0).then_some(at);
        // The check sum comes last, though its flag does not.
        let last = |at: At| (part < RESERVED && self.flags & HEAD_CHECK != 0).then_some(at);
        let at = next(EXTRA, At::ExtraLength(0))
            .or(next(NAME, At::Name))
            .or(next(COMMENT, At::Comment))
            .or(last(At::HeadCheck(0)));
        at.unwrap_or_else(|| {
            self.inflate.reset(false);
            self.check.reset();
            At::Member
        })
    }
}
