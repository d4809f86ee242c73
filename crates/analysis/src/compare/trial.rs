//! What is kept of one trial to compare it with others?
//!
//! Its figures, from all its histograms together, and its seconds in short: a second of a second-by-second file is a
//! megabyte, and here a few kilobytes.

use crate::finding::{TrialFacts, host};
use crate::outage;
use model::comparison::Metric;
use model::{Cell, Interval, Latency, Nanos, Outage, PerSecond, Tick};

/// More stretches of time than this are joined, two by two.
const MOST: usize = 600;

/// One valid trial.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    /// From 0.
    pub repetition: u32,
    /// Unix time in milliseconds.
    pub begun_ms: u64,
    /// All operations together first, then each where there are several.
    pub groups: Vec<Group>,
    /// Used by the generator, by what stands before PostgreSQL, and by PostgreSQL.
    pub processors: [Option<f64>; 3],
}

/// As [`Trial::processors`].
pub fn processors(trial: &TrialFacts<'_>) -> [Option<f64>; 3] {
    [host::generator(trial), host::before(trial), host::server(trial)]
}

/// What came of one operation in one trial, or of all.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Of all together when `None`.
    pub operation: Option<String>,
    pub tps: PerSecond,
    /// Failed, unknown and dropped, and all arrivals.
    pub errors: (u64, u64),
    /// p50, p90, p99, p99.9 of response time and p99 of service time; absent with fewer than ten samples beyond. They are
    /// lower bounds where arrivals were not answered, or an outage kept users from arriving.
    pub times: [Option<Nanos>; 5],
    /// In order of time, of equal length.
    pub bins: Vec<Bin>,
    /// Seconds that each stands for.
    pub bin: f64,
}

/// A stretch of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bin {
    /// Ended well within the window.
    pub delivered: u64,
    pub errors: u64,
    /// Arrivals.
    pub executed: u64,
    pub response: Counts,
    pub service: Counts,
}

/// A distribution in short: the fine bucket of each duration and how often it is there, ascending. A bucket is at most 0.4 %
/// wide.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts(pub Vec<(u16, u32)>);

/// Bucket of arrivals without an answer: an hour, the longest time that a histogram holds.
const LONGEST: u16 = 41 * FINE as u16 + 163;

/// Buckets of one octave.
const FINE: u64 = 256;

impl Counts {
    fn of(it: &Latency) -> Counts {
        let mut all: Vec<(u16, u32)> = Vec::new();
        for (value, count) in it.counts() {
            let (bucket, count) = (bucket(value), u32::try_from(count).unwrap_or(u32::MAX));
            match all.last_mut() {
                Some(last) if last.0 == bucket => last.1 = last.1.saturating_add(count),
                _ => all.push((bucket, count)),
            }
        }
        Counts(all)
    }

    fn add(&mut self, other: &Counts) {
        let mut sum = Vec::with_capacity(self.0.len() + other.0.len());
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        loop {
            let next = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x.0 == y.0 => {
                    (x.0, a.next().map_or(0, |it| it.1) + b.next().map_or(0, |it| it.1))
                }
                (Some(x), Some(y)) if x.0 < y.0 => *a.next().expect("it was seen"),
                (_, Some(_)) => *b.next().expect("it was seen"),
                (Some(_), None) => *a.next().expect("it was seen"),
                (None, None) => break,
            };
            sum.push(next);
        }
        self.0 = sum;
    }
}

/// The octave and which of its equal parts.
pub(super) fn bucket(value: Nanos) -> u16 {
    let value = value.0.max(1);
    let octave = u64::from(value.ilog2());
    let part = if octave >= 8 { (value >> (octave - 8)) - FINE } else { (value << (8 - octave)) - FINE };
    (octave * FINE + part) as u16
}

/// Where a bucket begins, nanoseconds.
pub fn begin(bucket: u16) -> f64 {
    let (octave, part) = (bucket / FINE as u16, bucket % FINE as u16);
    f64::from(octave).exp2() * (1.0 + f64::from(part) / FINE as f64)
}

/// Takes a trial's ticks, one after the other.
#[derive(Debug)]
pub struct Gather {
    names: Vec<String>,
    whole: Interval,
    /// By operation.
    bins: Vec<Vec<Bin>>,
    /// Ticks that one bin stands for, and those that the last one has.
    each: usize,
    filled: usize,
    /// Twice as many bins are joined.
    most: usize,
    /// Of all whole ticks.
    lasting: f64,
    ticks: usize,
}

impl Gather {
    /// `names`: of the operations, in the order of the intervals' cells.
    pub fn new(names: Vec<String>) -> Gather {
        let whole = Interval::new(&vec![0; names.len()]);
        let bins = vec![Vec::new(); names.len()];
        Gather { names, whole, bins, each: 1, filled: 0, most: MOST, lasting: 0.0, ticks: 0 }
    }

    pub fn tick(&mut self, tick: &Tick) {
        let it = &tick.interval;
        self.whole.merge(it);
        let lasting = (it.to - it.from).as_secs_f64();
        // What came after the last whole second is in the figures, but it is no second.
        if lasting < 0.5 {
            return;
        }
        self.lasting += lasting;
        self.ticks += 1;
        let new = self.filled == 0;
        for (bins, cell) in self.bins.iter_mut().zip(&it.cells) {
            let bin = bin(cell);
            match bins.last_mut() {
                Some(last) if !new => last.add(&bin),
                _ => bins.push(bin),
            }
        }
        self.filled = (self.filled + 1) % self.each;
        if self.filled == 0 && self.bins.first().is_some_and(|it| it.len() == 2 * self.most) {
            self.bins.iter_mut().for_each(join);
            self.each *= 2;
        }
    }

    /// `window`: from the first intended start to the end of the window. `outages`: of the trial's summary.
    pub fn finish(self, window: Nanos, outages: &[Outage]) -> Vec<Group> {
        let bin = if self.ticks == 0 { 0.0 } else { self.lasting / self.ticks as f64 * self.each as f64 };
        let mut all_cells = Interval::new(&[0]).cells.remove(0);
        self.whole.cells.iter().for_each(|it| all_cells.merge(it));
        let mut of_all = self.bins.first().cloned().unwrap_or_default();
        for bins in self.bins.iter().skip(1) {
            of_all.iter_mut().zip(bins).for_each(|(sum, it)| sum.add(it));
        }
        let window = (window, outages);
        let mut groups = vec![group(None, &all_cells, window, of_all, bin)];
        if self.names.len() > 1 {
            let each = self.names.into_iter().zip(&self.whole.cells).zip(self.bins);
            groups.extend(each.map(|((name, cell), bins)| group(Some(name), cell, window, bins, bin)));
        }
        // A last bin that is shorter than the others would look like a slow one.
        if self.filled > 0 {
            groups.iter_mut().for_each(|it| drop(it.bins.pop()));
        }
        groups
    }
}

/// Two by two.
fn join(bins: &mut Vec<Bin>) {
    let mut joined: Vec<Bin> = Vec::with_capacity(bins.len() / 2);
    for (n, bin) in std::mem::take(bins).into_iter().enumerate() {
        match joined.last_mut() {
            Some(last) if n % 2 == 1 => last.add(&bin),
            _ => joined.push(bin),
        }
    }
    *bins = joined;
}

fn bin(it: &Cell) -> Bin {
    let mut response = Counts::of(&it.response);
    if it.unanswered() > 0 {
        response.add(&Counts(vec![(LONGEST, u32::try_from(it.unanswered()).unwrap_or(u32::MAX))]));
    }
    Bin {
        delivered: it.ok.saturating_sub(it.late),
        errors: it.arrivals() - it.ok,
        executed: it.arrivals(),
        response,
        service: Counts::of(&it.service),
    }
}

impl Bin {
    fn add(&mut self, other: &Bin) {
        self.delivered += other.delivered;
        self.errors += other.errors;
        self.executed += other.executed;
        self.response.add(&other.response);
        self.service.add(&other.service);
    }
}

fn group(
    operation: Option<String>,
    it: &Cell,
    (window, outages): (Nanos, &[Outage]),
    bins: Vec<Bin>,
    bin: f64,
) -> Group {
    let seconds = window.as_secs_f64();
    let delivered = it.ok.saturating_sub(it.late) as f64;
    let longest = window.max(it.response.max().unwrap_or_default());
    let [p50, p90, p99, p999] = [0.5, 0.9, 0.99, 0.999].map(|q| {
        let beyond = model::is_unanswered(q, it.response.count(), it.unanswered());
        let seen = it.response.quantile_with(q, it.unanswered()).or(beyond.then_some(longest))?;
        Some(seen.max(outage::wait(outages, window, q)))
    });
    Group {
        operation,
        tps: PerSecond(if seconds > 0.0 { delivered / seconds } else { 0.0 }),
        errors: (it.arrivals() - it.ok, it.arrivals()),
        times: [p50, p90, p99, p999, it.service.quantile(0.99)],
        bins,
        bin,
    }
}

/// A figure of one trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    pub value: f64,
    /// How far it deviates by how it is counted alone.
    pub floor: f64,
}

/// Three digits of a histogram, as a part of the value.
const PRECISION: f64 = 5e-4;

impl Trial {
    /// `None` where it was not measured, or cannot be told.
    pub fn value(&self, metric: Metric, operation: Option<&str>) -> Option<Value> {
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
                // One more or less is chance.
                let floor = (errors.max(1) as f64).sqrt() / of;
                return (executed > 0).then_some(Value { value: errors as f64 / of, floor });
            }
            Metric::GeneratorCpu | Metric::BeforeCpu | Metric::ServerCpu if operation.is_some() => {
                return None;
            }
            Metric::GeneratorCpu => self.processors[0]?,
            Metric::BeforeCpu => self.processors[1]?,
            Metric::ServerCpu => self.processors[2]?,
        };
        Some(Value { value, floor: PRECISION })
    }

    pub fn group(&self, operation: Option<&str>) -> Option<&Group> {
        self.groups.iter().find(|it| it.operation.as_deref() == operation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A second in which operation 0 took so many milliseconds each time.
    fn tick(second: u64, millis: u64, count: u64) -> Tick {
        let mut interval = Interval::new(&[0, 0]);
        (interval.from, interval.to) = (Nanos::from_secs(second), Nanos::from_secs(second + 1));
        interval.cells[0].ok = count;
        (0..count).for_each(|_| interval.cells[0].response.record(Nanos::from_millis(millis)));
        interval.cells[1].failed.add_other(1);
        Tick { second, interval, in_flight: 0, samples: Vec::new() }
    }

    fn gathered(ticks: u64) -> Vec<Group> {
        let mut gather = Gather { most: 10, ..Gather::new(vec!["a".into(), "b".into()]) };
        (0..ticks).for_each(|second| gather.tick(&tick(second, 1 + second % 3, 20)));
        gather.finish(Nanos::from_secs(ticks), &[])
    }

    #[test]
    fn figures_and_bins_of_each_operation() {
        let groups = gathered(18);
        let line = |it: &Group| {
            let (times, bins) =
                (it.times.map(|it| it.map_or(0.0, Nanos::as_millis_f64).round()), it.bins.len());
            format!("{:?} {} {:?} {times:?} {bins} of {} s", it.operation, it.tps.0, it.errors, it.bin)
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
    fn hours_are_no_more_than_minutes() {
        for (ticks, bins, seconds) in [(19, 19, 1.0), (20, 10, 2.0), (61, 15, 4.0), (200, 12, 16.0)] {
            let it = &gathered(ticks)[0];
            assert_eq!((it.bins.len(), it.bin), (bins, seconds), "{ticks}");
            let delivered: u64 = it.bins.iter().map(|it| it.delivered).sum();
            assert_eq!(delivered, 20 * seconds as u64 * bins as u64, "{ticks}");
        }
    }

    #[test]
    fn what_is_shorter_than_a_second_is_none() {
        let mut gather = Gather::new(vec!["a".into(), "b".into()]);
        gather.tick(&tick(0, 1, 5));
        let mut late = tick(1, 1, 3);
        late.interval.to = Nanos(1_010_000_000);
        gather.tick(&late);
        let it = &gather.finish(Nanos::from_secs(1), &[])[1];
        assert_eq!((it.bins.len(), it.errors), (1, (0, 8)));
    }

    #[test]
    fn buckets_begin_where_their_values_are() {
        for value in [1, 2, 3, 255, 256, 257, 1000, 123_456, 1_000_000, 59_999_999_999, 3_600_000_000_000] {
            let begin = begin(bucket(Nanos(value)));
            assert!(begin <= value as f64 && value as f64 <= begin * 1.004, "{value} {begin}");
        }
        let mut a = Counts(vec![(1, 2), (5, 1)]);
        a.add(&Counts(vec![(0, 1), (5, 3), (9, 1)]));
        assert_eq!(a.0, [(0, 1), (1, 2), (5, 4), (9, 1)]);
    }
}
