//! Sequential scans of tables

use super::cells::ColumnMapping;
use super::{Probe, ProbeRequest, ProbeTarget, counter};
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
static SERIES: [Series; 2] = [
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
];

const SQL: &str = "select schemaname || '.' || relname as label, seq_scan as pg_table_scans, \
      seq_tup_read as pg_table_scanned_rows \
    from pg_stat_user_tables where seq_scan > 0 order by seq_tup_read desc limit 10";
