//! Does a connection stand whatever an HTTP server sends, and mean the same however the network cuts it?

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::http::{Channel, Event, HEAD_MAX, Keep, Method, Reader, Response};

const KEEP: Keep = Keep { head: true, body: 100 };

// The first byte chooses the method, the second how the rest is cut.
fuzz_target!(|data: &[u8]| {
    let [method, cut, bytes @ ..] = data else { return };
    let method = Method::ALL[usize::from(*method) % Method::ALL.len()];
    let whole = read(method, bytes, bytes.len().max(1));
    assert_eq!(whole, read(method, bytes, usize::from(*cut).max(1)));
    through_channel(method, bytes, usize::from(*cut).max(1));
});

/// An answer with what was kept of it; `None` if it is wrong or cut.
fn read(method: Method, bytes: &[u8], step: usize) -> Option<(Response, Vec<u8>, Option<Vec<u8>>)> {
    let mut reader = Reader::default();
    reader.ask(method, KEEP);
    let mut found = None;
    for mut piece in bytes.chunks(step) {
        found = reader.next(&mut piece).ok()?;
        assert!(reader.memory() <= 2 * HEAD_MAX + 4096, "memory is bounded");
        if found.is_some() {
            break;
        }
        assert!(piece.is_empty(), "all was taken");
    }
    let response = found.or_else(|| reader.closed())?;
    assert!(reader.body().len() as u64 <= response.length.min(100));
    Some((response, reader.body().to_vec(), reader.header("a").map(<[u8]>::to_vec)))
}

/// Asks again after each answer, as long as the connection lasts.
fn through_channel(method: Method, bytes: &[u8], step: usize) {
    let mut channel = Channel::default();
    channel.open(None).expect("there is no TLS that could fail");
    let ask = |channel: &mut Channel| {
        channel.request(method, KEEP, |out| out.extend_from_slice(b"GET / HTTP/1.1\r\n\r\n"));
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
