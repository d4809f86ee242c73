//! Detector of changes in response sizes that suggest error pages
//!
//! An error page or a login page with status 200 counts as a success; only its size reveals it.

use model::{AnswerSizes, SizeFigures, SizeHistogram, SizeUnit};

/// Minimum number of responses for their sizes to be judged.
const ANSWERS_MIN: u64 = 200;
/// Minimum share of all responses in each of two groups of sizes.
const POPULATION: f64 = 0.05;
/// Smallest ratio of the lower end of the group of larger sizes to the upper end of the group of smaller sizes.
const GAP_RATIO_MIN: u64 = 2;
/// Share of small responses above which the response sizes count as dropped.
const SMALL_SHARE_MIN: f64 = 0.8;
/// Maximum number of intervals stored per trial.
const STRETCHES_MAX: usize = 64;

/// Minimum number of responses beyond a reported quantile.
const BEYOND: f64 = 10.0;

/// Count, mean and quantiles of the response sizes; `None` without responses.
pub(crate) fn figures(sizes: &SizeHistogram) -> Option<SizeFigures> {
    let count = sizes.count();
    let quantile = |q: f64| sizes.quantile(q).filter(|_| count as f64 * (1.0 - q) >= BEYOND);
    Some(SizeFigures {
        count,
        mean: sizes.sum() as f64 / count as f64,
        p50: quantile(0.5),
        p99: quantile(0.99),
        max: sizes.max()?,
    })
}

/// Two groups of response sizes, with no response between the groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Populations {
    /// Median size of the smaller responses, in bytes.
    pub small: u64,
    /// Median size of the larger responses, in bytes.
    pub large: u64,
    /// Share of the smaller responses among all responses, 0..=1.
    pub share: f64,
}

/// Two groups of sizes that a single kind of page does not produce. The gap between the groups is wide compared with
/// the range of the larger sizes, and also compared with every gap within that range. Pages with lists of varying
/// length are not detected, because their sizes differ by whole list items. Sizes that vary continuously are not
/// detected either.
pub fn populations(sizes: &SizeHistogram) -> Option<Populations> {
    let count = sizes.count();
    if count < ANSWERS_MIN {
        return None;
    }
    let ranges: Vec<(u64, u64, u64)> = sizes.ranges().collect();
    let mut below = 0;
    let mut widest: Option<(usize, u64, u64)> = None;
    for (at, pair) in ranges.windows(2).enumerate() {
        below += pair[0].2;
        let least = (count as f64 * POPULATION).ceil() as u64;
        let gap = pair[1].0 - pair[0].1;
        let wide = pair[1].0 >= GAP_RATIO_MIN * pair[0].1.max(1);
        if wide && below >= least && count - below >= least && widest.is_none_or(|it| it.1 < gap) {
            widest = Some((at + 1, gap, below));
        }
    }
    let (first, gap, below) = widest?;
    let (small, large) = ranges.split_at(first);
    let spread = quantile(large, 0.9).1.saturating_sub(quantile(large, 0.1).0);
    let inner = large.windows(2).map(|it| it[1].0 - it[0].1).max().unwrap_or(0);
    (gap >= spread / 2 && gap >= 2 * inner).then(|| Populations {
        small: quantile(small, 0.5).1.min(sizes.max().unwrap_or(u64::MAX)),
        large: quantile(large, 0.5).1.min(sizes.max().unwrap_or(u64::MAX)),
        share: below as f64 / count as f64,
    })
}

/// Bounds of the bucket that contains quantile `q`. `ranges` must not be empty.
fn quantile(ranges: &[(u64, u64, u64)], q: f64) -> (u64, u64) {
    let count: u64 = ranges.iter().map(|it| it.2).sum();
    let rank = ((count as f64 * q).ceil() as u64).max(1);
    let mut below = 0;
    let found = ranges.iter().find(|range| {
        below += range.2;
        below >= rank
    });
    found.map_or((0, 0), |it| (it.0, it.1))
}

/// Largest size that is small compared with `sizes`: half of their median, and at most their tenth percentile.
fn small_limit(sizes: &SizeHistogram) -> Option<u64> {
    let (median, tenth) = (sizes.quantile(0.5)?, sizes.quantile(0.1)?);
    Some((median / 2).min(tenth)).filter(|it| sizes.count() >= ANSWERS_MIN / 2 && *it > 0)
}

fn is_small(sizes: &SizeHistogram, limit: u64) -> bool {
    sizes.count() > 0 && sizes.count_at_most(limit) as f64 >= SMALL_SHARE_MIN * sizes.count() as f64
}

/// True if most responses in `these` are smaller than almost all responses in `those`.
pub fn is_mostly_smaller(these: &SizeHistogram, those: &SizeHistogram) -> bool {
    let enough = these.count() >= ANSWERS_MIN / 2;
    enough && small_limit(those).is_some_and(|limit| is_small(these, limit))
}

/// Response sizes of one request, by interval of the trial.
#[derive(Clone, Debug)]
pub struct SizeSeries {
    pub operation: u16,
    pub command: u16,
    /// Length of an interval, in seconds.
    pub seconds: u64,
    pub stretches: Vec<SizeHistogram>,
}

impl SizeSeries {
    /// Histogram of the sizes of the whole trial.
    pub fn total(&self) -> SizeHistogram {
        let mut all = SizeHistogram::new();
        self.stretches.iter().for_each(|it| all.merge(it));
        all
    }

    /// Drop in the response sizes from the first quarter of the trial to the later intervals in which most responses
    /// were small.
    pub fn find_fall(&self) -> Option<SizeDrop> {
        let quarter = self.stretches.len().div_ceil(4);
        let (first, rest) = self.stretches.split_at(quarter.min(self.stretches.len()));
        let mut before = SizeHistogram::new();
        first.iter().for_each(|it| before.merge(it));
        let limit = small_limit(&before)?;
        let mut after = SizeHistogram::new();
        rest.iter().filter(|it| is_small(it, limit)).for_each(|it| after.merge(it));
        let first_small = rest.iter().position(|it| is_small(it, limit))?;
        (after.count() >= ANSWERS_MIN / 2).then_some(SizeDrop {
            before: before.quantile(0.5)?,
            after: after.quantile(0.5)?,
            second: (quarter + first_small) as u64 * self.seconds,
            share: after.count() as f64 / self.total().count() as f64,
        })
    }

    fn add(&mut self, second: u64, sizes: &SizeHistogram) {
        while second / self.seconds >= STRETCHES_MAX as u64 {
            let pairs = self.stretches.chunks(2).map(|pair| {
                let mut both = pair[0].clone();
                pair[1..].iter().for_each(|it| both.merge(it));
                both
            });
            self.stretches = pairs.collect();
            self.seconds *= 2;
        }
        let at = (second / self.seconds) as usize;
        if self.stretches.len() <= at {
            self.stretches.resize_with(at + 1, SizeHistogram::new);
        }
        self.stretches[at].merge(sizes);
    }
}

/// Drop in the response sizes within a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeDrop {
    /// Medians before and after the drop, in bytes.
    pub before: u64,
    pub after: u64,
    /// Second of the window in which the drop began.
    pub second: u64,
    /// Share of small responses after the drop, 0..=1.
    pub share: f64,
}

/// Size series of all HTTP requests of a trial.
#[derive(Clone, Debug, Default)]
pub struct SizeSeriesSet(Vec<SizeSeries>);

impl SizeSeriesSet {
    /// Adds the response sizes of the second with this number, counted from the window's start.
    pub fn second(&mut self, number: usize, answers: &[AnswerSizes]) {
        for AnswerSizes { operation, command, unit, sizes } in answers {
            if *unit != SizeUnit::Bytes {
                continue;
            }
            let key = (*operation, *command);
            let at =
                self.0.binary_search_by_key(&key, |it| (it.operation, it.command)).unwrap_or_else(|at| {
                    let empty =
                        SizeSeries { operation: key.0, command: key.1, seconds: 1, stretches: Vec::new() };
                    self.0.insert(at, empty);
                    at
                });
            self.0[at].add(number as u64, sizes);
        }
    }

    pub fn finish(self) -> Vec<SizeSeries> {
        self.0
    }
}

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;
