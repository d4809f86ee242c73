//! What do these bytes mean, and which bytes ask this?
//!
//! The PostgreSQL protocol 3.0 and HTTP/1.1 as pure functions and state machines. Nothing here does I/O, reads a clock or draws
//! randomness; all three arrive as arguments, save for what rustls needs within TLS. Imports nothing of ours.

mod code;
mod escape;
pub mod http;
pub mod json;
pub mod pg;
mod template;
pub mod tls;
pub mod x509;

pub use code::Code;
pub use template::{Placeholder, Template, TemplateBuilder};
