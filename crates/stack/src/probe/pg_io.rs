//! Block I/O of PostgreSQL, by kind of process and context

use super::cells::ColumnMapping;
use super::{Probe, ProbeRequest, ProbeTarget, SECOND, counter};
use model::{Series, Unit};

pub(super) static PROBE: Probe = Probe {
    name: "pg_io",
    target: ProbeTarget::Postgres,
    period: SECOND,
    series: &SERIES,
    request: |version| match version {
        180_000.. => Some(ProbeRequest::Sql(SQL_18)),
        160_000.. => Some(ProbeRequest::Sql(SQL_16)),
        _ => None,
    },
    read: |answer, out| ColumnMapping::new(&SERIES).read(answer.rows()?, out),
};

/// Labels are kind of process, object and context, as in the view: `client backend/relation/normal`.
static SERIES: [Series; 8] = [
    counter("pg_io_reads", Unit::Count, "Reads; pg_stat_io.reads"),
    counter("pg_io_read_bytes", Unit::Bytes, "Bytes read; pg_stat_io.read_bytes, or reads × op_bytes"),
    counter("pg_io_writes", Unit::Count, "Writes; pg_stat_io.writes"),
    counter("pg_io_write_bytes", Unit::Bytes, "Bytes written; pg_stat_io.write_bytes, or writes × op_bytes"),
    counter("pg_io_extends", Unit::Count, "File extensions; pg_stat_io.extends"),
    counter("pg_io_hits", Unit::Count, "Blocks found in shared_buffers; pg_stat_io.hits"),
    counter("pg_io_evictions", Unit::Count, "Blocks evicted from shared_buffers; pg_stat_io.evictions"),
    counter("pg_io_fsyncs", Unit::Count, "fsync calls; pg_stat_io.fsyncs"),
];

macro_rules! sql {
    ($bytes:literal) => {
        concat!(
            "select backend_type || '/' || object || '/' || context as label, reads as pg_io_reads, writes as pg_io_writes, \
             extends as pg_io_extends, hits as pg_io_hits, evictions as pg_io_evictions, fsyncs as pg_io_fsyncs, ",
            $bytes,
            " from pg_stat_io where coalesce(reads, 0) + coalesce(writes, 0) + coalesce(extends, 0) + coalesce(hits, 0) \
             + coalesce(fsyncs, 0) > 0"
        )
    };
}

const SQL_16: &str = sql!("reads * op_bytes as pg_io_read_bytes, writes * op_bytes as pg_io_write_bytes");
const SQL_18: &str = sql!("read_bytes as pg_io_read_bytes, write_bytes as pg_io_write_bytes");
