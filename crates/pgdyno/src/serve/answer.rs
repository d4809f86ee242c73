//! What is sent back, and under which rules for the browser?

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

pub type Answer = Response<Content>;

/// The body.
#[derive(Debug)]
pub enum Content {
    Whole(Bytes),
    /// Piece by piece, as it happens.
    Stream(Receiver<Bytes>),
}

impl Body for Content {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            Content::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Content::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Content::Stream(pieces) => pieces.poll_recv(context).map(|it| it.map(|it| Ok(Frame::data(it)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Content::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Content::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::Stream(_) => SizeHint::default(),
        }
    }
}

/// Held by the answer's connection until that ends.
#[derive(Clone, Debug)]
pub struct Held(#[expect(dead_code, reason = "it is counted by those who gave it")] pub Arc<()>);

/// What a page may load that has nothing inlined: nothing.
const NOTHING: &str =
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; sandbox";

/// On every answer: nobody keeps it, guesses its kind, shows it in a frame, or reads it from another origin.
fn base(status: StatusCode, kind: &'static str, policy: &str, content: Content) -> Answer {
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

/// One short line.
pub fn text(status: StatusCode, line: &str) -> Answer {
    let content = Content::Whole(Bytes::from(format!("{line}\n")));
    base(status, "text/plain; charset=utf-8", NOTHING, content)
}

/// As `kind`, which no browser is to run.
pub fn plain(kind: &'static str, content: Bytes) -> Answer {
    base(StatusCode::OK, kind, NOTHING, Content::Whole(content))
}

pub fn json(content: Bytes) -> Answer {
    base(StatusCode::OK, "application/json", NOTHING, Content::Whole(content))
}

/// `policy`: what it may load.
pub fn html(status: StatusCode, content: Bytes, policy: &str) -> Answer {
    base(status, "text/html; charset=utf-8", policy, Content::Whole(content))
}

/// To be kept under that name.
pub fn file(content: Bytes, name: &str) -> Answer {
    let mut answer = html(StatusCode::OK, content, NOTHING);
    let disposition = format!("attachment; filename*=UTF-8''{}.html", super::path::encode(name));
    let disposition = HeaderValue::from_str(&disposition).expect("it is encoded");
    answer.headers_mut().insert(CONTENT_DISPOSITION, disposition);
    answer
}

/// Server-sent events. Their connection ends with them, so that it is known when they have arrived.
pub fn events(pieces: Receiver<Bytes>, held: Held) -> Answer {
    let mut answer = base(StatusCode::OK, "text/event-stream", NOTHING, Content::Stream(pieces));
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer.extensions_mut().insert(held);
    answer
}

/// Nothing, and nothing later: who listens for events does not ask again.
pub fn nothing() -> Answer {
    base(StatusCode::NO_CONTENT, "text/plain; charset=utf-8", NOTHING, Content::Whole(Bytes::new()))
}

/// Go there and look.
pub fn see(place: &str, cookie: Option<&str>) -> Answer {
    let mut answer = text(StatusCode::SEE_OTHER, "see there");
    let place = HeaderValue::from_str(place).expect("it is encoded");
    answer.headers_mut().insert(LOCATION, place);
    if let Some(it) = cookie {
        let cookie = HeaderValue::from_str(it).expect("it is ours");
        answer.headers_mut().insert(SET_COOKIE, cookie);
    }
    answer
}

/// The place is there, and that cannot be done with it.
pub fn not_so(allowed: &'static str) -> Answer {
    let mut answer = text(StatusCode::METHOD_NOT_ALLOWED, "that cannot be done here");
    answer.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    answer
}
