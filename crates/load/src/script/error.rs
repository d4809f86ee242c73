//! Errors in the evaluation of expressions

use super::Slot;
use super::value_type::ValueType;
use crate::random::DrawError;

/// Reason why an expression cannot be evaluated; see [`EvalError::message`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EvalError {
    Undefined(Slot),
    /// The variable's text is neither null, a boolean nor a number.
    Malformed(Slot),
    /// The variable's text is only a sign or white space.
    NotInteger(Slot),
    /// The variable's text is an integer beyond 64 bits.
    TooLarge(Slot),
    /// The text is not a valid variable name.
    InvalidName(Slot),
    Coercion {
        from: ValueType,
        to: ValueType,
    },
    NotInt(f64),
    /// The operation overflowed: `add`, `sub`, `mul` or `div`.
    Overflow(&'static str),
    DivisionByZero,
    TooManyArguments,
    Draw(DrawError),
    PermuteSize,
    SleepUndefined(Slot),
    /// The variable's text does not start with a number.
    SleepNotNumeric(Slot),
    /// The variable is at a position of the statement where its text cannot be escaped.
    Unquotable(Slot),
}

impl From<DrawError> for EvalError {
    fn from(bad: DrawError) -> EvalError {
        EvalError::Draw(bad)
    }
}
