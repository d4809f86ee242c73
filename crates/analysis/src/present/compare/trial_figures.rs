//! Figures and time bins of each trial that a comparison keeps
//!
//! Figures come from all histograms of a trial. The seconds are condensed: a second takes a megabyte in a
//! second-by-second file, but a few kilobytes here.

use crate::facts::outage;
use crate::facts::trial::TrialFacts;
use crate::facts::usage;
use model::comparison::Metric;
use model::{Interval, LatencyHistogram, Nanos, Outage, PerSecond, ScriptCounts, Tick};

/// Maximum number of time bins. If there are more, neighbours are merged pairwise.
const BINS_MAX: usize = 600;

/// Figures of one valid trial.
#[derive(Clone, Debug, Default)]
pub struct TrialFigures {
    /// Repetition, from 0.
    pub repetition: u32,
    /// Start of the trial, as Unix time in milliseconds.
    pub begun_ms: u64,
    /// Figures of all operations together, followed by those of each operation if there are several.
    pub groups: Vec<OperationFigures>,
    /// CPUs used by the generator, by the nodes before PostgreSQL, and by PostgreSQL.
    pub processors: [Option<f64>; 3],
}

/// Number of CPUs used, as in [`TrialFigures::processors`].
pub fn processors(trial: &TrialFacts<'_>) -> [Option<f64>; 3] {
    [usage::generator_processors(trial), usage::upstream_processors(trial), usage::server_processors(trial)]
}

/// Figures of one operation in one trial, or of all operations.
#[derive(Clone, Debug, Default)]
pub struct OperationFigures {
    /// Name of the operation; `None` for all operations together.
    pub operation: Option<String>,
    pub tps: PerSecond,
    /// Number of failed, unknown and dropped arrivals, and number of all arrivals.
    pub errors: (u64, u64),
    /// p50, p90, p99 and p99.9 of the response time, and p99 of the service time. A quantile is absent with fewer than
    /// ten samples beyond it. It is a lower bound if some arrivals were not answered, or if an outage kept users from
    /// arriving.
    pub times: [Option<Nanos>; 5],
    /// Time bins of equal length, in order of time.
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

/// Bucket of arrivals without an answer: one hour, the largest time that a histogram can hold.
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
    names: Vec<String>,
    total: Interval,
    /// Time bins, by operation.
    bins: Vec<Vec<TimeBin>>,
    /// Number of ticks per bin, and number of ticks in the last bin.
    each: usize,
    filled: usize,
    /// Number of bins at which neighbours are merged.
    bins_max: usize,
    /// Total length of all whole ticks, in seconds.
    seconds: f64,
    ticks: usize,
}

impl TrialCollector {
    /// Collector for trials whose operations have these `names`, in the order of the intervals' cells.
    pub fn new(names: Vec<String>) -> TrialCollector {
        let total = Interval::new(&vec![0; names.len()]);
        let bins = vec![Vec::new(); names.len()];
        TrialCollector { names, total, bins, each: 1, filled: 0, bins_max: BINS_MAX, seconds: 0.0, ticks: 0 }
    }

    pub fn push(&mut self, tick: &Tick) {
        let interval = &tick.interval;
        self.total.merge(interval);
        let duration = (interval.to - interval.from).as_secs_f64();
        // The time after the last whole second counts in the figures, but not as a second.
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

    /// Figures of the trial. `window` is the time from the first intended start to the end of the window. `outages` are
    /// those of the trial's summary.
    pub fn finish(self, window: Nanos, outages: &[Outage]) -> Vec<OperationFigures> {
        let bin = if self.ticks == 0 { 0.0 } else { self.seconds / self.ticks as f64 * self.each as f64 };
        let mut all_cells = Interval::new(&[0]).scripts.remove(0);
        self.total.scripts.iter().for_each(|it| all_cells.merge(it));
        let mut total_bins = self.bins.first().cloned().unwrap_or_default();
        for bins in self.bins.iter().skip(1) {
            total_bins.iter_mut().zip(bins).for_each(|(sum, it)| sum.add(it));
        }
        let window = (window, outages);
        let mut groups = vec![group(None, &all_cells, window, total_bins, bin)];
        if self.names.len() > 1 {
            let each = self.names.into_iter().zip(&self.total.scripts).zip(self.bins);
            groups.extend(each.map(|((name, cell), bins)| group(Some(name), cell, window, bins, bin)));
        }
        // A last bin shorter than the others would look slow.
        if self.filled > 0 {
            groups.iter_mut().for_each(|it| drop(it.bins.pop()));
        }
        groups
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

fn group(
    operation: Option<String>,
    counts: &ScriptCounts,
    (window, outages): (Nanos, &[Outage]),
    bins: Vec<TimeBin>,
    bin: f64,
) -> OperationFigures {
    let seconds = window.as_secs_f64();
    let delivered = counts.ok.saturating_sub(counts.late) as f64;
    let longest = window.max(counts.response.max().unwrap_or_default());
    let [p50, p90, p99, p999] = [0.5, 0.9, 0.99, 0.999].map(|q| {
        let beyond = model::is_quantile_unanswered(q, counts.response.count(), counts.unanswered());
        let quantile =
            counts.response.quantile_with_unanswered(q, counts.unanswered()).or(beyond.then_some(longest))?;
        Some(quantile.max(outage::wait_quantile(outages, window, q)))
    });
    OperationFigures {
        operation,
        tps: PerSecond(if seconds > 0.0 { delivered / seconds } else { 0.0 }),
        errors: (counts.arrivals() - counts.ok, counts.arrivals()),
        times: [p50, p90, p99, p999, counts.service.quantile(0.99)],
        bins,
        bin,
    }
}

/// Value of a figure in one trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FigureValue {
    pub value: f64,
    /// Standard deviation that counting alone causes.
    pub floor: f64,
}

/// Relative precision of a histogram with three digits.
const PRECISION: f64 = 5e-4;

impl TrialFigures {
    /// Value of a metric; `None` if it was not measured or is unknown.
    pub fn value(&self, metric: Metric, operation: Option<&str>) -> Option<FigureValue> {
        let group = self.group(operation)?;
        let value = match metric {
            Metric::Tps => group.tps.0,
            Metric::P50 => group.times[0]?.as_secs_f64(),
            Metric::P90 => group.times[1]?.as_secs_f64(),
            Metric::P99 => group.times[2]?.as_secs_f64(),
            Metric::P999 => group.times[3]?.as_secs_f64(),
            Metric::ServiceP99 => group.times[4]?.as_secs_f64(),
            Metric::Errors => {
                let (errors, executed) = group.errors;
                let of = executed as f64;
                // Chance explains a difference of one error.
                let floor = (errors.max(1) as f64).sqrt() / of;
                return (executed > 0).then_some(FigureValue { value: errors as f64 / of, floor });
            }
            Metric::GeneratorCpu | Metric::PoolerCpu | Metric::ServerCpu if operation.is_some() => {
                return None;
            }
            Metric::GeneratorCpu => self.processors[0]?,
            Metric::PoolerCpu => self.processors[1]?,
            Metric::ServerCpu => self.processors[2]?,
        };
        Some(FigureValue { value, floor: PRECISION })
    }

    pub fn group(&self, operation: Option<&str>) -> Option<&OperationFigures> {
        self.groups.iter().find(|it| it.operation.as_deref() == operation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut gather = TrialCollector { bins_max: 10, ..TrialCollector::new(vec!["a".into(), "b".into()]) };
        (0..ticks).for_each(|second| gather.push(&tick(second, 1 + second % 3, 20)));
        gather.finish(Nanos::from_secs(ticks), &[])
    }

    #[test]
    fn collects_figures_and_bins_of_each_operation() {
        let groups = collected(18);
        let line = |figures: &OperationFigures| {
            let (times, bins) =
                (figures.times.map(|it| it.map_or(0.0, Nanos::as_millis_f64).round()), figures.bins.len());
            format!(
                "{:?} {} {:?} {times:?} {bins} of {} s",
                figures.operation, figures.tps.0, figures.errors, figures.bin
            )
        };
        assert_eq!(
            groups.iter().map(line).collect::<Vec<_>>(),
            [
                "None 20 (18, 378) [2.0, 3.0, 18000.0, 18000.0, 0.0] 18 of 1 s",
                "Some(\"a\") 20 (0, 360) [2.0, 3.0, 0.0, 0.0, 0.0] 18 of 1 s",
                "Some(\"b\") 0 (18, 18) [18000.0, 18000.0, 18000.0, 18000.0, 0.0] 18 of 1 s",
            ]
        );
        assert_eq!(groups[0].bins[3].executed, 21);
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
        let mut gather = TrialCollector::new(vec!["a".into(), "b".into()]);
        gather.push(&tick(0, 1, 5));
        let mut late = tick(1, 1, 3);
        late.interval.to = Nanos(1_010_000_000);
        gather.push(&late);
        let figures = &gather.finish(Nanos::from_secs(1), &[])[1];
        assert_eq!((figures.bins.len(), figures.errors), (1, (0, 8)));
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
