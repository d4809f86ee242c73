//! How does a client ask an HTTP service?
//!
//! Each client has a connection of its own to each service, opened when it is first needed and again after the server has
//! closed it. An idle one may be closed at any time: that is no failure.

use super::client::{ClientState, todo};
use super::{ConnId, LoadEvent, Shard, redirect};
use crate::http_service::{self, HttpRequest, RedirectStep};
use crate::recorder::Recorder;
use crate::script::{CallCapture, PatternMatcher, ResponsePart, Value, Variables};
use model::{Code, Nanos, ScriptId};
use wire::http::{self, Channel, CookieJar, Event, Method, Response, ResponseReader};

/// One client's connection to one service.
#[derive(Debug, Default)]
pub(super) struct HttpConnection {
    pub channel: Channel,
    pub state: HttpConnectionState,
    /// As a client's.
    pub pending_actions: u8,
    /// Whose it is.
    pub client: u32,
    /// When it began to be opened.
    opened_at: Nanos,
    /// When the call under way began, and when its last request was to leave.
    call_start: Nanos,
    request_start: Nanos,
    /// Which of its requests is under way, and after how many redirects.
    pub hop: RedirectStep,
    pub hops: u8,
    /// That request's method.
    pub method: Method,
    /// Its path and query, where cookies or redirects are to be seen from it.
    pub target: Vec<u8>,
    /// Where a redirect leads.
    pub location: Vec<u8>,
    /// Where cookies are kept, those of this client and service.
    pub cookies: Option<Box<CookieJar>>,
    /// It has answered a request before.
    has_answered: bool,
    /// Bytes that came since the last request.
    received: u64,
    /// A byte of the request under way has left.
    pub request_sent: bool,
    /// The request under way was sent on an earlier connection, which the server closed without an answer.
    is_retry: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum HttpConnectionState {
    #[default]
    Closed,
    /// For a place among those that are being opened.
    Waiting,
    Connecting,
    /// TLS is being agreed on.
    TlsHandshake,
    Open,
}

impl HttpConnectionState {
    /// It holds a place among those that are being opened.
    fn is_opening(self) -> bool {
        matches!(self, HttpConnectionState::Connecting | HttpConnectionState::TlsHandshake)
    }
}

impl HttpConnection {
    /// Of a client, to a service.
    pub fn new(client: u32, service: &crate::Service) -> HttpConnection {
        HttpConnection { client, cookies: service.cookies.then(Box::default), ..HttpConnection::default() }
    }
}

impl<R: Recorder> Shard<R> {
    /// Index among `webs` of a connection; `None` for a client's session with PostgreSQL. Those come first.
    #[inline]
    pub(super) fn http_index(&self, conn: ConnId) -> Option<usize> {
        (conn.0 as usize).checked_sub(self.sessions())
    }

    fn http_conn_id(&self, w: usize) -> ConnId {
        ConnId((self.sessions() + w) as u32)
    }

    fn service(&self, w: usize) -> &crate::Service {
        &self.work.services[w % self.work.services.len()]
    }

    /// The connections of client `i`.
    pub(super) fn http_connections_of(&self, i: u32) -> std::ops::Range<usize> {
        let services = self.work.services.len();
        i as usize * services..(i as usize + 1) * services
    }

    /// The connection whose answer client `i` awaits.
    pub(super) fn awaited_connection(&self, i: u32) -> Option<usize> {
        let client = &self.clients[i as usize];
        let tx = client.tx.as_ref().filter(|_| client.state == ClientState::AwaitingHttp)?;
        let service = self.work.call(tx.script, tx.command).call.service;
        Some(self.http_connections_of(i).start + usize::from(service))
    }

    /// Client `i` comes to a call: asks it, or opens a connection for it first.
    #[inline]
    pub(super) fn call(&mut self, now: Nanos, i: u32) {
        self.clients[i as usize].state = ClientState::AwaitingHttp;
        let w = self.awaited_connection(i).expect("it calls");
        let client = &self.clients[i as usize];
        let tx = client.tx.as_ref().expect("it calls");
        let web = &mut self.http_connections[w];
        (web.hop, web.hops) = (RedirectStep::Original, 0);
        web.method = self.work.call(tx.script, tx.command).method(web.hop, &client.variables);
        web.call_start = now;
        self.send_http_request(now, w);
    }

    /// Asks the request that `w` is at, over a connection that may have to be opened.
    #[inline]
    pub(super) fn send_http_request(&mut self, now: Nanos, w: usize) {
        let web = &mut self.http_connections[w];
        (web.request_start, web.is_retry, web.request_sent) = (now, false, false);
        match web.state {
            HttpConnectionState::Open => self.send(now, w),
            _ => self.open_http(now, w),
        }
    }

    /// Queues the request that the client of `w` is at.
    #[inline]
    fn send(&mut self, now: Nanos, w: usize) {
        let HttpConnection {
            channel,
            client,
            hop,
            method,
            target,
            location,
            cookies: jar,
            request_sent: left,
            received,
            ..
        } = &mut self.http_connections[w];
        let client = &mut self.clients[*client as usize];
        let tx = client.tx.as_mut().expect("it calls");
        let request = self.work.call(tx.script, tx.command);
        let variables = &client.variables;
        let template = request.template(*hop, *method, variables);
        channel.request(*method, request.keep, |out| {
            let begin = out.len();
            template.render(out, |arg, out| {
                match arg {
                    http_service::TARGET => out.extend_from_slice(location),
                    http_service::COOKIES => {
                        redirect::store_target(target, &out[begin..]);
                        let jar = jar.as_ref().expect("whoever sends cookies keeps them");
                        jar.write(target, now.0, out);
                    }
                    arg => {
                        variables.write(request.args[usize::from(arg)], out);
                    }
                }
                true
            });
            if request.call.redirects > 0 {
                redirect::store_target(target, &out[begin..]);
            }
        });
        *left = false;
        *received = 0;
        tx.sent_request = true;
        self.request_http_action(w, todo::TRANSMIT);
    }

    /// Begins to open a connection, once there is a place.
    fn open_http(&mut self, now: Nanos, w: usize) {
        let web = &mut self.http_connections[w];
        if self.connecting < self.connecting_max {
            self.connecting += 1;
            (web.state, web.opened_at) = (HttpConnectionState::Connecting, now);
            self.request_http_action(w, todo::CONNECT);
        } else if web.state != HttpConnectionState::Waiting {
            web.state = HttpConnectionState::Waiting;
            self.http_connect_queue.push_back(w as u32);
        }
    }

    /// Begins to open as many connections as there are places.
    pub(super) fn open_more_http(&mut self, now: Nanos) {
        while self.connecting < self.connecting_max {
            let Some(w) = self.http_connect_queue.pop_front() else { break };
            if self.http_connections[w as usize].state == HttpConnectionState::Waiting {
                self.open_http(now, w as usize);
            }
        }
    }

    /// The transport of `w` is open.
    pub(super) fn http_connected(&mut self, now: Nanos, w: usize) {
        if self.http_connections[w].state != HttpConnectionState::Connecting {
            return;
        }
        let web = &mut self.http_connections[w];
        let services = &self.work.services;
        match web.channel.open(services[w % services.len()].tls.as_ref()) {
            Ok(true) => self.http_opened(now, w),
            Ok(false) => {
                web.state = HttpConnectionState::TlsHandshake;
                self.request_http_action(w, todo::TRANSMIT);
            }
            Err(error) => self.http_lost(now, w, code(&error), &error.to_string()),
        }
    }

    /// Requests may be sent.
    fn http_opened(&mut self, now: Nanos, w: usize) {
        self.connecting -= 1;
        let web = &mut self.http_connections[w];
        (web.state, web.has_answered) = (HttpConnectionState::Open, false);
        self.clients[web.client as usize].session.refusals = 0;
        self.recorder.connected(now - web.opened_at);
        self.reset_backoff(now);
        if self.awaited_connection(self.http_connections[w].client) == Some(w) {
            self.send(now, w);
        }
    }

    /// Bytes came from the service.
    #[inline]
    pub(super) fn http_receive(&mut self, now: Nanos, w: usize, bytes: &[u8]) {
        let web = &mut self.http_connections[w];
        web.received += bytes.len() as u64;
        if web.received > self.work.answer_max && web.state != HttpConnectionState::Closed {
            return self.http_lost(now, w, Code::TOO_LONG, "the answer is too long");
        }
        let mut input = bytes;
        loop {
            let web = &mut self.http_connections[w];
            if !matches!(web.state, HttpConnectionState::TlsHandshake | HttpConnectionState::Open) {
                return;
            }
            // A request is awaited on no other connection of its client.
            let client = &self.clients[web.client as usize];
            let tx = client.tx.as_ref().filter(|_| client.state == ClientState::AwaitingHttp);
            let needle = tx.and_then(|it| self.work.call(it.script, it.command).needle.as_ref());
            match web.channel.receive_seeking(&mut input, needle) {
                Ok(Event::More) => break,
                Ok(Event::Opened) => self.http_opened(now, w),
                Ok(Event::Response(response)) => self.handle_response(now, w, response),
                Err(error) => return self.http_lost(now, w, code(&error), &error.to_string()),
            }
        }
        if !self.http_connections[w].channel.outgoing().is_empty() {
            self.request_http_action(w, todo::TRANSMIT);
        }
    }

    /// The service closed its side of `w`.
    pub(super) fn http_closed(&mut self, now: Nanos, w: usize) {
        match self.http_connections[w].channel.closed() {
            Some(response) if self.http_connections[w].state == HttpConnectionState::Open => {
                self.handle_response(now, w, response)
            }
            _ => self.http_broken(now, w, Code::RESET, "server closed the connection unexpectedly"),
        }
    }

    /// The transport of `w` broke, or could not be opened.
    ///
    /// Servers close connections that were idle for a while. A request that met such an end is asked once more, on a new
    /// connection: if the first had not left, or if it may be asked twice (RFC 9112, section 9.3.1).
    pub(super) fn http_broken(&mut self, now: Nanos, w: usize, code: Code, words: &str) {
        let web = &self.http_connections[w];
        if matches!(web.state, HttpConnectionState::Closed | HttpConnectionState::Waiting) {
            return;
        }
        let met_the_end =
            web.state == HttpConnectionState::Open && web.has_answered && !web.channel.reader().has_begun();
        let called = self.awaited_connection(web.client) == Some(w);
        let tx = self.clients[web.client as usize].tx.as_ref();
        // Of a write with a key it is known how often it was attempted.
        let counts = tx.is_some_and(|it| self.work.keyed_write(it.script).is_some());
        let repeatable = web.method.is_idempotent() && !counts;
        if called && met_the_end && !web.is_retry && (repeatable || !web.request_sent) {
            self.close_http(w);
            (self.http_connections[w].is_retry, self.http_connections[w].request_sent) = (true, false);
            return self.open_http(now, w);
        }
        self.http_lost(now, w, code, words);
    }

    /// Gives `w` up, and the request that is under way on it.
    pub(super) fn http_lost(&mut self, now: Nanos, w: usize, code: Code, words: &str) {
        let web = &self.http_connections[w];
        let (i, refused, left) = (web.client, web.state.is_opening(), web.request_sent);
        self.close_http(w);
        if refused {
            self.clients[i as usize].session.refusals += 1;
            self.login_refused(code);
        }
        if self.awaited_connection(i) != Some(w) {
            return;
        }
        if refused {
            let client = self.client_id(i);
            self.report_once(code, |_| LoadEvent::Refused { client, code, message: words.to_owned() });
        }
        let repeatable = self.http_connections[w].method.is_idempotent();
        self.call_failed(now, i, code, !refused && left && !repeatable, words);
    }

    /// The call that client `i` awaits failed; `unknown`: it may have had an effect.
    fn call_failed(&mut self, now: Nanos, i: u32, code: Code, unknown: bool, words: &str) {
        let told = self.reported_codes.contains(&code) && !self.work.plan.verbose;
        let client = &mut self.clients[i as usize];
        let tx = client.tx.as_mut().expect("it calls");
        tx.error = Some(code);
        tx.unknown = unknown;
        client.error_text = (!told).then(|| words.into());
        self.transaction_failed(now, i, code);
    }

    #[inline]
    fn handle_response(&mut self, now: Nanos, w: usize, response: Response) {
        let web = &mut self.http_connections[w];
        let i = web.client;
        web.has_answered = true;
        let client = &self.clients[i as usize];
        let tx = client.tx.as_ref().expect("whoever asked awaits the answer");
        let call = &self.work.call(tx.script, tx.command).call;
        let (most, is_written) = (call.redirects, call.ammo.is_none());
        if web.cookies.is_some() && is_written {
            self.store_cookies(now, w);
        }
        let followed = if most == 0 { Ok(false) } else { self.follow_redirect(w, response.status, most) };
        let judged = if followed == Ok(false) { self.check_response(w, response) } else { Ok(()) };
        if response.close {
            self.close_http(w);
        }
        match followed {
            Ok(true) => return self.send_http_request(now, w),
            Ok(false) => {}
            Err((code, words)) => return self.call_failed(now, i, code, false, &words),
        }
        let Err(code) = judged else {
            let tx = self.clients[i as usize].tx.as_ref().expect("whoever asked awaits the answer");
            self.recorder.response_received(ScriptId(tx.script), tx.command, response.length);
            return self.finish_command(now, i);
        };
        let told = self.reported_codes.contains(&code) && !self.work.plan.verbose;
        let words = match code {
            _ if told => String::new(),
            Code::TEXT_NOT_FOUND => "the answer does not hold the text that it should".to_owned(),
            Code::CAPTURE_NOT_FOUND => "what was to be captured is not in the answer".to_owned(),
            _ => format!("the service answered with {code}"),
        };
        self.call_failed(now, i, code, false, &words);
    }

    /// Whether the answer is one that was hoped for; takes of it what later commands need.
    #[inline]
    fn check_response(&mut self, w: usize, response: Response) -> Result<(), Code> {
        let web = &self.http_connections[w];
        let client = &mut self.clients[web.client as usize];
        let tx = client.tx.as_ref().expect("whoever asked awaits the answer");
        let request = self.work.call(tx.script, tx.command);
        let reader = web.channel.reader();
        if !request.call.expects(response.status) {
            return Err(Code::Http(response.status));
        }
        if request.needle.as_ref().is_some_and(|it| !reader.has_found(it)) {
            return Err(Code::TEXT_NOT_FOUND);
        }
        capture(request, response, reader, &mut client.variables, &mut self.matchers)
    }

    /// Has the driver close `w`.
    pub(super) fn close_http(&mut self, w: usize) {
        let web = &mut self.http_connections[w];
        let before = std::mem::take(&mut web.state);
        self.connecting -= u32::from(before.is_opening());
        if !matches!(before, HttpConnectionState::Closed | HttpConnectionState::Waiting) {
            web.pending_actions &= !(todo::TRANSMIT | todo::CONNECT);
            self.request_http_action(w, todo::CLOSE);
        }
    }

    /// Closes all connections of client `i`; of one that lost its transaction, only that on which it awaited an answer.
    pub(super) fn close_all_http(&mut self, i: u32, all: bool) {
        let busy = self.awaited_connection(i);
        for w in self.http_connections_of(i) {
            if all || busy == Some(w) {
                self.close_http(w);
            }
        }
    }

    /// Gives up what takes too long.
    pub(super) fn check_http_timeouts(&mut self, now: Nanos) {
        for w in 0..self.http_connections.len() {
            let (web, service) = (&self.http_connections[w], self.service(w));
            let late = |from: Nanos, within: Option<Nanos>| within.is_some_and(|it| now - from > it);
            let awaited = self.awaited_connection(web.client) == Some(w);
            let begun = web.state == HttpConnectionState::Open && web.channel.reader().has_begun();
            if web.state.is_opening() && late(web.opened_at, Some(service.connect_timeout)) {
                self.http_lost(now, w, Code::TIMED_OUT, "timeout expired");
            } else if awaited && begun && late(web.call_start, service.response_timeout) {
                self.http_lost(
                    now,
                    w,
                    Code::BODY_TIMEOUT,
                    "the answer began in time, and did not end in time",
                );
            } else if awaited
                && !begun
                && (late(web.call_start, service.response_timeout)
                    || (web.state == HttpConnectionState::Open
                        && late(web.request_start, service.first_byte_timeout)))
            {
                self.http_lost(now, w, Code::TIMED_OUT, "timeout expired");
            }
        }
    }

    pub(super) fn request_http_action(&mut self, w: usize, what: u8) {
        let id = self.http_conn_id(w);
        let web = &mut self.http_connections[w];
        if web.pending_actions == 0 {
            self.pending_conns.push_back(id.0);
        }
        web.pending_actions |= what;
    }
}

/// Sets the variables that take something of an answer; which code it fails with otherwise.
#[inline]
fn capture(
    request: &HttpRequest,
    response: Response,
    answer: &ResponseReader,
    variables: &mut Variables,
    finders: &mut [PatternMatcher],
) -> Result<(), Code> {
    let mut finder = request.finder;
    for CallCapture { slot, source: from } in &request.call.captures {
        match from {
            ResponsePart::Status => variables.set(*slot, Value::Int(response.status.into())),
            ResponsePart::Header(name) => {
                variables.set_text(*slot, answer.header(name).ok_or(Code::CAPTURE_NOT_FOUND)?);
            }
            ResponsePart::Body(bytes) => {
                let body = answer.body();
                variables.set_text(*slot, &body[..body.len().min(*bytes as usize)]);
            }
            ResponsePart::Json(pointer) => {
                if !pointer.extract(answer.body(), variables.begin_text(*slot)) {
                    return Err(Code::CAPTURE_NOT_FOUND);
                }
            }
            ResponsePart::Regex(pattern) => {
                let found = finders[finder].find(pattern, answer.body()).ok_or(Code::CAPTURE_NOT_FOUND)?;
                variables.set_text(*slot, found);
                finder += 1;
            }
        }
    }
    Ok(())
}

fn code(error: &http::Error) -> Code {
    match error {
        http::Error::Tls(_) => Code::TLS,
        _ => Code::PROTOCOL,
    }
}
