//! Transactions and queries per database, their duration and wait.

use super::super::cells::ColumnMapping;
use super::super::{Probe, ProbeRequest, ProbeResponse, ProbeTarget, ReadError, Reading, SECOND, counter};
use super::is_client_database;
use model::{Series, Unit};

pub(in super::super) static PGBOUNCER: Probe = Probe {
    name: "pgbouncer_stats",
    target: ProbeTarget::PgBouncer,
    period: SECOND,
    series: &OF_PGBOUNCER,
    request: |_| Some(ProbeRequest::Console("SHOW STATS")),
    read: |answer, out| read(&OF_PGBOUNCER, "pgbouncer_", answer, out),
};

pub(in super::super) static ODYSSEY: Probe = Probe {
    name: "odyssey_stats",
    target: ProbeTarget::Odyssey,
    period: SECOND,
    series: &OF_ODYSSEY,
    request: |_| Some(ProbeRequest::Console("SHOW STATS")),
    read: |answer, out| read(&OF_ODYSSEY, "odyssey_", answer, out),
};

static OF_PGBOUNCER: [Series; 8] = [
    counter("pgbouncer_total_xact_count", Unit::Count, "Transactions; SHOW STATS"),
    counter("pgbouncer_total_query_count", Unit::Count, "Queries; SHOW STATS"),
    counter(
        "pgbouncer_total_server_assignment_count",
        Unit::Count,
        "How often a client got a server, from 1.23; SHOW STATS",
    ),
    counter("pgbouncer_total_received", Unit::Bytes, "Received from clients; SHOW STATS"),
    counter("pgbouncer_total_sent", Unit::Bytes, "Sent to clients; SHOW STATS"),
    counter(
        "pgbouncer_total_xact_time",
        Unit::Seconds,
        "Time in transactions, idle within them included; SHOW STATS",
    ),
    counter("pgbouncer_total_query_time", Unit::Seconds, "Time in queries; SHOW STATS"),
    counter("pgbouncer_total_wait_time", Unit::Seconds, "Time that clients waited for a server; SHOW STATS"),
];

/// Excludes `total_sent`, which Odyssey 1.5 never counts. Databases of one server and name share a row.
static OF_ODYSSEY: [Series; 7] = [
    counter("odyssey_total_xact_count", Unit::Count, "Transactions; SHOW STATS"),
    counter("odyssey_total_query_count", Unit::Count, "Queries; SHOW STATS"),
    counter(
        "odyssey_total_server_assignment_count",
        Unit::Count,
        "How often a client got a server; SHOW STATS",
    ),
    counter("odyssey_total_received", Unit::Bytes, "Received from clients; SHOW STATS"),
    counter("odyssey_total_xact_time", Unit::Seconds, "Time in transactions; SHOW STATS"),
    counter("odyssey_total_query_time", Unit::Seconds, "Time in queries; SHOW STATS"),
    counter("odyssey_total_wait_time", Unit::Seconds, "Time that clients waited for a server; SHOW STATS"),
];

fn read(
    series: &'static [Series],
    prefix: &str,
    answer: &ProbeResponse,
    out: &mut Vec<Reading>,
) -> Result<(), ReadError> {
    // Times are in microseconds.
    let scale = |column: &str| if column.ends_with("_time") { 1e-6 } else { 1.0 };
    let table =
        ColumnMapping { series, prefix, labels: &["database"], scale, keep: |it| is_client_database(it[0]) };
    table.read(answer.rows()?, out)
}
