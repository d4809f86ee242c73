//! TLS configuration of a server: the side that presents a certificate

use super::{TlsConfigError, certificates, certified_key};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::server::NoServerSessionStorage;
use rustls::sign::SingleCertAndKey;
use std::fmt;
use std::sync::Arc;

/// Certificate, key and protocols of a TLS server.
#[derive(Clone)]
pub struct TlsServer {
    pub(super) config: Arc<ServerConfig>,
    certificate: CertificateDer<'static>,
}

impl fmt::Debug for TlsServer {
    /// Formats the server without its key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsServer").field("protocols", &self.config.alpn_protocols).finish_non_exhaustive()
    }
}

impl TlsServer {
    /// Server with a certificate, followed by intermediate certificates, and its unencrypted key, as PEM text.
    /// `protocol` is the name of the only protocol that ALPN negotiates. Clients without ALPN are accepted.
    ///
    /// Like PostgreSQL, it resumes no sessions, so that every connection costs the same.
    pub fn new(certificate: &[u8], key: &[u8], protocol: &str) -> Result<TlsServer, TlsConfigError> {
        let chain = certificates("certificate", certificate)?;
        let certificate = chain[0].clone();
        let certified = Arc::new(certified_key(chain, ("key", key))?);
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|_| TlsConfigError::VersionRange)?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(certified)));
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(TlsServer { config: Arc::new(config), certificate })
    }

    /// The server's own certificate in DER.
    pub fn certificate(&self) -> &[u8] {
        &self.certificate
    }
}
