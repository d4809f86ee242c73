//! Capabilities of a terminal

/// Characters that the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CharacterSet {
    /// Block elements: eight heights per row.
    Utf8,
    /// `.`, `:` and `#`: three heights per row.
    Ascii,
}

/// Capabilities of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalStyle {
    /// Width in columns. A table exceeds it only if the columns that are never dropped do not fit.
    pub width: usize,
    pub characters: CharacterSet,
    /// True if ECMA-48 colour sequences are allowed.
    pub colour: bool,
}

impl Default for TerminalStyle {
    fn default() -> TerminalStyle {
        TerminalStyle { width: 100, characters: CharacterSet::Utf8, colour: false }
    }
}
