//! HTTP services of tests

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// Starts a service that runs until the tests end, and returns its port. `serve` is called with each connection.
pub fn start(serve: impl Fn(&mut Connection) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("the listener is bound").port();
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let serve = Arc::clone(&serve);
            thread::spawn(move || serve(&mut Connection(BufReader::new(stream))));
        }
    });
    port
}

/// Connection of a client.
pub struct Connection(BufReader<TcpStream>);

/// Request of a client.
pub struct Request {
    /// Request line and headers, each with its line end, and the empty line.
    pub head: String,
    pub body: String,
}

impl Connection {
    /// Reads the next request; `None` if the client has closed the connection.
    pub fn request(&mut self) -> Option<Request> {
        let (mut head, mut line) = (String::new(), String::new());
        while line != "\r\n" {
            line.clear();
            self.0.read_line(&mut line).ok().filter(|bytes| *bytes > 0)?;
            head += &line;
        }
        let mut request = Request { head, body: String::new() };
        let length = request.header("content-length").map_or(0, |it| it.parse().expect("a number"));
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).ok()?;
        request.body = String::from_utf8(body).expect("bodies of tests are texts");
        Some(request)
    }

    /// Sends a response. `status` is the status with its reason; `headers` are lines with their ends. A client that has gone is noticed with the next request.
    pub fn respond(&mut self, status: &str, headers: &str, body: &[u8]) {
        let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
        let _ = self.0.get_mut().write_all(&[head.as_bytes(), body].concat());
    }
}

impl Request {
    /// Path and query.
    pub fn target(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    /// Value of the first header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        headers.find(|header| header.0.eq_ignore_ascii_case(name)).map(|header| header.1.trim())
    }
}
