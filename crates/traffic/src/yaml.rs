//! Scalars of YAML

use std::fmt::Write;

/// Appends a text as a block scalar that is indented by `indent` blanks, or as a quoted scalar if a block cannot contain
/// it. The text follows a key and a colon.
pub(crate) fn push_text(out: &mut String, text: &str, indent: usize) {
    let is_plain = |character: char| {
        !character.is_control() && !matches!(character, '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{85}')
    };
    let fits = text.chars().all(|character| character == '\n' || is_plain(character))
        && !text.starts_with([' ', '\n'])
        && text.ends_with('\n')
        && !text.ends_with("\n\n");
    if !fits {
        out.push(' ');
        out.push_str(&quoted(text));
        out.push('\n');
        return;
    }
    out.push_str(" |\n");
    for line in text.lines() {
        if !line.is_empty() {
            out.extend(std::iter::repeat_n(' ', indent));
            out.push_str(line);
        }
        out.push('\n');
    }
}

/// A name as a scalar, with quotes unless it consists of `a-z`, `0-9` and `_-.` and has no other meaning.
pub(crate) fn name(text: &str) -> String {
    const MEANINGS: [&str; 9] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    let is_plain = text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(letter))
        && !MEANINGS.iter().any(|meaning| meaning.eq_ignore_ascii_case(text));
    if is_plain { text.to_owned() } else { quoted(text) }
}

/// The text as a double-quoted scalar on one line.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            character
                if character.is_control() || matches!(character, '\u{feff}' | '\u{2028}' | '\u{2029}') =>
            {
                write!(out, "\\u{:04x}", u32::from(character)).expect("writing to a string cannot fail");
            }
            character => out.push(character),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_names_if_necessary() {
        for (text, expected) in [
            ("select-item_2", "select-item_2"),
            ("shop-a.csv", "shop-a.csv"),
            ("no", "\"no\""),
            ("a: b", "\"a: b\""),
            ("1", "\"1\""),
            ("", "\"\""),
        ] {
            assert_eq!(name(text), expected);
        }
    }

    #[test]
    fn writes_scalars() {
        for (text, expected) in [
            ("SELECT 1;\n", " |\n  SELECT 1;\n"),
            ("a\n\n  b: #c\n", " |\n  a\n\n    b: #c\n"),
            ("a", " \"a\"\n"),
            (" a\n", " \" a\\n\"\n"),
            ("a\tb\"\\\n", " \"a\\u0009b\\\"\\\\\\n\"\n"),
            ("a\n\n", " \"a\\n\\n\"\n"),
            ("a\u{2028}\n", " \"a\\u2028\\n\"\n"),
        ] {
            let mut out = String::new();
            push_text(&mut out, text, 2);
            assert_eq!(out, expected, "{text:?}");
        }
    }
}
