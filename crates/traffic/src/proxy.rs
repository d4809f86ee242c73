//! Recording proxy: what clients and a server send to each other becomes a recording
//!
//! [`ProxySession`] observes the bytes of one connection and returns its requests. It does no I/O and reads no clock.
//! [`serve()`] forwards the bytes between sockets. Every byte is forwarded before it is observed. No byte is changed,
//! except that a proxy that ends TLS removes a mechanism of authentication that cannot succeed.

mod frame;
pub mod http;
mod mechanisms;
mod pending;
mod prepared;
mod secret;
pub mod serve;
mod session;
mod sink;
mod startup;

pub use serve::{serve, serve_http};
pub use session::ProxySession;
pub use sink::{FinishedRequest, RequestSink, StatementText};
pub use startup::{Startup, StartupReader};

#[cfg(test)]
mod tests;
