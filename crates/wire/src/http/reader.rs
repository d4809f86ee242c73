//! Response reader on decrypted bytes.
//!
//! The channel handles the encryption.

use super::body::{Body, DrainResult};
use super::body_search::SearchState;
use super::decompress::{Coding, Decompressor};
use super::head::{self, Framing, HEAD_MAX, Head, HeadEndFinder};
use super::{BodySearch, Error, Method};

/// Maximum number of interim responses (1xx) to one request. Servers usually send at most a few.
const INTERIM_MAX: u8 = 16;
/// Maximum capacity in bytes that a buffer keeps between responses.
const BUFFER_RETAIN_MAX: usize = 4 << 10;

/// Reader of responses, one per request.
#[derive(Debug, Default)]
pub struct ResponseReader {
    stage: Stage,
    method: Method,
    keep: Retain,
    interim: u8,
    /// Bytes of a head that arrived in pieces; afterwards the retained head.
    head: Vec<u8>,
    ending: HeadEndFinder,
    /// Retained part of the body.
    body: Vec<u8>,
    /// Number of body bytes so far, as received.
    length: u64,
    /// Matches of the texts that are searched for.
    found: SearchState,
    /// Decompressor; created for the first compressed body that is decompressed.
    decompressor: Option<Box<Decompressor>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// No request is in progress.
    #[default]
    Idle,
    /// Request was sent, and no byte of its response was received.
    AwaitingFirstByte,
    /// Position within a head, or between an interim response and the next response.
    Head,
    Body(Head, Body),
}

/// Parts of a response that are retained for the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retain {
    pub head: bool,
    /// Number of body bytes to retain. For statuses from 400 on, `error_body` applies if it is larger.
    pub body: u32,
    pub error_body: u32,
    /// True if compressed bodies are decompressed for searching and retention. An unknown coding is an error.
    pub decompress: bool,
}

/// Complete response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// Status: 101, or 200..=599.
    pub status: u16,
    /// Number of body bytes as received, without chunk framing.
    pub length: u64,
    /// True if the connection accepts no further request.
    pub close: bool,
}

impl ResponseReader {
    /// Starts a request. The previous response must be complete.
    pub fn begin(&mut self, method: Method, keep: Retain) {
        (self.stage, self.method, self.keep, self.interim) = (Stage::AwaitingFirstByte, method, keep, 0);
        self.clear();
    }

    /// Consumes input up to the end of the response and returns the response. If `input` ends before that, consumes all
    /// of it and returns `None`.
    #[inline]
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<Response>, Error> {
        self.next_seeking(input, None)
    }

    /// Reads as [`ResponseReader::next`] does, and searches the body for texts. The texts must stay the same until
    /// the end of the response.
    #[inline]
    pub fn next_seeking(
        &mut self,
        input: &mut &[u8],
        search: Option<&BodySearch>,
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
                    let most = if head.status < 400 { 0 } else { self.keep.error_body };
                    let most = most.max(self.keep.body) as usize;
                    let (found, body) = (&mut self.found, &mut self.body);
                    let mut look = |data: &[u8]| {
                        if let Some(search) = search {
                            search.advance(found, data);
                        }
                        let room = most.saturating_sub(body.len());
                        if room > 0 {
                            body.extend_from_slice(&data[..data.len().min(room)]);
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

    /// Handles the server's close. Returns the response if the close ends it.
    pub fn closed(&mut self) -> Option<Response> {
        match self.stage {
            Stage::Body(head, Body::UntilClose) if self.is_decompressed(head) => Some(self.end(head)),
            _ => None,
        }
    }

    /// True if a response is expected.
    pub fn is_awaiting(&self) -> bool {
        self.stage != Stage::Idle
    }

    /// True if a response is expected and its first byte has arrived.
    pub fn has_begun(&self) -> bool {
        !matches!(self.stage, Stage::Idle | Stage::AwaitingFirstByte)
    }

    /// Head of the last response, from the status line on; empty if it was not retained.
    pub fn retained_head(&self) -> &[u8] {
        &self.head
    }

    /// Reason and headers of the last response, in their order; `None` if the head was not retained.
    pub fn parts(&self) -> Option<(String, Vec<(String, String)>)> {
        head::parts(&self.head)
    }

    /// First header of this name in the last response; `None` if the head was not retained.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        head::header(&self.head, name)
    }

    /// Passes the values of all headers of this name in the last response to `take`. There are none if the head was not
    /// retained.
    pub fn each_header(&self, name: &str, take: impl FnMut(&[u8])) {
        head::each_header(&self.head, name, take);
    }

    /// True if the last response's body contained text number `number` of the search.
    pub fn has_found(&self, search: &BodySearch, number: usize) -> bool {
        search.has_found(&self.found, number)
    }

    /// Retained beginning of the last response's body.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// Number of bytes on the heap.
    pub fn memory(&self) -> usize {
        let unpacker = self.decompressor.as_ref().map_or(0, |it| it.memory());
        self.head.capacity() + self.body.capacity() + unpacker
    }

    /// Coding of the body after this head, or an error if the body cannot be decompressed.
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

    /// True if the compressed data is complete at the end of the body.
    fn is_decompressed(&self, head: Head) -> bool {
        head.coding == Coding::Plain || self.decompressor.as_ref().is_none_or(|it| it.is_complete())
    }

    fn end(&mut self, head: Head) -> Response {
        self.stage = Stage::Idle;
        Response { status: head.status, length: self.length, close: head.close }
    }

    /// Clears the retained parts of the last response, and frees large buffers.
    fn clear(&mut self) {
        for buffer in [&mut self.head, &mut self.body] {
            buffer.clear();
            if buffer.capacity() > BUFFER_RETAIN_MAX.max(self.keep.body as usize) {
                *buffer = Vec::new();
            }
        }
        (self.length, self.found, self.ending) = (0, SearchState::default(), HeadEndFinder::default());
    }

    #[inline]
    fn head(&mut self, input: &mut &[u8]) -> Result<Option<Head>, Error> {
        let Some(&first) = input.first() else { return Ok(None) };
        if self.head.is_empty() {
            if first != b'H' {
                return Err(Error::Head);
            }
            self.stage = Stage::Head;
            // Fast path: a head nearly always arrives in one piece.
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

/// Body after a response's head, decompressed; `None` if its coding is not supported or it is malformed. The body may be
/// cut off.
pub fn decompressed(head: &[u8], body: &[u8]) -> Option<Vec<u8>> {
    let coding = head::coding(head);
    let mut plain = Vec::new();
    match coding {
        Coding::Plain => return Some(body.to_vec()),
        Coding::Other => return None,
        Coding::Gzip | Coding::Deflate => {
            let mut decompressor = Decompressor::new();
            decompressor.begin(coding);
            decompressor.decompress(body, |piece| plain.extend_from_slice(piece)).ok()?;
        }
    }
    Some(plain)
}

/// True if these bytes may be the start of a head.
fn may_start_head(head: &[u8]) -> bool {
    let must = b"HTTP/1.";
    head.iter().zip(must).all(|(is, must)| is == must)
}
