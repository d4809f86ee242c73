//! Parser of keyword/value connection strings such as `host=/tmp user='a b'`.

use super::values::Values;
use super::{Diagnostic, keyword, location};
use model::message;

/// Parses keywords and values. Values may be quoted with `'`; `\` escapes the next character.
pub(super) fn parse(text: &str, values: &mut Values, diagnostics: &mut Vec<Diagnostic>) {
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
            // The text is probably the rest of a password that contains a blank.
            let found = message!("conninfo-text-after-password");
            diagnostics.push(Diagnostic::new(at, found, message!("conninfo-quote-password")));
            return;
        }
        let Some(value) = value else {
            let found = message!("conninfo-missing-equals", name);
            diagnostics.push(Diagnostic::new(at, found, message!("conninfo-write-quoted")));
            return;
        };
        let Some((value, more)) = unquote(value.trim_start_matches(is_space)) else {
            diagnostics.push(Diagnostic::new(
                at,
                message!("conninfo-unterminated"),
                message!("conninfo-close-quote"),
            ));
            return;
        };
        after_secret = keyword::find(name).is_some_and(|it| it.secret);
        values.set(name, value, &at, diagnostics);
        rest = more;
    }
}

/// Splits a value from the start of `text`. Returns the value and the rest; `None` if its quote is not closed.
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

/// True for a character that is white space according to C's `isspace`.
fn is_space(char: char) -> bool {
    matches!(char, ' ' | '\t'..='\r')
}
