//! What does one server say of itself now?

use super::identity::{self, WHO};
use super::{Direct, Follower, Glance, Healthy};
use crate::ask::{Answer, Connection, Error};
use crate::dataset::literal;
use crate::http;
use crate::replication::Lsn;
use model::Nanos;
use std::time::Duration;

/// A server that needs longer is not well.
const PATIENCE: Duration = Duration::from_secs(1);
/// The same of who tells its health: looks shall not wait long for it.
const ASIDE: Duration = Duration::from_millis(250);

/// Asks one server, over a session that is opened anew when it breaks.
pub(super) struct Look {
    of: Direct,
    session: Option<Connection>,
    /// What a primary is asked.
    question: String,
    /// When the server began, and the timeline, that its health was last told of.
    told: Option<(u64, u32)>,
}

impl Look {
    pub fn new(mut of: Direct) -> Look {
        let question = question(&of.role, &of.target.login.database);
        // A session there is in nobody's way, and has no settings of the application's.
        of.target = of.target.in_database("postgres");
        Look { of, session: None, question, told: None }
    }

    pub fn name(&self) -> &str {
        &self.of.name
    }

    /// `None` where it does not answer.
    pub fn look(&mut self, now: &dyn Fn() -> Nanos) -> Option<Glance> {
        let glance = self.ask(now);
        if glance.is_err() {
            self.session = None;
        }
        glance.ok()
    }

    fn ask(&mut self, now: &dyn Fn() -> Nanos) -> Result<Glance, Error> {
        let session = match &mut self.session {
            Some(it) => it,
            none => none.insert(self.of.target.open(PATIENCE)?),
        };
        let asked = now();
        let (server, in_recovery) = identity::read(&session.query(WHO)?, self.of.address.as_deref());
        if in_recovery {
            return Ok(Glance { at: asked, server, in_recovery, writes: None });
        }
        let answer = session.query(&self.question)?;
        Ok(Glance { at: now(), server, in_recovery, writes: Some(promises(&answer)) })
    }

    /// That its health is told of for the first time since it takes writes, if it is now.
    pub fn health(&mut self, glance: &Glance, now: &dyn Fn() -> Nanos) -> Option<Healthy> {
        let url = self.of.health.as_ref()?;
        let who = (glance.server.started_us, glance.server.timeline);
        if glance.in_recovery || self.told == Some(who) {
            return None;
        }
        if http::get(url, ASIDE).ok()?.status != 200 {
            return None;
        }
        self.told = Some(who);
        Some(Healthy { node: self.of.name.clone(), at: now(), timeline: who.1 })
    }
}

/// Of each follower a row, and one in any case.
fn question(role: &str, database: &str) -> String {
    let commit = commit_of(role, database);
    format!(
        "select {commit}, current_setting('synchronous_standby_names'), application_name, sync_state, flush_lsn \
         from (select) as it left join pg_stat_replication on true order by application_name, pid"
    )
}

/// SQL for the `synchronous_commit` that a new session of the user has: what was set for it there, for it, for the database,
/// for all, or in the server's files, the first of these. A session that has set it for itself may not ask.
pub(crate) fn commit_of(role: &str, database: &str) -> String {
    let (role, database) = (literal(role), literal(database));
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

fn promises(answer: &Answer) -> (String, String, Vec<Follower>) {
    let cell = |row: &[Option<String>], at: usize| row.get(at).cloned().flatten();
    let first = answer.rows.first().map_or(&[][..], Vec::as_slice);
    let told = |at: usize| cell(first, at).unwrap_or_default();
    let follower = |row: &Vec<Option<String>>| {
        Some(Follower {
            name: cell(row, 2)?,
            sync_state: cell(row, 3).unwrap_or_default(),
            flushed: cell(row, 4).as_deref().and_then(Lsn::read),
        })
    };
    (told(0), told(1), answer.rows.iter().filter_map(follower).collect())
}
