//! Literals, quoted identifiers and comments of SQL that continue on the next line

/// Literal, quoted identifier or comment that has begun and not ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Open {
    #[default]
    Nothing,
    /// `'…'`; `escapes` is true for `E'…'`, in which a backslash escapes the next character.
    Text { escapes: bool },
    /// `"…"`
    Identifier,
    /// `$tag$…$tag$`, with both dollar signs.
    Dollar(Vec<u8>),
    /// `/* … */`, which may be nested this deep.
    Comment(u32),
}

impl Open {
    /// State after `text`.
    pub(super) fn after(self, text: &[u8]) -> Open {
        let mut open = self;
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            let (next, length) = match open {
                Open::Nothing => match begin(text, at) {
                    Some(found) => found,
                    // The comment ends with its line.
                    None if rest.starts_with(b"--") => {
                        let end = rest.iter().position(|it| *it == b'\n');
                        (Open::Nothing, end.unwrap_or(rest.len()))
                    }
                    None => (Open::Nothing, 1),
                },
                Open::Text { escapes: true } if rest[0] == b'\\' => (Open::Text { escapes: true }, 2),
                Open::Text { .. } if rest.starts_with(b"''") => (open, 2),
                Open::Text { .. } if rest[0] == b'\'' => (Open::Nothing, 1),
                Open::Identifier if rest[0] == b'"' => (Open::Nothing, 1),
                Open::Dollar(ref tag) if rest.starts_with(tag) => {
                    let length = tag.len();
                    (Open::Nothing, length)
                }
                Open::Comment(depth) if rest.starts_with(b"*/") => match depth {
                    1 => (Open::Nothing, 2),
                    depth => (Open::Comment(depth - 1), 2),
                },
                Open::Comment(depth) if rest.starts_with(b"/*") => (Open::Comment(depth + 1), 2),
                still => (still, 1),
            };
            open = next;
            at += length;
        }
        open
    }
}

/// State that begins at a place in a statement, and the length of its beginning.
fn begin(text: &[u8], at: usize) -> Option<(Open, usize)> {
    let in_word = |at: usize| {
        let byte = text.get(at).copied().unwrap_or(b' ');
        byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
    };
    match text[at] {
        b'\'' => {
            let is_escape =
                at > 0 && text[at - 1].eq_ignore_ascii_case(&b'e') && (at < 2 || !in_word(at - 2));
            Some((Open::Text { escapes: is_escape }, 1))
        }
        b'"' => Some((Open::Identifier, 1)),
        b'/' if text[at..].starts_with(b"/*") => Some((Open::Comment(1), 2)),
        // A dollar sign within a word, or before a digit, as in `$1`, begins nothing.
        b'$' if (at == 0 || !in_word(at - 1)) && !text.get(at + 1).is_some_and(u8::is_ascii_digit) => {
            let tag = (at + 1..).find(|it| !in_word(*it))?;
            let end = (text.get(tag) == Some(&b'$')).then_some(tag + 1)?;
            Some((Open::Dollar(text[at..end].to_vec()), end - at))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_is_open_at_the_end() {
        let check = |text: &str, expected: Open| {
            assert_eq!(Open::default().after(text.as_bytes()), expected, "{text}");
            // The result does not depend on where lines end.
            for (at, _) in text.match_indices('\n') {
                let (first, second) = text.split_at(at + 1);
                let open = Open::default().after(first.as_bytes()).after(second.as_bytes());
                assert_eq!(open, expected, "{first}|{second}");
            }
        };
        let plain = || Open::Text { escapes: false };
        let dollar = |tag: &str| Open::Dollar(tag.as_bytes().to_vec());
        check("SELECT 1;\n", Open::Nothing);
        check("VALUES ('it''s\nGRANT a TO b;\n", plain());
        check("VALUES ('it''s\nGRANT a TO b;\n'), ('')", Open::Nothing);
        check("VALUES ('a\\'), ('b", plain());
        check("VALUES (E'a\\'b", Open::Text { escapes: true });
        check("VALUES (E'a\\\\'), (type'b", plain());
        check("VALUES (E'a''b\\'c", Open::Text { escapes: true });
        check("\"a ' b\"\n\"c", Open::Identifier);
        check("-- it's a comment\nSELECT '", plain());
        check("-- it's a comment", Open::Nothing);
        check("/* a /* b */ '", Open::Comment(1));
        check("/* a /* b */ */ '", plain());
        check("AS $$ it's\n", dollar("$$"));
        check("AS $_x1$ $$ it's\n$_x1$ '", plain());
        check("SELECT $1, a$b$c, '", plain());
        check("$1$ '", plain());
        check("AS $", Open::Nothing);
    }
}
