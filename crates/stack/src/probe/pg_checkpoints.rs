//! Checkpoints and the background writer of PostgreSQL

use super::{Probe, ProbeRequest, ProbeTarget, SECOND, cells, counter};
use model::{Series, Unit};

pub(super) static PROBE: Probe = Probe {
    name: "pg_checkpoints",
    target: ProbeTarget::Postgres,
    period: SECOND,
    series: &SERIES,
    request: |version| Some(ProbeRequest::Sql(if version >= 170_000 { SQL_17 } else { SQL })),
    read: |answer, out| cells::read_long_format(&SERIES, answer.rows()?, out),
};

static SERIES: [Series; 4] = [
    counter(
        "pg_checkpoints",
        Unit::Count,
        "Checkpoints by cause, `timed` or `requested`; pg_stat_checkpointer, pg_stat_bgwriter",
    ),
    counter("pg_checkpoint_time", Unit::Seconds, "Time that checkpoints spent in `write` and `sync`"),
    counter(
        "pg_buffers_written",
        Unit::Count,
        "Buffers written by the `checkpointer`, the `bgwriter`, or (until version 16) a `backend` that needed a free buffer",
    ),
    counter(
        "pg_bgwriter_stops",
        Unit::Count,
        "Background writer rounds that stopped at their limit; maxwritten_clean",
    ),
];

const SQL: &str = "select series, label, value from pg_stat_bgwriter, lateral (values \
    ('pg_checkpoints', 'timed', checkpoints_timed::float8), ('pg_checkpoints', 'requested', checkpoints_req), \
    ('pg_checkpoint_time', 'write', checkpoint_write_time / 1000), ('pg_checkpoint_time', 'sync', checkpoint_sync_time / 1000), \
    ('pg_buffers_written', 'checkpointer', buffers_checkpoint), ('pg_buffers_written', 'bgwriter', buffers_clean), \
    ('pg_buffers_written', 'backend', buffers_backend), ('pg_bgwriter_stops', '', maxwritten_clean)) as it(series, label, value)";

const SQL_17: &str = "select series, label, value from pg_stat_checkpointer, pg_stat_bgwriter, lateral (values \
    ('pg_checkpoints', 'timed', num_timed::float8), ('pg_checkpoints', 'requested', num_requested), \
    ('pg_checkpoint_time', 'write', write_time / 1000), ('pg_checkpoint_time', 'sync', sync_time / 1000), \
    ('pg_buffers_written', 'checkpointer', buffers_written), ('pg_buffers_written', 'bgwriter', buffers_clean), \
    ('pg_bgwriter_stops', '', maxwritten_clean)) as it(series, label, value)";
