//! Where does a body end?

use super::Error;
use super::head::{Framing, HEAD_MAX};

/// A body under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// Bytes that are still to come.
    Length(u64),
    Chunked(Chunks),
    UntilClose,
}

/// Where in a chunked body we are. Source: RFC 9112, section 7.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunks {
    at: At,
    /// The chunk's size as far as it is read, then its bytes that are still to come.
    left: u64,
    /// Bytes that are neither data nor sizes: extensions since the last size, or all trailers.
    aside: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// Before the first digit of a size, or after it.
    Size,
    Digits,
    /// Between the size and what follows it on its line.
    Blank,
    /// Within that.
    Extension,
    /// After the carriage return of a size's line.
    SizeEnd,
    Data,
    /// After a chunk's data.
    DataReturn,
    DataEnd,
    /// At the beginning of a trailer's line, or of the empty one.
    TrailerStart,
    Trailer,
    TrailerEnd,
    /// After the last carriage return.
    LastEnd,
}

/// What came of a prefix of the input.
pub(super) enum Drained<'a> {
    /// The body goes on.
    More,
    /// These bytes are of the body; it goes on.
    Data(&'a [u8]),
    /// These are, and with them it has ended.
    Ended(&'a [u8]),
}

impl Body {
    pub fn new(framing: Framing) -> Body {
        match framing {
            Framing::Length(it) => Body::Length(it),
            Framing::Chunked => Body::Chunked(Chunks { at: At::Size, left: 0, aside: 0 }),
            Framing::UntilClose => Body::UntilClose,
        }
    }

    /// Takes from `input` what is of the body, at most until its end. Call until `More` or `Ended`.
    pub fn drain<'a>(&mut self, input: &mut &'a [u8]) -> Result<Drained<'a>, Error> {
        match self {
            Body::Length(left) => {
                let data = take(left, input);
                Ok(match (*left, data) {
                    (0, data) => Drained::Ended(data),
                    (_, []) => Drained::More,
                    (_, data) => Drained::Data(data),
                })
            }
            Body::UntilClose => match std::mem::take(input) {
                [] => Ok(Drained::More),
                data => Ok(Drained::Data(data)),
            },
            Body::Chunked(chunks) => chunks.drain(input),
        }
    }
}

fn take<'a>(left: &mut u64, input: &mut &'a [u8]) -> &'a [u8] {
    let n = usize::try_from(*left).map_or(input.len(), |it| it.min(input.len()));
    let (data, rest) = input.split_at(n);
    *input = rest;
    *left -= n as u64;
    data
}

impl Chunks {
    fn drain<'a>(&mut self, input: &mut &'a [u8]) -> Result<Drained<'a>, Error> {
        loop {
            if self.at == At::Data {
                let data = take(&mut self.left, input);
                if self.left == 0 {
                    self.at = At::DataReturn;
                }
                if !data.is_empty() {
                    return Ok(Drained::Data(data));
                }
                if self.at == At::Data {
                    return Ok(Drained::More);
                }
            }
            let Some((&byte, rest)) = input.split_first() else { return Ok(Drained::More) };
            *input = rest;
            if self.step(byte)? {
                return Ok(Drained::Ended(&[]));
            }
        }
    }

    /// True when the body has ended with this byte.
    fn step(&mut self, byte: u8) -> Result<bool, Error> {
        self.at = match (self.at, byte) {
            (At::Size | At::Digits, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                let digit = char::from(byte).to_digit(16).expect("one of the above");
                // Three bits of 64 stay free.
                if self.left >> 57 != 0 {
                    return Err(Error::Chunk);
                }
                self.left = self.left << 4 | u64::from(digit);
                self.aside(1)?;
                At::Digits
            }
            (At::Digits | At::Blank | At::Extension, b'\r') => At::SizeEnd,
            (At::Digits | At::Blank, b';') => At::Extension,
            (At::Digits | At::Blank, b' ' | b'\t') => {
                self.aside(1)?;
                At::Blank
            }
            (At::Extension, b'\n') => return Err(Error::Chunk),
            (At::Extension, _) => {
                self.aside(1)?;
                At::Extension
            }
            (At::SizeEnd, b'\n') => {
                self.aside = 0;
                if self.left == 0 { At::TrailerStart } else { At::Data }
            }
            (At::DataReturn, b'\r') => At::DataEnd,
            (At::DataEnd, b'\n') => At::Size,
            (At::TrailerStart, b'\r') => At::LastEnd,
            (At::TrailerStart | At::Trailer, b'\n') => return Err(Error::Chunk),
            (At::Trailer, b'\r') => {
                self.aside(2)?;
                At::TrailerEnd
            }
            (At::TrailerStart | At::Trailer, _) => {
                self.aside(1)?;
                At::Trailer
            }
            (At::TrailerEnd, b'\n') => At::TrailerStart,
            (At::LastEnd, b'\n') => return Ok(true),
            _ => return Err(Error::Chunk),
        };
        Ok(false)
    }

    fn aside(&mut self, n: usize) -> Result<(), Error> {
        self.aside += n;
        if self.aside > HEAD_MAX { Err(Error::ChunkTooLong) } else { Ok(()) }
    }
}
