//! Which numbers has the primary acknowledged, whoever it is?

use super::replica_session::{SCHEMA, SETUP_SQL, TABLE};
use super::{AcknowledgedNumber, CONNECT_TIMEOUT, WRITE_INTERVAL};
use crate::client::Connection;
use crate::roles::{DirectServer, identity, synchronous_commit_sql};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// What is not acknowledged by then is not waited for: another server may take writes.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);
/// Until the next look for a primary: those who have to find one need the processors more.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);
/// A server that has not let us in by then is passed over: others may take writes.
const LOGIN_TIMEOUT: Duration = Duration::from_millis(500);

/// Puts numbers into the table, and tells of each that is acknowledged.
pub(super) struct NumberWriter {
    servers: Vec<DirectServer>,
    session: Option<(usize, Connection)>,
    /// Numbers ascend also from trial to trial, so that none is taken for an older one of the same value.
    next: u64,
    readers: Vec<Sender<AcknowledgedNumber>>,
    turns: Option<Sender<AcknowledgedNumber>>,
}

impl NumberWriter {
    pub fn new(
        servers: Vec<DirectServer>,
        first: u64,
        readers: Vec<Sender<AcknowledgedNumber>>,
        turns: Option<Sender<AcknowledgedNumber>>,
    ) -> NumberWriter {
        NumberWriter { servers, session: None, next: first, readers, turns }
    }

    /// How many were acknowledged.
    pub fn run(mut self, begun: &dyn Fn() -> bool, rests: &Receiver<()>) -> u64 {
        let (mut written, mut due) = (0, Instant::now());
        for round in 1_u32.. {
            let ready = self.is_ready();
            if ready && begun() {
                written += u64::from(self.write());
            }
            // What was late is not made up for.
            due = (due + if ready { write_interval(round) } else { RETRY_INTERVAL }).max(Instant::now());
            match rests.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        written
    }

    /// Drops the table and its schema, unless something else is in it, where there is a primary.
    pub fn drop_table(self) {
        if let Some((_, mut session)) = self.connect_primary() {
            let _ = session.set_timeout(Some(CONNECT_TIMEOUT));
            // What cannot be dropped goes with its database, or is used again.
            let _ = session.query(&format!("drop table if exists {TABLE}"));
            let _ = session.query(&format!("drop schema if exists {SCHEMA}"));
        }
    }

    fn write(&mut self) -> bool {
        let Some((on, session)) = &mut self.session else { return false };
        let (value, remarks) = (self.next, session.notices.len());
        self.next += 1;
        let done = session.query(&format!("insert into {TABLE} values ({value})"));
        let number = AcknowledgedNumber { value, at: Instant::now(), server: *on };
        match done {
            // A warning is that the wait for the replicas was given up: no acknowledgement.
            Ok(_) if session.notices.len() > remarks => false,
            Ok(_) => {
                self.notify(number);
                true
            }
            Err(_) => {
                self.session = None;
                false
            }
        }
    }

    fn notify(&self, number: AcknowledgedNumber) {
        let others = self.readers.iter().enumerate().filter(|it| it.0 != number.server);
        for it in others.map(|it| it.1).chain(&self.turns) {
            // They end after us.
            let _ = it.send(number);
        }
    }

    /// Whether there is a primary with a table.
    fn is_ready(&mut self) -> bool {
        if self.session.is_none() {
            self.session = self.connect_primary().and_then(|it| self.prepare_table(it));
        }
        self.session.is_some()
    }

    /// Of those that take writes the one with the newest history, by its index.
    fn connect_primary(&self) -> Option<(usize, Connection)> {
        let opened = self.servers.iter().enumerate().filter_map(|(at, it)| {
            let mut session = it.target.open(LOGIN_TIMEOUT).ok()?;
            let (who, in_recovery) =
                identity::parse_identity(&session.query(identity::IDENTITY_SQL).ok()?, None);
            session.query(SETUP_SQL).ok().filter(|_| !in_recovery).map(|_| (who.timeline, at, session))
        });
        opened.max_by_key(|it| it.0).map(|(_, at, session)| (at, session))
    }

    /// With the table that it may have, and with what the application's user promises.
    fn prepare_table(&self, (at, mut session): (usize, Connection)) -> Option<(usize, Connection)> {
        if has_stuck_session(&mut session) {
            return None;
        }
        let DirectServer { role, target, .. } = &self.servers[at];
        let commit = synchronous_commit_sql(role, &target.login.database);
        session.set_timeout(Some(WRITE_TIMEOUT)).ok()?;
        session.query(&format!("select set_config('synchronous_commit', {commit}, false)")).ok()?;
        session.query(&format!("create schema if not exists {SCHEMA}")).ok()?;
        session.query(&format!("create table if not exists {TABLE} (number bigint primary key)")).ok()?;
        Some((at, session))
    }
}

/// Whether a session of ours still waits for replicas, though we have given it up: another one would only wait beside it.
fn has_stuck_session(session: &mut Connection) -> bool {
    let sql = "select count(*) > 0 from pg_stat_activity \
        where application_name = 'pgdyno monitor' and wait_event = 'SyncRep'";
    !matches!(session.value(sql), Ok(Some(it)) if it == "f")
}

/// The time until the next number, half to one and a half of [`EVERY`]: even ones would fall into step with what recurs as
/// evenly, such as the log writer's 200 ms. By the golden ratio, whose multiples spread evenly however many there are.
pub(super) fn write_interval(round: u32) -> Duration {
    WRITE_INTERVAL.mul_f64(0.5 + (f64::from(round) * 0.618_033_988_749_895).fract())
}
