//! Names that the user gives: operations, steps, feeds and variants

use crate::diagnostic::quote;
use model::message;
use model::message::Message;

/// Maximum length of a name, in bytes.
const BYTES_MAX: usize = 64;

/// Error in a name that the user gives.
pub(crate) fn name_error(name: &str) -> Option<Message> {
    if plain(name).is_empty() || name.contains(char::is_control) || name.len() > BYTES_MAX {
        return Some(message!("experiment-invalid-name", name = quote(name), max = BYTES_MAX.to_string()));
    }
    appearance_error(name)
}

/// Error in a name that could be mistaken for another name: a name with blanks at its ends, two blanks in a row, blanks
/// other than U+0020, or invisible characters.
pub(crate) fn appearance_error(name: &str) -> Option<Message> {
    let plain = plain(name);
    let message = || {
        message!("experiment-name-lookalike", name = format!("`{}`", spelled(name)), plain = quote(&plain))
    };
    (plain != name).then(message)
}

/// Name without invisible characters and with single blanks between words, as it appears on a screen.
pub(crate) fn plain(name: &str) -> String {
    let shown: String = name.chars().filter(|it| !is_invisible(*it)).collect();
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Name with escapes in place of invisible characters. Blanks at its ends are visible between the backquotes.
fn spelled(name: &str) -> String {
    let mut out = String::new();
    for character in name.chars().take(BYTES_MAX) {
        match character {
            ' ' => out.push(character),
            character if character.is_whitespace() || character.is_control() || is_invisible(character) => {
                out.extend(character.escape_unicode());
            }
            character => out.push(character),
        }
    }
    out
}

/// Characters without a glyph. Source: Unicode 15, `Default_Ignorable_Code_Point`, and the blank Braille pattern.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_are_rejected() {
        let lookalike = |name: &str, plain: &str| {
            let (name, plain) = (format!("`{name}`"), format!("`{plain}`"));
            Some(message!("experiment-name-lookalike", name, plain))
        };
        let invalid =
            |name: &str| Some(message!("experiment-invalid-name", name = format!("`{name}`"), max = "64"));
        for (name, expected) in [
            ("read", None),
            ("read write", None),
            ("Чтение 2", None),
            ("read ", lookalike("read ", "read")),
            (" read", lookalike(" read", "read")),
            ("read  write", lookalike("read  write", "read write")),
            ("read\u{a0}", lookalike("read\\u{a0}", "read")),
            ("re\u{200b}ad", lookalike("re\\u{200b}ad", "read")),
            ("\u{202e}read", lookalike("\\u{202e}read", "read")),
            ("re\u{ad}ad", lookalike("re\\u{ad}ad", "read")),
            ("", invalid("")),
            (" ", invalid(" ")),
            ("\u{3164}", invalid("\u{3164}")),
            ("a\tb", invalid("a b")),
        ] {
            assert_eq!(name_error(name), expected, "{name:?}");
        }
    }
}
