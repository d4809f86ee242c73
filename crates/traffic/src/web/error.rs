//! Errors of the readers

use model::message;
use model::message::Message;
use std::error::Error;
use std::fmt;

/// Reason why a file is no HTTP traffic that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebError {
    /// The file is not UTF-8 text; the position is in bytes.
    Encoding { byte: usize },
    /// The text is not valid JSON or YAML. Lines and columns begin at 1.
    Syntax { line: usize, column: usize, reason: String },
    /// A value is missing or has another type, such as `log.entries[3].request.url`.
    Value { place: String, expected: &'static str },
    /// The file is neither a HAR file, nor an OpenAPI description, nor a list of curl commands.
    UnknownFormat,
    /// The description has another version than 3.0 or 3.1.
    OpenApiVersion { version: String },
}

impl WebError {
    pub(super) fn json(error: &serde_json::Error) -> WebError {
        let reason = error.to_string();
        let reason = reason.split(" at line ").next().unwrap_or_default().to_owned();
        WebError::Syntax { line: error.line(), column: error.column(), reason }
    }
}

impl From<&WebError> for Message {
    fn from(error: &WebError) -> Message {
        match error {
            WebError::Encoding { byte } => message!("traffic-web-encoding", byte = *byte),
            WebError::Syntax { line, column, reason } => {
                message!("traffic-web-syntax", line = line.to_string(), column = column.to_string(), reason)
            }
            WebError::Value { place, expected } => {
                message!("traffic-web-value", place, expected = *expected)
            }
            WebError::UnknownFormat => message!("traffic-web-unknown-format"),
            WebError::OpenApiVersion { version } => message!("traffic-web-openapi-version", version),
        }
    }
}

impl fmt::Display for WebError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Message::from(self).describe())
    }
}

impl Error for WebError {}
