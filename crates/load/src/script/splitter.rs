//! Splitter of a script into SQL commands
//!
//! A command ends at a semicolon or backslash outside of quotes, comments, parentheses and `BEGIN ATOMIC … END` bodies.
//! The lexical rules are those of PostgreSQL 15's client-side scanner (`psqlscan.l`) with standard-conforming strings.
//! As in that scanner, a backslash command does not reset the nesting of parentheses and bodies.

use super::names::{continues_name, starts_name};

/// Reason for the end of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommandEnd {
    /// Semicolon, which belongs to the command.
    Semicolon,
    /// Backslash, which starts another command.
    Backslash,
    EndOfText,
}

/// Nesting of parentheses and function bodies at the current position of the scan.
#[derive(Debug, Default)]
pub(super) struct Splitter {
    parentheses: u32,
    bodies: u32,
    /// Number of words since the start of the statement. `initials` has the first letters of the first four words.
    ///
    /// The words may introduce a body: `CREATE [OR REPLACE] FUNCTION | PROCEDURE`.
    words: usize,
    initials: [u8; 4],
    /// Offset at which the last command starts.
    pub start: usize,
}

impl Splitter {
    /// Appends the command at `at` to `command`, without preceding white space and line comments, and moves `at` past
    /// its end.
    pub fn next(&mut self, bytes: &[u8], at: &mut usize, command: &mut Vec<u8>) -> CommandEnd {
        while let Some(&first) = bytes.get(*at) {
            let start = *at;
            if command.is_empty() {
                self.start = start;
            }
            let second = bytes.get(start + 1).copied();
            *at = match (first, second) {
                (b' ' | b'\t' | b'\n' | b'\r' | b'\x0c', _) | (b'-', Some(b'-')) => {
                    *at = if first == b'-' { line_end(bytes, start) } else { start + 1 };
                    if !command.is_empty() {
                        command.extend_from_slice(&bytes[start..*at]);
                    }
                    continue;
                }
                (b'/', Some(b'*')) => comment_end(bytes, start),
                (b'\'', _) => quote_end(bytes, start + 1),
                (b'"', _) => find_after(bytes, start + 1, b"\""),
                (b'$', _) => dollar_end(bytes, start),
                (b'0'..=b'9', _) | (b'.', Some(b'0'..=b'9')) => number_end(bytes, start),
                (b':', Some(b':')) => start + 2,
                (b':', Some(next)) if continues_name(next) => run_end(bytes, start + 1, continues_name),
                (b':', Some(b'{')) => match test_end(bytes, start) {
                    // pgbench's scanner treats every variable as undefined.
                    Some(end) => {
                        *at = end;
                        command.extend_from_slice(b"FALSE");
                        continue;
                    }
                    None => start + 1,
                },
                (b'\\', Some(b';' | b':')) => {
                    *at = start + 2;
                    command.extend_from_slice(&bytes[start + 1..*at]);
                    if second == Some(b';') {
                        self.words = 0;
                    }
                    continue;
                }
                (b'\\', _) => {
                    *at = start + 1;
                    return CommandEnd::Backslash;
                }
                (b';', _) => {
                    *at = start + 1;
                    command.push(b';');
                    if self.parentheses == 0 && self.bodies == 0 {
                        self.words = 0;
                        return CommandEnd::Semicolon;
                    }
                    continue;
                }
                (b'(', _) => {
                    self.parentheses += 1;
                    start + 1
                }
                (b')', _) => {
                    self.parentheses = self.parentheses.saturating_sub(1);
                    start + 1
                }
                (b'e' | b'E', Some(b'\'')) => escaped_end(bytes, start + 2),
                (b'b' | b'B' | b'x' | b'X' | b'n' | b'N', Some(b'\'')) => quote_end(bytes, start + 2),
                (b'u' | b'U', Some(b'&')) => match bytes.get(start + 2) {
                    Some(b'\'') => quote_end(bytes, start + 3),
                    Some(b'"') => find_after(bytes, start + 3, b"\""),
                    _ => start + 1,
                },
                (first, _) if starts_name(first) => {
                    let end = run_end(bytes, start, continues_identifier);
                    self.note_word(&bytes[start..end]);
                    end
                }
                _ => start + 1,
            };
            command.extend_from_slice(&bytes[start..*at]);
        }
        CommandEnd::EndOfText
    }

    /// Counts a word, and tracks the bodies of SQL-standard functions. Semicolons in a body do not end the statement.
    fn note_word(&mut self, word: &[u8]) {
        let is_word = |other: &str| word.eq_ignore_ascii_case(other.as_bytes());
        if self.words == 0 {
            self.initials = [0; 4];
        }
        if ["create", "function", "procedure", "or", "replace"].into_iter().any(is_word)
            && let Some(initial) = self.initials.get_mut(self.words)
        {
            *initial = word[0].to_ascii_lowercase();
        }
        self.words += 1;
        let creates = matches!(self.initials, [b'c', b'f' | b'p', _, _] | [b'c', b'o', b'r', b'f' | b'p']);
        if !creates || self.parentheses > 0 {
            return;
        }
        if is_word("begin") || (is_word("case") && self.bodies > 0) {
            self.bodies += 1;
        } else if is_word("end") {
            self.bodies = self.bodies.saturating_sub(1);
        }
    }
}

pub(super) fn run_end(bytes: &[u8], from: usize, belongs: impl Fn(u8) -> bool) -> usize {
    from + bytes[from..].iter().take_while(|&&b| belongs(b)).count()
}

/// Position after the next occurrence of `needle`, or the end of the text.
pub(super) fn find_after(bytes: &[u8], from: usize, needle: &[u8]) -> usize {
    let found = bytes[from..].windows(needle.len()).position(|window| window == needle);
    found.map_or(bytes.len(), |offset| from + offset + needle.len())
}

pub(super) fn line_end(bytes: &[u8], from: usize) -> usize {
    run_end(bytes, from, |b| b != b'\n' && b != b'\r')
}

pub(super) fn continues_identifier(byte: u8) -> bool {
    continues_name(byte) || byte == b'$'
}

/// End of a C comment, which may contain other comments.
pub(super) fn comment_end(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0usize);
    while at < bytes.len() {
        match bytes[at..] {
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            [b'*', b'/', ..] if depth == 1 => return at + 2,
            [b'*', b'/', ..] => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
    }
    at
}

/// End of a string without escapes. A doubled quote counts as the end of one string and the start of another, which
/// gives the same result.
pub(super) fn quote_end(bytes: &[u8], from: usize) -> usize {
    find_after(bytes, from, b"'")
}

/// End of `:{?name}`, if it starts here.
fn test_end(bytes: &[u8], start: usize) -> Option<usize> {
    let name = bytes[start..].strip_prefix(b":{?")?;
    let length = name.iter().take_while(|&&b| continues_name(b)).count();
    (length > 0 && name.get(length) == Some(&b'}')).then_some(start + 3 + length + 1)
}

/// End of a string with backslash escapes, including its continuations on further lines.
pub(super) fn escaped_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while at < bytes.len() {
        match bytes[at..] {
            [b'\\', _, ..] | [b'\'', b'\'', ..] => at += 2,
            [b'\'', ..] => match continued_quote(bytes, at + 1) {
                Some(inside) => at = inside,
                None => return at + 1,
            },
            _ => at += 1,
        }
    }
    at
}

/// Start of a string that continues the string before `from`, after white space with a newline.
fn continued_quote(bytes: &[u8], from: usize) -> Option<usize> {
    let (mut at, mut newline) = (from, false);
    loop {
        match bytes.get(at..)? {
            [b'\n' | b'\r', ..] => (at, newline) = (at + 1, true),
            [b' ' | b'\t' | b'\x0c', ..] => at += 1,
            [b'-', b'-', ..] => at = line_end(bytes, at),
            [b'\'', ..] if newline => return Some(at + 1),
            _ => return None,
        }
    }
}

/// End of a dollar-quoted string, a parameter, or a lone dollar.
pub(super) fn dollar_end(bytes: &[u8], start: usize) -> usize {
    let tag_end = match bytes.get(start + 1) {
        Some(b'0'..=b'9') => {
            let digits_end = run_end(bytes, start + 1, |b| b.is_ascii_digit());
            return word_end(bytes, digits_end);
        }
        Some(&first) if starts_name(first) => run_end(bytes, start + 1, continues_name),
        _ => start + 1,
    };
    if bytes.get(tag_end) == Some(&b'$') {
        find_after(bytes, tag_end + 1, &bytes[start..=tag_end])
    } else {
        start + 1
    }
}

/// End of a number and adjacent letters: `1e'x'` is a number and a string, not an escape string.
pub(super) fn number_end(bytes: &[u8], start: usize) -> usize {
    let digits = |from| run_end(bytes, from, |b: u8| b.is_ascii_digit());
    let mut end = digits(start);
    match bytes[end..] {
        [b'.', b'.', ..] if end > start => return end,
        [b'.', ..] => end = digits(end + 1),
        _ => {}
    }
    match bytes[end..] {
        [b'e' | b'E', b'+' | b'-', b'0'..=b'9', ..] => word_end(bytes, digits(end + 2)),
        [b'e' | b'E', b'+' | b'-', ..] => end + 2,
        _ => word_end(bytes, end),
    }
}

/// End of the identifier that starts at `from`, if any.
fn word_end(bytes: &[u8], from: usize) -> usize {
    match bytes.get(from) {
        Some(&first) if starts_name(first) => run_end(bytes, from, continues_identifier),
        _ => from,
    }
}
