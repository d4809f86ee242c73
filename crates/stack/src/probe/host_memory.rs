//! Memory usage of the machine

use super::{Probe, ProbeRequest, ProbeTarget, ReadError, Reading, SECOND, gauge};
use model::{Series, Unit};

pub(super) static PROBE: Probe = Probe {
    name: "host_memory",
    target: ProbeTarget::Host,
    period: SECOND,
    series: &SERIES,
    request: |_| Some(ProbeRequest::Files(&["/proc/meminfo"])),
    read: |answer, out| read(answer.text(0)?, out),
};

pub(super) static SERIES: [Series; 1] =
    [gauge("host_memory", Unit::Bytes, "Memory by kind; `available` is free or can be freed; /proc/meminfo")];

/// Kernel's name and pgdyno's label of each kind.
pub(super) const KINDS: [(&str, &str); 7] = [
    ("MemTotal", "total"),
    ("MemAvailable", "available"),
    ("Cached", "cached"),
    ("Dirty", "dirty"),
    ("Writeback", "writeback"),
    ("SwapTotal", "swap_total"),
    ("SwapFree", "swap_free"),
];

fn read(text: &str, out: &mut Vec<Reading>) -> Result<(), ReadError> {
    let before = out.len();
    for (key, value) in text.lines().filter_map(|it| it.split_once(':')) {
        let Some((_, label)) = KINDS.iter().find(|it| it.0 == key) else { continue };
        let kib = value.trim().strip_suffix(" kB").and_then(|it| it.parse::<u64>().ok());
        out.extend(kib.map(|kib| Reading {
            series: &SERIES[0],
            label: (*label).to_owned(),
            value: kib as f64 * 1024.0,
        }));
    }
    if out.len() == before { Err(ReadError { line: 0, expected: "kind of memory" }) } else { Ok(()) }
}
