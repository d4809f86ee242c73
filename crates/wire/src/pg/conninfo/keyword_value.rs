//! What does `host=/tmp user='a b'` say?

use super::values::Values;
use super::{Diagnostic, keyword, location};

/// Reads keywords and values. Values may be quoted by `'`; `\` takes the next character as it is.
pub(super) fn parse(text: &str, values: &mut Values, mistakes: &mut Vec<Diagnostic>) {
    let mut rest = text;
    let mut after_secret = false;
    loop {
        rest = rest.trim_start_matches(is_space);
        if rest.is_empty() {
            return;
        }
        let at = location(text, text.len() - rest.len());
        let name = rest.split(|it| it == '=' || is_space(it)).next().unwrap_or_default();
        let value = rest[name.len()..].trim_start_matches(is_space).strip_prefix('=');
        if after_secret && (value.is_none() || keyword::find(name).is_none()) {
            // The rest of a password with a blank in it, as likely as not.
            let found = "what follows the password is no connection option";
            mistakes.push(Diagnostic::new(at, found, "quote a password with blanks by '…'"));
            return;
        }
        let Some(value) = value else {
            let found = format!("missing \"=\" after \"{name}\" in connection info string");
            mistakes.push(Diagnostic::new(
                at,
                found,
                "write keyword=value; quote a value with blanks by '…'",
            ));
            return;
        };
        let Some((value, more)) = unquote(value.trim_start_matches(is_space)) else {
            mistakes.push(Diagnostic::new(
                at,
                "unterminated quoted string in connection info string",
                "end it with '; write ' itself as \\'",
            ));
            return;
        };
        after_secret = keyword::find(name).is_some_and(|it| it.secret);
        values.set(name, value, &at, mistakes);
        rest = more;
    }
}

/// The value at the start of `text`, and what follows it; `None` when its quote does not end.
fn unquote(text: &str) -> Option<(String, &str)> {
    let quoted = text.strip_prefix('\'');
    let mut value = String::new();
    let mut letters = quoted.unwrap_or(text).chars();
    loop {
        match letters.next() {
            None if quoted.is_some() => return None,
            None => return Some((value, "")),
            Some('\\') => value.extend(letters.next()),
            Some('\'') if quoted.is_some() => return Some((value, letters.as_str())),
            Some(it) if quoted.is_none() && is_space(it) => return Some((value, letters.as_str())),
            Some(it) => value.push(it),
        }
    }
}

/// C's `isspace`.
fn is_space(it: char) -> bool {
    matches!(it, ' ' | '\t'..='\r')
}
