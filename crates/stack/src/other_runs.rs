//! Tells whether another pgdyno is at work in a database.
//!
//! It is known by its sessions' `application_name`, which every user of the server may see. Nothing is locked for that: a
//! lock that was taken through a pooler would stay in the pool.

use crate::client::{Connection, Error};

/// A session that watches a trial of `run`, or one of the load of `bench` that is at work. Poolers keep idle sessions of runs
/// that are over.
const OTHER_RUNS_SQL: &str = "select pid, application_name from pg_stat_activity where datname = current_database() \
    and pid <> pg_backend_pid() and (application_name = 'pgdyno monitor' \
    or application_name = 'pgdyno bench' and state in ('active', 'idle in transaction')) order by 1 limit 1";

/// A session of another pgdyno, as `server process 812, "pgdyno monitor"`; `None` if there is none.
pub fn find_other_run(session: &mut Connection) -> Result<Option<String>, Error> {
    let answer = session.query(OTHER_RUNS_SQL)?;
    let value = |at: usize| answer.rows.first()?.get(at)?.as_deref();
    Ok(value(0).zip(value(1)).map(|(pid, name)| format!("server process {pid}, \"{name}\"")))
}
