//! Client side of PostgreSQL's protocol 3.0 and of HTTP/1.1.
//!
//! The crate consists of pure functions and state machines. It does no I/O, reads no clock and generates no random
//! numbers; all three are arguments. The exception is rustls, which reads the time and generates random numbers. From
//! `model`, the crate uses only `Code` and `message`.

mod host_name;
pub mod http;
pub mod json;
mod output;
mod percent;
pub mod pg;
mod template;
pub mod tls;
pub mod x509;

pub use host_name::HostName;
pub use model::Code;
pub use percent::percent_decode;
pub use template::{Placeholder, Template, TemplateBuilder};
