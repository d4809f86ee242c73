//! Locks that sessions wait for

use super::{Probe, ProbeRequest, ProbeTarget, SECOND, cells, gauge};
use model::{Series, Unit};

pub(super) static PROBE: Probe = Probe {
    name: "pg_locks",
    target: ProbeTarget::Postgres,
    period: SECOND,
    series: &SERIES,
    request: |version| Some(ProbeRequest::Sql(if version >= 140_000 { SQL } else { SQL_13 })),
    read: |answer, out| cells::read_long_format(&SERIES, answer.rows()?, out),
};

static SERIES: [Series; 2] = [
    gauge(
        "pg_locks_waiting",
        Unit::Count,
        "Lock requests not yet granted, by kind and mode; pg_locks.granted",
    ),
    gauge("pg_longest_lock_wait", Unit::Seconds, "Longest current lock wait; pg_locks.waitstart"),
];

/// Query for PostgreSQL 13, in which `pg_locks` has no `waitstart`.
const SQL_13: &str = "with waiting as materialized (select locktype, mode from pg_locks where not granted) \
    select 'pg_locks_waiting' as series, locktype || '/' || mode as label, count(*)::float8 as value \
      from waiting group by 2 \
    union all select 'pg_locks_waiting', '', count(*) from waiting";

const SQL: &str = "with waiting as materialized (select locktype, mode, waitstart from pg_locks where not granted) \
    select 'pg_locks_waiting' as series, locktype || '/' || mode as label, count(*)::float8 as value \
      from waiting group by 2 \
    union all select 'pg_locks_waiting', '', count(*) from waiting \
    union all select 'pg_longest_lock_wait', '', \
      coalesce(extract(epoch from clock_timestamp() - min(waitstart)), 0) from waiting";
