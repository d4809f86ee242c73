//! HTTPS client that verifies certificates with the certificate authorities of this system

use std::sync::Arc;
use std::time::Duration;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// Client whose requests take at most `timeout` each. Unreadable certificates of authorities are left out.
pub fn client(timeout: Duration) -> ureq::Agent {
    let system = rustls_native_certs::load_native_certs().certs;
    let roots: Vec<Certificate<'static>> =
        system.iter().map(|it| Certificate::from_der(it).to_owned()).collect();
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&roots))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build();
    ureq::Agent::config_builder().timeout_global(Some(timeout)).tls_config(tls).build().new_agent()
}
