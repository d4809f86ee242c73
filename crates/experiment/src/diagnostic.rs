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
    /// Sources, the experiment file first. Each apparent password is replaced by `***`; positions refer to the result.
    pub sources: Vec<Source>,
    pub list: Vec<Diagnostic>,
}

impl Diagnostics {
    pub(crate) fn new(sources: Vec<Source>, mut list: Vec<Diagnostic>) -> Diagnostics {
        let position = |it: &Diagnostic| (it.span.source, it.span.bytes.start, it.span.bytes.end);
        list.sort_by(|a, b| position(a).cmp(&position(b)).then_with(|| a.message.cmp(&b.message)));
        list.dedup();
        list.truncate(MAX_DIAGNOSTICS);
        let passwords: Vec<Vec<Range<usize>>> = sources.iter().map(|it| passwords(&it.text)).collect();
        for diagnostic in &mut list {
            diagnostic.message =
                std::mem::replace(&mut diagnostic.message, Message::text("")).map_texts(&mask_passwords);
            let Span { source, bytes } = &mut diagnostic.span;
            let passwords = &passwords[*source];
            *bytes =
                masked_position(bytes.start, passwords, false)..masked_position(bytes.end, passwords, true);
        }
        let sources = sources.into_iter().map(|it| Source { text: mask_passwords(&it.text), ..it }).collect();
        Diagnostics { sources, list }
    }

    /// Line and column of a diagnostic's start, counted from 1; columns are characters.
    pub fn line_and_column(&self, at: &Span) -> (usize, usize) {
        let before = &self.sources[at.source].text[..at.bytes.start];
        let line = before.rfind('\n').map_or(0, |i| i + 1);
        (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
    }
}

/// Text in place of a password. Its length does not depend on the password.
const MASK: &str = "***";

/// Replaces each password by [`MASK`].
fn mask_passwords(text: &str) -> String {
    let mut shown = text.to_owned();
    for password in passwords(text).into_iter().rev() {
        shown.replace_range(password, MASK);
    }
    shown
}

/// Position in the masked text of a byte of the original text. A position within a password becomes the start or the
/// end of its mask.
fn masked_position(at: usize, passwords: &[Range<usize>], is_end: bool) -> usize {
    // Ends of the previous password in the original and of its mask.
    let (mut end, mut shown) = (0, 0);
    for password in passwords.iter().take_while(|it| it.start < at) {
        shown += password.start - end;
        if password.end > at {
            return shown + if is_end { MASK.len() } else { 0 };
        }
        (end, shown) = (password.end, shown + MASK.len());
    }
    shown + at - end
}

/// Passwords in a text, in order: the text `HERE` in `scheme://user:HERE@…` and `password=HERE`. Placeholders such as
/// `${env:NAME}` are no secrets and split a password.
fn passwords(text: &str) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    let ends = |c: char| c.is_whitespace() || c == '"' || c == '\'';
    for (i, sign) in text.match_indices("://") {
        let begin = i + sign.len();
        let token = text[begin..].split(ends).next().unwrap_or_default();
        // A password may contain unescaped characters, so it ends at the last @.
        if let Some((user, _)) = token.rsplit_once('@')
            && let Some(colon) = user.find(':')
        {
            all.push(begin + colon + 1..begin + user.len());
        }
    }
    let lower = text.to_ascii_lowercase();
    for (i, word) in lower.match_indices("password") {
        let after = text[i + word.len()..].trim_start_matches(['"', '\'', ' ']);
        let Some(value) = after.strip_prefix(['=', ':']) else { continue };
        let value = value.trim_start_matches(' ');
        let begin = text.len() - value.len();
        all.push(match value.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                begin + 1..begin + 1 + value[1..].find(quote).unwrap_or(value.len() - 1)
            }
            _ => begin..begin + value.find(|c| ends(c) || c == '&').unwrap_or(value.len()),
        });
    }
    all.sort_by_key(|it| (it.start, it.end));
    let mut apart: Vec<Range<usize>> = Vec::new();
    for range in all {
        match apart.last_mut().filter(|last| range.start < last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => apart.push(range),
        }
    }
    let secrets = apart.into_iter().flat_map(|it| outside_placeholders(text, it));
    secrets.filter(|it| !it.is_empty()).collect()
}

/// Parts of a range that are outside placeholders such as `${name}`.
fn outside_placeholders(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    let (mut parts, mut rest) = (Vec::new(), range.clone());
    for (i, sign) in text[range.clone()].match_indices("${") {
        let begin = range.start + i;
        let inner = &text[begin + sign.len()..range.end];
        if let Some(length) = inner.find(|c| !is_name(c)).filter(|it| inner[*it..].starts_with('}')) {
            parts.push(rest.start..begin);
            rest.start = begin + sign.len() + length + 1;
        }
    }
    parts.push(rest);
    parts
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
            ("a: postgres://me:secret@h/d", "a: postgres://me:***@h/d"),
            ("a: 'postgres://me:se@:/t@h/d' # x@y", "a: 'postgres://me:***@h/d' # x@y"),
            ("a: postgres://me@h:1/d", "a: postgres://me@h:1/d"),
            ("host=h password=ё1 user=a", "host=h password=*** user=a"),
            ("\"host=h PASSWORD = 'a b' x\"", "\"host=h PASSWORD = '***' x\""),
            ("h/d?password=x&y=z", "h/d?password=***&y=z"),
            ("password: x", "password: ***"),
            ("password: postgres://me:secret@h/d", "password: ***"),
            ("password: 'not closed", "password: '***"),
            ("password=", "password="),
            ("password: \"\"", "password: \"\""),
            ("a password stands in", "a password stands in"),
            ("password: \"${env:SHOP_PASSWORD}\"", "password: \"${env:SHOP_PASSWORD}\""),
            ("password: ${shop}", "password: ${shop}"),
            ("password: abc${a}${b}def", "password: ***${a}${b}***"),
            ("a://me:${env:A}@h", "a://me:${env:A}@h"),
            ("password: ${p@ss!}", "password: ***"),
            ("password: ${", "password: ***"),
        ] {
            assert_eq!(mask_passwords(text), expected, "{text}");
        }
    }

    #[test]
    fn moves_positions_with_the_masks() {
        let text = "password=x password=secret a://u:x@h 'end'";
        let secrets = passwords(text);
        let masked = mask_passwords(text);
        for (part, expected) in [
            ("password=x", "password=***"),
            ("ret", "***"),
            ("secret a", "*** a"),
            ("u:x@", "u:***@"),
            ("x@", "***@"),
            ("end", "end"),
        ] {
            let at = text.find(part).expect("the text contains the part");
            let (start, end) = (at, at + part.len());
            let shown = masked_position(start, &secrets, false)..masked_position(end, &secrets, true);
            assert_eq!(&masked[shown], expected, "{part}");
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
