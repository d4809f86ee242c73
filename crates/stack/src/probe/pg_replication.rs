//! Lag of the replicas of this server
//!
//! Lags are NULL while there is nothing to replay. The probe then records no sample, rather than zero.

use super::cells::ColumnMapping;
use super::{Probe, ProbeRequest, ProbeTarget, SECOND, gauge};
use model::{Series, Unit};

pub(super) static PROBE: Probe = Probe {
    name: "pg_replication",
    target: ProbeTarget::Postgres,
    period: SECOND,
    series: &SERIES,
    request: |_| Some(ProbeRequest::Sql(SQL)),
    read: |answer, out| ColumnMapping::new(&SERIES).read(answer.rows()?, out),
};

/// Labels are the replica's application_name and its sync_state.
static SERIES: [Series; 6] = [
    gauge(
        "pg_replication_write_lag",
        Unit::Seconds,
        "Time until the replica had written the latest WAL; pg_stat_replication",
    ),
    gauge(
        "pg_replication_flush_lag",
        Unit::Seconds,
        "Time until the replica had flushed the latest WAL; pg_stat_replication",
    ),
    gauge(
        "pg_replication_replay_lag",
        Unit::Seconds,
        "Time until the replica had replayed the latest WAL; pg_stat_replication",
    ),
    gauge(
        "pg_replication_unsent",
        Unit::Bytes,
        "WAL not yet sent to the replica; pg_stat_replication.sent_lsn",
    ),
    gauge(
        "pg_replication_unflushed",
        Unit::Bytes,
        "WAL that the replica has not flushed; pg_stat_replication.flush_lsn",
    ),
    gauge(
        "pg_replication_unreplayed",
        Unit::Bytes,
        "WAL that the replica has not replayed; pg_stat_replication.replay_lsn",
    ),
];

/// Query on the functions behind `pg_stat_replication`. The view reads every session even if there is no replica.
const SQL: &str = "with here as materialized (\
      select case when pg_is_in_recovery() then pg_last_wal_receive_lsn() else pg_current_wal_lsn() end as lsn) \
    select session.application_name || '/' || sender.sync_state as label, \
      extract(epoch from write_lag) as pg_replication_write_lag, \
      extract(epoch from flush_lag) as pg_replication_flush_lag, \
      extract(epoch from replay_lag) as pg_replication_replay_lag, \
      pg_wal_lsn_diff(lsn, sent_lsn) as pg_replication_unsent, \
      pg_wal_lsn_diff(lsn, flush_lsn) as pg_replication_unflushed, \
      pg_wal_lsn_diff(lsn, replay_lsn) as pg_replication_unreplayed \
    from here, pg_stat_get_wal_senders() as sender, lateral pg_stat_get_activity(sender.pid) as session";
