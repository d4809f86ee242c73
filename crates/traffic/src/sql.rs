//! SQL statements

pub(crate) mod command;
pub(crate) mod lexer;
