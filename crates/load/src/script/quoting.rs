//! Values of variables as literals of an SQL statement
//!
//! In the text of a simple query, an untrusted value must not end the literal that contains it. The lexical rules are
//! the rules of `splitter`.

use super::Piece;
use super::names::{continues_name, starts_name};
use super::splitter::{
    comment_end, continues_identifier, dollar_end, escaped_end, find_after, line_end, number_end, quote_end,
    run_end,
};

/// Syntactic context of a variable in a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuoteContext {
    /// Position outside of quotes.
    Plain,
    /// Within a string: `'…'`.
    Quoted,
    /// Within `E'…'` or `U&'…'`, where a backslash is special.
    Escaped,
    /// Within a quoted identifier: `"…"`.
    Identifier,
    /// Within a comment, dollar-quoted string or `U&"…"`, where nothing can be escaped.
    Unescapable,
}

/// Context of each variable of a statement, in the order of the variables.
pub(crate) fn contexts(pieces: &[Piece]) -> Vec<QuoteContext> {
    let (mut bytes, mut variables) = (Vec::new(), Vec::new());
    for piece in pieces {
        match piece {
            Piece::Text(text) => bytes.extend_from_slice(text),
            Piece::Var { .. } => {
                variables.push(bytes.len());
                // Insert a placeholder name for the variable. The blank separates it from the following text.
                bytes.extend_from_slice(b":v ");
            }
        }
    }
    let mut places = vec![QuoteContext::Plain; variables.len()];
    let mut at = 0;
    while at < bytes.len() {
        let (end, place) = token(&bytes, at);
        let within = variables.iter().zip(&mut places).filter(|it| (at..end).contains(it.0));
        within.for_each(|it| *it.1 = place);
        at = end;
    }
    places
}

/// End of the token that starts at `at`, and the context of a variable within the token.
fn token(bytes: &[u8], at: usize) -> (usize, QuoteContext) {
    let second = bytes.get(at + 1).copied();
    match (bytes[at], second) {
        (b'-', Some(b'-')) => (line_end(bytes, at), QuoteContext::Unescapable),
        (b'/', Some(b'*')) => (comment_end(bytes, at), QuoteContext::Unescapable),
        (b'\'', _) => (quote_end(bytes, at + 1), QuoteContext::Quoted),
        (b'"', _) => (find_after(bytes, at + 1, b"\""), QuoteContext::Identifier),
        (b'$', _) => (dollar_end(bytes, at), QuoteContext::Unescapable),
        (b'0'..=b'9', _) | (b'.', Some(b'0'..=b'9')) => (number_end(bytes, at), QuoteContext::Plain),
        (b':', Some(next)) if continues_name(next) => {
            (run_end(bytes, at + 1, continues_name), QuoteContext::Plain)
        }
        (b'e' | b'E', Some(b'\'')) => (escaped_end(bytes, at + 2), QuoteContext::Escaped),
        (b'b' | b'B' | b'x' | b'X' | b'n' | b'N', Some(b'\'')) => {
            (quote_end(bytes, at + 2), QuoteContext::Quoted)
        }
        (b'u' | b'U', Some(b'&')) => match bytes.get(at + 2) {
            Some(b'\'') => (quote_end(bytes, at + 3), QuoteContext::Escaped),
            Some(b'"') => (find_after(bytes, at + 3, b"\""), QuoteContext::Unescapable),
            _ => (at + 1, QuoteContext::Plain),
        },
        (first, _) if starts_name(first) => (run_end(bytes, at, continues_identifier), QuoteContext::Plain),
        _ => (at + 1, QuoteContext::Plain),
    }
}

/// True for a number whose text form PostgreSQL would not change, so that it needs no quotes.
pub(super) fn is_number(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let dot = digits.iter().position(|it| *it == b'.');
    let (integer, decimals) = dot.map_or((digits, None), |it| (&digits[..it], Some(&digits[it + 1..])));
    let all = |it: &[u8]| !it.is_empty() && it.iter().all(u8::is_ascii_digit);
    all(integer)
        && (integer == b"0" || integer[0] != b'0')
        && decimals.is_none_or(all)
        && (digits.len() == text.len() || digits.iter().any(|it| (b'1'..=b'9').contains(it)))
}

/// Appends a text to a statement as one literal, whatever the text contains. `place` is the context of the literal.
pub(super) fn write_literal(text: &[u8], place: QuoteContext, out: &mut Vec<u8>) {
    let doubled: &[u8] = match place {
        QuoteContext::Plain if is_number(text) => {
            // After a minus, a negative number would begin a comment.
            if text[0] == b'-' {
                out.push(b' ');
            }
            b""
        }
        QuoteContext::Plain => {
            // A blank separates the literal from preceding text, which may be a prefix such as `x` or another literal.
            let has_backslash = text.contains(&b'\\');
            out.extend_from_slice(if has_backslash { b" E'" } else { b" '" });
            double_quotes(text, b"'\\", out);
            return out.push(b'\'');
        }
        QuoteContext::Quoted => b"'",
        QuoteContext::Escaped => b"'\\",
        QuoteContext::Identifier => b"\"",
        QuoteContext::Unescapable => b"",
    };
    double_quotes(text, doubled, out);
}

/// Appends a text, and doubles each of the given bytes in it.
fn double_quotes(text: &[u8], doubled: &[u8], out: &mut Vec<u8>) {
    for &byte in text {
        if doubled.contains(&byte) {
            out.push(byte);
        }
        out.push(byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for (n, part) in text.split('@').enumerate() {
            if n > 0 {
                pieces.push(Piece::Var { slot: 0 });
            }
            pieces.push(Piece::Text(part.into()));
        }
        pieces
    }

    #[test]
    fn finds_quote_context_of_each_variable() {
        use QuoteContext::*;
        for (text, expected) in [
            ("SELECT @", &[Plain][..]),
            ("SELECT '@', @", &[Quoted, Plain]),
            ("SELECT 'it''s @' || @", &[Quoted, Plain]),
            (r"SELECT '\', @", &[Plain]),
            (r"SELECT e'\'@', @, U&'@\0041'", &[Escaped, Plain, Escaped]),
            ("SELECT E'a'\n'@', @", &[Escaped, Plain]),
            ("SELECT N'@' x'@' FROM \"t @\" @", &[Quoted, Quoted, Identifier, Plain]),
            ("SELECT u&\"@\" @", &[Unescapable, Plain]),
            (
                "SELECT 1 -- it's @\n, @ /* ' @ /* */ @ */ @",
                &[Unescapable, Plain, Unescapable, Unescapable, Plain],
            ),
            ("SELECT $$ ' @ $$ @ $a$ $$ @ $a$ $1 @", &[Unescapable, Plain, Unescapable, Plain]),
            ("SELECT type'@' @::int, part_@ 1e'@'", &[Quoted, Plain, Plain, Quoted]),
            ("SELECT '@", &[Quoted]),
        ] {
            assert_eq!(contexts(&pieces(text)), expected, "{text}");
        }
    }

    #[test]
    fn writes_values_as_literals() {
        let check = |place: QuoteContext, text: &str, expected: &str| {
            let mut out = Vec::new();
            write_literal(text.as_bytes(), place, &mut out);
            assert_eq!(String::from_utf8(out).expect("text"), expected, "{text} {place:?}");
        };
        for number in ["0", "7", "120", "1.50", "0.5", "99999999999999999999999"] {
            check(QuoteContext::Plain, number, number);
        }
        check(QuoteContext::Plain, "-5", " -5");
        check(QuoteContext::Plain, "-0.5", " -0.5");
        for text in [
            "", "007", "+7", "-0", "-0.0", "1e5", "1.", ".5", "-", "1 2", "0x1f", "NULL", "true", "1_0",
            "--1",
        ] {
            check(QuoteContext::Plain, text, &format!(" '{text}'"));
        }
        check(QuoteContext::Plain, "it's", " 'it''s'");
        check(QuoteContext::Plain, r"\'; DROP TABLE t; --", r" E'\\''; DROP TABLE t; --'");
        check(QuoteContext::Quoted, r"it's \ ", r"it''s \ ");
        check(QuoteContext::Escaped, r"it's \ ", r"it''s \\ ");
        check(QuoteContext::Identifier, r#"a"b'"#, r#"a""b'"#);
        check(QuoteContext::Unescapable, "7", "7");
    }
}
