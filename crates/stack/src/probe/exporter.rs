//! Figures of another host, from its node_exporter
//!
//! The series are those of the probes of this machine, so that analysis and charts treat both alike. node_exporter reads
//! the same files of the kernel.

use super::{
    Probe, ProbeRequest, ProbeTarget, ReadError, Reading, SECOND, host_cpu, host_disk, host_load,
    host_memory, host_network,
};
use crate::exposition::{Exposition, Metric};
use model::Series;
use std::collections::{BTreeMap, BTreeSet};

pub(super) static CPU: Probe = Probe {
    read: |answer, out| {
        let metrics = [("node_cpu_seconds_total", "mode"), ("node_context_switches_total", "")];
        read(&host_cpu::SERIES, &metrics, answer.metrics()?, out)
    },
    ..probe("exporter_cpu", &host_cpu::SERIES)
};

pub(super) static LOAD: Probe = Probe {
    read: |answer, out| {
        let metrics = [("node_load1", ""), ("node_procs_running", ""), ("node_procs_blocked", "")];
        read(&host_load::SERIES, &metrics, answer.metrics()?, out)
    },
    ..probe("exporter_load", &host_load::SERIES)
};

pub(super) static MEMORY: Probe = Probe {
    read: |answer, out| read_memory(answer.metrics()?, out),
    ..probe("exporter_memory", &host_memory::SERIES)
};

pub(super) static DISK: Probe = Probe {
    read: |answer, out| {
        let metrics = [
            ("node_disk_reads_completed_total", "device"),
            ("node_disk_read_bytes_total", "device"),
            ("node_disk_writes_completed_total", "device"),
            ("node_disk_written_bytes_total", "device"),
            ("node_disk_io_time_seconds_total", "device"),
        ];
        let page = answer.metrics()?;
        let mut found = Vec::new();
        read(&host_disk::SERIES, &metrics, page, &mut found)?;
        // The kernel counts both in one field.
        let times = ["node_disk_read_time_seconds_total", "node_disk_write_time_seconds_total"];
        push_sums(
            &host_disk::SERIES[5],
            "device",
            times.iter().flat_map(|name| page.named(name)),
            &mut found,
        );
        found.retain(|it| !host_disk::is_virtual(&it.label));
        push_used(found, out);
        Ok(())
    },
    ..probe("exporter_disk", &host_disk::SERIES)
};

pub(super) static NETWORK: Probe = Probe {
    read: |answer, out| {
        let metrics = [
            ("node_network_receive_bytes_total", "device"),
            ("node_network_receive_drop_total", "device"),
            ("node_network_transmit_bytes_total", "device"),
            ("node_network_transmit_drop_total", "device"),
        ];
        let mut found = Vec::new();
        read(&host_network::SERIES, &metrics, answer.metrics()?, &mut found)?;
        push_used(found, out);
        Ok(())
    },
    ..probe("exporter_network", &host_network::SERIES)
};

/// Identity of a host, to detect that two addresses lead to the same one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HostIdentity {
    pub node_name: String,
    /// Time of the boot, in seconds since 1970.
    pub booted: f64,
}

impl HostIdentity {
    /// Identity that the page reports; `None` if it does not report both parts.
    pub(crate) fn of_page(page: &Exposition) -> Option<HostIdentity> {
        let node_name = page.named("node_uname_info").next()?.label("nodename").to_owned();
        let booted = page.named("node_boot_time_seconds").next()?.value;
        Some(HostIdentity { node_name, booted })
    }

    /// Identity of this machine. `stat` is the text of `/proc/stat`.
    pub(crate) fn of_this_machine(node_name: &str, stat: &str) -> Option<HostIdentity> {
        let booted = stat.lines().find_map(|it| it.strip_prefix("btime "))?.trim().parse().ok()?;
        Some(HostIdentity { node_name: node_name.to_owned(), booted })
    }

    /// True for the same boot of the same machine. The kernel derives the time of the boot from a clock that may be
    /// corrected, so it may change by a second.
    pub(crate) fn is_same(&self, other: &HostIdentity) -> bool {
        self.node_name == other.node_name && (self.booted - other.booted).abs() <= 2.0
    }
}

/// True for the metrics that the probes of this file read.
pub(crate) fn is_read(name: &str) -> bool {
    const PREFIXES: [&str; 4] = ["node_cpu_seconds_", "node_memory_", "node_disk_", "node_network_"];
    const NAMES: [&str; 6] = [
        "node_context_switches_total",
        "node_load1",
        "node_procs_running",
        "node_procs_blocked",
        "node_uname_info",
        "node_boot_time_seconds",
    ];
    PREFIXES.iter().any(|it| name.starts_with(it)) || NAMES.contains(&name)
}

/// Probe without a function that reads the page.
const fn probe(name: &'static str, series: &'static [Series]) -> Probe {
    Probe {
        name,
        target: ProbeTarget::Exporter,
        period: SECOND,
        series,
        request: |_| Some(ProbeRequest::Page),
        read: |_, _| Ok(()),
    }
}

/// Appends the readings of each series from the metric with the same index. The label of a reading is the value of the
/// metric's label. Metrics that differ only in other labels are added. The first metric is required.
fn read(
    series: &'static [Series],
    metrics: &[(&'static str, &str)],
    page: &Exposition,
    out: &mut Vec<Reading>,
) -> Result<(), ReadError> {
    let required = metrics[0].0;
    if page.named(required).next().is_none() {
        return Err(ReadError { line: 0, expected: required });
    }
    for (series, (name, label)) in series.iter().zip(metrics) {
        push_sums(series, label, page.named(name), out);
    }
    Ok(())
}

/// Appends the sum of the metrics for each value of the label.
pub(super) fn push_sums<'a>(
    series: &'static Series,
    label: &str,
    metrics: impl Iterator<Item = &'a Metric>,
    out: &mut Vec<Reading>,
) {
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for metric in metrics {
        *sums.entry(metric.label(label)).or_default() += metric.value;
    }
    let reading = |(label, value): (&str, f64)| Reading { series, label: label.to_owned(), value };
    out.extend(sums.into_iter().filter(|it| it.1.is_finite()).map(reading));
}

/// Appends the readings of devices that were ever used.
fn push_used(found: Vec<Reading>, out: &mut Vec<Reading>) {
    let used: BTreeSet<String> =
        found.iter().filter(|it| it.value != 0.0).map(|it| it.label.clone()).collect();
    out.extend(found.into_iter().filter(|it| used.contains(&it.label)));
}

fn read_memory(page: &Exposition, out: &mut Vec<Reading>) -> Result<(), ReadError> {
    let before = out.len();
    for (kernel_name, label) in host_memory::KINDS {
        let metric = page.named(&format!("node_memory_{kernel_name}_bytes")).next().map(|it| it.value);
        out.extend(metric.map(|value| Reading {
            series: &host_memory::SERIES[0],
            label: label.to_owned(),
            value,
        }));
    }
    let expected = ReadError { line: 0, expected: "node_memory_MemTotal_bytes" };
    if out.len() == before { Err(expected) } else { Ok(()) }
}
