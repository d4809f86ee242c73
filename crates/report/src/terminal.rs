//! Sanitiser for text on standard output and standard error
//!
//! Server messages, names in run files and log lines may contain escape sequences and characters that reorder or hide
//! text. They become visible escapes.

use crate::text::{is_unsafe, visible};

/// SGR codes in pgdyno's own output: reset, bold, faint, underlined, and colours 1 to 6, normal or bright.
const STYLES: [u8; 16] = [0, 1, 2, 4, 31, 32, 33, 34, 35, 36, 91, 92, 93, 94, 95, 96];

/// Replaces control characters, except line breaks and tabs, with visible escapes. If `styled` is true, pgdyno's own
/// styles remain.
pub fn sanitise(text: &str, styled: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let style = if styled && character == '\u{1b}' { style_length(rest) } else { None };
        let length = style.unwrap_or(character.len_utf8());
        match character {
            _ if style.is_some() => out.push_str(&rest[..length]),
            '\r' => {}
            '\n' | '\t' => out.push(character),
            character if is_unsafe(character) => out.extend(character.escape_unicode()),
            character => out.push(character),
        }
        rest = &rest[length..];
    }
    out
}

/// Returns the sanitised text in one line, for a table cell.
pub fn sanitise_line(text: &str) -> String {
    visible(text)
}

/// Length of the sequence of [`STYLES`] with which `text` begins.
fn style_length(text: &str) -> Option<usize> {
    let behind = text.strip_prefix("\u{1b}[")?;
    // Parse only the codes. A search for the end of the sequence would take quadratic time if sequences are
    // unterminated.
    let (codes, rest) =
        behind.split_at(behind.bytes().take_while(|it| matches!(it, b'0'..=b'9' | b';')).count());
    let known = |code: &str| code.parse().is_ok_and(|it: u8| STYLES.contains(&it));
    (rest.starts_with('m') && codes.split(';').all(known)).then(|| codes.len() + "\u{1b}[m".len())
}

/// Escapes control characters in strings of a JSON text.
pub fn sanitise_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '\n' => out.push(character),
            // All of these characters are below U+10000, so one escape suffices.
            character if is_unsafe(character) => out += &format!("\\u{:04x}", u32::from(character)),
            character => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_control_sequences() {
        for (text, styled, plain) in [
            ("a\n\tb", "a\n\tb", "a\n\tb"),
            ("a\r\nb\rc", "a\nbc", "a\nbc"),
            ("\u{1b}[31mred\u{1b}[0m", "\u{1b}[31mred\u{1b}[0m", "\\u{1b}[31mred\\u{1b}[0m"),
            ("\u{1b}[1;91mx", "\u{1b}[1;91mx", "\\u{1b}[1;91mx"),
            ("\u{1b}[+31mx", "\\u{1b}[+31mx", "\\u{1b}[+31mx"),
            ("\u{1b}[31", "\\u{1b}[31", "\\u{1b}[31"),
            ("\u{1b}[8mhidden", "\\u{1b}[8mhidden", "\\u{1b}[8mhidden"),
            ("\u{1b}[2J\u{1b}[1;1H", "\\u{1b}[2J\\u{1b}[1;1H", "\\u{1b}[2J\\u{1b}[1;1H"),
            ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("\u{1b}", "\\u{1b}", "\\u{1b}"),
            ("\u{9b}31m", "\\u{9b}31m", "\\u{9b}31m"),
            (
                "\u{202e}x\u{2066}\u{200f}\u{2028}",
                "\\u{202e}x\\u{2066}\\u{200f}\\u{2028}",
                "\\u{202e}x\\u{2066}\\u{200f}\\u{2028}",
            ),
            ("±1 µs → Жук", "±1 µs → Жук", "±1 µs → Жук"),
        ] {
            assert_eq!(sanitise(text, true), styled, "{text:?}");
            assert_eq!(sanitise(text, false), plain, "{text:?}");
        }
    }

    /// Ten megabytes of unterminated sequences take no longer than other text.
    #[test]
    fn unterminated_sequences_take_linear_time() {
        for part in ["\u{1b}[", "\u{1b}[31", "\u{1b}[1;1;1;1;1;"] {
            let count = (10 << 20) / part.len();
            let safe = sanitise(&part.repeat(count), true);
            assert_eq!(safe.len(), count * (part.len() + "\\u{1b}".len() - 1), "{part:?}");
        }
    }

    #[test]
    fn json_keeps_its_meaning() {
        let value = serde_json::json!({ "a\u{9b}": "\u{1b}[31m\u{202e}\u{7f}\u{2028}\n\t\"Ж" });
        let safe = sanitise_json(&serde_json::to_string_pretty(&value).expect("all keys are strings"));
        assert!(!safe.contains(|it| is_unsafe(it) && it != '\n'), "{safe}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).expect("the text is JSON"), value);
    }
}
