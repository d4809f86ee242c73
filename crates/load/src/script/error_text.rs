//! Texts of evaluation errors

use super::error::EvalError;
use super::eval::MAX_ARGUMENTS;
use super::value_type::ValueType;
use super::variables::Variables;
use super::{Slot, VariableNames};

impl EvalError {
    /// Message in pgbench's wording, with a suggested correction.
    pub fn explain(&self, names: &VariableNames, variables: &Variables) -> String {
        let name = |slot: Slot| &*names[usize::from(slot)];
        let text = |slot: Slot| {
            let mut text = Vec::new();
            variables.write(slot, &mut text);
            String::from_utf8_lossy(&text).into_owned()
        };
        match *self {
            EvalError::Undefined(slot) => {
                let name = name(slot);
                format!("undefined variable \"{name}\"; set it before by \\set {name} … or -D {name}=…")
            }
            EvalError::Unquotable(slot) => format!(
                "variable \"{0}\" is a text within a comment or between dollar signs, where a simple query cannot hold \
                 it safely; write :{0} outside, or use query_mode extended",
                name(slot)
            ),
            EvalError::Malformed(slot) => format!(
                "malformed variable \"{}\" value: \"{}\"; expressions read null, a boolean, an integer or a double",
                name(slot),
                text(slot)
            ),
            EvalError::NotInteger(slot) => {
                format!(
                    "invalid input syntax for type bigint: \"{}\" (variable \"{}\")",
                    text(slot),
                    name(slot)
                )
            }
            EvalError::TooLarge(slot) => format!(
                "value \"{}\" is out of range for type bigint (variable \"{}\"); with a decimal point it is a double",
                text(slot),
                name(slot)
            ),
            EvalError::InvalidName(slot) => format!(
                "set: invalid variable name: \"{}\"; letters, digits and underscores, not a digit first",
                name(slot)
            ),
            EvalError::Coercion { from, to } => {
                let advice = match (from, to) {
                    (ValueType::Null, _) => "test it with IS NULL before",
                    (_, ValueType::Bool) => "compare it, as in x <> 0",
                    _ => "write CASE WHEN … THEN 1 ELSE 0 END",
                };
                format!("cannot coerce {} to {}; {advice}", from.name(), to.name())
            }
            EvalError::NotInt(double) => {
                let double = if double.is_infinite() {
                    if double < 0.0 { "-Infinity" } else { "Infinity" }.to_owned()
                } else {
                    format!("{double:.6}")
                };
                format!("double to int overflow for {double}; an int has 64 bits")
            }
            EvalError::Overflow(what) => {
                format!("bigint {what} out of range; with double(…) around an operand the result is a double")
            }
            EvalError::DivisionByZero => {
                "division by zero; write CASE WHEN divisor <> 0 THEN … END around it".to_owned()
            }
            EvalError::TooManyArguments => {
                format!(
                    "too many function arguments, maximum is {MAX_ARGUMENTS}; nest the calls, as in least(least(…), …)"
                )
            }
            EvalError::Draw(ref bad) => bad.to_string(),
            EvalError::PermuteSize => {
                "permute size parameter must be greater than zero; it is the number of values to permute"
                    .to_owned()
            }
            EvalError::SleepUndefined(slot) => {
                let name = name(slot);
                format!("sleep: undefined variable \"{name}\"; set it before by \\set {name} …")
            }
            EvalError::SleepNotNumeric(slot) => format!(
                "sleep: invalid sleep time \"{}\" for variable \"{}\"; it must start with a whole number",
                text(slot),
                name(slot)
            ),
        }
    }
}
