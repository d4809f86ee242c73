//! Waits for statements that clients of the last trial gave up
//!
//! The server executes such a statement to its end. On an attached server, it would slow down the next trial.

use super::{TABLE_QUERY_TIMEOUT, TestBed};
use stack::client::{Connection, Error};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Longest wait. A statement that takes longer is left to the next trial.
const WAIT_MAX: Duration = Duration::from_secs(30);
const INTERVAL: Duration = Duration::from_millis(100);

impl TestBed {
    /// Waits until no session of the database executes a statement that began in the last `trial` seconds, or until
    /// `interrupted`. Returns at once if the database cannot be examined.
    pub fn wait_for_abandoned_statements(&self, trial: Duration, interrupted: &AtomicBool) {
        let Some((chain, postgres)) = self.chain.as_ref().and_then(|it| Some((it, it.postgres()?))) else {
            return;
        };
        let target =
            postgres.admin.as_ref().unwrap_or(&postgres.endpoint).in_database(&chain.users().database);
        let Ok(mut connection) = target.open(TABLE_QUERY_TIMEOUT) else { return };
        let end = Instant::now();
        while end.elapsed() < WAIT_MAX && !interrupted.load(Ordering::Relaxed) {
            if !matches!(count_running(&mut connection, trial + end.elapsed(), end.elapsed()), Ok(1..)) {
                return;
            }
            std::thread::sleep(INTERVAL);
        }
    }
}

/// Number of other sessions whose current statement began between these two ages.
fn count_running(connection: &mut Connection, oldest: Duration, newest: Duration) -> Result<u64, Error> {
    let (oldest, newest) = (oldest.as_secs_f64(), newest.as_secs_f64());
    let count = connection.value(&format!(
        "select count(*) from pg_stat_activity where backend_type = 'client backend' and state = 'active' \
           and pid <> pg_backend_pid() and datname = current_database() \
           and query_start between clock_timestamp() - interval '{oldest:.3} s' and clock_timestamp() - interval '{newest:.3} s'"
    ))?;
    Ok(count.and_then(|it| it.parse().ok()).unwrap_or(0))
}
