//! Pressure stall information: time that tasks waited for CPU, memory or I/O

use super::{Probe, ProbeRequest, ProbeTarget, ReadError, Reading, SECOND, counter};
use model::{Series, Unit};

pub(super) static PROBE: Probe = Probe {
    name: "host_pressure",
    target: ProbeTarget::Host,
    period: SECOND,
    series: &SERIES,
    request: |_| {
        Some(ProbeRequest::Files(&["/proc/pressure/cpu", "/proc/pressure/memory", "/proc/pressure/io"]))
    },
    read: |answer, out| {
        let texts = [("cpu", answer.text(0)?), ("memory", answer.text(1)?), ("io", answer.text(2)?)];
        read(&texts, out)
    },
};

static SERIES: [Series; 1] = [counter(
    "host_pressure",
    Unit::Seconds,
    "Time during which some or all (`full`) tasks were stalled, by resource; /proc/pressure, `total`",
)];

/// Parses the files. A kernel without pressure stall information has no such files, and there are no readings.
fn read(texts: &[(&str, &str)], out: &mut Vec<Reading>) -> Result<(), ReadError> {
    for (resource, text) in texts {
        for (at, line) in text.lines().enumerate() {
            let expected = ReadError { line: at as u32 + 1, expected: "field `total`" };
            let mut words = line.split_whitespace();
            let scope = words.next().ok_or(expected)?;
            let total = words.find_map(|it| it.strip_prefix("total=")).and_then(super::cells::parse_finite);
            let value = total.ok_or(expected)? / 1e6;
            out.push(Reading { series: &SERIES[0], label: format!("{resource}/{scope}"), value });
        }
    }
    Ok(())
}
