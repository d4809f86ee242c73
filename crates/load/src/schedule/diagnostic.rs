//! Errors in the text of a schedule

use std::fmt;
use std::ops::Range;

/// Error in the schedule's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleDiagnostic {
    /// Range of the erroneous bytes in the text.
    pub span: Range<usize>,
    /// Text at this position.
    pub found: String,
    /// Correction to write instead.
    pub suggestion: String,
}

/// All errors of a schedule; never empty. `Display` prints each below its line, with a caret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleDiagnostics {
    text: String,
    pub items: Vec<ScheduleDiagnostic>,
}

impl ScheduleDiagnostics {
    /// Maximum number of errors; parsing stops after it.
    pub const MAX: usize = 100;

    pub fn new(text: &str, mut list: Vec<ScheduleDiagnostic>) -> ScheduleDiagnostics {
        list.sort_by_key(|it| it.span.start);
        ScheduleDiagnostics { text: text.to_owned(), items: list }
    }

    /// Line and column of a byte of the text, counted from 1. Columns are characters.
    pub fn line_and_column(&self, byte: usize) -> (usize, usize) {
        let before = &self.text[..byte];
        let line = before.rfind('\n').map_or(0, |i| i + 1);
        (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
    }
}

impl std::error::Error for ScheduleDiagnostics {}

impl fmt::Display for ScheduleDiagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for item in &self.items {
            let (line, column) = self.line_and_column(item.span.start);
            let text = self.text.split('\n').nth(line - 1).unwrap_or("");
            let length = self.text[item.span.clone()].split('\n').next().unwrap_or("").chars().count();
            write_excerpt(f, text, column - 1, length)?;
            if self.text.trim_end().contains('\n') {
                write!(f, "line {line}, ")?;
            }
            writeln!(f, "column {column}: {}; write {}", item.found, item.suggestion)?;
        }
        Ok(())
    }
}

/// Writes the line of an error, at most 76 characters, with carets below the error.
fn write_excerpt(f: &mut fmt::Formatter<'_>, line: &str, column: usize, length: usize) -> fmt::Result {
    const WIDTH: usize = 76;
    let from = if column < WIDTH * 3 / 4 { 0 } else { column - WIDTH / 2 };
    let shown = line.chars().skip(from).take(WIDTH).map(|c| if c.is_control() { ' ' } else { c });
    writeln!(f, "  {}", shown.collect::<String>().trim_end())?;
    let column = column - from;
    writeln!(f, "  {:column$}{}", "", "^".repeat(length.clamp(1, WIDTH - column)))
}

/// Text in backquotes, on one line and truncated to 32 characters.
pub(super) fn quote(text: &str) -> String {
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    match text.char_indices().nth(32) {
        None => format!("`{}`", text.chars().map(clean).collect::<String>()),
        Some((end, _)) => format!("`{}…`", text[..end].chars().map(clean).collect::<String>()),
    }
}
