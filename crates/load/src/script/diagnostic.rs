//! Errors in a script

use model::message::Message;
use std::borrow::Cow;

/// Error with its location and the line that contains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Name of the script; empty if the error belongs to no single script.
    pub file: String,
    /// Line, counted from 1; 0 if the error belongs to no single line.
    pub line: u32,
    /// Column in characters, counted from 1; 0 without a line.
    pub column: u32,
    /// Text of the whole line, converted by [`readable`].
    pub text: String,
    /// Error message in English, in pgbench's wording. Its help text is the suggested correction.
    pub message: Message,
}

impl Diagnostic {
    /// Diagnostic that refers to the whole file.
    pub(super) fn without_location(file: &str, message: Message) -> Diagnostic {
        Diagnostic { file: file.to_owned(), line: 0, column: 0, text: String::new(), message }
    }
}

/// Converts bytes to text for people. A byte that is not valid UTF-8 becomes an escape such as `\xe9`.
pub fn readable(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(
        |_| {
            let chunks = bytes.utf8_chunks();
            chunks.map(|chunk| format!("{}{}", chunk.valid(), chunk.invalid().escape_ascii())).collect()
        },
        Cow::Borrowed,
    )
}
