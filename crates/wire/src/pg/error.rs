//! Protocol errors of a PostgreSQL connection.

use std::fmt;

/// Protocol error: bytes that no PostgreSQL server sends, or a server that cannot be trusted. The connection is
/// unusable afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolError {
    /// Message whose length is below 4, or above the maximum of its kind.
    BadLength { tag: u8, length: u32 },
    /// Message that is not allowed at this point.
    Unexpected { tag: u8 },
    /// ReadyForQuery that arrives before the responses to all earlier statements.
    MissingResponse,
    /// Message whose content contradicts its length.
    Malformed { tag: u8 },
    /// Error message in protocol 2, which a postmaster still sends if it cannot fork.
    OldProtocol,
    /// Authentication method that is unknown or not allowed.
    Authentication { method: u32 },
    /// Password request, although the login has no password.
    NoPassword,
    /// SCRAM failure: the server does not know the password, or its messages were changed in transit.
    Scram(&'static str),
    /// Refusal of TLS by the server, although the settings require TLS.
    NoTls,
    /// TLS alert or certificate error, with rustls's text.
    Tls(&'static str),
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tag = |tag: u8| char::from(tag).escape_default();
        match *self {
            ProtocolError::BadLength { tag: byte, length } => {
                write!(f, "message '{}' has an invalid length of {length} bytes", tag(byte))
            }
            ProtocolError::Unexpected { tag: it } => write!(f, "unexpected message '{}'", tag(it)),
            ProtocolError::MissingResponse => {
                write!(f, "the server sent ReadyForQuery without a response to the request")
            }
            ProtocolError::Malformed { tag: it } => write!(f, "malformed message '{}'", tag(it)),
            ProtocolError::Authentication { method } => {
                if method == 3 {
                    return write!(
                        f,
                        "the server requests a clear-text password; to allow it, set require_auth=password"
                    );
                }
                let kind = match method {
                    0 => "no authentication",
                    2 => "Kerberos V5",
                    5 => "an MD5 password",
                    7..=8 => "GSSAPI",
                    9 => "SSPI",
                    10 => "SASL",
                    _ => "an unknown authentication method",
                };
                write!(f, "the server requests {kind} (code {method}), which is not allowed")
            }
            ProtocolError::OldProtocol => {
                write!(
                    f,
                    "the server sent a message of protocol version 2, which means that it cannot start a process"
                )
            }
            ProtocolError::NoPassword => write!(f, "the server requests a password, but none was given"),
            ProtocolError::Scram(reason) => write!(f, "SCRAM: {reason}"),
            ProtocolError::NoTls => write!(f, "TLS is required, but the server does not offer it"),
            ProtocolError::Tls(reason) => write!(f, "TLS: {reason}"),
        }
    }
}

impl std::error::Error for ProtocolError {}
