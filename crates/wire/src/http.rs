//! HTTP/1.1: the client side, and a reader of requests. Sources: RFC 9110 (semantics), RFC 9112 (framing).
//!
//! A connection carries one request at a time, without pipelining. Bodies are drained without a copy; compressed bodies
//! are decompressed only on request.

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
mod request_reader;
mod url;

pub use body_search::{BodySearch, TEXTS_MAX};
pub use channel::{Channel, Event};
pub use compile::{Method, Request, TemplatePart};
pub use cookies::{CookieJar, SetCookieContext};
pub use decompress::{ACCEPTED_CODINGS, DECOMPRESSED_MAX};
pub use error::Error;
pub use head::HEAD_MAX;
pub use location::{Origin, RedirectError};
pub use reader::{Response, ResponseReader, Retain, decompressed};
pub use request_reader::{RequestEvent, RequestHead, RequestReader};
pub use url::{Host, Url, UrlError, UrlProblem};
