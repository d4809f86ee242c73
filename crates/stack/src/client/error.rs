//! Errors of a session

use super::stream::Address;
use crate::interrupt;
use std::fmt;
use std::io;
use wire::Code;
use wire::pg::{Notice, ProtocolError};

/// Maximum size of the rows of one answer, bytes. The longest expected answers have a few MiB: the tables of a
/// catalogue, or the statements of a minute.
pub const ANSWER_MAX: usize = 256 << 20;

/// Failure of a query.
#[derive(Debug)]
pub enum Error {
    /// The connection failed or broke.
    Net {
        address: Address,
        error: io::Error,
    },
    /// The server returned an error.
    Server(ServerError),
    Protocol(ProtocolError),
    /// The answer exceeds `ANSWER_MAX`.
    TooLong {
        address: Address,
    },
    /// A signal ended the wait, see [`with_interrupt`](crate::interrupt::with_interrupt).
    Stopped,
}

/// An ErrorResponse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerError {
    pub code: Code,
    pub severity: String,
    pub message: String,
    pub detail: Option<String>,
    pub hint: Option<String>,
    /// Position in the statement, in characters from 1.
    pub position: Option<u32>,
}

impl Error {
    /// Error of a socket; [`Error::Stopped`] after a signal, which ends all waits.
    pub(super) fn net(address: &Address, error: io::Error) -> Error {
        match interrupt::is_interrupted() {
            true => Error::Stopped,
            false => Error::Net { address: address.clone(), error },
        }
    }

    /// SQLSTATE, or a code for the network error.
    pub fn code(&self) -> Code {
        match self {
            Error::Server(it) => it.code,
            Error::Protocol(_) => Code::PROTOCOL,
            Error::TooLong { .. } => Code::TOO_LONG,
            Error::Stopped => Code::SqlState(*b"57014"),
            Error::Net { error, .. } => match (error.kind(), error.raw_os_error()) {
                (io::ErrorKind::UnexpectedEof, _) => Code::RESET,
                // The kernel's error for a read that timed out.
                (io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut, _) => Code::TIMED_OUT,
                (_, Some(errno)) => u16::try_from(errno).map_or(Code::PROTOCOL, Code::Net),
                (_, None) => Code::PROTOCOL,
            },
        }
    }
}

impl ServerError {
    pub(super) fn from_notice(notice: &Notice<'_>) -> ServerError {
        ServerError {
            code: notice.code(),
            severity: notice.severity().into_owned(),
            message: notice.message().into_owned(),
            detail: notice.detail().map(Into::into),
            hint: notice.hint().map(Into::into),
            position: notice.position(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Net { address, error } if error.kind() == io::ErrorKind::WouldBlock => {
                write!(f, "{address}: no answer in time")
            }
            Error::Net { address, error } if error.kind() == io::ErrorKind::UnexpectedEof => {
                write!(f, "{address}: the server closed the connection")
            }
            Error::Net { address, error } => write!(f, "{address}: {error}"),
            Error::Protocol(it) => it.fmt(f),
            Error::TooLong { address } => {
                write!(f, "{address}: the answer is longer than {} MiB", ANSWER_MAX >> 20)
            }
            Error::Stopped => f.write_str("stopped by a signal"),
            Error::Server(error) => {
                write!(f, "{}: {} (SQLSTATE {})", error.severity, error.message, error.code)?;
                error.detail.iter().try_for_each(|it| write!(f, "\nDETAIL: {it}"))?;
                error.hint.iter().try_for_each(|it| write!(f, "\nHINT: {it}"))
            }
        }
    }
}

impl std::error::Error for Error {}
