//! Charts of a trial over time

mod load;
mod marks;
mod sampled;
mod users;

use load::LoadSeries;
use marks::Annotations;
use model::chart::{Chart, ChartKind, ChartSeries, ChartSeriesKind, Charts};
use model::plan::{GENERATOR, Limits, NodeKind, NodePart, Setup, UserStage, started_nodes};
use model::{LogEvent, Nanos, Sample, Second, Tick};
use sampled::SampledSeries;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use users::{user_stages, users_at};

pub use sampled::SERIES;

const HOST: &str = "host";

/// Number of points beyond the last second for which samples are stored.
const SAMPLE_LAG_MAX: usize = 60;

/// Charts of one trial, built second by second.
///
/// Rates are divided by the actual length of the seconds. Quantiles come from the merged histograms of a point. The
/// value of a gauge is the mean of the samples in a point. The value of a counter is its increase, corrected for
/// restarts. If a series has no sample in a point, its last value remains for its sampling interval, but at least for a
/// second. After that, the chart has a gap. While the trial is running, the last two points may still change.
///
/// The offered rate counts transactions that began or were dropped. Arrivals in the backlog count when they are sent.
#[derive(Clone, Debug)]
pub struct ChartBuilder {
    bin: u32,
    load: LoadSeries,
    sampled: SampledSeries,
    marks: Annotations,
    /// Limits by chart and node. A limit is drawn if the chart has at least one series of the node.
    limits: Vec<(ChartKind, ChartSeriesKind, Option<String>, f64)>,
    /// Stages of users that come and go.
    users: Vec<UserStage>,
}

impl ChartBuilder {
    /// Builder for one trial. `processors` is the number of CPUs of the machine, if known. `duration` is the maximum
    /// length of the window.
    pub fn new(setup: &Setup, processors: Option<f64>, duration: Nanos) -> ChartBuilder {
        let bin = (duration.as_secs_f64() / Charts::POINTS as f64).ceil().max(1.0) as u32;
        let started = started_nodes(&setup.stack.nodes);
        let hosts = setup.stack.host_parts();
        let hosts: Vec<NodePart<'_>> = hosts.iter().flat_map(NodePart::split).collect();
        let nodes = || {
            let started = started.iter().map(|node| (node.name.as_str(), &node.limits));
            started.chain(hosts.iter().map(|host| (host.name.as_str(), host.limits)))
        };
        let generator = (GENERATOR, &setup.stack.generator);
        let slots = setup.stack.nodes.iter().filter_map(|node| match &node.kind {
            NodeKind::Postgres(postgres) => Some((
                ChartKind::Connections,
                ChartSeriesKind::Limit,
                None,
                f64::from(postgres.max_connections),
            )),
            _ => None,
        });
        let quotas = [generator].into_iter().chain(nodes()).flat_map(|(name, it)| quotas(name, it));
        let processors =
            processors.map(|it| (ChartKind::Processors, ChartSeriesKind::Limit, Some(HOST.to_owned()), it));
        ChartBuilder {
            bin,
            load: LoadSeries::new(bin, setup.operations.iter().map(|it| it.name.clone()).collect()),
            sampled: SampledSeries::new(bin, nodes().map(|it| it.0.to_owned()).collect()),
            marks: Annotations::default(),
            limits: slots.chain(quotas).chain(processors).collect(),
            users: user_stages(&setup.load.model),
        }
    }

    /// Draws the steps of operations with several steps. `names` has the names of each operation's commands; a command
    /// without a name is not a step.
    pub fn with_steps<'a>(mut self, names: impl IntoIterator<Item = &'a [String]>) -> ChartBuilder {
        self.load = self.load.with_steps(names);
        self
    }

    /// Adds the next second with its samples.
    pub fn push(&mut self, tick: &Tick) {
        self.second(&tick.into());
        self.samples(&tick.samples);
    }

    /// Adds the next second. Seconds must arrive in order of time.
    pub fn second(&mut self, second: &Second) {
        self.load.push(second);
    }

    /// Adds samples. Samples must arrive sorted by node and series, then by time.
    pub fn samples(&mut self, all: &[Sample]) {
        // Ignore points that are never drawn, because they would only use memory.
        let points = self.points().max(Charts::POINTS) + SAMPLE_LAG_MAX;
        let last = Nanos::from_secs(points as u64 * u64::from(self.bin));
        all.iter().filter(|it| it.at <= last).for_each(|it| self.sampled.push(it));
    }

    pub fn event(&mut self, event: &LogEvent) {
        self.marks.push(event);
    }

    /// Adds the samples that another builder collected in another thread.
    pub fn merge_samples(self, other: ChartBuilder) -> ChartBuilder {
        ChartBuilder { sampled: other.sampled, ..self }
    }

    /// Number of points so far.
    pub fn points(&self) -> usize {
        self.load.points()
    }

    /// Charts with all points so far.
    pub fn charts(&self) -> Charts {
        self.since(0)
    }

    /// Charts with the points from index `from` on, with all series and all annotations.
    pub fn since(&self, from: usize) -> Charts {
        let points = from.min(self.points())..self.points();
        let mut tracks = self.load.tracks(points.start);
        tracks.extend(self.sampled.tracks(points.clone(), self.points()));
        let users = self.users(points.clone());
        tracks.extend(users.iter().map(|series| (ChartKind::Rate, series.clone())));
        tracks.extend(users.into_iter().map(|series| (ChartKind::InFlight, series)));
        if tracks.iter().any(|it| it.0 == ChartKind::Transactions) {
            tracks.extend(delivered(&tracks).map(|series| (ChartKind::Transactions, series)));
        }
        for (kind, series_kind, node, bound) in &self.limits {
            if tracks.iter().any(|it| it.0 == *kind && (node.is_none() || it.1.node == *node)) {
                let values = vec![Some(*bound); points.len()];
                tracks.push((
                    *kind,
                    ChartSeries { kind: *series_kind, node: node.clone(), label: None, values },
                ));
            }
        }
        let mut charts: Vec<Chart> =
            ChartKind::ALL.map(|kind| Chart { kind, series: Vec::new() }).into_iter().collect();
        for (kind, track) in tracks {
            let place = charts.iter().position(|it| it.kind == kind).expect("every kind has a chart");
            charts[place].series.push(track);
        }
        charts.retain(|it| !it.series.is_empty());
        let at = points.map(|it| it as f64 * f64::from(self.bin)).collect();
        Charts { bin: self.bin, times: at, charts, annotations: self.marks.all() }
    }

    /// Number of users in the middle of each point; `None` if it is constant.
    fn users(&self, points: Range<usize>) -> Option<ChartSeries> {
        let at = |point: usize| (point as f64 + 0.5) * f64::from(self.bin);
        let values = points.map(|it| users_at(&self.users, at(it))).collect();
        let is_drawn = !self.users.is_empty() && self.points() > 0;
        is_drawn.then_some(ChartSeries { kind: ChartSeriesKind::Users, node: None, label: None, values })
    }

    /// Hash of the list of charts and series. If it changes, points from [`ChartBuilder::since`] cannot be appended to
    /// earlier points.
    pub fn structure_hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for chart in self.since(self.points()).charts {
            chart.kind.hash(&mut hasher);
            for series in chart.series {
                (format!("{:?}", series.kind), series.node, series.label).hash(&mut hasher);
            }
        }
        hasher.finish()
    }
}

/// Limits of a node, by chart.
fn quotas(
    node: &str,
    limits: &Limits,
) -> impl Iterator<Item = (ChartKind, ChartSeriesKind, Option<String>, f64)> {
    let node = node.to_owned();
    [
        (ChartKind::Processors, ChartSeriesKind::Limit, limits.cpu),
        (ChartKind::Memory, ChartSeriesKind::Limit, limits.memory.map(|it| it as f64)),
        (ChartKind::DiskOperations, ChartSeriesKind::ReadLimit, limits.read_iops.map(|it| it as f64)),
        (ChartKind::DiskOperations, ChartSeriesKind::WriteLimit, limits.write_iops.map(|it| it as f64)),
    ]
    .into_iter()
    .filter_map(move |(chart, series, bound)| Some((chart, series, Some(node.clone()), bound?)))
}

/// Delivered rate of all operations together.
fn delivered(tracks: &[(ChartKind, ChartSeries)]) -> Option<ChartSeries> {
    let is_total = |(chart, series): &&(ChartKind, ChartSeries)| {
        (*chart, series.kind) == (ChartKind::Rate, ChartSeriesKind::Delivered) && series.label.is_none()
    };
    tracks.iter().find(is_total).map(|it| it.1.clone())
}

#[cfg(test)]
mod tests;
