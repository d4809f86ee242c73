//! Target for server certificates: they are read without a crash, and trusted only if a trusted authority signed them.

use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use wire::pg::SslMode;
use wire::tls::{TlsIdentity, server_verifier};
use wire::x509::Certificate;

const ROOT: &[u8] = include_bytes!("../../../crates/wire/tests/certs/root.crt");
/// Test certificates that this authority signed.
const SIGNED: [&[u8]; 5] = [
    ROOT,
    include_bytes!("../../../crates/wire/tests/certs/server.crt"),
    include_bytes!("../../../crates/wire/tests/certs/version1.crt"),
    include_bytes!("../../../crates/wire/tests/certs/client.crt"),
    include_bytes!("../../../crates/wire/tests/certs/expired.crt"),
];

static VERIFIER: LazyLock<Arc<dyn ServerCertVerifier>> = LazyLock::new(|| {
    let identity = TlsIdentity { roots: Some(ROOT), ..TlsIdentity::default() };
    server_verifier(SslMode::VerifyCa, &identity).expect("the root can be read")
});

/// Signed parts of the certificates in [`SIGNED`].
static KNOWN: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let signed = |pem: &&[u8]| {
        let der = CertificateDer::from_pem_slice(pem).expect("the test certificate is valid");
        Certificate::read(&der).expect("the test certificate is valid").signed_bytes().to_vec()
    };
    SIGNED.iter().map(signed).collect()
});

pub fn run(der: &[u8]) {
    let read = Certificate::read(der);
    if let Some(certificate) = &read {
        assert_eq!(
            certificate.matches_host("db.test"),
            certificate.matches_host("DB.test"),
            "names compare case-insensitively"
        );
        certificate.matches_host("10.0.0.1");
        certificate.matches_host("::1");
        assert!(certificate.channel_binding_hash().is_none_or(|hash| (28..=64).contains(&hash.len())));
        let (first, last) = certificate.validity();
        assert!(first.abs_diff(0) < 1 << 40 && last.abs_diff(0) < 1 << 40);
    }
    let name = ServerName::try_from("db.test").expect("a name");
    // The time is in 2030, when the test certificates without an early expiry are valid.
    let now = UnixTime::since_unix_epoch(Duration::from_secs(1_900_000_000));
    if VERIFIER.verify_server_cert(&CertificateDer::from(der), &[], &name, &[], now).is_ok() {
        let certificate = read.expect("a trusted certificate can be parsed");
        assert!(
            KNOWN.iter().any(|known| known == certificate.signed_bytes()),
            "the authority did not sign this certificate"
        );
    }
}
