//! Server with a folder of runs, and a client that sends exact bytes

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const PGDYNO: &str = env!("CARGO_BIN_EXE_pgdyno");

/// Timeout of every wait in a test. Waits end as soon as their condition holds, so a slow machine needs no shorter one.
pub const WAIT_TIMEOUT: Duration = Duration::from_secs(600);

/// A running server and its folder of runs; both are removed on drop.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
    /// Folder that contains `runs`; the server must expose nothing else in it.
    pub folder: PathBuf,
}

/// HTTP response.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub head: String,
    pub body: String,
}

/// Path of a measured run.
pub fn measured() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/pgdyno");
    root.join("fixtures/runs/shop.dyno")
}

impl Server {
    /// Starts a server with one run, `shop`.
    pub fn new() -> Server {
        Server::with_environment(&[])
    }

    pub fn with_environment(environment: &[(&str, &str)]) -> Server {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("pgdyno-serve-{}-{number}", std::process::id()));
        fs::create_dir_all(folder.join("runs")).expect("there is room for temporary files");
        fs::copy(measured(), folder.join("runs/shop.dyno")).expect("the file can be copied");
        fs::write(folder.join("secret.dyno"), "secret").expect("the file can be written");
        fs::write(folder.join("runs/secret.txt"), "secret").expect("the file can be written");
        let mut command = Command::new(PGDYNO);
        command.args(["serve", "--port", "0", "--dir"]).arg(folder.join("runs"));
        command.env_remove("PGDYNO_TOKEN").envs(environment.iter().copied());
        let mut child =
            command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program can be started");
        let mut line = String::new();
        BufReader::new(child.stderr.take().expect("standard error is a pipe"))
            .read_line(&mut line)
            .expect("the program writes a line");
        let address = line.split_once("http://").and_then(|it| it.1.split_once('/')).map(|it| it.0.parse());
        let address = address.and_then(Result::ok).unwrap_or_else(|| panic!("no address in {line:?}"));
        Server { child, address, folder }
    }

    pub fn connect(&self) -> TcpStream {
        connect(self.address)
    }

    /// Sends bytes to the server by [`exchange`].
    pub fn send(&self, bytes: &[u8]) -> Response {
        exchange(self.address, bytes)
    }

    /// Sends a request with these headers, and the server's own Host.
    pub fn ask(&self, request: &str, headers: &[&str]) -> Response {
        let host = format!("Host: {}", self.address);
        self.ask_as(request, &[&[host.as_str()], headers].concat(), "")
    }

    /// Sends a request with exactly these headers.
    pub fn ask_as(&self, request: &str, headers: &[&str], body: &str) -> Response {
        let headers: String = headers.iter().map(|it| format!("{it}\r\n")).collect();
        let length =
            if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        let text = format!("{request} HTTP/1.1\r\nConnection: close\r\n{headers}{length}\r\n{body}");
        self.send(text.as_bytes())
    }

    /// Form token of the server's page.
    pub fn form(&self) -> String {
        let page = self.ask("GET /runs/shop", &[]);
        let (_, rest) = page.body.split_once("data-token=\"").expect("the page contains the token");
        rest.split_once('"').expect("the attribute ends").0.to_owned()
    }

    /// Resident memory in bytes.
    pub fn memory(&self) -> u64 {
        let status =
            fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("the file can be read");
        let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:")).expect("Linux tells it");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
    }

    /// Number of open files and sockets.
    pub fn descriptors(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.child.id())).expect("the directory can be read").count()
    }

    /// Checks that the server answers within [`WAIT_TIMEOUT`].
    ///
    /// A server that waits for one slow client after another takes longer: it gives each of them 15 s or more.
    #[track_caller]
    pub fn assert_healthy(&self) {
        let answer = self.ask("GET /runs.json", &[]);
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(answer.body.contains("\"shop\""), "{answer:?}");
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(WAIT_TIMEOUT)).expect("the stream is a socket");
    stream
}

/// Sends these bytes and reads until the server closes the connection.
pub fn exchange(address: SocketAddr, bytes: &[u8]) -> Response {
    let mut stream = connect(address);
    // The server may reject the request before it has read all of it.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    Response::parse(&String::from_utf8_lossy(&answer))
}

impl Drop for Server {
    fn drop(&mut self) {
        // If the server has exited by itself, the test has failed already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Response {
    /// Parses a response. Status 0 means an empty one.
    fn parse(text: &str) -> Response {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
        Response { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    /// Value of the first header with this name, which must be lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|it| it.split_once(": "));
        lines.find(|it| it.0 == name).map(|it| it.1)
    }
}

/// Stream of server-sent events.
pub struct Events(BufReader<TcpStream>, Instant);

#[derive(Debug)]
pub struct Event {
    pub kind: String,
    pub id: Option<String>,
    pub data: serde_json::Value,
}

impl Events {
    /// Opens a stream. `headers` are additional lines with their line ends.
    pub fn open(address: SocketAddr, run: &str, headers: &str) -> Events {
        let mut stream = connect(address);
        let request = format!("GET /runs/{run}/events HTTP/1.1\r\nHost: {address}\r\n{headers}\r\n");
        stream.write_all(request.as_bytes()).expect("the server receives requests");
        let mut lines = BufReader::new(stream);
        let mut line = String::new();
        lines.read_line(&mut line).expect("the server answers");
        assert!(line.contains(" 200 "), "{line}");
        while line != "\r\n" {
            line.clear();
            lines.read_line(&mut line).expect("the response has headers");
        }
        Events(lines, Instant::now())
    }
}

impl Iterator for Events {
    type Item = Event;

    /// Next event; `None` at the end of the stream.
    fn next(&mut self) -> Option<Event> {
        let (mut kind, mut id) = (None, None);
        loop {
            let mut line = String::new();
            assert!(self.1.elapsed() < WAIT_TIMEOUT, "no event arrived within the timeout");
            if self.0.read_line(&mut line).expect("the stream can be read") == 0 {
                return None;
            }
            // Chunk lengths appear in lines of their own, which are skipped.
            if let Some(event) = line.strip_prefix("event: ") {
                kind = Some(event.trim_end().to_owned());
            } else if let Some(text) = line.strip_prefix("id: ") {
                id = Some(text.trim_end().to_owned());
            } else if let (Some(data), Some(kind)) = (line.strip_prefix("data: "), kind.take()) {
                let data = serde_json::from_str(data).unwrap_or_else(|it| panic!("{it}: {data}"));
                return Some(Event { kind, id, data });
            }
        }
    }
}
