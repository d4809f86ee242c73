//! What is wrong with a file, where, and what is to be written instead?

use std::fmt;
use std::ops::Range;

/// More than so many are not told.
pub const MAX: usize = 100;

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
    /// The experiment file first.
    pub sources: Vec<Source>,
    pub list: Vec<Mistake>,
}

impl Mistakes {
    pub(crate) fn new(sources: Vec<Source>, mut list: Vec<Mistake>) -> Mistakes {
        let order = |it: &Mistake| (it.at.source, it.at.bytes.start, it.at.bytes.end, it.found.clone());
        list.sort_by_key(order);
        list.dedup_by_key(|it| order(it));
        list.truncate(MAX);
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
pub(crate) fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
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
