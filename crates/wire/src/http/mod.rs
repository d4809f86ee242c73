//! HTTP/1.1, seen from a client. Sources: RFC 9110 (what it means), RFC 9112 (how it is framed).
//!
//! One request at a time on each connection, answered before the next leaves. Bodies are drained without being copied;
//! what a compressed body says is looked at where that is asked for.

mod body;
mod channel;
pub mod compile;
mod cookies;
mod error;
mod head;
mod location;
mod needle;
mod reader;
mod unpack;
mod url;

pub use channel::{Channel, Event};
pub use compile::{Method, Part, Request};
pub use cookies::{Jar, Setting};
pub use error::Error;
pub use head::HEAD_MAX;
pub use location::{Lost, Origin};
pub use needle::Needle;
pub use reader::{Keep, Reader, Response};
pub use unpack::{CODINGS, UNPACKED_MAX};
pub use url::{Host, Url};
