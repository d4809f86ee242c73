//! Errors in a PostgreSQL session

use super::stream::Address;
use crate::interrupt;
use model::message;
use model::message::Message;
use std::io;
use wire::Code;
use wire::pg::{Notice, ProtocolError};

/// Maximum size of the rows of one response, in bytes. The largest expected responses, such as the list of all tables,
/// take a few MiB.
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
    /// The response exceeds `ANSWER_MAX`.
    TooLong {
        address: Address,
    },
    /// A signal interrupted the wait, see [`with_interrupt`](crate::interrupt::with_interrupt).
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
    /// Converts the error of a socket. Returns [`Error::Stopped`] after a signal, because the signal interrupts all
    /// waits.
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
                // The kernel returns these errors for a read that timed out.
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

impl From<&Error> for Message {
    fn from(error: &Error) -> Message {
        match error {
            Error::Net { address, error } => {
                let error = match error.kind() {
                    io::ErrorKind::WouldBlock => message!("client-no-answer"),
                    io::ErrorKind::UnexpectedEof => message!("client-closed"),
                    _ => Message::from(error),
                };
                message!("error-of", subject = address.to_string(), error)
            }
            Error::Protocol(error) => message!("client-protocol", error = error.to_string()),
            Error::TooLong { address } => {
                message!(
                    "client-answer-too-long",
                    address = address.to_string(),
                    mebibytes = ANSWER_MAX >> 20
                )
            }
            Error::Stopped => message!("client-stopped"),
            Error::Server(error) => error.into(),
        }
    }
}

impl From<&ServerError> for Message {
    fn from(error: &ServerError) -> Message {
        let ServerError { code, severity, message, detail, hint, .. } = error;
        let mut text = format!("{severity}: {message} (SQLSTATE {code})");
        for (label, part) in [("DETAIL", detail), ("HINT", hint)] {
            text.extend(part.iter().map(|part| format!("\n{label}: {part}")));
        }
        message!("error-quoted", text)
    }
}
