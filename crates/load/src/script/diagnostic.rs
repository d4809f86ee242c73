//! Errors in a script

use std::borrow::Cow;
use std::fmt;

/// Error with its location, the text there, and a correction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Name of the script; empty if the error belongs to no single script.
    pub file: String,
    /// Line, counted from 1; 0 if the error belongs to no single line.
    pub line: u32,
    /// Column in characters, counted from 1; 0 without a line.
    pub column: u32,
    /// Text of the whole line, [`readable`].
    pub text: String,
    /// Message, in pgbench's wording.
    pub message: String,
    /// Correction to write instead.
    pub hint: String,
}

impl Diagnostic {
    /// Error that belongs to no single line.
    pub(super) fn without_location(file: &str, message: String, hint: &str) -> Diagnostic {
        Diagnostic {
            file: file.to_owned(),
            line: 0,
            column: 0,
            text: String::new(),
            message,
            hint: hint.to_owned(),
        }
    }
}

/// Text for people: every byte that is not UTF-8 is written as `\xe9`.
pub fn readable(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(
        |_| {
            let chunks = bytes.utf8_chunks();
            chunks.map(|chunk| format!("{}{}", chunk.valid(), chunk.invalid().escape_ascii())).collect()
        },
        Cow::Borrowed,
    )
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            let before = self.text.chars().take(self.column.saturating_sub(1) as usize);
            // Tabs are kept, so that the caret is below its character.
            let indent: String = before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
            writeln!(f, "{}:{}: {}", self.file, self.line, self.message)?;
            writeln!(f, "{}\n{indent}^ error found here", self.text)?;
        } else {
            writeln!(f, "{}", self.message)?;
        }
        write!(f, "hint: {}", self.hint)
    }
}
