//! What are the server's sessions doing at this moment?
//!
//! Asked ten times a second, so the server itself counts: the answer has a row per state and wait, not per session. The
//! monitoring sessions are left out, but for the slots that they take.

use super::{Ask, On, Probe, cells, gauge};
use model::{Series, Unit};
use std::time::Duration;

pub(super) static PROBE: Probe = Probe {
    name: "pg_activity",
    on: On::Postgres,
    period: Duration::from_millis(100),
    series: &SERIES,
    ask: |version| Some(Ask::Sql(if version >= 160_000 { SQL_16 } else { SQL })),
    read: |answer, out| cells::long(&SERIES, answer.rows()?, out),
};

static SERIES: [Series; 5] = [
    gauge("pg_sessions", Unit::Count, "Sessions of clients by state; pg_stat_activity"),
    gauge(
        "pg_active_waits",
        Unit::Count,
        "Active sessions by what they wait for, `running` if for nothing; pg_stat_activity.wait_event",
    ),
    gauge(
        "pg_longest_transaction",
        Unit::Seconds,
        "Age of the oldest open transaction; pg_stat_activity.xact_start",
    ),
    gauge("pg_connections_used", Unit::Count, "Connections of clients, without monitoring; pg_stat_activity"),
    gauge(
        "pg_connections_free",
        Unit::Count,
        "Slots that an ordinary user can still take: max_connections less reserved and used ones",
    ),
];

/// The function below the view: no joins for names that nobody asks for.
macro_rules! sql {
    ($reserved:literal) => {
        concat!(
            "with slots as materialized (\
               select pid, state, wait_event_type, wait_event, xact_start, \
                      application_name is not distinct from 'pgdyno monitor' as monitor \
               from pg_stat_get_activity(null) where backend_type = 'client backend'), \
             clients as materialized (select * from slots where not monitor), \
             used as materialized (select count(*) as all_of_them, count(*) filter (where not monitor) as clients from slots) \
             select 'pg_sessions' as series, coalesce(state, 'unknown') as label, count(*)::float8 as value \
               from clients group by 2 \
             union all \
             select 'pg_active_waits', coalesce(wait_event_type || '/' || wait_event, 'running'), count(*) \
               from clients where state = 'active' group by 2 \
             union all \
             select 'pg_longest_transaction', null, coalesce(extract(epoch from clock_timestamp() - min(xact_start)), 0) \
               from clients \
             union all select 'pg_connections_used', null, clients from used \
             union all \
             select 'pg_connections_free', null, current_setting('max_connections')::int ",
            $reserved,
            " - all_of_them from used"
        )
    };
}

const SQL: &str = sql!("- current_setting('superuser_reserved_connections')::int");
/// Version 16 can keep slots for `pg_use_reserved_connections` too.
const SQL_16: &str = sql!(
    "- current_setting('superuser_reserved_connections')::int - current_setting('reserved_connections')::int"
);
