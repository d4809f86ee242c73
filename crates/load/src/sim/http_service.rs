//! Simulated HTTP service

use super::backend::SimulatedRequest;
use model::Nanos;

/// Behaviour of the simulated service.
#[derive(Clone, Copy, Debug)]
pub struct SimulatedHttp {
    pub status: u16,
    /// Status of failing responses. `SimulatedSystem::failing` selects the requests; its SQLSTATE is ignored.
    pub failing: u16,
    /// Length of each body, in bytes.
    pub length: usize,
    pub body: SimulatedBody,
    /// True if connections are refused.
    pub is_down: bool,
    /// Maximum number of responses per connection, after which the service closes the connection without `Connection:
    /// close`; 0 means unlimited.
    pub max_responses: u64,
    /// Time after which an idle connection is closed.
    pub idle: Option<Nanos>,
    /// Interval between the bytes of a response. With `None`, the whole response is sent at once.
    pub byte_interval: Option<Nanos>,
    /// Every n-th request gets no response. With 0, every request gets a response.
    pub silent: u64,
}

/// Framing of a simulated response body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimulatedBody {
    Length,
    Chunked,
    /// The body ends with the connection.
    Close,
    /// The response is not HTTP.
    Garbage,
    /// The connection is closed in the middle of the body.
    Cut,
}

impl Default for SimulatedHttp {
    fn default() -> SimulatedHttp {
        SimulatedHttp {
            status: 200,
            failing: 503,
            length: 300,
            body: SimulatedBody::Length,
            is_down: false,
            max_responses: 0,
            idle: None,
            byte_interval: None,
            silent: 0,
        }
    }
}

/// Server side of one connection.
#[derive(Debug, Default)]
pub(super) struct HttpServerSide {
    unread: Vec<u8>,
    requests: u64,
    responses: u64,
    /// True if the server has closed the connection, but the client does not know it yet.
    closed: bool,
}

/// Bytes of a response, whether the service then closes the connection, and the number of responses so far.
pub(super) struct SimulatedResponse {
    pub bytes: Vec<u8>,
    pub closes: bool,
    pub responses: u64,
}

impl HttpServerSide {
    /// Handles received bytes; returns the complete requests.
    pub fn receive(&mut self, bytes: &[u8]) -> Vec<SimulatedRequest> {
        let mut requests = Vec::new();
        if self.closed {
            return requests;
        }
        self.unread.extend_from_slice(bytes);
        while let Some(end) = self.unread.windows(4).position(|it| it == b"\r\n\r\n").map(|it| it + 4) {
            let head = String::from_utf8_lossy(&self.unread[..end]).into_owned();
            let length = head.lines().find_map(|it| it.strip_prefix("Content-Length:"));
            let length = length.map_or(0, |it| it.trim().parse().expect("a length is a number"));
            if self.unread.len() < end + length {
                break;
            }
            self.unread.drain(..end + length);
            self.requests += 1;
            requests.push(SimulatedRequest::Request { head: head.starts_with("HEAD ") });
        }
        requests
    }

    /// Closes the connection if the server has sent `responses` responses and received no request since then.
    pub fn closes_when_idle(&mut self, responses: u64) -> bool {
        let idle = self.responses == responses && self.requests == responses && !self.closed;
        self.closed |= idle;
        idle
    }

    /// Response to a request. `served` is the number of requests on all connections, including this request.
    pub fn answer(
        &mut self,
        service: &SimulatedHttp,
        request: &SimulatedRequest,
        served: u64,
        fails: bool,
    ) -> SimulatedResponse {
        let head = *request == SimulatedRequest::Request { head: true };
        if self.closed || (service.silent > 0 && served.is_multiple_of(service.silent)) {
            return SimulatedResponse { bytes: Vec::new(), closes: false, responses: u64::MAX };
        }
        self.responses += 1;
        let status = if fails { service.failing } else { service.status };
        let mut text = format!("HTTP/1.1 {status} Invented\r\nServer: sim\r\n");
        let body = "x".repeat(service.length);
        match service.body {
            SimulatedBody::Length | SimulatedBody::Cut => {
                text += &format!("Content-Length: {}\r\n\r\n", body.len());
            }
            SimulatedBody::Chunked => text += "Transfer-Encoding: chunked\r\n\r\n",
            SimulatedBody::Close => text += "\r\n",
            SimulatedBody::Garbage => text = "220 mail.example.org ESMTP\r\n".to_owned(),
        }
        match service.body {
            _ if head => {}
            SimulatedBody::Length | SimulatedBody::Close => text += &body,
            SimulatedBody::Chunked => {
                for chunk in body.as_bytes().chunks(100) {
                    text += &format!("{:x};n=1\r\n{}\r\n", chunk.len(), &body[..chunk.len()]);
                }
                text += "0\r\nEnd: 1\r\n\r\n";
            }
            SimulatedBody::Cut => text += &body[..body.len() / 2],
            SimulatedBody::Garbage => {}
        }
        let full = service.max_responses > 0 && self.responses >= service.max_responses;
        let closes = full || matches!(service.body, SimulatedBody::Close | SimulatedBody::Cut);
        self.closed |= closes;
        SimulatedResponse { bytes: text.into_bytes(), closes, responses: self.responses }
    }
}
