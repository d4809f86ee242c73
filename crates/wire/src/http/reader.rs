//! What has the server answered so far?
//!
//! On plain bytes; what they travel in is the channel's matter.

use super::body::{Body, DrainResult};
use super::decompress::{Coding, Decompressor};
use super::head::{self, Framing, HEAD_MAX, Head, HeadEndFinder};
use super::{BodySearch, Error, Method};

/// Interim answers (1xx) to one request; a server sends one, or a few hints.
const INTERIM_MAX: u8 = 16;
/// What a buffer may keep from one answer to the next, in bytes.
const BUFFER_RETAIN_MAX: usize = 4 << 10;

/// Reads answers, one for each request.
#[derive(Debug, Default)]
pub struct ResponseReader {
    stage: Stage,
    method: Method,
    keep: Retain,
    interim: u8,
    /// A head that came in pieces, as far as it came; then what is kept of a head.
    head: Vec<u8>,
    ending: HeadEndFinder,
    /// What is kept of a body.
    body: Vec<u8>,
    /// Bytes of the body so far, as they came.
    length: u64,
    /// How much of what is looked for was found in them.
    found: u32,
    /// Made for the first packed body that is to be unpacked.
    decompressor: Option<Box<Decompressor>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// Nothing was asked.
    #[default]
    Idle,
    /// Asked, and not one byte came.
    AwaitingFirstByte,
    /// Within a head, or between an interim answer and the next.
    Head,
    Body(Head, Body),
}

/// What of an answer is kept for whoever wants to look at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retain {
    pub head: bool,
    /// So many bytes of the body.
    pub body: u32,
    /// A packed body is unpacked for those who look into it; one in a coding that is not known is an error.
    pub decompress: bool,
}

/// An answer came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// 101, or 200..=599.
    pub status: u16,
    /// Bytes of the body, as they came: without the framing of chunks.
    pub length: u64,
    /// The connection carries no further request.
    pub close: bool,
}

impl ResponseReader {
    /// A request leaves, after the last one's answer.
    pub fn begin(&mut self, method: Method, keep: Retain) {
        (self.stage, self.method, self.keep, self.interim) = (Stage::AwaitingFirstByte, method, keep, 0);
        self.clear();
    }

    /// Takes what it can from `input`: the answer when it has ended, else `None`, and then all was taken.
    #[inline]
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<Response>, Error> {
        self.next_seeking(input, None)
    }

    /// The same, looking for a text in the body: the same one until the answer has ended.
    #[inline]
    pub fn next_seeking(
        &mut self,
        input: &mut &[u8],
        needle: Option<&BodySearch>,
    ) -> Result<Option<Response>, Error> {
        loop {
            match &mut self.stage {
                Stage::Idle if input.is_empty() => return Ok(None),
                Stage::Idle => return Err(Error::SurplusBytes),
                Stage::AwaitingFirstByte | Stage::Head => {
                    let Some(head) = self.head(input)? else { return Ok(None) };
                    if head.status < 200 && head.status != 101 {
                        self.interim += 1;
                        if self.interim > INTERIM_MAX {
                            return Err(Error::TooManyInterim);
                        }
                        self.clear();
                    } else {
                        let head = Head { close: head.close || head.status == 101, ..head };
                        let head = Head { coding: self.body_coding(&head)?, ..head };
                        self.stage = Stage::Body(head, Body::new(head.framing));
                    }
                }
                Stage::Body(head, body) => {
                    let (data, ended) = match body.drain(input)? {
                        DrainResult::More => return Ok(None),
                        DrainResult::Data(data) => (data, None),
                        DrainResult::End(data) => (data, Some(*head)),
                    };
                    self.length += data.len() as u64;
                    let (found, kept, most) = (&mut self.found, &mut self.body, self.keep.body as usize);
                    let mut look = |data: &[u8]| {
                        if let Some(needle) = needle {
                            *found = needle.advance(*found, data);
                        }
                        let room = most.saturating_sub(kept.len());
                        if room > 0 {
                            kept.extend_from_slice(&data[..data.len().min(room)]);
                        }
                    };
                    match &mut self.decompressor {
                        Some(it) if head.coding != Coding::Plain => it.decompress(data, look)?,
                        _ => look(data),
                    }
                    if let Some(head) = ended {
                        if !self.is_decompressed(head) {
                            return Err(Error::Compressed);
                        }
                        return Ok(Some(self.end(head)));
                    }
                }
            }
        }
    }

    /// The server has closed its side: the answer, if that is how it ends.
    pub fn closed(&mut self) -> Option<Response> {
        match self.stage {
            Stage::Body(head, Body::UntilClose) if self.is_decompressed(head) => Some(self.end(head)),
            _ => None,
        }
    }

    /// An answer is awaited.
    pub fn is_awaiting(&self) -> bool {
        self.stage != Stage::Idle
    }

    /// An answer is awaited, and has begun to come.
    pub fn has_begun(&self) -> bool {
        !matches!(self.stage, Stage::Idle | Stage::AwaitingFirstByte)
    }

    /// A header of the last answer; `None` if it was not kept.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        head::header(&self.head, name)
    }

    /// Gives the values of all headers of this name of the last answer; of none if they were not kept.
    pub fn each_header(&self, name: &str, take: impl FnMut(&[u8])) {
        head::each_header(&self.head, name, take);
    }

    /// The last answer's body held what was looked for.
    pub fn has_found(&self, needle: &BodySearch) -> bool {
        self.found == needle.len()
    }

    /// The beginning of the last answer's body, as much as was to be kept.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// Bytes on the heap.
    pub fn memory(&self) -> usize {
        let unpacker = self.decompressor.as_ref().map_or(0, |it| it.memory());
        self.head.capacity() + self.body.capacity() + unpacker
    }

    /// How the body that follows is to be unpacked.
    fn body_coding(&mut self, head: &Head) -> Result<Coding, Error> {
        match head.coding {
            _ if !self.keep.decompress || head.framing == Framing::Length(0) => Ok(Coding::Plain),
            Coding::Plain => Ok(Coding::Plain),
            Coding::Other => Err(Error::ContentCoding),
            coding => {
                self.decompressor.get_or_insert_with(|| Box::new(Decompressor::new())).begin(coding);
                Ok(coding)
            }
        }
    }

    /// What a packed body holds has ended with it.
    fn is_decompressed(&self, head: Head) -> bool {
        head.coding == Coding::Plain || self.decompressor.as_ref().is_none_or(|it| it.is_complete())
    }

    fn end(&mut self, head: Head) -> Response {
        self.stage = Stage::Idle;
        Response { status: head.status, length: self.length, close: head.close }
    }

    /// Empties what was kept of the last answer, and frees what was large.
    fn clear(&mut self) {
        for buffer in [&mut self.head, &mut self.body] {
            buffer.clear();
            if buffer.capacity() > BUFFER_RETAIN_MAX.max(self.keep.body as usize) {
                *buffer = Vec::new();
            }
        }
        (self.length, self.found, self.ending) = (0, 0, HeadEndFinder::default());
    }

    #[inline]
    fn head(&mut self, input: &mut &[u8]) -> Result<Option<Head>, Error> {
        let Some(&first) = input.first() else { return Ok(None) };
        if self.head.is_empty() {
            if first != b'H' {
                return Err(Error::Head);
            }
            self.stage = Stage::Head;
            // Nearly always a head comes in one piece.
            if let Some((head, length)) = head::read(input, self.method)? {
                if self.keep.head {
                    self.head.extend_from_slice(&input[..length]);
                }
                *input = &input[length..];
                return Ok(Some(head));
            }
        }
        let room = HEAD_MAX - self.head.len();
        let piece = &input[..input.len().min(room)];
        let ended = self.ending.find(piece);
        self.head.extend_from_slice(&piece[..ended.unwrap_or(piece.len())]);
        if !may_start_head(&self.head) {
            return Err(Error::Head);
        }
        let Some(length) = ended else {
            *input = &input[piece.len()..];
            return if self.head.len() < HEAD_MAX { Ok(None) } else { Err(Error::HeadTooLong) };
        };
        *input = &input[length..];
        let (head, _) = head::read(&self.head, self.method)?.ok_or(Error::Head)?;
        if !self.keep.head {
            self.head.clear();
        }
        Ok(Some(head))
    }
}

/// Whether it may become a head.
fn may_start_head(head: &[u8]) -> bool {
    let must = b"HTTP/1.";
    head.iter().zip(must).all(|(is, must)| is == must)
}
