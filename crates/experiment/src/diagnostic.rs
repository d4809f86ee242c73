//! Diagnostics: errors in a file, with their position and a correction.

use model::message;
use model::message::Message;
use std::ops::Range;

/// Maximum number of diagnostics to report.
pub const MAX_DIAGNOSTICS: usize = 100;
/// Number of collected diagnostics at which reading stops. The number includes duplicates from several cells.
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

/// Error in the user's file or command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub span: Span,
    /// Error text. The help text of this message is the correction.
    pub message: Message,
}

impl Diagnostic {
    pub(crate) fn new(at: &Span, message: Message) -> Diagnostic {
        Diagnostic { span: at.clone(), message }
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
        let position = |it: &Diagnostic| (it.span.source, it.span.bytes.start, it.span.bytes.end);
        list.sort_by(|a, b| position(a).cmp(&position(b)).then_with(|| a.message.cmp(&b.message)));
        list.dedup();
        list.truncate(MAX_DIAGNOSTICS);
        let sources = sources.into_iter().map(|it| Source { text: mask_passwords(&it.text), ..it }).collect();
        let masked = |it: Diagnostic| Diagnostic { message: it.message.map_texts(&mask_passwords), ..it };
        Diagnostics { sources, list: list.into_iter().map(masked).collect() }
    }

    /// Line and column of a diagnostic's start, counted from 1; columns are characters.
    pub fn line_and_column(&self, at: &Span) -> (usize, usize) {
        let before = &self.sources[at.source].text[..at.bytes.start];
        let line = before.rfind('\n').map_or(0, |i| i + 1);
        (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
    }
}

/// Replaces each byte of a password by `*`. Passwords are the text `HERE` in `scheme://user:HERE@…` and
/// `password=HERE`.
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
    // Passwords are masked before the text is cut, because an incomplete address is not recognised.
    model::quote(&mask_passwords(text))
}

/// Keywords of the file, as alternatives in a message.
pub fn any_of<T: Into<String>>(keywords: impl IntoIterator<Item = T>) -> Vec<Message> {
    keywords.into_iter().map(|keyword| message!("experiment-keyword", keyword = keyword.into())).collect()
}

/// Name in `names` that is most similar to `name`; at most a third of its letters differ.
pub fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lowercase = name.to_lowercase().replace('-', "_");
    let most = (lowercase.chars().count() / 3).max(1);
    names
        .into_iter()
        .map(|it| (distance(&lowercase, &it.to_lowercase()), it))
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
    fn masks_passwords_in_arguments() {
        let address = format!("postgres://me:{}@h/d", "secret".repeat(9));
        let nested = message!("experiment-obstacle-value", path = "a", value = &address);
        let message = message!("experiment-set-obstacle", path = "password=secret", obstacle = nested);
        let at = Span::default();
        let sources = vec![Source { name: "a".to_owned(), text: String::new() }];
        let diagnostics = Diagnostics::new(sources, vec![Diagnostic::new(&at, message)]);
        assert!(!format!("{diagnostics:?}").contains("secret"), "{diagnostics:?}");
        // Passwords are recognised by the @, which a cut address lacks.
        assert!(!quote(&address).contains("secret"), "{}", quote(&address));
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
