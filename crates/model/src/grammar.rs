//! Errors in texts that have a grammar of their own: schedules, stop rules, objectives, conditions.

use crate::message::Message;
use std::ops::Range;

/// Error in a text with a grammar of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrammarDiagnostic {
    /// Byte range of the error in the text. The range is empty where something is missing, and 0..0 if the error
    /// concerns the whole text.
    pub span: Range<usize>,
    /// Message for the user. Its help text is the correction.
    pub message: Message,
}

impl GrammarDiagnostic {
    /// Error in `part`, which is a slice of `text`.
    pub fn in_part(text: &str, part: &str, message: Message) -> GrammarDiagnostic {
        let start = part.as_ptr() as usize - text.as_ptr() as usize;
        GrammarDiagnostic { span: start..start + part.len(), message }
    }
}

/// Text in backquotes, on one line and at most 40 characters long.
pub fn quote(text: &str) -> String {
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    match text.char_indices().nth(40) {
        None => format!("`{}`", text.chars().map(clean).collect::<String>()),
        Some((end, _)) => format!("`{}…`", text[..end].chars().map(clean).collect::<String>()),
    }
}
