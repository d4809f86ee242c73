//! How is a mistake in a script told?

use std::fmt;

/// A mistake: where it is, what stands there, what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The script's name; empty when the mistake is in no single script.
    pub file: String,
    /// Counted from 1; 0 when the mistake is in no single line.
    pub line: u32,
    /// Characters, counted from 1; 0 when there is no line.
    pub column: u32,
    /// The whole line.
    pub text: String,
    /// In pgbench's words.
    pub message: String,
    /// What to write instead.
    pub hint: String,
}

impl Diagnostic {
    /// A mistake that is in no single line.
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

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            let before = self.text.chars().take(self.column.saturating_sub(1) as usize);
            // Tabs stay tabs, so that the caret stands below its character.
            let indent: String = before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
            writeln!(f, "{}:{}: {}", self.file, self.line, self.message)?;
            writeln!(f, "{}\n{indent}^ error found here", self.text)?;
        } else {
            writeln!(f, "{}", self.message)?;
        }
        write!(f, "hint: {}", self.hint)
    }
}
