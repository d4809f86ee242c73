//! HTTP responses of many servers, split at every byte, compared with hyper, and malicious ones.

use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::rt::{Read, ReadBufCursor, Write};
use proptest::prelude::*;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use wire::http::{Channel, Error, Event, HEAD_MAX, Method, Response, ResponseReader, Retain};

const KEEP: Retain = Retain { head: false, body: 1 << 20, error_body: 0, decompress: false };

/// Reads a response that arrives in these pieces; the server then closes its sending direction. Returns the events as
/// text.
fn read<'a>(method: Method, pieces: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut channel = Channel::default();
    channel.open(None).expect("a connection without TLS opens");
    channel.request(method, KEEP, |out| out.extend_from_slice(b"GET / HTTP/1.1\r\n\r\n"));
    channel.sent(channel.outgoing().len());
    let describe = |channel: &Channel, response: Response| {
        let then = if response.close { "close" } else { "keep" };
        let body = String::from_utf8_lossy(channel.reader().body()).into_owned();
        assert_eq!(response.length, channel.reader().body().len() as u64);
        format!("{} {body:?} {then}", response.status)
    };
    for piece in pieces {
        let mut input = piece;
        match channel.receive(&mut input) {
            Ok(Event::More) => {}
            Ok(Event::Opened) => unreachable!("there is no handshake"),
            Ok(Event::Response(it)) => return describe(&channel, it),
            Err(error) => return format!("{error:?}"),
        }
        assert!(input.is_empty(), "all input is consumed");
    }
    match channel.closed() {
        Some(it) => describe(&channel, it),
        None => "cut".to_owned(),
    }
}

fn check(method: Method, answer: &str, expected: &str) {
    let answer = answer.as_bytes();
    assert_eq!(read(method, [answer]), expected, "whole: {}", answer.escape_ascii());
    assert_eq!(read(method, answer.chunks(1)), expected, "byte by byte: {}", answer.escape_ascii());
    for at in 0..=answer.len() {
        let (a, b) = answer.split_at(at);
        assert_eq!(read(method, [a, b]), expected, "{} | {}", a.escape_ascii(), b.escape_ascii());
    }
}

#[test]
fn reads_responses() {
    let check = |answer: &str, expected: &str| check(Method::Get, answer, expected);
    check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", r#"200 "hello" keep"#);
    check("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", r#"200 "" keep"#);
    check("HTTP/1.1 200\r\ncontent-length:5 \r\n\r\nhello", r#"200 "hello" keep"#);
    check("HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", r#"200 "hello" keep"#);
    check("HTTP/1.1 503 Busy\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno", r#"503 "no" close"#);
    check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: te, Close\r\n\r\nno", r#"200 "no" close"#);
    check("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nno", r#"200 "no" close"#);
    check("HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: Keep-Alive\r\n\r\nno", r#"200 "no" keep"#);
    // Several equal lengths are accepted; contradictory lengths are an error.
    check("HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\nContent-Length: 2\r\n\r\nno", r#"200 "no" keep"#);
    check("HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\nno", "ContentLength");
    check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nno", "ContentLength");
    check("HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nno", "ContentLength");
    check("HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\nno", "ContentLength");
    check("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\nno", "ContentLength");
    // These responses have no body, whatever their headers.
    check("HTTP/1.1 204 No Content\r\n\r\n", r#"204 "" keep"#);
    check("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", r#"304 "" keep"#);
    check("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\n\r\n", r#"204 "" keep"#);
    check(
        "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 100 C\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na",
        r#"200 "a" keep"#,
    );
    check("HTTP/1.1 101 Switching Protocols\r\n\r\n", r#"101 "" close"#);
    // These bodies end when the connection ends.
    check("HTTP/1.1 200 OK\r\n\r\n", r#"200 "" close"#);
    check("HTTP/1.1 200 OK\r\n\r\nall there is", r#"200 "all there is" close"#);
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nzzz", r#"200 "zzz" close"#);
    check("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", r#"200 "0\r\n\r\n" close"#);
    // These responses are truncated.
    check("", "cut");
    check("HTTP/1.1 200 OK\r\nContent-Le", "cut");
    check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "cut");
    check("HTTP/1.1 100 Continue\r\n\r\n", "cut");
    // These bytes are not a response.
    check("SSH-2.0-OpenSSH\r\n\r\n", "Head");
    check("\r\nHTTP/1.1 200 OK\r\n\r\n", "Head");
    check("HTTP/2.0 200 OK\r\n\r\n", "Head");
    check("HTTP/1.1 2x0 OK\r\n\r\n", "Head");
    check("HTTP/1.1 999 OK\r\n\r\n", "Head");
    check("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "Head");
    check("HTTP/1.1 200 OK\r\na: 1\r\n folded\r\nContent-Length: 0\r\n\r\n", r#"200 "" keep"#);
}

#[test]
fn head_responses_have_no_body() {
    check(Method::Head, "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n", r#"200 "" keep"#);
    check(Method::Head, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", r#"200 "" keep"#);
    check(Method::Head, "HTTP/1.1 200 OK\r\n\r\n", r#"200 "" keep"#);
}

#[test]
fn reads_chunked_bodies() {
    let check = |headers: &str, body: &str, expected: &str| {
        let answer = format!("HTTP/1.1 200 OK\r\n{headers}\r\n\r\n{body}");
        check(Method::Get, &answer, expected);
    };
    let chunked = "Transfer-Encoding: chunked";
    check(chunked, "0\r\n\r\n", r#"200 "" keep"#);
    check(chunked, "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n", r#"200 "hello!" keep"#);
    check(chunked, "00a\r\n0123456789\r\n00\r\n\r\n", r#"200 "0123456789" keep"#);
    check(chunked, "A;name=\"va;ue\"\r\n0123456789\r\n0;x\r\n\r\n", r#"200 "0123456789" keep"#);
    check(chunked, "1 \t\r\na\r\n0 ;x\r\n\r\n", r#"200 "a" keep"#);
    check(chunked, "1\r\na\r\n0\r\nChecksum: 7\r\nMore: 8\r\n\r\n", r#"200 "a" keep"#);
    check("Transfer-Encoding: gzip, Chunked", "1\r\na\r\n0\r\n\r\n", r#"200 "a" keep"#);
    check("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", "1\r\na\r\n0\r\n\r\n", r#"200 "a" keep"#);
    // Both framings: chunks take precedence, and the connection is not reused.
    check("Transfer-Encoding: chunked\r\nContent-Length: 3", "1\r\na\r\n0\r\n\r\n", r#"200 "a" close"#);
    check("Transfer-Encoding: chunked, chunked", "0\r\n\r\n", "TransferEncoding");
    check("Transfer-Encoding: chunked, gzip", "0\r\n\r\n", "TransferEncoding");
    check("Transfer-Encoding: ", "0\r\n\r\n", "TransferEncoding");
    check(chunked, "5\r\nhel", "cut");
    check(chunked, "1\r\na\r\n", "cut");
    check(chunked, "1\r\na\r\n0\r\n", "cut");
    for wrong in
        ["\r\n", "g\r\n", "-1\r\n", "0x1\r\n", "1\na", "1 1\r\na", "1\rx", "1\r\nab", "1\r\na\n", "1\r\na\rx"]
    {
        check(chunked, wrong, "Chunk");
    }
    check(chunked, "1;a\nb\r\na", "Chunk");
    check(chunked, "0\r\na\n\r\n", "Chunk");
    check(chunked, "0\r\n\rx", "Chunk");
    check(chunked, "80000000000000000\r\n", "Chunk");
}

#[test]
fn rejects_unsolicited_bytes() {
    let answer = b"HTTP/1.1 204 No\r\n\r\n".as_slice();
    assert_eq!(read(Method::Get, [&[answer, b"x"].concat()[..]]), "SurplusBytes");
    let mut channel = Channel::default();
    assert_eq!(channel.receive(&mut &b""[..]), Ok(Event::More));
    assert_eq!(channel.receive(&mut &b"H"[..]), Err(Error::SurplusBytes), "before the first request");
}

#[test]
fn keeps_head_and_body_as_requested() {
    let mut reader = ResponseReader::default();
    reader.begin(Method::Get, Retain { head: true, body: 3, error_body: 0, decompress: false });
    let mut input = &b"HTTP/1.1 200 OK\r\nLocation: /a\r\nX: 1\r\nx: 2\r\nContent-Length: 5\r\n\r\nhello"[..];
    let response = reader.next(&mut input).expect("the response is valid").expect("the response is complete");
    assert_eq!((response.length, reader.body()), (5, &b"hel"[..]));
    assert_eq!(
        (reader.header("location"), reader.header("X"), reader.header("Y")),
        (Some(&b"/a"[..]), Some(&b"1"[..]), None)
    );
    reader.begin(Method::Get, Retain::default());
    reader
        .next(&mut &b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"[..])
        .expect("the response is valid")
        .expect("the response is complete");
    assert_eq!((reader.header("content-length"), reader.body()), (None, &b""[..]));
}

/// Feeds `piece` until it fails; returns the error, the bytes fed and the maximum memory.
fn endless(begin: &str, piece: &[u8]) -> (Error, usize, usize) {
    let mut reader = ResponseReader::default();
    reader.begin(Method::Get, Retain::default());
    reader.next(&mut begin.as_bytes()).expect("the beginning is valid");
    let (mut fed, mut memory) = (0, 0);
    loop {
        match reader.next(&mut &piece[..]) {
            Ok(None) => {}
            Ok(Some(_)) => unreachable!("the response is endless"),
            Err(error) => return (error, fed, memory),
        }
        fed += piece.len();
        memory = memory.max(reader.memory());
        assert!(fed < 1 << 20, "a megabyte should be enough");
    }
}

#[test]
fn endless_responses_use_bounded_memory() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (begin, piece, expected) in [
        ("HTTP/1.1 200 OK\r\n", "a: b\r\n", Error::HeadTooLong),
        ("HTTP/1.1 200 OK\r\na: ", "b", Error::HeadTooLong),
        ("HTTP/1.1 200 ", "O", Error::HeadTooLong),
        ("", "HTTP/1.1 100 Continue\r\n\r\n", Error::TooManyInterim),
        (chunked, "0", Error::ChunkTooLong),
        (&format!("{chunked}1;"), "a", Error::ChunkTooLong),
        (&format!("{chunked}0\r\n"), "a: b\r\n", Error::ChunkTooLong),
    ] {
        let (error, fed, memory) = endless(begin, piece.as_bytes());
        assert_eq!(error, expected, "{begin:?}, then {piece:?} repeatedly");
        assert!(fed <= HEAD_MAX + piece.len(), "{fed} bytes of {piece:?}");
        assert!(memory <= 2 * HEAD_MAX, "{memory} bytes held for {piece:?}");
    }
}

#[test]
fn drains_eight_gigabytes_without_buffering() {
    let piece = vec![b'x'; 1 << 20];
    let length = 8_u64 << 30;
    let plain = (format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n"), "");
    let chunked =
        (format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{length:x}\r\n"), "\r\n0\r\n\r\n");
    for (head, end) in [plain, chunked] {
        let mut reader = ResponseReader::default();
        reader.begin(Method::Get, Retain::default());
        assert_eq!(reader.next(&mut head.as_bytes()), Ok(None));
        let mut ended = None;
        for _ in 0..length >> 20 {
            assert_eq!(ended, None);
            ended = reader.next(&mut &piece[..]).expect("the response is valid");
        }
        let ended = ended.or_else(|| reader.next(&mut end.as_bytes()).expect("the response is valid"));
        assert_eq!(ended.expect("the response is complete").length, length);
        assert_eq!(reader.memory(), 0);
    }
}

/// Strategy for responses in the style of different servers.
fn answer() -> impl Strategy<Value = Vec<u8>> {
    let status = prop::sample::select(vec![200, 201, 204, 304, 404, 500]);
    let interim = prop::collection::vec(prop::sample::select(vec![100, 102, 103]), 0..3);
    let other = prop::collection::vec(("X-[A-Za-z]{1,8}", "[ -~]{0,40}"), 0..5);
    let connection = prop::option::of(prop::sample::select(vec!["close", "keep-alive", "Keep-Alive, x"]));
    let body = prop::collection::vec(any::<u8>(), 0..200);
    let sizes = prop::collection::vec((1_usize..50, "(;[a-z]{1,5}(=[a-z0-9]{1,5})?)?", any::<bool>()), 0..8);
    let trailers = prop::collection::vec("[A-Z][a-z]{1,5}: [a-z ]{1,9}", 0..3);
    let framing = (0..3, sizes, trailers);
    (status, interim, other, connection, body, framing, any::<prop::sample::Index>(), 0..4).prop_map(
        |(status, interim, other, connection, body, (framing, sizes, trailers), cut, truncates)| {
            let mut out = String::new();
            for code in interim {
                out += &format!("HTTP/1.1 {code} Wait\r\nHint: x\r\n\r\n");
            }
            out += &format!("HTTP/1.1 {status} Any\r\n");
            for (name, value) in other {
                out += &format!("{name}: {value}\r\n");
            }
            if let Some(value) = connection {
                out += &format!("Connection: {value}\r\n");
            }
            match framing {
                0 => out += &format!("Content-Length: {}\r\n", body.len()),
                1 => out += "Transfer-Encoding: chunked\r\n",
                _ => {}
            }
            let mut out = (out + "\r\n").into_bytes();
            if framing == 1 {
                let mut rest = &body[..];
                for (size, extension, upper) in sizes {
                    let (chunk, more) = rest.split_at(size.min(rest.len()));
                    if !chunk.is_empty() {
                        let size =
                            if upper { format!("{:X}", chunk.len()) } else { format!("{:03x}", chunk.len()) };
                        out.extend_from_slice(format!("{size}{extension}\r\n").as_bytes());
                        out.extend_from_slice(chunk);
                        out.extend_from_slice(b"\r\n");
                    }
                    rest = more;
                }
                out.extend_from_slice(b"0\r\n");
                for trailer in trailers {
                    out.extend_from_slice(format!("{trailer}\r\n").as_bytes());
                }
                out.extend_from_slice(b"\r\n");
            } else {
                out.extend_from_slice(&body);
            }
            // One in four is truncated.
            let end = if truncates == 0 { cut.index(out.len() + 1) } else { out.len() };
            out.truncate(end);
            out
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_hyper(answer in answer(), head in any::<bool>(), piece in 1_usize..300) {
        let method = if head { Method::Head } else { Method::Get };
        prop_assert_eq!(read_with_response_reader(method, &answer, piece), read_with_hyper(method, &answer), "{}", answer.escape_ascii());
    }

    #[test]
    fn arbitrary_bytes_are_response_or_error(mut answer in answer(), at in any::<prop::sample::Index>(), byte: u8) {
        if !answer.is_empty() {
            let at = at.index(answer.len());
            answer[at] = byte;
        }
        let (unsplit, pieces) = (read_with_response_reader(Method::Get, &answer, usize::MAX), read_with_response_reader(Method::Get, &answer, 1));
        prop_assert_eq!(unsplit, pieces, "{}", answer.escape_ascii());
    }
}

/// Status and body; `None` if the response is invalid or truncated.
type ParsedResponse = Option<(u16, Vec<u8>)>;

fn read_with_response_reader(method: Method, answer: &[u8], piece: usize) -> ParsedResponse {
    let mut reader = ResponseReader::default();
    reader.begin(method, KEEP);
    for mut input in answer.chunks(piece) {
        if let Some(response) = reader.next(&mut input).ok()? {
            return Some((response.status, reader.body().to_vec()));
        }
    }
    let head = reader.closed()?;
    Some((head.status, reader.body().to_vec()))
}

/// Transport that returns a stored response after the request was written, and then ends.
struct CannedTransport {
    answer: Vec<u8>,
    at: usize,
    request_written: bool,
}

impl Read for CannedTransport {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        mut to: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.request_written {
            return Poll::Pending;
        }
        let n = to.remaining().min(self.answer.len() - self.at);
        to.put_slice(&self.answer[self.at..self.at + n]);
        self.at += n;
        Poll::Ready(Ok(()))
    }
}

impl Write for CannedTransport {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        self.request_written = true;
        Poll::Ready(Ok(from.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Response as hyper reads it. The transport is always ready, so a polling loop suffices.
fn read_with_hyper(method: Method, answer: &[u8]) -> ParsedResponse {
    let transport = CannedTransport { answer: answer.to_vec(), at: 0, request_written: false };
    let mut context = Context::from_waker(Waker::noop());
    let mut shaking = pin!(hyper::client::conn::http1::handshake::<_, Empty<Bytes>>(transport));
    let Poll::Ready(Ok((mut sender, connection))) = shaking.as_mut().poll(&mut context) else {
        panic!("the handshake must not block");
    };
    let mut connection = pin!(connection);
    let request = hyper::Request::builder().method(method.name()).uri("/").header("host", "x");
    let request = request.body(Empty::new()).expect("a request");
    let mut parsed = pin!(async move {
        let response = sender.send_request(request).await.ok()?;
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.ok()?;
        Some((status, body.to_bytes().to_vec()))
    });
    let mut ended = false;
    for _ in 0..10_000 {
        if !ended {
            ended = connection.as_mut().poll(&mut context).is_ready();
        }
        if let Poll::Ready(result) = parsed.as_mut().poll(&mut context) {
            return result;
        }
    }
    panic!("hyper must not block")
}
