//! SQL statements: tokens, and templates that are the same for equal statements with other values

pub(crate) mod command;
pub(crate) mod lexer;
pub(crate) mod normalise;
pub(crate) mod template;
mod words;
