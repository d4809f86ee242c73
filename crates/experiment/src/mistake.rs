//! What is wrong with a file, where, and what is to be written instead?

use std::fmt;
use std::ops::Range;

/// More than so many are not told.
pub const MAX: usize = 100;
/// After so many, the same ones in several cells among them, reading ends.
pub const ENOUGH: usize = 4 * MAX;

/// A text in which mistakes can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// A file's path, or `--set pooler.size=x`.
    pub name: String,
    pub text: String,
}

/// A stretch of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// Index of the source.
    pub source: usize,
    /// In bytes; at the boundaries of characters.
    pub bytes: Range<usize>,
}

/// One mistake of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    pub at: Span,
    /// What stands there.
    pub found: String,
    /// What to write instead.
    pub instead: String,
}

impl Mistake {
    pub(crate) fn new(at: &Span, found: impl Into<String>, instead: impl Into<String>) -> Mistake {
        Mistake { at: at.clone(), found: found.into(), instead: instead.into() }
    }
}

/// All mistakes, at least one, in the order of their places; no two the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes {
    /// The experiment file first. What looks like a password in them is written as `***`, of the same length.
    pub sources: Vec<Source>,
    pub list: Vec<Mistake>,
}

impl Mistakes {
    pub(crate) fn new(sources: Vec<Source>, mut list: Vec<Mistake>) -> Mistakes {
        let order = |it: &Mistake| (it.at.source, it.at.bytes.start, it.at.bytes.end, it.found.clone());
        list.sort_by_key(order);
        list.dedup_by_key(|it| order(it));
        list.truncate(MAX);
        let sources = sources.into_iter().map(|it| Source { text: masked(&it.text), ..it }).collect();
        for it in &mut list {
            it.found = masked(&it.found);
            it.instead = masked(&it.instead);
        }
        Mistakes { sources, list }
    }

    /// Line and column where a mistake begins, counted from 1; columns are characters.
    pub fn place(&self, at: &Span) -> (usize, usize) {
        let before = &self.sources[at.source].text[..at.bytes.start];
        let line = before.rfind('\n').map_or(0, |i| i + 1);
        (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
    }
}

impl std::error::Error for Mistakes {}

/// One line each: `book.yaml:7:11: …; write …`.
impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for it in &self.list {
            let (line, column) = self.place(&it.at);
            let name = &self.sources[it.at.source].name;
            writeln!(f, "{name}:{line}:{column}: {}; {}", it.found, it.instead)?;
        }
        Ok(())
    }
}

/// The text with asterisks for the bytes of passwords: `scheme://user:HERE@…`, and `password=HERE`.
fn masked(text: &str) -> String {
    let mut shown = text.as_bytes().to_vec();
    let ends = |c: char| c.is_whitespace() || c == '"' || c == '\'';
    for (i, sign) in text.match_indices("://") {
        let begin = i + sign.len();
        let token = text[begin..].split(ends).next().unwrap_or_default();
        // Unescaped signs in a password are its own: it ends at the last @.
        if let Some((user, _)) = token.rsplit_once('@')
            && let Some(colon) = user.find(':')
        {
            shown[begin + colon + 1..begin + user.len()].fill(b'*');
        }
    }
    let lower = text.to_ascii_lowercase();
    for (i, word) in lower.match_indices("password") {
        let after = text[i + word.len()..].trim_start_matches(['"', '\'', ' ']);
        let Some(value) = after.strip_prefix(['=', ':']) else { continue };
        let value = value.trim_start_matches(' ');
        let begin = text.len() - value.len();
        let length = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value[1..].find(quote).map_or(value.len(), |i| i + 1),
            _ => value.find(|c| ends(c) || c == '&').unwrap_or(value.len()),
        };
        shown[begin..begin + length].fill(b'*');
    }
    String::from_utf8(shown).expect("whole characters were written over with ASCII")
}

/// The text between backquotes, on one line and not longer than 40 characters.
pub(crate) fn quote(text: &str) -> String {
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    match text.char_indices().nth(40) {
        None => format!("`{}`", text.chars().map(clean).collect::<String>()),
        Some((end, _)) => format!("`{}…`", text[..end].chars().map(clean).collect::<String>()),
    }
}

/// `a`, `a or b`, `a, b or c`.
pub(crate) fn any_of<T: AsRef<str>>(words: &[T]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// The one of `names` that `name` is most likely meant to be: one that differs in at most a third of its letters.
pub fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = name.to_lowercase().replace('-', "_");
    let most = (wanted.chars().count() / 3).max(1);
    names
        .into_iter()
        .map(|it| (distance(&wanted, &it.to_lowercase()), it))
        .filter(|it| it.0 <= most)
        .min()
        .map(|it| it.1)
}

/// Levenshtein's distance, in characters; only the first 64 are looked at.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(64).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let best = (diagonal + usize::from(x != *y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], best);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        for (text, expected) in [
            ("a: postgres://me:secret@h/d", "a: postgres://me:******@h/d"),
            ("a: 'postgres://me:se@:/t@h/d' # x@y", "a: 'postgres://me:******@h/d' # x@y"),
            ("a: postgres://me@h:1/d", "a: postgres://me@h:1/d"),
            ("host=h password=ё1 user=a", "host=h password=*** user=a"),
            ("\"host=h PASSWORD = 'a b' x\"", "\"host=h PASSWORD = ****' x\""),
            ("h/d?password=x&y=z", "h/d?password=*&y=z"),
            ("password: x", "password: *"),
            ("password=", "password="),
            ("a password stands in", "a password stands in"),
        ] {
            let shown = masked(text);
            assert_eq!((shown.as_str(), shown.len()), (expected, text.len()), "{text}");
        }
    }

    #[test]
    fn nearest_names() {
        let names = ["max_connections", "mode", "size", "settings"];
        for (name, expected) in [
            ("siez", None),
            ("sise", Some("size")),
            ("Mode", Some("mode")),
            ("max-connection", Some("max_connections")),
            ("setings", Some("settings")),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, names), expected, "{name}");
        }
    }
}
