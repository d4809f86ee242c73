//! Statements that wait for locks

use super::cells::ColumnMapping;
use super::{Probe, ProbeRequest, ProbeTarget, SECOND, gauge};
use model::{Series, Unit};

pub(super) static PROBE: Probe = Probe {
    name: "pg_lock_waiters",
    target: ProbeTarget::Postgres,
    period: SECOND,
    series: &SERIES,
    request: |version| (version >= 140_000).then_some(ProbeRequest::Sql(SQL)),
    read: |answer, out| ColumnMapping::new(&SERIES).read(answer.rows()?, out),
};

/// Series of the probe. Labels are query ids, empty if the server computes none; `pg_statement_text` has their texts.
static SERIES: [Series; 1] = [gauge(
    "pg_lock_waiters",
    Unit::Count,
    "Sessions that wait for a lock, by the queryid of their statements; pg_stat_activity.query_id",
)];

/// Query on the function behind `pg_stat_activity`, which avoids the view's joins for names that are not needed.
const SQL: &str = "select coalesce(query_id::text, '') as label, count(*) as pg_lock_waiters \
    from pg_stat_get_activity(null) where backend_type = 'client backend' and wait_event_type = 'Lock' group by 1";
