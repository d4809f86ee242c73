//! Number of runnable tasks on the machine

use super::cells::parse_finite;
use super::{Probe, ProbeRequest, ProbeTarget, ReadError, Reading, SECOND, gauge};
use model::{Series, Unit};

pub(super) static PROBE: Probe = Probe {
    name: "host_load",
    target: ProbeTarget::Host,
    period: SECOND,
    series: &SERIES,
    request: |_| Some(ProbeRequest::Files(&["/proc/loadavg", "/proc/stat"])),
    read: |answer, out| read(answer.text(0)?, answer.text(1)?, out),
};

pub(super) static SERIES: [Series; 3] = [
    gauge("host_load_1m", Unit::Count, "Runnable and uninterruptible tasks, 1-minute mean; /proc/loadavg"),
    gauge("host_runnable", Unit::Count, "Tasks that run or wait for a CPU; /proc/stat, line `procs_running`"),
    gauge("host_blocked", Unit::Count, "Tasks that wait for a disk; /proc/stat, line `procs_blocked`"),
];

fn read(loadavg: &str, stat: &str, out: &mut Vec<Reading>) -> Result<(), ReadError> {
    let load = loadavg
        .split(' ')
        .next()
        .and_then(parse_finite)
        .ok_or(ReadError { line: 1, expected: "load average" })?;
    let line = |key: &str| stat.lines().find_map(|it| it.strip_prefix(key)).and_then(parse_finite);
    let values = [Some(load), line("procs_running "), line("procs_blocked ")];
    for (series, value) in SERIES.iter().zip(values) {
        out.extend(value.map(|value| Reading { series, label: String::new(), value }));
    }
    Ok(())
}
