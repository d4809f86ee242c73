//! Session that reads the numbers of one server

use super::CONNECT_TIMEOUT;
use crate::client::{Connection, Error};
use crate::roles::DirectServer;
use wire::Code;

/// Schema and table of the numbers, on every server.
pub(super) const SCHEMA: &str = "pgdyno_freshness";
pub(super) const TABLE: &str = "pgdyno_freshness.numbers";
/// Statements that make pgdyno's own sessions identifiable in `pg_stat_activity`.
pub(super) const SETUP_SQL: &str =
    "set application_name = 'pgdyno monitor'; set client_min_messages = warning";
/// SQLSTATEs of a missing table or schema: the replica has not yet replayed its creation.
const MISSING_TABLE_CODES: [Code; 2] = [Code::SqlState(*b"42P01"), Code::SqlState(*b"3F000")];

/// Session with one server; reconnects after an error.
#[derive(Debug)]
pub(super) struct ReplicaSession {
    pub target: DirectServer,
    session: Option<Connection>,
}

/// Response to one query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReplicaAnswer {
    pub in_recovery: bool,
    /// Value of the expression as text; `None` for NULL, or if the table does not exist.
    pub value: Option<String>,
}

impl ReplicaSession {
    pub fn new(server: DirectServer) -> ReplicaSession {
        ReplicaSession { target: server, session: None }
    }

    /// Connects in advance if the server is a replica, so that the first read is not delayed. Keeps no session on a
    /// primary.
    pub fn connect_if_replica(&mut self) {
        if self.query("select 1").is_some_and(|it| !it.in_recovery) {
            self.session = None;
        }
    }

    /// Evaluates an expression over [`TABLE`]. `None` if the server does not respond.
    pub fn query(&mut self, of_numbers: &str) -> Option<ReplicaAnswer> {
        let sql = format!("select pg_is_in_recovery(), ({of_numbers})");
        let session = match self.session.take() {
            Some(it) => Ok(it),
            None => {
                self.target.target.open(CONNECT_TIMEOUT).and_then(|mut it| it.query(SETUP_SQL).map(|_| it))
            }
        };
        let mut session = session.ok()?;
        let shown = match session.query(&sql) {
            Ok(answer) => {
                let row = answer.rows.into_iter().next().unwrap_or_default();
                let mut cells = row.into_iter();
                let in_recovery = cells.next().flatten().as_deref() == Some("t");
                ReplicaAnswer { in_recovery, value: cells.next().flatten() }
            }
            // The primary acknowledged the table's contents, but this server lacks the table.
            Err(Error::Server(error)) if MISSING_TABLE_CODES.contains(&error.code) => {
                ReplicaAnswer { in_recovery: true, value: None }
            }
            Err(_) => return None,
        };
        self.session = Some(session);
        Some(shown)
    }
}
