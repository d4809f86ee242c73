//! Polls the role, commit settings and health of one server

use super::identity;
use super::{DirectServer, HealthChange, ServerObservation, StreamingReplica};
use crate::client::{Connection, Error, QueryResult};
use crate::dataset::quote_literal;
use crate::http;
use crate::replication::Lsn;
use model::Nanos;
use std::time::Duration;

/// Timeout for a login; a server that takes longer counts as not responding.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Timeout for the health check; short, because it delays the polls.
const HEALTH_TIMEOUT: Duration = Duration::from_millis(250);

/// Poller of one server; reconnects after an error.
pub(super) struct ServerPoller {
    server: DirectServer,
    session: Option<Connection>,
    /// Query for the state of a primary.
    primary_sql: String,
    /// Start time and timeline of the server when the health endpoint last reported it as primary.
    last_healthy: Option<(u64, u32)>,
}

impl ServerPoller {
    pub fn new(mut server: DirectServer) -> ServerPoller {
        let question = primary_sql(&server.role, &server.target.login.database);
        // Sessions in the database `postgres` do not block a copy of the application's database, and have none of its
        // settings.
        // The application's user of an attached server may not be allowed to log in there.
        if server.address.is_some() {
            server.target = server.target.in_database("postgres");
        }
        ServerPoller { server, session: None, primary_sql: question, last_healthy: None }
    }

    pub fn name(&self) -> &str {
        &self.server.name
    }

    /// Polls the server once; `None` if it does not respond.
    pub fn poll(&mut self, now: &dyn Fn() -> Nanos) -> Option<ServerObservation> {
        let observation = self.query(now);
        if observation.is_err() {
            self.session = None;
        }
        observation.ok()
    }

    fn query(&mut self, now: &dyn Fn() -> Nanos) -> Result<ServerObservation, Error> {
        let session = match &mut self.session {
            Some(it) => it,
            none => none.insert(self.server.target.open(CONNECT_TIMEOUT)?),
        };
        let at = now();
        let answer = identity::query_identity(session)?;
        let (server, in_recovery) = identity::parse_identity(&answer, self.server.address.as_deref());
        let fsync = identity::has_fsync(&answer);
        if in_recovery {
            return Ok(ServerObservation { at, server, in_recovery, fsync, writes: None });
        }
        let writes = Some(parse_commit_settings(&session.query(&self.primary_sql)?));
        Ok(ServerObservation { at: now(), server, in_recovery, fsync, writes })
    }

    /// Checks the health endpoint. Returns a change if this is the first success since the server began to accept
    /// writes.
    pub fn health(
        &mut self,
        observation: &ServerObservation,
        now: &dyn Fn() -> Nanos,
    ) -> Option<HealthChange> {
        let url = self.server.health.as_ref()?;
        let incarnation = (observation.server.started_us, observation.server.timeline);
        if observation.in_recovery || self.last_healthy == Some(incarnation) {
            return None;
        }
        if http::get(url, HEALTH_TIMEOUT).ok()?.status != 200 {
            return None;
        }
        self.last_healthy = Some(incarnation);
        Some(HealthChange { node: self.server.name.clone(), at: now(), timeline: incarnation.1 })
    }
}

/// Query that returns one row per replica, and one row if there is none.
fn primary_sql(role: &str, database: &str) -> String {
    let commit = synchronous_commit_sql(role, database);
    format!(
        "select {commit}, current_setting('synchronous_standby_names'), application_name, sync_state, flush_lsn \
         from (select) as it left join pg_stat_replication on true order by application_name, pid"
    )
}

/// SQL expression for the `synchronous_commit` of a new session of the user.
///
/// The expression takes the first value that is set: for the user in this database, for the user, for the database, for
/// all users, or in the server's files. Do not use the expression in a session that has changed the setting itself.
pub(crate) fn synchronous_commit_sql(role: &str, database: &str) -> String {
    let (role, database) = (quote_literal(role), quote_literal(database));
    format!(
        "coalesce( \
           (select substr(line, 20) from pg_db_role_setting, unnest(setconfig) as line \
            where line like 'synchronous_commit=%' \
              and setrole in (0, (select oid from pg_roles where rolname = {role})) \
              and setdatabase in (0, (select oid from pg_database where datname = {database})) \
            order by setrole <> 0 desc, setdatabase <> 0 desc limit 1), \
           current_setting('synchronous_commit'))"
    )
}

fn parse_commit_settings(answer: &QueryResult) -> (String, String, Vec<StreamingReplica>) {
    let cell = |row: &[Option<String>], at: usize| row.get(at).cloned().flatten();
    let first = answer.rows.first().map_or(&[][..], Vec::as_slice);
    let text = |at: usize| cell(first, at).unwrap_or_default();
    let follower = |row: &Vec<Option<String>>| {
        Some(StreamingReplica {
            name: cell(row, 2)?,
            sync_state: cell(row, 3).unwrap_or_default(),
            flushed: cell(row, 4).as_deref().and_then(Lsn::parse),
        })
    };
    (text(0), text(1), answer.rows.iter().filter_map(follower).collect())
}
