//! Observer of one session: finds the requests and their results in the bytes of both directions
//!
//! The client's messages are assigned to requests, and the server's ReadyForQuery messages end the requests in the same
//! order. Source: PostgreSQL manual, chapter "Frontend/Backend Protocol".

use super::frame::{Fragment, Framer};
use super::pending::{CreatedName, PendingRequest};
use super::prepared::{Prepared, PreparedMap};
use super::secret;
use super::sink::{FinishedRequest, RequestSink, StatementText};
use crate::recording::{Identity, RecordedError, Unrecorded};
use model::Nanos;
use std::collections::VecDeque;
use wire::pg::RowCount;

/// Maximum length of a recorded request, in bytes.
const REQUEST_MAX: usize = 64 << 20;
/// Number of bytes of a Parse or Bind that are kept to read its names, if the request is not recorded.
const NAMES_MAX: usize = 64 << 10;
/// Number of bytes of a server's message that are kept. An error's SQLSTATE is near its beginning.
const REPLY_MAX: usize = 256;
/// Number of empty buffers that a session keeps, and the maximum capacity of each in bytes.
const SPARE: usize = 4;
const SPARE_MAX: usize = 64 << 10;
/// CopyFail without a reason.
const COPY_FAIL: &[u8] = b"f\0\0\0\x05\0";

/// One session, from its StartupMessage on. It observes the bytes in the order in which they are forwarded.
///
/// Bytes that are no messages of the protocol end the observation of the session, but not the session.
#[derive(Debug)]
pub struct ProxySession {
    identity: Identity,
    connected: Nanos,
    /// False until the first ReadyForQuery of the server.
    logged_in: bool,
    /// True once bytes were no messages.
    is_lost: bool,
    client: Framer,
    server: Framer,
    /// Requests without a complete result, in the order of the client.
    requests: VecDeque<PendingRequest>,
    /// Type of the client's current message, and the index of its request in `requests`.
    current: (u8, Option<usize>),
    /// Type of the server's current message, and the beginning of its body if it matters.
    reply: (u8, Vec<u8>),
    statements: PreparedMap,
    portals: PreparedMap,
    spare: Vec<Vec<u8>>,
}

impl ProxySession {
    /// Session whose StartupMessage was forwarded. `connected` is the time at which the client connected.
    pub fn new(identity: Identity, connected: Nanos) -> ProxySession {
        ProxySession {
            identity,
            connected,
            logged_in: false,
            is_lost: false,
            client: Framer::default(),
            server: Framer::default(),
            requests: VecDeque::new(),
            current: (0, None),
            reply: (0, Vec::with_capacity(REPLY_MAX)),
            statements: PreparedMap::default(),
            portals: PreparedMap::default(),
            spare: Vec::new(),
        }
    }

    /// Observes bytes that the client sent at `now`.
    pub fn from_client(&mut self, now: Nanos, mut bytes: &[u8], sink: &mut impl RequestSink) {
        while !self.is_lost {
            match self.client.next(&mut bytes) {
                Ok(Some(Fragment::Start { tag, length })) => self.begin(now, tag, length as usize, sink),
                Ok(Some(Fragment::Body(body))) => self.append(body),
                Ok(Some(Fragment::End)) => self.complete(sink),
                Ok(None) => return,
                Err(_) => self.lose(),
            }
        }
    }

    /// Observes bytes that the server sent at `now`.
    pub fn from_server(&mut self, now: Nanos, mut bytes: &[u8], sink: &mut impl RequestSink) {
        while !self.is_lost {
            match self.server.next(&mut bytes) {
                Ok(Some(Fragment::Start { tag, .. })) => {
                    self.reply.0 = tag;
                    self.reply.1.clear();
                }
                Ok(Some(Fragment::Body(body))) => {
                    let (tag, kept) = &mut self.reply;
                    if matches!(tag, b'C' | b'E' | b'Z') {
                        kept.extend_from_slice(&body[..body.len().min(REPLY_MAX - kept.len())]);
                    }
                }
                Ok(Some(Fragment::End)) => self.reply(now, sink),
                Ok(None) => return,
                Err(_) => self.lose(),
            }
        }
    }

    /// Ends the session. Requests whose result is not complete get an outcome without a duration.
    pub fn finish(mut self, sink: &mut impl RequestSink) {
        if !self.logged_in {
            return;
        }
        while let Some(request) = self.requests.front() {
            let is_complete = request.closed || request.answered.is_some();
            if !is_complete || request.copies_in() && request.answered.is_none() {
                self.leave_out(0, Unrecorded::Unfinished);
            }
            self.emit(sink);
        }
    }

    /// Gives up on the session, because its bytes are no messages.
    fn lose(&mut self) {
        self.is_lost = true;
        for index in 0..self.requests.len() {
            self.leave_out(index, Unrecorded::Unfinished);
        }
    }

    /// Handles the header of a client's message, and determines its request.
    fn begin(&mut self, now: Nanos, tag: u8, length: usize, sink: &mut impl RequestSink) {
        let request = match tag {
            b'Q' | b'F' | b'P' | b'B' | b'D' | b'E' | b'C' | b'S' => Some(self.open_request(now, sink)),
            // Flush matters only within a request.
            b'H' => self.requests.len().checked_sub(1).filter(|it| !self.requests[*it].closed),
            b'd' | b'c' | b'f' => match self.requests.front() {
                Some(front) if front.copies_in() => Some(0),
                _ => self.requests.len().checked_sub(1),
            },
            // PasswordMessage and the SASL messages, Terminate, and unknown types.
            _ => None,
        };
        self.current = (tag, request);
        let Some(index) = request else { return };
        if self.requests[index].messages.len() + 5 + length > REQUEST_MAX {
            self.leave_out(index, Unrecorded::TooLong);
        }
        let request = &mut self.requests[index];
        request.keep = length;
        if request.unrecorded.is_some() {
            request.messages.clear();
            request.keep = if matches!(tag, b'P' | b'B') { length.min(NAMES_MAX) } else { 0 };
        }
        request.message = request.messages.len();
        request.messages.push(tag);
        request.messages.extend_from_slice(&(length as u32 + 4).to_be_bytes());
    }

    /// Index of the request to which the next message belongs.
    fn open_request(&mut self, now: Nanos, sink: &mut impl RequestSink) -> usize {
        if self.requests.front().is_some_and(|it| it.answered.is_some()) {
            self.emit(sink);
        }
        if self.requests.back().is_none_or(|it| it.closed) {
            let messages = self.spare.pop().unwrap_or_default();
            self.requests.push_back(PendingRequest::new(now, messages));
        }
        self.requests.len() - 1
    }

    fn append(&mut self, body: &[u8]) {
        let (_, Some(index)) = self.current else { return };
        let request = &mut self.requests[index];
        let kept = body.len().min(request.keep);
        request.messages.extend_from_slice(&body[..kept]);
        request.keep -= kept;
    }

    /// Handles the end of a client's message.
    fn complete(&mut self, sink: &mut impl RequestSink) {
        let (tag, Some(index)) = std::mem::take(&mut self.current) else { return };
        match tag {
            b'Q' => {
                self.query(index);
                self.requests[index].closed = true;
            }
            b'F' => self.requests[index].closed = true,
            b'S' => {
                self.requests[index].closed = true;
                self.requests[index].extended = true;
            }
            b'P' => self.parse(index),
            b'B' => self.bind(index),
            b'D' => {
                let request = &self.requests[index];
                if let Some((kind, name)) = request.body().split_first() {
                    let map = if *kind == b'S' { &self.statements } else { &self.portals };
                    self.refer(index, map.get(c_string(name).0).cloned());
                }
            }
            b'E' => {
                let portal = self.portals.get(c_string(self.requests[index].body()).0).cloned();
                self.refer(index, portal);
            }
            b'C' => {
                if let Some((kind, name)) = self.requests[index].body().split_first() {
                    let map = if *kind == b'S' { &mut self.statements } else { &mut self.portals };
                    map.remove(c_string(name).0);
                }
            }
            b'c' | b'f' => {
                self.requests[index].copy_ends += 1;
                let is_answered = index == 0 && self.requests[0].answered.is_some();
                if is_answered && !self.requests[0].copies_in() {
                    self.emit(sink);
                }
            }
            _ => {}
        }
    }

    fn query(&mut self, index: usize) {
        let request = &mut self.requests[index];
        if request.unrecorded.is_some() {
            return;
        }
        let text = c_string(request.body()).0;
        if let Some(reason) = secret::reason(&String::from_utf8_lossy(text)) {
            return self.leave_out(index, reason);
        }
        let start = request.message + 5;
        let place = StatementText::Messages(start..start + text.len());
        request.text.get_or_insert(place);
    }

    fn parse(&mut self, index: usize) {
        let request = &mut self.requests[index];
        let (name, rest) = c_string(request.body());
        let name: Box<[u8]> = name.into();
        let bytes = c_string(rest).0;
        // A malformed message may lack the NUL after the name.
        let start = request.messages.len() - rest.len();
        let place = StatementText::Messages(start..start + bytes.len());
        if let Some(reason) = request.unrecorded {
            self.statements.insert_text(&name, "", Some(reason));
            return;
        }
        let text = String::from_utf8_lossy(bytes);
        let reason = secret::reason(&text);
        self.statements.insert_text(&name, if reason.is_some() { "" } else { &text }, reason);
        request.text.get_or_insert(place);
        request.created.push(CreatedName::Statement(name));
        if let Some(reason) = reason {
            self.leave_out(index, reason);
        }
    }

    fn bind(&mut self, index: usize) {
        let request = &mut self.requests[index];
        let (portal, rest) = c_string(request.body());
        let statement = self.statements.get(c_string(rest).0).cloned();
        let unrecorded = request.unrecorded.or(statement.as_ref().and_then(|it| it.unrecorded));
        let bound = Prepared { unrecorded, ..statement.clone().unwrap_or_default() };
        self.portals.insert(portal, bound);
        let portal = CreatedName::Portal(portal.into());
        request.created.push(portal);
        self.refer(index, statement);
    }

    /// Handles a message that uses a statement or a portal.
    fn refer(&mut self, index: usize, used: Option<Prepared>) {
        let Some(used) = used else { return };
        if let Some(reason) = used.unrecorded {
            return self.leave_out(index, reason);
        }
        self.requests[index].text.get_or_insert(StatementText::Prepared(used.text));
    }

    /// Excludes a request from the recording. What it creates cannot be used by later requests of the recording.
    fn leave_out(&mut self, index: usize, reason: Unrecorded) {
        let request = &mut self.requests[index];
        request.unrecorded.get_or_insert(reason);
        for name in request.created.drain(..) {
            match name {
                CreatedName::Statement(name) => self.statements.leave_out(&name, reason),
                CreatedName::Portal(name) => self.portals.leave_out(&name, reason),
            }
        }
    }

    /// Handles the end of a server's message.
    fn reply(&mut self, now: Nanos, sink: &mut impl RequestSink) {
        let (tag, body) = (self.reply.0, &*self.reply.1);
        if !self.logged_in {
            if tag == b'Z' {
                self.logged_in = true;
                sink.connect(&self.identity, self.connected);
            }
            return;
        }
        let Some(front) = self.requests.front_mut().filter(|it| it.answered.is_none()) else { return };
        match tag {
            b'C' => {
                let rows = RowCount::from_tag(c_string(body).0).map(|it| it.rows);
                front.rows = front.rows.map_or(rows, |sum| Some(sum.saturating_add(rows.unwrap_or(0))));
            }
            b'E' => {
                front
                    .error
                    .get_or_insert(sqlstate(body).map_or(RecordedError::Unknown, RecordedError::SqlState));
            }
            b'G' => self.begin_copy(),
            b'Z' if front.closed || front.copies > 0 => {
                front.answered = Some(now);
                let copies_in = front.copies_in();
                let ends_transaction = body == b"I";
                // After an error, the client may not have sent the end of its data yet.
                if !copies_in || self.requests.len() > 1 {
                    self.emit(sink);
                }
                if ends_transaction && self.requests.is_empty() {
                    self.portals.clear();
                }
            }
            _ => {}
        }
    }

    /// Handles CopyInResponse. In the extended query protocol, the server then ignores the Sync after the Execute, and
    /// the request ends with the next one.
    fn begin_copy(&mut self) {
        let front = &mut self.requests[0];
        front.copies += 1;
        if !front.copies_in() || !front.extended {
            return;
        }
        front.closed = false;
        while self.requests.len() > 1 && !self.requests[0].closed {
            let next = self.requests.remove(1).expect("there is a second request");
            self.requests[0].merge(&next);
            if let (_, Some(index @ 1..)) = &mut self.current {
                *index -= 1;
            }
            if let Some(reason) = next.unrecorded.or(self.requests[0].unrecorded) {
                self.leave_out(0, reason);
            }
        }
    }

    /// Passes the first request to `sink`.
    fn emit(&mut self, sink: &mut impl RequestSink) {
        let front = &mut self.requests[0];
        if let (_, Some(index)) = &mut self.current {
            if *index == 0 {
                // The rest of this message belongs to no request.
                front.messages.truncate(front.message);
            }
            self.current.1 = index.checked_sub(1);
        }
        if front.copies_in() && front.unrecorded.is_none() {
            if front.extended {
                self.leave_out(0, Unrecorded::Unfinished);
            } else {
                front.messages.extend_from_slice(COPY_FAIL);
            }
        }
        if self.requests[0].unrecorded.is_none() && !sink.has_room() {
            self.leave_out(0, Unrecorded::Overload);
        }
        let mut request = self.requests.pop_front().expect("there is a first request");
        match request.unrecorded {
            Some(reason) => sink.leave_out(reason),
            None => sink.request(&FinishedRequest {
                start: request.start,
                messages: &request.messages,
                text: request.text.take(),
                outcome: request.outcome(),
            }),
        }
        if self.spare.len() < SPARE && request.messages.capacity() <= SPARE_MAX {
            request.messages.clear();
            self.spare.push(request.messages);
        }
    }
}

/// Splits bytes after the first NUL. Without NUL, all bytes are the text.
fn c_string(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.iter().position(|byte| *byte == 0) {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, &[]),
    }
}

/// SQLSTATE of an ErrorResponse.
fn sqlstate(mut fields: &[u8]) -> Option<[u8; 5]> {
    while let Some((kind, rest)) = fields.split_first() {
        let (value, rest) = c_string(rest);
        if *kind == b'C' {
            return value.try_into().ok();
        }
        fields = rest;
    }
    None
}
