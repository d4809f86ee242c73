//! Server connections of a pooler, by state.

use super::super::{Probe, ProbeRequest, ProbeTarget, SECOND, gauge};
use super::count_states;
use model::{Series, Unit};

pub(in super::super) static PGBOUNCER: Probe = Probe {
    name: "pgbouncer_servers",
    target: ProbeTarget::PgBouncer,
    period: SECOND,
    series: &OF_PGBOUNCER,
    request: |_| Some(ProbeRequest::Console("SHOW SERVERS")),
    read: |answer, out| count_states(&OF_PGBOUNCER[0], answer, out),
};

pub(in super::super) static ODYSSEY: Probe = Probe {
    name: "odyssey_servers",
    target: ProbeTarget::Odyssey,
    period: SECOND,
    series: &OF_ODYSSEY,
    request: |_| Some(ProbeRequest::Console("SHOW SERVERS")),
    read: |answer, out| count_states(&OF_ODYSSEY[0], answer, out),
};

static OF_PGBOUNCER: [Series; 1] =
    [gauge("pgbouncer_servers", Unit::Count, "Connections by database, user and state; SHOW SERVERS")];

static OF_ODYSSEY: [Series; 1] =
    [gauge("odyssey_servers", Unit::Count, "Connections by database, user and state; SHOW SERVERS")];
