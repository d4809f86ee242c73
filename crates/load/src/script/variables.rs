//! Variables of one client

use super::Slot;
use super::error::EvalError;
use super::number::{self, IntegerError};
use super::quoting::{self, QuoteContext};
use super::value::Value;

/// Variables of one client, indexed by the slots of the `Program`.
///
/// Setting a value never allocates. Setting a text reuses the slot's buffer, and allocates only if the text is longer
/// than all earlier texts.
#[derive(Clone, Debug)]
pub struct Variables {
    values: Vec<StoredValue>,
    /// Buffers for slots that hold a text, indexed by slot; the vector is empty until the first text is set.
    texts: Vec<Vec<u8>>,
}

#[derive(Clone, Copy, Debug)]
enum StoredValue {
    Unset,
    Value(Value),
    /// Text in `Variables::texts`. It is parsed only when an expression reads the variable.
    Text,
}

/// Result of [`Variables::write`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteResult {
    /// The value was appended.
    Value,
    /// The value is null, and `NULL` was appended. pgbench sends this text in every mode, even if it is a parameter.
    Null,
    /// The variable is unset; nothing was appended. pgbench keeps `:name` in a simple query, and sends an SQL null as a
    /// parameter.
    Unset,
}

impl Variables {
    /// Creates `n` unset variables.
    pub fn new(n: usize) -> Variables {
        Variables { values: vec![StoredValue::Unset; n], texts: Vec::new() }
    }

    #[inline]
    pub fn set(&mut self, slot: Slot, value: Value) {
        self.values[usize::from(slot)] = StoredValue::Value(value);
    }

    /// Sets a text, as `-D` and `\gset` do. Statements contain the text unchanged; expressions read it as null, a
    /// boolean or a number.
    pub fn set_text(&mut self, slot: Slot, text: &[u8]) {
        self.begin_text(slot).extend_from_slice(text);
    }

    /// Sets an empty text, and returns its buffer for appending.
    pub fn begin_text(&mut self, slot: Slot) -> &mut Vec<u8> {
        self.values[usize::from(slot)] = StoredValue::Text;
        let buffer = self.buffer(slot);
        buffer.clear();
        buffer
    }

    /// Allocates a buffer for a text of this length, so that setting it does not allocate.
    pub fn reserve(&mut self, slot: Slot, bytes: usize) {
        let buffer = self.buffer(slot);
        buffer.reserve(bytes.saturating_sub(buffer.len()));
    }

    fn buffer(&mut self, slot: Slot) -> &mut Vec<u8> {
        if self.texts.is_empty() {
            self.texts.resize_with(self.values.len(), Vec::new);
        }
        &mut self.texts[usize::from(slot)]
    }

    /// Text of the variable; empty if the variable holds no text.
    pub fn text(&self, slot: Slot) -> &[u8] {
        match self.values[usize::from(slot)] {
            StoredValue::Text => &self.texts[usize::from(slot)],
            StoredValue::Value(_) | StoredValue::Unset => &[],
        }
    }

    pub fn unset(&mut self, slot: Slot) {
        self.values[usize::from(slot)] = StoredValue::Unset;
    }

    pub fn is_set(&self, slot: Slot) -> bool {
        !matches!(self.values[usize::from(slot)], StoredValue::Unset)
    }

    /// Appends the variable's text as pgbench would send it.
    #[inline]
    pub fn write(&self, slot: Slot, out: &mut Vec<u8>) -> WriteResult {
        match self.values[usize::from(slot)] {
            StoredValue::Unset => return WriteResult::Unset,
            StoredValue::Text => out.extend_from_slice(&self.texts[usize::from(slot)]),
            StoredValue::Value(Value::Null) => {
                out.extend_from_slice(b"NULL");
                return WriteResult::Null;
            }
            StoredValue::Value(value) => value.write(out),
        }
        WriteResult::Value
    }

    /// Appends the variable's value for a simple query. A text becomes one literal.
    #[inline]
    pub fn write_literal(&self, slot: Slot, place: QuoteContext, out: &mut Vec<u8>) -> WriteResult {
        match self.values[usize::from(slot)] {
            StoredValue::Text => {
                quoting::write_literal(&self.texts[usize::from(slot)], place, out);
                WriteResult::Value
            }
            _ => self.write(slot, out),
        }
    }

    /// True if [`write_literal`](Variables::write_literal) can write the value safely in this context.
    pub fn can_be_literal(&self, slot: Slot, place: QuoteContext) -> bool {
        let is_text = matches!(self.values[usize::from(slot)], StoredValue::Text);
        place != QuoteContext::Unescapable || !is_text || quoting::is_number(&self.texts[usize::from(slot)])
    }

    /// Value of the variable for an expression.
    #[inline]
    pub fn value(&self, slot: Slot) -> Result<Value, EvalError> {
        match self.values[usize::from(slot)] {
            StoredValue::Value(value) => Ok(value),
            StoredValue::Text => parse_value(slot, &self.texts[usize::from(slot)]),
            StoredValue::Unset => Err(EvalError::Undefined(slot)),
        }
    }

    /// Integer at the start of the variable's text, as `\\sleep` reads it.
    pub(super) fn leading_integer(&self, slot: Slot) -> Result<i64, EvalError> {
        let (integer, starts_with_digit) = match self.values[usize::from(slot)] {
            StoredValue::Unset => return Err(EvalError::SleepUndefined(slot)),
            StoredValue::Value(Value::Null | Value::Bool(_)) => (0, false),
            StoredValue::Value(Value::Int(i)) => (i, i >= 0),
            StoredValue::Value(Value::Double(d)) => (d as i64, d.is_finite() && d.is_sign_positive()),
            StoredValue::Text => {
                let text = &self.texts[usize::from(slot)];
                (number::parse_leading_integer(text), text.first().is_some_and(u8::is_ascii_digit))
            }
        };
        if integer == 0 && !starts_with_digit { Err(EvalError::SleepNotNumeric(slot)) } else { Ok(integer) }
    }
}

/// Parses a text as pgbench does: an integer, `null`, a boolean or its prefix, otherwise a double.
fn parse_value(slot: Slot, text: &[u8]) -> Result<Value, EvalError> {
    let is_prefix_of =
        |word: &[u8]| word.len() >= text.len() && word[..text.len()].eq_ignore_ascii_case(text);
    let is_word = |word: &[u8]| text.eq_ignore_ascii_case(word);
    if text.is_empty() {
        Err(EvalError::Malformed(slot))
    } else if number::looks_like_integer(text) {
        number::parse_integer(text).map(Value::Int).map_err(|bad| match bad {
            IntegerError::Syntax => EvalError::NotInteger(slot),
            IntegerError::Range => EvalError::TooLarge(slot),
        })
    } else if is_word(b"null") {
        Ok(Value::Null)
    } else if is_prefix_of(b"true") || is_prefix_of(b"yes") || is_word(b"on") {
        Ok(Value::Bool(true))
    } else if is_prefix_of(b"false") || is_prefix_of(b"no") || is_word(b"off") || is_word(b"of") {
        Ok(Value::Bool(false))
    } else {
        number::parse_double(text).map(Value::Double).ok_or(EvalError::Malformed(slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_texts_as_values() {
        #[rustfmt::skip]
        let rows = [
            ("NULL", Ok(Value::Null)), ("t", Ok(Value::Bool(true))), ("TRUE", Ok(Value::Bool(true))),
            ("ye", Ok(Value::Bool(true))), ("on", Ok(Value::Bool(true))), ("of", Ok(Value::Bool(false))),
            ("n", Ok(Value::Bool(false))), ("F", Ok(Value::Bool(false))), ("o", Err(EvalError::Malformed(0))),
            ("+3", Ok(Value::Int(3))), ("1", Ok(Value::Int(1))), ("-10.1", Ok(Value::Double(-10.1))),
            ("1.0", Ok(Value::Double(1.0))), ("", Err(EvalError::Malformed(0))), ("trueXXX", Err(EvalError::Malformed(0))),
            ("12 ", Err(EvalError::Malformed(0))), ("+", Err(EvalError::NotInteger(0))),
            ("9223372036854775808", Err(EvalError::TooLarge(0))),
        ];
        for (text, expected) in rows {
            let mut variables = Variables::new(1);
            variables.set_text(0, text.as_bytes());
            assert_eq!(variables.value(0), expected, "{text:?}");
            let mut sent = Vec::new();
            assert_eq!(variables.write(0, &mut sent), WriteResult::Value);
            assert_eq!(sent, text.as_bytes(), "a text is sent unchanged");
        }
    }

    #[test]
    fn writes_values_as_text() {
        let rows = [
            (Value::Null, "NULL", WriteResult::Null),
            (Value::Bool(true), "true", WriteResult::Value),
            (Value::Bool(false), "false", WriteResult::Value),
            (Value::Int(-42), "-42", WriteResult::Value),
            (Value::Double(-0.5421), "-0.5421", WriteResult::Value),
        ];
        for (value, text, written) in rows {
            let mut variables = Variables::new(2);
            variables.set_text(1, b"before");
            variables.set(1, value);
            let mut sent = b">".to_vec();
            assert_eq!(variables.write(1, &mut sent), written);
            assert_eq!(sent[1..], *text.as_bytes());
            assert_eq!(variables.value(1), Ok(value));
            assert_eq!(variables.write(0, &mut sent), WriteResult::Unset);
            variables.unset(1);
            assert!(!variables.is_set(1));
            assert_eq!(variables.value(1), Err(EvalError::Undefined(1)));
        }
    }
}
