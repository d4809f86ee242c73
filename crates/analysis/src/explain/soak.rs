//! Trends of a soak: leaks and drifts of metrics while a level is held for a long time
//!
//! A long trial is divided into [`STRETCHES`] slices. In each slice, every metric that may leak or drift has one value:
//! the median of its samples, a quantile of its merged histograms, or its rate. [`trend`] judges these values.

#[cfg(test)]
mod planted;
mod verdict;

pub use verdict::trend;

use crate::stats::quantile::median;
use model::search::{LevelOutcome, SoakResult, StepPurpose, Trend, TrendMetric};
use model::{HistogramSum, Nanos, Sample, Second, series};

/// Private memory of a node's processes. Shared memory does not leak, and would count once for each process that has
/// touched it.
const PROCESS_MEMORY: &str = series::PROCESS_PRIVATE_MEMORY;
/// Memory including the page cache; used only if the private memory is unknown.
const GROUP_MEMORY: &str = series::CGROUP_MEMORY;
const DEAD_ROWS: &str = series::PG_DEAD_ROWS;
/// Size of the database under load, in bytes.
const DATABASE_SIZE: &str = series::PG_DATABASE_SIZE;
const FILES: &str = series::PROCESS_FILES;

/// Series from which trends are computed.
pub const SERIES: [&str; 6] =
    [PROCESS_MEMORY, GROUP_MEMORY, series::PG_USED, DEAD_ROWS, DATABASE_SIZE, FILES];

/// Number of slices of a trial. It is large enough for a confidence interval although neighbouring slices are
/// correlated.
pub const STRETCHES: u64 = 120;
const SECOND: Nanos = Nanos::from_secs(1);

/// Collects the seconds and samples of a long trial, and computes its trends.
#[derive(Debug)]
pub struct SoakCollector {
    stretch: Nanos,
    duration: Nanos,
    load: LoadLines,
    lines: Vec<SampledLine>,
}

impl SoakCollector {
    /// Collector for a trial; `duration` is the length of its window.
    pub fn new(duration: Nanos) -> SoakCollector {
        // Slices have whole seconds, because samples are taken every second.
        let seconds = duration.0.div_ceil(STRETCHES * SECOND.0).max(1);
        let stretch = Nanos::from_secs(seconds);
        SoakCollector { stretch, duration, load: LoadLines::new(), lines: Vec::new() }
    }

    /// Adds a second. Seconds must arrive in order of time.
    pub fn second(&mut self, second: &Second) {
        let number = second.second * SECOND.0 / self.stretch.0;
        if self.load.number != number {
            self.load.close(self.stretch);
            self.load.number = number;
        }
        self.load.push(second);
    }

    /// Adds samples. Samples must arrive sorted by node and series, then by time.
    pub fn samples(&mut self, all: &[Sample]) {
        let within = |it: &&Sample| it.at > Nanos::ZERO && it.at <= self.duration;
        for sample in all.iter().filter(within) {
            let Some(place) = SERIES.iter().position(|series| sample.series == *series) else { continue };
            let known = self.lines.iter().position(|line| line.matches(place, sample));
            let known = known.unwrap_or_else(|| {
                self.lines.push(SampledLine::new(place, sample));
                self.lines.len() - 1
            });
            self.lines[known].push(sample.at, sample.value, self.stretch);
        }
    }

    /// Trends of all metrics: response times and throughput first, then nodes and tables in order of appearance.
    pub fn trends(mut self) -> Vec<Trend> {
        self.load.close(self.stretch);
        let LoadLines { median, p99, rate, .. } = self.load;
        let load = [
            (TrendMetric::Median, median.points),
            (TrendMetric::P99, p99.points),
            (TrendMetric::Throughput, rate),
        ];
        let has_own = |node: &str| {
            let process_lines = self.lines.iter().filter(|it| SERIES[it.series] == PROCESS_MEMORY);
            process_lines.clone().any(|it| it.node == node)
        };
        let is_kept: Vec<bool> =
            self.lines.iter().map(|it| SERIES[it.series] != GROUP_MEMORY || !has_own(&it.node)).collect();
        let lines = self.lines.into_iter().zip(is_kept).filter(|it| it.1).map(|(mut line, _)| {
            line.close(self.stretch);
            (line.metric, line.points)
        });
        let all = load.into_iter().chain(lines).filter(|it| !it.1.is_empty());
        all.map(|(metric, points)| trend(metric, &points)).collect()
    }
}

/// Result of holding a level; `maximum` has the unit of the level.
pub fn endurance(
    cell: usize,
    stage: StepPurpose,
    level: f64,
    maximum: Option<f64>,
    duration: Nanos,
    outcome: LevelOutcome,
    trends: Vec<Trend>,
) -> SoakResult {
    let share_of_maximum = maximum.filter(|it| *it > 0.0).map(|it| level / it);
    SoakResult { cell, purpose: stage, level, share_of_maximum, duration, outcome, trends }
}

/// Middle of the slice with index `number`, in hours since the window began.
fn hours(number: u64, stretch: Nanos) -> f64 {
    (number as f64 + 0.5) * stretch.as_secs_f64() / 3600.0
}

#[derive(Debug)]
struct LoadLines {
    /// Index of the current slice.
    number: u64,
    ended: u64,
    seconds: f64,
    /// Points with the time in hours and the throughput per second.
    rate: Vec<(f64, f64)>,
    median: QuantileLine,
    p99: QuantileLine,
}

/// Quantile of response times by slice. A slice with too few transactions is merged with the following slices.
#[derive(Debug)]
struct QuantileLine {
    q: f64,
    gathered: HistogramSum,
    /// Start of the first merged slice, in hours since the window began.
    from: Option<f64>,
    /// Points with the time in hours and the quantile in seconds.
    points: Vec<(f64, f64)>,
}

impl LoadLines {
    fn new() -> LoadLines {
        let (median, p99) = (QuantileLine::new(0.5), QuantileLine::new(0.99));
        LoadLines { number: 0, ended: 0, seconds: 0.0, rate: Vec::new(), median, p99 }
    }

    fn push(&mut self, second: &Second) {
        self.seconds += (second.interval.to - second.interval.from).as_secs_f64();
        for script in &second.interval.scripts {
            self.ended += script.ok - script.late;
            self.median.gathered.add(&script.response);
            self.p99.gathered.add(&script.response);
        }
    }

    /// Ends the last slice. A last slice of less than half a slice's length is discarded.
    fn close(&mut self, stretch: Nanos) {
        let at = hours(self.number, stretch);
        if self.seconds >= stretch.as_secs_f64() / 2.0 {
            self.rate.push((at, self.ended as f64 / self.seconds));
            self.median.close(at);
            self.p99.close(at);
        }
        (self.ended, self.seconds) = (0, 0.0);
    }
}

impl QuantileLine {
    fn new(q: f64) -> QuantileLine {
        QuantileLine { q, gathered: HistogramSum::new(), from: None, points: Vec::new() }
    }

    fn close(&mut self, at: f64) {
        let from = *self.from.get_or_insert(at);
        let Some(value) = self.gathered.quantile(self.q) else { return };
        self.points.push((f64::midpoint(from, at), value.as_secs_f64()));
        self.gathered.clear();
        self.from = None;
    }
}

/// Samples of one metric.
#[derive(Debug)]
struct SampledLine {
    metric: TrendMetric,
    /// Index into [`SERIES`].
    series: usize,
    node: String,
    /// Label of the series; only tables have one.
    label: Option<String>,
    number: u64,
    /// Time of the last sample, and the sum over all labels at that time.
    moment: Option<(Nanos, f64)>,
    /// Values at the sample times of the current slice.
    values: Vec<f64>,
    points: Vec<(f64, f64)>,
}

impl SampledLine {
    fn new(series: usize, sample: &Sample) -> SampledLine {
        let (node, label) = (sample.node.to_string(), sample.label.to_string());
        let has_table = SERIES[series] == DEAD_ROWS;
        let metric = match SERIES[series] {
            DEAD_ROWS => TrendMetric::DeadRows { table: label.clone() },
            series::PG_USED => TrendMetric::Connections { node: node.clone() },
            DATABASE_SIZE => TrendMetric::Size { table: String::new() },
            FILES => TrendMetric::Files { node: node.clone() },
            _ => TrendMetric::Memory { node: node.clone() },
        };
        SampledLine {
            metric,
            series,
            node,
            label: has_table.then_some(label),
            number: 0,
            moment: None,
            values: Vec::new(),
            points: Vec::new(),
        }
    }

    fn matches(&self, series: usize, sample: &Sample) -> bool {
        self.series == series
            && self.node == sample.node
            && self.label.as_ref().is_none_or(|label| *label == sample.label)
    }

    fn push(&mut self, at: Nanos, value: f64, stretch: Nanos) {
        match &mut self.moment {
            Some((moment, sum)) if *moment == at => *sum += value,
            _ => {
                self.values.extend(self.moment.map(|it| it.1));
                let number = at.0 / stretch.0;
                if number != self.number {
                    self.finish(stretch);
                    self.number = number;
                }
                self.moment = Some((at, value));
            }
        }
    }

    fn close(&mut self, stretch: Nanos) {
        self.values.extend(self.moment.take().map(|it| it.1));
        self.finish(stretch);
    }

    fn finish(&mut self, stretch: Nanos) {
        let median = median(self.values.drain(..));
        self.points.extend(median.map(|it| (hours(self.number, stretch), it)));
    }
}

#[cfg(test)]
mod tests;
