//! Parser of response heads: status, framing and coding.

use super::decompress::Coding;
use super::{Error, Method};
use httparse::{Header, ParserConfig, Status};
use std::mem::MaybeUninit;

/// Maximum length of a head in bytes: status line, headers and the empty line.
pub const HEAD_MAX: usize = 64 << 10;
/// Maximum number of headers.
const HEADERS_MAX: usize = 256;

/// Facts from a response head that the reader needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub status: u16,
    pub framing: Framing,
    pub coding: Coding,
    /// True if the connection accepts no further request after this response.
    pub close: bool,
}

/// Framing of a body. Source: RFC 9112, section 6.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// Body of this length in bytes; 0 without a body.
    Length(u64),
    Chunked,
    /// Body ends when the server closes the connection.
    UntilClose,
}

/// Parses the head at the front of `input`; returns it with its length, or `None` if `input` ends within it.
pub(super) fn read(input: &[u8], method: Method) -> Result<Option<(Head, usize)>, Error> {
    let mut response = httparse::Response::new(&mut []);
    let mut headers = [const { MaybeUninit::uninit() }; HEADERS_MAX];
    let parsed = config().parse_response_with_uninit_headers(&mut response, input, &mut headers);
    let length = match parsed {
        Ok(Status::Complete(length)) => length,
        Ok(Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(Error::HeadTooLong),
        Err(_) => return Err(Error::Head),
    };
    if length > HEAD_MAX {
        return Err(Error::HeadTooLong);
    }
    let status = response.code.ok_or(Error::Head)?;
    if !(100..=599).contains(&status) {
        return Err(Error::Head);
    }
    let old = response.version != Some(1);
    let body = BodyHeaders::from_headers(response.headers)?;
    // The rules for reuse of the connection are in RFC 9112, section 9.3.
    let close = body.close || (old && !body.keep_alive);
    let coding = body.coding;
    let head = |framing, close| Ok(Some((Head { status, framing, coding, close }, length)));
    match body {
        _ if method == Method::Head || status < 200 || status == 204 || status == 304 => {
            head(Framing::Length(0), close)
        }
        // HTTP/1.0 has no Transfer-Encoding. An intermediary may have mishandled it, so the connection is not reused.
        BodyHeaders { encoded: true, .. } if old => head(Framing::UntilClose, true),
        // Both headers together indicate request smuggling, in which this client and an intermediary would see
        // different responses.
        BodyHeaders { chunked: true, length, .. } => head(Framing::Chunked, close || length.is_some()),
        BodyHeaders { encoded: true, .. } => head(Framing::UntilClose, true),
        BodyHeaders { length: Some(length), .. } => head(Framing::Length(length), close),
        _ => head(Framing::UntilClose, true),
    }
}

/// Passes a complete head of a request to `take`.
pub(super) fn with_request<T>(
    head: &[u8],
    take: impl FnOnce(&httparse::Request<'_, '_>) -> T,
) -> Result<T, Error> {
    let mut request = httparse::Request::new(&mut []);
    let mut headers = [const { MaybeUninit::uninit() }; HEADERS_MAX];
    match request.parse_with_uninit_headers(head, &mut headers) {
        Ok(Status::Complete(_)) => Ok(take(&request)),
        Err(httparse::Error::TooManyHeaders) => Err(Error::HeadTooLong),
        Ok(Status::Partial) | Err(_) => Err(Error::Head),
    }
}

/// Framing of the body after a complete head of a request. Source: RFC 9112, section 6.3.
pub(super) fn request_framing(head: &[u8]) -> Result<Framing, Error> {
    match with_request(head, |request| BodyHeaders::from_headers(request.headers))?? {
        BodyHeaders { chunked: true, .. } => Ok(Framing::Chunked),
        // The end of such a body cannot be found.
        BodyHeaders { encoded: true, .. } => Err(Error::TransferEncoding),
        BodyHeaders { length, .. } => Ok(Framing::Length(length.unwrap_or(0))),
    }
}

/// Status line and headers of a complete head: status, reason, names and values.
pub(super) fn parts(head: &[u8]) -> Option<(String, Vec<(String, String)>)> {
    let mut response = httparse::Response::new(&mut []);
    let mut headers = [const { MaybeUninit::uninit() }; HEADERS_MAX];
    config().parse_response_with_uninit_headers(&mut response, head, &mut headers).ok()?;
    let header = |it: &Header<'_>| (it.name.to_owned(), String::from_utf8_lossy(it.value).into_owned());
    Some((response.reason.unwrap_or_default().to_owned(), response.headers.iter().map(header).collect()))
}

/// Coding of the body after a complete head of a response.
pub(super) fn coding(head: &[u8]) -> Coding {
    let mut coding = Coding::Plain;
    each_header(head, "content-encoding", |value| coding = list_items(value).fold(coding, Coding::combine));
    coding
}

/// Value of the first header `name` in a complete head.
pub(super) fn header<'a>(head: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let mut first = None;
    each_header(head, name, |value| {
        first.get_or_insert(value);
    });
    first
}

/// Passes the values of all headers `name` in a complete head to `take`, in their order.
pub(super) fn each_header<'a>(head: &'a [u8], name: &str, take: impl FnMut(&'a [u8])) {
    let mut response = httparse::Response::new(&mut []);
    let mut headers = [const { MaybeUninit::uninit() }; HEADERS_MAX];
    // A retained head was parsed before, so parsing succeeds again.
    if config().parse_response_with_uninit_headers(&mut response, head, &mut headers).is_ok() {
        let named = response.headers.iter().filter(|it| it.name.eq_ignore_ascii_case(name));
        named.map(|it| it.value).for_each(take);
    }
}

fn config() -> ParserConfig {
    let mut config = ParserConfig::default();
    // A recipient replaces line folding with blanks: RFC 9112, section 5.2.
    config.allow_obsolete_multiline_headers_in_responses(true);
    config
}

/// Values of the headers that determine the body.
#[derive(Default)]
struct BodyHeaders {
    length: Option<u64>,
    /// True if there is a Transfer-Encoding header; `chunked` is true if its last item is `chunked`.
    encoded: bool,
    chunked: bool,
    close: bool,
    keep_alive: bool,
    coding: Coding,
}

impl BodyHeaders {
    fn from_headers(headers: &[Header<'_>]) -> Result<BodyHeaders, Error> {
        let mut body = BodyHeaders::default();
        for Header { name, value } in headers {
            let is_header = |it: &str| name.eq_ignore_ascii_case(it);
            // Compare lengths first, because most headers are irrelevant.
            match name.len() {
                14 if is_header("content-length") => {
                    for one in list_items(value) {
                        let length = number(one).ok_or(Error::ContentLength)?;
                        if body.length.is_some_and(|it| it != length) {
                            return Err(Error::ContentLength);
                        }
                        body.length = Some(length);
                    }
                    body.length.ok_or(Error::ContentLength)?;
                }
                17 if is_header("transfer-encoding") => {
                    for one in list_items(value) {
                        if body.chunked {
                            return Err(Error::TransferEncoding);
                        }
                        body.encoded = true;
                        body.chunked = one.eq_ignore_ascii_case(b"chunked");
                    }
                    if !body.encoded {
                        return Err(Error::TransferEncoding);
                    }
                }
                16 if is_header("content-encoding") => {
                    body.coding = list_items(value).fold(body.coding, Coding::combine);
                }
                10 if is_header("connection") => {
                    for one in list_items(value) {
                        body.close |= one.eq_ignore_ascii_case(b"close");
                        body.keep_alive |= one.eq_ignore_ascii_case(b"keep-alive");
                    }
                }
                _ => {}
            }
        }
        Ok(body)
    }
}

/// Items of a comma-separated header value: RFC 9110, section 5.6.1.
fn list_items(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|it| *it == b',').map(<[u8]>::trim_ascii).filter(|it| !it.is_empty())
}

fn number(digits: &[u8]) -> Option<u64> {
    let digit = |it: &u8| it.is_ascii_digit().then(|| u64::from(it - b'0'));
    let number = |sum: u64, it: &u8| sum.checked_mul(10)?.checked_add(digit(it)?);
    if digits.is_empty() { None } else { digits.iter().try_fold(0, number) }
}

/// Finder of the empty line that ends a head. It works byte by byte, for a head that arrives in pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum HeadEndFinder {
    /// Position within a line.
    #[default]
    Within,
    /// Position after a line ending.
    Line,
    /// Position after a line ending and a carriage return.
    Return,
}

impl HeadEndFinder {
    /// Number of these bytes that belong to the head; `None` if the head does not end within them.
    pub fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        for (i, byte) in bytes.iter().enumerate() {
            *self = match (*self, byte) {
                (HeadEndFinder::Within, b'\n') => HeadEndFinder::Line,
                (HeadEndFinder::Line, b'\r') => HeadEndFinder::Return,
                (HeadEndFinder::Line | HeadEndFinder::Return, b'\n') => return Some(i + 1),
                _ => HeadEndFinder::Within,
            };
        }
        None
    }
}
