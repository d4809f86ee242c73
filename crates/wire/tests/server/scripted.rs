//! In-memory server with TLS, authentication, and the same answer to every query.

use super::{columns, message, notice, welcome};
use base64::Engine;
use base64::prelude::BASE64_STANDARD as BASE64;
use hmac::{Hmac, KeyInit, Mac};
use rustls::ServerConnection;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::sync::Arc;

/// Authentication that the server requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthRequest {
    Nothing,
    /// Clear-text password that the server expects.
    Password(&'static str),
    Md5(&'static str),
    /// SCRAM-SHA-256 for this password; with channel binding if true.
    Scram(&'static str, bool),
    /// SCRAM-SHA-256 with a wrong server signature.
    FalseScram(&'static str),
    /// Error that rejects every login.
    Error(&'static str),
}

#[derive(Debug)]
pub struct Server {
    asks: AuthRequest,
    /// Answer to SSLRequest: `S` with a TLS configuration, `N` without one.
    tls_answer: &'static [u8],
    tls_config: Option<Arc<rustls::ServerConfig>>,
    tls: Option<ServerConnection>,
    /// Hash of the certificate for channel binding.
    binding: Vec<u8>,
    inbox: Vec<u8>,
    started: bool,
    /// Messages of the SCRAM exchange that were sent so far.
    scram_messages: Vec<String>,
    /// Parameters of the StartupMessage.
    pub parameters: BTreeMap<String, String>,
}

impl Server {
    pub fn new(
        asks: AuthRequest,
        tls_answer: &'static [u8],
        tls: Option<(Arc<rustls::ServerConfig>, &[u8])>,
    ) -> Server {
        Server {
            asks,
            tls_answer,
            binding: tls.as_ref().map_or(Vec::new(), |it| Sha256::digest(it.1).to_vec()),
            tls_config: tls.map(|it| it.0),
            tls: None,
            inbox: Vec::new(),
            started: false,
            scram_messages: Vec::new(),
            parameters: BTreeMap::new(),
        }
    }

    /// Creates a server that presents `certificate`, whose key is `certs/server.key`.
    pub fn with_tls(
        asks: AuthRequest,
        certificate: &[u8],
        versions: &[&'static rustls::SupportedProtocolVersion],
    ) -> Server {
        let certificate = CertificateDer::from_pem_slice(certificate).unwrap();
        let shown = certificate.to_vec();
        let key = PrivateKeyDer::from_pem_slice(include_bytes!("../certs/server.key")).unwrap();
        let key = rustls::crypto::ring::sign::any_supported_type(&key).unwrap();
        let certified = rustls::sign::CertifiedKey::new(vec![certificate], key);
        let config = rustls::ServerConfig::builder_with_provider(Arc::new(wire::tls::provider()))
            .with_protocol_versions(versions)
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(rustls::sign::SingleCertAndKey::from(certified)));
        Server::new(asks, b"S", Some((Arc::new(config), &shown)))
    }

    /// Receives bytes and returns the answer.
    pub fn receive(&mut self, mut bytes: &[u8]) -> Vec<u8> {
        let Some(tls) = &mut self.tls else {
            self.inbox.extend_from_slice(bytes);
            let (answer, from) = self.answer();
            return [answer, from].concat();
        };
        while !bytes.is_empty() {
            tls.read_tls(&mut bytes).unwrap();
            let failed = tls.process_new_packets().is_err();
            let _ = tls.reader().read_to_end(&mut self.inbox);
            if failed {
                break;
            }
        }
        let (plain, _) = self.answer();
        let tls = self.tls.as_mut().unwrap();
        tls.writer().write_all(&plain).unwrap();
        let mut out = Vec::new();
        while tls.wants_write() {
            tls.write_tls(&mut out).unwrap();
        }
        out
    }

    /// Processes the received bytes. Returns the answers to send inside TLS, and those to send before it.
    fn answer(&mut self) -> (Vec<u8>, Vec<u8>) {
        let mut out = Vec::new();
        loop {
            let head = if self.started { 1 } else { 0 };
            let Some(length) = self.inbox.get(head..head + 4) else { return (out, Vec::new()) };
            let length = u32::from_be_bytes(length.try_into().unwrap()) as usize + head;
            if self.inbox.len() < length {
                return (out, Vec::new());
            }
            let message: Vec<u8> = self.inbox.drain(..length).collect();
            let body = &message[head + 4..];
            if self.started {
                out.extend(self.message(message[0], body));
            } else if body == b"\x04\xd2\x16\x2f" {
                assert!(self.inbox.is_empty(), "the client waits for the answer");
                self.tls = self.tls_config.clone().map(|it| ServerConnection::new(it).unwrap());
                return (Vec::new(), self.tls_answer.to_vec());
            } else {
                self.started = true;
                out.extend(self.startup(body));
            }
        }
    }

    fn startup(&mut self, body: &[u8]) -> Vec<u8> {
        assert_eq!(body[..4], [0, 3, 0, 0]);
        let mut texts = body[4..].split(|it| *it == 0).map(|it| String::from_utf8(it.to_vec()).unwrap());
        while let Some(name) = texts.next().filter(|it| !it.is_empty()) {
            self.parameters.insert(name, texts.next().unwrap());
        }
        match self.asks {
            AuthRequest::Nothing => welcome(),
            AuthRequest::Password(_) => message(b'R', b"\0\0\0\x03"),
            AuthRequest::Md5(_) => message(b'R', b"\0\0\0\x05salt"),
            AuthRequest::Scram(_, true) if self.tls.is_some() => {
                message(b'R', b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0")
            }
            AuthRequest::Scram(..) | AuthRequest::FalseScram(_) => {
                message(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0")
            }
            AuthRequest::Error(code) => notice(b'E', &["SFATAL", "VFATAL", &format!("C{code}"), "Mno"]),
        }
    }

    fn message(&mut self, tag: u8, body: &[u8]) -> Vec<u8> {
        match (tag, self.asks.clone()) {
            (b'p', AuthRequest::Password(right)) => entry(body == [right.as_bytes(), b"\0"].concat()),
            (b'p', AuthRequest::Md5(right)) => {
                let user = self.parameters["user"].as_bytes();
                let hash = postgres_protocol::authentication::md5_hash(user, right.as_bytes(), *b"salt");
                entry(body == [hash.as_bytes(), b"\0"].concat())
            }
            (b'p', AuthRequest::Scram(right, _) | AuthRequest::FalseScram(right)) => self.scram(right, body),
            (b'Q', _) => [
                columns(),
                message(b'D', b"\0\x01\0\0\0\x0242"),
                message(b'C', b"SELECT 1\0"),
                message(b'Z', b"I"),
            ]
            .concat(),
            _ => panic!("unexpected {}", char::from(tag)),
        }
    }

    /// Returns the server's next message of a SCRAM exchange (RFC 5802).
    fn scram(&mut self, password: &str, body: &[u8]) -> Vec<u8> {
        const SALT: &[u8] = b"some salt";
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let request =
            |kind: u8, text: &str| message(b'R', &[b"\0\0\0", &[kind][..], text.as_bytes()].concat());
        if self.scram_messages.is_empty() {
            let end = body.iter().position(|it| *it == 0).unwrap();
            let first = text(&body[end + 5..]);
            let (header, bare) = first.split_at(first.find(",,").unwrap() + 2);
            let nonce = bare.split_once("r=").unwrap().1;
            let server_first = format!("r={nonce}srv,s={},i=64", BASE64.encode(SALT));
            self.scram_messages = vec![header.to_owned(), bare.to_owned(), server_first.clone()];
            return request(11, &server_first);
        }
        let last = text(body);
        let (unproved, proof) = last.split_once(",p=").unwrap();
        let mut header = self.scram_messages[0].as_bytes().to_vec();
        if header.starts_with(b"p=") {
            header.extend_from_slice(&self.binding);
        }
        let nonce = self.scram_messages[2].split(',').next().unwrap();
        assert_eq!(unproved, format!("c={},{nonce}", BASE64.encode(header)));
        let exchange = format!("{},{},{unproved}", self.scram_messages[1], self.scram_messages[2]);
        let mut block = hmac(password.as_bytes(), &[SALT, b"\0\0\0\x01"].concat());
        let mut salted = block;
        for _ in 1..64 {
            block = hmac(password.as_bytes(), &block);
            salted.iter_mut().zip(block).for_each(|(all, one)| *all ^= one);
        }
        let stored = Sha256::digest(hmac(&salted, b"Client Key"));
        let signature = hmac(&stored, exchange.as_bytes());
        let proof = BASE64.decode(proof).unwrap();
        let key: Vec<u8> = proof.iter().zip(signature).map(|(a, b)| a ^ b).collect();
        if Sha256::digest(key) != stored {
            return entry(false);
        }
        let false_one = matches!(self.asks, AuthRequest::FalseScram(_));
        let server_key = hmac(&salted, if false_one { b"Sender Key" } else { b"Server Key" });
        let signature = format!("v={}", BASE64.encode(hmac(&server_key, exchange.as_bytes())));
        [request(12, &signature), welcome()].concat()
    }
}

fn entry(right: bool) -> Vec<u8> {
    if right {
        welcome()
    } else {
        notice(b'E', &["SFATAL", "VFATAL", "C28P01", "Mpassword authentication failed"])
    }
}

fn hmac(key: &[u8], text: &[u8]) -> [u8; 32] {
    Hmac::<Sha256>::new_from_slice(key).unwrap().chain_update(text).finalize().into_bytes().into()
}
