//! Live and dead rows of the tables that changed most

use super::cells::ColumnMapping;
use super::{Probe, ProbeRequest, ProbeTarget, gauge};
use model::{Series, Unit};
use std::time::Duration;

pub(super) static PROBE: Probe = Probe {
    name: "pg_table_rows",
    target: ProbeTarget::Postgres,
    period: Duration::from_secs(5),
    series: &SERIES,
    request: |_| Some(ProbeRequest::Sql(SQL)),
    read: |answer, out| ColumnMapping::new(&SERIES).read(answer.rows()?, out),
};

/// Labels are `schema.table`.
static SERIES: [Series; 4] = [
    gauge(
        "pg_table_live_rows",
        Unit::Count,
        "Live rows of the ten tables with the most dead and changed rows; pg_stat_user_tables.n_live_tup, or pg_class.reltuples \
         and later changes if the database was restored",
    ),
    gauge(
        "pg_table_dead_rows",
        Unit::Count,
        "Dead row versions of these tables; pg_stat_user_tables.n_dead_tup",
    ),
    gauge(
        "pg_table_changed_rows",
        Unit::Count,
        "Rows of these tables changed since the last ANALYZE; pg_stat_user_tables.n_mod_since_analyze",
    ),
    gauge("pg_table_bytes", Unit::Bytes, "Size of these tables without indexes; pg_relation_size"),
];

/// The statistics of a restored database count only what changed since the restore. Until PostgreSQL has counted the rows of a
/// table again, its number of live rows follows from `pg_class.reltuples`, which is restored with the table.
const SQL: &str = "select s.schemaname || '.' || s.relname as label, \
      case when coalesce(last_vacuum, last_autovacuum, last_analyze, last_autoanalyze) is null and n_tup_ins < reltuples \
        then greatest(reltuples + n_tup_ins - n_tup_del, 0)::bigint else n_live_tup end as pg_table_live_rows, \
      n_dead_tup as pg_table_dead_rows, n_mod_since_analyze as pg_table_changed_rows, \
      pg_relation_size(relid) as pg_table_bytes \
    from pg_stat_user_tables s join pg_class c on c.oid = s.relid \
    where n_dead_tup + n_mod_since_analyze >= 1000 \
    order by n_dead_tup + n_mod_since_analyze desc limit 10";
