//! Confidence intervals of a figure from the seconds of its trials
//!
//! Circular blocks of seconds are resampled within each trial, and their histograms are merged. The figure is read from
//! each resample. Source: Politis and Romano, "A circular block-resampling procedure" (1992).
//!
//! The block length follows from the correlation of the seconds (Carlstein 1986). It is at least five seconds and at
//! least a twelfth of the trial. Blocks of this length miss a part of the variance. That part is added as for an
//! autoregressive series of the same correlation. Because few blocks give a poor estimate of the variance, Student's
//! distribution replaces the normal distribution. It has one degree of freedom fewer than there are blocks.

use super::trial_figures::{BucketCounts, OperationFigures, TimeBin, bucket_start};
use crate::stats::student::MeanDifference;
use model::SplitMix64;
use model::comparison::{self, Metric};

/// Shortest block, in seconds.
const BLOCK_SECONDS_MIN: f64 = 5.0;
/// Minimum number of blocks for an interval.
const BLOCKS_MIN: usize = 8;
/// Number of blocks above which longer blocks are preferred to more blocks. This number is enough to estimate the
/// variance, and longer blocks miss less of the correlation.
const BLOCKS_ENOUGH: f64 = 12.0;
const DRAWS: usize = 400;
/// Number of grid points at which a distribution is stored. The grid extends from the smallest to the largest quantile
/// of any block.
const GRID: usize = 96;

/// Estimate of one figure from the seconds of one side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BootstrapEstimate {
    /// Value from all seconds together: a logarithm, except for shares.
    pub value: f64,
    pub error: f64,
    pub blocks: comparison::Blocks,
}

impl BootstrapEstimate {
    fn degrees_of_freedom(&self) -> f64 {
        f64::from(self.blocks.count) - 1.0
    }

    /// The estimate as a difference from zero.
    pub fn mean_difference(&self) -> MeanDifference {
        MeanDifference {
            difference: self.value,
            error: self.error,
            degrees_of_freedom: self.degrees_of_freedom(),
        }
    }
}

/// Difference `b` − `a`.
pub fn difference(a: &BootstrapEstimate, b: &BootstrapEstimate) -> MeanDifference {
    let [variance_a, variance_b] = [a, b].map(|it| it.error * it.error);
    let freedom = (variance_a + variance_b).powi(2)
        / (variance_a * variance_a / a.degrees_of_freedom()
            + variance_b * variance_b / b.degrees_of_freedom());
    MeanDifference {
        difference: b.value - a.value,
        error: (variance_a + variance_b).sqrt(),
        degrees_of_freedom: freedom,
    }
}

/// Bootstrap estimate from blocks of time bins of each trial. `None` without bins, or with too few blocks.
pub fn resample(trials: &[&OperationFigures], metric: Metric, seed: u64) -> Option<BootstrapEstimate> {
    let first = trials.first()?;
    let series: Vec<BinSums> = match metric.quantile() {
        Some(q) => quantiles(trials, metric, q)?,
        None => trials.iter().map(|it| BinSums::from_bins(&it.bins, metric)).collect(),
    };
    let total_sums = total(series.iter().map(BinSums::total))?;
    let value = total_sums.figure()?;
    let influences: Vec<Vec<f64>> = series.iter().map(|it| it.influence(&total_sums)).collect();
    let correlation = correlation(&influences);
    let bins: usize = series.iter().map(|it| it.rows.len()).sum();
    let shortest = (BLOCK_SECONDS_MIN / first.bin).ceil().max(1.0);
    let longest = (bins as f64 / BLOCKS_MIN as f64).floor();
    let by_correlation = (6f64.sqrt() * correlation / (1.0 - correlation * correlation)).powf(2.0 / 3.0)
        * (bins as f64).powf(1.0 / 3.0);
    let required_length = by_correlation.max(bins as f64 / BLOCKS_ENOUGH).floor();
    // The block length follows from the correlation, as long as enough blocks remain.
    let length = required_length.ceil().min(longest).max(shortest) as usize;
    let count: usize = series.iter().map(|it| it.rows.len() / length).sum();
    if count < BLOCKS_MIN || series.iter().any(|it| it.rows.len() < length) {
        return None;
    }
    let mut rng = SplitMix64(seed);
    let blocks: Vec<Vec<FigureSums>> = series.iter().map(|it| it.blocks(length)).collect();
    let mut drawn = Vec::with_capacity(DRAWS);
    for _ in 0..DRAWS {
        let mut sums: Option<FigureSums> = None;
        for blocks in &blocks {
            for _ in 0..blocks.len() / length {
                let block = &blocks[rng.below(blocks.len() as u64) as usize];
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
    let floor = total_sums.relative_floor();
    let error = (variance * few / visible_variance(correlation, length)).sqrt().max(floor);
    let blocks = comparison::Blocks { length: length as f64 * first.bin, count: count as u32, correlation };
    Some(BootstrapEstimate { value, error, blocks })
}

/// Share of the variance of a long mean that blocks of `length` bins show, for a first-order autoregressive series. `r`
/// ≥ 0 is the correlation of neighbouring bins.
fn visible_variance(r: f64, length: usize) -> f64 {
    let l = length as f64;
    1.0 - 2.0 * r * (1.0 - r.powf(l)) / (l * (1.0 - r * r))
}

/// Correlation of neighbouring seconds over all trials, at least 0. It is corrected because a short series
/// underestimates it. Source: Kendall, "Note on bias in the estimation of autocorrelation" (1954).
fn correlation(trials: &[Vec<f64>]) -> f64 {
    let (mut products, mut squares, mut count) = (0.0, 0.0, 0usize);
    for series in trials {
        let mean = series.iter().sum::<f64>() / series.len().max(1) as f64;
        products += series.windows(2).map(|it| (it[0] - mean) * (it[1] - mean)).sum::<f64>();
        squares += series.iter().map(|it| (it - mean).powi(2)).sum::<f64>();
        count += series.len();
    }
    if squares <= 0.0 {
        return 0.0;
    }
    let found = products / squares;
    (found + (1.0 + 3.0 * found) / count as f64).clamp(0.0, 0.95)
}

/// Sums over each bin of a trial that one figure requires.
struct BinSums {
    rows: Vec<FigureSums>,
}

/// Sums over several bins, from which a figure is computed.
#[derive(Clone, Debug)]
enum FigureSums {
    /// Sums over `bins` bins.
    Rate {
        delivered: f64,
        bins: f64,
    },
    Share {
        errors: f64,
        executed: f64,
    },
    /// Number of durations up to each point of the grid, and number of all durations.
    Quantile {
        q: f64,
        below: Vec<f64>,
        all: f64,
        grid: std::sync::Arc<[f64]>,
    },
}

impl FigureSums {
    fn add(&mut self, other: &FigureSums) {
        match (self, other) {
            (FigureSums::Rate { delivered, bins }, FigureSums::Rate { delivered: d, bins: n }) => {
                *delivered += d;
                *bins += n;
            }
            (FigureSums::Share { errors, executed }, FigureSums::Share { errors: e, executed: n }) => {
                *errors += e;
                *executed += n;
            }
            (FigureSums::Quantile { below, all, .. }, FigureSums::Quantile { below: b, all: n, .. }) => {
                below.iter_mut().zip(b).for_each(|(sum, it)| *sum += it);
                *all += n;
            }
            _ => unreachable!("all sums of a series have one kind"),
        }
    }

    /// Figure from the sums; `None` if it is not above 0, or without data.
    fn figure(&self) -> Option<f64> {
        match self {
            FigureSums::Rate { delivered, bins } => (*delivered > 0.0).then(|| (delivered / bins).ln()),
            FigureSums::Share { errors, executed } => (*executed > 0.0).then(|| errors / executed),
            FigureSums::Quantile { q, below, all, grid } => {
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

    /// Relative error that counting or the histogram's precision causes.
    fn relative_floor(&self) -> f64 {
        match self {
            FigureSums::Rate { .. } | FigureSums::Quantile { .. } => 5e-4,
            FigureSums::Share { errors, executed } => errors.max(1.0).sqrt() / executed,
        }
    }
}

/// Total of `all`; `None` if `all` is empty.
fn total(all: impl Iterator<Item = FigureSums>) -> Option<FigureSums> {
    all.reduce(|mut sum, sums| {
        sum.add(&sums);
        sum
    })
}

impl BinSums {
    fn from_bins(bins: &[TimeBin], metric: Metric) -> BinSums {
        let row = |bin: &TimeBin| match metric {
            Metric::Errors => FigureSums::Share { errors: bin.errors as f64, executed: bin.executed as f64 },
            _ => FigureSums::Rate { delivered: bin.delivered as f64, bins: 1.0 },
        };
        BinSums { rows: bins.iter().map(row).collect() }
    }

    fn total(&self) -> FigureSums {
        total(self.rows.iter().cloned()).expect("each trial has bins")
    }

    /// Influence of each bin on the figure. The influence is a linear approximation, so its correlation equals the
    /// correlation of the figure.
    fn influence(&self, total_sums: &FigureSums) -> Vec<f64> {
        let level = total_sums.figure().unwrap_or_default();
        let bin_influence = |sums: &FigureSums| match sums {
            FigureSums::Rate { delivered, .. } => *delivered,
            FigureSums::Share { errors, executed } => errors - level * executed,
            FigureSums::Quantile { q, below, all, grid } => {
                let at = grid.partition_point(|it| *it < level).min(grid.len() - 1);
                q * all - below[at]
            }
        };
        self.rows.iter().map(bin_influence).collect()
    }

    /// Blocks of `length` bins from each start, wrapping around.
    fn blocks(&self, length: usize) -> Vec<FigureSums> {
        let n = self.rows.len();
        let block = |from: usize| {
            let mut sums = self.rows[from].clone();
            (1..length).for_each(|it| sums.add(&self.rows[(from + it) % n]));
            sums
        };
        (0..n).map(block).collect()
    }
}

/// Counts on a grid that all trials share. A quantile of merged bins lies between the smallest and the largest quantile
/// of the single bins, so the grid covers that range.
fn quantiles(trials: &[&OperationFigures], metric: Metric, q: f64) -> Option<Vec<BinSums>> {
    let counts = |bin: &TimeBin| -> BucketCounts {
        match metric {
            Metric::ServiceP50 | Metric::ServiceP99 => bin.service.clone(),
            _ => bin.response.clone(),
        }
    };
    let all: Vec<Vec<BucketCounts>> = trials.iter().map(|it| it.bins.iter().map(counts).collect()).collect();
    let (mut least, mut greatest) = (f64::INFINITY, 0f64);
    for bin_counts in all.iter().flatten().filter(|it| !it.0.is_empty()) {
        let total: u64 = bin_counts.0.iter().map(|it| u64::from(it.1)).sum();
        let rank = q * total as f64;
        let mut below = 0.0;
        let bucket = bin_counts.0.iter().find(|bucket_count| {
            below += f64::from(bucket_count.1);
            below >= rank
        });
        let bucket = bucket.or(bin_counts.0.last()).expect("the histogram is not empty").0;
        least = least.min(bucket_start(bucket));
        greatest = greatest.max(bucket_start(bucket + 1));
    }
    let total: u64 = all.iter().flatten().flat_map(|it| &it.0).map(|it| u64::from(it.1)).sum();
    // A quantile requires ten samples beyond it.
    if total as f64 * (1.0 - q) < 9.5 {
        return None;
    }
    let (low, high) = (least.ln() - 1e-3, greatest.ln() + 1e-3);
    let step = (high - low) / (GRID - 1) as f64;
    let grid: std::sync::Arc<[f64]> = (0..GRID).map(|n| low + step * n as f64).collect();
    let row = |counts: &BucketCounts| {
        // Increase of the count from each grid point to the next grid point.
        let mut below = vec![0.0; GRID];
        for (bucket, count) in &counts.0 {
            let (from, to) = (bucket_start(*bucket).ln(), bucket_start(bucket + 1).ln());
            // The samples of a bucket are spread evenly over its width.
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
        FigureSums::Quantile {
            q,
            below,
            all: counts.0.iter().map(|it| f64::from(it.1)).sum(),
            grid: std::sync::Arc::clone(&grid),
        }
    };
    Some(all.iter().map(|bins| BinSums { rows: bins.iter().map(row).collect() }).collect())
}
