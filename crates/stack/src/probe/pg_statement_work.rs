//! Planning, just-in-time compilation and temporary files of the statements with the longest total time
//!
//! Columns of `pg_stat_statements` depend on the extension's version, which may be older than the server. The query
//! therefore reads them by name from JSON, for a few statements only.

use super::cells::ColumnMapping;
use super::{Probe, ProbeRequest, ProbeTarget, SECOND, counter};
use model::{Series, Unit};

pub(super) static PROBE: Probe = Probe {
    name: "pg_statement_work",
    target: ProbeTarget::Postgres,
    period: SECOND,
    series: &SERIES,
    request: |_| Some(ProbeRequest::Sql(SQL)),
    read: |answer, out| ColumnMapping::new(&SERIES).read(answer.rows()?, out),
};

/// Labels are queryids.
static SERIES: [Series; 4] = [
    counter(
        "pg_statement_planning",
        Unit::Seconds,
        "Total planning time by queryid; requires track_planning; pg_stat_statements.total_plan_time",
    ),
    counter("pg_statement_plans", Unit::Count, "Number of plans by queryid; pg_stat_statements.plans"),
    counter(
        "pg_statement_jit",
        Unit::Seconds,
        "Total time of just-in-time compilation by queryid; from version 15 on; pg_stat_statements.jit_*_time",
    ),
    counter(
        "pg_statement_temporary",
        Unit::Count,
        "Blocks written to temporary files, by queryid; pg_stat_statements.temp_blks_written",
    ),
];

const SQL: &str = "select j ->> 'queryid' as label, \
      sum((j ->> 'total_plan_time')::float8) / 1000 as pg_statement_planning, \
      sum((j ->> 'plans')::float8) as pg_statement_plans, \
      sum((j ->> 'jit_generation_time')::float8 + (j ->> 'jit_inlining_time')::float8 \
        + (j ->> 'jit_optimization_time')::float8 + (j ->> 'jit_emission_time')::float8) / 1000 as pg_statement_jit, \
      sum((j ->> 'temp_blks_written')::float8) as pg_statement_temporary \
    from (select to_jsonb(s) as j from (select * from pg_stat_statements(false) where queryid is not null \
      order by total_exec_time desc limit 20) as s) as longest group by 1";
