//! Reader of HTTP requests in Yandex.Tank's ammunition formats
//!
//! The formats are those of Tank's manual. The reader removes headers that pgdyno writes (`Host`, `Content-Length`,
//! `Transfer-Encoding`, `Connection`), because they follow from the request's destination and body.

use crate::diagnostic::{Diagnostic, excerpt};
use crate::request::{AmmoRequest, LineReader, RequestSink, check, is_header_name, split_word};
use model::message;
use model::plan::FeedFormat;
use std::io::BufRead;

/// Passes every request of `source` to `take`, in the order of the source.
///
/// # Errors
/// The ammunition is malformed, or has no request.
pub fn read(
    format: FeedFormat,
    source: &mut dyn BufRead,
    take: &mut RequestSink<'_>,
) -> Result<(), Diagnostic> {
    let mut lines = LineReader::new(source);
    let (mut headers, mut taken) = (Headers::default(), 0_u64);
    while lines.next()? {
        let line = lines.line;
        let text = lines.text.trim_ascii().to_vec();
        let request = match format {
            _ if text.is_empty() => continue,
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
    Ok(())
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

fn is_generated_header(name: &[u8]) -> bool {
    ["Host", "Content-Length", "Transfer-Encoding", "Connection"]
        .iter()
        .any(|it| name.eq_ignore_ascii_case(it.as_bytes()))
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
            Ok(_) => all.join(" / "),
            Err(error) => error.describe(),
        };
        assert_eq!(result, expected, "{text:?}");
    }

    #[test]
    fn reads_uri_ammo() {
        check(
            FeedFormat::Uri,
            "[Host: example.org]\n[Accept: */*] [Cookie: a=b]\n/ good\n[accept: text/html]\n\n/x?y=1\n",
            r"GET|/|Accept: */*\r\nCookie: a=b\r\n||good|||| / GET|/x?y=1|Cookie: a=b\r\naccept: text/html\r\n||||||",
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
            r"POST|/a|Content-Type: text/plain\r\n|ab\nc\n|tag|||| / POST|/b|Content-Type: text/plain\r\n||||||",
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
            r"POST|/a|X-Y: z\r\n|hi|shop|||| / GET|/b|User-Agent: t\r\n||||||",
        );
        check(FeedFormat::Raw, "4\nGET \n", "1: feed-request-without-end");
        check(FeedFormat::Raw, "20\nGET / HTTP/1.1\nno\n\n\n", "1: feed-request-header(no)");
        let split = "GET / HTTP/1.1\r\nA: b\rC: d\r\n\r\n";
        check(FeedFormat::Raw, &format!("{}\n{split}", split.len()), "1: feed-header-return");
    }

    #[test]
    fn arbitrary_bytes_do_not_panic() {
        proptest::proptest!(|(bytes: Vec<u8>)| {
            for format in [FeedFormat::Uri, FeedFormat::UriPost, FeedFormat::Raw] {
                let _ = read(format, &mut &bytes[..], &mut |_| Ok(()));
            }
        });
    }
}
