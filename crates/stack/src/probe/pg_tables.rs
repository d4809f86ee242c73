//! Changes and dead rows of the tables of the database

use super::cells::ColumnMapping;
use super::{Probe, ProbeRequest, ProbeTarget, counter, gauge};
use model::{Series, Unit};
use std::time::Duration;

pub(super) static PROBE: Probe = Probe {
    name: "pg_tables",
    target: ProbeTarget::Postgres,
    // The period is long, because the query reads the statistics of all tables of the database.
    period: Duration::from_secs(5),
    series: &SERIES,
    request: |_| Some(ProbeRequest::Sql(SQL)),
    read: |answer, out| {
        ColumnMapping { labels: &[], ..ColumnMapping::new(&SERIES) }.read(answer.rows()?, out)
    },
};

/// Series of the probe: sums over the tables of the current database.
static SERIES: [Series; 8] = [
    gauge("pg_live_rows", Unit::Count, "Live rows, estimated; pg_stat_user_tables.n_live_tup"),
    gauge("pg_dead_rows", Unit::Count, "Dead row versions, estimated; pg_stat_user_tables.n_dead_tup"),
    counter("pg_rows_updated", Unit::Count, "Rows updated; pg_stat_user_tables.n_tup_upd"),
    counter(
        "pg_rows_hot_updated",
        Unit::Count,
        "Rows updated without a new index entry (HOT); pg_stat_user_tables.n_tup_hot_upd",
    ),
    counter("pg_vacuums", Unit::Count, "Vacuum runs, manual and automatic; pg_stat_user_tables"),
    counter("pg_analyzes", Unit::Count, "Analyze runs, manual and automatic; pg_stat_user_tables"),
    counter("pg_seq_scans", Unit::Count, "Sequential scans; pg_stat_user_tables.seq_scan"),
    counter("pg_index_scans", Unit::Count, "Index scans; pg_stat_user_tables.idx_scan"),
];

const SQL: &str = "select sum(n_live_tup) as pg_live_rows, sum(n_dead_tup) as pg_dead_rows, sum(n_tup_upd) as pg_rows_updated, \
      sum(n_tup_hot_upd) as pg_rows_hot_updated, sum(vacuum_count + autovacuum_count) as pg_vacuums, \
      sum(analyze_count + autoanalyze_count) as pg_analyzes, sum(seq_scan) as pg_seq_scans, sum(idx_scan) as pg_index_scans \
    from pg_stat_user_tables";
