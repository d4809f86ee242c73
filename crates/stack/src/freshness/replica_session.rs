//! Which numbers does one server show?

use super::CONNECT_TIMEOUT;
use crate::client::{Connection, Error};
use crate::roles::DirectServer;
use wire::Code;

/// Where the numbers are, on every server.
pub(super) const SCHEMA: &str = "pgdyno_freshness";
pub(super) const TABLE: &str = "pgdyno_freshness.numbers";
/// What watches is told by this name from what is watched.
pub(super) const SETUP_SQL: &str =
    "set application_name = 'pgdyno monitor'; set client_min_messages = warning";
/// The table, or its schema, is not there: its making has not come yet.
const MISSING_TABLE_CODES: [Code; 2] = [Code::SqlState(*b"42P01"), Code::SqlState(*b"3F000")];

/// A session with one server, opened anew when it breaks.
#[derive(Debug)]
pub(super) struct ReplicaSession {
    pub target: DirectServer,
    session: Option<Connection>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReplicaAnswer {
    pub in_recovery: bool,
    /// What was asked for, as it is written; `None` where there is nothing.
    pub value: Option<String>,
}

impl ReplicaSession {
    pub fn new(of: DirectServer) -> ReplicaSession {
        ReplicaSession { target: of, session: None }
    }

    /// Opens the session of one that is a replica, so that the first answer does not wait for it. Of a primary's slots none is
    /// taken.
    pub fn connect_if_replica(&mut self) {
        if self.query("select 1").is_some_and(|it| !it.in_recovery) {
            self.session = None;
        }
    }

    /// An expression over [`TABLE`]. `None` where there is no answer.
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
            // The primary acknowledged what is in it: this one lacks it.
            Err(Error::Server(it)) if MISSING_TABLE_CODES.contains(&it.code) => {
                ReplicaAnswer { in_recovery: true, value: None }
            }
            Err(_) => return None,
        };
        self.session = Some(session);
        Some(shown)
    }
}
