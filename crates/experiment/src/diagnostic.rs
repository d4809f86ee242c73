//! Diagnostics: errors in a file, with their position and a correction.

use std::fmt;
use std::ops::Range;

/// Maximum number of diagnostics to report.
pub const MAX_DIAGNOSTICS: usize = 100;
/// Reading stops after this many, including duplicates from several cells.
pub const MAX_COLLECTED: usize = 4 * MAX_DIAGNOSTICS;

/// Text that diagnostics refer to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Path of a file, or `--set pooler.size=x`.
    pub name: String,
    pub text: String,
}

/// Range within a source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// Index of the source.
    pub source: usize,
    /// Byte range, at character boundaries.
    pub bytes: Range<usize>,
}

/// One error of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub span: Span,
    /// Text found there.
    pub found: String,
    /// Text to write instead.
    pub suggestion: String,
}

impl Diagnostic {
    pub(crate) fn new(at: &Span, found: impl Into<String>, instead: impl Into<String>) -> Diagnostic {
        Diagnostic { span: at.clone(), found: found.into(), suggestion: instead.into() }
    }
}

/// All diagnostics, at least one, in the order of their positions, without duplicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics {
    /// Sources, the experiment file first. Each byte of an apparent password is replaced by `*`.
    pub sources: Vec<Source>,
    pub list: Vec<Diagnostic>,
}

impl Diagnostics {
    pub(crate) fn new(sources: Vec<Source>, mut list: Vec<Diagnostic>) -> Diagnostics {
        let order =
            |it: &Diagnostic| (it.span.source, it.span.bytes.start, it.span.bytes.end, it.found.clone());
        list.sort_by_key(order);
        list.dedup_by_key(|it| order(it));
        list.truncate(MAX_DIAGNOSTICS);
        let sources = sources.into_iter().map(|it| Source { text: mask_passwords(&it.text), ..it }).collect();
        for it in &mut list {
            it.found = mask_passwords(&it.found);
            it.suggestion = mask_passwords(&it.suggestion);
        }
        Diagnostics { sources, list }
    }

    /// Line and column of a diagnostic's start, counted from 1; columns are characters.
    pub fn line_and_column(&self, at: &Span) -> (usize, usize) {
        let before = &self.sources[at.source].text[..at.bytes.start];
        let line = before.rfind('\n').map_or(0, |i| i + 1);
        (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
    }
}

impl std::error::Error for Diagnostics {}

/// One line per diagnostic: `book.yaml:7:11: …; write …`.
impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for it in &self.list {
            let (line, column) = self.line_and_column(&it.span);
            let name = &self.sources[it.span.source].name;
            writeln!(f, "{name}:{line}:{column}: {}; {}", it.found, it.suggestion)?;
        }
        Ok(())
    }
}

/// Text with asterisks for the bytes of passwords: `scheme://user:HERE@…`, and `password=HERE`.
fn mask_passwords(text: &str) -> String {
    let mut shown = text.as_bytes().to_vec();
    let ends = |c: char| c.is_whitespace() || c == '"' || c == '\'';
    for (i, sign) in text.match_indices("://") {
        let begin = i + sign.len();
        let token = text[begin..].split(ends).next().unwrap_or_default();
        // A password may contain unescaped characters, so it ends at the last @.
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

/// Text in backquotes, on one line and at most 40 characters long.
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

/// Name in `names` that is most similar to `name`; at most a third of its letters differ.
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

/// Levenshtein distance, in characters; considers only the first 64.
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
    fn masks_passwords() {
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
            let shown = mask_passwords(text);
            assert_eq!((shown.as_str(), shown.len()), (expected, text.len()), "{text}");
        }
    }

    #[test]
    fn finds_nearest_name() {
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
