//! Size of the database

use super::cells::ColumnMapping;
use super::{Probe, ProbeRequest, ProbeTarget, gauge};
use model::{Series, Unit};
use std::time::Duration;

pub(super) static PROBE: Probe = Probe {
    name: "pg_size",
    target: ProbeTarget::Postgres,
    // The period is long, because the server examines every file of the database: hundreds of files, some microseconds
    // each.
    period: Duration::from_secs(10),
    series: &SERIES,
    request: |_| Some(ProbeRequest::Sql(SQL)),
    read: |answer, out| ColumnMapping::new(&SERIES).read(answer.rows()?, out),
};

static SERIES: [Series; 1] = [gauge(
    "pg_database_size",
    Unit::Bytes,
    "Size of the database's files, including indexes and free space; pg_database_size",
)];

const SQL: &str = "select datname as label, pg_database_size(oid) as pg_database_size from pg_database \
    where datname = current_database()";
