//! Why did it fail, in one small value?

use std::fmt;

/// Why a request failed: what the server answered, or what the network did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    /// Five ASCII characters of the error response's field `C`, e.g. `40001`; PostgreSQL manual, appendix A.
    SqlState([u8; 5]),
    /// HTTP status, 100..=599.
    Http(u16),
    /// `errno` of the socket, as Yandex.Tank numbers network codes: 104 reset, 110 timeout, 111 refused.
    Net(u16),
    /// The answer does not hold a text that the user's script expects.
    TextNotFound,
    /// The answer does not hold what the user's script captures.
    CaptureNotFound,
}

impl Code {
    /// The peer closed the connection in mid-reply; counted as `ECONNRESET`.
    pub const RESET: Code = Code::Net(104);
    /// A deadline of ours passed; `ETIMEDOUT`.
    pub const TIMED_OUT: Code = Code::Net(110);
    /// Nobody listens at the address; `ECONNREFUSED`.
    pub const REFUSED: Code = Code::Net(111);
    /// Bytes that are not the protocol's; `EPROTO`.
    pub const PROTOCOL: Code = Code::Net(71);
    /// An answer began in time, and did not end in time; `ETIME`.
    pub const BODY_TIMEOUT: Code = Code::Net(62);
    /// An answer is longer than the load takes; `EMSGSIZE`.
    pub const TOO_LONG: Code = Code::Net(90);
    /// What was to be taken from an answer is not there.
    pub const CAPTURE_NOT_FOUND: Code = Code::CaptureNotFound;
    /// An answer does not hold the text that it should.
    pub const TEXT_NOT_FOUND: Code = Code::TextNotFound;
    /// A redirect that leads to somebody else, and was not followed; `EXDEV`.
    pub const CROSS_ORIGIN_REDIRECT: Code = Code::Net(18);
    /// More redirects than were to be followed; `ELOOP`.
    pub const TOO_MANY_REDIRECTS: Code = Code::Net(40);
    /// TLS failed: a certificate, a version, bytes that are none; `EKEYREJECTED`.
    pub const TLS: Code = Code::Net(129);

    /// Whether the other side answered: false where the connection was refused, broke or timed out.
    pub fn is_answer(self) -> bool {
        const CONTENT_CHECKS: [Code; 5] = [
            Code::PROTOCOL,
            Code::CAPTURE_NOT_FOUND,
            Code::TEXT_NOT_FOUND,
            Code::CROSS_ORIGIN_REDIRECT,
            Code::TOO_MANY_REDIRECTS,
        ];
        !matches!(self, Code::Net(_)) || CONTENT_CHECKS.contains(&self)
    }

    /// True for a serialization failure, the first of the two that a retry may cure.
    pub fn is_serialization_failure(self) -> bool {
        self == Code::SqlState(*b"40001")
    }

    /// True for a detected deadlock, the second.
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
            Code::CaptureNotFound => write!(f, "check capture"),
        }
    }
}
