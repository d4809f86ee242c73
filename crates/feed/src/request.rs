//! HTTP request of a feed, and the lines from which it is read

use crate::bounds::{MAX_ROW_BYTES, row_too_long};
use crate::diagnostic::{Diagnostic, excerpt};
use model::message;
use std::io::{self, BufRead, Read};

/// HTTP request of a feed.
#[derive(Clone, Debug, Default)]
pub struct AmmoRequest {
    pub method: Vec<u8>,
    pub target: Vec<u8>,
    /// Header lines, each with its line end.
    pub headers: Vec<u8>,
    pub body: Vec<u8>,
    pub tag: Vec<u8>,
    /// Status and size in bytes of the recorded response, as digits; empty if unknown.
    pub status: Vec<u8>,
    pub bytes: Vec<u8>,
    /// Recorded time since the Unix epoch and duration, in nanoseconds, as digits; empty if unknown.
    pub time: Vec<u8>,
    pub duration: Vec<u8>,
}

impl AmmoRequest {
    /// Fields of the request, in the order of [`crate::AMMO_COLUMNS`].
    pub fn fields(&self) -> impl Iterator<Item = &[u8]> {
        let AmmoRequest { method, target, headers, body, tag, status, bytes, time, duration } = self;
        [method, target, headers, body, tag, status, bytes, time, duration].into_iter().map(Vec::as_slice)
    }
}

pub type RequestSink<'a> = dyn FnMut(&AmmoRequest) -> io::Result<()> + 'a;

/// Reader of lines, and of bodies whose length is stated in a line.
pub struct LineReader<'a> {
    source: &'a mut dyn BufRead,
    pub line: u64,
    pub text: Vec<u8>,
}

impl<'a> LineReader<'a> {
    pub fn new(source: &'a mut dyn BufRead) -> LineReader<'a> {
        LineReader { source, line: 0, text: Vec::new() }
    }

    pub fn next(&mut self) -> Result<bool, Diagnostic> {
        self.text.clear();
        self.line += 1;
        let read = (&mut *self.source).take(MAX_ROW_BYTES + 1).read_until(b'\n', &mut self.text);
        match read.map_err(|it| Diagnostic::from_io_error(self.line, &it))? as u64 {
            0 => Ok(false),
            1..=MAX_ROW_BYTES => Ok(true),
            _ => Err(Diagnostic::from_io_error(self.line, &row_too_long())),
        }
    }

    pub fn body(&mut self, length: &[u8]) -> Result<Vec<u8>, Diagnostic> {
        const MAX_BODY_BYTES: usize = 64 << 20;
        let parsed = std::str::from_utf8(length).ok().and_then(|digits| digits.parse().ok());
        let length: usize = parsed.filter(|it| *it <= MAX_BODY_BYTES).ok_or_else(|| {
            let (found, max) = (excerpt(length), MAX_BODY_BYTES.to_string());
            Diagnostic::new(self.line, message!("feed-body-length", found, max))
        })?;
        let mut body = vec![0; length];
        self.source.read_exact(&mut body).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                Diagnostic::new(self.line, message!("feed-short-body", length = length.to_string()))
            }
            _ => Diagnostic::from_io_error(self.line, &error),
        })?;
        self.line += body.iter().filter(|it| **it == b'\n').count() as u64;
        Ok(body)
    }
}

pub fn is_header_name(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|it| it.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(it))
}

/// Splits a text at its first blank. Returns the first word, and the rest without surrounding white space.
pub fn split_word(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    (&text[..end], text[end..].trim_ascii())
}

/// Rejects values that would make the request malformed.
pub fn check(request: &AmmoRequest, line: u64) -> Result<(), Diagnostic> {
    if !is_header_name(&request.method) {
        return Err(Diagnostic::new(line, message!("feed-method", found = excerpt(&request.method))));
    }
    let plain = request.target.iter().all(|it| it.is_ascii_graphic() || *it >= 0x80);
    if !request.target.starts_with(b"/") || !plain {
        return Err(Diagnostic::new(line, message!("feed-target", found = excerpt(&request.target))));
    }
    // A carriage return within a header line would start another header.
    let ends = request.headers.windows(2).filter(|it| it == b"\r\n").count();
    if request.headers.iter().filter(|it| **it == b'\r').count() != ends {
        return Err(Diagnostic::new(line, message!("feed-header-return")));
    }
    Ok(())
}
