//! Metrics of a service in Prometheus' format
//!
//! Well-known metrics of runtimes, connection pools and web servers become series that have the same meaning for all
//! services. Further metrics are stored under their own names if the user lists them.

use super::exporter::push_sums;
use super::normalised::*;
use super::{Probe, ProbeRequest, ProbeResponse, ProbeTarget, ReadError, Reading, SECOND, counter, gauge};
use crate::exposition::{Exposition, Metric};
use model::plan::StatsForm;
use model::{Series, SeriesKind, Unit, series};

pub(super) static KNOWN: Probe = Probe {
    name: "service_prometheus",
    target: ProbeTarget::Page(StatsForm::Prometheus),
    period: SECOND,
    series: &SERIES,
    request: |_| Some(ProbeRequest::Page),
    read: read_known,
};

pub(super) static NAMED: Probe = Probe {
    name: "service_metrics",
    target: ProbeTarget::Page(StatsForm::Prometheus),
    period: SECOND,
    series: &NAMED_SERIES,
    request: |_| Some(ProbeRequest::Page),
    read: read_named,
};

/// Maximum number of values of one metric that the user names. A histogram with many labels has thousands.
pub(crate) const VALUES_MAX: usize = 50;

static NAMED_SERIES: [Series; 2] = [
    gauge(series::SERVICE_METRIC, Unit::Count, "Metrics that the experiment file names, in their own units"),
    counter(
        series::SERVICE_COUNTER,
        Unit::Count,
        "Counters that the experiment file names, in their own units",
    ),
];

static SERIES: [Series; 19] = [
    SERVICE_POOL_SIZE,
    SERVICE_POOL_BUSY,
    SERVICE_POOL_IDLE,
    SERVICE_POOL_WAITING,
    SERVICE_POOL_WAITED,
    SERVICE_POOL_GAVE_UP,
    gauge("service_pool_open", Unit::Count, "Open connections, in use and idle"),
    counter("service_pool_wait_time", Unit::Seconds, "Time that requests waited for a connection"),
    SERVICE_THREADS_SIZE,
    SERVICE_THREADS_BUSY,
    counter(series::SERVICE_PROCESS_CPU, Unit::Seconds, "CPU time of the process that serves the page"),
    gauge("service_process_memory", Unit::Bytes, "Resident memory of this process"),
    gauge("service_process_files", Unit::Count, "Open files, sockets and pipes of this process"),
    gauge("service_runtime_threads", Unit::Count, "Operating system threads of the runtime"),
    gauge("service_goroutines", Unit::Count, "Goroutines"),
    gauge("service_heap_used", Unit::Bytes, "Heap in use, including garbage"),
    gauge("service_heap_size", Unit::Bytes, "Maximum size of the heap"),
    counter("service_gc_time", Unit::Seconds, "Time in pauses of the garbage collector"),
    counter("service_gc_count", Unit::Count, "Pauses of the garbage collector"),
];

/// Metric that becomes a series.
struct Mapping {
    series: &'static str,
    name: &'static str,
    /// Label whose value distinguishes pools. Metrics that differ in other labels are added.
    label: &'static str,
    /// Label and its value that a metric must have.
    condition: Option<(&'static str, &'static str)>,
    scale: f64,
    /// True if 0 and negative values mean that there is no limit, so that there is no reading.
    is_limit: bool,
}

const fn row(series: &'static str, name: &'static str, label: &'static str) -> Mapping {
    Mapping { series, name, label, condition: None, scale: 1.0, is_limit: false }
}

/// Part of the metric that concerns the heap.
const fn heap(series: &'static str, name: &'static str) -> Mapping {
    Mapping { condition: Some(("area", "heap")), ..row(series, name, "") }
}

/// Known metrics. If several metrics of a page map to one series, the first one in this table applies.
///
/// Sources: Micrometer's binders for HikariCP, Tomcat and the JVM; the JMX exporter's JVM metrics; Prometheus' Go client
/// (collectors `DBStats`, `Go` and `Process`).
static MAPPINGS: [Mapping; 36] = [
    row("service_pool_size", "hikaricp_connections_max", "pool"),
    Mapping { is_limit: true, ..row("service_pool_size", "go_sql_max_open_connections", "db_name") },
    row("service_pool_busy", "hikaricp_connections_active", "pool"),
    row("service_pool_busy", "go_sql_in_use_connections", "db_name"),
    row("service_pool_idle", "hikaricp_connections_idle", "pool"),
    row("service_pool_idle", "go_sql_idle_connections", "db_name"),
    row("service_pool_waiting", "hikaricp_connections_pending", "pool"),
    row("service_pool_waited_total", "go_sql_wait_count_total", "db_name"),
    row("service_pool_gave_up_total", "hikaricp_connections_timeout_total", "pool"),
    row("service_pool_open", "hikaricp_connections", "pool"),
    row("service_pool_open", "go_sql_open_connections", "db_name"),
    row("service_pool_wait_time", "hikaricp_connections_acquire_seconds_sum", "pool"),
    row("service_pool_wait_time", "go_sql_wait_duration_seconds_total", "db_name"),
    Mapping { is_limit: true, ..row("service_threads_size", "tomcat_threads_config_max_threads", "name") },
    row("service_threads_busy", "tomcat_threads_busy_threads", "name"),
    row("service_process_cpu", "process_cpu_seconds_total", ""),
    Mapping { scale: 1e-9, ..row("service_process_cpu", "process_cpu_time_ns_total", "") },
    row("service_process_memory", "process_resident_memory_bytes", ""),
    row("service_process_files", "process_open_fds", ""),
    row("service_process_files", "process_files_open_files", ""),
    row("service_runtime_threads", "go_threads", ""),
    row("service_runtime_threads", "jvm_threads_live_threads", ""),
    row("service_runtime_threads", "jvm_threads_current", ""),
    row("service_goroutines", "go_goroutines", ""),
    row("service_heap_used", "go_memstats_heap_alloc_bytes", ""),
    heap("service_heap_used", "jvm_memory_used_bytes"),
    heap("service_heap_used", "jvm_memory_bytes_used"),
    Mapping { is_limit: true, ..heap("service_heap_size", "jvm_memory_max_bytes") },
    Mapping { is_limit: true, ..heap("service_heap_size", "jvm_memory_bytes_max") },
    row("service_gc_time", "go_gc_duration_seconds_sum", ""),
    row("service_gc_time", "jvm_gc_pause_seconds_sum", ""),
    row("service_gc_time", "jvm_gc_collection_seconds_sum", ""),
    row("service_gc_count", "go_gc_duration_seconds_count", ""),
    row("service_gc_count", "jvm_gc_pause_seconds_count", ""),
    row("service_gc_count", "jvm_gc_collection_seconds_count", ""),
    row("service_process_cpu", "process_cpu_time_seconds_total", ""),
];

/// True for the metrics in the table of known ones.
pub(crate) fn is_known(name: &str) -> bool {
    MAPPINGS.iter().any(|it| it.name == name)
}

fn read_known(answer: &ProbeResponse, out: &mut Vec<Reading>) -> Result<(), ReadError> {
    let page = answer.metrics()?;
    let before = out.len();
    for series in &SERIES {
        let mut mappings = MAPPINGS.iter().filter(|it| it.series == series.name);
        let found = mappings.find(|it| page.named(it.name).next().is_some());
        if let Some(mapping) = found {
            read_mapping(series, mapping, page, out);
        }
    }
    // A page that the user names metrics for needs no others.
    let is_empty = out.len() == before && answer.named_metrics().is_empty();
    if is_empty { Err(ReadError { line: 0, expected: "known metric" }) } else { Ok(()) }
}

fn read_mapping(series: &'static Series, mapping: &Mapping, page: &Exposition, out: &mut Vec<Reading>) {
    let Mapping { name, label, condition, scale, is_limit, .. } = mapping;
    let is_its = |metric: &&Metric| {
        condition.is_none_or(|(label, value)| metric.label(label) == value)
            && !(*is_limit && metric.value <= 0.0)
    };
    let first = out.len();
    push_sums(series, label, page.named(name).filter(is_its), out);
    out[first..].iter_mut().for_each(|it| it.value *= scale);
}

fn read_named(answer: &ProbeResponse, out: &mut Vec<Reading>) -> Result<(), ReadError> {
    let page = answer.metrics()?;
    for name in answer.named_metrics() {
        for metric in page.named(name).take(VALUES_MAX) {
            let series = &NAMED_SERIES[usize::from(metric.kind == SeriesKind::Counter)];
            out.push(Reading { series, label: full_name(metric), value: metric.value });
        }
    }
    Ok(())
}

/// Name with the labels, such as `requests_total{method="GET"}`.
fn full_name(metric: &Metric) -> String {
    let labels: Vec<String> = metric.labels.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
    match labels.is_empty() {
        true => metric.name.clone(),
        false => format!("{}{{{}}}", metric.name, labels.join(",")),
    }
}
