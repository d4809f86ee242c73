//! Identity and data of the attached PostgreSQL

use super::path::{SYSTEM, ask};
use super::{Chain, ChainError, READY_TIMEOUT, RunningNode, node_error};
use crate::client::Error;
use model::message;
use model::target::{DataState, ServerIdentity};

const SERVER: &str = "select current_database(), current_setting('server_version_num')::int / 10000";
/// Query for the state of the data. The query includes materialised views, which have files like tables. If a table is
/// locked exclusively, the query waits for 1 s and then fails.
const DATA: &str = "set lock_timeout = '1s'; \
    select (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint, \
    coalesce(md5(string_agg(c.oid || ' ' || pg_relation_filenode(c.oid), ',' order by c.oid)), ''), \
    coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint \
    from pg_class c join pg_namespace n on n.oid = c.relnamespace \
    where c.relkind in ('r', 'm') and c.relpersistence <> 't' \
    and n.nspname <> 'information_schema' and n.nspname !~ '^pg_'";

impl Chain {
    /// Identity of the attached PostgreSQL; `None` if there is no such server, or if it rejects the query.
    pub fn server_identity(&self) -> Result<Option<ServerIdentity>, ChainError> {
        let Some(node) = self.attached_postgres() else { return Ok(None) };
        let failure = |it: Error| node_error(&node.plan.name, message!("attempt-report-identity"), &it);
        let mut connection = node.endpoint.open(READY_TIMEOUT).map_err(failure)?;
        let Some(row) = ask(&mut connection, SERVER).map_err(failure)? else { return Ok(None) };
        let system = ask(&mut connection, SYSTEM).map_err(failure)?;
        Ok(read_identity(&row, system.and_then(|it| it.into_iter().next()?)))
    }

    /// State of the attached PostgreSQL's data; `None` if there is no such server, or if it cannot be examined.
    pub fn data_state(&self) -> Option<DataState> {
        let mut connection = self.attached_postgres()?.endpoint.open(READY_TIMEOUT).ok()?;
        read_data(&ask(&mut connection, DATA).ok()??)
    }

    fn attached_postgres(&self) -> Option<&RunningNode> {
        self.postgres().filter(|it| it.is_attached())
    }
}

fn read_identity(row: &[Option<String>], system: Option<String>) -> Option<ServerIdentity> {
    let [database, version] = row else { return None };
    let major_version = version.as_ref()?.parse().ok()?;
    Some(ServerIdentity { system, major_version, database: database.clone()? })
}

fn read_data(row: &[Option<String>]) -> Option<DataState> {
    let [started, tables, bytes] = row else { return None };
    let (started_us, bytes) = (started.as_ref()?.parse().ok()?, bytes.as_ref()?.parse().ok()?);
    Some(DataState { started_us, tables: tables.clone()?, bytes })
}
