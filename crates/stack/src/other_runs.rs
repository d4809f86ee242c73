//! Check for another pgdyno that uses the same database
//!
//! Its sessions' `application_name` identifies it; every user of the server may see that. The check takes no lock: a
//! lock taken through a pooler would stay in the pool.

use crate::client::{Connection, Error};

/// Finds a session that watches a trial of `run`, or a busy load session of `bench`.
///
/// Poolers keep idle sessions of finished runs, so idle load sessions do not count.
const OTHER_RUNS_SQL: &str = "select pid, application_name from pg_stat_activity where datname = current_database() \
    and pid <> pg_backend_pid() and (application_name = 'pgdyno monitor' \
    or application_name = 'pgdyno bench' and state in ('active', 'idle in transaction')) order by 1 limit 1";

/// A session of another pgdyno, such as `server process 812, "pgdyno monitor"`; `None` if there is none.
pub fn find_other_run(session: &mut Connection) -> Result<Option<String>, Error> {
    let answer = session.query(OTHER_RUNS_SQL)?;
    let value = |at: usize| answer.rows.first()?.get(at)?.as_deref();
    Ok(value(0).zip(value(1)).map(|(pid, name)| format!("server process {pid}, \"{name}\"")))
}
