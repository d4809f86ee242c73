//! PostgreSQL protocol 3.0, client side. Source: PostgreSQL manual, chapter 55 "Frontend/Backend Protocol".

mod auth;
mod channel;
pub mod compile;
pub mod conninfo;
mod error;
mod event;
mod frontend;
mod login;
mod message;
mod scanner;
mod scram;
mod session;

pub use crate::tls::SslMode;
pub use channel::Channel;
pub use error::ProtocolError;
pub use event::{Event, Reply, RowCommand, RowCount, TransactionStatus};
pub use frontend::{cancel_request, copy_data, copy_done, copy_fail, terminate};
pub use login::{AuthMethods, ChannelBinding, Encryption, Login, Secret, Transport};
pub use message::{Column, Columns, Notice, Row};
pub use scram::verifier as scram_verifier;
