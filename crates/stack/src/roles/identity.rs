//! Who is a server, as it tells of itself?

use crate::client::QueryResult;
use model::durability::ServerInstance;

/// Its columns are read by [`read`]. When it began and on which timeline it is are written as a ledger's servers tell them.
/// A standby's timeline is that of the newest log on its disk: its receiver tells no more once its primary is gone.
pub(crate) const IDENTITY_SQL: &str = "select recovers, \
    case when recovers then coalesce( \
      (select received_tli from pg_stat_get_wal_receiver() where status = 'streaming'), \
      (select max(('x' || substr(name, 1, 8))::bit(32)::int) from pg_ls_waldir() where name ~ '^[0-9A-F]{24}$')) \
      else ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int end, \
    (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint, \
    coalesce(host(inet_server_addr()), 'local') || ':' || current_setting('port'), \
    (select system_identifier from pg_control_system()) \
    from (select pg_is_in_recovery() as recovers offset 0) as it";

/// Who it is, and whether it is in recovery. `address`: how others reach it, if that is known, in place of how it was reached
/// now.
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
