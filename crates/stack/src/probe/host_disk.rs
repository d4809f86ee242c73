//! Disk I/O of the machine

use super::{Probe, ProbeRequest, ProbeTarget, ReadError, Reading, SECOND, counter};
use model::{Series, Unit};

pub(super) static PROBE: Probe = Probe {
    name: "host_disk",
    target: ProbeTarget::Host,
    period: SECOND,
    series: &SERIES,
    request: |_| Some(ProbeRequest::Files(&["/proc/diskstats"])),
    read: |answer, out| read(answer.text(0)?, out),
};

pub(super) static SERIES: [Series; 6] = [
    counter("disk_reads", Unit::Count, "Reads completed; /proc/diskstats, field 4"),
    counter("disk_read_bytes", Unit::Bytes, "Bytes read; field 6, in sectors of 512 bytes"),
    counter("disk_writes", Unit::Count, "Writes completed; field 8"),
    counter("disk_written_bytes", Unit::Bytes, "Bytes written; field 10, in sectors of 512 bytes"),
    counter("disk_busy", Unit::Seconds, "Time with at least one request in progress; field 13"),
    counter(
        "disk_waits",
        Unit::Seconds,
        "Time that requests spent waiting and in service, summed over requests; field 14",
    ),
];

/// Index of each field in a line, and the factor to the series' unit.
const FIELDS: [(usize, f64); 6] = [(3, 1.0), (5, 512.0), (7, 1.0), (9, 512.0), (12, 1e-3), (13, 1e-3)];

fn read(text: &str, out: &mut Vec<Reading>) -> Result<(), ReadError> {
    for (at, line) in text.lines().enumerate() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let expected = ReadError { line: at as u32 + 1, expected: "14 fields" };
        let (name, _) = fields.get(2).zip(fields.get(13)).ok_or(expected)?;
        let values: Option<Vec<f64>> =
            FIELDS.iter().map(|(at, scale)| Some(super::cells::parse_finite(fields[*at])? * scale)).collect();
        let values = values.ok_or(expected)?;
        // Devices without any I/O are skipped.
        if is_virtual(name) || values.iter().all(|it| *it == 0.0) {
            continue;
        }
        out.extend(SERIES.iter().zip(values).map(|(series, value)| Reading {
            series,
            label: (*name).to_owned(),
            value,
        }));
    }
    Ok(())
}

/// True for loop devices and RAM disks, which are no bottleneck.
pub(super) fn is_virtual(device: &str) -> bool {
    device.starts_with("loop") || device.starts_with("ram")
}
