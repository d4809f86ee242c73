//! Types of values

/// Type of a value of the script language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    Null,
    Bool,
    Int,
    Double,
}

impl ValueType {
    pub(super) fn name(self) -> &'static str {
        match self {
            ValueType::Null => "null",
            ValueType::Bool => "boolean",
            ValueType::Int => "int",
            ValueType::Double => "double",
        }
    }
}
