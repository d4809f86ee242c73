//! Messages of evaluation errors

use super::error::EvalError;
use super::eval::MAX_ARGUMENTS;
use super::value_type::ValueType;
use super::variables::Variables;
use super::{Slot, VariableNames};
use crate::random::{DrawError, GAUSSIAN_MIN, ZIPFIAN_MAX, ZIPFIAN_MIN};
use model::message;
use model::message::Message;

impl EvalError {
    /// English message in pgbench's wording, with a suggested correction.
    pub fn message(&self, names: &VariableNames, variables: &Variables) -> Message {
        let name = |slot: Slot| &*names[usize::from(slot)];
        let text = |slot: Slot| {
            let mut text = Vec::new();
            variables.write(slot, &mut text);
            String::from_utf8_lossy(&text).into_owned()
        };
        match *self {
            EvalError::Undefined(slot) => message!("abort-undefined", name = name(slot)),
            EvalError::Unquotable(slot) => message!("abort-unquotable", name = name(slot)),
            EvalError::Malformed(slot) => message!("abort-malformed", name = name(slot), text = text(slot)),
            EvalError::NotInteger(slot) => {
                message!("abort-not-integer", name = name(slot), text = text(slot))
            }
            EvalError::TooLarge(slot) => message!("abort-too-large", name = name(slot), text = text(slot)),
            EvalError::InvalidName(slot) => message!("abort-variable-name", name = name(slot)),
            EvalError::Coercion { from, to } => {
                let advice = match (from, to) {
                    (ValueType::Null, _) => "null",
                    (_, ValueType::Bool) => "boolean",
                    _ => "number",
                };
                message!("abort-coercion", from = from.name(), to = to.name(), advice)
            }
            EvalError::NotInt(double) => {
                let value = match double {
                    f64::INFINITY => "Infinity".to_owned(),
                    f64::NEG_INFINITY => "-Infinity".to_owned(),
                    _ => format!("{double:.6}"),
                };
                message!("abort-double-to-int", value)
            }
            EvalError::Overflow(operation) => message!("abort-overflow", operation),
            EvalError::DivisionByZero => message!("abort-division-by-zero"),
            EvalError::TooManyArguments => {
                message!("abort-too-many-arguments", max = MAX_ARGUMENTS.to_string())
            }
            EvalError::Draw(ref error) => error.into(),
            EvalError::PermuteSize => message!("abort-permute-size"),
            EvalError::SleepUndefined(slot) => message!("abort-sleep-undefined", name = name(slot)),
            EvalError::SleepNotNumeric(slot) => {
                message!("abort-sleep-not-numeric", name = name(slot), text = text(slot))
            }
        }
    }
}

impl From<&DrawError> for Message {
    fn from(error: &DrawError) -> Message {
        match error {
            DrawError::EmptyRange => message!("abort-empty-range"),
            DrawError::RangeTooLarge => message!("abort-range-too-large"),
            DrawError::Gaussian(parameter) => message!(
                "abort-gaussian",
                min = format!("{GAUSSIAN_MIN:.6}"),
                parameter = format!("{parameter:.6}")
            ),
            DrawError::Exponential(parameter) => {
                message!("abort-exponential", parameter = format!("{parameter:.6}"))
            }
            DrawError::Zipfian(parameter) => message!(
                "abort-zipfian",
                min = format!("{ZIPFIAN_MIN:.3}"),
                max = format!("{ZIPFIAN_MAX:.0}"),
                parameter = format!("{parameter:.6}")
            ),
        }
    }
}
