//! Reader of HTTP requests in Yandex.Tank's ammunition formats
//!
//! The formats are those of Tank's manual. The reader removes headers that pgdyno writes (`Host`, `Content-Length`,
//! `Transfer-Encoding`, `Connection`), because they follow from the request's destination and body.

use crate::bounds::{MAX_ROW_BYTES, row_too_long};
use crate::diagnostic::{Diagnostic, excerpt};
use model::message;
use model::plan::FeedFormat;
use std::io::{self, BufRead, Read};

/// HTTP request of a feed.
#[derive(Clone, Debug, Default)]
pub struct AmmoRequest {
    method: Vec<u8>,
    target: Vec<u8>,
    /// Header lines, each with its line end.
    headers: Vec<u8>,
    body: Vec<u8>,
    tag: Vec<u8>,
    /// Status and size in bytes of the recorded response, as digits; empty if unknown.
    status: Vec<u8>,
    bytes: Vec<u8>,
}

impl AmmoRequest {
    /// Fields of the request, in the order of [`crate::AMMO_COLUMNS`].
    pub fn fields(&self) -> impl Iterator<Item = &[u8]> {
        let AmmoRequest { method, target, headers, body, tag, status, bytes } = self;
        [method, target, headers, body, tag, status, bytes].into_iter().map(Vec::as_slice)
    }
}

type RequestSink<'a> = dyn FnMut(&AmmoRequest) -> io::Result<()> + 'a;

/// Passes every request of `source` to `take`, in the order of the source.
///
/// The reader skips log lines without a request, or with a request whose body is not logged. Returns the number of
/// skipped lines.
pub fn read(
    format: FeedFormat,
    source: &mut dyn BufRead,
    take: &mut RequestSink<'_>,
) -> Result<u64, Diagnostic> {
    let mut lines = LineReader { source, line: 0, text: Vec::new() };
    let (mut headers, mut skipped, mut taken) = (Headers::default(), 0, 0_u64);
    while lines.next()? {
        let line = lines.line;
        let text = lines.text.trim_ascii().to_vec();
        let request = match format {
            _ if text.is_empty() => continue,
            FeedFormat::Access => match from_log_line(&text) {
                Some(request) => request,
                None => {
                    skipped += 1;
                    continue;
                }
            },
            FeedFormat::Uri | FeedFormat::UriPost if text.starts_with(b"[") => {
                headers.set(&text, line)?;
                continue;
            }
            FeedFormat::Uri => {
                let (target, tag) = split_word(&text);
                AmmoRequest {
                    method: b"GET".to_vec(),
                    target: target.to_vec(),
                    tag: tag.to_vec(),
                    ..headers.request()
                }
            }
            FeedFormat::UriPost => {
                let (length, rest) = split_word(&text);
                let (target, tag) = split_word(rest);
                let (target, tag) = (target.to_vec(), tag.to_vec());
                let body = lines.body(length)?;
                AmmoRequest { method: b"POST".to_vec(), target, tag, body, ..headers.request() }
            }
            // According to Tank's manual, a length of 0 marks the end of the ammunition.
            _ if text == b"0" => break,
            _ => {
                let (length, tag) = split_word(&text);
                let tag = tag.to_vec();
                let raw = lines.body(length)?;
                AmmoRequest { tag, ..from_raw(&raw, line)? }
            }
        };
        check(&request, line)?;
        take(&request).map_err(|it| Diagnostic::from_io_error(line, &it))?;
        taken += 1;
    }
    if taken == 0 {
        return Err(Diagnostic::new(0, message!("feed-no-requests")));
    }
    Ok(skipped)
}

/// Reader of lines, and of bodies whose length is stated in a line.
struct LineReader<'a> {
    source: &'a mut dyn BufRead,
    line: u64,
    text: Vec<u8>,
}

impl LineReader<'_> {
    fn next(&mut self) -> Result<bool, Diagnostic> {
        self.text.clear();
        self.line += 1;
        let read = (&mut *self.source).take(MAX_ROW_BYTES + 1).read_until(b'\n', &mut self.text);
        match read.map_err(|it| Diagnostic::from_io_error(self.line, &it))? as u64 {
            0 => Ok(false),
            1..=MAX_ROW_BYTES => Ok(true),
            _ => Err(Diagnostic::from_io_error(self.line, &row_too_long())),
        }
    }

    fn body(&mut self, length: &[u8]) -> Result<Vec<u8>, Diagnostic> {
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

/// Maximum number of headers of a request, which is also the limit of most servers.
const MAX_HEADERS: usize = 100;

/// Headers that a feed sets for all later requests.
#[derive(Default)]
struct Headers(Vec<(String, String)>);

impl Headers {
    /// Sets headers from `[Name: value]`; a line may contain several.
    fn set(&mut self, text: &[u8], line: u64) -> Result<(), Diagnostic> {
        let wrong = || Diagnostic::new(line, message!("feed-header-line", found = excerpt(text)));
        let headers = std::str::from_utf8(text).map_err(|_| wrong())?;
        let inner = headers.strip_prefix('[').and_then(|it| it.strip_suffix(']')).ok_or_else(wrong)?;
        for each in inner.split("] [") {
            let (name, value) = each.split_once(':').ok_or_else(wrong)?;
            let (name, value) = (name.trim(), value.trim());
            if !is_header_name(name.as_bytes()) {
                return Err(wrong());
            }
            self.0.retain(|it| !it.0.eq_ignore_ascii_case(name));
            if !is_generated_header(name.as_bytes()) {
                self.0.push((name.to_owned(), value.to_owned()));
            }
            if self.0.len() > MAX_HEADERS {
                return Err(Diagnostic::new(
                    line,
                    message!(
                        "feed-many-headers",
                        number = self.0.len().to_string(),
                        max = MAX_HEADERS.to_string()
                    ),
                ));
            }
        }
        Ok(())
    }

    fn request(&self) -> AmmoRequest {
        let headers: String = self.0.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        AmmoRequest { headers: headers.into_bytes(), ..AmmoRequest::default() }
    }
}

fn is_header_name(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|it| it.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(it))
}

fn is_generated_header(name: &[u8]) -> bool {
    ["Host", "Content-Length", "Transfer-Encoding", "Connection"]
        .iter()
        .any(|it| name.eq_ignore_ascii_case(it.as_bytes()))
}

/// Splits a text at its first blank. Returns the first word, and the rest without surrounding white space.
fn split_word(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    (&text[..end], text[end..].trim_ascii())
}

/// Parses a raw request.
fn from_raw(raw: &[u8], line: u64) -> Result<AmmoRequest, Diagnostic> {
    let crlf = raw.windows(4).position(|it| it == b"\r\n\r\n").map(|it| (it, it + 4));
    let bare = || raw.windows(2).position(|it| it == b"\n\n").map(|it| (it, it + 2));
    let (head, body) =
        crlf.or_else(bare).ok_or_else(|| Diagnostic::new(line, message!("feed-request-without-end")))?;
    let mut lines = raw[..head].split(|it| *it == b'\n').map(<[u8]>::trim_ascii);
    let (method, rest) = split_word(lines.next().unwrap_or_default());
    let (target, _) = split_word(rest);
    let mut headers = Vec::new();
    for each in lines {
        let name = each.split(|it| *it == b':').next().unwrap_or_default();
        if !each.contains(&b':') || !is_header_name(name) {
            return Err(Diagnostic::new(line, message!("feed-request-header", found = excerpt(each))));
        }
        if !is_generated_header(name) {
            headers.extend_from_slice(each);
            headers.extend_from_slice(b"\r\n");
        }
    }
    Ok(AmmoRequest {
        method: method.to_vec(),
        target: target.to_vec(),
        headers,
        body: raw[body..].to_vec(),
        ..AmmoRequest::default()
    })
}

/// Parses a log line: the request is the text between the first quotes; status and size of the response follow. Returns
/// `None` for methods with a body.
fn from_log_line(text: &[u8]) -> Option<AmmoRequest> {
    let mut parts = text.splitn(3, |it| *it == b'"');
    let (method, rest) = split_word(parts.nth(1)?);
    let (target, _) = split_word(rest);
    let (status, rest) = split_word(parts.next().unwrap_or_default().trim_ascii_start());
    // The common log format writes a dash instead of 0.
    let bytes = match split_word(rest).0 {
        b"-" => b"0",
        bytes => bytes,
    };
    let is_number = |it: &[u8]| (1..=18).contains(&it.len()) && it.iter().all(u8::is_ascii_digit);
    let is_known = status.len() == 3 && is_number(status) && is_number(bytes);
    let (status, bytes) = if is_known { (status, bytes) } else { (&[][..], &[][..]) };
    let bodiless = [b"GET".as_slice(), b"HEAD", b"DELETE", b"OPTIONS"].contains(&method);
    (bodiless && target.starts_with(b"/")).then(|| AmmoRequest {
        method: method.to_vec(),
        target: target.to_vec(),
        status: status.to_vec(),
        bytes: bytes.to_vec(),
        ..AmmoRequest::default()
    })
}

/// Rejects values that would make the request malformed.
fn check(request: &AmmoRequest, line: u64) -> Result<(), Diagnostic> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: FeedFormat, text: &str, expected: &str) {
        let mut all = Vec::new();
        let result = read(format, &mut text.as_bytes(), &mut |request| {
            all.push(request.fields().map(excerpt).collect::<Vec<_>>().join("|"));
            Ok(())
        });
        let result = match result {
            Ok(0) => all.join(" / "),
            Ok(skipped) => format!("{} / {skipped} skipped", all.join(" / ")),
            Err(error) => error.describe(),
        };
        assert_eq!(result, expected, "{text:?}");
    }

    #[test]
    fn reads_uri_ammo() {
        check(
            FeedFormat::Uri,
            "[Host: example.org]\n[Accept: */*] [Cookie: a=b]\n/ good\n[accept: text/html]\n\n/x?y=1\n",
            r"GET|/|Accept: */*\r\nCookie: a=b\r\n||good|| / GET|/x?y=1|Cookie: a=b\r\naccept: text/html\r\n||||",
        );
        check(FeedFormat::Uri, "http://x/\n", "1: feed-target(http://x/)");
        check(FeedFormat::Uri, "[Accept]\n", "1: feed-header-line([Accept])");
        check(FeedFormat::Uri, "[A: b]\n", "0: feed-no-requests");
    }

    #[test]
    fn reads_uripost_ammo() {
        check(
            FeedFormat::UriPost,
            "[Content-Type: text/plain]\n5 /a tag\nab\nc\n\n0 /b\n\n",
            r"POST|/a|Content-Type: text/plain\r\n|ab\nc\n|tag|| / POST|/b|Content-Type: text/plain\r\n||||",
        );
        check(FeedFormat::UriPost, "9 /a\nab\n", "1: feed-short-body(9)");
        check(FeedFormat::UriPost, "/a\n", "1: feed-body-length(/a, 67108864)");
    }

    #[test]
    fn reads_raw_ammo() {
        let post = "POST /a HTTP/1.1\r\nHost: x\r\nX-Y: z\r\nContent-Length: 2\r\n\r\nhi";
        let get = "GET /b HTTP/1.0\nUser-Agent: t\n\n";
        check(
            FeedFormat::Raw,
            &format!("{} shop\n{post}\n{}\n{get}\n0\nnever read", post.len(), get.len()),
            r"POST|/a|X-Y: z\r\n|hi|shop|| / GET|/b|User-Agent: t\r\n||||",
        );
        check(FeedFormat::Raw, "4\nGET \n", "1: feed-request-without-end");
        check(FeedFormat::Raw, "20\nGET / HTTP/1.1\nno\n\n\n", "1: feed-request-header(no)");
        let split = "GET / HTTP/1.1\r\nA: b\rC: d\r\n\r\n";
        check(FeedFormat::Raw, &format!("{}\n{split}", split.len()), "1: feed-header-return");
    }

    #[test]
    fn reads_access_logs() {
        let line = |request: &str| {
            format!("127.0.0.1 - ann [10/Oct/2026:13:55:36 +0300] \"{request}\" 200 2326 \"-\" \"x\"\n")
        };
        let text =
            [line("GET /a?b=1 HTTP/1.1"), line("POST /c HTTP/1.1"), line("-"), line("HEAD / HTTP/1.0")]
                .concat();
        check(FeedFormat::Access, &text, "GET|/a?b=1||||200|2326 / HEAD|/||||200|2326 / 2 skipped");
        for (answer, expected) in [
            ("200 2326", "200|2326"),
            ("304 -", "304|0"),
            ("200 2326 \"-\" \"x\" 1 2", "200|2326"),
            ("200", "|"),
            ("", "|"),
            ("200 many", "|"),
            ("2000 1", "|"),
            ("200 99999999999999999999", "|"),
        ] {
            let text = format!("127.0.0.1 - - [x] \"GET / HTTP/1.1\" {answer}\n");
            check(FeedFormat::Access, &text, &format!("GET|/||||{expected}"));
        }
        check(FeedFormat::Access, &line("-"), "0: feed-no-requests");
    }

    #[test]
    fn arbitrary_bytes_do_not_panic() {
        proptest::proptest!(|(bytes: Vec<u8>)| {
            for format in [FeedFormat::Uri, FeedFormat::UriPost, FeedFormat::Raw, FeedFormat::Access] {
                let _ = read(format, &mut &bytes[..], &mut |_| Ok(()));
            }
        });
    }
}
