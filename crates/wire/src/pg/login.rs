//! Login parameters that all connections to one server share.

use super::scram::SaltedPasswordCache;
use crate::tls::{SslMode, TlsSource};
use rustls::ClientConfig;
use std::fmt;
use std::sync::Arc;

/// Transport to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Unix,
    Tcp,
}

/// Login parameters that all connections to one server share.
#[derive(Clone, Debug)]
pub struct Login {
    pub user: String,
    /// Database; an empty name means the user's name.
    pub database: String,
    pub password: Option<Secret>,
    /// Other parameters of the StartupMessage, such as `application_name`, `options`, `client_encoding`.
    pub parameters: Vec<(String, String)>,
    /// True if values of ParameterStatus are stored for `Channel::parameter`. Costs about 1 KiB per connection.
    pub keep_parameters: bool,
    /// True if the peer is PostgreSQL itself. Only then may a statement that timed out be cancelled.
    ///
    /// Must be false for a pooler. A cancel request makes some poolers terminate ("bad client state"), or cancels the
    /// statement of another client.
    pub send_cancel: bool,
    /// Authentication methods that the server may request.
    pub methods: AuthMethods,
    pub channel_binding: ChannelBinding,
    pub ssl: SslMode,
    /// TLS configuration from `tls::config`. Without it, `allow` and `prefer` connect unencrypted, and the stricter
    /// modes fail with `ProtocolError::NoTls`.
    pub tls: Option<Arc<ClientConfig>>,
    /// Texts from which `tls` was made, if they are known.
    pub tls_source: Option<Arc<TlsSource>>,
    /// Server name as the user wrote it, sent as SNI and compared with the certificate.
    pub host: String,
    pub(super) salted: SaltedPasswordCache,
}

impl Login {
    /// Login without password, TLS and further parameters.
    pub fn new(user: impl Into<String>, database: impl Into<String>) -> Login {
        Login {
            user: user.into(),
            database: database.into(),
            password: None,
            parameters: Vec::new(),
            keep_parameters: false,
            send_cancel: false,
            methods: AuthMethods::default(),
            channel_binding: ChannelBinding::Prefer,
            ssl: SslMode::Disable,
            tls: None,
            tls_source: None,
            host: String::new(),
            salted: SaltedPasswordCache::default(),
        }
    }

    /// Encryption with which the first connection is opened.
    pub(super) fn first_attempt(&self, transport: Transport) -> Encryption {
        match (transport, self.ssl, &self.tls) {
            (Transport::Unix, ..)
            | (_, SslMode::Disable | SslMode::Allow, _)
            | (_, SslMode::Prefer, None) => Encryption::Plain,
            _ => Encryption::Tls,
        }
    }

    /// Encryption of a second attempt, after the server rejected the first attempt; `None` if libpq would make no
    /// second attempt.
    pub(super) fn second_attempt(&self, transport: Transport, first: Encryption) -> Option<Encryption> {
        match (transport, self.ssl, first) {
            (Transport::Tcp, SslMode::Prefer, Encryption::Tls) => Some(Encryption::Plain),
            (Transport::Tcp, SslMode::Allow, Encryption::Plain) if self.tls.is_some() => {
                Some(Encryption::Tls)
            }
            _ => None,
        }
    }
}

/// Encryption of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encryption {
    Plain,
    Tls,
}

/// Binding of SCRAM to the TLS connection; libpq's `channel_binding`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChannelBinding {
    Disable,
    #[default]
    Prefer,
    Require,
}

/// Allowed authentication methods; libpq's `require_auth`, except that a clear-text password must be allowed by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthMethods {
    /// `trust`, `peer`, `cert`: the server requests nothing.
    pub none: bool,
    pub clear_text: bool,
    pub md5: bool,
    pub scram: bool,
}

impl Default for AuthMethods {
    fn default() -> AuthMethods {
        AuthMethods { none: true, clear_text: false, md5: true, scram: true }
    }
}

/// Secret text, which is never displayed and is overwritten when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// Text of the secret.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        let mut bytes = std::mem::take(&mut self.0).into_bytes();
        bytes.fill(0);
        std::hint::black_box(&bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_is_never_shown() {
        let mut login = Login::new("bench", "");
        login.password = Some(Secret::new("hunter2"));
        assert!(!format!("{login:?}").contains("hunter2"));
    }

    #[test]
    fn ssl_modes_choose_encryption_of_each_attempt() {
        let check = |ssl: SslMode, expected: &str| {
            let mut login = Login::new("bench", "");
            login.ssl = ssl;
            let identity = crate::tls::TlsIdentity::default();
            login.tls = crate::tls::config(SslMode::Require, &identity, Default::default()).ok();
            let shown = [Transport::Tcp, Transport::Unix].map(|transport| {
                let first = login.first_attempt(transport);
                format!("{first:?} then {:?}", login.second_attempt(transport, first))
            });
            assert_eq!(shown.join("; "), expected);
        };
        check(SslMode::Disable, "Plain then None; Plain then None");
        check(SslMode::Allow, "Plain then Some(Tls); Plain then None");
        check(SslMode::Prefer, "Tls then Some(Plain); Plain then None");
        check(SslMode::Require, "Tls then None; Plain then None");
        check(SslMode::VerifyCa, "Tls then None; Plain then None");
        check(SslMode::VerifyFull, "Tls then None; Plain then None");
    }
}
