//! How far might a figure be off, as far as its own seconds can tell?
//!
//! Circular blocks of seconds are drawn again and again within each trial, their histograms merged, and the figure read
//! anew: Politis and Romano, "A circular block-resampling procedure" (1992). Blocks are as long as the seconds'
//! correlation asks for (Carlstein 1986), five seconds and a twelfth of all at least. What blocks of that length still miss of the variance of
//! an autoregressive series of the same correlation is added. Few blocks know their spread badly: Student's distribution
//! with one degree of freedom fewer than there are blocks takes the place of the normal one.

use super::student::Spread;
use super::trial::{Bin, Counts, Group, begin};
use crate::strategy::Chance;
use model::comparison::{self, Metric};

/// Seconds.
const SHORTEST: f64 = 5.0;
/// Fewer blocks say nothing.
const FEWEST: usize = 8;
/// So many know the spread well enough; where there would be more, longer ones miss less of the correlation.
const ENOUGH: f64 = 12.0;
const DRAWS: usize = 400;
/// Points at which a distribution is counted, between the least and the greatest quantile of any block.
const GRID: usize = 96;

/// What the seconds of one side tell of one figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resampled {
    /// Of all seconds together, logarithm but for shares.
    pub value: f64,
    pub error: f64,
    pub blocks: comparison::Blocks,
}

impl Resampled {
    fn freedom(&self) -> f64 {
        f64::from(self.blocks.count) - 1.0
    }

    /// The figure itself.
    pub fn spread(&self) -> Spread {
        Spread { difference: self.value, error: self.error, freedom: self.freedom() }
    }
}

/// By how much `b` lies above `a`.
pub fn between(a: &Resampled, b: &Resampled) -> Spread {
    let [of_a, of_b] = [a, b].map(|it| it.error * it.error);
    let freedom = (of_a + of_b).powi(2) / (of_a * of_a / a.freedom() + of_b * of_b / b.freedom());
    Spread { difference: b.value - a.value, error: (of_a + of_b).sqrt(), freedom }
}

/// One group of each trial. `None` where there is too little: no bins, or too few blocks.
pub fn resample(trials: &[&Group], metric: Metric, seed: u64) -> Option<Resampled> {
    let first = trials.first()?;
    let series: Vec<Series> = match metric.quantile() {
        Some(q) => quantiles(trials, metric, q)?,
        None => trials.iter().map(|it| Series::plain(&it.bins, metric)).collect(),
    };
    let whole = total(series.iter().map(Series::whole))?;
    let value = whole.figure()?;
    let influences: Vec<Vec<f64>> = series.iter().map(|it| it.influence(&whole)).collect();
    let correlation = correlation(&influences);
    let bins: usize = series.iter().map(|it| it.rows.len()).sum();
    let shortest = (SHORTEST / first.bin).ceil().max(1.0);
    let longest = (bins as f64 / FEWEST as f64).floor();
    let by_correlation = (6f64.sqrt() * correlation / (1.0 - correlation * correlation)).powf(2.0 / 3.0)
        * (bins as f64).powf(1.0 / 3.0);
    let wanted = by_correlation.max(bins as f64 / ENOUGH).floor();
    // As long as the correlation asks for, but for a number of blocks that tells anything.
    let length = wanted.ceil().min(longest).max(shortest) as usize;
    let count: usize = series.iter().map(|it| it.rows.len() / length).sum();
    if count < FEWEST || series.iter().any(|it| it.rows.len() < length) {
        return None;
    }
    let mut chance = Chance(seed);
    let blocks: Vec<Vec<Sums>> = series.iter().map(|it| it.blocks(length)).collect();
    let mut drawn = Vec::with_capacity(DRAWS);
    for _ in 0..DRAWS {
        let mut sums: Option<Sums> = None;
        for blocks in &blocks {
            for _ in 0..blocks.len() / length {
                let block = &blocks[chance.below(blocks.len() as u64) as usize];
                match &mut sums {
                    Some(sums) => sums.add(block),
                    None => sums = Some(block.clone()),
                }
            }
        }
        drawn.extend(sums.and_then(|it| it.figure()));
    }
    if drawn.len() < DRAWS * 9 / 10 {
        return None;
    }
    let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
    let variance = drawn.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / (drawn.len() - 1) as f64;
    let few = count as f64 / (count as f64 - 1.0);
    let floor = whole.floor();
    let error = (variance * few / seen(correlation, length)).sqrt().max(floor);
    let blocks = comparison::Blocks { seconds: length as f64 * first.bin, count: count as u32, correlation };
    Some(Resampled { value, error, blocks })
}

/// Share of the variance of a long mean that blocks of an autoregressive series show: of its first order, with correlation
/// `r` ≥ 0 of neighbours.
fn seen(r: f64, length: usize) -> f64 {
    let l = length as f64;
    1.0 - 2.0 * r * (1.0 - r.powf(l)) / (l * (1.0 - r * r))
}

/// Of neighbouring seconds, all trials together; at least 0. What a short series shows is too low on average: Kendall, "Note on
/// bias in the estimation of autocorrelation" (1954).
fn correlation(trials: &[Vec<f64>]) -> f64 {
    let (mut together, mut squares, mut count) = (0.0, 0.0, 0usize);
    for it in trials {
        let mean = it.iter().sum::<f64>() / it.len().max(1) as f64;
        together += it.windows(2).map(|it| (it[0] - mean) * (it[1] - mean)).sum::<f64>();
        squares += it.iter().map(|it| (it - mean).powi(2)).sum::<f64>();
        count += it.len();
    }
    if squares <= 0.0 {
        return 0.0;
    }
    let found = together / squares;
    (found + (1.0 + 3.0 * found) / count as f64).clamp(0.0, 0.95)
}

/// What of a trial's bins one figure needs.
struct Series {
    rows: Vec<Sums>,
}

/// Sums over some bins, from which a figure is read.
#[derive(Clone, Debug)]
enum Sums {
    /// Of so many bins.
    Rate {
        delivered: f64,
        bins: f64,
    },
    Share {
        errors: f64,
        executed: f64,
    },
    /// How many durations are at most as long as each point of the grid, and how many there are.
    Quantile {
        q: f64,
        below: Vec<f64>,
        all: f64,
        grid: std::sync::Arc<[f64]>,
    },
}

impl Sums {
    fn add(&mut self, other: &Sums) {
        match (self, other) {
            (Sums::Rate { delivered, bins }, Sums::Rate { delivered: d, bins: n }) => {
                *delivered += d;
                *bins += n;
            }
            (Sums::Share { errors, executed }, Sums::Share { errors: e, executed: n }) => {
                *errors += e;
                *executed += n;
            }
            (Sums::Quantile { below, all, .. }, Sums::Quantile { below: b, all: n, .. }) => {
                below.iter_mut().zip(b).for_each(|(sum, it)| *sum += it);
                *all += n;
            }
            _ => unreachable!("sums of one series are alike"),
        }
    }

    /// `None` where it is not above 0, or there is nothing.
    fn figure(&self) -> Option<f64> {
        match self {
            Sums::Rate { delivered, bins } => (*delivered > 0.0).then(|| (delivered / bins).ln()),
            Sums::Share { errors, executed } => (*executed > 0.0).then(|| errors / executed),
            Sums::Quantile { q, below, all, grid } => {
                let rank = q * all;
                let at = below.partition_point(|it| *it < rank);
                if *all <= 0.0 || at == grid.len() {
                    return (*all > 0.0).then(|| grid[grid.len() - 1]);
                }
                if at == 0 {
                    return Some(grid[0]);
                }
                let part = (rank - below[at - 1]) / (below[at] - below[at - 1]);
                Some(grid[at - 1] + part * (grid[at] - grid[at - 1]))
            }
        }
    }

    /// What counting or the histogram alone leaves open.
    fn floor(&self) -> f64 {
        match self {
            Sums::Rate { .. } | Sums::Quantile { .. } => 5e-4,
            Sums::Share { errors, executed } => errors.max(1.0).sqrt() / executed,
        }
    }
}

/// `None` of nothing.
fn total(all: impl Iterator<Item = Sums>) -> Option<Sums> {
    all.reduce(|mut sum, it| {
        sum.add(&it);
        sum
    })
}

impl Series {
    fn plain(bins: &[Bin], metric: Metric) -> Series {
        let row = |it: &Bin| match metric {
            Metric::Errors => Sums::Share { errors: it.errors as f64, executed: it.executed as f64 },
            _ => Sums::Rate { delivered: it.delivered as f64, bins: 1.0 },
        };
        Series { rows: bins.iter().map(row).collect() }
    }

    fn whole(&self) -> Sums {
        total(self.rows.iter().cloned()).expect("no trial is without bins")
    }

    /// How each bin pulls at the figure: linear, so that its correlation is that of the figure.
    fn influence(&self, whole: &Sums) -> Vec<f64> {
        let level = whole.figure().unwrap_or_default();
        let of = |it: &Sums| match it {
            Sums::Rate { delivered, .. } => *delivered,
            Sums::Share { errors, executed } => errors - level * executed,
            Sums::Quantile { q, below, all, grid } => {
                let at = grid.partition_point(|it| *it < level).min(grid.len() - 1);
                q * all - below[at]
            }
        };
        self.rows.iter().map(of).collect()
    }

    /// Blocks of `length` from each beginning, going round.
    fn blocks(&self, length: usize) -> Vec<Sums> {
        let n = self.rows.len();
        let block = |from: usize| {
            let mut sums = self.rows[from].clone();
            (1..length).for_each(|it| sums.add(&self.rows[(from + it) % n]));
            sums
        };
        (0..n).map(block).collect()
    }
}

/// Counts on one grid for all trials. A quantile of blocks together lies between the least and the greatest of theirs, so
/// the grid need go no farther than those of single bins.
fn quantiles(trials: &[&Group], metric: Metric, q: f64) -> Option<Vec<Series>> {
    let counts = |it: &Bin| -> Counts {
        if metric == Metric::ServiceP99 { it.service.clone() } else { it.response.clone() }
    };
    let all: Vec<Vec<Counts>> = trials.iter().map(|it| it.bins.iter().map(counts).collect()).collect();
    let (mut least, mut greatest) = (f64::INFINITY, 0f64);
    for it in all.iter().flatten().filter(|it| !it.0.is_empty()) {
        let total: u64 = it.0.iter().map(|it| u64::from(it.1)).sum();
        let rank = q * total as f64;
        let mut below = 0.0;
        let bucket = it.0.iter().find(|it| {
            below += f64::from(it.1);
            below >= rank
        });
        let bucket = bucket.or(it.0.last()).expect("it is not empty").0;
        least = least.min(begin(bucket));
        greatest = greatest.max(begin(bucket + 1));
    }
    let total: u64 = all.iter().flatten().flat_map(|it| &it.0).map(|it| u64::from(it.1)).sum();
    // No quantile without ten beyond.
    if total as f64 * (1.0 - q) < 9.5 {
        return None;
    }
    let (low, high) = (least.ln() - 1e-3, greatest.ln() + 1e-3);
    let step = (high - low) / (GRID - 1) as f64;
    let grid: std::sync::Arc<[f64]> = (0..GRID).map(|n| low + step * n as f64).collect();
    let row = |it: &Counts| {
        // What each point has more than the one before it.
        let mut below = vec![0.0; GRID];
        for (bucket, count) in &it.0 {
            let (from, to) = (begin(*bucket).ln(), begin(bucket + 1).ln());
            // The bucket's samples are spread evenly over it.
            let mut place = ((from - low) / step).ceil().max(0.0) as usize;
            let mut counted = 0.0;
            while counted < 1.0 && place < GRID {
                let share = ((low + step * place as f64 - from) / (to - from)).min(1.0);
                below[place] += f64::from(*count) * (share - counted);
                counted = share;
                place += 1;
            }
        }
        (1..GRID).for_each(|place| below[place] += below[place - 1]);
        Sums::Quantile {
            q,
            below,
            all: it.0.iter().map(|it| f64::from(it.1)).sum(),
            grid: std::sync::Arc::clone(&grid),
        }
    };
    Some(all.iter().map(|bins| Series { rows: bins.iter().map(row).collect() }).collect())
}
