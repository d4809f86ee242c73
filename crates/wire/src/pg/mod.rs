//! PostgreSQL protocol 3.0, seen from a client. Source: PostgreSQL manual, chapter 55 "Frontend/Backend Protocol".

mod channel;
pub mod compile;
mod event;
mod login;

pub use channel::Channel;
pub use event::{Columns, Event, Notice, ProtocolError, Reply, Row, Status};
pub use login::{Login, Transport};
