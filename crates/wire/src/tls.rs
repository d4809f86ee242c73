//! TLS configuration and verification of server certificates.
//!
//! rustls implements TLS. It reads the time for a certificate's validity and generates the handshake's random numbers
//! itself.

mod server;
mod stream;

pub use rustls::ClientConfig;
pub use server::TlsServer;
pub use stream::{TlsError, TlsStream};

use crate::x509::{self, Certificate};
use model::message;
use model::message::Message;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, verify_server_cert_signed_by_trust_anchor};
use rustls::crypto::ring::{self, sign};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls13_signature_with_raw_key};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{
    CertificateDer, PrivateKeyDer, ServerName, SignatureVerificationAlgorithm, SubjectPublicKeyInfoDer,
    UnixTime,
};
use rustls::server::ParsedCertificate;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{
    AlertDescription, CertificateError, ClientConnection, DigitallySignedStruct, Error, RootCertStore,
    SignatureScheme,
};
use rustls::{ProtocolVersion, SupportedProtocolVersion, version};
use std::fmt;
use std::io::Write;
use std::sync::Arc;

/// Use of TLS and verification of the server, as libpq's `sslmode`. Unix sockets never use TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SslMode {
    Disable,
    /// Without TLS first; with TLS if the server rejects the first attempt.
    Allow,
    /// With TLS first; without TLS if the server does not support TLS or rejects the attempt.
    #[default]
    Prefer,
    /// With TLS. The certificate is verified only if there are roots.
    Require,
    /// Requires TLS and a server certificate that one of the roots signed. The host name is not checked.
    VerifyCa,
    /// Requires what `VerifyCa` requires, and a certificate that matches the host name.
    VerifyFull,
}

/// Certificates and key of a TLS client, as PEM text.
#[derive(Clone, Copy, Default)]
pub struct TlsIdentity<'a> {
    /// `sslrootcert`: trusted authorities. Without it, the server's certificate is not verified.
    pub roots: Option<&'a [u8]>,
    /// `sslcert`: the client's certificate, followed by intermediate certificates.
    pub certificate: Option<&'a [u8]>,
    /// `sslkey`: the client's private key, unencrypted.
    pub key: Option<&'a [u8]>,
}

impl fmt::Debug for TlsIdentity<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = |it: Option<&[u8]>| it.map(<[u8]>::len);
        write!(f, "Identity {:?} {:?} {:?} bytes", held(self.roots), held(self.certificate), held(self.key))
    }
}

/// Texts from which a TLS configuration was made, to make the same one on another machine.
#[derive(Clone, Default)]
pub struct TlsSource {
    pub roots: Option<Vec<u8>>,
    pub certificate: Option<Vec<u8>>,
    pub key: Option<Vec<u8>>,
    pub versions: TlsVersionRange,
}

impl TlsSource {
    /// TLS configuration, as from [`config`].
    pub fn config(&self, mode: SslMode) -> Result<Arc<ClientConfig>, TlsConfigError> {
        let TlsSource { roots, certificate, key, versions } = self;
        let identity =
            TlsIdentity { roots: roots.as_deref(), certificate: certificate.as_deref(), key: key.as_deref() };
        config(mode, &identity, *versions)
    }
}

impl fmt::Debug for TlsSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TlsSource")
    }
}

/// Error in a TLS configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TlsConfigError {
    /// `sslmode` requires verification, but there are no roots.
    MissingRoots,
    /// The file for `what` contains no certificate or key; `reason` is the text of rustls.
    Pem { what: &'static str, reason: String },
    /// Certificate without its key, or key without its certificate.
    IncompleteIdentity { missing: &'static str },
    /// Client key of an unsupported kind; `reason` is the text of rustls.
    UnusableKey { reason: String },
    /// Client certificate that does not match the client key, or a certificate that cannot be read.
    OtherKey,
    /// Empty range of TLS versions.
    VersionRange,
}

impl From<&TlsConfigError> for Message {
    fn from(error: &TlsConfigError) -> Message {
        match error {
            TlsConfigError::MissingRoots => message!("tls-missing-roots"),
            TlsConfigError::Pem { what, reason } => message!("error-of", subject = *what, error = reason),
            TlsConfigError::IncompleteIdentity { missing } => {
                message!("tls-incomplete-identity", missing = *missing)
            }
            TlsConfigError::UnusableKey { reason } => message!("tls-unusable-key", reason),
            TlsConfigError::OtherKey => message!("tls-other-key"),
            TlsConfigError::VersionRange => message!("tls-version-range"),
        }
    }
}

/// Minimum and maximum TLS version. libpq also supports older versions, which rustls does not support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlsVersionRange {
    pub lowest: TlsVersion,
    pub highest: TlsVersion,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    Tls12,
    Tls13,
}

impl Default for TlsVersionRange {
    fn default() -> TlsVersionRange {
        TlsVersionRange { lowest: TlsVersion::Tls12, highest: TlsVersion::Tls13 }
    }
}

/// TLS configuration for all connections to one PostgreSQL server.
///
/// As in libpq, every mode except `disable` uses the roots if there are any. `verify-ca` and `verify-full` require
/// roots; only `verify-full` compares the name. Sessions are not resumed: PostgreSQL offers no tickets, so every
/// connection costs the same.
pub fn config(
    mode: SslMode,
    identity: &TlsIdentity<'_>,
    versions: TlsVersionRange,
) -> Result<Arc<ClientConfig>, TlsConfigError> {
    let verifier = server_verifier(mode, identity)?;
    let provider = Arc::new(ring::default_provider());
    let known: [(TlsVersion, &SupportedProtocolVersion); 2] =
        [(TlsVersion::Tls12, &version::TLS12), (TlsVersion::Tls13, &version::TLS13)];
    let enabled = known.iter().filter(|it| (versions.lowest..=versions.highest).contains(&it.0));
    let enabled: Vec<&SupportedProtocolVersion> = enabled.map(|it| it.1).collect();
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&enabled)
        .map_err(|_| TlsConfigError::VersionRange)?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let mut config = match (identity.certificate, identity.key) {
        (Some(certificate), Some(key)) => {
            let certified = Arc::new(certified_key(certificates("sslcert", certificate)?, ("sslkey", key))?);
            builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(certified)))
        }
        (None, None) => builder.with_no_client_auth(),
        (Some(_), None) => return Err(TlsConfigError::IncompleteIdentity { missing: "sslkey" }),
        (None, Some(_)) => return Err(TlsConfigError::IncompleteIdentity { missing: "sslcert" }),
    };
    config.resumption = Resumption::disabled();
    Ok(Arc::new(config))
}

/// Verifier of server certificates in this mode.
pub fn server_verifier(
    mode: SslMode,
    identity: &TlsIdentity<'_>,
) -> Result<Arc<dyn ServerCertVerifier>, TlsConfigError> {
    let roots = match identity.roots {
        Some(pem) => Some(roots(pem)?),
        None if matches!(mode, SslMode::VerifyCa | SslMode::VerifyFull) => {
            return Err(TlsConfigError::MissingRoots);
        }
        None => None,
    };
    let algorithms = ring::default_provider().signature_verification_algorithms;
    Ok(Arc::new(ServerVerifier { algorithms, roots, name: mode == SslMode::VerifyFull }))
}

/// TLS configuration for connections to one HTTP service. It negotiates HTTP/1.1 by ALPN and resumes sessions.
#[derive(Clone, Debug)]
pub struct HttpsClient {
    pub(crate) config: Arc<ClientConfig>,
    pub(crate) name: ServerName<'static>,
}

impl HttpsClient {
    /// Configuration for the service `host`. Without roots, its certificate is not verified.
    pub fn new(host: &str, identity: &TlsIdentity<'_>) -> Result<HttpsClient, TlsConfigError> {
        let mode = if identity.roots.is_some() { SslMode::VerifyFull } else { SslMode::Require };
        let config = config(mode, identity, TlsVersionRange::default())?;
        let mut config = ClientConfig::clone(&config);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config.resumption = Resumption::in_memory_sessions(1);
        Ok(HttpsClient { config: Arc::new(config), name: server_name(host) })
    }

    /// Configuration of the connections.
    pub fn config(&self) -> &Arc<ClientConfig> {
        &self.config
    }
}

/// Certificate with its key, which is given with the name of its setting. rustls's own function does not accept version 1
/// certificates.
fn certified_key(
    chain: Vec<CertificateDer<'static>>,
    (setting, key): (&'static str, &[u8]),
) -> Result<CertifiedKey, TlsConfigError> {
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|it| pem_error(setting, &it))?;
    let key = sign::any_supported_type(&key)
        .map_err(|it| TlsConfigError::UnusableKey { reason: it.to_string() })?;
    let certificate = chain.first().and_then(|it| Certificate::read(it));
    match (certificate, key.public_key()) {
        (Some(certificate), Some(public)) if certificate.key().raw == public.as_ref() => {
            Ok(CertifiedKey::new(chain, key))
        }
        _ => Err(TlsConfigError::OtherKey),
    }
}

fn roots(pem: &[u8]) -> Result<RootCertStore, TlsConfigError> {
    let mut store = RootCertStore::empty();
    for root in certificates("sslrootcert", pem)? {
        store.add(root).map_err(|it| TlsConfigError::Pem { what: "sslrootcert", reason: it.to_string() })?;
    }
    Ok(store)
}

fn certificates(setting: &'static str, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsConfigError> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match all {
        Ok(none) if none.is_empty() => Err(pem_error(setting, &pem::Error::NoItemsFound)),
        Ok(all) => Ok(all),
        Err(error) => Err(pem_error(setting, &error)),
    }
}

fn pem_error(setting: &'static str, error: &pem::Error) -> TlsConfigError {
    TlsConfigError::Pem { what: setting, reason: error.to_string() }
}

/// Server name for SNI and verification.
///
/// A host that is not a DNS name, such as a socket directory, becomes an unspecified address. The address is not sent
/// and matches no certificate.
pub(crate) fn server_name(host: &str) -> ServerName<'static> {
    let unspecified = ServerName::IpAddress(std::net::Ipv4Addr::UNSPECIFIED.into());
    ServerName::try_from(host.to_owned()).unwrap_or(unspecified)
}

/// TLS version and cipher of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlsInfo {
    /// Version, such as `TLSv1.3`.
    pub version: &'static str,
    /// Cipher suite, such as `TLS13_AES_256_GCM_SHA384`.
    pub cipher: &'static str,
}

impl fmt::Display for TlsInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.version, self.cipher)
    }
}

pub(crate) fn protection(connection: &ClientConnection) -> Option<TlsInfo> {
    let version = match connection.protocol_version()? {
        ProtocolVersion::TLSv1_2 => "TLSv1.2",
        ProtocolVersion::TLSv1_3 => "TLSv1.3",
        _ => "TLS",
    };
    let cipher = connection.negotiated_cipher_suite()?.suite().as_str().unwrap_or("unknown cipher");
    Some(TlsInfo { version, cipher })
}

/// Encrypts the plain bytes `out[from..]` in place. Needs no buffer of its own; rustls allocates each record.
pub(crate) fn encrypt_from(connection: &mut ClientConnection, out: &mut Vec<u8>, from: usize) {
    connection.writer().write_all(&out[from..]).expect("the buffer has no limit");
    out.truncate(from);
    flush(connection, out);
}

/// Moves the bytes that rustls wants to send to `out`.
pub(crate) fn flush(connection: &mut ClientConnection, out: &mut Vec<u8>) {
    while connection.wants_write() {
        connection.write_tls(out).expect("writing to a vector cannot fail");
    }
}

/// Short description of the error.
pub(crate) fn describe(error: &Error) -> &'static str {
    match error {
        Error::InvalidCertificate(reason) => match reason {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "the server's certificate has expired"
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "the server's certificate is not valid yet"
            }
            CertificateError::UnknownIssuer => {
                "no authority in sslrootcert has signed the server's certificate"
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "the server's certificate is for another host"
            }
            CertificateError::BadSignature => "the server's certificate does not match its signature",
            CertificateError::BadEncoding => "the server's certificate cannot be read",
            _ => "the server's certificate is not acceptable",
        },
        Error::AlertReceived(alert) => match alert {
            AlertDescription::UnknownCA => "the server does not know the authority that signed sslcert",
            AlertDescription::BadCertificate | AlertDescription::CertificateUnknown => {
                "the server does not accept sslcert"
            }
            AlertDescription::CertificateExpired => "sslcert has expired, according to the server",
            AlertDescription::CertificateRequired => "the server requires a client certificate (sslcert)",
            AlertDescription::ProtocolVersion | AlertDescription::HandshakeFailure => {
                "server and client have no TLS version or cipher in common"
            }
            other => other.as_str().unwrap_or("the server sent an unknown alert"),
        },
        Error::PeerIncompatible(_) => "server and client have no TLS version or cipher in common",
        Error::PeerMisbehaved(_) => "the server violated the TLS protocol",
        Error::InvalidMessage(_) => "the server sent bytes that are not TLS",
        Error::NoCertificatesPresented => "the server sent no certificate",
        Error::DecryptError => "a record cannot be decrypted",
        _ => "the handshake failed",
    }
}

#[derive(Debug)]
struct ServerVerifier {
    algorithms: WebPkiSupportedAlgorithms,
    roots: Option<RootCertStore>,
    /// True if the certificate must match the host name.
    name: bool,
}

impl ServerCertVerifier for ServerVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(roots) = &self.roots else { return Ok(ServerCertVerified::assertion()) };
        let certificate = read(end_entity)?;
        if certificate.is_end_entity() {
            let parsed = ParsedCertificate::try_from(end_entity)?;
            verify_server_cert_signed_by_trust_anchor(
                &parsed,
                roots,
                intermediates,
                now,
                self.algorithms.all,
            )?;
        } else {
            self.signed_by_root(&certificate, roots, now)?;
        }
        if self.name && !certificate.matches_host(&server_name.to_str()) {
            return Err(CertificateError::NotValidForName.into());
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let certificate = read(cert)?;
        let key = certificate.key();
        let known = self.algorithms.mapping.iter().filter(|it| it.0 == dss.scheme).flat_map(|it| it.1);
        let fits = |algorithm: &&&dyn SignatureVerificationAlgorithm| {
            x509::algorithm(&algorithm.public_key_alg_id()).is_some_and(|kind| kind == key.algorithm)
        };
        let bits = &key.subject_public_key.data;
        let mut tried = known.filter(fits).map(|it| it.verify_signature(bits, message, dss.signature()));
        if tried.any(|it| it.is_ok()) {
            Ok(HandshakeSignatureValid::assertion())
        } else {
            Err(CertificateError::BadSignature.into())
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let key = SubjectPublicKeyInfoDer::from(read(cert)?.key().raw);
        verify_tls13_signature_with_raw_key(message, &key, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

impl ServerVerifier {
    /// Verifies a certificate that webpki does not accept as a server's: a root must have signed it directly.
    fn signed_by_root(
        &self,
        certificate: &Certificate<'_>,
        roots: &RootCertStore,
        now: UnixTime,
    ) -> Result<(), Error> {
        let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        let (first, last) = certificate.validity();
        if now < first {
            return Err(CertificateError::NotValidYet.into());
        }
        if now > last {
            return Err(CertificateError::Expired.into());
        }
        let (algorithm, signature) = certificate.signature();
        let signs = |anchor: &rustls::pki_types::TrustAnchor<'_>| {
            let key = x509::public_key(&anchor.subject_public_key_info)?;
            let fits = |a: &&&dyn SignatureVerificationAlgorithm| {
                x509::algorithm(&a.signature_alg_id()).is_some_and(|kind| kind == *algorithm)
                    && x509::algorithm(&a.public_key_alg_id()).is_some_and(|kind| kind == key.algorithm)
            };
            let bits = &key.subject_public_key.data;
            let known = self.algorithms.all.iter().filter(fits);
            let mut tried = known.map(|a| a.verify_signature(bits, certificate.signed_bytes(), signature));
            tried.any(|it| it.is_ok()).then_some(())
        };
        let mut issuers =
            roots.roots.iter().filter(|anchor| certificate.issuer() == Some(anchor.subject.as_ref()));
        if issuers.any(|anchor| signs(anchor).is_some()) {
            Ok(())
        } else {
            Err(CertificateError::UnknownIssuer.into())
        }
    }
}

fn read<'a>(der: &'a CertificateDer<'_>) -> Result<Certificate<'a>, Error> {
    Certificate::read(der).ok_or_else(|| CertificateError::BadEncoding.into())
}

/// Crypto provider of rustls; public so that tests can create a server with the same provider.
pub fn provider() -> CryptoProvider {
    ring::default_provider()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn rejects_expired_certificates_outside_webpki() {
        let roots = roots(include_bytes!("../tests/certs/root.crt")).unwrap();
        let algorithms = provider().signature_verification_algorithms;
        let verifier = ServerVerifier { algorithms, roots: Some(roots.clone()), name: false };
        let version1 = certificates("", include_bytes!("../tests/certs/version1.crt")).unwrap();
        let certificate = read(&version1[0]).unwrap();
        let check = |now: i64, expected: &str| {
            let now = UnixTime::since_unix_epoch(Duration::from_secs(now.unsigned_abs()));
            let judged = verifier.signed_by_root(&certificate, &roots, now);
            assert_eq!(judged.as_ref().map_or_else(describe, |()| "fine"), expected);
        };
        let (first, last) = certificate.validity();
        check(first - 1, "the server's certificate is not valid yet");
        check(first, "fine");
        check(last, "fine");
        check(last + 1, "the server's certificate has expired");
    }
}
