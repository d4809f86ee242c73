//! Writes numbers on the current primary

use super::replica_session::{SCHEMA, SETUP_SQL, TABLE};
use super::{AcknowledgedNumber, CONNECT_TIMEOUT, WRITE_INTERVAL};
use crate::client::Connection;
use crate::roles::{DirectServer, identity, synchronous_commit_sql};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// Timeout for a write. The writer then searches for a primary again, because another server may accept writes.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);
/// Interval between two searches for a primary. It is long, so that the searches use little CPU time during a failover.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);
/// Timeout for a login. The writer then tries the next server, which may accept writes.
const LOGIN_TIMEOUT: Duration = Duration::from_millis(500);

/// Writer that inserts numbers into the table and sends each acknowledged one to the readers.
pub(super) struct NumberWriter {
    servers: Vec<DirectServer>,
    session: Option<(usize, Connection)>,
    /// Next number. Numbers increase from trial to trial too, so that none equals an older one.
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

    /// Runs until stopped; returns the number of acknowledged writes.
    pub fn run(mut self, has_begun: &dyn Fn() -> bool, stop: &Receiver<()>) -> u64 {
        let (mut written, mut due) = (0, Instant::now());
        for round in 1_u32.. {
            let ready = self.is_ready();
            if ready && has_begun() {
                written += u64::from(self.write());
            }
            // Missed writes are skipped.
            due = (due + if ready { write_interval(round) } else { RETRY_INTERVAL }).max(Instant::now());
            match stop.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        written
    }

    /// Drops the table, and its schema if that is empty. Does nothing without a primary.
    pub fn drop_table(self) {
        if let Some((_, mut session)) = self.connect_primary() {
            session.set_timeout(Some(CONNECT_TIMEOUT));
            // If this fails, the table is dropped with its database, or reused.
            let _ = session.query(&format!("drop table if exists {TABLE}"));
            let _ = session.query(&format!("drop schema if exists {SCHEMA}"));
        }
    }

    fn write(&mut self) -> bool {
        let Some((server, session)) = &mut self.session else { return false };
        let (value, remarks) = (self.next, session.notices.len());
        self.next += 1;
        let done = session.query(&format!("insert into {TABLE} values ({value})"));
        let number = AcknowledgedNumber { value, at: Instant::now(), server: *server };
        match done {
            // A warning means that the wait for the replicas was cancelled. The write then does not count as
            // acknowledged.
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
        let readers = self.readers.iter().enumerate().filter(|it| it.0 != number.server);
        for channel in readers.map(|it| it.1).chain(&self.turns) {
            // Sending cannot fail, because the readers end after the writer.
            let _ = channel.send(number);
        }
    }

    /// True if a primary exists and has the table.
    fn is_ready(&mut self) -> bool {
        if self.session.is_none() {
            self.session = self.connect_primary().and_then(|it| self.prepare_table(it));
        }
        self.session.is_some()
    }

    /// Connects to the server with the newest timeline among those that accept writes; returns its index.
    fn connect_primary(&self) -> Option<(usize, Connection)> {
        let opened = self.servers.iter().enumerate().filter_map(|(at, server)| {
            let mut session = server.target.open(LOGIN_TIMEOUT).ok()?;
            let (server_identity, in_recovery) =
                identity::parse_identity(&session.query(identity::IDENTITY_SQL).ok()?, None);
            session
                .query(SETUP_SQL)
                .ok()
                .filter(|_| !in_recovery)
                .map(|_| (server_identity.timeline, at, session))
        });
        opened.max_by_key(|it| it.0).map(|(_, at, session)| (at, session))
    }

    /// Creates the table if necessary, and applies the `synchronous_commit` of the application's user.
    fn prepare_table(&self, (at, mut session): (usize, Connection)) -> Option<(usize, Connection)> {
        if has_stuck_session(&mut session) {
            return None;
        }
        let DirectServer { role, target, .. } = &self.servers[at];
        let commit = synchronous_commit_sql(role, &target.login.database);
        session.set_timeout(Some(WRITE_TIMEOUT));
        session.query(&format!("select set_config('synchronous_commit', {commit}, false)")).ok()?;
        session.query(&format!("create schema if not exists {SCHEMA}")).ok()?;
        session.query(&format!("create table if not exists {TABLE} (number bigint primary key)")).ok()?;
        Some((at, session))
    }
}

/// True if an abandoned session of pgdyno still waits for replicas. A new session would wait too.
fn has_stuck_session(session: &mut Connection) -> bool {
    let sql = "select count(*) > 0 from pg_stat_activity \
        where application_name = 'pgdyno monitor' and wait_event = 'SyncRep'";
    !matches!(session.value(sql), Ok(Some(it)) if it == "f")
}

/// Interval until the next number, 0.5 to 1.5 times [`WRITE_INTERVAL`].
///
/// A constant interval could stay in phase with other periodic work, such as the 200 ms of the WAL writer. The
/// fractional parts of multiples of the golden ratio are evenly distributed for any number of rounds.
pub(super) fn write_interval(round: u32) -> Duration {
    WRITE_INTERVAL.mul_f64(0.5 + (f64::from(round) * 0.618_033_988_749_895).fract())
}
