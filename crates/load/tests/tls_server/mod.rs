//! In-memory TLS server for tests

use load::ConnId;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, ServerConfig, ServerConnection};
use std::io::{Read, Write};
use std::sync::Arc;
use wire::pg::SslMode;
use wire::tls::TlsIdentity;

/// Request of a PostgreSQL client for TLS.
pub const SSL_REQUEST: &[u8] = b"\0\0\0\x08\x04\xd2\x16\x2f";

/// TLS configuration of clients that accepts any certificate.
pub fn client_config() -> Arc<ClientConfig> {
    wire::tls::config(SslMode::Require, &TlsIdentity::default(), Default::default())
        .expect("the TLS configuration is valid")
}

/// TLS server with one TLS connection per connection of the shard.
pub struct TlsServer {
    config: Arc<ServerConfig>,
    pub connections: Vec<Option<ServerConnection>>,
    /// Buffer for the encrypted records that `encrypt` returns.
    out: Vec<u8>,
    /// Number of records with data that the server has received, and number that it has sent.
    pub records: (usize, usize),
}

impl TlsServer {
    pub fn new(connections: usize) -> TlsServer {
        let read = |name: &str| {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../wire/tests/certs/");
            std::fs::read(format!("{folder}{name}")).expect("the file is in the repository")
        };
        let certificate = CertificateDer::from_pem_slice(&read("server.crt")).expect("a certificate");
        let key = PrivateKeyDer::from_pem_slice(&read("server.key")).expect("a key");
        let config = ServerConfig::builder_with_provider(Arc::new(wire::tls::provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider supports these versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .expect("the key belongs to the certificate");
        let connections = (0..connections).map(|_| None).collect();
        TlsServer { config: Arc::new(config), connections, out: Vec::new(), records: (0, 0) }
    }

    /// Receives a client's bytes. Returns true if they contain a request.
    pub fn receive(&mut self, conn: ConnId, mut bytes: &[u8]) -> bool {
        let connection = &mut self.connections[conn.0 as usize];
        let is_new = connection.is_none();
        let tls = connection.get_or_insert_with(|| {
            ServerConnection::new(self.config.clone()).expect("the configuration is valid")
        });
        if is_new && bytes == SSL_REQUEST {
            return false;
        }
        while !bytes.is_empty() {
            tls.read_tls(&mut bytes).expect("reading from memory cannot fail");
            tls.process_new_packets().expect("the client speaks TLS");
        }
        let mut plain = Vec::new();
        let _ = tls.reader().read_to_end(&mut plain);
        self.records.0 += usize::from(!plain.is_empty());
        !plain.is_empty()
    }

    /// Encrypts `plain` as one record. Returns all pending records; this one is the last.
    pub fn encrypt(&mut self, conn: ConnId, plain: &[u8]) -> &[u8] {
        self.out.clear();
        if let Some(tls) = &mut self.connections[conn.0 as usize] {
            tls.writer().write_all(plain).expect("the buffer has room");
            self.records.1 += usize::from(!plain.is_empty());
            while tls.wants_write() {
                tls.write_tls(&mut self.out).expect("writing to a vector cannot fail");
            }
        }
        &self.out
    }
}
