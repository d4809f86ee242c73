//! Names that the user gives: operations, steps, feeds and variants

use crate::diagnostic::quote;

/// Longest name, in bytes.
const BYTES_MAX: usize = 64;

/// Error in a name, and what to write instead. `what` is the named thing, such as `operation`.
pub(crate) fn name_error(name: &str, what: &str) -> Option<(String, String)> {
    if plain(name).is_empty() || name.contains(char::is_control) || name.len() > BYTES_MAX {
        return Some((
            format!("{} is no name", quote(name)),
            format!("name the {what} in 1 to {BYTES_MAX} letters"),
        ));
    }
    appearance_error(name)
}

/// Error in a name that looks like another one: with blanks at its ends, two blanks in a row, blanks other than U+0020, or
/// invisible characters.
pub(crate) fn appearance_error(name: &str) -> Option<(String, String)> {
    let plain = plain(name);
    let found = || format!("`{}` looks like {}", spelled(name), quote(&plain));
    (plain != name).then(|| (found(), format!("write {}", quote(&plain))))
}

/// The name as a reader sees it: without invisible characters, and with single blanks between words.
pub(crate) fn plain(name: &str) -> String {
    let shown: String = name.chars().filter(|it| !is_invisible(*it)).collect();
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The name with escapes in place of what a reader does not see; blanks at its ends are between the backquotes.
fn spelled(name: &str) -> String {
    let mut out = String::new();
    for it in name.chars().take(BYTES_MAX) {
        match it {
            ' ' => out.push(it),
            it if it.is_whitespace() || it.is_control() || is_invisible(it) => {
                out.extend(it.escape_unicode());
            }
            it => out.push(it),
        }
    }
    out
}

/// Characters without a glyph. Source: Unicode 15, `Default_Ignorable_Code_Point`, and the blank Braille pattern.
fn is_invisible(it: char) -> bool {
    matches!(it, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_are_rejected() {
        for (name, expected) in [
            ("read", None),
            ("read write", None),
            ("Чтение 2", None),
            ("read ", Some("`read ` looks like `read`; write `read`")),
            (" read", Some("` read` looks like `read`; write `read`")),
            ("read  write", Some("`read  write` looks like `read write`; write `read write`")),
            ("read\u{a0}", Some("`read\\u{a0}` looks like `read`; write `read`")),
            ("re\u{200b}ad", Some("`re\\u{200b}ad` looks like `read`; write `read`")),
            ("\u{202e}read", Some("`\\u{202e}read` looks like `read`; write `read`")),
            ("re\u{ad}ad", Some("`re\\u{ad}ad` looks like `read`; write `read`")),
            ("", Some("`` is no name; name the operation in 1 to 64 letters")),
            (" ", Some("` ` is no name; name the operation in 1 to 64 letters")),
            ("\u{3164}", Some("`\u{3164}` is no name; name the operation in 1 to 64 letters")),
            ("a\tb", Some("`a b` is no name; name the operation in 1 to 64 letters")),
        ] {
            let error = name_error(name, "operation").map(|(found, instead)| format!("{found}; {instead}"));
            assert_eq!(error.as_deref(), expected, "{name:?}");
        }
    }
}
