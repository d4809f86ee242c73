//! Blocking HTTP client for readiness checks and probes
//!
//! The client opens one connection per request. The measured load does not use it.

use crate::client::Address;
use crate::interrupt;
use model::message::Message;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};
use wire::TemplateBuilder;
use wire::http::{Channel, Event, Host, Method, Request, Retain, TemplatePart, Url, compile};
use wire::tls::{HttpsClient, TlsIdentity};

/// Response to one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpResponse {
    /// Status code, 200 or higher.
    pub status: u16,
    /// Value of the `Server` header.
    pub server: Option<String>,
    /// Value of the `Pgdyno` header, by which a server may permit load.
    pub allowed: Option<Vec<u8>>,
    /// TLS version of the connection, such as `TLSv1.3`.
    pub tls: Option<&'static str>,
    /// Body, truncated to `MAX_BODY` bytes.
    pub body: Vec<u8>,
}

/// Maximum size of a stored body, bytes. The metrics of a host with many devices take a few megabytes.
pub(crate) const MAX_BODY: u32 = 16 << 20;

/// Returns the URL of another page of the same server.
pub fn with_path(url: &Url, target: &str) -> Url {
    Url { target: target.to_owned(), ..url.clone() }
}

/// Sends a GET request; fails if it takes longer than `timeout` in total. Certificates are not verified, because no
/// secrets are sent.
pub fn get(url: &Url, timeout: Duration) -> io::Result<HttpResponse> {
    let deadline = Instant::now() + timeout;
    let late = |_| io::Error::new(ErrorKind::TimedOut, format!("no response within {timeout:?}"));
    let left = || Some(deadline.saturating_duration_since(Instant::now())).filter(|it| !it.is_zero());
    let left = || left().ok_or_else(|| late(()));
    let broken = |it: wire::http::Error| io::Error::new(ErrorKind::InvalidData, it.to_string());
    let mut stream = connect(&resolve_address(url)?, left()?)?;
    let web = match &url.host {
        Host::Tcp(name, _) if url.tls => {
            let client = HttpsClient::new(name, &TlsIdentity::default());
            Some(client.map_err(|it| Message::from(&it).into_io_error())?)
        }
        _ => None,
    };
    let keep = Retain { head: true, body: MAX_BODY, error_body: 0, decompress: false };
    let mut channel = Channel::default();
    let ask = |channel: &mut Channel| channel.request(Method::Get, keep, |out| render_request(url, out));
    if channel.open(web.as_ref()).map_err(broken)? {
        ask(&mut channel);
    }
    let mut input = vec![0; 16 << 10];
    loop {
        stream.set_timeout(interrupt::longest_wait(Some(left()?)).unwrap_or(timeout))?;
        let n = channel.outgoing().len();
        stream.write_all(channel.outgoing())?;
        channel.sent(n);
        let n = match stream.read(&mut input) {
            Ok(n) => n,
            Err(it) if it.kind() == ErrorKind::Interrupted => continue,
            Err(error) if error.kind() == ErrorKind::WouldBlock => match interrupt::is_interrupted() {
                true => return Err(interrupt::error()),
                false => continue,
            },
            Err(it) => return Err(it),
        };
        let mut answer = None;
        if n == 0 {
            answer = Some(channel.closed().ok_or(ErrorKind::UnexpectedEof)?);
        }
        let mut rest = &input[..n];
        while answer.is_none() {
            match channel.receive(&mut rest).map_err(broken)? {
                Event::More => break,
                Event::Opened => ask(&mut channel),
                Event::Response(it) => answer = Some(it),
            }
        }
        if let Some(response) = answer {
            let reader = channel.reader();
            return Ok(HttpResponse {
                status: response.status,
                server: reader.header("server").map(|it| String::from_utf8_lossy(it).into_owned()),
                allowed: reader.header("pgdyno").map(<[u8]>::to_vec),
                tls: channel.protection().map(|it| it.version),
                body: reader.body().to_vec(),
            });
        }
    }
}

/// Resolves the URL's host name to its first address.
pub fn resolve_address(url: &Url) -> io::Result<Address> {
    match &url.host {
        Host::Unix(path) => Ok(Address::Unix(path.into())),
        Host::Tcp(name, port) => {
            let found = (name.as_str(), *port).to_socket_addrs()?.next();
            found
                .map(Address::Tcp)
                .ok_or_else(|| io::Error::new(ErrorKind::NotFound, "the name has no address"))
        }
    }
}

fn render_request(url: &Url, out: &mut Vec<u8>) {
    let agent = [TemplatePart::Text("pgdyno monitor")];
    let mut builder = TemplateBuilder::default();
    compile::request(
        &mut builder,
        &Request {
            method: Method::Get,
            target: &[TemplatePart::Text(&url.target)],
            host: &url.host_header(),
            headers: &[("User-Agent", &agent), ("Connection", &[TemplatePart::Text("close")])],
            body: None,
        },
    );
    builder.build().render(out, |_, _| true);
}

trait HttpStream: Read + Write {
    /// Sets the timeout of each read and write.
    fn set_timeout(&self, timeout: Duration) -> io::Result<()>;
}

impl HttpStream for TcpStream {
    fn set_timeout(&self, timeout: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(timeout)).and(self.set_write_timeout(Some(timeout)))
    }
}

impl HttpStream for UnixStream {
    fn set_timeout(&self, timeout: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(timeout)).and(self.set_write_timeout(Some(timeout)))
    }
}

fn connect(address: &Address, timeout: Duration) -> io::Result<Box<dyn HttpStream>> {
    Ok(match address {
        Address::Unix(path) => Box::new(UnixStream::connect(path)?),
        Address::Tcp(address) => Box::new(interrupt::connect(address, timeout)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, TcpListener};

    /// Compares the result of a request to a server that sends `answer` and then either sends nothing more or closes
    /// the connection.
    fn check(answer: &'static [u8], closes: bool, expected: &str) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = Url::parse(&format!("http://{}/stats", listener.local_addr().unwrap())).unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut one = [0];
                stream.read_exact(&mut one).unwrap();
                request.push(one[0]);
            }
            assert!(request.starts_with(b"GET /stats HTTP/1.1\r\n"), "{}", String::from_utf8_lossy(&request));
            stream.write_all(answer).unwrap();
            // Reads until the client closes the connection.
            if !closes {
                let _ = stream.read(&mut [0]);
            }
        });
        let got = match get(&url, Duration::from_millis(if closes { 10_000 } else { 50 })) {
            Ok(it) => format!("{} {:?} {}", it.status, it.server, String::from_utf8_lossy(&it.body)),
            Err(it) => it.to_string(),
        };
        server.join().unwrap();
        assert_eq!(got, expected);
    }

    #[test]
    fn parses_http_responses() {
        check(b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 2\r\n\r\n{}", true, "200 Some(\"x\") {}");
        check(
            b"HTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n1\r\n!\r\n0\r\n\r\n",
            true,
            "503 None {}!",
        );
        check(b"HTTP/1.0 200 OK\r\n\r\nto the end", true, "200 None to the end");
        check(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", true, "unexpected end of file");
        check(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", false, "no response within 50ms");
        check(b"SSH-2.0-x\r\n", true, "the response has no valid HTTP/1.1 status line or header");
    }
}
