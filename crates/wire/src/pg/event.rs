//! What did the server say?

use super::{Columns, Notice, Row};
use crate::Code;
use std::fmt;

/// What a prefix of the server's bytes meant.
#[derive(Debug)]
pub enum Event<'a> {
    /// All that was fed is consumed; feed more.
    More,
    /// Log-in is complete and the session is idle.
    Opened,
    /// The columns of the rows that follow. Only while watched, see `Channel::watch`.
    Columns(Columns<'a>),
    /// One row. Only while watched.
    Row(Row<'a>),
    /// One statement ended, with its command tag such as `SELECT 1`. Only while watched.
    CommandComplete(&'a [u8]),
    /// The server awaits COPY data.
    CopyIn,
    /// A piece of the data that COPY sends; PostgreSQL sends each row by itself. Only while watched.
    CopyData(&'a [u8]),
    /// An ErrorResponse. During log-in or with severity FATAL or PANIC the session is over; else `Ready` follows.
    Error(Notice<'a>),
    /// A NoticeResponse.
    Notice(Notice<'a>),
    /// ReadyForQuery: the acknowledgement of everything up to one Sync (or of one simple query).
    Ready(Reply),
}

/// What one ReadyForQuery acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The SQLSTATE of the first ErrorResponse before it, if any.
    pub error: Option<Code>,
    /// Number of DataRow messages.
    pub rows: u32,
    /// Number of ParseComplete messages: how many statements of this batch are now prepared.
    pub parsed: u16,
    /// Number of statements completed (CommandComplete, EmptyQueryResponse, PortalSuspended).
    pub statements: u16,
    /// A statement was answered with the tag `ROLLBACK`. For a COMMIT this is a failure without an error.
    pub rolled_back: bool,
    /// A warning from `SyncRepWaitForLSN` came: what is committed is committed on this server only.
    pub local_only: bool,
    pub status: TransactionStatus,
}

impl Reply {
    /// Nothing said yet.
    pub(super) const EMPTY: Reply = Reply {
        error: None,
        rows: 0,
        parsed: 0,
        statements: 0,
        rolled_back: false,
        local_only: false,
        status: TransactionStatus::Idle,
    };
}

/// Transaction status of ReadyForQuery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionStatus {
    Idle,
    InTransaction,
    Failed,
}

/// Bytes that no PostgreSQL server sends, or a server that is not to be trusted. The connection is of no more use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolError {
    /// A length below 4, or above what the message may have.
    BadLength { tag: u8, length: u32 },
    /// A message that may not come now.
    Unexpected { tag: u8 },
    /// ReadyForQuery before every statement that it acknowledges was answered.
    MissingResponse,
    /// A message whose inside contradicts its length.
    Malformed { tag: u8 },
    /// An error of protocol 2: a postmaster that cannot start a process still speaks it.
    OldProtocol,
    /// The server asks for a kind of log-in that is not allowed by name, or not known.
    Authentication { asked: u32 },
    /// The server asks for a password and there is none.
    NoPassword,
    /// SCRAM: the server does not know the password, or the exchange was tampered with.
    Scram(&'static str),
    /// TLS was required and the server has none.
    NoTls,
    /// TLS alert or certificate; the text is rustls's.
    Tls(&'static str),
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tag = |tag: u8| char::from(tag).escape_default();
        match *self {
            ProtocolError::BadLength { tag: it, length } => {
                write!(f, "message '{}' claims a length of {length} bytes", tag(it))
            }
            ProtocolError::Unexpected { tag: it } => write!(f, "message '{}' may not come now", tag(it)),
            ProtocolError::MissingResponse => {
                write!(f, "the server is ready for more without an answer to what was asked")
            }
            ProtocolError::Malformed { tag: it } => write!(f, "message '{}' contradicts itself", tag(it)),
            ProtocolError::Authentication { asked } => {
                if asked == 3 {
                    return write!(
                        f,
                        "the server asks for a clear-text password, which must be allowed by name: require_auth=password"
                    );
                }
                let kind = match asked {
                    0 => "no authentication at all",
                    2 => "Kerberos V5",
                    5 => "an MD5 password",
                    7..=8 => "GSSAPI",
                    9 => "SSPI",
                    10 => "SASL",
                    _ => "an unknown authentication",
                };
                write!(f, "the server asks for {kind} (code {asked}), which is not allowed here")
            }
            ProtocolError::OldProtocol => {
                write!(f, "the server answers in protocol 2, as it does when it cannot start a process")
            }
            ProtocolError::NoPassword => write!(f, "the server asks for a password, and none is given"),
            ProtocolError::Scram(why) => write!(f, "SCRAM: {why}"),
            ProtocolError::NoTls => write!(f, "TLS is required and the server offers none"),
            ProtocolError::Tls(why) => write!(f, "TLS: {why}"),
        }
    }
}

impl std::error::Error for ProtocolError {}
