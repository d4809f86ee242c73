//! Sequential scans of tables

use super::cells::ColumnMapping;
use super::{Probe, ProbeRequest, ProbeTarget, counter, gauge};
use model::{Series, Unit};
use std::time::Duration;

pub(super) static PROBE: Probe = Probe {
    name: "pg_scans",
    target: ProbeTarget::Postgres,
    // The period is long, because the query reads the statistics of all tables of the database.
    period: Duration::from_secs(5),
    series: &SERIES,
    request: |_| Some(ProbeRequest::Sql(SQL)),
    read: |answer, out| ColumnMapping::new(&SERIES).read(answer.rows()?, out),
};

/// Labels are `schema.table`.
static SERIES: [Series; 4] = [
    counter(
        "pg_table_scans",
        Unit::Count,
        "Sequential scans of the ten tables with the most rows read by them; pg_stat_user_tables.seq_scan",
    ),
    counter(
        "pg_table_scanned_rows",
        Unit::Count,
        "Rows read by the sequential scans of these tables; pg_stat_user_tables.seq_tup_read",
    ),
    gauge(
        "pg_table_scanned_bytes",
        Unit::Bytes,
        "Bytes that one sequential scan of these tables reads: their size without indexes and TOAST; pg_relation_size",
    ),
    gauge(
        "pg_table_row_bytes",
        Unit::Bytes,
        "Bytes that the rows of these tables need, with 28 bytes of headers each; pg_class.reltuples and pg_stats.avg_width",
    ),
];

/// A table without statistics has no `pg_table_row_bytes`. The rows that were deleted since the last VACUUM or ANALYZE still count.
const SQL: &str = "select s.schemaname || '.' || s.relname as label, seq_scan as pg_table_scans, \
      seq_tup_read as pg_table_scanned_rows, pg_relation_size(relid) as pg_table_scanned_bytes, \
      case when reltuples >= 0 then greatest(reltuples, n_live_tup) * (28 + (select sum(avg_width * (1 - null_frac)) \
        from pg_stats w where w.schemaname = s.schemaname and w.tablename = s.relname and not w.inherited)) \
        end as pg_table_row_bytes \
    from (select schemaname, relname, relid, seq_scan, seq_tup_read, n_live_tup from pg_stat_user_tables \
      where seq_scan > 0 order by seq_tup_read desc limit 10) s join pg_class c on c.oid = relid";
