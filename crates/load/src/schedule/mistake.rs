//! What is wrong with a text, and where?

use std::fmt;
use std::ops::Range;

/// One mistake of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Where it stands in the text, in bytes.
    pub at: Range<usize>,
    /// What stands there.
    pub found: String,
    /// What to write instead.
    pub write: String,
}

/// All mistakes in one text, at least one. `Display` shows each under its line, with a caret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes {
    text: String,
    pub list: Vec<Mistake>,
}

impl Mistakes {
    /// Reading stops after so many.
    pub const MAX: usize = 100;

    pub fn new(text: &str, mut list: Vec<Mistake>) -> Mistakes {
        list.sort_by_key(|it| it.at.start);
        Mistakes { text: text.to_owned(), list }
    }

    /// Line and column of a byte of the text, counted from 1; columns are characters.
    pub fn place(&self, byte: usize) -> (usize, usize) {
        let before = &self.text[..byte];
        let line = before.rfind('\n').map_or(0, |i| i + 1);
        (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
    }
}

impl std::error::Error for Mistakes {}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for it in &self.list {
            let (line, column) = self.place(it.at.start);
            let text = self.text.split('\n').nth(line - 1).unwrap_or("");
            let length = self.text[it.at.clone()].split('\n').next().unwrap_or("").chars().count();
            excerpt(f, text, column - 1, length)?;
            if self.text.trim_end().contains('\n') {
                write!(f, "line {line}, ")?;
            }
            writeln!(f, "column {column}: {}; write {}", it.found, it.write)?;
        }
        Ok(())
    }
}

/// The line around a mistake, at most 76 characters of it, and carets below the mistake.
fn excerpt(f: &mut fmt::Formatter<'_>, line: &str, column: usize, length: usize) -> fmt::Result {
    const WIDTH: usize = 76;
    let from = if column < WIDTH * 3 / 4 { 0 } else { column - WIDTH / 2 };
    let shown = line.chars().skip(from).take(WIDTH).map(|c| if c.is_control() { ' ' } else { c });
    writeln!(f, "  {}", shown.collect::<String>().trim_end())?;
    let column = column - from;
    writeln!(f, "  {:column$}{}", "", "^".repeat(length.clamp(1, WIDTH - column)))
}

/// The text between backquotes, on one line and not longer than 32 characters.
pub(super) fn quote(text: &str) -> String {
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    match text.char_indices().nth(32) {
        None => format!("`{}`", text.chars().map(clean).collect::<String>()),
        Some((end, _)) => format!("`{}…`", text[..end].chars().map(clean).collect::<String>()),
    }
}
