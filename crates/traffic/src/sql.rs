//! SQL statements: tokens, and templates that are the same for equal statements with other values

mod column_name;
pub(crate) mod command;
pub(crate) mod lexer;
pub(crate) mod normalise;
mod spacing;
pub(crate) mod template;
pub(crate) mod words;
