//! Figures and time bins of each trial that a comparison keeps
//!
//! Figures come from the trial's summary, as in the matrix. Bins are stored only for comparisons by time. They are
//! condensed, because the full histograms of a second take a megabyte of memory. A condensed second takes a few
//! kilobytes.

use crate::facts::figure::response_quantile;
use crate::facts::trial::TrialFacts;
use crate::facts::usage;
use crate::stats::repeats::PRECISION;
use model::comparison::Metric;
use model::summary::{GroupSummary, LoadModelSummary};
use model::{LatencyHistogram, Nanos, PerSecond, ReplayFigures, ScriptCounts, Summary, Tick};

/// Maximum number of time bins. If there are more, neighbours are merged pairwise.
const BINS_MAX: usize = 600;

/// Figures of one valid trial.
#[derive(Clone, Debug, Default)]
pub struct TrialFigures {
    /// Repetition, from 0.
    pub repetition: u32,
    /// Start of the trial, as Unix time in milliseconds.
    pub begun_ms: u64,
    /// Figures of all operations together, followed by the figures of each operation if there are several operations.
    pub groups: Vec<OperationFigures>,
    /// CPUs used by the generator, by the nodes in front of PostgreSQL, and by PostgreSQL.
    pub processors: [Option<f64>; 3],
}

/// Figures of one operation in one trial, or of all operations.
#[derive(Clone, Debug, Default)]
pub struct OperationFigures {
    /// Name of the operation; `None` for all operations together.
    pub operation: Option<String>,
    /// `None` for one statement of a replay, whose rate the recording determines.
    pub tps: Option<PerSecond>,
    /// Number of failed, unknown and dropped arrivals, and number of all arrivals.
    pub errors: (u64, u64),
    /// Number of results of replayed requests that differ from the recorded ones, and number of all results; `None`
    /// without a recording.
    pub differences: Option<(u64, u64)>,
    /// p50, p90, p99 and p99.9 of the response time, and p50 and p99 of the service time. One statement of a replay has
    /// no response time, because it would include the wait for other statements. A quantile is `None` with fewer than
    /// ten samples beyond it. It is a lower bound if it falls among unanswered arrivals, or if an outage kept users
    /// from arriving.
    pub times: [Option<Nanos>; 6],
    /// Time bins of equal length, in order of time; empty unless a comparison by time needs them.
    pub bins: Vec<TimeBin>,
    /// Length of a bin, in seconds.
    pub bin: f64,
}

/// Counts of one time bin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeBin {
    /// Number of transactions that succeeded within the window.
    pub delivered: u64,
    pub errors: u64,
    /// Number of arrivals.
    pub executed: u64,
    pub response: BucketCounts,
    pub service: BucketCounts,
}

/// Condensed distribution: fine buckets of durations and their counts, ascending. A bucket is at most 0.4 % wide.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BucketCounts(pub Vec<(u16, u32)>);

/// Bucket of arrivals without a response: one hour, the largest time that a histogram can hold.
const UNANSWERED_BUCKET: u16 = 41 * BUCKETS_PER_OCTAVE as u16 + 163;

/// Number of buckets per octave.
const BUCKETS_PER_OCTAVE: u64 = 256;

impl BucketCounts {
    fn from_histogram(histogram: &LatencyHistogram) -> BucketCounts {
        let mut all: Vec<(u16, u32)> = Vec::new();
        for (value, count) in histogram.counts() {
            let (bucket, count) = (bucket(value), u32::try_from(count).unwrap_or(u32::MAX));
            match all.last_mut() {
                Some(last) if last.0 == bucket => last.1 = last.1.saturating_add(count),
                _ => all.push((bucket, count)),
            }
        }
        BucketCounts(all)
    }

    fn add(&mut self, other: &BucketCounts) {
        let mut sum = Vec::with_capacity(self.0.len() + other.0.len());
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        loop {
            let next = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x.0 == y.0 => {
                    (x.0, a.next().map_or(0, |it| it.1) + b.next().map_or(0, |it| it.1))
                }
                (Some(x), Some(y)) if x.0 < y.0 => *a.next().expect("`peek` returned an item"),
                (_, Some(_)) => *b.next().expect("`peek` returned an item"),
                (Some(_), None) => *a.next().expect("`peek` returned an item"),
                (None, None) => break,
            };
            sum.push(next);
        }
        self.0 = sum;
    }
}

/// Bucket of a value, from its octave and its position within the octave.
pub(super) fn bucket(value: Nanos) -> u16 {
    let value = value.0.max(1);
    let octave = u64::from(value.ilog2());
    let part = if octave >= 8 {
        (value >> (octave - 8)) - BUCKETS_PER_OCTAVE
    } else {
        (value << (8 - octave)) - BUCKETS_PER_OCTAVE
    };
    (octave * BUCKETS_PER_OCTAVE + part) as u16
}

/// Start of a bucket, in nanoseconds.
pub fn bucket_start(bucket: u16) -> f64 {
    let (octave, part) = (bucket / BUCKETS_PER_OCTAVE as u16, bucket % BUCKETS_PER_OCTAVE as u16);
    f64::from(octave).exp2() * (1.0 + f64::from(part) / BUCKETS_PER_OCTAVE as f64)
}

/// Collects a trial's ticks in order of time.
#[derive(Debug)]
pub struct TrialCollector {
    /// Time bins, by operation.
    bins: Vec<Vec<TimeBin>>,
    /// Number of ticks per bin.
    each: usize,
    filled: usize,
    /// Number of bins above which neighbouring bins are merged.
    bins_max: usize,
    /// Total length of all whole ticks, in seconds.
    seconds: f64,
    ticks: usize,
}

impl TrialCollector {
    /// Collector for trials with this number of operations.
    pub fn new(operations: usize) -> TrialCollector {
        let bins = vec![Vec::new(); operations];
        TrialCollector { bins, each: 1, filled: 0, bins_max: BINS_MAX, seconds: 0.0, ticks: 0 }
    }

    pub fn push(&mut self, tick: &Tick) {
        let interval = &tick.interval;
        let duration = (interval.to - interval.from).as_secs_f64();
        // The time after the last whole second does not count as a second.
        if duration < 0.5 {
            return;
        }
        self.seconds += duration;
        self.ticks += 1;
        let new = self.filled == 0;
        for (bins, cell) in self.bins.iter_mut().zip(&interval.scripts) {
            let bin = bin(cell);
            match bins.last_mut() {
                Some(last) if !new => last.add(&bin),
                _ => bins.push(bin),
            }
        }
        self.filled = (self.filled + 1) % self.each;
        if self.filled == 0 && self.bins.first().is_some_and(|it| it.len() == 2 * self.bins_max) {
            self.bins.iter_mut().for_each(merge_pairs);
            self.each *= 2;
        }
    }

    /// Adds the bins to the figures of the same trial.
    pub fn finish(self, figures: &mut TrialFigures) {
        let bin = if self.ticks == 0 { 0.0 } else { self.seconds / self.ticks as f64 * self.each as f64 };
        let mut total_bins = self.bins.first().cloned().unwrap_or_default();
        for bins in self.bins.iter().skip(1) {
            total_bins.iter_mut().zip(bins).for_each(|(sum, it)| sum.add(it));
        }
        for (group, mut bins) in figures.groups.iter_mut().zip(std::iter::once(total_bins).chain(self.bins)) {
            // Discard an incomplete last bin, because its throughput would look low.
            if self.filled > 0 {
                bins.pop();
            }
            (group.bins, group.bin) = (bins, bin);
        }
    }
}

/// Merges neighbouring bins pairwise.
fn merge_pairs(bins: &mut Vec<TimeBin>) {
    let mut joined: Vec<TimeBin> = Vec::with_capacity(bins.len() / 2);
    for (n, bin) in std::mem::take(bins).into_iter().enumerate() {
        match joined.last_mut() {
            Some(last) if n % 2 == 1 => last.add(&bin),
            _ => joined.push(bin),
        }
    }
    *bins = joined;
}

fn bin(counts: &ScriptCounts) -> TimeBin {
    let mut response = BucketCounts::from_histogram(&counts.response);
    if counts.unanswered() > 0 {
        response.add(&BucketCounts(vec![(
            UNANSWERED_BUCKET,
            u32::try_from(counts.unanswered()).unwrap_or(u32::MAX),
        )]));
    }
    TimeBin {
        delivered: counts.ok.saturating_sub(counts.late),
        errors: counts.arrivals() - counts.ok,
        executed: counts.arrivals(),
        response,
        service: BucketCounts::from_histogram(&counts.service),
    }
}

impl TimeBin {
    fn add(&mut self, other: &TimeBin) {
        self.delivered += other.delivered;
        self.errors += other.errors;
        self.executed += other.executed;
        self.response.add(&other.response);
        self.service.add(&other.service);
    }
}

/// Figures of all operations together, then of each operation if there are several.
fn groups(summary: &Summary, replayed: &[ReplayFigures]) -> Vec<OperationFigures> {
    let mut groups = vec![group(None, &summary.total, replayed.iter(), summary)];
    if summary.scripts.len() > 1 {
        let operations = summary.plan.scripts.iter().zip(&summary.scripts);
        groups.extend(operations.enumerate().map(|(number, (script, results))| {
            let replayed = replayed.iter().filter(|it| usize::from(it.operation) == number);
            group(Some(&script.name), &results.group, replayed, summary)
        }));
    }
    groups
}

fn group<'a>(
    operation: Option<&str>,
    group: &GroupSummary,
    replayed: impl Iterator<Item = &'a ReplayFigures>,
    summary: &Summary,
) -> OperationFigures {
    let of_replay = operation.is_some() && matches!(summary.plan.model, LoadModelSummary::Replay { .. });
    let [p50, p90, p99, p999] = [0.5, 0.9, 0.99, 0.999]
        .map(|q| response_quantile(summary, &group.response, q).filter(|_| !of_replay));
    OperationFigures {
        operation: operation.map(str::to_owned),
        tps: Some(group.tps).filter(|_| !of_replay),
        errors: (group.counts.arrivals() - group.counts.ok, group.counts.arrivals()),
        differences: replayed.map(|it| (it.differing(), it.answers)).reduce(|a, b| (a.0 + b.0, a.1 + b.1)),
        times: [p50, p90, p99, p999, group.service.p50, group.service.p99],
        ..OperationFigures::default()
    }
}

/// A count as a share of a total; `None` if the total is 0.
fn share((count, total): (u64, u64)) -> Option<FigureValue> {
    // At least one, because chance explains a difference of one.
    let floor = (count.max(1) as f64).sqrt() / total as f64;
    (total > 0).then(|| FigureValue { value: count as f64 / total as f64, floor })
}

/// Value of a figure in one trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FigureValue {
    pub value: f64,
    /// Standard deviation of the value that counting alone causes.
    pub floor: f64,
}

impl TrialFigures {
    /// Figures of a trial, without bins; `None` if the trial is invalid or was aborted.
    pub fn from_facts(trial: &TrialFacts<'_>) -> Option<TrialFigures> {
        let summary = trial.valid()?;
        Some(TrialFigures {
            repetition: trial.repetition,
            begun_ms: trial.begun_ms,
            groups: groups(summary, trial.replayed),
            processors: [
                usage::generator_processors(trial),
                usage::upstream_processors(trial),
                usage::server_processors(trial),
            ],
        })
    }

    /// Value of a metric; `None` if it was not measured or is unknown.
    pub fn value(&self, metric: Metric, operation: Option<&str>) -> Option<FigureValue> {
        let group = self.group(operation)?;
        let value = match metric {
            Metric::Tps => group.tps?.0,
            Metric::P50 => group.times[0]?.as_secs_f64(),
            Metric::P90 => group.times[1]?.as_secs_f64(),
            Metric::P99 => group.times[2]?.as_secs_f64(),
            Metric::P999 => group.times[3]?.as_secs_f64(),
            Metric::ServiceP50 => group.times[4]?.as_secs_f64(),
            Metric::ServiceP99 => group.times[5]?.as_secs_f64(),
            Metric::Errors => return share(group.errors),
            Metric::Differences => return share(group.differences?),
            Metric::GeneratorCpu | Metric::PoolerCpu | Metric::ServerCpu if operation.is_some() => {
                return None;
            }
            Metric::GeneratorCpu => self.processors[0]?,
            Metric::PoolerCpu => self.processors[1]?,
            Metric::ServerCpu => self.processors[2]?,
        };
        Some(FigureValue { value, floor: PRECISION })
    }

    /// Lower bound of a response-time quantile, in seconds: the highest quantile below it that has enough samples.
    pub fn lower_bound(&self, metric: Metric, operation: Option<&str>) -> Option<FigureValue> {
        let lower = match metric {
            Metric::P90 => &[Metric::P50][..],
            Metric::P99 => &[Metric::P90, Metric::P50],
            Metric::P999 => &[Metric::P99, Metric::P90, Metric::P50],
            _ => &[],
        };
        lower.iter().find_map(|it| self.value(*it, operation))
    }

    pub fn group(&self, operation: Option<&str>) -> Option<&OperationFigures> {
        self.groups.iter().find(|it| it.operation.as_deref() == operation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{closed_plan, quiet_measurement, replay_plan};
    use crate::verdict::summary::summarise;
    use model::Interval;
    use model::summary::Server;

    /// Second in which every transaction of operation 0 took `millis` ms.
    fn tick(second: u64, millis: u64, count: u64) -> Tick {
        let mut interval = Interval::new(&[0, 0]);
        (interval.from, interval.to) = (Nanos::from_secs(second), Nanos::from_secs(second + 1));
        interval.scripts[0].ok = count;
        (0..count).for_each(|_| interval.scripts[0].response.record(Nanos::from_millis(millis)));
        interval.scripts[1].failed.add_other(1);
        Tick { second, interval, in_flight: 0, samples: Vec::new() }
    }

    fn collected(ticks: u64) -> Vec<OperationFigures> {
        let mut collector = TrialCollector { bins_max: 10, ..TrialCollector::new(2) };
        (0..ticks).for_each(|second| collector.push(&tick(second, 1 + second % 3, 20)));
        finished(collector)
    }

    fn finished(collector: TrialCollector) -> Vec<OperationFigures> {
        let mut figures =
            TrialFigures { groups: vec![OperationFigures::default(); 3], ..TrialFigures::default() };
        collector.finish(&mut figures);
        figures.groups
    }

    #[test]
    fn collects_bins_of_each_operation() {
        let groups = collected(18);
        let bins: Vec<(usize, f64)> = groups.iter().map(|it| (it.bins.len(), it.bin)).collect();
        assert_eq!(bins, [(18, 1.0); 3]);
        assert_eq!([0, 1, 2].map(|group| groups[group].bins[3].executed), [21, 20, 1]);
    }

    /// A recording determines how often a statement is sent, and its response time includes the wait for others.
    #[test]
    fn judges_replayed_statements_by_service_time_and_result() {
        let replayed = |operation, answers, other_status, larger| ReplayFigures {
            operation,
            answers,
            other_status,
            failed: 0,
            succeeded: 0,
            sized: answers - other_status,
            smaller: 0,
            larger,
            measured: 1,
            recorded: 1,
        };
        let values = |plan, replayed: &[ReplayFigures]| -> Vec<String> {
            let summary = summarise(&quiet_measurement(), Server::default(), plan);
            let groups = groups(&summary, replayed);
            let names: Vec<Option<String>> = groups.iter().map(|it| it.operation.clone()).collect();
            let figures = TrialFigures { groups, ..TrialFigures::default() };
            let known = |operation: &Option<String>| {
                let metrics =
                    Metric::ALL.into_iter().filter(|it| figures.value(*it, operation.as_deref()).is_some());
                metrics.map(Metric::name).collect::<Vec<_>>().join(" ")
            };
            names.iter().map(known).collect()
        };
        let all = "tps p50 p90 p99 p99.9 service p50 service p99 errors";
        // The operations have too few samples for p99.9.
        let of_operation = "tps p50 p90 p99 service p50 service p99 errors";
        assert_eq!(values(closed_plan(), &[]), [all, of_operation, of_operation]);
        let differences = format!("{all} differences");
        let figures = [replayed(0, 100, 1, 2), replayed(1, 300, 0, 0)];
        let of_statement = "service p50 service p99 errors differences";
        assert_eq!(values(replay_plan(), &figures), [&*differences, of_statement, of_statement]);

        let summary = summarise(&quiet_measurement(), Server::default(), replay_plan());
        let figures = TrialFigures { groups: groups(&summary, &figures), ..TrialFigures::default() };
        let share = |operation| figures.value(Metric::Differences, operation).map(|it| it.value);
        assert_eq!([None, Some("a.sql"), Some("b.sql")].map(share), [0.0075, 0.03, 0.0].map(Some));
    }

    #[test]
    fn merges_bins_of_long_trials() {
        for (ticks, bins, seconds) in [(19, 19, 1.0), (20, 10, 2.0), (61, 15, 4.0), (200, 12, 16.0)] {
            let figures = &collected(ticks)[0];
            assert_eq!((figures.bins.len(), figures.bin), (bins, seconds), "{ticks}");
            let delivered: u64 = figures.bins.iter().map(|it| it.delivered).sum();
            assert_eq!(delivered, 20 * seconds as u64 * bins as u64, "{ticks}");
        }
    }

    #[test]
    fn ignores_ticks_shorter_than_a_second() {
        let mut collector = TrialCollector::new(2);
        collector.push(&tick(0, 1, 5));
        let mut late = tick(1, 1, 3);
        late.interval.to = Nanos(1_010_000_000);
        collector.push(&late);
        assert_eq!(finished(collector)[1].bins.len(), 1);
    }

    #[test]
    fn bucket_starts_are_not_above_their_values() {
        for value in [1, 2, 3, 255, 256, 257, 1000, 123_456, 1_000_000, 59_999_999_999, 3_600_000_000_000] {
            let begin = bucket_start(bucket(Nanos(value)));
            assert!(begin <= value as f64 && value as f64 <= begin * 1.004, "{value} {begin}");
        }
        let mut a = BucketCounts(vec![(1, 2), (5, 1)]);
        a.add(&BucketCounts(vec![(0, 1), (5, 3), (9, 1)]));
        assert_eq!(a.0, [(0, 1), (1, 2), (5, 4), (9, 1)]);
    }
}
