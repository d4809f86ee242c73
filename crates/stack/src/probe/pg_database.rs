//! Commits, rollbacks, block reads and temporary files of each database

use super::cells::ColumnMapping;
use super::{Probe, ProbeRequest, ProbeTarget, Reading, SECOND, counter, gauge};
use model::{Series, Unit};

pub(crate) static PROBE: Probe = Probe {
    name: "pg_database",
    target: ProbeTarget::Postgres,
    period: SECOND,
    series: &SERIES,
    request: |version| Some(ProbeRequest::Sql(if version >= 140_000 { SQL } else { SQL_13 })),
    read: |answer, out| ColumnMapping::new(&SERIES).read(answer.rows()?, out),
};

/// Series of the probe. The values lag: a session reports them up to a second after a transaction, and when it becomes
/// idle.
static SERIES: [Series; 16] = [
    gauge("pg_backends", Unit::Count, "Connected sessions; pg_stat_database.numbackends"),
    counter(
        "pg_commits",
        Unit::Count,
        "Committed transactions, reported with a delay of seconds; pg_stat_database.xact_commit",
    ),
    counter(
        "pg_rollbacks",
        Unit::Count,
        "Rolled back transactions, reported with a delay of seconds; pg_stat_database.xact_rollback",
    ),
    counter("pg_blocks_read", Unit::Count, "Blocks not found in shared_buffers; pg_stat_database.blks_read"),
    counter("pg_blocks_hit", Unit::Count, "Blocks found in shared_buffers; pg_stat_database.blks_hit"),
    counter("pg_rows_fetched", Unit::Count, "Rows fetched by index scans; pg_stat_database.tup_fetched"),
    counter("pg_rows_written", Unit::Count, "Rows inserted, updated and deleted; pg_stat_database"),
    counter(
        "pg_temp_files",
        Unit::Count,
        "Temporary files, used when work_mem is exceeded; pg_stat_database.temp_files",
    ),
    counter("pg_temp_bytes", Unit::Bytes, "Bytes written to temporary files; pg_stat_database.temp_bytes"),
    counter("pg_deadlocks", Unit::Count, "Detected deadlocks; pg_stat_database.deadlocks"),
    counter(
        "pg_conflicts",
        Unit::Count,
        "Queries of a replica that were cancelled because of recovery conflicts; pg_stat_database.conflicts",
    ),
    counter(
        "pg_sessions_begun",
        Unit::Count,
        "Sessions started, reported with a delay of seconds; pg_stat_database.sessions",
    ),
    counter(
        "pg_sessions_killed",
        Unit::Count,
        "Sessions ended by an operator; pg_stat_database.sessions_killed",
    ),
    counter(
        "pg_sessions_fatal",
        Unit::Count,
        "Sessions that ended with a FATAL error; pg_stat_database.sessions_fatal",
    ),
    counter(
        "pg_sessions_abandoned",
        Unit::Count,
        "Sessions whose connection to the client was lost; pg_stat_database.sessions_abandoned",
    ),
    counter(
        "pg_monitor_transactions",
        Unit::Count,
        "Transactions of pgdyno's monitoring session, which pg_stat_database also counts; counted by pgdyno",
    ),
];

/// Returns the number of transactions of the monitoring session as a reading.
pub(crate) fn own_transactions(count: u64) -> Reading {
    let series = SERIES.last().expect("the table of series is not empty");
    Reading { series, label: String::new(), value: count as f64 }
}

/// Query for PostgreSQL 13, in which `pg_stat_database` has no sessions.
const SQL_13: &str = "select datname as label, numbackends as pg_backends, xact_commit as pg_commits, \
    xact_rollback as pg_rollbacks, blks_read as pg_blocks_read, blks_hit as pg_blocks_hit, \
    tup_fetched as pg_rows_fetched, tup_inserted + tup_updated + tup_deleted as pg_rows_written, \
    temp_files as pg_temp_files, temp_bytes as pg_temp_bytes, deadlocks as pg_deadlocks, conflicts as pg_conflicts \
    from pg_stat_database where datname is not null and datname not like 'template_'";

const SQL: &str = "select datname as label, numbackends as pg_backends, xact_commit as pg_commits, \
    xact_rollback as pg_rollbacks, blks_read as pg_blocks_read, blks_hit as pg_blocks_hit, \
    tup_fetched as pg_rows_fetched, tup_inserted + tup_updated + tup_deleted as pg_rows_written, \
    temp_files as pg_temp_files, temp_bytes as pg_temp_bytes, deadlocks as pg_deadlocks, \
    conflicts as pg_conflicts, sessions as pg_sessions_begun, sessions_killed as pg_sessions_killed, \
    sessions_fatal as pg_sessions_fatal, sessions_abandoned as pg_sessions_abandoned \
    from pg_stat_database where datname is not null and datname not like 'template_'";
