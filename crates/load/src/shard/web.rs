//! How does a client ask an HTTP service?
//!
//! Each client has a connection of its own to each service, opened when it is first needed and again after the server has
//! closed it. An idle one may be closed at any time: that is no failure.

use super::client::{State, todo};
use super::{ConnId, Said, Shard, follow};
use crate::recorder::Recorder;
use crate::script::{Capture, Finder, From, Value, Variables};
use crate::service::{self, Hop, Request};
use model::{Code, Nanos, ScriptId};
use wire::http::{self, Channel, Event, Jar, Method, Reader, Response};

/// One client's connection to one service.
#[derive(Debug, Default)]
pub(super) struct Web {
    pub channel: Channel,
    pub state: Standing,
    /// As a client's.
    pub todo: u8,
    /// Whose it is.
    pub client: u32,
    /// When it began to be opened.
    since: Nanos,
    /// When the call under way began, and when its last request was to leave.
    asked: Nanos,
    sent: Nanos,
    /// Which of its requests is under way, and after how many redirects.
    pub hop: Hop,
    pub hops: u8,
    /// That request's method.
    pub method: Method,
    /// Its path and query, where cookies or redirects are to be seen from it.
    pub target: Vec<u8>,
    /// Where a redirect leads.
    pub location: Vec<u8>,
    /// Where cookies are kept, those of this client and service.
    pub jar: Option<Box<Jar>>,
    /// It has answered a request before.
    served: bool,
    /// Bytes that came since the last request.
    received: u64,
    /// A byte of the request under way has left.
    pub left: bool,
    /// The request under way was sent on an earlier connection, which the server closed without an answer.
    again: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Standing {
    #[default]
    Closed,
    /// For a place among those that are being opened.
    Waiting,
    Connecting,
    /// TLS is being agreed on.
    Greeting,
    Open,
}

impl Standing {
    /// It holds a place among those that are being opened.
    fn is_opening(self) -> bool {
        matches!(self, Standing::Connecting | Standing::Greeting)
    }
}

impl Web {
    /// Of a client, to a service.
    pub fn of(client: u32, service: &crate::Service) -> Web {
        Web { client, jar: service.cookies.then(Box::default), ..Web::default() }
    }
}

impl<R: Recorder> Shard<R> {
    /// Index among `webs` of a connection; `None` for a client's session with PostgreSQL. Those come first.
    #[inline]
    pub(super) fn web_number(&self, conn: ConnId) -> Option<usize> {
        (conn.0 as usize).checked_sub(self.sessions())
    }

    fn web_id(&self, w: usize) -> ConnId {
        ConnId((self.sessions() + w) as u32)
    }

    fn service(&self, w: usize) -> &crate::Service {
        &self.work.services[w % self.work.services.len()]
    }

    /// The connections of client `i`.
    pub(super) fn webs_of(&self, i: u32) -> std::ops::Range<usize> {
        let services = self.work.services.len();
        i as usize * services..(i as usize + 1) * services
    }

    /// The connection whose answer client `i` awaits.
    pub(super) fn called(&self, i: u32) -> Option<usize> {
        let client = &self.clients[i as usize];
        let tx = client.tx.as_ref().filter(|_| client.state == State::Calling)?;
        let service = self.work.call(tx.script, tx.command).call.service;
        Some(self.webs_of(i).start + usize::from(service))
    }

    /// Client `i` comes to a call: asks it, or opens a connection for it first.
    #[inline]
    pub(super) fn call(&mut self, now: Nanos, i: u32) {
        self.clients[i as usize].state = State::Calling;
        let w = self.called(i).expect("it calls");
        let client = &self.clients[i as usize];
        let tx = client.tx.as_ref().expect("it calls");
        let web = &mut self.webs[w];
        (web.hop, web.hops) = (Hop::First, 0);
        web.method = self.work.call(tx.script, tx.command).method(web.hop, &client.variables);
        web.asked = now;
        self.ask_web(now, w);
    }

    /// Asks the request that `w` is at, over a connection that may have to be opened.
    #[inline]
    pub(super) fn ask_web(&mut self, now: Nanos, w: usize) {
        let web = &mut self.webs[w];
        (web.sent, web.again, web.left) = (now, false, false);
        match web.state {
            Standing::Open => self.send(now, w),
            _ => self.dial(now, w),
        }
    }

    /// Queues the request that the client of `w` is at.
    #[inline]
    fn send(&mut self, now: Nanos, w: usize) {
        let Web { channel, client, hop, method, target, location, jar, left, received, .. } =
            &mut self.webs[w];
        let client = &mut self.clients[*client as usize];
        let tx = client.tx.as_mut().expect("it calls");
        let request = self.work.call(tx.script, tx.command);
        let variables = &client.variables;
        let template = request.template(*hop, *method, variables);
        channel.request(*method, request.keep, |out| {
            let begin = out.len();
            template.render(out, |arg, out| {
                match arg {
                    service::TARGET => out.extend_from_slice(location),
                    service::COOKIES => {
                        follow::remember(target, &out[begin..]);
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
                follow::remember(target, &out[begin..]);
            }
        });
        *left = false;
        *received = 0;
        tx.spoke = true;
        self.demand_web(w, todo::TRANSMIT);
    }

    /// Begins to open a connection, once there is a place.
    fn dial(&mut self, now: Nanos, w: usize) {
        let web = &mut self.webs[w];
        if self.connecting < self.connecting_max {
            self.connecting += 1;
            (web.state, web.since) = (Standing::Connecting, now);
            self.demand_web(w, todo::CONNECT);
        } else if web.state != Standing::Waiting {
            web.state = Standing::Waiting;
            self.waiting.push_back(w as u32);
        }
    }

    /// Begins to open as many connections as there are places.
    pub(super) fn dial_more(&mut self, now: Nanos) {
        while self.connecting < self.connecting_max {
            let Some(w) = self.waiting.pop_front() else { break };
            if self.webs[w as usize].state == Standing::Waiting {
                self.dial(now, w as usize);
            }
        }
    }

    /// The transport of `w` is open.
    pub(super) fn web_connected(&mut self, now: Nanos, w: usize) {
        if self.webs[w].state != Standing::Connecting {
            return;
        }
        let web = &mut self.webs[w];
        let services = &self.work.services;
        match web.channel.open(services[w % services.len()].tls.as_ref()) {
            Ok(true) => self.web_opened(now, w),
            Ok(false) => {
                web.state = Standing::Greeting;
                self.demand_web(w, todo::TRANSMIT);
            }
            Err(error) => self.web_lost(now, w, code(&error), &error.to_string()),
        }
    }

    /// Requests may be sent.
    fn web_opened(&mut self, now: Nanos, w: usize) {
        self.connecting -= 1;
        let web = &mut self.webs[w];
        (web.state, web.served) = (Standing::Open, false);
        self.clients[web.client as usize].session.refusals = 0;
        self.recorder.connected(now - web.since);
        self.let_in(now);
        if self.called(self.webs[w].client) == Some(w) {
            self.send(now, w);
        }
    }

    /// Bytes came from the service.
    #[inline]
    pub(super) fn web_receive(&mut self, now: Nanos, w: usize, bytes: &[u8]) {
        let web = &mut self.webs[w];
        web.received += bytes.len() as u64;
        if web.received > self.work.answer_max && web.state != Standing::Closed {
            return self.web_lost(now, w, Code::TOO_LONG, "the answer is too long");
        }
        let mut input = bytes;
        loop {
            let web = &mut self.webs[w];
            if !matches!(web.state, Standing::Greeting | Standing::Open) {
                return;
            }
            // A request is awaited on no other connection of its client.
            let client = &self.clients[web.client as usize];
            let tx = client.tx.as_ref().filter(|_| client.state == State::Calling);
            let needle = tx.and_then(|it| self.work.call(it.script, it.command).needle.as_ref());
            match web.channel.receive_seeking(&mut input, needle) {
                Ok(Event::More) => break,
                Ok(Event::Opened) => self.web_opened(now, w),
                Ok(Event::Response(response)) => self.answered(now, w, response),
                Err(error) => return self.web_lost(now, w, code(&error), &error.to_string()),
            }
        }
        if !self.webs[w].channel.outgoing().is_empty() {
            self.demand_web(w, todo::TRANSMIT);
        }
    }

    /// The service closed its side of `w`.
    pub(super) fn web_closed(&mut self, now: Nanos, w: usize) {
        match self.webs[w].channel.closed() {
            Some(response) if self.webs[w].state == Standing::Open => self.answered(now, w, response),
            _ => self.web_broken(now, w, Code::RESET, "server closed the connection unexpectedly"),
        }
    }

    /// The transport of `w` broke, or could not be opened.
    ///
    /// Servers close connections that were idle for a while. A request that met such an end is asked once more, on a new
    /// connection: if the first had not left, or if it may be asked twice (RFC 9112, section 9.3.1).
    pub(super) fn web_broken(&mut self, now: Nanos, w: usize, code: Code, words: &str) {
        let web = &self.webs[w];
        if matches!(web.state, Standing::Closed | Standing::Waiting) {
            return;
        }
        let met_the_end = web.state == Standing::Open && web.served && !web.channel.reader().has_begun();
        let called = self.called(web.client) == Some(w);
        let tx = self.clients[web.client as usize].tx.as_ref();
        // Of a write with a key it is known how often it was attempted.
        let counts = tx.is_some_and(|it| self.work.write_of(it.script).is_some());
        let repeatable = web.method.is_idempotent() && !counts;
        if called && met_the_end && !web.again && (repeatable || !web.left) {
            self.hang_up_web(w);
            (self.webs[w].again, self.webs[w].left) = (true, false);
            return self.dial(now, w);
        }
        self.web_lost(now, w, code, words);
    }

    /// Gives `w` up, and the request that is under way on it.
    pub(super) fn web_lost(&mut self, now: Nanos, w: usize, code: Code, words: &str) {
        let web = &self.webs[w];
        let (i, refused, left) = (web.client, web.state.is_opening(), web.left);
        self.hang_up_web(w);
        if refused {
            self.clients[i as usize].session.refusals += 1;
            self.turned_away(code);
        }
        if self.called(i) != Some(w) {
            return;
        }
        if refused {
            let client = self.id(i);
            self.say_once(code, |_| Said::Refused { client, code, message: words.to_owned() });
        }
        let repeatable = self.webs[w].method.is_idempotent();
        self.call_failed(now, i, code, !refused && left && !repeatable, words);
    }

    /// The call that client `i` awaits failed; `unknown`: it may have had an effect.
    fn call_failed(&mut self, now: Nanos, i: u32, code: Code, unknown: bool, words: &str) {
        let told = self.told.contains(&code) && !self.work.plan.verbose;
        let client = &mut self.clients[i as usize];
        let tx = client.tx.as_mut().expect("it calls");
        tx.error = Some(code);
        tx.unknown = unknown;
        client.words = (!told).then(|| words.into());
        self.failed(now, i, code);
    }

    #[inline]
    fn answered(&mut self, now: Nanos, w: usize, response: Response) {
        let web = &mut self.webs[w];
        let i = web.client;
        web.served = true;
        let client = &self.clients[i as usize];
        let tx = client.tx.as_ref().expect("whoever asked awaits the answer");
        let call = &self.work.call(tx.script, tx.command).call;
        let (most, is_written) = (call.redirects, call.ammo.is_none());
        if web.jar.is_some() && is_written {
            self.keep_cookies(now, w);
        }
        let followed = if most == 0 { Ok(false) } else { self.follow(w, response.status, most) };
        let judged = if followed == Ok(false) { self.judge(w, response) } else { Ok(()) };
        if response.close {
            self.hang_up_web(w);
        }
        match followed {
            Ok(true) => return self.ask_web(now, w),
            Ok(false) => {}
            Err((code, words)) => return self.call_failed(now, i, code, false, &words),
        }
        let Err(code) = judged else {
            let tx = self.clients[i as usize].tx.as_ref().expect("whoever asked awaits the answer");
            self.recorder.answered(ScriptId(tx.script), tx.command, response.length);
            return self.command_done(now, i);
        };
        let told = self.told.contains(&code) && !self.work.plan.verbose;
        let words = match code {
            _ if told => String::new(),
            Code::UNEXPECTED => "the answer does not hold the text that it should".to_owned(),
            Code::ABSENT => "what was to be captured is not in the answer".to_owned(),
            _ => format!("the service answered with {code}"),
        };
        self.call_failed(now, i, code, false, &words);
    }

    /// Whether the answer is one that was hoped for; takes of it what later commands need.
    #[inline]
    fn judge(&mut self, w: usize, response: Response) -> Result<(), Code> {
        let web = &self.webs[w];
        let client = &mut self.clients[web.client as usize];
        let tx = client.tx.as_ref().expect("whoever asked awaits the answer");
        let request = self.work.call(tx.script, tx.command);
        let reader = web.channel.reader();
        if !request.call.expects(response.status) {
            return Err(Code::Http(response.status));
        }
        if request.needle.as_ref().is_some_and(|it| !reader.has_found(it)) {
            return Err(Code::UNEXPECTED);
        }
        capture(request, response, reader, &mut client.variables, &mut self.finders)
    }

    /// Has the driver close `w`.
    pub(super) fn hang_up_web(&mut self, w: usize) {
        let web = &mut self.webs[w];
        let before = std::mem::take(&mut web.state);
        self.connecting -= u32::from(before.is_opening());
        if !matches!(before, Standing::Closed | Standing::Waiting) {
            web.todo &= !(todo::TRANSMIT | todo::CONNECT);
            self.demand_web(w, todo::CLOSE);
        }
    }

    /// Closes all connections of client `i`; of one that lost its transaction, only that on which it awaited an answer.
    pub(super) fn hang_up_webs(&mut self, i: u32, all: bool) {
        let busy = self.called(i);
        for w in self.webs_of(i) {
            if all || busy == Some(w) {
                self.hang_up_web(w);
            }
        }
    }

    /// Gives up what takes too long.
    pub(super) fn sweep_webs(&mut self, now: Nanos) {
        for w in 0..self.webs.len() {
            let (web, service) = (&self.webs[w], self.service(w));
            let late = |from: Nanos, within: Option<Nanos>| within.is_some_and(|it| now - from > it);
            let awaited = self.called(web.client) == Some(w);
            let begun = web.state == Standing::Open && web.channel.reader().has_begun();
            if web.state.is_opening() && late(web.since, Some(service.connect_within)) {
                self.web_lost(now, w, Code::TIMED_OUT, "timeout expired");
            } else if awaited && begun && late(web.asked, service.end_within) {
                self.web_lost(now, w, Code::SLOW, "the answer began in time, and did not end in time");
            } else if awaited
                && !begun
                && (late(web.asked, service.end_within)
                    || (web.state == Standing::Open && late(web.sent, service.begin_within)))
            {
                self.web_lost(now, w, Code::TIMED_OUT, "timeout expired");
            }
        }
    }

    pub(super) fn demand_web(&mut self, w: usize, what: u8) {
        let id = self.web_id(w);
        let web = &mut self.webs[w];
        if web.todo == 0 {
            self.todo.push_back(id.0);
        }
        web.todo |= what;
    }
}

/// Sets the variables that take something of an answer; which code it fails with otherwise.
#[inline]
fn capture(
    request: &Request,
    response: Response,
    answer: &Reader,
    variables: &mut Variables,
    finders: &mut [Finder],
) -> Result<(), Code> {
    let mut finder = request.finder;
    for Capture { slot, from } in &request.call.captures {
        match from {
            From::Status => variables.set(*slot, Value::Int(response.status.into())),
            From::Header(name) => {
                variables.set_text(*slot, answer.header(name).ok_or(Code::ABSENT)?);
            }
            From::Body(bytes) => {
                let body = answer.body();
                variables.set_text(*slot, &body[..body.len().min(*bytes as usize)]);
            }
            From::Json(pointer) => {
                if !pointer.copy(answer.body(), variables.begin_text(*slot)) {
                    return Err(Code::ABSENT);
                }
            }
            From::Regex(pattern) => {
                let found = finders[finder].find(pattern, answer.body()).ok_or(Code::ABSENT)?;
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
