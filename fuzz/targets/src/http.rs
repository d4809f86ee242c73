//! Target for HTTP connections: no response crashes a connection, and the splitting of responses does not change their
//! meaning.

use wire::http::{
    Channel, CookieJar, Event, HEAD_MAX, Method, Origin, Response, ResponseReader, Retain, SetCookieContext,
};

const KEEP: Retain = Retain { head: true, body: 100, error_body: 0, decompress: false };
/// Memory that decompression needs, in bytes, approximately.
const UNPACKER: usize = 64 << 10;
const ORIGIN: Origin<'_> = Origin { host: "a.test", tls: false };

/// Runs one input. The first byte selects the method and whether bodies are decompressed. The second byte selects how
/// the rest is split.
pub fn run(data: &[u8]) {
    let [flags, cut, bytes @ ..] = data else { return };
    let method = Method::ALL[usize::from(*flags & 0x7f) % Method::ALL.len()];
    let keep = Retain { decompress: *flags & 0x80 != 0, ..KEEP };
    let whole = read(method, keep, bytes, bytes.len().max(1));
    assert_eq!(whole, read(method, keep, bytes, usize::from(*cut).max(1)));
    through_channel(method, keep, bytes, usize::from(*cut).max(1));
}

/// Reads a response. Returns it with its retained parts; `None` if it is invalid or incomplete.
fn read(
    method: Method,
    keep: Retain,
    bytes: &[u8],
    step: usize,
) -> Option<(Response, Vec<u8>, Option<Vec<u8>>)> {
    let mut reader = ResponseReader::default();
    reader.begin(method, keep);
    let mut found = None;
    for mut piece in bytes.chunks(step) {
        found = reader.next(&mut piece).ok()?;
        assert!(reader.memory() <= 2 * HEAD_MAX + 4096 + UNPACKER, "memory is bounded");
        if found.is_some() {
            break;
        }
        assert!(piece.is_empty(), "all input is consumed");
    }
    let response = found.or_else(|| reader.closed())?;
    assert!(reader.body().len() <= 100 && (keep.decompress || reader.body().len() as u64 <= response.length));
    kept(&reader);
    Some((response, reader.body().to_vec(), reader.header("a").map(<[u8]>::to_vec)))
}

/// Checks that a redirect leads to one request target, and that cookies stay within their jar and form one line.
fn kept(reader: &ResponseReader) {
    let mut to = Vec::new();
    let location = reader.header("location").unwrap_or_default();
    if ORIGIN.resolve(b"/a/b?c", location, &mut to).is_ok() {
        assert!(to.starts_with(b"/") && to.iter().all(u8::is_ascii_graphic));
    }
    let mut jar = CookieJar::default();
    let date = reader.header("date");
    reader.each_header("set-cookie", |header| {
        jar.store(header, &SetCookieContext { origin: ORIGIN, target: b"/a/b?c", date, now: 1 });
    });
    assert!(jar.len() <= CookieJar::MAX_COOKIES);
    to.clear();
    jar.write(b"/a/b/d", 2, &mut to);
    assert!(
        to.is_empty() || (to.ends_with(b"\r\n") && to.iter().filter(|it| it.is_ascii_control()).count() == 2)
    );
}

/// Passes the bytes through a channel, which sends the next request after each response while the connection is open.
fn through_channel(method: Method, keep: Retain, bytes: &[u8], step: usize) {
    let mut channel = Channel::default();
    channel.open(None).expect("a connection without TLS opens");
    let ask = |channel: &mut Channel| {
        channel.request(method, keep, |out| out.extend_from_slice(b"GET / HTTP/1.1\r\n\r\n"));
        let n = channel.outgoing().len();
        channel.sent(n);
    };
    ask(&mut channel);
    for mut piece in bytes.chunks(step) {
        loop {
            match channel.receive(&mut piece) {
                Ok(Event::More) => break,
                Ok(Event::Opened) => unreachable!("there is no handshake"),
                Ok(Event::Response(it)) if it.close => return,
                Ok(Event::Response(_)) => ask(&mut channel),
                Err(_) => return,
            }
        }
    }
    channel.closed();
}
