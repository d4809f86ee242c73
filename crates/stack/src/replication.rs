//! Replication state of servers, and their replication settings

mod choose;
pub mod health;

pub use choose::{PromotionChoice, UndecidedError, choose_replica};

use crate::client::{self, Connection};
use model::plan::SyncMode;

/// Position in the write-ahead log, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lsn(pub u64);

/// Replication state that one server reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplicationState {
    /// True if the server replays WAL, that is, it is a replica.
    pub in_recovery: bool,
    /// Timeline of the last flushed WAL; each promotion begins a new timeline.
    pub timeline: u32,
    /// Last flushed WAL position, either received from a primary or written by the server.
    pub flushed: Lsn,
    /// Last replayed WAL position.
    pub replayed: Lsn,
    /// True if a primary streams to this server.
    pub is_receiving: bool,
}

/// Connection parameters of a replica to its primary.
#[derive(Clone, Copy, Debug)]
pub struct Upstream<'a> {
    pub host: &'a str,
    pub port: u16,
    pub user: &'a str,
    /// Path of the password file.
    pub password_file: &'a str,
}

/// Query for the full state in one row. For a primary, the last three columns describe its own WAL.
///
/// A replica's timeline is that of the newest WAL file on its disk. The WAL receiver reports no timeline after the
/// primary has ended, and the replica's checkpoints lag behind.
const STATE_SQL: &str = "select pg_is_in_recovery(), \
    case when pg_is_in_recovery() \
      then (select max(('x' || substr(name, 1, 8))::bit(32)::int) from pg_ls_waldir() where name ~ '^[0-9A-F]{24}$') \
      else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int end, \
    case when pg_is_in_recovery() \
      then greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) else pg_current_wal_flush_lsn() end, \
    case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_insert_lsn() end, \
    exists (select from pg_stat_get_wal_receiver() where status = 'streaming')";

/// Queries the state of one server, as superuser.
pub fn query_state(connection: &mut Connection) -> Result<ReplicationState, client::Error> {
    let answer = connection.query(STATE_SQL)?;
    let row = answer.rows.first().map_or(&[][..], Vec::as_slice);
    let cell = |at: usize| row.get(at).and_then(Option::as_deref);
    Ok(ReplicationState {
        in_recovery: cell(0) == Some("t"),
        timeline: cell(1).and_then(|it| it.parse().ok()).unwrap_or(0),
        flushed: cell(2).and_then(Lsn::parse).unwrap_or_default(),
        replayed: cell(3).and_then(Lsn::parse).unwrap_or_default(),
        is_receiving: cell(4) == Some("t"),
    })
}

impl Lsn {
    /// Parses PostgreSQL's notation: two hexadecimal numbers and a slash.
    pub fn parse(text: &str) -> Option<Lsn> {
        let (high, low) = text.split_once('/')?;
        let part = |it| u32::from_str_radix(it, 16).ok().map(u64::from);
        Some(Lsn(part(high)? << 32 | part(low)?))
    }
}

/// Formats `synchronous_standby_names` of a server whose replicas have these names, in descending priority.
pub fn standby_names(sync: SyncMode, names: &[&str]) -> String {
    let list: Vec<String> = names.iter().map(|it| format!("\"{it}\"")).collect();
    let list = list.join(", ");
    match sync {
        SyncMode::Async => String::new(),
        SyncMode::First(count) => format!("FIRST {count} ({list})"),
        SyncMode::Any(count) => format!("ANY {count} ({list})"),
    }
}

/// Formats `primary_conninfo` of the replica `name`.
pub fn conninfo(name: &str, to: &Upstream<'_>) -> String {
    let Upstream { host, port, user, password_file: passwords } = to;
    // Use short timeouts: a replica must detect the loss of its primary before the replica is promoted.
    format!(
        "host={host} port={port} user={user} passfile='{passwords}' application_name={name} sslmode=disable \
         gssencmode=disable connect_timeout=2 keepalives_idle=5 keepalives_interval=1 keepalives_count=3"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_lsn() {
        let check = |text: &str, expected: Option<u64>| {
            assert_eq!(Lsn::parse(text).map(|it| it.0), expected, "{text}");
        };
        check("0/0", Some(0));
        check("0/3000148", Some(0x300_0148));
        check("1/0", Some(1 << 32));
        check("FFFFFFFF/FFFFFFFF", Some(u64::MAX));
        check("1", None);
        check("x/1", None);
    }

    #[test]
    fn formats_synchronous_standby_names() {
        let check = |sync, expected: &str| assert_eq!(standby_names(sync, &["b", "c"]), expected);
        check(SyncMode::Async, "");
        check(SyncMode::First(1), "FIRST 1 (\"b\", \"c\")");
        check(SyncMode::Any(2), "ANY 2 (\"b\", \"c\")");
    }
}
