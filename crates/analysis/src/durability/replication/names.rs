//! Parser of `synchronous_standby_names`
//!
//! ```text
//! a, b          FIRST 1 (a, b)
//! 2 (a, b)      FIRST 2 (a, b)
//! ANY 1 (*)     any one of all streaming standbys
//! ```

use model::durability::{SyncMethod, SynchronousStandbys};
use std::fmt;

/// Reason why PostgreSQL would reject a value of `synchronous_standby_names`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamesError {
    /// Syntax error at this byte offset.
    Syntax { at: usize },
    /// Unclosed quote that starts at this byte offset.
    Unterminated { at: usize },
    /// The number of standbys is zero.
    Zero,
}

impl fmt::Display for NamesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NamesError::Syntax { at } => write!(f, "syntax error at byte {at}"),
            NamesError::Unterminated { at } => write!(f, "the quote at byte {at} is not closed"),
            NamesError::Zero => write!(f, "no synchronous standby"),
        }
    }
}

impl std::error::Error for NamesError {}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Name(String),
    Number(String),
    Any,
    First,
    Comma,
    Open,
    Close,
}

/// Parses the value as PostgreSQL does. An empty value requests no synchronous standby. A value that consists of blanks
/// is an error.
pub fn parse(text: &str) -> Result<Option<SynchronousStandbys>, NamesError> {
    if text.is_empty() {
        return Ok(None);
    }
    let tokens = tokens(text)?;
    let mut rest = TokenReader { tokens: &tokens, end: text.len() };
    let keyword = match rest.peek() {
        Some(Token::Any) => Some(SyncMethod::Any),
        Some(Token::First) => Some(SyncMethod::First),
        _ => None,
    };
    if keyword.is_some() {
        rest.next();
    }
    let counted =
        keyword.is_some() || matches!(tokens.as_slice(), [(_, Token::Number(_)), (_, Token::Open), ..]);
    let count = if counted { rest.number()? } else { 1 };
    if counted {
        rest.expect(&Token::Open)?;
    }
    let mut names = vec![rest.name()?];
    while rest.peek() == Some(&Token::Comma) {
        rest.next();
        names.push(rest.name()?);
    }
    if counted {
        rest.expect(&Token::Close)?;
    }
    match rest.tokens.first() {
        Some((at, _)) => Err(NamesError::Syntax { at: *at }),
        None if count == 0 => Err(NamesError::Zero),
        None => Ok(Some(SynchronousStandbys { method: keyword.unwrap_or(SyncMethod::First), count, names })),
    }
}

/// Reader of the remaining tokens.
struct TokenReader<'a> {
    tokens: &'a [(usize, Token)],
    end: usize,
}

impl<'a> TokenReader<'a> {
    fn peek(&self) -> Option<&'a Token> {
        self.tokens.first().map(|it| &it.1)
    }

    fn next(&mut self) -> Option<&'a Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(&first.1)
    }

    fn syntax_error<T>(&self) -> Result<T, NamesError> {
        Err(NamesError::Syntax { at: self.tokens.first().map_or(self.end, |it| it.0) })
    }

    fn expect(&mut self, token: &Token) -> Result<(), NamesError> {
        if self.peek() != Some(token) {
            return self.syntax_error();
        }
        self.next();
        Ok(())
    }

    /// Reads a name, which may consist of digits.
    fn name(&mut self) -> Result<String, NamesError> {
        let Some(Token::Name(name) | Token::Number(name)) = self.peek() else { return self.syntax_error() };
        self.next();
        Ok(name.clone())
    }

    /// Reads a number as C's `atoi` does on a 64-bit machine: values too large for 32 bits wrap.
    fn number(&mut self) -> Result<u32, NamesError> {
        let Some(Token::Number(digits)) = self.peek() else { return self.syntax_error() };
        self.next();
        let number = digits.parse().unwrap_or(i64::MAX) as i32;
        Ok(u32::try_from(number).unwrap_or(0))
    }
}

/// Tokens of the value, as in `syncrep_scanner.l`.
fn tokens(text: &str) -> Result<Vec<(usize, Token)>, NamesError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&byte) = text.as_bytes().get(at) {
        let rest = &text[at..];
        let (length, token) = match byte {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => {
                at += 1;
                continue;
            }
            b',' => (1, Token::Comma),
            b'(' => (1, Token::Open),
            b')' => (1, Token::Close),
            b'*' => (1, Token::Name("*".to_owned())),
            b'"' => quoted(rest).ok_or(NamesError::Unterminated { at })?,
            b'0'..=b'9' => {
                let length = rest.bytes().take_while(u8::is_ascii_digit).count();
                (length, Token::Number(rest[..length].to_owned()))
            }
            b'A'..=b'Z' | b'a'..=b'z' | b'_' | 0x80.. => {
                let continues =
                    |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'$') || *it >= 0x80;
                let length = rest.bytes().take_while(continues).count();
                let word = &rest[..length];
                let token = match () {
                    () if word.eq_ignore_ascii_case("any") => Token::Any,
                    () if word.eq_ignore_ascii_case("first") => Token::First,
                    () => Token::Name(word.to_owned()),
                };
                (length, token)
            }
            _ => return Err(NamesError::Syntax { at }),
        };
        tokens.push((at, token));
        at += length;
    }
    Ok(tokens)
}

/// Quoted name at the start of `text`, and its length in bytes. Two quotes within the name represent one.
fn quoted(text: &str) -> Option<(usize, Token)> {
    let mut name = String::new();
    let mut rest = &text[1..];
    loop {
        let end = rest.find('"')?;
        name.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        if !rest.starts_with('"') {
            return Some((text.len() - rest.len(), Token::Name(name)));
        }
        name.push('"');
        rest = &rest[1..];
    }
}
