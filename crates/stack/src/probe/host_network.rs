//! Network traffic of the machine

use super::cells::parse_finite;
use super::{Probe, ProbeRequest, ProbeTarget, ReadError, Reading, SECOND, counter};
use model::{Series, Unit};

pub(super) static PROBE: Probe = Probe {
    name: "host_network",
    target: ProbeTarget::Host,
    period: SECOND,
    series: &SERIES,
    request: |_| Some(ProbeRequest::Files(&["/proc/net/dev"])),
    read: |answer, out| read(answer.text(0)?, out),
};

pub(super) static SERIES: [Series; 4] = [
    counter(
        "network_received_bytes",
        Unit::Bytes,
        "Bytes received, by interface; /proc/net/dev, proc_pid_net(5)",
    ),
    counter("network_received_drops", Unit::Count, "Received packets that were dropped; /proc/net/dev"),
    counter("network_sent_bytes", Unit::Bytes, "Bytes sent; /proc/net/dev"),
    counter("network_sent_drops", Unit::Count, "Packets that were dropped instead of sent; /proc/net/dev"),
];

/// Index of each series' field after the name of the interface.
const FIELDS: [usize; 4] = [0, 3, 8, 11];

fn read(text: &str, out: &mut Vec<Reading>) -> Result<(), ReadError> {
    // Two lines of headings come first.
    for (number, line) in text.lines().enumerate().skip(2) {
        let expected = ReadError { line: number as u32 + 1, expected: "16 numbers after the interface" };
        let (name, fields) = line.split_once(':').ok_or(expected)?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let values: Option<Vec<f64>> = FIELDS.iter().map(|at| parse_finite(fields.get(*at)?)).collect();
        let values = values.filter(|_| fields.len() >= 16).ok_or(expected)?;
        // Interfaces without any traffic are skipped.
        if values.iter().all(|it| *it == 0.0) {
            continue;
        }
        let label = name.trim();
        out.extend(SERIES.iter().zip(values).map(|(series, value)| Reading {
            series,
            label: label.to_owned(),
            value,
        }));
    }
    match text.lines().count() {
        0 | 1 => Err(ReadError { line: 1, expected: "headings" }),
        _ => Ok(()),
    }
}
