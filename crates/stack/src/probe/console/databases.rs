//! Pool sizes and connections per database.

use super::super::cells::ColumnMapping;
use super::super::{Probe, ProbeRequest, ProbeResponse, ProbeTarget, ReadError, Reading, SECOND, gauge};
use super::is_client_database;
use model::{Series, Unit};

pub(in super::super) static PGBOUNCER: Probe = Probe {
    name: "pgbouncer_databases",
    target: ProbeTarget::PgBouncer,
    period: SECOND,
    series: &OF_PGBOUNCER,
    request: |_| Some(ProbeRequest::Console("SHOW DATABASES")),
    read: |answer, out| read(&OF_PGBOUNCER, "pgbouncer_", answer, out),
};

pub(in super::super) static ODYSSEY: Probe = Probe {
    name: "odyssey_databases",
    target: ProbeTarget::Odyssey,
    period: SECOND,
    series: &OF_ODYSSEY,
    request: |_| Some(ProbeRequest::Console("SHOW DATABASES")),
    read: |answer, out| read(&OF_ODYSSEY, "odyssey_", answer, out),
};

static OF_PGBOUNCER: [Series; 5] = [
    gauge(
        "pgbouncer_pool_size",
        Unit::Count,
        "Servers that a pool, one user of the database, may have; SHOW DATABASES",
    ),
    gauge(
        "pgbouncer_reserve_pool",
        Unit::Count,
        "Further ones for clients that wait long; until 1.23; SHOW DATABASES",
    ),
    gauge(
        "pgbouncer_max_connections",
        Unit::Count,
        "Servers of all pools together; 0: no bound; SHOW DATABASES",
    ),
    gauge("pgbouncer_current_connections", Unit::Count, "Connections of all pools together; SHOW DATABASES"),
    gauge("pgbouncer_paused", Unit::Count, "1 while paused; SHOW DATABASES"),
];

static OF_ODYSSEY: [Series; 2] = [
    gauge(
        "odyssey_pool_size",
        Unit::Count,
        "Servers that a pool, one user of the database, may have; SHOW DATABASES",
    ),
    gauge("odyssey_current_connections", Unit::Count, "Clients of the database; SHOW DATABASES"),
];

fn read(
    series: &'static [Series],
    prefix: &str,
    answer: &ProbeResponse,
    out: &mut Vec<Reading>,
) -> Result<(), ReadError> {
    let table = ColumnMapping {
        series,
        prefix,
        labels: &["name"],
        scale: |_| 1.0,
        keep: |it| is_client_database(it[0]),
    };
    table.read(answer.rows()?, out)
}
