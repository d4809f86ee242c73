//! Sessions that are idle in a transaction, and the resources that they hold
//!
//! A client that leaves a transaction open holds its locks and its pooled server connection. If the transaction has
//! written or has a snapshot, vacuum cannot remove row versions that the transaction may see.

use super::cells::ColumnMapping;
use super::{Probe, ProbeRequest, ProbeTarget, SECOND, gauge};
use model::{Series, Unit};

pub(super) static PROBE: Probe = Probe {
    name: "pg_idle_transactions",
    target: ProbeTarget::Postgres,
    period: SECOND,
    series: &SERIES,
    request: |_| Some(ProbeRequest::Sql(SQL)),
    // If a session's state is hidden, there is no row and therefore no reading, not even zero.
    read: |answer, out| ColumnMapping::new(&SERIES).read(answer.rows()?, out),
};

static SERIES: [Series; 3] = [
    gauge(
        "pg_idle_transactions",
        Unit::Count,
        "Sessions idle in transaction for more than one second; pg_stat_activity.state_change",
    ),
    gauge(
        "pg_idle_transactions_horizon",
        Unit::Count,
        "Sessions idle in transaction for more than one second that hold back vacuum; pg_stat_activity.backend_xid, backend_xmin",
    ),
    gauge(
        "pg_idle_transactions_blocked",
        Unit::Count,
        "Sessions that wait for locks of sessions idle in transaction; pg_blocking_pids",
    ),
];

/// Query on the function behind `pg_stat_activity`, which avoids the view's joins for names that are not needed.
///
/// To find the sessions that block another session, the server must examine all locks. The query therefore does so
/// only for waiting sessions, and only while a session has been idle for long. The state of other users' sessions is
/// visible only to members of `pg_monitor`; for other users, the query returns no row.
const SQL: &str = "with clients as materialized (\
      select pid, query, wait_event_type, backend_xid, backend_xmin, \
        case when state like 'idle in transaction%' then extract(epoch from clock_timestamp() - state_change) end as idle \
      from pg_stat_get_activity(null) where backend_type = 'client backend'), \
    long as materialized (select array_agg(pid) as pids from clients where idle > 1) \
    select '' as label, count(*) filter (where idle > 1) as pg_idle_transactions, \
      count(*) filter (where idle > 1 and coalesce(backend_xid, backend_xmin) is not null) as pg_idle_transactions_horizon, \
      (select count(*) from clients, long where pids is not null and wait_event_type = 'Lock' \
        and pg_blocking_pids(clients.pid) && pids) as pg_idle_transactions_blocked \
    from clients having not coalesce(bool_or(query = '<insufficient privilege>'), false)";
