//! Ends sessions whose statement was given up.
//!
//! A server continues a statement after its client has left, and keeps the session until the statement ends. A client that
//! gives up a statement therefore cancels it and keeps its place: it opens another session only after the server has closed
//! this one. So there are never more sessions than clients. Writes with a ledger key are not cancelled, because that would
//! change their outcome, nor is anything behind a pooler (see `Login::cancels`): there the client only keeps its place.

use super::client::{Session, State, todo};
use super::{ConnId, Said, Shard};
use crate::recorder::Recorder;
use model::{Code, Nanos};
use wire::pg::{Channel, Event};

/// A connection that cancels is closed after this long.
const CANCEL_WITHIN: Nanos = Nanos::from_secs(2);
/// From one request to cancel to the next: the first may have come before its statement, or meant the one before.
const CANCEL_EVERY: Nanos = Nanos::from_secs(1);
/// How long the last sessions of a run may take to end.
const LAST: Nanos = Nanos::from_secs(5);
/// The same where the user waits for the end: long enough for two requests to cancel.
const LAST_ABANDONED: Nanos = Nanos::from_millis(1500);
/// Where there are several hosts, a client turns to the others after this long.
const ELSEWHERE: Nanos = Nanos::from_secs(1);

/// State of a session that is being ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ending {
    since: Nanos,
    /// ReadyForQuery messages that are still to come.
    awaited: u16,
    /// Its statement may be cancelled.
    cancels: bool,
    /// The server was asked to.
    asked: bool,
    /// Its bytes make no sense, or need none.
    deaf: bool,
    /// The goodbye is said.
    finished: bool,
}

/// A client's connection that cancels a statement of its own session.
#[derive(Debug, Default)]
pub(super) struct Cancel {
    /// There while it is open.
    channel: Option<Box<Channel>>,
    pub todo: u8,
    door: u8,
    host: u16,
    /// When it was begun.
    since: Nanos,
}

impl Cancel {
    pub fn target(&self) -> (u8, u16) {
        (self.door, self.host)
    }

    pub fn outgoing(&self) -> &[u8] {
        self.channel.as_ref().map_or(&[], |it| it.outgoing())
    }

    pub fn sent(&mut self, n: usize) {
        if let Some(channel) = &mut self.channel {
            channel.sent(n);
        }
    }
}

impl<R: Recorder> Shard<R> {
    /// Begins to end the session of client `i`, whose transaction is given up; `deaf`: its bytes make no sense any more.
    /// False if the server has nothing to end, or is not to be waited for.
    pub(super) fn end_session(&mut self, now: Nanos, i: u32, deaf: bool) -> bool {
        let conn = self.conn(i);
        let client = &self.clients[i as usize];
        let logging_in = client.state == State::LoggingIn;
        if !client.session.linked || client.state == State::Connecting || !(logging_in || client.tx.is_some())
        {
            return false;
        }
        if logging_in && self.hosts(conn) > 1 {
            return false;
        }
        let awaited = client.tx.map_or(0, |it| it.awaited) + u16::from(client.state == State::RollingBack);
        let cancels = awaited > 0 && !self.is_in_ledger(i);
        let session = self.session(conn);
        session.channel.watch(false);
        let deaf = deaf || logging_in;
        session.ending = Some(Ending { since: now, awaited, cancels, asked: false, deaf, finished: false });
        let says_goodbye = deaf || awaited == 0 || !session.channel.outgoing().is_empty();
        self.endings += 1;
        self.demand(conn, todo::PROBE);
        if says_goodbye {
            self.say_goodbye(conn);
        }
        self.cancel(now, conn);
        true
    }

    /// A ledger is kept of what client `i` is about.
    pub(super) fn is_in_ledger(&self, i: u32) -> bool {
        self.clients[i as usize].tx.is_some_and(|it| self.work.write_of(it.script).is_some())
    }

    /// Says that nothing more will come: an idle server closes the connection at once, another when its statement ends.
    fn say_goodbye(&mut self, conn: ConnId) {
        let session = self.session(conn);
        let Some(ending) = &mut session.ending else { return };
        if std::mem::replace(&mut ending.finished, true) {
            return;
        }
        if session.channel.is_open() && session.channel.outgoing().is_empty() {
            session.channel.request(|out| out.extend_from_slice(&wire::pg::terminate()));
            self.demand(conn, todo::TRANSMIT);
        } else {
            session.todo &= !todo::TRANSMIT;
        }
        self.demand(conn, todo::FINISH);
    }

    /// Bytes came for a session that is to end.
    pub(super) fn receive_ending(&mut self, conn: ConnId, bytes: &[u8]) {
        let mut input = bytes;
        loop {
            let Session { channel, ending, .. } = self.session(conn);
            let Some(ending) = ending.as_mut().filter(|it| !it.deaf) else { return };
            match channel.receive(&mut input) {
                Ok(Event::More) => break,
                Ok(Event::Ready(_)) => {
                    ending.awaited = ending.awaited.saturating_sub(1);
                    if ending.awaited == 0 {
                        self.say_goodbye(conn);
                    } else {
                        // The next statement of a pipeline has begun.
                        ending.asked = false;
                    }
                }
                // It waits for data, which a request to cancel does not end.
                Ok(Event::CopyIn) => self.say_goodbye(conn),
                Ok(_) => {}
                Err(_) => {
                    ending.deaf = true;
                    self.say_goodbye(conn);
                }
            }
        }
        if !self.session(conn).channel.outgoing().is_empty() {
            self.demand(conn, todo::TRANSMIT);
        }
    }

    /// The server has closed a session that was to end, or is gone.
    pub(super) fn session_ended(&mut self, now: Nanos, conn: ConnId) {
        self.forget_ending(conn);
        let (i, speaks) = (self.client_of(conn), self.speaker(conn).is_some());
        let client = &self.clients[i as usize];
        if client.state != State::Ending {
            return;
        }
        if client.aborts {
            self.leave(i, State::Aborted);
        } else if speaks && client.tx.is_some() {
            self.connect(now, i);
        } else if (speaks || self.wound_up) && client.tx.is_none() && !(self.wound_up && self.is_ending(i)) {
            self.go_offline(now, i);
        }
    }

    /// A session of client `i` is to end.
    pub(super) fn is_ending(&self, i: u32) -> bool {
        let parked = self.parked.get(i as usize);
        self.clients[i as usize].session.ending.is_some() || parked.is_some_and(|it| it.ending.is_some())
    }

    /// Closes the connection of a session that is to end, and what cancels it.
    fn forget_ending(&mut self, conn: ConnId) {
        if self.session(conn).ending.take().is_some() {
            self.endings -= 1;
            self.unlink(conn);
            let (i, door) = (self.client_of(conn), self.door_of(conn));
            if self.cancels[i as usize].door == door {
                self.cancel_over(i as usize);
            }
        }
    }

    /// Client `i` is over: stops waiting for the end of its sessions.
    pub(super) fn forget_endings(&mut self, i: u32) {
        self.forget_ending(self.conn_by(i, 0));
        if self.has_two_doors() {
            self.forget_ending(self.conn_by(i, 1));
        }
    }

    /// Looks over the sessions that are to end.
    pub(super) fn sweep_endings(&mut self, now: Nanos) {
        for number in 0..self.sessions() as u32 {
            let conn = ConnId(number);
            let Some(ending) = self.session(conn).ending else { continue };
            let i = self.client_of(conn);
            let waits = self.clients[i as usize].state == State::Ending;
            if self.hosts(conn) > 1 && now - ending.since > ELSEWHERE {
                self.session_ended(now, conn);
            } else if waits && self.is_last(i) && now > self.waits_until(ending.since) {
                let aborts = self.clients[i as usize].aborts;
                self.leave(i, if aborts { State::Aborted } else { State::Finished });
            } else {
                self.cancel(now, conn);
                if now - ending.since > LAST && !std::mem::replace(&mut self.told_of_ending, true) {
                    let (client, code) = (self.id(i), Code::TIMED_OUT);
                    let message = "the server still keeps a session that was given up, which holds the \
                                   client's place until it ends";
                    self.said.push_back(Said::Refused { client, code, message: message.to_owned() });
                }
            }
        }
    }

    /// Until when the end of a last session, asked for at `since`, is waited for.
    fn waits_until(&self, since: Nanos) -> Nanos {
        let until = since.max(self.wound_up_at) + LAST;
        if self.abandoned { until.min(self.gives_up + LAST_ABANDONED) } else { until }
    }

    /// Client `i` begins no further transaction.
    fn is_last(&self, i: u32) -> bool {
        let client = &self.clients[i as usize];
        let done = self.closed && self.work.plan.transactions.is_some_and(|it| client.begun >= it);
        self.wound_up || done || client.aborts
    }

    fn hosts(&self, conn: ConnId) -> u16 {
        self.work.by(self.door_of(conn)).map_or(1, |it| it.hosts.count)
    }

    /// Asks the server to cancel what runs in a session, if it is time to.
    fn cancel(&mut self, now: Nanos, conn: ConnId) {
        let (i, door) = (self.client_of(conn) as usize, self.door_of(conn));
        let session = self.session(conn);
        let Some(ending) = session.ending.filter(|it| it.cancels) else { return };
        // A server that gave no key, and a pooler, cannot be asked.
        let Some(canceller) = session.channel.canceller() else { return };
        let host = session.host;
        let cancel = &mut self.cancels[i];
        if cancel.channel.is_some() {
            if now - cancel.since > CANCEL_WITHIN {
                self.cancel_over(i);
            }
        } else if !ending.asked || now - cancel.since >= CANCEL_EVERY {
            cancel.channel = Some(Box::new(canceller));
            (cancel.door, cancel.host, cancel.since) = (door, host, now);
            self.session(conn).ending = Some(Ending { asked: true, ..ending });
            self.demand_cancel(i, todo::CONNECT);
        }
    }

    pub(super) fn cancel_id(&self, i: usize) -> ConnId {
        ConnId((self.sessions() + self.webs.len() + i) as u32)
    }

    pub(super) fn demand_cancel(&mut self, i: usize, what: u8) {
        let id = self.cancel_id(i);
        let cancel = &mut self.cancels[i];
        if cancel.todo == 0 {
            self.todo.push_back(id.0);
        }
        cancel.todo |= what;
    }

    /// The transport of what cancels is open.
    pub(super) fn cancel_connected(&mut self, i: usize) {
        if let Some(channel) = &mut self.cancels[i].channel {
            channel.open();
            self.demand_cancel(i, todo::TRANSMIT);
        }
    }

    /// Bytes came for what cancels: those of TLS.
    pub(super) fn cancel_receive(&mut self, i: usize, bytes: &[u8]) {
        let mut input = bytes;
        let Some(channel) = &mut self.cancels[i].channel else { return };
        loop {
            match channel.receive(&mut input) {
                Ok(Event::More) => break,
                Ok(_) => {}
                Err(_) => return self.cancel_over(i),
            }
        }
        if !channel.outgoing().is_empty() {
            self.demand_cancel(i, todo::TRANSMIT);
        }
    }

    /// The server has read the request to cancel, or cannot be reached.
    pub(super) fn cancel_over(&mut self, i: usize) {
        let cancel = &mut self.cancels[i];
        if cancel.channel.take().is_some() {
            cancel.todo &= !(todo::TRANSMIT | todo::CONNECT);
            self.demand_cancel(i, todo::CLOSE);
        }
    }
}
