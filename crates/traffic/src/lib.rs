//! Recorded traffic of PostgreSQL servers
//!
//! [`log::read`] reads server logs and appends their statements to the sessions of a [`Traffic`]. This crate opens no
//! files: callers pass readers.

pub mod log;
mod session;
mod sql;
mod transaction;

pub use session::{Protocol, Session, SkipKind, Skipped, SqlState, Statement, StatementError, Traffic};
pub use transaction::{Transaction, TransactionEnd};
