//! Role, timeline and WAL position of a server
//!
//! The first series changes with the role. Values that only replicas have are NULL on a primary and give no sample.

use super::cells::ColumnMapping;
use super::{Probe, ProbeRequest, ProbeTarget, SECOND, counter, gauge};
use model::{Series, Unit};

pub(super) static PROBE: Probe = Probe {
    name: "pg_role",
    target: ProbeTarget::Postgres,
    period: SECOND,
    series: &SERIES,
    request: |_| Some(ProbeRequest::Sql(SQL)),
    read: |answer, out| {
        ColumnMapping { prefix: "pg_role_", ..ColumnMapping::new(&SERIES) }.read(answer.rows()?, out)
    },
};

static SERIES: [Series; 6] = [
    gauge(
        "pg_role_replica",
        Unit::Count,
        "1 while the server replays WAL from another server, 0 while it accepts writes",
    ),
    gauge("pg_role_timeline", Unit::Count, "Timeline ID, which increases with each promotion"),
    counter(
        "pg_role_flushed",
        Unit::Bytes,
        "Position of the last flushed WAL, which the server wrote or received",
    ),
    counter(
        "pg_role_replayed",
        Unit::Bytes,
        "WAL position up to which changes are visible; only on replicas",
    ),
    gauge("pg_role_unreplayed", Unit::Bytes, "WAL received but not replayed; only on replicas"),
    gauge(
        "pg_role_delay",
        Unit::Seconds,
        "Age of the last visible commit; only on replicas with WAL that is not replayed",
    ),
];

/// Query of the probe. The replay delay is NULL if all received WAL is replayed. Without this rule, the delay would
/// grow while the primary is idle.
const SQL: &str = "with here as materialized (select pg_is_in_recovery() as replica, \
      case when pg_is_in_recovery() \
        then greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) else pg_current_wal_flush_lsn() end as flushed, \
      case when pg_is_in_recovery() then pg_last_wal_replay_lsn() end as replayed) \
    select '' as label, replica::int as replica, \
      case when replica then (select greatest(timeline_id, min_recovery_end_timeline, \
            (select received_tli from pg_stat_get_wal_receiver())) \
          from pg_control_checkpoint(), pg_control_recovery()) \
        else ('x' || substr(pg_walfile_name(flushed), 1, 8))::bit(32)::int end as timeline, \
      pg_wal_lsn_diff(flushed, '0/0') as flushed, \
      pg_wal_lsn_diff(replayed, '0/0') as replayed, \
      pg_wal_lsn_diff(flushed, replayed) as unreplayed, \
      case when replayed < flushed \
        then extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()) end as delay \
    from here";
