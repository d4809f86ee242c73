use super::*;
use proptest::prelude::*;

/// Bytes that one side sends: true for the client.
type Turn<'a> = (bool, &'a str);

/// Observes the turns in pieces of at most `piece` bytes. Turn n has the time n. Returns one line per event.
fn observe(turns: &[Turn<'_>], piece: usize) -> Vec<String> {
    let (mut session, mut found) = (HttpSession::default(), Vec::new());
    let mut sink = |event: HttpEvent| {
        found.push(match event {
            HttpEvent::Exchange(exchange) => {
                let content = |body: &HttpBody| match &body.content {
                    BodyContent::Text(text) => text.clone(),
                    other => format!("{other:?}"),
                };
                format!(
                    "{} {} {} at {}-{}: {} {}",
                    exchange.request.method,
                    exchange.request.target,
                    exchange.status,
                    exchange.start.0,
                    exchange.end.0,
                    content(&exchange.request_body),
                    content(&exchange.response_body)
                )
            }
            other => format!("{other:?}"),
        });
    };
    for (now, (is_client, text)) in turns.iter().enumerate() {
        for bytes in text.as_bytes().chunks(piece) {
            match is_client {
                true => session.from_client(Nanos(now as u64), bytes, &mut sink),
                false => session.from_server(Nanos(now as u64), bytes, &mut sink),
            }
        }
    }
    session.server_ended(Nanos(turns.len() as u64), &mut sink);
    session.finish(&mut sink);
    found
}

fn check(turns: &[Turn<'_>], expected: &[&str]) {
    for piece in [1, 2, 3, 7, 10_000] {
        assert_eq!(observe(turns, piece), expected, "pieces of {piece} bytes");
    }
}

const GET: &str = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

#[test]
fn finds_exchanges_of_one_connection() {
    check(
        &[
            (true, GET),
            (false, OK),
            (true, "HEAD /b HTTP/1.1\r\n\r\n"),
            (false, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"),
            (true, "DELETE /c HTTP/1.1\r\n\r\n"),
            (false, "HTTP/1.1 204 No Content\r\n\r\n"),
            (true, GET),
            (false, "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"),
            (true, "POST /d HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),
            (
                false,
                "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n1\r\ny\r\n0\r\n\r\n",
            ),
            (true, "PUT /e HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"),
            (false, "HTTP/1.1 100 Continue\r\n\r\n"),
            (true, "four"),
            (false, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nup to the end"),
        ],
        &[
            "GET /a 200 at 0-1: Empty hi",
            "HEAD /b 200 at 2-3: Empty Empty",
            "DELETE /c 204 at 4-5: Empty Empty",
            "GET /a 304 at 6-7: Empty Empty",
            "POST /d 201 at 8-9: abc xy",
            "PUT /e 200 at 10-14: four up to the end",
        ],
    );
}

#[test]
fn finds_pipelined_requests_and_early_responses() {
    let two = [GET, GET].concat();
    let answers = [OK, OK].concat();
    check(
        &[(true, &two), (false, &answers)],
        &["GET /a 200 at 0-1: Empty hi", "GET /a 200 at 0-1: Empty hi"],
    );
    check(
        &[
            (true, "POST /d HTTP/1.1\r\nContent-Length: 4\r\n\r\nab"),
            (false, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"),
            (true, "cd"),
            (true, GET),
            (false, OK),
        ],
        &["POST /d 413 at 0-1: abcd Empty", "GET /a 200 at 3-4: Empty hi"],
    );
}

#[test]
fn other_protocols_are_counted() {
    let upgrade = "GET /ws HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";
    let switching = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\u{1}\u{2}";
    check(&[(true, upgrade), (false, switching), (true, "\u{3}"), (false, "x")], &["Upgraded"]);
    check(&[(true, "CONNECT a:1 HTTP/1.1\r\n\r\n"), (false, OK)], &["Upgraded"]);
    check(&[(true, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")], &["Unreadable"]);
    check(&[(false, OK)], &["Unreadable"]);
    check(&[(true, GET), (false, OK), (false, OK)], &["GET /a 200 at 0-1: Empty hi", "Unreadable"]);
    check(&[(true, GET), (false, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi")], &["Unfinished"]);
}

#[test]
fn long_and_binary_bodies_are_cut() {
    let long = "ж".repeat(BODY_MAX);
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", long.len() + 1);
    let found = observe(&[(true, GET), (false, &format!("{head}x{long}"))], 10_000);
    assert!(found[0].starts_with("GET /a 200 at 0-1: Empty Cut(\"xж") && found.len() == 1);
    let HttpBody { length, content } = body(b"HTTP/1.1 200 OK\r\n\r\n", b"\xff\xfe", 2);
    assert_eq!((length, content), (2, BodyContent::Binary));
    let coded = b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n";
    assert_eq!(body(coded, b"text", 4).content, BodyContent::Binary);
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_observed_without_a_panic(
        turns in prop::collection::vec((any::<bool>(), 0usize..8, 0usize..60), 0..12),
    ) {
        let parts = [GET, OK, "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", "HTTP/1.1 204 N\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\n", "0\r\n\r\n", "\r\n", "HEAD / HTTP/1.1\r\n\r\n"];
        let turns: Vec<Turn<'_>> = turns
            .iter()
            .map(|(is_client, part, cut)| (*is_client, &parts[*part][..parts[*part].len().min(*cut)]))
            .collect();
        let whole = observe(&turns, 10_000);
        prop_assert_eq!(observe(&turns, 1), whole);
    }
}
