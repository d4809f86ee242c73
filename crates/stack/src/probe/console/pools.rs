//! Clients and server connections of each pool, and the longest wait.

use super::super::cells::ColumnMapping;
use super::super::{Probe, ProbeRequest, ProbeResponse, ProbeTarget, ReadError, Reading, SECOND, gauge};
use super::is_client_database;
use model::{Series, Unit};

pub(in super::super) static PGBOUNCER: Probe = Probe {
    name: "pgbouncer_pools",
    target: ProbeTarget::PgBouncer,
    period: SECOND,
    series: &OF_PGBOUNCER,
    request: |_| Some(ProbeRequest::Console("SHOW POOLS")),
    read: |answer, out| {
        let before = out.len();
        read(&OF_PGBOUNCER, "pgbouncer_", answer, out)?;
        add_micros(answer, &mut out[before..]);
        Ok(())
    },
};

pub(in super::super) static ODYSSEY: Probe = Probe {
    name: "odyssey_pools",
    target: ProbeTarget::Odyssey,
    period: SECOND,
    series: &OF_ODYSSEY,
    request: |_| Some(ProbeRequest::Console("SHOW POOLS")),
    read: |answer, out| read(&OF_ODYSSEY, "odyssey_", answer, out),
};

static OF_PGBOUNCER: [Series; 9] = [
    gauge(
        "pgbouncer_cl_active",
        Unit::Count,
        "Clients that have a server, or are idle between transactions; SHOW POOLS",
    ),
    gauge("pgbouncer_cl_waiting", Unit::Count, "Clients that have asked and wait for a server; SHOW POOLS"),
    gauge("pgbouncer_sv_active", Unit::Count, "Servers given to a client; SHOW POOLS"),
    gauge("pgbouncer_sv_idle", Unit::Count, "Servers free to be given; SHOW POOLS"),
    gauge(
        "pgbouncer_sv_used",
        Unit::Count,
        "Free servers that are to be checked before they are given; SHOW POOLS",
    ),
    gauge("pgbouncer_sv_tested", Unit::Count, "Servers being reset or checked; SHOW POOLS"),
    gauge("pgbouncer_sv_login", Unit::Count, "Servers being logged in to; SHOW POOLS"),
    gauge(
        "pgbouncer_cl_cancel_req",
        Unit::Count,
        "Requests to cancel not yet forwarded, until 1.17; SHOW POOLS",
    ),
    gauge(
        "pgbouncer_maxwait",
        Unit::Seconds,
        "How long the first of the queue has waited; SHOW POOLS, maxwait and maxwait_us",
    ),
];

static OF_ODYSSEY: [Series; 7] = [
    gauge("odyssey_cl_active", Unit::Count, "Clients that have a server; SHOW POOLS"),
    gauge(
        "odyssey_cl_waiting",
        Unit::Count,
        "Clients without a server, idle ones included: no evidence of a queue; SHOW POOLS",
    ),
    gauge("odyssey_sv_active", Unit::Count, "Servers given to a client; SHOW POOLS"),
    gauge("odyssey_sv_idle", Unit::Count, "Servers free to be given; SHOW POOLS"),
    gauge("odyssey_sv_used", Unit::Count, "As PgBouncer's; SHOW POOLS"),
    gauge("odyssey_sv_tested", Unit::Count, "As PgBouncer's; SHOW POOLS"),
    gauge("odyssey_sv_login", Unit::Count, "As PgBouncer's; SHOW POOLS"),
];

fn read(
    series: &'static [Series],
    prefix: &str,
    answer: &ProbeResponse,
    out: &mut Vec<Reading>,
) -> Result<(), ReadError> {
    let labels = &["database", "user"];
    let table =
        ColumnMapping { series, prefix, labels, scale: |_| 1.0, keep: |it| is_client_database(it[0]) };
    table.read(answer.rows()?, out)
}

/// `maxwait` has whole seconds; the microseconds are in a separate column.
fn add_micros(answer: &ProbeResponse, out: &mut [Reading]) {
    static MICROS: [Series; 1] = [gauge("pgbouncer_maxwait_us", Unit::Seconds, "")];
    let mut micros = Vec::new();
    if read(&MICROS, "pgbouncer_", answer, &mut micros).is_err() {
        return;
    }
    for reading in out.iter_mut().filter(|it| it.series.name == "pgbouncer_maxwait") {
        let more = micros.iter().find(|it| it.label == reading.label);
        reading.value += more.map_or(0.0, |it| it.value / 1e6);
    }
}
