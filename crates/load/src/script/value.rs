//! Values of the script language, and their conversions

use super::error::EvalError;
use super::number;
use super::value_type::ValueType;

/// Value of an expression in the script language.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
}

impl Value {
    /// Truth value for `\if` and `CASE WHEN`: null and zero are false.
    pub fn is_true(self) -> bool {
        match self {
            Value::Null => false,
            Value::Bool(b) => b,
            Value::Int(i) => i != 0,
            Value::Double(d) => d != 0.0,
        }
    }

    /// Appends the value as sent to the server: `NULL`, `true`, `42`, `0.5` (15 digits).
    #[inline]
    pub fn write(self, out: &mut Vec<u8>) {
        match self {
            Value::Int(i) => number::write_integer(i, out),
            Value::Double(d) => number::write_double(d, out),
            Value::Bool(b) => out.extend_from_slice(if b { b"true" } else { b"false" }),
            Value::Null => out.extend_from_slice(b"NULL"),
        }
    }

    pub(super) fn kind(self) -> ValueType {
        match self {
            Value::Null => ValueType::Null,
            Value::Bool(_) => ValueType::Bool,
            Value::Int(_) => ValueType::Int,
            Value::Double(_) => ValueType::Double,
        }
    }

    #[inline]
    pub(super) fn int(self) -> Result<i64, EvalError> {
        match self {
            Value::Int(i) => Ok(i),
            Value::Double(d) => {
                let rounded = d.round_ties_even();
                // A double can represent −2⁶³, but not 2⁶³ − 1.
                let fits = rounded >= i64::MIN as f64 && rounded < -(i64::MIN as f64);
                if fits { Ok(rounded as i64) } else { Err(EvalError::NotInt(rounded)) }
            }
            _ => Err(EvalError::Coercion { from: self.kind(), to: ValueType::Int }),
        }
    }

    pub(super) fn double(self) -> Result<f64, EvalError> {
        match self {
            Value::Double(d) => Ok(d),
            Value::Int(i) => Ok(i as f64),
            _ => Err(EvalError::Coercion { from: self.kind(), to: ValueType::Double }),
        }
    }

    pub(super) fn bool(self) -> Result<bool, EvalError> {
        match self {
            Value::Bool(b) => Ok(b),
            _ => Err(EvalError::Coercion { from: self.kind(), to: ValueType::Bool }),
        }
    }
}

/// Formats as `debug()` does: `null`, `boolean true`, `int 42`, `double 0.5`.
impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Value::Null = self {
            return f.write_str("null");
        }
        let mut text = Vec::new();
        self.write(&mut text);
        write!(f, "{} {}", self.kind().name(), String::from_utf8_lossy(&text))
    }
}
