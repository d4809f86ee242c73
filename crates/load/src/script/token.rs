//! Lexer of backslash commands and expressions
//!
//! A command ends with its line, unless the line ends with a backslash (continuation). Except for expressions, a
//! command consists of words separated by white space.

use super::names::{continues_name, starts_name};
use super::number;
use model::message;
use model::message::Message;

/// Error at a byte of the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ExpressionDiagnostic {
    pub at: usize,
    pub message: Message,
}

/// Position in a script.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    pub text: &'a str,
    pub at: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    EndOfLine,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Eq,
    Ne,
    Le,
    Ge,
    Lt,
    Gt,
    ShiftLeft,
    ShiftRight,
    Pipe,
    Ampersand,
    Hash,
    Tilde,
    Open,
    Close,
    Comma,
    And,
    Or,
    Not,
    Is,
    IsNull,
    NotNull,
    Case,
    When,
    Then,
    Else,
    End,
    Null,
    Bool(bool),
    Int(i64),
    /// Number 9223372036854775808, which is a valid integer only after a minus.
    MinInt,
    Double(f64),
    Variable(&'a str),
    Function(&'a str),
}

const KEYWORDS: [(&str, Token<'static>); 14] = [
    ("and", Token::And),
    ("or", Token::Or),
    ("not", Token::Not),
    ("is", Token::Is),
    ("isnull", Token::IsNull),
    ("notnull", Token::NotNull),
    ("case", Token::Case),
    ("when", Token::When),
    ("then", Token::Then),
    ("else", Token::Else),
    ("end", Token::End),
    ("null", Token::Null),
    ("true", Token::Bool(true)),
    ("false", Token::Bool(false)),
];

impl<'a> Cursor<'a> {
    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn run(&self, from: usize, belongs: impl Fn(u8) -> bool) -> usize {
        let rest = self.text.as_bytes().get(from..).unwrap_or_default();
        from + rest.iter().take_while(|&&b| belongs(b)).count()
    }

    /// Length of the line continuation that starts at `at`; `None` if there is none.
    fn continuation(&self, at: usize) -> Option<usize> {
        match self.text.as_bytes().get(at..)? {
            [b'\\', b'\n', ..] => Some(2),
            [b'\\', b'\r', b'\n', ..] => Some(3),
            _ => None,
        }
    }

    fn skip_space(&mut self) {
        loop {
            self.at = self.run(self.at, is_space);
            match self.continuation(self.at) {
                Some(length) => self.at += length,
                None => return,
            }
        }
    }

    /// Returns the next word and its offset. At the end of the command, consumes the newline and returns `None`.
    pub fn word(&mut self) -> Option<(usize, &'a str)> {
        self.skip_space();
        let start = self.at;
        match self.byte(0)? {
            b'\n' => {
                self.at += 1;
                None
            }
            _ => {
                let mut end = self.run(start, |b| !is_space(b) && b != b'\n');
                self.at = end;
                // A line continuation directly after a word is not part of the word.
                if self.text.as_bytes()[end - 1] == b'\\'
                    && let Some(length) = self.continuation(end - 1)
                {
                    end -= 1;
                    self.at = end + length;
                }
                Some((start, &self.text[start..end]))
            }
        }
    }

    /// Returns the next token of an expression, and its offset.
    pub fn token(&mut self) -> Result<(usize, Token<'a>), ExpressionDiagnostic> {
        self.skip_space();
        let start = self.at;
        let Some(first) = self.byte(0) else { return Ok((start, Token::EndOfLine)) };
        let (length, token) = match (first, self.byte(1)) {
            (b'\n', _) => (1, Token::EndOfLine),
            (b'+', _) => (1, Token::Plus),
            (b'-', _) => (1, Token::Minus),
            (b'*', _) => (1, Token::Star),
            (b'/', _) => (1, Token::Slash),
            (b'%', _) => (1, Token::Percent),
            (b'=', _) => (1, Token::Eq),
            (b'<', Some(b'>')) | (b'!', Some(b'=')) => (2, Token::Ne),
            (b'<', Some(b'=')) => (2, Token::Le),
            (b'>', Some(b'=')) => (2, Token::Ge),
            (b'<', Some(b'<')) => (2, Token::ShiftLeft),
            (b'>', Some(b'>')) => (2, Token::ShiftRight),
            (b'<', _) => (1, Token::Lt),
            (b'>', _) => (1, Token::Gt),
            (b'|', _) => (1, Token::Pipe),
            (b'&', _) => (1, Token::Ampersand),
            (b'#', _) => (1, Token::Hash),
            (b'~', _) => (1, Token::Tilde),
            (b'(', _) => (1, Token::Open),
            (b')', _) => (1, Token::Close),
            (b',', _) => (1, Token::Comma),
            (b':', Some(next)) if continues_name(next) => {
                self.at = self.run(start + 1, continues_name);
                return Ok((start, Token::Variable(&self.text[start + 1..self.at])));
            }
            (b'0'..=b'9', _) | (b'.', Some(b'0'..=b'9')) => return self.number(start),
            (first, _) if starts_name(first) => {
                self.at = self.run(start, continues_name);
                let word = &self.text[start..self.at];
                let keyword = KEYWORDS.iter().find(|(keyword, _)| keyword.eq_ignore_ascii_case(word));
                return Ok((start, keyword.map_or(Token::Function(word), |&(_, token)| token)));
            }
            (other, _) => {
                self.at += 1;
                return Err(unexpected(start, char::from(other)));
            }
        };
        self.at += length;
        Ok((start, token))
    }

    fn number(&mut self, start: usize) -> Result<(usize, Token<'a>), ExpressionDiagnostic> {
        let digits = |from| self.run(from, |b| b.is_ascii_digit());
        let bytes = self.text.as_bytes();
        let mut end = digits(start);
        let mut fractional = false;
        if bytes.get(end) == Some(&b'.') {
            fractional = true;
            end = digits(end + 1);
        }
        if let Some(b'e' | b'E') = bytes.get(end) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent_end = digits(end + 1 + sign);
            if exponent_end > end + 1 + sign {
                fractional = true;
                end = exponent_end;
            }
        }
        self.at = end;
        let text = &self.text[start..end];
        let token = if fractional {
            Token::Double(number::parse_double(text.as_bytes()).ok_or_else(|| ExpressionDiagnostic {
                at: start,
                message: message!("script-double-overflow", text),
            })?)
        } else if text == "9223372036854775808" {
            Token::MinInt
        } else {
            Token::Int(number::parse_integer(text.as_bytes()).map_err(|_| ExpressionDiagnostic {
                at: start,
                message: message!("script-bigint-overflow", text, max = i64::MAX.to_string()),
            })?)
        };
        Ok((start, token))
    }
}

fn unexpected(at: usize, character: char) -> ExpressionDiagnostic {
    let kind = match character {
        ';' => "semicolon",
        '!' => "exclamation",
        '^' => "caret",
        '\'' | '"' => "quote",
        ':' => "colon",
        '\\' => "backslash",
        '.' => "point",
        '[' | ']' | '{' | '}' => "bracket",
        _ => "other",
    };
    let message = message!("script-character", character = character.to_string(), kind);
    ExpressionDiagnostic { at, message }
}

/// True for white space within a line.
fn is_space(byte: u8) -> bool {
    byte != b'\n' && number::is_space(byte)
}
