//! Which numbers does one server show?

use super::PATIENCE;
use crate::ask::{Connection, Error};
use crate::roles::Direct;
use wire::Code;

/// Where the numbers are, on every server.
pub(super) const SCHEMA: &str = "pgdyno_freshness";
pub(super) const TABLE: &str = "pgdyno_freshness.numbers";
/// What watches is told by this name from what is watched.
pub(super) const SET_UP: &str = "set application_name = 'pgdyno monitor'; set client_min_messages = warning";
/// The table, or its schema, is not there: its making has not come yet.
const NOT_YET: [Code; 2] = [Code::SqlState(*b"42P01"), Code::SqlState(*b"3F000")];

/// A session with one server, opened anew when it breaks.
#[derive(Debug)]
pub(super) struct Seat {
    pub of: Direct,
    session: Option<Connection>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub in_recovery: bool,
    /// What was asked for, as it is written; `None` where there is nothing.
    pub value: Option<String>,
}

impl Seat {
    pub fn new(of: Direct) -> Seat {
        Seat { of, session: None }
    }

    /// Opens the session of one that is a replica, so that the first answer does not wait for it. Of a primary's slots none is
    /// taken.
    pub fn begin(&mut self) {
        if self.ask("select 1").is_some_and(|it| !it.in_recovery) {
            self.session = None;
        }
    }

    /// An expression over [`TABLE`]. `None` where there is no answer.
    pub fn ask(&mut self, of_numbers: &str) -> Option<Shown> {
        let sql = format!("select pg_is_in_recovery(), ({of_numbers})");
        let session = match self.session.take() {
            Some(it) => Ok(it),
            None => self.of.target.open(PATIENCE).and_then(|mut it| it.query(SET_UP).map(|_| it)),
        };
        let mut session = session.ok()?;
        let shown = match session.query(&sql) {
            Ok(answer) => {
                let row = answer.rows.into_iter().next().unwrap_or_default();
                let mut cells = row.into_iter();
                let in_recovery = cells.next().flatten().as_deref() == Some("t");
                Shown { in_recovery, value: cells.next().flatten() }
            }
            // The primary acknowledged what is in it: this one lacks it.
            Err(Error::Server(it)) if NOT_YET.contains(&it.code) => Shown { in_recovery: true, value: None },
            Err(_) => return None,
        };
        self.session = Some(session);
        Some(shown)
    }
}
