//! Client behaviour with servers that send too much, or never finish a response

use super::{Address, Connection, Error, NOTICES_MAX, Target};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use wire::Code;
use wire::pg::Login;

const WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";

/// Starts a server for one client; `respond` writes its response.
fn start_server(respond: impl FnOnce(&mut TcpStream) + Send + 'static) -> (Target, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = Address::Tcp(listener.local_addr().expect("a bound listener has an address"));
    let serves = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client connects");
        let _ = stream.read(&mut [0; 1024]);
        respond(&mut stream);
    });
    (Target::new(address, Arc::new(Login::new("me", "db"))), serves)
}

/// Sends the message repeatedly until the client closes the connection.
fn repeat(stream: &mut TcpStream, message: &[u8]) {
    let many = message.repeat(1 + (1 << 20) / message.len());
    while stream.write_all(&many).is_ok() {}
}

fn notice() -> Vec<u8> {
    [&b"N\0\0\x04\x06M"[..], &[b'x'; 1024 - 1], b"\0\0"].concat()
}

#[test]
fn login_times_out_despite_endless_notices() {
    let (target, serves) = start_server(|stream| repeat(stream, &notice()));
    let error = target.open(Duration::from_millis(300)).expect_err("it never opens");
    assert_eq!(error.code(), Code::TIMED_OUT, "{error:?}");
    serves.join().expect("the client closes the connection");
}

#[test]
fn drops_notices_beyond_limit() {
    let (target, serves) = start_server(|stream| {
        let _ = stream.write_all(&notice().repeat(2 * NOTICES_MAX / 1024));
        let _ = stream.write_all(WELCOME);
    });
    let connection = target.open(Duration::from_secs(60)).expect("the login succeeds");
    let total: usize = connection.notices.iter().map(String::len).sum();
    assert!((NOTICES_MAX / 2..=NOTICES_MAX).contains(&total), "{total}");
    drop(connection);
    serves.join().expect("the server thread does not panic");
}

#[test]
fn rejects_endless_rows() {
    let (target, serves) = start_server(|stream| {
        let _ = stream.write_all(WELCOME);
        let _ = stream.read(&mut [0; 1024]);
        let value = [b'x'; 1 << 16];
        let length = (value.len() as u32).to_be_bytes();
        let all = (value.len() as u32 + 10).to_be_bytes();
        repeat(stream, &[&b"D"[..], &all, &[0, 1], &length, &value].concat());
    });
    let mut connection: Connection = target.open(Duration::from_secs(60)).expect("the login succeeds");
    let error = connection.query("select 1").expect_err("it never ends");
    assert!(matches!(error, Error::TooLong { .. }), "{error:?}");
    drop(connection);
    serves.join().expect("the client closes the connection");
}

/// The answer to a query that was given up is not the answer to the next one.
#[test]
fn a_late_answer_belongs_to_no_later_query() {
    let (target, serves) = start_server(|stream| {
        let _ = stream.write_all(WELCOME);
        let _ = stream.read(&mut [0; 1024]);
        thread::sleep(Duration::from_millis(300));
        let _ = stream.write_all(b"C\0\0\0\x0dSELECT 7\0Z\0\0\0\x05I");
        while stream.read(&mut [0; 1024]).is_ok_and(|it| it > 0) {}
    });
    let mut connection = target.open(Duration::from_secs(60)).expect("the login succeeds");
    connection.set_timeout(Some(Duration::from_millis(50)));
    let first = connection.query("select 1").expect_err("the answer is late");
    assert_eq!(first.code(), Code::TIMED_OUT, "{first:?}");
    thread::sleep(Duration::from_millis(600));
    let second = connection.query("select 2").expect_err("the session has an open answer");
    assert_eq!(second.code(), Code::TIMED_OUT, "{second:?}");
    drop(connection);
    serves.join().expect("the server thread does not panic");
}
