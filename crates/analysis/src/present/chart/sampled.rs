//! Chart series of sampled gauges and counters

use crate::facts::samples::{self, is_partition_of};
use model::Sample;
use model::chart::{ChartKind, ChartSeries, ChartSeriesKind};
use std::collections::HashMap;
use std::ops::Range;

/// Rule that maps a sampled series to chart series.
#[derive(Debug)]
struct SeriesRule {
    series: &'static str,
    kind: ChartKind,
    series_kind: ChartSeriesKind,
    sample_kind: SeriesKind,
    /// Use of the series' labels.
    label: LabelRule,
    /// Rank of the rule. If several rules map to the same chart series, only the rule with the lowest rank is used.
    rank: u8,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum SeriesKind {
    /// Gauge of a family whose gauges are sampled at the same times. At a time at which only other gauges of the family
    /// have a sample, its value is zero.
    Gauge(&'static str),
    /// Gauge without a value at times without a sample.
    Sparse,
    /// Quantile of one second. A point has the largest of its samples, because quantiles are never averaged.
    Largest,
    Counter,
    /// Counter that a crash of its server resets. How much it grew until the crash is unknown, so a decrease is a gap.
    ServerCounter,
    /// Series that is not drawn. Its samples only show when the family was sampled.
    Presence(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum LabelRule {
    /// Sum over all labels.
    Sum,
    /// Sum over all labels except these.
    SumWithout(&'static [&'static str]),
    /// Sum over all labels, which is subtracted from the chart series.
    Subtract,
    /// Only this label.
    Only(&'static str),
    /// Each label is a chart series.
    Each,
    /// Each label is a chart series. The sum, which has no label, only shows when the family was sampled.
    EachPart,
}

impl SeriesKind {
    fn is_counter(self) -> bool {
        matches!(self, SeriesKind::Counter | SeriesKind::ServerCounter)
    }
}

/// True for charts in which every series names its node.
fn names_nodes(kind: ChartKind) -> bool {
    use ChartKind::{AgentProcessors, AgentRate, AgentResponse, AgentSendLag};
    use ChartKind::{Disk, DiskOperations, Memory, Processors};
    matches!(kind, Processors | Disk | DiskOperations | Memory)
        || matches!(kind, AgentRate | AgentResponse | AgentSendLag | AgentProcessors)
}

/// Maximum number of sources (combinations of node, series and label).
const SOURCES_MAX: usize = 4096;
/// Maximum number of series of a stacked chart. One more series has the sum of all others.
const STACKED_MAX: usize = 8;

const fn row(
    series: &'static str,
    kind: ChartKind,
    series_kind: ChartSeriesKind,
    sample_kind: SeriesKind,
    label: LabelRule,
    rank: u8,
) -> SeriesRule {
    SeriesRule { series, kind, series_kind, sample_kind, label, rank }
}

/// Rules in the order of the chart series.
const RULES: [SeriesRule; 52] = {
    use ChartKind::*;
    use LabelRule::{Each, EachPart, Only, Subtract, Sum, SumWithout};
    use SeriesKind::{Counter, Gauge, Largest, Presence, ServerCounter, Sparse};
    [
        row(samples::SERVICE_THREADS_BUSY, ServicePools, ChartSeriesKind::ThreadsBusy, Sparse, Each, 0),
        row(samples::SERVICE_THREADS_WAITING, ServicePools, ChartSeriesKind::ThreadsWaiting, Sparse, Each, 0),
        row(samples::SERVICE_THREADS_SIZE, ServicePools, ChartSeriesKind::ThreadsMax, Sparse, Each, 0),
        row(samples::SERVICE_POOL_BUSY, ServicePools, ChartSeriesKind::ConnectionsBusy, Sparse, Each, 0),
        row(
            samples::SERVICE_POOL_WAITING,
            ServicePools,
            ChartSeriesKind::ConnectionsWaiting,
            Sparse,
            Each,
            0,
        ),
        row(samples::SERVICE_POOL_SIZE, ServicePools, ChartSeriesKind::ConnectionsMax, Sparse, Each, 0),
        row(samples::POOL_CLIENTS_ACTIVE, Pooler, ChartSeriesKind::ClientsActive, Gauge("pools"), Sum, 0),
        row(samples::POOL_CLIENTS_WAITING, Pooler, ChartSeriesKind::ClientsWaiting, Gauge("pools"), Sum, 0),
        row(samples::POOL_SERVERS_ACTIVE, Pooler, ChartSeriesKind::ServersActive, Gauge("pools"), Sum, 0),
        row(samples::POOL_SERVERS_IDLE, Pooler, ChartSeriesKind::ServersIdle, Gauge("pools"), Sum, 0),
        row(samples::BALANCER_QUEUE, Pooler, ChartSeriesKind::Queue, Gauge("queues"), Sum, 0),
        row(samples::PG_SESSIONS, Connections, ChartSeriesKind::Sessions, Gauge("sessions"), Each, 0),
        row(samples::PG_USED, Connections, ChartSeriesKind::Sessions, Presence("sessions"), Sum, 0),
        row(samples::CGROUP_CPU, Processors, ChartSeriesKind::Processors, Counter, Sum, 0),
        row(samples::PROCESS_CPU[0], Processors, ChartSeriesKind::Processors, Counter, Sum, 1),
        row(samples::PROCESS_CPU[1], Processors, ChartSeriesKind::Processors, Counter, Sum, 1),
        row(samples::SERVICE_PROCESS_CPU, Processors, ChartSeriesKind::Processors, Counter, Each, 2),
        row(samples::PROCESS_CPU_LIMIT, Processors, ChartSeriesKind::Limit, Sparse, Sum, 0),
        row(
            samples::HOST_CPU,
            Processors,
            ChartSeriesKind::Host,
            Counter,
            SumWithout(&["idle", "iowait", "steal"]),
            0,
        ),
        row(samples::PROCESS_READ_BYTES, Disk, ChartSeriesKind::Read, Counter, Sum, 0),
        row(samples::CGROUP_READ_BYTES, Disk, ChartSeriesKind::Read, Counter, Sum, 1),
        row(samples::DISK_READ_BYTES, Disk, ChartSeriesKind::Read, Counter, Each, 0),
        row(samples::PROCESS_WRITTEN_BYTES, Disk, ChartSeriesKind::Written, Counter, Sum, 0),
        row(samples::CGROUP_WRITTEN_BYTES, Disk, ChartSeriesKind::Written, Counter, Sum, 1),
        row(samples::DISK_WRITTEN_BYTES, Disk, ChartSeriesKind::Written, Counter, Each, 0),
        row(samples::SERVICE_METRIC, ServiceMetrics, ChartSeriesKind::Metric, Sparse, Each, 0),
        row(samples::SERVICE_COUNTER, ServiceCounters, ChartSeriesKind::Metric, Counter, Each, 0),
        row(samples::PG_WAITS, Waits, ChartSeriesKind::Waiting, Gauge("sessions"), Each, 0),
        row(
            samples::PG_REPLICATION_UNREPLAYED,
            ReplicationLag,
            ChartSeriesKind::ReplicationLag,
            Sparse,
            Each,
            0,
        ),
        row(samples::REPLICA_VISIBLE_AFTER, Freshness, ChartSeriesKind::Visible, Sparse, Sum, 0),
        row(samples::PG_COMMITS, Transactions, ChartSeriesKind::Commits, ServerCounter, Sum, 0),
        row(
            samples::PG_MONITOR_TRANSACTIONS,
            Transactions,
            ChartSeriesKind::Commits,
            ServerCounter,
            Subtract,
            0,
        ),
        row(samples::PG_ROLLBACKS, Transactions, ChartSeriesKind::Rollbacks, ServerCounter, Sum, 0),
        row(samples::PG_LOCKS_WAITING, Locks, ChartSeriesKind::LocksWaiting, Gauge("locks"), EachPart, 0),
        row(samples::PG_DEADLOCKS, Deadlocks, ChartSeriesKind::Deadlocks, ServerCounter, Sum, 0),
        row(samples::CGROUP_READS, DiskOperations, ChartSeriesKind::Read, Counter, Sum, 0),
        row(samples::DISK_READS, DiskOperations, ChartSeriesKind::Read, Counter, Each, 0),
        row(samples::CGROUP_WRITES, DiskOperations, ChartSeriesKind::Written, Counter, Sum, 0),
        row(samples::DISK_WRITES, DiskOperations, ChartSeriesKind::Written, Counter, Each, 0),
        row(
            samples::PROCESS_PRIVATE_MEMORY,
            Memory,
            ChartSeriesKind::PrivateMemory,
            Gauge("processes"),
            Sum,
            0,
        ),
        row(samples::CGROUP_MEMORY, Memory, ChartSeriesKind::GroupMemory, Gauge("group"), Sum, 0),
        row(samples::HOST_MEMORY, HostMemory, ChartSeriesKind::AvailableMemory, Sparse, Only("available"), 0),
        row(samples::HOST_LOAD, HostLoad, ChartSeriesKind::LoadAverage, Sparse, Sum, 0),
        row(samples::HOST_RUNNABLE, HostLoad, ChartSeriesKind::Runnable, Sparse, Sum, 0),
        row(samples::HOST_BLOCKED, HostLoad, ChartSeriesKind::Blocked, Sparse, Sum, 0),
        row(samples::NETWORK_RECEIVED_BYTES, Network, ChartSeriesKind::Received, Counter, Each, 0),
        row(samples::NETWORK_SENT_BYTES, Network, ChartSeriesKind::Sent, Counter, Each, 0),
        row(samples::AGENT_RATE, AgentRate, ChartSeriesKind::Delivered, Sparse, Sum, 0),
        row(samples::AGENT_P50, AgentResponse, ChartSeriesKind::Quantile(0.5), Largest, Sum, 0),
        row(samples::AGENT_P99, AgentResponse, ChartSeriesKind::Quantile(0.99), Largest, Sum, 0),
        row(samples::AGENT_SEND_LAG, AgentSendLag, ChartSeriesKind::SendLag(0.99), Largest, Sum, 0),
        row(samples::AGENT_CPU, AgentProcessors, ChartSeriesKind::Processors, Sparse, Sum, 0),
    ]
};

/// Names of all sampled series.
pub const SERIES: [&str; RULES.len()] = {
    let mut all = [""; RULES.len()];
    let mut at = 0;
    while at < RULES.len() {
        all[at] = RULES[at].series;
        at += 1;
    }
    all
};

#[derive(Clone, Debug)]
pub struct SampledSeries {
    bin: f64,
    /// Nodes in the order of the path from the clients to PostgreSQL.
    nodes: Vec<String>,
    /// State by node, series and label, joined by a zero byte.
    sources: HashMap<String, Option<SourceState>>,
    families: Vec<GaugeFamily>,
    lines: Vec<SeriesState>,
    /// Key buffer, reused to avoid allocations.
    key: String,
}

/// State of one combination of node, series and label, with the chart series that receives its samples.
#[derive(Clone, Copy, Debug)]
struct SourceState {
    line: Option<usize>,
    family: usize,
    is_subtracted: bool,
    /// Time and value of a counter's last sample, and the shortest time between two of its samples, in seconds.
    last: Option<(f64, f64)>,
    period: f64,
}

/// Gauges that are sampled together.
#[derive(Clone, Debug)]
struct GaugeFamily {
    name: (String, String),
    /// Number of samples and time of the last sample, by point.
    moments: Vec<(u32, f64)>,
    last: Option<f64>,
    /// Shortest time between two samples of the family, in seconds.
    period: f64,
}

#[derive(Clone, Debug)]
struct SeriesState {
    row: usize,
    node: String,
    label: Option<String>,
    family: usize,
    /// By point: sum and number of the samples, or for a counter its increase and the seconds that the increase covers.
    sums: Vec<(f64, f64)>,
    /// Interval between the last two samples of a counter.
    covered: Option<(f64, f64)>,
    /// Points in which a server's counter was reset.
    lost: Vec<usize>,
}

impl SampledSeries {
    pub fn new(bin: u32, nodes: Vec<String>) -> SampledSeries {
        let (sources, families, lines, key) = (HashMap::new(), Vec::new(), Vec::new(), String::new());
        SampledSeries { bin: bin.into(), nodes, sources, families, lines, key }
    }

    pub fn push(&mut self, sample: &Sample) {
        self.key.clear();
        for part in [&sample.node, "\0", &sample.series, "\0", &sample.label] {
            self.key.push_str(part);
        }
        let Some(known) = self.sources.get_mut(&self.key) else {
            if self.sources.len() >= SOURCES_MAX {
                return;
            }
            let source = self.source(sample);
            self.sources.insert(self.key.clone(), source);
            return self.push(sample);
        };
        let Some(source) = known else { return };
        let at = sample.at.as_secs_f64();
        let line = source.line.map(|it| &mut self.lines[it]);
        if let Some(kind) = line.as_ref().map(|it| RULES[it.row].sample_kind).filter(|it| it.is_counter()) {
            let line = line.expect("the source has a line");
            let Some((before, value)) = source.last.replace((at, sample.value)) else { return };
            let duration = at - before;
            if duration > 0.0 {
                let is_gap = duration > 3.0 * source.period.max(1.0);
                source.period = source.period.min(duration);
                let growth = sample.value - value;
                if growth < 0.0 && kind == SeriesKind::ServerCounter {
                    line.lost.extend((before / self.bin) as usize..=(at / self.bin) as usize);
                } else if !is_gap {
                    // A decrease means that the counter was reset.
                    let growth = growth.max(0.0) * if source.is_subtracted { -1.0 } else { 1.0 };
                    line.add_growth((before, at), growth, self.bin, !source.is_subtracted);
                }
            }
            return;
        }
        if at <= 0.0 {
            return;
        }
        let point = (at / self.bin) as usize;
        let family = &mut self.families[source.family];
        if family.last != Some(at) {
            if let Some(before) = family.last.filter(|it| *it < at) {
                family.period = family.period.min(at - before);
            }
            family.last = Some(at);
            let moments = entry_at(&mut family.moments, point);
            (moments.0, moments.1) = (moments.0 + 1, at);
        }
        if let Some(line) = line {
            let sum = &mut entry_at(&mut line.sums, point).0;
            match RULES[line.row].sample_kind {
                SeriesKind::Largest => *sum = sum.max(sample.value),
                _ => *sum += sample.value,
            }
        }
    }

    fn source(&mut self, sample: &Sample) -> Option<SourceState> {
        let row = RULES.iter().position(|row| row.series == sample.series)?;
        let SeriesRule { sample_kind, label, kind, series_kind, rank, .. } = &RULES[row];
        match label {
            LabelRule::SumWithout(those) if those.contains(&&*sample.label) => return None,
            LabelRule::Only(that) if sample.label != *that => return None,
            _ => {}
        }
        let is_labelled = matches!(label, LabelRule::Each | LabelRule::EachPart) && !sample.label.is_empty();
        let is_subtracted = *label == LabelRule::Subtract;
        let is_sum = *label == LabelRule::EachPart && !is_labelled;
        let label = is_labelled.then(|| sample.label.to_string());
        let family = match sample_kind {
            SeriesKind::Gauge(name) | SeriesKind::Presence(name) => (*name).to_owned(),
            SeriesKind::Sparse | SeriesKind::Largest | SeriesKind::Counter | SeriesKind::ServerCounter => {
                format!("{}\0{}", sample.series, sample.label)
            }
        };
        let family = self.family(&sample.node, family);
        let source = SourceState { line: None, family, is_subtracted, last: None, period: f64::INFINITY };
        if is_sum || matches!(sample_kind, SeriesKind::Presence(_)) {
            return Some(source);
        }
        let known = self.lines.iter().position(|line| {
            let rule = &RULES[line.row];
            (rule.kind, rule.series_kind, rule.rank) == (*kind, *series_kind, *rank)
                && line.node == sample.node
                && line.label == label
        });
        let line = known.unwrap_or_else(|| {
            let node = sample.node.to_string();
            let (sums, covered, lost) = (Vec::new(), None, Vec::new());
            self.lines.push(SeriesState { row, node, label, family, sums, covered, lost });
            self.lines.len() - 1
        });
        Some(SourceState { line: Some(line), ..source })
    }

    fn family(&mut self, node: &str, name: String) -> usize {
        let name = (node.to_owned(), name);
        self.families.iter().position(|it| it.name == name).unwrap_or_else(|| {
            self.families.push(GaugeFamily { name, moments: Vec::new(), last: None, period: f64::INFINITY });
            self.families.len() - 1
        })
    }

    /// Chart series of these points, out of `all` points. Series without any value are left out. The series are ordered
    /// by rule, node and label, and those of stacked charts by their sum.
    pub fn tracks(&self, points: Range<usize>, all: usize) -> Vec<(ChartKind, ChartSeries)> {
        let drawn = |it: &&SeriesState| self.is_drawn(it, all);
        let mut lines: Vec<&SeriesState> = self.lines.iter().filter(drawn).collect();
        let node = |it: &SeriesState| self.nodes.iter().position(|name| *name == it.node);
        // Nodes outside the path, such as the generator and the machine, come last.
        lines.sort_by_key(|it| (it.row, node(it).unwrap_or(usize::MAX), &it.node, &it.label));
        let (stacked, lines): (Vec<&SeriesState>, Vec<&SeriesState>) =
            lines.into_iter().partition(|it| RULES[it.row].kind.is_stacked());
        let several = |series: &SeriesState| {
            let kinds = |other: &SeriesState| (RULES[other.row].kind, RULES[other.row].series_kind);
            self.lines.iter().any(|other| kinds(other) == kinds(series) && other.node != series.node)
        };
        let track = |series: &SeriesState| {
            let SeriesRule { kind, series_kind, .. } = RULES[series.row];
            let values = points.clone().map(|point| self.value(series, point)).collect();
            let is_named = names_nodes(kind) || several(series);
            let node = is_named.then(|| series.node.clone());
            (kind, ChartSeries { kind: series_kind, node, label: series.label.clone(), values })
        };
        let mut tracks: Vec<(ChartKind, ChartSeries)> = lines.into_iter().map(track).collect();
        for kind in ChartKind::ALL {
            let its = stacked.iter().copied().filter(|it| RULES[it.row].kind == kind);
            let mut ranked: Vec<&SeriesState> = its.collect();
            ranked.sort_by(|a, b| b.total().total_cmp(&a.total()));
            let rest = ranked.split_off(ranked.len().min(STACKED_MAX));
            tracks.extend(ranked.into_iter().map(track));
            let Some(first) = rest.first() else { continue };
            let sum = |point| {
                let values: Vec<f64> = rest.iter().filter_map(|it| self.value(it, point)).collect();
                (!values.is_empty()).then(|| values.iter().sum())
            };
            let (series_kind, values) = (RULES[first.row].series_kind, points.clone().map(sum).collect());
            tracks.push((kind, ChartSeries { kind: series_kind, node: None, label: None, values }));
        }
        tracks
    }

    fn is_drawn(&self, line: &SeriesState, points: usize) -> bool {
        let SeriesRule { kind, series_kind, rank, .. } = &RULES[line.row];
        let same = |series: &SeriesState| {
            let rule = &RULES[series.row];
            (rule.kind, rule.series_kind) == (*kind, *series_kind)
                && series.node == line.node
                && series.label == line.label
        };
        let is_better =
            |it: &SeriesState| RULES[it.row].rank < *rank && same(it) && self.has_value(it, points);
        // Do not draw an idle disk or interface, because it is not a bottleneck. Do not draw a partition, because its
        // disk includes it.
        use ChartKind::{Deadlocks, Disk, DiskOperations, Network};
        let is_idle = matches!(kind, Disk | DiskOperations | Network | Deadlocks) && line.total() == 0.0;
        let is_part = matches!(kind, Disk | DiskOperations)
            && line.label.as_deref().is_some_and(|part| {
                self.lines
                    .iter()
                    .any(|it| it.label.as_deref().is_some_and(|whole| is_partition_of(part, whole)))
            });
        !is_idle && !is_part && self.has_value(line, points) && !self.lines.iter().any(is_better)
    }

    fn has_value(&self, line: &SeriesState, points: usize) -> bool {
        (0..points).any(|it| self.value(line, it).is_some())
    }

    fn value(&self, line: &SeriesState, point: usize) -> Option<f64> {
        let sum_at = |at: usize| line.sums.get(at).copied().unwrap_or_default();
        if RULES[line.row].sample_kind.is_counter() {
            let (grown, seconds) = sum_at(point);
            // If samples cover a smaller part of the point, they do not suffice for a rate. A subtracted counter may lead.
            let is_known = seconds > 0.1 * self.bin && !line.lost.contains(&point);
            return is_known.then(|| (grown / seconds).max(0.0));
        }
        let family = &self.families[line.family];
        let moments = |at: usize| family.moments.get(at).copied().unwrap_or_default();
        let mean = |at: usize| match RULES[line.row].sample_kind {
            SeriesKind::Largest => sum_at(at).0,
            _ => sum_at(at).0 / f64::from(moments(at).0),
        };
        if moments(point).0 > 0 {
            return Some(mean(point));
        }
        // Until the next sample is due, the last value remains valid.
        let period = if family.period.is_finite() { family.period.max(1.0) } else { 1.0 };
        let first = point.saturating_sub((period / self.bin).ceil() as usize + 1);
        let last = (first..point).rev().find(|it| moments(*it).0 > 0)?;
        (point as f64 * self.bin - moments(last).1 < period).then(|| mean(last))
    }
}

impl SeriesState {
    fn total(&self) -> f64 {
        self.sums.iter().map(|it| it.0).sum()
    }

    /// Distributes the increase of a counter over the points of the interval `stretch`. If `covers` is false, the interval
    /// only counts as measured if another counter covers it.
    fn add_growth(&mut self, stretch: (f64, f64), increase: f64, bin: f64, covers: bool) {
        let (from, to) = stretch;
        // Labels that are summed have the same sample times, so count each interval once.
        let is_new = covers && self.covered.replace(stretch) != Some(stretch);
        let mut at = from;
        while at < to {
            let point = (at / bin) as usize;
            let end = ((point + 1) as f64 * bin).min(to);
            let sum = entry_at(&mut self.sums, point);
            sum.0 += increase * (end - at) / (to - from);
            sum.1 += if is_new { end - at } else { 0.0 };
            at = end;
        }
    }
}

fn entry_at<T: Clone + Default>(all: &mut Vec<T>, at: usize) -> &mut T {
    if all.len() <= at {
        all.resize(at + 1, T::default());
    }
    &mut all[at]
}
