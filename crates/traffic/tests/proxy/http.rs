//! Forwarding between invented HTTP clients and services

use crate::sockets::{random, server};
use crate::tls::{for_clients, to_server};
use model::Nanos;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use traffic::proxy::http::HttpEvent;
use traffic::proxy::serve::{Proxy, Upstream, serve_http};
use wire::pg::SslMode;

/// Runs a client against a proxy, and returns the client's result and the events.
fn with_proxy<T>(upstream: Vec<Upstream>, client: impl FnOnce(TcpStream) -> T) -> (T, Vec<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, events) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let result = thread::scope(|scope| {
        let proxy = scope.spawn(|| {
            let proxy = Proxy {
                listener: listener.into(),
                upstream,
                tls: Some(for_clients("server.crt")),
                threads: 1,
                clock: &|| Nanos(1),
                stop: &stop,
                report: &|_| {},
            };
            serve_http(&proxy, &|event| {
                let text = match event {
                    HttpEvent::Exchange(exchange) => {
                        format!(
                            "{} {} {}",
                            exchange.request.target,
                            exchange.request_body.length,
                            exchange.response_body.length
                        )
                    }
                    other => format!("{other:?}"),
                };
                events.lock().unwrap().push(text);
            })
        });
        let result = client(TcpStream::connect(address).unwrap());
        stop.store(true, Ordering::Relaxed);
        proxy.join().unwrap().unwrap();
        result
    });
    (result, events.into_inner().unwrap())
}

/// Sends bytes in pieces of random lengths, and receives everything.
fn exchange(mut stream: TcpStream, sent: &[u8], lengths: &[u8]) -> Vec<u8> {
    let mut reader = stream.try_clone().unwrap();
    let received = thread::spawn(move || {
        let mut all = Vec::new();
        reader.read_to_end(&mut all).unwrap();
        all
    });
    let (mut rest, mut lengths) = (sent, lengths.iter().cycle());
    while !rest.is_empty() {
        let length = 1 + usize::from(*lengths.next().unwrap()).pow(2);
        let (piece, after) = rest.split_at(length.min(rest.len()));
        stream.write_all(piece).unwrap();
        rest = after;
    }
    stream.shutdown(Shutdown::Write).unwrap();
    received.join().unwrap()
}

/// Chunked body with chunks of random lengths.
fn chunked(data: &[u8], lengths: &[u8]) -> Vec<u8> {
    let (mut all, mut rest, mut lengths) = (Vec::new(), data, lengths.iter().cycle());
    while !rest.is_empty() {
        let length = (1 + usize::from(*lengths.next().unwrap()) * 64).min(rest.len());
        all.extend(format!("{length:x}\r\n").as_bytes());
        all.extend(&rest[..length]);
        all.extend(b"\r\n");
        rest = &rest[length..];
    }
    all.extend(b"0\r\n\r\n");
    all
}

#[test]
fn bytes_are_unchanged_and_large_bodies_are_counted() {
    const SIZE: usize = 3 << 20;
    let [body, answer, lengths] = [random(SIZE), random(SIZE), random(1000)];
    let request = [
        &b"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"[..],
        &chunked(&body, &lengths),
        b"GET /b HTTP/1.1\r\n\r\nHEAD /c HTTP/1.1\r\n\r\n",
    ];
    let response = [
        &b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"[..],
        &chunked(&answer, &lengths),
        b"HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",
    ];
    let (request, response) = (request.concat(), response.concat());
    let (sent, pieces) = (response.clone(), lengths.clone());
    let expected = request.len();
    let (upstream, service) = server(move |mut stream| {
        // A service does not respond before the request.
        let mut received = vec![0; expected];
        stream.read_exact(&mut received).unwrap();
        received.extend(exchange(stream, &sent, &pieces));
        received
    });
    let (received, events) = with_proxy(upstream, |stream| exchange(stream, &request, &lengths));
    assert!(received == response && service.join().unwrap() == request);
    assert_eq!(events, [format!("/a {SIZE} {SIZE}"), "/b 0 0".to_owned(), "/c 0 0".to_owned()]);
}

#[test]
fn an_upgraded_connection_is_forwarded() {
    let [to_service, to_client] = [random(100_000), random(100_000)];
    let request = b"GET /ws HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    let response = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n";
    let sent = to_client.clone();
    let (upstream, service) = server(move |mut stream| {
        stream.read_exact(&mut vec![0; request.len()]).unwrap();
        stream.write_all(response).unwrap();
        exchange(stream, &sent, &[9])
    });
    let bytes = to_service.clone();
    let (received, events) = with_proxy(upstream, move |mut stream| {
        stream.write_all(request).unwrap();
        let mut head = vec![0; response.len()];
        stream.read_exact(&mut head).unwrap();
        assert_eq!(head, response);
        exchange(stream, &bytes, &[7])
    });
    assert!(received == to_client && service.join().unwrap() == to_service);
    assert_eq!(events, ["Upgraded"]);
}

#[test]
fn a_client_gets_the_error_of_the_connect() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let request = b"GET / HTTP/1.1\r\n\r\n";
    let (received, events) = with_proxy(vec![Upstream::Tcp(closed)], |mut stream| {
        stream.write_all(request).unwrap();
        let mut all = String::new();
        stream.read_to_string(&mut all).unwrap();
        all
    });
    assert!(received.starts_with("HTTP/1.1 502 Bad Gateway\r\n"), "{received}");
    assert!(received.contains("cannot be reached: Connection refused"), "{received}");
    assert_eq!(events, ["Unfinished"]);
}

/// HTTPS on both sides: the proxy in front of the test is the client of the proxy behind it.
#[test]
fn https_on_both_sides() {
    let (upstream, service) = server(|stream| {
        let mut reader = stream.try_clone().unwrap();
        let mut request = [0; 18];
        reader.read_exact(&mut request).unwrap();
        exchange(stream, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", &[3]);
        request
    });
    let (events, inner) = with_proxy(upstream, |stream| {
        let address = stream.peer_addr().unwrap();
        drop(stream);
        let outer = vec![Upstream::Tls(address, to_server(SslMode::VerifyFull, Some("root.crt"), "db.test"))];
        let (received, events) =
            with_proxy(outer, |stream| exchange(stream, b"GET / HTTP/1.1\r\n\r\n", &[2]));
        assert_eq!(received, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
        events
    });
    assert_eq!(service.join().unwrap(), *b"GET / HTTP/1.1\r\n\r\n");
    assert_eq!((events, inner), (vec!["/ 0 2".to_owned()], vec!["/ 0 2".to_owned()]));
}
