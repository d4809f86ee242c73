//! Recorded traffic of PostgreSQL servers and of HTTP clients
//!
//! [`log::read`] reads server logs and appends their statements to the sessions of a [`Traffic`]. [`distil::distil`]
//! summarises a traffic as the operations, weights and feeds of an experiment. [`recording`] is the format of files whose
//! requests are sent again at their recorded times. [`proxy`] records the requests of clients while it forwards them.
//! This crate opens no files and reads no clock: callers pass readers, writers and the clock.

pub mod distil;
pub mod log;
pub mod proxy;
pub mod recording;
mod session;
pub mod skeleton;
mod sql;
mod transaction;
pub mod web;
mod yaml;

pub use session::{Protocol, Session, SkipKind, Skipped, SqlState, Statement, StatementError, Traffic};
pub use transaction::{Transaction, TransactionEnd};
