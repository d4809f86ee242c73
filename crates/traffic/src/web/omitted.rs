//! Requests that no operation contains

use model::message;
use model::message::Message;

/// Requests that are left out for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OmittedRequests {
    pub reason: OmissionReason,
    pub requests: u64,
}

/// Reason why a request is not part of the experiment.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OmissionReason {
    /// It was sent to another service.
    OtherOrigin {
        origin: String,
    },
    /// An image, a font, a style sheet, a script or media.
    StaticFile,
    /// An OPTIONS request by which a browser asks for permission.
    Preflight,
    WebSocket,
    /// A response that does not end, as of server-sent events.
    EventStream,
    /// There was no response, for example because the page was left.
    NoResponse,
    /// The browser's cache answered.
    Cached,
    /// pgdyno lacks the method.
    Method {
        method: String,
    },
    /// The URL is not one of HTTP, such as `data:`.
    Scheme,
    /// The body is not text, or is not in the file.
    BinaryBody,
    /// The body is too long for a readable experiment.
    LongBody,
    /// GET and HEAD requests cannot have a body.
    UnexpectedBody,
    /// There are more requests than an operation or a file may have.
    TooMany,
}

impl OmissionReason {
    /// Short description, which completes "12 requests: …".
    pub fn message(&self) -> Message {
        match self {
            OmissionReason::OtherOrigin { origin } => message!("traffic-web-left-out-origin", origin),
            OmissionReason::StaticFile => message!("traffic-web-left-out-static"),
            OmissionReason::Preflight => message!("traffic-web-left-out-preflight"),
            OmissionReason::WebSocket => message!("traffic-web-left-out-websocket"),
            OmissionReason::EventStream => message!("traffic-web-left-out-event-stream"),
            OmissionReason::NoResponse => message!("traffic-web-left-out-no-response"),
            OmissionReason::Cached => message!("traffic-web-left-out-cached"),
            OmissionReason::Method { method } => message!("traffic-web-left-out-method", method),
            OmissionReason::Scheme => message!("traffic-web-left-out-scheme"),
            OmissionReason::BinaryBody => message!("traffic-web-left-out-binary"),
            OmissionReason::LongBody => message!("traffic-web-left-out-long"),
            OmissionReason::UnexpectedBody => message!("traffic-web-left-out-body"),
            OmissionReason::TooMany => message!("traffic-web-left-out-too-many"),
        }
    }
}

impl From<&OmittedRequests> for Message {
    fn from(left_out: &OmittedRequests) -> Message {
        message!("traffic-web-left-out", requests = left_out.requests, reason = left_out.reason.message())
    }
}

/// Counts a request.
pub(super) fn add(all: &mut Vec<OmittedRequests>, reason: OmissionReason) {
    match all.iter_mut().find(|left_out| left_out.reason == reason) {
        Some(left_out) => left_out.requests += 1,
        None => all.push(OmittedRequests { reason, requests: 1 }),
    }
}
