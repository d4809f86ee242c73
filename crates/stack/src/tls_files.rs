//! TLS certificates for the nodes of one run
//!
//! A root key of the run signs one certificate for all nodes, so that every hop can be verified in full. The crate
//! `rcgen` creates the keys and certificates with `ring`, which TLS needs anyway. The program `openssl` is not always
//! installed, and would see the key.

use crate::supervisor::{NodeError, Supervisor};
use model::message;
use model::message::Message;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use std::path::PathBuf;
use std::sync::Arc;
use wire::pg::{Login, SslMode};
use wire::tls::TlsSource;

/// Certificate files that only the stack's user and root can read. They are removed with the supervisor.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// Root certificate, with which every client verifies the nodes.
    pub root: PathBuf,
    pub certificate: PathBuf,
    pub key: PathBuf,
    /// Contents of the file `root`.
    root_pem: Arc<str>,
}

/// Host name of all nodes, and subject of the certificate.
pub const HOST: &str = "127.0.0.1";

impl TlsFiles {
    pub fn make(supervisor: &Supervisor) -> Result<TlsFiles, NodeError> {
        let failure = |reason: Message| NodeError::new("tls", message!("attempt-create-certificate"), reason);
        let (root_pem, certificate, key) =
            certificates().map_err(|it| failure(message!("error-quoted", text = it.to_string())))?;
        let write = |name: &str, text: &str| {
            supervisor.private_file(name, text.as_bytes()).map_err(|it| failure((&it).into()))
        };
        Ok(TlsFiles {
            root: write("tls-root.pem", &root_pem)?,
            certificate: write("tls.pem", &certificate)?,
            key: write("tls.key", &key)?,
            root_pem: root_pem.into(),
        })
    }

    /// Returns paths without files, for tests of configuration.
    #[cfg(test)]
    pub(crate) fn example(directory: &str) -> TlsFiles {
        let at = |name: &str| PathBuf::from(directory).join(name);
        TlsFiles {
            root: at("tls-root.pem"),
            certificate: at("tls.pem"),
            key: at("tls.key"),
            root_pem: "".into(),
        }
    }

    /// Makes this login require TLS and a certificate that this run's root has signed.
    pub fn protect(&self, login: &mut Login) {
        let source = TlsSource { roots: Some(self.root_pem.as_bytes().to_vec()), ..TlsSource::default() };
        let config = source.config(SslMode::VerifyFull);
        login.ssl = SslMode::VerifyFull;
        login.tls = Some(config.expect("the root certificate that pgdyno created is valid"));
        login.tls_source = Some(Arc::new(source));
        HOST.clone_into(&mut login.host);
    }
}

/// Creates the root certificate, the nodes' certificate and its key, as PEM. Every TLS library supports ECDSA with
/// P-256.
pub fn certificates() -> Result<(String, String, String), rcgen::Error> {
    let mut root = CertificateParams::default();
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    root.distinguished_name.push(DnType::CommonName, "pgdyno run");
    let root_key = KeyPair::generate()?;
    let root_certificate = root.self_signed(&root_key)?;
    let mut node = CertificateParams::new([HOST.to_owned(), "localhost".to_owned()])?;
    node.distinguished_name.push(DnType::CommonName, "pgdyno node");
    node.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate()?;
    let certificate = node.signed_by(&key, &Issuer::new(root, root_key))?;
    Ok((root_certificate.pem(), certificate.pem(), key.serialize_pem()))
}
