//! Identity of a server

use crate::client::{Connection, Error, QueryResult};
use model::durability::ServerInstance;

/// Query whose result [`parse_identity`] parses.
///
/// Start time and timeline have the same format as the servers in a ledger. A standby's timeline is that of the newest
/// WAL file on its disk, because its WAL receiver reports no timeline after the primary has ended.
pub(crate) const IDENTITY_SQL: &str = "select recovers, \
    case when recovers then coalesce( \
      (select received_tli from pg_stat_get_wal_receiver() where status = 'streaming'), \
      (select max(('x' || substr(name, 1, 8))::bit(32)::int) from pg_ls_waldir() where name ~ '^[0-9A-F]{24}$')) \
      else ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int end, \
    (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint, \
    coalesce(host(inet_server_addr()), 'local') || ':' || current_setting('port'), \
    (select system_identifier from pg_control_system()), current_setting('fsync') \
    from (select pg_is_in_recovery() as recovers offset 0) as it";

/// Query with the same columns for a user without the rights of `pg_monitor`. A standby's timeline is then that of its
/// last restart point, which may be older.
const APPLICATION_IDENTITY_SQL: &str = "select recovers, \
    case when recovers then (select timeline_id from pg_control_checkpoint()) \
      else ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int end, \
    (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint, \
    coalesce(host(inet_server_addr()), 'local') || ':' || current_setting('port'), \
    (select system_identifier from pg_control_system()), current_setting('fsync') \
    from (select pg_is_in_recovery() as recovers offset 0) as it";

/// Queries the identity of a server, with the rights that the user has. The right is looked up, because an error would end
/// a transaction.
pub(crate) fn query_identity(connection: &mut Connection) -> Result<QueryResult, Error> {
    let has_right = connection.value(RIGHT_SQL)?;
    connection.query(if has_right.as_deref() == Some("t") { IDENTITY_SQL } else { APPLICATION_IDENTITY_SQL })
}

/// Query that returns true if the user may execute [`IDENTITY_SQL`].
const RIGHT_SQL: &str = "select has_function_privilege('pg_ls_waldir()', 'execute')";

/// True if the result of [`IDENTITY_SQL`] shows that the server has `fsync = on`.
pub(crate) fn has_fsync(answer: &QueryResult) -> bool {
    let setting = answer.rows.first().and_then(|it| it.get(5)).and_then(Option::as_deref);
    setting != Some("off")
}

/// Parses the identity of the server, and whether it is in recovery. `address`, if given, replaces the address of this
/// connection.
pub(crate) fn parse_identity(answer: &QueryResult, address: Option<&str>) -> (ServerInstance, bool) {
    let row = answer.rows.first().map_or(&[][..], Vec::as_slice);
    let cell = |at: usize| row.get(at).and_then(Option::as_deref).unwrap_or_default();
    let server = ServerInstance {
        system: cell(4).parse().unwrap_or(0),
        address: address.unwrap_or(cell(3)).to_owned(),
        started_us: cell(2).parse().unwrap_or(0),
        timeline: cell(1).parse().unwrap_or(0),
    };
    (server, cell(0) == "t")
}
