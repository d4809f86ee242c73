//! Normalisation: statements that differ only in their values become one template
//!
//! Only constants that may be replaced by a parameter become slots. Constants that belong to the syntax remain, such as
//! those of type modifiers, positions in `ORDER BY 1`, and utility statements.

use super::column_name::{column_name, insert_columns};
use super::lexer::{Token, TokenKind, tokens};
use super::spacing::{begins_clause, needs_space};
use super::template::{Column, Element, Form, Piece, Template, Value, literal};
use super::words::{is_interval_field, is_optimizable, is_polymorphic, is_type, precedes_expression};

/// Reason why a statement has no template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NormaliseError {
    /// A quote is not closed, or a character begins no token.
    Unreadable,
    /// The statement has a parameter without a value.
    MissingParameter,
}

/// Template and values of a statement. `parameters` are the values of `$1`, `$2` and so on. A parameter that is NULL
/// becomes part of the template.
pub(crate) fn normalise(
    text: &str,
    parameters: &[Option<String>],
) -> Result<(Template, Vec<Value>), NormaliseError> {
    Normaliser { parameters, ..Normaliser::default() }.read(text)
}

/// Template of a statement whose constants and lists remain as they are. The value of each parameter is its number.
pub(crate) fn parameterise(text: &str) -> Result<(Template, Vec<Value>), NormaliseError> {
    let count = parameter_count(text).ok_or(NormaliseError::Unreadable)?;
    let numbers: Vec<Option<String>> = (1..=count).map(|number| Some(number.to_string())).collect();
    Normaliser { parameters: &numbers, keeps_constants: true, ..Normaliser::default() }.read(text)
}

/// Statement with `$1` and so on in place of values, whatever the values of its parameters are; `None` if the text cannot
/// be read.
pub(crate) fn shape(text: &str) -> Option<String> {
    let parameters = vec![Some(String::new()); parameter_count(text)?];
    normalise(text, &parameters).ok().map(|(template, _)| template.text())
}

/// Highest number of a parameter in the text; `None` if the text cannot be read.
pub(crate) fn parameter_count(text: &str) -> Option<usize> {
    let tokens = tokens(text)?;
    let numbers = tokens.iter().filter(|token| token.kind == TokenKind::Parameter);
    let numbers = numbers.map(|token| token.text[1..].parse::<u16>().map(usize::from));
    numbers.max_by_key(|number| number.clone().unwrap_or(usize::MAX)).unwrap_or(Ok(0)).ok()
}

#[derive(Debug, Default)]
struct Normaliser<'a> {
    parameters: &'a [Option<String>],
    /// True if only parameters become slots.
    keeps_constants: bool,
    template: Template,
    values: Vec<Value>,
    text: String,
}

/// Position in a statement.
#[derive(Debug, Default)]
struct Context {
    depth: usize,
    /// Depth of the parentheses in which an `ORDER BY` or `GROUP BY` list is read.
    by_list: Option<usize>,
    /// Depth within the modifiers of a type, such as `numeric(10, 2)`.
    modifiers: Option<usize>,
    /// For each open parenthesis: true if it has the arguments of a function that accepts any type.
    polymorphic: Vec<bool>,
    /// Columns of an `INSERT`, and the index of the current value.
    columns: Vec<String>,
    in_values: bool,
    value: usize,
}

impl Normaliser<'_> {
    /// Template and values of a text.
    fn read(mut self, text: &str) -> Result<(Template, Vec<Value>), NormaliseError> {
        let tokens = tokens(text).ok_or(NormaliseError::Unreadable)?;
        // Within the body of a function, semicolons do not separate statements of the message.
        let has_body = tokens.iter().any(|token| token.is_word("atomic"));
        let mut depth = 0usize;
        let mut start = 0;
        for index in 0..=tokens.len() {
            let token = tokens.get(index);
            match token {
                Some(token) if token.is("(") => depth += 1,
                Some(token) if token.is(")") => depth = depth.saturating_sub(1),
                _ => {}
            }
            if token.is_none_or(|token| token.is(";") && depth == 0 && !has_body) {
                if index > start {
                    if !self.template.pieces.is_empty() {
                        self.template.pieces.push(Piece::Separator);
                    }
                    self.statement(&tokens[start..index])?;
                }
                start = index + 1;
            }
        }
        Ok((self.template, self.values))
    }

    fn statement(&mut self, tokens: &[Token<'_>]) -> Result<(), NormaliseError> {
        let first = tokens.iter().find(|token| !token.is("("));
        let is_replaceable = |token: &Token<'_>| is_optimizable(&token.text) || token.is_word("execute");
        let may_replace = !self.keeps_constants && first.is_some_and(is_replaceable);
        let mut context = Context { columns: insert_columns(tokens), ..Context::default() };
        let mut at = 0;
        while at < tokens.len() {
            context.enter(tokens, at);
            let begins = begins_operand(tokens, at);
            let slot = if tokens[at].kind == TokenKind::Parameter {
                self.parameter(tokens, at)?
            } else if !may_replace {
                None
            } else {
                list(tokens, at, self.parameters)?.or_else(|| constant(tokens, at, begins, &context))
            };
            let end = at + slot.as_ref().map_or(1, |slot| slot.length);
            if needs_space(tokens, at) {
                if context.depth == 0 && begins_clause(tokens, at) {
                    self.flush();
                    self.template.pieces.push(Piece::Break);
                } else {
                    self.text.push(' ');
                }
            }
            match slot {
                Some(Found { replacement: Some((form, value)), .. }) => {
                    let is_untyped = context.polymorphic.last() == Some(&true) || is_null_test(tokens, end);
                    let column =
                        Column { form, name: column_name(tokens, at, context.insert_column()), is_untyped };
                    self.push_slot(column, value);
                }
                Some(Found { .. }) => self.text.push_str("NULL"),
                None => self.push_token(&tokens[at]),
            }
            at = end;
        }
        self.flush();
        Ok(())
    }

    /// Reads a parameter of the extended query protocol.
    fn parameter(&self, tokens: &[Token<'_>], at: usize) -> Result<Option<Found>, NormaliseError> {
        let (number, value) = parameter(&tokens[at].text, self.parameters)?;
        let replacement = value.map(|text| (Form::Parameter(number), Value::Text(text.clone())));
        Ok(Some(Found { length: 1, replacement }))
    }

    fn push_slot(&mut self, column: Column, value: Value) {
        self.flush();
        let is_parameter = matches!(column.form, Form::Parameter(_));
        let same = |other: &Column| {
            is_parameter && (&other.form, other.is_untyped) == (&column.form, column.is_untyped)
        };
        let index = self.template.columns.iter().position(same).unwrap_or_else(|| {
            self.template.columns.push(column);
            self.values.push(value);
            self.values.len() - 1
        });
        self.template.pieces.push(Piece::Slot(index));
    }

    fn push_token(&mut self, token: &Token<'_>) {
        match token.kind {
            TokenKind::String => {
                self.template.has_constant = true;
                self.text.push_str(&literal(&token.text));
            }
            _ => {
                self.template.has_constant |= token.kind == TokenKind::Verbatim;
                self.text.push_str(&token.text);
            }
        }
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.template.pieces.push(Piece::Text(std::mem::take(&mut self.text)));
        }
    }
}

/// Tokens that a slot replaces.
struct Found {
    /// Number of tokens.
    length: usize,
    /// `None` for a parameter that is NULL.
    replacement: Option<(Form, Value)>,
}

impl Context {
    /// Column of an `INSERT` for which the current value is.
    fn insert_column(&self) -> Option<&String> {
        (self.in_values && self.depth == 1).then(|| self.columns.get(self.value)).flatten()
    }

    /// Updates the context before the token at `at` is read.
    fn enter(&mut self, tokens: &[Token<'_>], at: usize) {
        let token = &tokens[at];
        let word_before = |back: usize, word: &str| at >= back && tokens[at - back].is_word(word);
        if token.is("(") {
            self.depth += 1;
            let function = at.checked_sub(1).map(|before| &tokens[before]);
            let is_polymorphic =
                |token: &Token<'_>| token.kind == TokenKind::Word && is_polymorphic(&token.text);
            self.polymorphic.push(function.is_some_and(is_polymorphic));
            if is_modifier_parenthesis(tokens, at) {
                self.modifiers.get_or_insert(self.depth);
            }
            if self.depth == 1 {
                self.value = 0;
            }
        } else if token.is(")") {
            if self.modifiers == Some(self.depth) {
                self.modifiers = None;
            }
            self.depth = self.depth.saturating_sub(1);
            self.polymorphic.pop();
            self.by_list = self.by_list.filter(|depth| *depth <= self.depth);
        } else if token.is(",") {
            if self.depth == 1 {
                self.value += 1;
            }
        } else if token.is_word("by") {
            if word_before(1, "order") || word_before(1, "group") {
                self.by_list = Some(self.depth);
            }
        } else if token.is_word("values") {
            self.in_values = self.depth == 0;
        } else if token.kind == TokenKind::Word
            && self.by_list == Some(self.depth)
            && ends_by_list(&token.text)
        {
            self.by_list = None;
        }
    }
}

fn ends_by_list(word: &str) -> bool {
    [
        "limit",
        "offset",
        "fetch",
        "for",
        "having",
        "window",
        "union",
        "except",
        "intersect",
        "rows",
        "range",
        "groups",
    ]
    .iter()
    .any(|end| end.eq_ignore_ascii_case(word))
}

/// True for the parenthesis after a type in a cast: `x::numeric(10, 2)`, `CAST(x AS varchar(20))`.
fn is_modifier_parenthesis(tokens: &[Token<'_>], at: usize) -> bool {
    let is_cast = |back: usize| at >= back && (tokens[at - back].is("::") || tokens[at - back].is_word("as"));
    let is_word = |back: usize| at >= back && tokens[at - back].kind == TokenKind::Word;
    let second = |back: usize| tokens[at - back].is_word("varying") || tokens[at - back].is_word("precision");
    is_word(1) && (is_cast(2) || (is_word(2) && second(1) && is_cast(3)))
}

/// True if an operand may begin at `at`, so that a constant there is an expression of its own.
fn begins_operand(tokens: &[Token<'_>], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| &tokens[before]) else { return false };
    match before.kind {
        TokenKind::Operator => before.text != "::",
        TokenKind::Punctuation => matches!(&*before.text, "(" | "," | "[" | ":"),
        TokenKind::Word => precedes_expression(&before.text),
        _ => false,
    }
}

/// Constant at `at` that may be replaced.
fn constant(tokens: &[Token<'_>], at: usize, begins: bool, context: &Context) -> Option<Found> {
    if !begins {
        return None;
    }
    let token = &tokens[at];
    let kind_at = |index: usize| tokens.get(index).map(|token| token.kind);
    match token.kind {
        TokenKind::String => {
            let value = Value::Text(token.text.clone().into_owned());
            Some(Found { length: 1, replacement: Some((Form::String, value)) })
        }
        TokenKind::Number => number(tokens, at, "", context),
        TokenKind::Operator if token.text == "-" && kind_at(at + 1) == Some(TokenKind::Number) => {
            number(tokens, at + 1, "-", context).map(|found| Found { length: 2, ..found })
        }
        TokenKind::Word if is_type(&token.text) => {
            let words = type_length(tokens, at);
            let string = tokens.get(at + words).filter(|token| token.kind == TokenKind::String)?;
            let is_field =
                |token: &Token<'_>| token.kind == TokenKind::Word && is_interval_field(&token.text);
            if tokens.get(at + words + 1).is_some_and(is_field) {
                return None;
            }
            let name: Vec<&str> = tokens[at..at + words].iter().map(|token| &*token.text).collect();
            let form = Form::TypedString(name.join(" "));
            Some(Found {
                length: words + 1,
                replacement: Some((form, Value::Text(string.text.clone().into_owned()))),
            })
        }
        _ => None,
    }
}

/// Number of words of the type that begins at `at`: 4 for `timestamp with time zone`.
fn type_length(tokens: &[Token<'_>], at: usize) -> usize {
    let is = |index: usize, word: &str| tokens.get(at + index).is_some_and(|token| token.is_word(word));
    let has_zone = (is(1, "with") || is(1, "without")) && is(2, "time") && is(3, "zone");
    if has_zone { 4 } else { 1 }
}

fn number(tokens: &[Token<'_>], at: usize, sign: &str, context: &Context) -> Option<Found> {
    let text = &*tokens[at].text;
    let next = tokens.get(at + 1);
    let follows_word =
        next.is_none_or(|token| token.kind == TokenKind::Word || token.is(",") || token.is(")"));
    let begins_item = at > 0 && (tokens[at - 1].is(",") || tokens[at - 1].is_word("by"));
    let is_position = context.by_list == Some(context.depth) && follows_word && begins_item;
    let counts_rows = next.is_some_and(|token| token.is_word("row") || token.is_word("rows"));
    let is_syntax = is_position || counts_rows || context.modifiers.is_some();
    let digits_end = text.find(['.', 'e', 'E']).unwrap_or(text.len());
    let is_canonical = (digits_end == 1 || !text.starts_with('0')) && digits_end > 0 && !text.ends_with('.');
    (!is_syntax && is_canonical).then(|| Found {
        length: 1,
        replacement: Some((Form::Number, Value::Number(format!("{sign}{text}")))),
    })
}

/// Number and value of a parameter such as `$1`.
fn parameter<'a>(
    text: &str,
    parameters: &'a [Option<String>],
) -> Result<(usize, Option<&'a String>), NormaliseError> {
    let number: usize = text[1..].parse().map_err(|_| NormaliseError::MissingParameter)?;
    let value = number.checked_sub(1).and_then(|index| parameters.get(index));
    Ok((number, value.ok_or(NormaliseError::MissingParameter)?.as_ref()))
}

/// List of constants at `at`: `IN (1, 2)` or `NOT IN ('a')`, after an operand that is not a constant.
fn list(
    tokens: &[Token<'_>],
    at: usize,
    parameters: &[Option<String>],
) -> Result<Option<Found>, NormaliseError> {
    let is = |index: usize, word: &str| tokens.get(index).is_some_and(|token| token.is_word(word));
    let negated = is(at, "not");
    let start = at + usize::from(negated);
    let opens = tokens.get(start + 1).is_some_and(|token| token.is("("));
    let follows_operand = at > 0
        && match tokens[at - 1].kind {
            TokenKind::Word => !precedes_expression(&tokens[at - 1].text),
            TokenKind::QuotedIdentifier => true,
            _ => tokens[at - 1].is(")") || tokens[at - 1].is("]"),
        };
    if !is(start, "in") || !opens || !follows_operand {
        return Ok(None);
    }
    let (mut elements, mut index) = (Vec::new(), start + 2);
    let (mut integers, mut decimals, mut texts) = (false, false, false);
    loop {
        let sign = if tokens.get(index).is_some_and(|token| token.is("-")) { "-" } else { "" };
        index += sign.len();
        let Some(token) = tokens.get(index) else { return Ok(None) };
        elements.push(match token.kind {
            TokenKind::Number => {
                let is_integer = token.text.bytes().all(|byte| byte.is_ascii_digit());
                (integers, decimals) = (integers || is_integer, decimals || !is_integer);
                Element::Number(format!("{sign}{}", token.text))
            }
            TokenKind::String if sign.is_empty() => {
                texts = true;
                Element::Text(token.text.clone().into_owned())
            }
            TokenKind::Parameter if sign.is_empty() => {
                let (_, value) = parameter(&token.text, parameters)?;
                value.map_or(Element::Null, |text| Element::Text(text.clone()))
            }
            TokenKind::Word if sign.is_empty() && token.is_word("null") => Element::Null,
            _ => return Ok(None),
        });
        index += 1;
        match tokens.get(index) {
            Some(token) if token.is(",") => index += 1,
            Some(token) if token.is(")") => break,
            _ => return Ok(None),
        }
    }
    if texts && (integers || decimals) {
        return Ok(None);
    }
    let form = Form::List { negated, is_numeric: decimals };
    Ok(Some(Found { length: index + 1 - at, replacement: Some((form, Value::List(elements))) }))
}

/// True for `IS NULL` and `IS NOT NULL`, which do not determine the type of their operand.
fn is_null_test(tokens: &[Token<'_>], at: usize) -> bool {
    let is = |index: usize, word: &str| tokens.get(at + index).is_some_and(|token| token.is_word(word));
    is(0, "is") && (is(1, "null") || (is(1, "not") && is(2, "null")))
}

#[cfg(test)]
mod tests;
