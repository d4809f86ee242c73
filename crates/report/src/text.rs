//! Sanitiser for text from other sources

use crate::style::CharacterSet;

/// Replaces terminal controls and direction marks with visible escapes, and line breaks and tabs with blanks.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => out.push(' '),
            '\r' => {}
            character if is_unsafe(character) => out.extend(character.escape_unicode()),
            character => out.push(character),
        }
    }
    out
}

/// Replaces characters like [`visible`], but keeps line breaks and tabs.
pub(crate) fn visible_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\r' => {}
            '\n' | '\t' => out.push(character),
            character if is_unsafe(character) => out.extend(character.escape_unicode()),
            character => out.push(character),
        }
    }
    out
}

/// True if a terminal would interpret the character as a control, or if the character could mislead a reader.
pub(crate) fn is_unsafe(character: char) -> bool {
    character.is_control() || is_invisible(character)
}

/// True for direction marks, invisible characters, Unicode's line separators, and characters that XML forbids.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Converts the text to characters that the terminal can show.
pub(crate) fn to_characters(text: &str, characters: CharacterSet) -> String {
    let text = visible(text);
    if characters == CharacterSet::Utf8 {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '→' => out.push_str("->"),
            '±' => out.push_str("+-"),
            '×' => out.push('x'),
            'µ' => out.push('u'),
            '…' => out.push_str("..."),
            '–' | '—' => out.push('-'),
            '\u{a0}' | '\u{202f}' | '\u{2009}' => out.push(' '),
            character => out.push(character),
        }
    }
    out
}

/// Truncates the text to the given number of characters, in one line.
pub(crate) fn truncate(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_control_characters() {
        for (text, expected) in [
            ("SELECT 1", "SELECT 1"),
            ("a\nb\tc\r", "a b c"),
            ("\x1b[31mred", "\\u{1b}[31mred"),
            ("user\u{202e}nimda", "user\\u{202e}nimda"),
            ("\u{2066}x\u{2069}\u{feff}", "\\u{2066}x\\u{2069}\\u{feff}"),
            ("21\u{202f}570 ±1,0\u{a0}%", "21\u{202f}570 ±1,0\u{a0}%"),
            ("\u{9b}31m", "\\u{9b}31m"),
        ] {
            assert_eq!(visible(text), expected, "{text:?}");
        }
        assert_eq!(visible_lines("a\n\tb\u{7}\r\n"), "a\n\tb\\u{7}\n");
        assert_eq!(to_characters("a → b ±1 µs\u{202f}…", CharacterSet::Ascii), "a -> b +-1 us ...");
    }

    #[test]
    fn truncates_long_text() {
        for (text, expected) in
            [("a  b\n c", "a b c"), ("абвгдеж", "абвгде…"), ("абвгде", "абвгде"), ("", "")]
        {
            assert_eq!(truncate(text, 6), expected);
        }
    }
}
