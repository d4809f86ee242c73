//! Lexer of SQL statements
//!
//! It follows PostgreSQL's lexical rules (manual, "Lexical Structure") with `standard_conforming_strings = on`. White
//! space and comments separate tokens and are dropped.

use std::borrow::Cow;

/// Part of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub kind: TokenKind,
    /// The token as it is written; of a string, its value.
    pub text: Cow<'a, str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// Keyword or identifier without quotes.
    Word,
    /// `"…"`
    QuotedIdentifier,
    /// `'…'`, with its continuations on further lines.
    String,
    /// Constant that is never changed: `E'…'`, `U&'…'`, `B'…'`, `X'…'`, `N'…'` or dollar-quoted.
    Verbatim,
    /// Decimal number without a sign.
    Number,
    /// `$1`
    Parameter,
    Operator,
    /// One of `( ) [ ] , ; . :`
    Punctuation,
}

impl Token<'_> {
    /// True for this operator or punctuation.
    pub fn is(&self, symbol: &str) -> bool {
        matches!(self.kind, TokenKind::Operator | TokenKind::Punctuation) && self.text == symbol
    }

    /// True for this keyword, in any case.
    pub fn is_word(&self, word: &str) -> bool {
        self.kind == TokenKind::Word && self.text.eq_ignore_ascii_case(word)
    }
}

/// Tokens of a text; `None` if a quote or comment is not closed, or a character begins no token.
pub(crate) fn tokens(text: &str) -> Option<Vec<Token<'_>>> {
    let mut tokens: Vec<Token<'_>> = Vec::new();
    let mut at = 0;
    loop {
        let (start, has_newline) = skip_space(text, at)?;
        let Some(first) = text[start..].chars().next() else { return Some(tokens) };
        let (kind, end) = token_end(text, start, first)?;
        at = end;
        let written = &text[start..end];
        if kind != TokenKind::String {
            tokens.push(Token { kind, text: Cow::Borrowed(written) });
            continue;
        }
        let value = unquote(written);
        match tokens.last_mut() {
            Some(last) if last.kind == TokenKind::String && has_newline => {
                last.text.to_mut().push_str(&value);
            }
            _ => tokens.push(Token { kind, text: value }),
        }
    }
}

/// Value of `'it''s'`.
fn unquote(written: &str) -> Cow<'_, str> {
    let inside = &written[1..written.len() - 1];
    if inside.contains('\'') { inside.replace("''", "'").into() } else { inside.into() }
}

/// Start of the next token, and whether a newline precedes it. `None` if a comment is not closed.
fn skip_space(text: &str, mut at: usize) -> Option<(usize, bool)> {
    let mut has_newline = false;
    loop {
        let rest = &text.as_bytes()[at..];
        match rest {
            [b'\n' | b'\r', ..] => (at, has_newline) = (at + 1, true),
            [b' ' | b'\t' | b'\x0b' | b'\x0c', ..] => at += 1,
            [b'-', b'-', ..] => {
                at += rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
            }
            [b'/', b'*', ..] => at = comment_end(text.as_bytes(), at)?,
            _ => return Some((at, has_newline)),
        }
    }
}

/// End of a comment, which may contain other comments.
fn comment_end(bytes: &[u8], start: usize) -> Option<usize> {
    let (mut at, mut depth) = (start + 2, 1);
    while depth > 0 {
        match bytes.get(at..)? {
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            [b'*', b'/', ..] => (at, depth) = (at + 2, depth - 1),
            [] => return None,
            _ => at += 1,
        }
    }
    Some(at)
}

/// Kind and end of the token that begins at `start` with `first`.
fn token_end(text: &str, start: usize, first: char) -> Option<(TokenKind, usize)> {
    let bytes = text.as_bytes();
    let next = bytes.get(start + 1).copied();
    let quoted = |from: usize, kind| Some((kind, quote_end(bytes, from, b'\'')?));
    match (first, next) {
        ('\'', _) => quoted(start, TokenKind::String),
        ('"', _) => Some((TokenKind::QuotedIdentifier, quote_end(bytes, start, b'"')?)),
        ('e' | 'E', Some(b'\'')) => Some((TokenKind::Verbatim, escaped_end(bytes, start + 1)?)),
        ('b' | 'B' | 'x' | 'X' | 'n' | 'N', Some(b'\'')) => quoted(start + 1, TokenKind::Verbatim),
        ('u' | 'U', Some(b'&')) if bytes.get(start + 2) == Some(&b'\'') => {
            quoted(start + 2, TokenKind::Verbatim)
        }
        ('u' | 'U', Some(b'&')) if bytes.get(start + 2) == Some(&b'"') => {
            Some((TokenKind::QuotedIdentifier, quote_end(bytes, start + 2, b'"')?))
        }
        ('$', Some(b'0'..=b'9')) => {
            let end = run_end(text, start + 1, |character| character.is_ascii_digit());
            Some((TokenKind::Parameter, end)).filter(|_| !begins_word(text, end))
        }
        ('$', _) => {
            let tag_end = run_end(text, start + 1, |character| continues_word(character) && character != '$');
            let tag = text.get(start..=tag_end).filter(|tag| tag.ends_with('$'))?;
            let inside = tag_end + 1;
            Some((TokenKind::Verbatim, inside + text[inside..].find(tag)? + tag.len()))
        }
        ('0'..='9', _) | ('.', Some(b'0'..=b'9')) => {
            let end = number_end(bytes, start);
            // PostgreSQL reads a number and an adjacent word as one token, or as an error.
            let kind = if begins_word(text, end) { TokenKind::Verbatim } else { TokenKind::Number };
            Some((kind, run_end(text, end, continues_word)))
        }
        ('(' | ')' | '[' | ']' | ',' | ';' | '.', _) => Some((TokenKind::Punctuation, start + 1)),
        (':', Some(b':' | b'=')) => Some((TokenKind::Operator, start + 2)),
        (':', _) => Some((TokenKind::Punctuation, start + 1)),
        (first, _) if is_operator(first) => Some((TokenKind::Operator, operator_end(bytes, start))),
        (first, _) if continues_word(first) => Some((TokenKind::Word, run_end(text, start, continues_word))),
        _ => None,
    }
}

fn run_end(text: &str, from: usize, belongs: impl Fn(char) -> bool) -> usize {
    text[from..].find(|character| !belongs(character)).map_or(text.len(), |length| from + length)
}

/// True for characters of words. A word does not begin with a digit or a dollar, which other tokens begin with.
fn continues_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '$') || !character.is_ascii()
}

fn begins_word(text: &str, at: usize) -> bool {
    text[at..].chars().next().is_some_and(|next| continues_word(next) && !next.is_ascii_digit())
}

/// End of a text in doubled quotes that begins at `start`.
fn quote_end(bytes: &[u8], start: usize, quote: u8) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += bytes.get(at..)?.iter().position(|byte| *byte == quote)? + 1;
        if bytes.get(at) != Some(&quote) {
            return Some(at);
        }
        at += 1;
    }
}

/// End of a string with backslash escapes that begins at `start`.
fn escaped_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at..)? {
            [b'\\', _, ..] | [b'\'', b'\'', ..] => at += 2,
            [b'\'', ..] => return Some(at + 1),
            [] => return None,
            _ => at += 1,
        }
    }
}

/// End of a decimal number. Numbers such as `0x1F` and `1_000` continue with a word.
fn number_end(bytes: &[u8], start: usize) -> usize {
    let digits = |from: usize| from + bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut end = digits(start);
    match bytes[end..] {
        [b'.', b'.', ..] => {}
        [b'.', ..] => end = digits(end + 1),
        _ => {}
    }
    match bytes[end..] {
        [b'e' | b'E', b'0'..=b'9', ..] => digits(end + 1),
        [b'e' | b'E', b'+' | b'-', b'0'..=b'9', ..] => digits(end + 2),
        _ => end,
    }
}

fn is_operator(character: char) -> bool {
    "+-*/<>=~!@#%^&|`?".contains(character)
}

/// End of an operator. A comment ends it. It ends with a sign only if it contains a character that no SQL operator has:
/// `=-1` is `=` and `-1`.
fn operator_end(bytes: &[u8], start: usize) -> usize {
    let length = bytes[start..].iter().take_while(|byte| is_operator(char::from(**byte))).count();
    let mut operator = &bytes[start..start + length];
    let comment = operator.windows(2).skip(1).position(|pair| matches!(pair, b"--" | b"/*"));
    if let Some(before) = comment {
        operator = &operator[..=before];
    }
    if !operator.iter().any(|byte| b"~!@#%^&|`?".contains(byte)) {
        while let [_, .., b'+' | b'-'] = operator {
            operator = &operator[..operator.len() - 1];
        }
    }
    start + operator.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the tokens, each as the initial of its kind and its text.
    fn check(text: &str, expected: Option<&str>) {
        let kind = |kind| format!("{kind:?}")[..1].to_owned();
        let found = tokens(text).map(|tokens| {
            let all: Vec<String> = tokens.iter().map(|token| kind(token.kind) + ":" + &token.text).collect();
            all.join("|")
        });
        assert_eq!(found.as_deref(), expected, "{text}");
    }

    #[test]
    fn reads_tokens() {
        for (text, expected) in [
            ("", Some("")),
            ("SELECT a -- x\n/* y /* z */ */ FROM \"B c\"", Some("W:SELECT|W:a|W:FROM|Q:\"B c\"")),
            ("'it''s'", Some("S:it's")),
            ("'a' \n -- x\n 'b'", Some("S:ab")),
            ("'a' 'b'", Some("S:a|S:b")),
            (r"E'a\'b' U&'x' b'01' X'1f' N'n'", Some(r"V:E'a\'b'|V:U&'x'|V:b'01'|V:X'1f'|V:N'n'")),
            ("$$it's$$ $a$ $$ $a$ $1 $12", Some("V:$$it's$$|V:$a$ $$ $a$|P:$1|P:$12")),
            ("1 1.5 .5 1. 1e5 1.5E-3 0x1F 1_000", Some("N:1|N:1.5|N:.5|N:1.|N:1e5|N:1.5E-3|V:0x1F|V:1_000")),
            (
                "a.b a[1:2] x::int y:=1",
                Some("W:a|P:.|W:b|W:a|P:[|N:1|P::|N:2|P:]|W:x|O:::|W:int|W:y|O::=|N:1"),
            ),
            (
                "a=-1 a - -1 a<>b @-1 a*-- x",
                Some("W:a|O:=|O:-|N:1|W:a|O:-|O:-|N:1|W:a|O:<>|W:b|O:@-|N:1|W:a|O:*"),
            ),
            ("a->>'b'", Some("W:a|O:->>|S:b")),
            ("имя$1 = a$b", Some("W:имя$1|O:=|W:a$b")),
            ("U&\"a\" = u", Some("Q:U&\"a\"|O:=|W:u")),
            ("1..2", Some("N:1|P:.|N:.2")),
            ("'a", None),
            ("/* a", None),
            ("$a$ b", None),
            ("$ 1", None),
            ("$1a", None),
            ("\\d", None),
            ("\"a", None),
        ] {
            check(text, expected);
        }
    }
}
