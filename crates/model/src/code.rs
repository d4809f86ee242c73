//! Failure codes.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Reason why a request failed: an error of the server or of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Code {
    /// SQLSTATE: the five ASCII characters of the error response's field `C`, such as `40001`; PostgreSQL manual,
    /// appendix A.
    SqlState([u8; 5]),
    /// HTTP status of the response, 100..=599.
    Http(u16),
    /// `errno` of the socket, as in Yandex.Tank's network codes: 104 reset, 110 timeout, 111 refused.
    Net(u16),
    /// Response without the text that the user's script expects.
    TextNotFound,
    /// Response with a text that the user's script excludes.
    TextFound,
    /// Response without the value that the user's script captures.
    CaptureNotFound,
}

impl Code {
    /// Connection closed by the peer before a response was complete; counted as `ECONNRESET`.
    pub const RESET: Code = Code::Net(104);
    /// Timeout that the generator enforced; `ETIMEDOUT`.
    pub const TIMED_OUT: Code = Code::Net(110);
    /// No listener at the address; `ECONNREFUSED`.
    pub const REFUSED: Code = Code::Net(111);
    /// Bytes that violate the protocol; `EPROTO`.
    pub const PROTOCOL: Code = Code::Net(71);
    /// Response that began in time, but did not end in time; `ETIME`.
    pub const BODY_TIMEOUT: Code = Code::Net(62);
    /// Response longer than the load accepts; `EMSGSIZE`.
    pub const TOO_LONG: Code = Code::Net(90);
    /// Response without the value to capture.
    pub const CAPTURE_NOT_FOUND: Code = Code::CaptureNotFound;
    /// Response without the expected text.
    pub const TEXT_NOT_FOUND: Code = Code::TextNotFound;
    /// Redirect to another origin, which was not followed; `EXDEV`.
    pub const CROSS_ORIGIN_REDIRECT: Code = Code::Net(18);
    /// Too many redirects; `ELOOP`.
    pub const TOO_MANY_REDIRECTS: Code = Code::Net(40);
    /// TLS failure: certificate, version or invalid bytes; `EKEYREJECTED`.
    pub const TLS: Code = Code::Net(129);

    /// True if the server responded; false if the connection was refused, broke or timed out.
    pub fn is_answer(self) -> bool {
        const CONTENT_CHECKS: [Code; 6] = [
            Code::PROTOCOL,
            Code::CAPTURE_NOT_FOUND,
            Code::TEXT_NOT_FOUND,
            Code::TextFound,
            Code::CROSS_ORIGIN_REDIRECT,
            Code::TOO_MANY_REDIRECTS,
        ];
        !matches!(self, Code::Net(_)) || CONTENT_CHECKS.contains(&self)
    }

    /// True for a serialization failure, which a retry may resolve.
    pub fn is_serialization_failure(self) -> bool {
        self == Code::SqlState(*b"40001")
    }

    /// True for a detected deadlock, which a retry may resolve.
    pub fn is_deadlock(self) -> bool {
        self == Code::SqlState(*b"40P01")
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Code::SqlState(state) => state.iter().try_for_each(|&byte| {
                let shown = if byte.is_ascii_graphic() { char::from(byte) } else { '?' };
                write!(f, "{shown}")
            }),
            Code::Http(status) => write!(f, "HTTP {status}"),
            Code::Net(errno) => write!(f, "net {errno}"),
            Code::TextNotFound => write!(f, "check text"),
            Code::TextFound => write!(f, "check not_contains"),
            Code::CaptureNotFound => write!(f, "check capture"),
        }
    }
}
