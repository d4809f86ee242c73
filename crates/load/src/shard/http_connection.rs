//! HTTP connections of a shard's clients
//!
//! Each client has one connection to each service. A request opens the connection if it is closed. A server may close
//! an idle connection at any time, which is not a failure.

mod response;

use super::client::{ClientState, todo};
use super::connect::was_reported;
use super::{ConnId, LoadEvent, Shard, redirect};
use crate::http_service::{self, EXCERPT_BYTES, RedirectStep};
use crate::recorder::{Recorder, TraceEvent};
use model::{Code, Nanos, RequestPhase, RequestSample};
use wire::http::{self, BodySearch, Channel, CookieJar, Event, Method};

/// Maximum number of body bytes that a tracing recorder receives.
const TRACED_BODY: u32 = 4 << 10;

/// Bytes reserved for a text with variables. Only a longer text allocates memory during the load.
const TEXT_ROOM: usize = 64;

/// Connection of one client to one service.
#[derive(Debug, Default)]
pub(super) struct HttpConnection {
    pub channel: Channel,
    pub state: HttpConnectionState,
    /// Pending actions for the driver: bits of the module `todo`.
    pub pending_actions: u8,
    /// Number of the client that owns the connection.
    pub client: u32,
    /// Start of the connection attempt.
    opened_at: Nanos,
    /// Start of the current call.
    call_start: Nanos,
    request_start: Nanos,
    /// Kind of the current request.
    pub hop: RedirectStep,
    pub hops: u8,
    /// Method of the current request.
    pub method: Method,
    /// Path and query of the current request, if cookies or redirects need them.
    pub target: Vec<u8>,
    /// Target of the redirect to follow.
    pub location: Vec<u8>,
    /// Search for the texts of the current call, if they contain variables.
    search: BodySearch,
    /// Cookies of this client and service, if the service uses them.
    pub cookies: Option<Box<CookieJar>>,
    /// Phases of the current call so far, over all redirects, in the order of [`RequestPhase::ALL`].
    phases: [Option<Nanos>; 4],
    /// Start of the current phase.
    phase_start: Nanos,
    /// True if the first byte of the response to the current request has arrived.
    answer_begun: bool,
    /// Bytes sent for the current call, and received before its last request.
    call_sent: u64,
    call_received: u64,
    /// True if the service has responded to a request on the current transport.
    has_responded: bool,
    /// Bytes received since the last request.
    received: u64,
    /// True if a byte of the current request was sent.
    pub request_sent: bool,
    /// True if the current request is a retry, because the connection was closed before the first attempt received a
    /// response.
    is_retry: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum HttpConnectionState {
    #[default]
    Closed,
    /// Connection that waits for a slot, because too many connections are being opened.
    Waiting,
    Connecting,
    /// TLS handshake in progress.
    TlsHandshake,
    Open,
}

impl HttpConnectionState {
    /// True if the connection occupies one of the slots for connections that are being opened.
    fn is_opening(self) -> bool {
        matches!(self, HttpConnectionState::Connecting | HttpConnectionState::TlsHandshake)
    }
}

impl HttpConnection {
    /// Closed connection of a client to a service. A call has at most `texts` texts with variables.
    pub fn new(client: u32, service: &crate::Service, texts: usize) -> HttpConnection {
        HttpConnection {
            client,
            cookies: service.cookies.then(Box::default),
            search: BodySearch::with_room(texts, TEXT_ROOM),
            ..HttpConnection::default()
        }
    }

    /// Measurement of the current call, without its elapsed time.
    #[inline]
    pub fn sample(&self) -> RequestSample {
        RequestSample {
            elapsed: Nanos::ZERO,
            sent: self.call_sent,
            received: self.call_received + self.received,
            phases: self.phases,
        }
    }

    /// Ends the current phase at `now`; the next one begins.
    #[inline]
    fn end_phase(&mut self, now: Nanos, phase: RequestPhase) {
        let sum = self.phases[phase as usize].get_or_insert_default();
        *sum += now - self.phase_start;
        self.phase_start = now;
    }

    /// Ends the wait for the response at `now`, unless its first byte arrived earlier.
    #[inline]
    fn begin_answer(&mut self, now: Nanos) {
        if !std::mem::replace(&mut self.answer_begun, true) {
            self.end_phase(now, RequestPhase::FirstByte);
        }
    }
}

impl<R: Recorder> Shard<R> {
    /// Index of a connection in `http_connections`; `None` for a session with PostgreSQL, because sessions have the
    /// first numbers.
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

    /// HTTP connections of client `i`, as indices in `http_connections`.
    pub(super) fn http_connections_of(&self, i: u32) -> std::ops::Range<usize> {
        let services = self.work.services.len();
        i as usize * services..(i as usize + 1) * services
    }

    /// Connection on which client `i` awaits a response.
    pub(super) fn awaited_connection(&self, i: u32) -> Option<usize> {
        let client = &self.clients[i as usize];
        let tx = client.tx.as_ref().filter(|_| client.state == ClientState::AwaitingHttp)?;
        let service = self.work.call(tx.script, tx.command).call.service;
        Some(self.http_connections_of(i).start + usize::from(service))
    }

    /// Starts the call of client `i`'s current command; opens a connection first if needed.
    #[inline]
    pub(super) fn call(&mut self, now: Nanos, i: u32) {
        self.clients[i as usize].state = ClientState::AwaitingHttp;
        let w = self.awaited_connection(i).expect("the client has a call");
        let client = &self.clients[i as usize];
        let tx = client.tx.as_ref().expect("the client has a call");
        let connection = &mut self.http_connections[w];
        (connection.hop, connection.hops) = (RedirectStep::Original, 0);
        connection.method = self.work.call(tx.script, tx.command).method(connection.hop, &client.variables);
        connection.call_start = now;
        (connection.phases, connection.phase_start, connection.answer_begun) = ([None; 4], now, false);
        (connection.call_sent, connection.call_received, connection.received) = (0, 0, 0);
        self.send_http_request(now, w);
    }

    /// Sends the current request on HTTP connection `w`; opens the connection first if needed.
    #[inline]
    pub(super) fn send_http_request(&mut self, now: Nanos, w: usize) {
        let connection = &mut self.http_connections[w];
        (connection.request_start, connection.is_retry, connection.request_sent) = (now, false, false);
        match connection.state {
            HttpConnectionState::Open => self.send(now, w),
            _ => self.open_http(now, w),
        }
    }

    /// Queues the current request of the client that owns HTTP connection `w`.
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
            search,
            request_sent: left,
            received,
            answer_begun,
            call_sent,
            ..
        } = &mut self.http_connections[w];
        let client = &mut self.clients[*client as usize];
        let tx = client.tx.as_mut().expect("the client has a call");
        let request = self.work.call(tx.script, tx.command);
        let variables = &client.variables;
        let template = request.template(*hop, *method, variables);
        if request.has_variable_texts {
            for (number, text) in request.call.texts().enumerate() {
                search.set(number, |out| http_service::write_text(text, variables, out));
            }
        }
        let mut keep = request.keep;
        if R::TRACES {
            (keep.head, keep.body) = (true, keep.body.max(TRACED_BODY));
        }
        let recorder = &mut self.recorder;
        let unsent = channel.outgoing().len();
        channel.request(*method, keep, |out| {
            let begin = out.len();
            template.render(out, |arg, out| {
                match arg {
                    http_service::TARGET => out.extend_from_slice(location),
                    http_service::COOKIES => {
                        redirect::store_target(target, &out[begin..]);
                        let jar = jar.as_ref().expect("a service with cookies has a jar");
                        jar.write(target, now.0, out);
                    }
                    http_service::HEADERS => {
                        let ammo = request.call.ammo.expect("only ammunition has more headers");
                        http_service::write_headers(
                            &request.call,
                            variables.text(ammo.headers),
                            variables,
                            out,
                        );
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
            if R::TRACES {
                recorder.trace(TraceEvent::Request(&out[begin..]));
            }
        });
        *call_sent += (channel.outgoing().len() - unsent) as u64;
        (*left, *answer_begun) = (false, false);
        *received = 0;
        tx.sent_request = true;
        self.request_http_action(w, todo::TRANSMIT);
    }

    /// Begins to open an HTTP connection, or queues it until a slot is free.
    fn open_http(&mut self, now: Nanos, w: usize) {
        let connection = &mut self.http_connections[w];
        if self.connecting < self.connecting_max {
            self.connecting += 1;
            (connection.state, connection.opened_at) = (HttpConnectionState::Connecting, now);
            self.request_http_action(w, todo::CONNECT);
        } else if connection.state != HttpConnectionState::Waiting {
            connection.state = HttpConnectionState::Waiting;
            self.http_connect_queue.push_back(w as u32);
        }
    }

    /// Begins to open queued HTTP connections, one for each free slot.
    pub(super) fn open_more_http(&mut self, now: Nanos) {
        while self.connecting < self.connecting_max {
            let Some(w) = self.http_connect_queue.pop_front() else { break };
            if self.http_connections[w as usize].state == HttpConnectionState::Waiting {
                self.open_http(now, w as usize);
            }
        }
    }

    /// Handles the opened transport of HTTP connection `w`.
    pub(super) fn http_connected(&mut self, now: Nanos, w: usize) {
        if self.http_connections[w].state != HttpConnectionState::Connecting {
            return;
        }
        let connection = &mut self.http_connections[w];
        connection.end_phase(now, RequestPhase::Connect);
        let services = &self.work.services;
        match connection.channel.open(services[w % services.len()].tls.as_ref()) {
            Ok(true) => self.http_opened(now, w),
            Ok(false) => {
                connection.state = HttpConnectionState::TlsHandshake;
                self.request_http_action(w, todo::TRANSMIT);
            }
            Err(error) => self.http_lost(now, w, code(&error), &error.to_string()),
        }
    }

    /// Handles an HTTP connection that is ready for requests.
    fn http_opened(&mut self, now: Nanos, w: usize) {
        self.connecting -= 1;
        let connection = &mut self.http_connections[w];
        if connection.state == HttpConnectionState::TlsHandshake {
            connection.end_phase(now, RequestPhase::Tls);
        }
        (connection.state, connection.has_responded) = (HttpConnectionState::Open, false);
        self.clients[connection.client as usize].session.refusals = 0;
        self.recorder.connected(now - connection.opened_at);
        self.reset_backoff(now);
        if self.awaited_connection(self.http_connections[w].client) == Some(w) {
            self.send(now, w);
        }
    }

    /// Handles bytes from the service.
    #[inline]
    pub(super) fn http_receive(&mut self, now: Nanos, w: usize, bytes: &[u8]) {
        let connection = &mut self.http_connections[w];
        connection.received += bytes.len() as u64;
        if connection.received > self.work.answer_max && connection.state != HttpConnectionState::Closed {
            return self.http_lost(now, w, Code::TOO_LONG, "the answer is too long");
        }
        let mut input = bytes;
        loop {
            let connection = &mut self.http_connections[w];
            if !matches!(connection.state, HttpConnectionState::TlsHandshake | HttpConnectionState::Open) {
                return;
            }
            // A client awaits a response on at most one connection.
            let client = &self.clients[connection.client as usize];
            let tx = client.tx.as_ref().filter(|_| client.state == ClientState::AwaitingHttp);
            let request = tx.map(|it| self.work.call(it.script, it.command));
            let search = request.and_then(|it| it.search(&connection.search));
            match connection.channel.receive_seeking(&mut input, search) {
                Ok(Event::More) => break,
                Ok(Event::Opened) => self.http_opened(now, w),
                Ok(Event::Response(response)) => self.handle_response(now, w, response),
                Err(error) => return self.http_lost(now, w, code(&error), &error.to_string()),
            }
        }
        let connection = &mut self.http_connections[w];
        if connection.channel.reader().has_begun() {
            connection.begin_answer(now);
        }
        if !connection.channel.outgoing().is_empty() {
            self.request_http_action(w, todo::TRANSMIT);
        }
    }

    /// Handles HTTP connection `w` whose sending direction the service has closed.
    pub(super) fn http_closed(&mut self, now: Nanos, w: usize) {
        match self.http_connections[w].channel.closed() {
            Some(response) if self.http_connections[w].state == HttpConnectionState::Open => {
                self.handle_response(now, w, response);
            }
            _ => self.http_broken(now, w, Code::RESET, "server closed the connection unexpectedly"),
        }
    }

    /// Handles a transport that broke, or could not be opened.
    ///
    /// Servers close idle connections. A request on a connection that is being closed is sent once more, on a new
    /// connection. This requires that no byte of the request was sent, or that it is idempotent (RFC 9112, section
    /// 9.3.1).
    pub(super) fn http_broken(&mut self, now: Nanos, w: usize, code: Code, words: &str) {
        let connection = &self.http_connections[w];
        if matches!(connection.state, HttpConnectionState::Closed | HttpConnectionState::Waiting) {
            return;
        }
        let met_the_end = connection.state == HttpConnectionState::Open
            && connection.has_responded
            && !connection.channel.reader().has_begun();
        let called = self.awaited_connection(connection.client) == Some(w);
        let tx = self.clients[connection.client as usize].tx.as_ref();
        // Do not retry a write with a key, because the ledger must contain every attempt.
        let counts = tx.is_some_and(|it| self.work.keyed_write(it.script).is_some());
        let repeatable = connection.method.is_idempotent() && !counts;
        if called && met_the_end && !connection.is_retry && (repeatable || !connection.request_sent) {
            self.close_http(w);
            (self.http_connections[w].is_retry, self.http_connections[w].request_sent) = (true, false);
            return self.open_http(now, w);
        }
        self.http_lost(now, w, code, words);
    }

    /// Closes HTTP connection `w` and fails its current request.
    pub(super) fn http_lost(&mut self, now: Nanos, w: usize, code: Code, words: &str) {
        let connection = &self.http_connections[w];
        let (i, refused, left) = (connection.client, connection.state.is_opening(), connection.request_sent);
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
            self.report_once((None, code), |_| LoadEvent::Refused {
                client,
                code,
                message: words.to_owned(),
            });
        }
        let repeatable = self.http_connections[w].method.is_idempotent();
        self.call_failed(now, i, code, !refused && left && !repeatable, words);
    }

    /// Handles the failure of client `i`'s call. `unknown` is true if the call may have had an effect.
    fn call_failed(&mut self, now: Nanos, i: u32, code: Code, unknown: bool, words: &str) {
        if R::TRACES {
            self.recorder.trace(TraceEvent::Message(words));
        }
        let reported = self.is_reported(i, code);
        let client = &mut self.clients[i as usize];
        let tx = client.tx.as_mut().expect("the client has a call");
        tx.error = Some(code);
        tx.unknown = unknown;
        client.error_text = (!reported).then(|| words.into());
        self.transaction_failed(now, i, code);
    }

    /// True if this failure of client `i`'s current command was reported before and needs no text.
    fn is_reported(&self, i: u32, code: Code) -> bool {
        let place = self.clients[i as usize].tx.as_ref().map(|it| (it.script, it.command));
        was_reported(&self.reported_failures, (place, code)) && !self.work.plan.verbose
    }

    /// Beginning of the body of client `i`'s current response, as far as it is retained; empty without a response.
    pub(super) fn response_excerpt(&self, i: u32) -> Vec<u8> {
        let connection = self.awaited_connection(i).map(|it| &self.http_connections[it]);
        let begun = connection.filter(|it| it.answer_begun);
        begun.map_or(Vec::new(), |connection| {
            let body = connection.channel.reader().body();
            body[..body.len().min(EXCERPT_BYTES as usize)].to_vec()
        })
    }

    /// Makes the driver close HTTP connection `w`.
    pub(super) fn close_http(&mut self, w: usize) {
        let connection = &mut self.http_connections[w];
        let before = std::mem::take(&mut connection.state);
        self.connecting -= u32::from(before.is_opening());
        if !matches!(before, HttpConnectionState::Closed | HttpConnectionState::Waiting) {
            connection.pending_actions &= !(todo::TRANSMIT | todo::CONNECT);
            self.request_http_action(w, todo::CLOSE);
        }
    }

    /// Closes the HTTP connections of client `i`. If `all` is false, closes only the connection on which the client
    /// awaits a response.
    pub(super) fn close_all_http(&mut self, i: u32, all: bool) {
        let busy = self.awaited_connection(i);
        for w in self.http_connections_of(i) {
            if all || busy == Some(w) {
                self.close_http(w);
            }
        }
    }

    /// Gives up requests and connection attempts that exceed their time limits.
    pub(super) fn check_http_timeouts(&mut self, now: Nanos) {
        for w in 0..self.http_connections.len() {
            let (connection, service) = (&self.http_connections[w], self.service(w));
            let late = |from: Nanos, within: Option<Nanos>| within.is_some_and(|it| now - from > it);
            let awaited = self.awaited_connection(connection.client) == Some(w);
            let begun =
                connection.state == HttpConnectionState::Open && connection.channel.reader().has_begun();
            if connection.state.is_opening() && late(connection.opened_at, Some(service.connect_timeout)) {
                self.http_lost(now, w, Code::TIMED_OUT, "timeout expired");
            } else if awaited && begun && late(connection.call_start, service.response_timeout) {
                self.http_lost(
                    now,
                    w,
                    Code::BODY_TIMEOUT,
                    "the answer began in time, and did not end in time",
                );
            } else if awaited
                && !begun
                && (late(connection.call_start, service.response_timeout)
                    || (connection.state == HttpConnectionState::Open
                        && late(connection.request_start, service.first_byte_timeout)))
            {
                self.http_lost(now, w, Code::TIMED_OUT, "timeout expired");
            }
        }
    }

    pub(super) fn request_http_action(&mut self, w: usize, action: u8) {
        let id = self.http_conn_id(w);
        let connection = &mut self.http_connections[w];
        if connection.pending_actions == 0 {
            self.pending_conns.push_back(id.0);
        }
        connection.pending_actions |= action;
    }
}

fn code(error: &http::Error) -> Code {
    match error {
        http::Error::Tls(_) => Code::TLS,
        _ => Code::PROTOCOL,
    }
}
