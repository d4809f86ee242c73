//! Forwarding between invented clients and servers that use TLS

use crate::running::RunningProxy;
use crate::sockets::{message, packet, random, server, startup};
use crate::tls::{for_clients, to_server};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Mutex;
use std::thread;
use traffic::proxy::serve::{Upstream, UpstreamTls};
use wire::pg::SslMode;
use wire::tls::{ClientConfig, TlsStream};

const SSL_REQUEST: u32 = 80_877_103;

/// One end of a connection with TLS.
struct Peer {
    stream: TcpStream,
    tls: Mutex<TlsStream>,
}

impl Peer {
    /// Client after the handshake. Without `asks`, it does not ask for TLS first.
    fn connect(mut stream: TcpStream, config: &std::sync::Arc<ClientConfig>, asks: bool) -> Option<Peer> {
        if asks {
            stream.write_all(&packet(SSL_REQUEST, b"")).unwrap();
            let mut answer = [0];
            stream.read_exact(&mut answer).unwrap();
            assert_eq!(&answer, b"S");
        }
        let mut hello = Vec::new();
        let tls = TlsStream::connect(config, "db.test", &mut hello).unwrap();
        stream.write_all(&hello).unwrap();
        Peer { stream, tls: Mutex::new(tls) }.shake_hands()
    }

    /// Server after the handshake, of which the client was told in advance.
    fn accept(mut stream: TcpStream) -> Peer {
        let mut request = [0; 8];
        stream.read_exact(&mut request).unwrap();
        assert_eq!(request[..], packet(SSL_REQUEST, b""));
        stream.write_all(b"S").unwrap();
        let tls = TlsStream::accept(&for_clients("server.crt")).unwrap();
        Peer { stream, tls: Mutex::new(tls) }.shake_hands().unwrap()
    }

    /// Completes the handshake byte by byte, so that no bytes after it are received. `None` if the peer ends it.
    fn shake_hands(mut self) -> Option<Peer> {
        while self.tls.lock().unwrap().is_handshaking() {
            let mut byte = [0];
            if self.stream.read(&mut byte).unwrap() == 0 {
                return None;
            }
            let (mut plain, mut out) = (Vec::new(), Vec::new());
            self.tls.lock().unwrap().receive(&byte, &mut plain, &mut out).ok()?;
            self.stream.write_all(&out).unwrap();
        }
        Some(self)
    }

    fn send(&self, bytes: &[u8]) {
        let mut out = Vec::new();
        self.tls.lock().unwrap().send(bytes, &mut out);
        (&self.stream).write_all(&out).unwrap();
    }

    fn end(&self) {
        let mut out = Vec::new();
        self.tls.lock().unwrap().close(&mut out);
        (&self.stream).write_all(&out).unwrap();
        self.stream.shutdown(Shutdown::Write).unwrap();
    }

    /// Receives at least `length` bytes, or everything up to the end.
    fn receive(&self, length: usize) -> Vec<u8> {
        let (mut all, mut buffer, mut out) = (Vec::new(), vec![0; 100_000], Vec::new());
        while all.len() < length {
            let received = (&self.stream).read(&mut buffer).unwrap();
            let mut tls = self.tls.lock().unwrap();
            let ends = tls.receive(&buffer[..received], &mut all, &mut out).unwrap();
            if received == 0 || ends {
                break;
            }
        }
        all
    }

    /// Sends all bytes in pieces of these lengths, and receives everything.
    fn exchange(&self, sent: &[u8], lengths: &[u8]) -> Vec<u8> {
        thread::scope(|scope| {
            let received = scope.spawn(|| self.receive(usize::MAX));
            let (mut rest, mut lengths) = (sent, lengths.iter().cycle());
            while !rest.is_empty() {
                let length = 1 + usize::from(*lengths.next().unwrap()).pow(2);
                let (piece, after) = rest.split_at(length.min(rest.len()));
                self.send(piece);
                rest = after;
            }
            self.end();
            received.join().unwrap()
        })
    }
}

fn proxy(upstream: Vec<Upstream>) -> (RunningProxy<Vec<u8>>, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let proxy =
        RunningProxy::start_with_tls(listener, upstream, Some(for_clients("selfsigned.crt")), Vec::new());
    (proxy, TcpStream::connect(address).unwrap())
}

fn with_tls(upstream: &[Upstream]) -> Vec<Upstream> {
    let Upstream::Tcp(address) = upstream[0] else { unreachable!("the test's server has an address") };
    vec![Upstream::Tls(address, client_tls())]
}

fn client_tls() -> UpstreamTls {
    to_server(SslMode::Require, None, "db.test")
}

#[test]
fn bytes_are_unchanged_through_tls_on_both_sides() {
    const SIZE: usize = 6 << 20;
    let [to_server, to_client, lengths] = [random(SIZE), random(SIZE), random(1000)];
    let (answer, pieces) = (to_client.clone(), lengths.clone());
    let (upstream, server) = server(move |stream| Peer::accept(stream).exchange(&answer, &pieces));
    let (proxy, stream) = proxy(with_tls(&upstream));
    let client = Peer::connect(stream, &client_tls().config, true).unwrap();
    let to_server = [startup(), to_server].concat();
    assert!(client.exchange(&to_server, &lengths) == to_client);
    assert!(server.join().unwrap() == to_server);
    assert_eq!(proxy.recording().requests(), 0);
}

#[test]
fn a_client_may_begin_tls_without_a_request() {
    let mut config = ClientConfig::clone(&client_tls().config);
    for (protocols, works) in
        [(vec![b"postgresql".to_vec()], true), (vec![b"other".to_vec()], false), (vec![], false)]
    {
        config.alpn_protocols = protocols;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let upstream = vec![Upstream::Tcp(listener.local_addr().unwrap())];
        let (proxy, stream) = proxy(upstream);
        let client = Peer::connect(stream, &config.clone().into(), false);
        if works {
            let client = client.unwrap();
            client.send(&startup());
            let (mut server, _) = listener.accept().unwrap();
            let mut received = vec![0; startup().len()];
            server.read_exact(&mut received).unwrap();
            assert_eq!(received, startup());
            server.write_all(&[message(b'R', b"\0\0\0\0"), message(b'Z', b"I")].concat()).unwrap();
            assert_eq!(client.receive(15).len(), 15);
            client.send(&message(b'Q', b"select 1\0"));
            server.read_exact(&mut [0; 14]).unwrap();
            server.write_all(&message(b'Z', b"I")).unwrap();
            assert_eq!(client.receive(6), message(b'Z', b"I"));
        } else if let Some(client) = client {
            // Without ALPN, the handshake succeeds, but no session begins.
            client.send(&startup());
            assert_eq!(client.receive(1), b"");
        }
        assert_eq!(proxy.recording().requests(), u64::from(works));
    }
}

#[test]
fn second_requests_for_encryption_end_the_connection() {
    let (upstream, _server) = server(drop);
    let (_proxy, stream) = proxy(upstream);
    let client = Peer::connect(stream, &client_tls().config, true).unwrap();
    client.send(&packet(SSL_REQUEST, b""));
    assert_eq!(client.receive(1), b"");
}

#[test]
fn bytes_before_the_handshake_of_the_server_are_rejected() {
    for (answer, expected) in [
        (&b"Sx"[..], "TLS: the server sent data before the handshake"),
        (b"Nx", "TLS: the server sent data before the handshake"),
        (b"E", "TLS: the server did not answer the request for it"),
        (b"", "TLS: the server did not answer the request for it"),
    ] {
        let (upstream, server) = server(move |mut stream| {
            stream.read_exact(&mut [0; 8]).unwrap();
            stream.write_all(answer).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest);
            rest
        });
        let (_proxy, mut client) = proxy(with_tls(&upstream));
        client.write_all(&startup()).unwrap();
        let mut received = Vec::new();
        client.read_to_end(&mut received).unwrap();
        let fields = format!("SFATAL\0VFATAL\0C08001\0M{expected}\0\0");
        assert_eq!(received, message(b'E', fields.as_bytes()));
        // No byte of the client is sent without encryption.
        assert_eq!(server.join().unwrap(), b"");
    }
}
