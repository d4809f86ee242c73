//! Foreign keys without an index

use super::cells::ColumnMapping;
use super::{Probe, ProbeRequest, ProbeTarget, counter};
use model::{Series, Unit};
use std::time::Duration;

pub(super) static PROBE: Probe = Probe {
    name: "pg_foreign_keys",
    target: ProbeTarget::Postgres,
    // The period is long, because the query reads the statistics of all tables of the database.
    period: Duration::from_secs(5),
    series: &SERIES,
    request: |_| Some(ProbeRequest::Sql(SQL)),
    read: |answer, out| ColumnMapping::new(&SERIES).read(answer.rows()?, out),
};

/// Labels are `schema.table (columns)`, with the columns as in SQL.
static SERIES: [Series; 1] = [counter(
    "pg_foreign_key_deletes",
    Unit::Count,
    "Rows deleted from the referenced table, by foreign key without an index that begins with its columns, of the ten keys with \
     the most such rows; pg_constraint, pg_stat_user_tables.n_tup_del",
)];

const SQL: &str = "select s.schemaname || '.' || s.relname || ' (' || (select string_agg(quote_ident(a.attname), ', ' order by k.n) \
        from unnest(c.conkey) with ordinality as k(attnum, n) \
        join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.attnum) || ')' as label, \
      max(r.n_tup_del) as pg_foreign_key_deletes \
    from pg_constraint c join pg_stat_user_tables s on s.relid = c.conrelid \
      join pg_stat_user_tables r on r.relid = c.confrelid \
    where c.contype = 'f' and r.n_tup_del > 0 and not exists (select from pg_index i \
      where i.indrelid = c.conrelid and i.indisvalid and i.indpred is null \
        and (i.indkey::int2[])[0:cardinality(c.conkey) - 1] @> c.conkey) \
    group by 1 order by 2 desc limit 10";
