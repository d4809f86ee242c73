//! CPU time of the machine, by kind

use super::{Probe, ProbeRequest, ProbeTarget, ReadError, Reading, SECOND, counter};
use model::{Series, Unit};

pub(super) static PROBE: Probe = Probe {
    name: "host_cpu",
    target: ProbeTarget::Host,
    period: SECOND,
    series: &SERIES,
    request: |_| Some(ProbeRequest::Files(&["/proc/stat"])),
    read: |answer, out| read(answer.text(0)?, out),
};

pub(super) static SERIES: [Series; 2] = [
    counter("host_cpu", Unit::Seconds, "CPU time of all CPUs by kind; /proc/stat, line `cpu`, proc_stat(5)"),
    counter("host_switches", Unit::Count, "Context switches; /proc/stat, line `ctxt`"),
];

/// Kinds in the order of the line `cpu`. `user` and `nice` already include guest time.
const KINDS: [&str; 8] = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];

fn read(text: &str, out: &mut Vec<Reading>) -> Result<(), ReadError> {
    let line = |key: &str| text.lines().find_map(|it| it.strip_prefix(key));
    let numbers = line("cpu ").ok_or(ReadError { line: 1, expected: "line `cpu`" })?;
    for (kind, ticks) in KINDS.iter().zip(numbers.split_whitespace()) {
        let ticks: u64 = ticks.parse().map_err(|_| ReadError { line: 1, expected: "number of ticks" })?;
        // User space always sees ticks of 10 ms on Linux, whatever the kernel's own tick is.
        out.push(Reading { series: &SERIES[0], label: (*kind).to_owned(), value: ticks as f64 / 100.0 });
    }
    if let Some(value) = line("ctxt ").and_then(super::cells::parse_finite) {
        out.push(Reading { series: &SERIES[1], label: String::new(), value });
    }
    Ok(())
}
