//! HTTP responses and their security headers

use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName,
    HeaderValue, LOCATION, REFERRER_POLICY, SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Response, StatusCode};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc::Receiver;

pub type HttpResponse = Response<ResponseBody>;

/// Body of a response.
#[derive(Debug)]
pub enum ResponseBody {
    Whole(Bytes),
    /// Body sent in pieces, as they arrive.
    Stream(Receiver<Bytes>),
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            ResponseBody::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            ResponseBody::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            ResponseBody::Stream(pieces) => {
                pieces.poll_recv(context).map(|poll| poll.map(|it| Ok(Frame::data(it))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, ResponseBody::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            ResponseBody::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            ResponseBody::Stream(_) => SizeHint::default(),
        }
    }
}

/// Token that a connection holds until it closes.
#[derive(Clone, Debug)]
pub struct ConnectionGuard(#[expect(dead_code, reason = "its owner counts the references")] pub Arc<()>);

/// Content security policy for pages without resources, which denies everything.
const DENY_ALL_POLICY: &str =
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; sandbox";

/// Response with headers that forbid caching, content sniffing, framing and reading from other origins.
fn response(status: StatusCode, kind: &'static str, policy: &str, content: ResponseBody) -> HttpResponse {
    let mut answer = Response::new(content);
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    let policy = HeaderValue::from_str(policy).expect("hashes are plain ASCII");
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    for (name, value) in [
        (CONTENT_TYPE, kind),
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("x-frame-options"), "DENY"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    answer
}

/// Response with one line of plain text.
pub fn text(status: StatusCode, line: &str) -> HttpResponse {
    let content = ResponseBody::Whole(Bytes::from(format!("{line}\n")));
    response(status, "text/plain; charset=utf-8", DENY_ALL_POLICY, content)
}

/// Response of type `kind`, in which browsers execute no script.
pub fn plain(kind: &'static str, content: Bytes) -> HttpResponse {
    response(StatusCode::OK, kind, DENY_ALL_POLICY, ResponseBody::Whole(content))
}

pub fn json(content: Bytes) -> HttpResponse {
    response(StatusCode::OK, "application/json", DENY_ALL_POLICY, ResponseBody::Whole(content))
}

/// HTML response. `policy` is its content security policy.
pub fn html(status: StatusCode, content: Bytes, policy: &str) -> HttpResponse {
    response(status, "text/html; charset=utf-8", policy, ResponseBody::Whole(content))
}

/// Download of a page as the file `name`.html. `name` is percent-encoded.
pub fn attachment(content: Bytes, name: &str) -> HttpResponse {
    let mut answer = html(StatusCode::OK, content, DENY_ALL_POLICY);
    let disposition = format!("attachment; filename*=UTF-8''{name}.html");
    let disposition = HeaderValue::from_str(&disposition).expect("the file name is percent-encoded");
    answer.headers_mut().insert(CONTENT_DISPOSITION, disposition);
    answer
}

/// Server-sent events. The connection closes after the last event. It then drops `held`, which shows that all events
/// were delivered.
pub fn events(pieces: Receiver<Bytes>, held: ConnectionGuard) -> HttpResponse {
    let mut answer =
        response(StatusCode::OK, "text/event-stream", DENY_ALL_POLICY, ResponseBody::Stream(pieces));
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer.extensions_mut().insert(held);
    answer
}

/// Empty response. An EventSource that receives it does not reconnect.
pub fn no_content() -> HttpResponse {
    response(
        StatusCode::NO_CONTENT,
        "text/plain; charset=utf-8",
        DENY_ALL_POLICY,
        ResponseBody::Whole(Bytes::new()),
    )
}

/// Redirect to another route.
pub fn see_other(place: &str, cookie: Option<&str>) -> HttpResponse {
    let mut answer = text(StatusCode::SEE_OTHER, "see other");
    let place = HeaderValue::from_str(place).expect("the location is percent-encoded");
    answer.headers_mut().insert(LOCATION, place);
    if let Some(cookie) = cookie {
        let cookie = HeaderValue::from_str(cookie).expect("the cookie is ASCII");
        answer.headers_mut().insert(SET_COOKIE, cookie);
    }
    answer
}

/// Response for a known route with an unsupported method.
pub fn method_not_allowed(allowed: &'static str) -> HttpResponse {
    let mut answer = text(StatusCode::METHOD_NOT_ALLOWED, "method not allowed");
    answer.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    answer
}
