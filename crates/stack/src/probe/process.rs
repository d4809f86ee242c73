//! Resource usage of the processes of a node, or of the generator

use super::cells::parse_finite;
use super::{Probe, ProbeRequest, ProbeResponse, ProbeTarget, ReadError, Reading, SECOND, counter, gauge};
use crate::limits::{Io, Usage};
use model::{Series, Unit};
use std::time::Duration;

/// CPU time and I/O of a process. The values include children that the process has waited for, so the sum over a
/// process tree does not decrease when a child ends.
pub(super) static PROCESS: Probe = Probe {
    name: "process",
    target: ProbeTarget::Process,
    period: SECOND,
    series: &OF_PROCESS,
    request: |_| Some(ProbeRequest::Files(&["stat", "statm"])),
    read: |answer, out| read_process(answer.text(0)?, answer.text(1)?, out),
};

pub(super) static FILES: Probe = Probe {
    name: "process_files",
    target: ProbeTarget::Process,
    // The probe costs as much as reading `stat`: 20 µs for a process with twenty files (November 2026). The period is
    // short enough for trends over hours.
    period: Duration::from_secs(10),
    series: &OPEN,
    request: |_| Some(ProbeRequest::Entries("fd")),
    read: |answer, out| read_files(answer.text(0)?, out),
};

pub(super) static THREAD: Probe = Probe {
    name: "thread",
    target: ProbeTarget::Thread,
    period: SECOND,
    series: &OF_THREAD,
    request: |_| Some(ProbeRequest::Files(&["schedstat", "io"])),
    read: |answer, out| read_thread(answer.text(0)?, answer.text(1)?, out),
};

pub(super) static GROUP: Probe = Probe {
    name: "group",
    target: ProbeTarget::Group,
    period: SECOND,
    series: &OF_GROUP,
    request: |_| Some(ProbeRequest::Group),
    read: |answer, out| read_group(answer, out),
};

/// Limits of processes that pgdyno did not start. The limits of other nodes are in the experiment file.
pub(super) static CPU_LIMIT: Probe = Probe {
    name: "process_cpu_limit",
    target: ProbeTarget::Attached,
    period: SECOND,
    series: &USABLE,
    request: |_| Some(ProbeRequest::CpuLimits),
    read: |answer, out| read_cpu_limit(answer.text(0)?, answer.text(1)?, answer.text(2)?, out),
};

static USABLE: [Series; 1] = [gauge(
    "process_cpu_limit",
    Unit::Count,
    "CPUs that an attached node may use, by the quotas of its control groups and its allowed CPUs. No reading if it may \
     use all CPUs; /proc/PID/status, `Cpus_allowed_list`, and cpu.cfs_quota_us, cpu.max",
)];

static OF_PROCESS: [Series; 5] = [
    counter("process_cpu_user", Unit::Seconds, "CPU time in user mode; /proc/PID/stat, proc_pid_stat(5)"),
    counter("process_cpu_system", Unit::Seconds, "CPU time in kernel mode; /proc/PID/stat"),
    gauge("process_threads", Unit::Count, "Threads of all processes; /proc/PID/stat"),
    gauge(
        "process_memory",
        Unit::Bytes,
        "Resident memory; memory shared by processes counts once per process; /proc/PID/stat",
    ),
    gauge(
        "process_private_memory",
        Unit::Bytes,
        "Resident memory without shared memory and mapped files; /proc/PID/statm, proc_pid_statm(5)",
    ),
];

static OPEN: [Series; 1] = [gauge(
    "process_files",
    Unit::Count,
    "Open files, sockets and pipes of all processes; entries of /proc/PID/fd",
)];

static OF_THREAD: [Series; 4] = [
    counter(
        "process_run_wait",
        Unit::Seconds,
        "Time spent waiting for a CPU; /proc/PID/schedstat, second field",
    ),
    counter("process_runs", Unit::Count, "Time slices run on a CPU; /proc/PID/schedstat, third field"),
    counter("process_read_bytes", Unit::Bytes, "Bytes read from disks; /proc/PID/task/TID/io, `read_bytes`"),
    counter(
        "process_written_bytes",
        Unit::Bytes,
        "Bytes to be written to disks; /proc/PID/task/TID/io, `write_bytes`",
    ),
];

static OF_GROUP: [Series; 12] = [
    counter("cgroup_cpu", Unit::Seconds, "CPU time of the group; cpuacct.usage, cpu.stat"),
    counter(
        "cgroup_periods",
        Unit::Count,
        "Periods of the quota in which the group was runnable; cpu.stat, nr_periods",
    ),
    counter(
        "cgroup_throttled",
        Unit::Count,
        "Periods in which the group was throttled; cpu.stat, nr_throttled",
    ),
    counter(
        "cgroup_throttled_time",
        Unit::Seconds,
        "Time during which the group was throttled, summed over CPUs; cpu.stat",
    ),
    gauge(
        "cgroup_memory",
        Unit::Bytes,
        "Memory of the group, including page cache; memory.usage_in_bytes, memory.current",
    ),
    gauge("cgroup_memory_limit", Unit::Bytes, "Memory limit of the group; memory.limit_in_bytes, memory.max"),
    counter(
        "cgroup_memory_failures",
        Unit::Count,
        "Times that the memory limit was reached; memory.failcnt, memory.events",
    ),
    counter(
        "cgroup_oom_kills",
        Unit::Count,
        "Processes killed because of the memory limit; memory.oom_control, memory.events",
    ),
    counter("cgroup_reads", Unit::Count, "Reads from disks; blkio.throttle.io_serviced, io.stat"),
    counter("cgroup_writes", Unit::Count, "Writes to disks; with cgroup v1, without written-back pages"),
    counter(
        "cgroup_read_bytes",
        Unit::Bytes,
        "Bytes read from disks; blkio.throttle.io_service_bytes, io.stat",
    ),
    counter(
        "cgroup_written_bytes",
        Unit::Bytes,
        "Bytes written to disks; with cgroup v1, without written-back pages",
    ),
];

fn read_process(stat: &str, statm: &str, out: &mut Vec<Reading>) -> Result<(), ReadError> {
    // The name is in brackets and may contain any character: the fields after the last bracket start with field 3.
    let fields: Vec<&str> =
        stat.rsplit_once(')').map(|it| it.1.split_whitespace().collect()).unwrap_or_default();
    let field = |number: usize| fields.get(number - 3).and_then(|it| it.parse::<f64>().ok());
    let ticks = |own_field, waited_field| Some((field(own_field)? + field(waited_field)?) / 100.0);
    let page = rustix::param::page_size() as f64;
    let user = ticks(14, 16).ok_or(ReadError { line: 1, expected: "processor time" })?;
    let mut sizes = statm.split_whitespace().skip(1).map(parse_finite);
    let private = match (sizes.next().flatten(), sizes.next().flatten()) {
        (Some(resident), Some(shared)) => Some((resident - shared).max(0.0) * page),
        _ => None,
    };
    let values = [Some(user), ticks(15, 17), field(20), field(24).map(|it| it * page), private];
    push(&OF_PROCESS, values, out);
    Ok(())
}

/// Reads the number of CPUs that a process may use; no reading if these are all `online` CPUs.
fn read_cpu_limit(status: &str, online: &str, quotas: &str, out: &mut Vec<Reading>) -> Result<(), ReadError> {
    let allowed = status.lines().find_map(|it| it.strip_prefix("Cpus_allowed_list:")).and_then(list_length);
    let allowed = allowed.ok_or(ReadError { line: 0, expected: "Cpus_allowed_list" })?;
    let quota = |line: &str| {
        let (quota, period) = line.split_once(' ')?;
        let (quota, period) = (parse_finite(quota)?, parse_finite(period)?);
        (quota > 0.0 && period > 0.0).then(|| quota / period)
    };
    let usable = quotas.lines().filter_map(quota).fold(allowed, f64::min);
    if list_length(online).is_some_and(|all| usable < all) {
        push(&USABLE, [Some(usable)], out);
    }
    Ok(())
}

/// Length of a list of CPUs such as `0-3,8`; `cpuset(7)`, List format.
fn list_length(list: &str) -> Option<f64> {
    let length = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        Some(f64::from(last.checked_sub(first)?) + 1.0)
    };
    list.trim().split(',').map(length).sum()
}

/// Reads the number of open files. Only the owner of the process and root may list them; for other users there is no
/// reading.
fn read_files(count: &str, out: &mut Vec<Reading>) -> Result<(), ReadError> {
    if count.is_empty() {
        return Ok(());
    }
    let count = parse_finite(count).ok_or(ReadError { line: 1, expected: "number" })?;
    push(&OPEN, [Some(count)], out);
    Ok(())
}

fn read_thread(schedstat: &str, io: &str, out: &mut Vec<Reading>) -> Result<(), ReadError> {
    let numbers: Vec<f64> = schedstat.split_whitespace().filter_map(parse_finite).collect();
    let [_, waited, runs] = numbers[..] else { return Err(ReadError { line: 1, expected: "three numbers" }) };
    // Only the owner and root may read these files.
    let line = |key: &str| io.lines().find_map(|it| it.strip_prefix(key)).and_then(parse_finite);
    let values = [Some(waited / 1e9), Some(runs), line("read_bytes: "), line("write_bytes: ")];
    push(&OF_THREAD, values, out);
    Ok(())
}

fn read_group(answer: &ProbeResponse, out: &mut Vec<Reading>) -> Result<(), ReadError> {
    let ProbeResponse::Group(texts) = answer else {
        return Err(ReadError { line: 0, expected: "files of a group" });
    };
    let mut usage = Usage::default();
    texts.iter().for_each(|(source, text)| usage.read_file(*source, text));
    let count = |value: Option<u64>| value.map(|it| it as f64);
    let io = |field: fn(Io) -> u64| usage.io.map(|it| field(it) as f64);
    let values = [
        usage.cpu_seconds,
        count(usage.periods),
        count(usage.throttled),
        usage.throttled_seconds,
        count(usage.memory),
        count(usage.memory_limit),
        count(usage.memory_failures),
        count(usage.oom_kills),
        io(|it| it.reads),
        io(|it| it.writes),
        io(|it| it.read),
        io(|it| it.written),
    ];
    push(&OF_GROUP, values, out);
    Ok(())
}

fn push<const N: usize>(series: &'static [Series; N], values: [Option<f64>; N], out: &mut Vec<Reading>) {
    for (series, value) in series.iter().zip(values) {
        out.extend(value.filter(|it| it.is_finite()).map(|value| Reading {
            series,
            label: String::new(),
            value,
        }));
    }
}
