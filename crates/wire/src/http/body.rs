//! Framing of bodies: finds where a body ends.

use super::Error;
use super::head::{Framing, HEAD_MAX};

/// State of a body that is being received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// Body of known length; the number counts the bytes that remain.
    Length(u64),
    Chunked(Chunks),
    UntilClose,
}

/// Position within a chunked body. Source: RFC 9112, section 7.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunks {
    state: ChunkState,
    /// Chunk size parsed so far; within a chunk, the number of remaining bytes.
    remaining: u64,
    /// Number of bytes that are neither data nor sizes: extensions since the last size, or all trailers.
    overhead: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChunkState {
    /// Position before the first digit of a size; `Digits` is the position after it.
    Size,
    Digits,
    /// Blanks between the size and the rest of its line.
    Blank,
    /// Chunk extension.
    Extension,
    /// Line feed after a chunk's size.
    SizeEnd,
    Data,
    /// Carriage return after a chunk's data.
    DataReturn,
    DataEnd,
    /// At the start of a trailer line or of the empty line.
    TrailerStart,
    Trailer,
    TrailerEnd,
    /// After the last carriage return.
    LastEnd,
}

/// Result of draining a part of the input.
pub(super) enum DrainResult<'a> {
    /// Body continues; the input contained no data.
    More,
    /// Piece of data; the body continues.
    Data(&'a [u8]),
    /// Last piece of data; the body ends with it.
    End(&'a [u8]),
}

impl Body {
    pub fn new(framing: Framing) -> Body {
        match framing {
            Framing::Length(it) => Body::Length(it),
            Framing::Chunked => Body::Chunked(Chunks { state: ChunkState::Size, remaining: 0, overhead: 0 }),
            Framing::UntilClose => Body::UntilClose,
        }
    }

    /// Consumes body bytes from `input`, at most until the end of the body. Call it until it returns `More` or `End`.
    pub fn drain<'a>(&mut self, input: &mut &'a [u8]) -> Result<DrainResult<'a>, Error> {
        match self {
            Body::Length(left) => {
                let data = take_prefix(left, input);
                Ok(match (*left, data) {
                    (0, data) => DrainResult::End(data),
                    (_, []) => DrainResult::More,
                    (_, data) => DrainResult::Data(data),
                })
            }
            Body::UntilClose => match std::mem::take(input) {
                [] => Ok(DrainResult::More),
                data => Ok(DrainResult::Data(data)),
            },
            Body::Chunked(chunks) => chunks.drain(input),
        }
    }
}

fn take_prefix<'a>(left: &mut u64, input: &mut &'a [u8]) -> &'a [u8] {
    let n = usize::try_from(*left).map_or(input.len(), |it| it.min(input.len()));
    let (data, rest) = input.split_at(n);
    *input = rest;
    *left -= n as u64;
    data
}

impl Chunks {
    fn drain<'a>(&mut self, input: &mut &'a [u8]) -> Result<DrainResult<'a>, Error> {
        loop {
            if self.state == ChunkState::Data {
                let data = take_prefix(&mut self.remaining, input);
                if self.remaining == 0 {
                    self.state = ChunkState::DataReturn;
                }
                if !data.is_empty() {
                    return Ok(DrainResult::Data(data));
                }
                if self.state == ChunkState::Data {
                    return Ok(DrainResult::More);
                }
            }
            let Some((&byte, rest)) = input.split_first() else { return Ok(DrainResult::More) };
            *input = rest;
            if self.step(byte)? {
                return Ok(DrainResult::End(&[]));
            }
        }
    }

    /// Processes one byte outside the data. Returns true if the body ends with it.
    fn step(&mut self, byte: u8) -> Result<bool, Error> {
        self.state = match (self.state, byte) {
            (ChunkState::Size | ChunkState::Digits, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                let digit =
                    char::from(byte).to_digit(16).expect("the pattern allows only hexadecimal digits");
                // The size stays below 2⁶¹, so that it cannot overflow.
                if self.remaining >> 57 != 0 {
                    return Err(Error::Chunk);
                }
                self.remaining = self.remaining << 4 | u64::from(digit);
                self.count_overhead(1)?;
                ChunkState::Digits
            }
            (ChunkState::Digits | ChunkState::Blank | ChunkState::Extension, b'\r') => ChunkState::SizeEnd,
            (ChunkState::Digits | ChunkState::Blank, b';') => ChunkState::Extension,
            (ChunkState::Digits | ChunkState::Blank, b' ' | b'\t') => {
                self.count_overhead(1)?;
                ChunkState::Blank
            }
            (ChunkState::Extension, b'\n') => return Err(Error::Chunk),
            (ChunkState::Extension, _) => {
                self.count_overhead(1)?;
                ChunkState::Extension
            }
            (ChunkState::SizeEnd, b'\n') => {
                self.overhead = 0;
                if self.remaining == 0 { ChunkState::TrailerStart } else { ChunkState::Data }
            }
            (ChunkState::DataReturn, b'\r') => ChunkState::DataEnd,
            (ChunkState::DataEnd, b'\n') => ChunkState::Size,
            (ChunkState::TrailerStart, b'\r') => ChunkState::LastEnd,
            (ChunkState::TrailerStart | ChunkState::Trailer, b'\n') => return Err(Error::Chunk),
            (ChunkState::Trailer, b'\r') => {
                self.count_overhead(2)?;
                ChunkState::TrailerEnd
            }
            (ChunkState::TrailerStart | ChunkState::Trailer, _) => {
                self.count_overhead(1)?;
                ChunkState::Trailer
            }
            (ChunkState::TrailerEnd, b'\n') => ChunkState::TrailerStart,
            (ChunkState::LastEnd, b'\n') => return Ok(true),
            _ => return Err(Error::Chunk),
        };
        Ok(false)
    }

    fn count_overhead(&mut self, n: usize) -> Result<(), Error> {
        self.overhead += n;
        if self.overhead > HEAD_MAX { Err(Error::ChunkTooLong) } else { Ok(()) }
    }
}
