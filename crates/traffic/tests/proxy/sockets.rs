//! Forwarding between invented clients and servers

use crate::running::RunningProxy;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};
use traffic::proxy::serve::Upstream;

pub fn packet(code: u32, body: &[u8]) -> Vec<u8> {
    [&(8 + body.len() as u32).to_be_bytes(), &code.to_be_bytes(), body].concat()
}

pub fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    [&[tag][..], &(4 + body.len() as u32).to_be_bytes(), body].concat()
}

pub fn startup() -> Vec<u8> {
    packet(3 << 16, b"user\0ann\0database\0shop\0\0")
}

/// Starts a server for one connection.
pub fn server<T: Send + 'static>(
    run: impl FnOnce(TcpStream) -> T + Send + 'static,
) -> (Vec<Upstream>, thread::JoinHandle<T>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Upstream::Tcp(listener.local_addr().unwrap());
    (vec![address], thread::spawn(move || run(listener.accept().unwrap().0)))
}

fn proxy(upstream: Vec<Upstream>) -> (RunningProxy<Vec<u8>>, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (RunningProxy::start(listener, upstream, Vec::new()), TcpStream::connect(address).unwrap())
}

/// Random bytes, of which the seed is printed.
pub fn random(length: usize) -> Vec<u8> {
    let mut state = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64 | 1;
    println!("seed {state}");
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..length).map(|_| next()).collect()
}

/// Both peers send while the other one reads slowly, so that the proxy must keep bytes and pause.
#[test]
fn bytes_are_unchanged_in_both_directions() {
    const SIZE: usize = 24 << 20;
    let exchange = |mut stream: TcpStream, sent: Vec<u8>| {
        let mut reader = stream.try_clone().unwrap();
        let received = thread::spawn(move || {
            let (mut all, mut buffer) = (Vec::new(), vec![0; 1 << 20]);
            thread::sleep(std::time::Duration::from_millis(100));
            loop {
                match reader.read(&mut buffer).unwrap() {
                    0 => return all,
                    n => all.extend_from_slice(&buffer[..n]),
                }
            }
        });
        stream.write_all(&sent).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        received.join().unwrap()
    };
    let [to_server, to_client] = [random(SIZE), random(SIZE)];
    let answer = to_client.clone();
    let (upstream, server) = server(move |stream| exchange(stream, answer));
    let (proxy, client) = proxy(upstream);
    let to_server = [startup(), to_server].concat();
    let received = exchange(client, to_server.clone());
    assert!(received == to_client);
    assert!(server.join().unwrap() == to_server);
    assert_eq!(proxy.recording().requests(), 0);
}

#[test]
fn encryption_is_refused_and_requests_are_recorded() {
    let (upstream, server) = server(|mut stream| {
        let mut received = vec![0; startup().len()];
        stream.read_exact(&mut received).unwrap();
        stream.write_all(&[message(b'R', b"\0\0\0\0"), message(b'Z', b"I")].concat()).unwrap();
        let mut query = vec![0; message(b'Q', b"select 1\0").len()];
        stream.read_exact(&mut query).unwrap();
        stream.write_all(&[message(b'C', b"SELECT 1\0"), message(b'Z', b"I")].concat()).unwrap();
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
        (received, query, rest)
    });
    let (proxy, mut client) = proxy(upstream);
    let mut answer = [0; 1];
    for request in [80_877_104, 80_877_103] {
        client.write_all(&packet(request, b"")).unwrap();
        client.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"N");
    }
    client.write_all(&startup()).unwrap();
    client.read_exact(&mut [0; 15]).unwrap();
    client.write_all(&message(b'Q', b"select 1\0")).unwrap();
    client.read_exact(&mut [0; 20]).unwrap();
    client.write_all(&message(b'X', b"")).unwrap();
    drop(client);
    let (first, query, rest) = server.join().unwrap();
    assert_eq!((first, rest), (startup(), message(b'X', b"")));
    let recording = proxy.recording();
    assert_eq!(recording.requests(), 1);
    let request = recording.request(0);
    assert_eq!((request.messages, request.outcome.rows), (&query[..], Some(1)));
    assert_eq!(recording.identities()[0].user.as_deref(), Some("ann"));
    let session = recording.sessions()[0];
    assert!(session.connected < Some(request.start) && Some(request.start) < session.disconnected);
}

#[test]
fn cancel_requests_are_forwarded() {
    let cancel = packet(80_877_102, b"\0\0\0\x07\0\0\0\x09");
    let (upstream, server) = server(|mut stream| {
        let mut received = vec![0; 16];
        stream.read_exact(&mut received).unwrap();
        received
    });
    let (proxy, mut client) = proxy(upstream);
    client.write_all(&cancel).unwrap();
    assert_eq!(client.read(&mut [0; 1]).unwrap(), 0);
    assert_eq!(server.join().unwrap(), cancel);
    assert_eq!(proxy.recording().sessions().len(), 0);
}

#[test]
fn the_next_address_is_tried() {
    let (upstream, server) = server(|mut stream| stream.read_exact(&mut vec![0; startup().len()]));
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let missing = Upstream::Unix("/nonexistent/.s.PGSQL.5432".into());
    let (proxy, mut client) = proxy([vec![missing, Upstream::Tcp(closed)], upstream].concat());
    client.write_all(&startup()).unwrap();
    server.join().unwrap().unwrap();
    assert!(proxy.events.lock().unwrap().is_empty());
    proxy.recording();
}

#[test]
fn a_client_gets_the_error_of_the_connect() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (proxy, mut client) = proxy(vec![Upstream::Tcp(closed)]);
    client.write_all(&startup()).unwrap();
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).unwrap();
    let expected = b"SFATAL\0VFATAL\0C08001\0MConnection refused (os error 111)\0\0";
    assert_eq!(answer, message(b'E', expected));
    assert_eq!(proxy.events.lock().unwrap().len(), 1);
    proxy.recording();
}

/// Destination on a full disk.
struct FullDisk(usize);

impl Write for FullDisk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn forwarding_continues_on_a_full_disk() {
    let directory = std::env::temp_dir().join(format!("pgdyno-proxy-{}", std::process::id()));
    std::fs::create_dir(&directory).unwrap();
    let (listening, upstream) = (directory.join("listen"), directory.join("server"));
    let server = UnixListener::bind(&upstream).unwrap();
    let server = thread::spawn(move || {
        let mut stream = server.accept().unwrap().0;
        stream.write_all(&message(b'Z', b"I")).unwrap();
        let mut bytes = vec![0; startup().len()];
        stream.read_exact(&mut bytes).unwrap();
        for _ in 0..4 {
            let mut query = vec![0; message(b'Q', b"select 1\0").len()];
            stream.read_exact(&mut query).unwrap();
            stream.write_all(&message(b'Z', b"I")).unwrap();
        }
    });
    let listener = UnixListener::bind(&listening).unwrap();
    let proxy = RunningProxy::start(listener, vec![Upstream::Unix(upstream)], FullDisk(40));
    let mut client = UnixStream::connect(&listening).unwrap();
    client.write_all(&startup()).unwrap();
    client.read_exact(&mut [0; 6]).unwrap();
    for _ in 0..4 {
        client.write_all(&message(b'Q', b"select 1\0")).unwrap();
        client.read_exact(&mut [0; 6]).unwrap();
    }
    server.join().unwrap();
    let events = proxy.events.clone();
    assert_eq!(proxy.stop().map(drop).map_err(|error| error.kind()), Err(io::ErrorKind::StorageFull));
    assert_eq!(events.lock().unwrap().len(), 1);
    std::fs::remove_dir_all(&directory).unwrap();
}
