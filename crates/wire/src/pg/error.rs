//! Protocol errors of a PostgreSQL connection.

use std::fmt;

/// Error of the protocol: bytes that no PostgreSQL server sends, or an untrusted server. The connection is then
/// unusable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolError {
    /// Message whose length is below 4, or above the maximum of its kind.
    BadLength { tag: u8, length: u32 },
    /// Message that is not allowed at this point.
    Unexpected { tag: u8 },
    /// ReadyForQuery that arrives before all statements before it were answered.
    MissingResponse,
    /// Message whose content contradicts its length.
    Malformed { tag: u8 },
    /// Error of protocol 2, which a postmaster that cannot fork still sends.
    OldProtocol,
    /// Authentication method that is unknown or not allowed.
    Authentication { method: u32 },
    /// Password request, although the login has no password.
    NoPassword,
    /// Failure of SCRAM: the server does not know the password, or somebody changed the exchange.
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
                write!(f, "message '{}' claims a length of {length} bytes", tag(byte))
            }
            ProtocolError::Unexpected { tag: it } => write!(f, "message '{}' may not come now", tag(it)),
            ProtocolError::MissingResponse => {
                write!(f, "the server is ready for more without an answer to what was asked")
            }
            ProtocolError::Malformed { tag: it } => write!(f, "message '{}' contradicts itself", tag(it)),
            ProtocolError::Authentication { method } => {
                if method == 3 {
                    return write!(
                        f,
                        "the server asks for a clear-text password, which must be allowed by name: require_auth=password"
                    );
                }
                let kind = match method {
                    0 => "no authentication at all",
                    2 => "Kerberos V5",
                    5 => "an MD5 password",
                    7..=8 => "GSSAPI",
                    9 => "SSPI",
                    10 => "SASL",
                    _ => "an unknown authentication",
                };
                write!(f, "the server asks for {kind} (code {method}), which is not allowed here")
            }
            ProtocolError::OldProtocol => {
                write!(f, "the server answers in protocol 2, as it does when it cannot start a process")
            }
            ProtocolError::NoPassword => write!(f, "the server asks for a password, and none is given"),
            ProtocolError::Scram(reason) => write!(f, "SCRAM: {reason}"),
            ProtocolError::NoTls => write!(f, "TLS is required and the server offers none"),
            ProtocolError::Tls(reason) => write!(f, "TLS: {reason}"),
        }
    }
}

impl std::error::Error for ProtocolError {}
