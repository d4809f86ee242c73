//! Work by table that an index, a smaller result or fewer indexes would avoid

use super::cells::ColumnMapping;
use super::{Probe, ProbeRequest, ProbeTarget, counter, gauge};
use model::{Series, Unit};
use std::time::Duration;

pub(super) static PROBE: Probe = Probe {
    name: "pg_table_work",
    target: ProbeTarget::Postgres,
    // The period is long, because the query reads the statistics of all tables of the database.
    period: Duration::from_secs(5),
    series: &SERIES,
    request: |_| Some(ProbeRequest::Sql(SQL)),
    read: |answer, out| ColumnMapping::new(&SERIES).read(answer.rows()?, out),
};

static SERIES: [Series; 5] = [
    counter(
        "pg_table_index_rows",
        Unit::Count,
        "Live rows that index scans fetched from the ten tables with the most rows fetched or written, or TOAST blocks read; \
         pg_stat_user_tables.idx_tup_fetch",
    ),
    counter(
        "pg_table_toast_blocks",
        Unit::Count,
        "Blocks read from the TOAST tables of these tables and their indexes, in shared buffers or not; pg_stat_get_blocks_fetched",
    ),
    counter(
        "pg_table_indexed_writes",
        Unit::Count,
        "Rows of these tables that were inserted, or updated with new index entries; pg_stat_user_tables",
    ),
    gauge(
        "pg_table_unused_indexes",
        Unit::Count,
        "Indexes of these tables that are not unique and that no statement has used; pg_stat_user_indexes.idx_scan",
    ),
    gauge(
        "pg_table_growth",
        Unit::Count,
        "Size of these tables relative to their size at the last VACUUM or ANALYZE; pg_class.relpages",
    ),
];

const SQL: &str = "select label, index_rows as pg_table_index_rows, \
      toast_blocks + coalesce((select sum(pg_stat_get_blocks_fetched(i.indexrelid)) from pg_index i \
        where i.indrelid = busiest.toast), 0) as pg_table_toast_blocks, \
      writes as pg_table_indexed_writes, (select count(*) from pg_stat_user_indexes i \
        join pg_index x on x.indexrelid = i.indexrelid \
        where i.relid = busiest.relid and i.idx_scan = 0 and not x.indisunique) as pg_table_unused_indexes, \
      pg_relation_size(relid)::float8 / current_setting('block_size')::int / nullif(pages, 0) as pg_table_growth \
    from (select s.relid, s.schemaname || '.' || s.relname as label, coalesce(s.idx_tup_fetch, 0) as index_rows, \
        pg_stat_get_blocks_fetched(c.reltoastrelid) as toast_blocks, c.relpages as pages, c.reltoastrelid as toast, \
        s.n_tup_ins + s.n_tup_upd - s.n_tup_hot_upd as writes \
      from pg_stat_user_tables s join pg_class c on c.oid = s.relid) as busiest \
    where index_rows + toast_blocks + writes > 0 order by index_rows + toast_blocks + writes desc limit 10";
