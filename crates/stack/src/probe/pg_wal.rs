//! Amount of write-ahead log written

use super::cells::ColumnMapping;
use super::{Probe, ProbeRequest, ProbeTarget, SECOND, counter};
use model::{Series, Unit};

pub(super) static PROBE: Probe = Probe {
    name: "pg_wal",
    target: ProbeTarget::Postgres,
    period: SECOND,
    series: &SERIES,
    request: |version| (version >= 140_000).then_some(ProbeRequest::Sql("select * from pg_stat_wal")),
    read: |answer, out| {
        let scale = |column: &str| if column.ends_with("_time") { 1e-3 } else { 1.0 };
        let table =
            ColumnMapping { series: &SERIES, prefix: "pg_", labels: &[], columns: &[], scale, skip: &[] };
        table.read(answer.rows()?, out)
    },
};

/// Series of the probe. From version 18 on, only `pg_io` reports writes and syncs.
static SERIES: [Series; 8] = [
    counter("pg_wal_records", Unit::Count, "WAL records; pg_stat_wal"),
    counter("pg_wal_fpi", Unit::Count, "Full page images; pg_stat_wal"),
    counter("pg_wal_bytes", Unit::Bytes, "WAL written, records and full page images; pg_stat_wal"),
    counter("pg_wal_buffers_full", Unit::Count, "Writes of WAL because wal_buffers was full; pg_stat_wal"),
    counter("pg_wal_write", Unit::Count, "Writes of WAL buffers to files; until version 17; pg_stat_wal"),
    counter("pg_wal_sync", Unit::Count, "Syncs of WAL files; until version 17; pg_stat_wal"),
    counter(
        "pg_wal_write_time",
        Unit::Seconds,
        "Time in WAL writes; requires track_wal_io_timing; until version 17; pg_stat_wal",
    ),
    counter(
        "pg_wal_sync_time",
        Unit::Seconds,
        "Time in WAL syncs; requires track_wal_io_timing; until version 17; pg_stat_wal",
    ),
];
