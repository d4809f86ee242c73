//! Observer of one connection of HTTP/1: finds the requests and their responses in the bytes of both directions

use model::Nanos;
use std::collections::VecDeque;
use wire::http::{RequestEvent, RequestHead, RequestReader, ResponseReader, Retain, decompressed};

/// Number of bytes of a body that are recorded. The import searches values in as many bytes of a response.
const BODY_MAX: usize = 1 << 20;

/// Request with its complete response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpExchange {
    /// Time at which the head of the request was complete, and the end of the response.
    pub start: Nanos,
    pub end: Nanos,
    pub request: RequestHead,
    pub request_body: HttpBody,
    pub status: u16,
    /// Reason after the status.
    pub reason: String,
    pub response_headers: Vec<(String, String)>,
    pub response_body: HttpBody,
}

/// Body of a request or a response, without the framing of chunks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpBody {
    /// Number of bytes as transferred.
    pub length: u64,
    pub content: BodyContent,
}

/// Recorded content of a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BodyContent {
    #[default]
    Empty,
    Text(String),
    /// The beginning of a text that is longer than what is recorded.
    Cut(String),
    /// Content that is no text, or whose compression is not supported.
    Binary,
}

/// Event of a connection.
#[derive(Debug)]
pub enum HttpEvent {
    Exchange(Box<HttpExchange>),
    /// The connection continues with another protocol, such as WebSocket, and is not recorded.
    Upgraded,
    /// The bytes are not HTTP/1. The connection is not recorded from here on.
    Unreadable,
    /// The connection ended before the response.
    Unfinished,
}

/// One connection. It observes the bytes in the order in which they are forwarded.
#[derive(Debug)]
pub struct HttpSession {
    requests: RequestReader,
    responses: ResponseReader,
    /// Exchanges that are not complete, in the order of their requests. The first one awaits its response.
    pending: VecDeque<PendingExchange>,
    /// True once nothing more is observed.
    is_closed: bool,
}

#[derive(Debug, Default)]
struct PendingExchange {
    exchange: HttpExchange,
    has_request: bool,
    has_response: bool,
}

impl Default for HttpSession {
    fn default() -> HttpSession {
        HttpSession {
            requests: RequestReader::new(BODY_MAX),
            responses: ResponseReader::default(),
            pending: VecDeque::new(),
            is_closed: false,
        }
    }
}

impl HttpSession {
    /// Observes bytes that the client sent at `now`.
    pub fn from_client(&mut self, now: Nanos, mut bytes: &[u8], sink: &mut impl FnMut(HttpEvent)) {
        while !self.is_closed {
            match self.requests.next(&mut bytes) {
                Ok(None) => return,
                Ok(Some(RequestEvent::Head)) => {
                    let Some(request) = RequestHead::read(self.requests.raw_head()) else {
                        return self.close(HttpEvent::Unreadable, sink);
                    };
                    // The bytes after the response to CONNECT are those of another protocol.
                    if request.method == "CONNECT" {
                        return self.close(HttpEvent::Upgraded, sink);
                    }
                    let exchange = HttpExchange { start: now, request, ..HttpExchange::default() };
                    self.pending.push_back(PendingExchange { exchange, ..PendingExchange::default() });
                    self.await_response();
                }
                Ok(Some(RequestEvent::End)) => {
                    let last = self.pending.back_mut().expect("the head of the request was observed");
                    last.exchange.request_body =
                        body(self.requests.raw_head(), self.requests.body(), self.requests.length());
                    last.has_request = true;
                    self.emit(sink);
                }
                Err(_) => return self.close(HttpEvent::Unreadable, sink),
            }
        }
    }

    /// Observes bytes that the server sent at `now`.
    pub fn from_server(&mut self, now: Nanos, mut bytes: &[u8], sink: &mut impl FnMut(HttpEvent)) {
        while !self.is_closed && !bytes.is_empty() {
            match self.responses.next(&mut bytes) {
                Ok(None) => return,
                Ok(Some(response)) if response.status == 101 => return self.close(HttpEvent::Upgraded, sink),
                Ok(Some(response)) => self.respond(now, response, sink),
                Err(_) => return self.close(HttpEvent::Unreadable, sink),
            }
        }
    }

    /// Observes that the server has sent everything, which ends a response without a length.
    pub fn server_ended(&mut self, now: Nanos, sink: &mut impl FnMut(HttpEvent)) {
        if let Some(response) = self.responses.closed().filter(|_| !self.is_closed) {
            self.respond(now, response, sink);
        }
    }

    /// Ends the connection.
    pub fn finish(mut self, sink: &mut impl FnMut(HttpEvent)) {
        self.pending.drain(..).for_each(|_| sink(HttpEvent::Unfinished));
    }

    fn respond(&mut self, now: Nanos, response: wire::http::Response, sink: &mut impl FnMut(HttpEvent)) {
        let first = self.pending.front_mut().expect("the reader awaits a response to a request");
        let exchange = &mut first.exchange;
        (exchange.end, exchange.status) = (now, response.status);
        (exchange.reason, exchange.response_headers) = self.responses.parts().unwrap_or_default();
        exchange.response_body = body(self.responses.retained_head(), self.responses.body(), response.length);
        first.has_response = true;
        self.emit(sink);
    }

    /// Starts to read the response to the first request, unless it is being read.
    fn await_response(&mut self) {
        if let Some(first) = self.pending.front().filter(|it| !it.has_response)
            && !self.responses.is_awaiting()
        {
            let body = BODY_MAX as u32;
            let retain = Retain { head: true, body, error_body: body, decompress: false };
            self.responses.begin(first.exchange.request.framing_method(), retain);
        }
    }

    /// Passes the first exchange to `sink` if it is complete. A server may respond before the end of the request.
    fn emit(&mut self, sink: &mut impl FnMut(HttpEvent)) {
        if let Some(complete) = self.pending.pop_front_if(|it| it.has_request && it.has_response) {
            sink(HttpEvent::Exchange(Box::new(complete.exchange)));
            self.await_response();
        }
    }

    /// Ends the observation, but not the connection.
    fn close(&mut self, event: HttpEvent, sink: &mut impl FnMut(HttpEvent)) {
        self.is_closed = true;
        // An upgrade has no other response, and a request that cannot be read is the one before the error.
        self.pending.pop_front();
        self.pending.drain(..).for_each(|_| sink(HttpEvent::Unfinished));
        sink(event);
    }
}

/// Recorded part of a body, of which `retained` is the beginning.
fn body(head: &[u8], retained: &[u8], length: u64) -> HttpBody {
    let is_cut = length > retained.len() as u64;
    let text = decompressed(head, retained).and_then(|plain| match String::from_utf8(plain) {
        Ok(text) => Some(text),
        // The cut may be within a character.
        Err(error) if is_cut && error.utf8_error().error_len().is_none() => {
            let end = error.utf8_error().valid_up_to();
            Some(String::from_utf8_lossy(&error.as_bytes()[..end]).into_owned())
        }
        Err(_) => None,
    });
    let content = match text {
        _ if length == 0 => BodyContent::Empty,
        Some(text) if is_cut => BodyContent::Cut(text),
        Some(text) => BodyContent::Text(text),
        None => BodyContent::Binary,
    };
    HttpBody { length, content }
}

#[cfg(test)]
mod tests;
