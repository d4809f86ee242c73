//! Check for another pgdyno that uses the same database
//!
//! Another pgdyno is identified by the `application_name` of its sessions, which every user of the server may see. The
//! check takes no lock: a lock taken through a pooler would stay in the pool.

use crate::client::{Connection, Error};

/// Query that finds a session that monitors a trial of `run`, or a busy load session of `bench`.
///
/// Idle load sessions do not count, because poolers keep idle sessions of finished runs.
const OTHER_RUNS_SQL: &str = "select pid, application_name from pg_stat_activity where datname = current_database() \
    and pid <> pg_backend_pid() and (application_name = 'pgdyno monitor' \
    or application_name = 'pgdyno bench' and state in ('active', 'idle in transaction')) order by 1 limit 1";

/// Finds a session of another pgdyno, such as `server process 812, "pgdyno monitor"`; `None` if there is none.
pub fn find_other_run(session: &mut Connection) -> Result<Option<String>, Error> {
    let answer = session.query(OTHER_RUNS_SQL)?;
    let value = |at: usize| answer.rows.first()?.get(at)?.as_deref();
    Ok(value(0).zip(value(1)).map(|(pid, name)| format!("server process {pid}, \"{name}\"")))
}
