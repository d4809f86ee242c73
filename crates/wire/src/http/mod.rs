//! HTTP/1.1, seen from a client. Sources: RFC 9110 (what it means), RFC 9112 (how it is framed).
//!
//! One request at a time on each connection, answered before the next leaves. Bodies are drained without being copied;
//! what a compressed body says is looked at where that is asked for.

mod body;
mod body_search;
mod channel;
pub mod compile;
mod cookies;
mod decompress;
mod error;
mod head;
mod location;
mod reader;
mod url;

pub use body_search::BodySearch;
pub use channel::{Channel, Event};
pub use compile::{Method, Request, TemplatePart};
pub use cookies::{CookieJar, SetCookieContext};
pub use decompress::{ACCEPTED_CODINGS, DECOMPRESSED_MAX};
pub use error::Error;
pub use head::HEAD_MAX;
pub use location::{Origin, RedirectError};
pub use reader::{Response, ResponseReader, Retain};
pub use url::{Host, Url};
