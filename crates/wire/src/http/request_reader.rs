//! Request reader on decrypted bytes: finds the heads and bodies of the requests that a client sends

use super::body::{Body, DrainResult};
use super::head::{self, HEAD_MAX, HeadEndFinder};
use super::{Error, Method};

/// Reader of the requests of one connection.
#[derive(Debug, Default)]
pub struct RequestReader {
    /// Bytes of the current head; complete while its body is read.
    head: Vec<u8>,
    ending: HeadEndFinder,
    /// `None` within a head and between requests.
    body: Option<Body>,
    /// True between requests, when the parts of the last request are still retained.
    is_between: bool,
    /// Retained part of the body, and the number of bytes to retain.
    retained: Vec<u8>,
    retain: usize,
    length: u64,
}

/// Progress of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestEvent {
    /// The head is complete, and the body follows.
    Head,
    /// The body is complete.
    End,
}

/// First line and headers of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestHead {
    pub method: String,
    /// Target: usually path and query, but also an absolute URL or `*`.
    pub target: String,
    /// Names and values in their order. Bytes that are not UTF-8 are replaced.
    pub headers: Vec<(String, String)>,
}

impl RequestReader {
    /// Reader that retains at most `retain` bytes of each body.
    pub fn new(retain: usize) -> RequestReader {
        RequestReader { retain, ..RequestReader::default() }
    }

    /// Consumes input up to the next event; `None` if more input is needed.
    ///
    /// # Errors
    /// Returns an error if the bytes are no request of HTTP/1. Further calls have no meaning.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<RequestEvent>, Error> {
        let Some(body) = &mut self.body else { return self.head(input) };
        loop {
            let (data, ends) = match body.drain(input)? {
                DrainResult::More => return Ok(None),
                DrainResult::Data(data) => (data, false),
                DrainResult::End(data) => (data, true),
            };
            self.length += data.len() as u64;
            let room = self.retain.saturating_sub(self.retained.len());
            self.retained.extend_from_slice(&data[..data.len().min(room)]);
            if ends {
                (self.body, self.is_between) = (None, true);
                return Ok(Some(RequestEvent::End));
            }
        }
    }

    /// Head of the last request, from the first line to the empty line.
    pub fn raw_head(&self) -> &[u8] {
        &self.head
    }

    /// Retained beginning of the last request's body, without the framing of chunks.
    pub fn body(&self) -> &[u8] {
        &self.retained
    }

    /// Number of bytes of the last request's body, without the framing of chunks.
    pub fn length(&self) -> u64 {
        self.length
    }

    fn head(&mut self, input: &mut &[u8]) -> Result<Option<RequestEvent>, Error> {
        if std::mem::take(&mut self.is_between) {
            *self = RequestReader::new(self.retain);
        }
        if self.head.is_empty() {
            // A client may send an empty line before a request: RFC 9112, section 2.2.
            let blank = input.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            *input = &input[blank..];
        }
        let piece = &input[..input.len().min(HEAD_MAX - self.head.len())];
        let ended = self.ending.find(piece);
        let taken = ended.unwrap_or(piece.len());
        self.head.extend_from_slice(&piece[..taken]);
        *input = &input[taken..];
        if ended.is_none() {
            return if self.head.len() < HEAD_MAX { Ok(None) } else { Err(Error::HeadTooLong) };
        }
        self.body = Some(Body::new(head::request_framing(&self.head)?));
        Ok(Some(RequestEvent::Head))
    }
}

impl RequestHead {
    /// Reads a complete head; `None` if it is not one.
    pub fn read(head: &[u8]) -> Option<RequestHead> {
        head::with_request(head, |request| {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let header = |header: &httparse::Header<'_>| (header.name.to_owned(), text(header.value));
            Some(RequestHead {
                method: request.method?.to_owned(),
                target: request.path?.to_owned(),
                headers: request.headers.iter().map(header).collect(),
            })
        })
        .ok()?
    }

    /// Method, as far as it matters for the framing of the response.
    pub fn framing_method(&self) -> Method {
        if self.method == "HEAD" { Method::Head } else { Method::Get }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests in the bytes, however they are split.
    fn check(bytes: &str, expected: &[&str]) {
        for at in 0..=bytes.len() {
            let mut reader = RequestReader::new(4);
            let mut found = Vec::new();
            for mut piece in [&bytes.as_bytes()[..at], &bytes.as_bytes()[at..]] {
                while let Some(event) = reader.next(&mut piece).expect("requests") {
                    let head = RequestHead::read(reader.raw_head()).expect("a head");
                    found.push(match event {
                        RequestEvent::Head => format!("{} {}", head.method, head.target),
                        RequestEvent::End => {
                            format!("{} {}", reader.length(), String::from_utf8_lossy(reader.body()))
                        }
                    });
                }
                assert!(piece.is_empty());
            }
            assert_eq!(found, expected, "split at {at}");
        }
    }

    #[test]
    fn finds_requests() {
        let length = "POST /a?b=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabcdef";
        let chunked =
            "PUT /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\nT: 1\r\n\r\n";
        let empty = "\r\nGET http://a/x HTTP/1.1\r\n\r\n";
        check(
            &[length, chunked, empty, length].concat(),
            &["POST /a?b=1", "6 abcd", "PUT /c", "3 abc", "GET http://a/x", "0 ", "POST /a?b=1", "6 abcd"],
        );
        check("PURGE * HTTP/1.0\r\nX: é\r\n\r\n", &["PURGE *", "0 "]);
    }

    #[test]
    fn rejects_what_is_no_request() {
        for (bytes, expected) in [
            ("\u{16}\u{3}\u{1}\r\n\r\n", Error::Head),
            ("PRI * HTTP/2.0\r\n\r\n", Error::Head),
            ("GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", Error::ContentLength),
            ("GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", Error::ContentLength),
            ("GET / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", Error::TransferEncoding),
        ] {
            let mut reader = RequestReader::default();
            assert_eq!(reader.next(&mut bytes.as_bytes()), Err(expected), "{bytes:?}");
        }
        let long = format!("GET / HTTP/1.1\r\nX: {}", "a".repeat(HEAD_MAX));
        assert_eq!(RequestReader::default().next(&mut long.as_bytes()), Err(Error::HeadTooLong));
    }
}
