//! Through which door does a client speak with PostgreSQL?
//!
//! A primary and its replicas may stand behind two doors. Each client has a session by each; it speaks in one at a time, and the
//! other is parked. Where there is one door nothing is ever parked.

use super::client::{Client, Session, todo};
use super::{ConnId, Shard};
use crate::random::Prng;
use crate::recorder::Recorder;
use crate::workload::{Postgres, Target, Workload};
use model::Code;
use model::plan::To;
use std::sync::Arc;
use wire::pg::{Channel, Event, Login, Transport};

impl<R: Recorder> Shard<R> {
    /// Whom a connection leads to.
    pub fn target(&self, conn: ConnId) -> Target {
        match self.web_number(conn) {
            None => {
                let i = self.client_of(conn) as usize;
                let speaks = self.speaker(conn).is_some();
                let session = if speaks { &self.clients[i].session } else { &self.parked[i] };
                Target::Postgres { door: u16::from(self.door_of(conn)), host: session.host }
            }
            Some(w) if w >= self.webs.len() => {
                let (door, host) = self.cancels[w - self.webs.len()].target();
                Target::Postgres { door: door.into(), host }
            }
            Some(w) => Target::Service((w % self.work.services.len()) as u16),
        }
    }

    /// Connections that are sessions.
    #[inline]
    pub(super) fn sessions(&self) -> usize {
        self.clients.len() + self.parked.len()
    }

    #[inline]
    pub(super) fn door_of(&self, conn: ConnId) -> u8 {
        u8::from(conn.0 as usize >= self.clients.len())
    }

    /// Whose session that is.
    #[inline]
    pub(super) fn client_of(&self, conn: ConnId) -> u32 {
        let clients = self.clients.len() as u32;
        if conn.0 < clients { conn.0 } else { conn.0 - clients }
    }

    /// The client that speaks in this session; `None` if it is parked.
    #[inline]
    pub(super) fn speaker(&self, conn: ConnId) -> Option<u32> {
        let i = self.client_of(conn);
        (self.clients[i as usize].door == self.door_of(conn)).then_some(i)
    }

    #[inline]
    pub(super) fn session(&mut self, conn: ConnId) -> &mut Session {
        let i = self.client_of(conn) as usize;
        match self.clients[i].door == self.door_of(conn) {
            true => &mut self.clients[i].session,
            false => &mut self.parked[i],
        }
    }

    /// The session in which client `i` speaks.
    #[inline]
    pub(super) fn conn(&self, i: u32) -> ConnId {
        self.conn_by(i, self.clients[i as usize].door)
    }

    #[inline]
    pub(super) fn conn_by(&self, i: u32, door: u8) -> ConnId {
        ConnId(if door == 0 { i } else { i + self.clients.len() as u32 })
    }

    pub(super) fn has_two_doors(&self) -> bool {
        !self.parked.is_empty()
    }

    /// Before client `i` begins this script: has it speak in the session that leads where the script's SQL is to go. True if
    /// that must be opened first.
    pub(super) fn approach(&mut self, i: u32, script: u16) -> bool {
        if !self.has_two_doors() {
            // With one door, it is open unless each transaction opens it anew.
            return self.work.plan.reconnect && self.work.postgres.is_some();
        }
        let Some(to) = self.work.goes_to(script) else { return false };
        let client = &mut self.clients[i as usize];
        let door = match to {
            To::Primary => 0,
            To::Replica => 1,
            To::Any => (client.rng.u64() & 1) as u8,
        };
        if client.door != door {
            std::mem::swap(&mut client.session, &mut self.parked[i as usize]);
            client.door = door;
        }
        !client.session.linked || client.session.ending.is_some()
    }

    /// Bytes came for a session in which nobody speaks: nothing was asked there, so nothing is answered.
    pub(super) fn receive_parked(&mut self, conn: ConnId, bytes: &[u8]) {
        if self.session(conn).ending.is_some() {
            return self.receive_ending(conn, bytes);
        }
        let mut input = bytes;
        let session = self.session(conn);
        while session.linked {
            match session.channel.receive(&mut input) {
                Ok(Event::More) => break,
                Ok(_) => {}
                Err(_) => return self.unlink(conn),
            }
        }
    }

    /// Forgets the connection of a session and has the driver close it.
    pub(super) fn unlink(&mut self, conn: ConnId) {
        let session = self.session(conn);
        if session.linked {
            session.linked = false;
            session.last_words = None;
            session.todo &= !(todo::TRANSMIT | todo::FINISH | todo::CONNECT | todo::PROBE);
            self.demand(conn, todo::CLOSE);
        }
    }

    /// Ends the sessions of client `i` in the orderly way; `logging_in`: the one in which it speaks has not begun.
    pub(super) fn hang_up_sessions(&mut self, i: u32, logging_in: bool) {
        let door = self.clients[i as usize].door;
        self.part(self.conn_by(i, door), logging_in);
        if self.has_two_doors() {
            self.part(self.conn_by(i, 1 - door), false);
        }
    }

    fn part(&mut self, conn: ConnId, logging_in: bool) {
        let session = self.session(conn);
        // One that is to end is let go when it has.
        if session.linked && session.ending.is_none() {
            session.linked = false;
            session.todo &= !todo::CONNECT;
            if !logging_in {
                session.channel.request(|out| out.extend_from_slice(&wire::pg::terminate()));
                self.demand(conn, todo::TRANSMIT);
            }
            self.demand(conn, todo::CLOSE);
        }
    }

    /// Client `i`, whom a host has refused, turns to the door's next one. False if all have refused it.
    pub(super) fn turn_to_next(&mut self, i: u32) -> bool {
        let Client { session, door, .. } = &mut self.clients[i as usize];
        let count = self.work.by(*door).map_or(1, |it| it.hosts.count);
        session.host = (session.host + 1) % count;
        session.tried = (session.tried + 1) % count;
        session.tried > 0
    }

    /// Whether whom client `i` has logged in with is whom its door is to lead to.
    pub(super) fn is_wanted(&self, i: u32) -> bool {
        let Client { session, door, .. } = &self.clients[i as usize];
        let wanted = self.work.by(*door).map_or(To::Any, |it| it.hosts.wanted);
        match session.channel.parameter("in_hot_standby") {
            Some("on") => wanted != To::Primary,
            Some(_) => wanted != To::Replica,
            None => true,
        }
    }

    /// Somebody could not log in.
    pub(super) fn turned_away(&mut self, code: Code) {
        self.recorder.refused(code);
        // As where nobody listens, or nobody that can be spoken to yet. Who is refused because there are too many is not
        // let in because another one was.
        self.shut |= match code {
            Code::Net(_) => true,
            Code::SqlState(state) => matches!(state, [b'0', b'8', ..] | [b'5', b'7', ..]),
            Code::Http(_) | Code::TextNotFound | Code::CaptureNotFound => false,
        };
    }
}

/// The session of the client with this number by this door, which is not open yet.
pub(super) fn session(work: &Workload, door: u8, client: u32, other: &mut Prng) -> Session {
    let host = work.by(door).map_or(0, |it| it.hosts.first_of(client));
    Session { host, ..Session::new(channel(work, door, other), work.statements) }
}

/// Of such a session, for one connection.
pub(super) fn channel(work: &Workload, door: u8, other: &mut Prng) -> Channel {
    let mut nonce = [0; 18];
    for part in nonce.chunks_mut(8) {
        part.copy_from_slice(&other.u64().to_ne_bytes()[..part.len()]);
    }
    let Postgres { login, transport, .. } = work.by(door).cloned().unwrap_or_else(nobody);
    Channel::new(login, transport, nonce)
}

/// Where no script speaks SQL, no session is ever opened.
fn nobody() -> Postgres {
    Postgres::new(Arc::new(Login::new("", "")), Transport::Unix)
}
