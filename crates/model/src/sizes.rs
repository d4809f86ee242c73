//! Histogram of sizes: bytes of HTTP responses, rows of SQL statements.

use crate::StatementKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Size from which a bucket covers several sizes. Every smaller size has a separate bucket.
const EXACT_BELOW: u64 = 16;
/// Number of buckets per power of two: a bucket's width is at most 1/16 of its lower bound.
const BUCKETS_PER_OCTAVE: usize = 16;
/// Number of octaves, from 16 to 2⁴⁰; larger sizes count in the last bucket.
const OCTAVES: usize = 36;
const BUCKETS: usize = EXACT_BELOW as usize + OCTAVES * BUCKETS_PER_OCTAVE;

/// Histogram of sizes in bytes or rows: exact below 16, otherwise within 1/16. Count, sum, minimum and maximum are
/// exact. A histogram takes 4.6 KiB.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "SizeHistogramParts", try_from = "SizeHistogramParts")]
pub struct SizeHistogram {
    counts: Box<[u64]>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl SizeHistogram {
    pub fn new() -> SizeHistogram {
        SizeHistogram { counts: vec![0; BUCKETS].into(), count: 0, sum: 0, min: u64::MAX, max: 0 }
    }

    /// Records a size without allocation.
    #[inline]
    pub fn record(&mut self, size: u64) {
        self.counts[bucket(size)] += 1;
        self.count += 1;
        self.sum += u128::from(size);
        self.min = self.min.min(size);
        self.max = self.max.max(size);
    }

    pub fn merge(&mut self, other: &SizeHistogram) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, addend)| *sum += addend);
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    pub fn clear(&mut self) {
        self.counts.fill(0);
        (self.count, self.sum, self.min, self.max) = (0, 0, u64::MAX, 0);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sum of all sizes.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Smallest size; `None` without samples.
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// Smallest size that at least a share `q` (0..=1) of samples does not exceed; `None` without samples.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let rank = ((self.count as f64 * q).ceil() as u64).max(1);
        let mut below = 0;
        let found = self.buckets().find(|(_, count)| {
            below += count;
            below >= rank
        });
        found.map(|(at, _)| upper(at).clamp(self.min, self.max))
    }

    /// Number of samples of at most this size, including all samples in the bucket of this size.
    pub fn count_at_most(&self, size: u64) -> u64 {
        self.counts[..=bucket(size)].iter().sum()
    }

    /// Index and count of each bucket with samples, ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.counts.iter().copied().enumerate().filter(|it| it.1 > 0)
    }

    /// Smallest size, largest size and count of each bucket with samples, ascending.
    pub fn ranges(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.buckets().map(|(at, count)| (lower(at), upper(at), count))
    }

    /// Histogram from the values of [`SizeHistogram::buckets`], [`SizeHistogram::sum`], [`SizeHistogram::min`] and
    /// [`SizeHistogram::max`]; `None` if they are inconsistent.
    pub fn from_parts(
        buckets: impl Iterator<Item = (usize, u64)>,
        sum: u128,
        min: u64,
        max: u64,
    ) -> Option<SizeHistogram> {
        let mut histogram = SizeHistogram { sum, min, max, ..SizeHistogram::new() };
        for (at, count) in buckets {
            let slot = histogram.counts.get_mut(at)?;
            *slot = slot.checked_add(count)?;
            histogram.count = histogram.count.checked_add(count)?;
        }
        (histogram.count > 0 && min <= max).then_some(histogram)
    }
}

/// Serialised form of a [`SizeHistogram`].
#[derive(Serialize, Deserialize)]
struct SizeHistogramParts {
    buckets: Vec<(usize, u64)>,
    sum: u128,
    min: u64,
    max: u64,
}

impl From<SizeHistogram> for SizeHistogramParts {
    fn from(histogram: SizeHistogram) -> SizeHistogramParts {
        let SizeHistogram { sum, min, max, .. } = histogram;
        SizeHistogramParts { buckets: histogram.buckets().collect(), sum, min, max }
    }
}

impl TryFrom<SizeHistogramParts> for SizeHistogram {
    type Error = &'static str;

    fn try_from(parts: SizeHistogramParts) -> Result<SizeHistogram, &'static str> {
        let SizeHistogramParts { buckets, sum, min, max } = parts;
        if buckets.is_empty() {
            return Ok(SizeHistogram::new());
        }
        SizeHistogram::from_parts(buckets.into_iter(), sum, min, max).ok_or("a damaged histogram of sizes")
    }
}

impl Default for SizeHistogram {
    fn default() -> SizeHistogram {
        SizeHistogram::new()
    }
}

/// Unit of the recorded sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SizeUnit {
    /// Bytes of HTTP response bodies, as received.
    Bytes,
    /// Rows that a statement returned or changed.
    Rows(StatementKind),
}

/// Sizes of the responses or results of one command of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerSizes {
    /// Index of the operation; `command` is the index of the command in its script.
    pub operation: u16,
    pub command: u16,
    pub unit: SizeUnit,
    pub sizes: SizeHistogram,
}

impl AnswerSizes {
    /// Empty histogram for this operation and command.
    pub fn new((operation, command): (u16, u16)) -> AnswerSizes {
        AnswerSizes { operation, command, unit: SizeUnit::Bytes, sizes: SizeHistogram::new() }
    }

    /// Kind of the statement if the sizes are rows; otherwise `None`.
    pub fn statement(&self) -> Option<StatementKind> {
        match self.unit {
            SizeUnit::Bytes => None,
            SizeUnit::Rows(kind) => Some(kind),
        }
    }

    /// Records a size without allocation.
    #[inline]
    pub fn record(&mut self, unit: SizeUnit, size: u64) {
        self.set_unit(unit);
        self.sizes.record(size);
    }

    fn set_unit(&mut self, unit: SizeUnit) {
        self.unit = match (self.unit, unit) {
            (SizeUnit::Rows(one), SizeUnit::Rows(other)) if one != other && self.sizes.count() > 0 => {
                SizeUnit::Rows(StatementKind::Mixed)
            }
            _ => unit,
        };
    }

    pub fn key(&self) -> (u16, u16) {
        (self.operation, self.command)
    }

    /// Adds the sizes of `addends` to `all`; both are sorted by key.
    pub fn merge(all: &mut Vec<AnswerSizes>, addends: &[AnswerSizes]) {
        for other in addends {
            match all.binary_search_by_key(&other.key(), AnswerSizes::key) {
                Ok(_) if other.sizes.count() == 0 => {}
                Ok(at) => {
                    all[at].set_unit(other.unit);
                    all[at].sizes.merge(&other.sizes);
                }
                Err(at) => all.insert(at, other.clone()),
            }
        }
    }
}

/// Figures of a histogram of sizes. Quantiles are accurate to 1/16. A quantile is absent with fewer than ten samples
/// beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SizeFigures {
    pub count: u64,
    pub mean: f64,
    pub p50: Option<u64>,
    pub p99: Option<u64>,
    pub max: u64,
}

/// Row counts of a statement's results.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StatementRows {
    /// Index of the operation; `command` is the index of the command in its script.
    pub operation: u16,
    pub command: u16,
    pub statement: StatementKind,
    /// Share of results without a row, 0..=1.
    pub empty: f64,
    pub rows: SizeFigures,
}

fn bucket(size: u64) -> usize {
    if size < EXACT_BELOW {
        return size as usize;
    }
    let octave = size.ilog2() as usize;
    let within = (size >> (octave - 4)) as usize - BUCKETS_PER_OCTAVE;
    (EXACT_BELOW as usize + (octave - 4) * BUCKETS_PER_OCTAVE + within).min(BUCKETS - 1)
}

fn lower(bucket: usize) -> u64 {
    let Some(above) = bucket.checked_sub(EXACT_BELOW as usize) else { return bucket as u64 };
    ((BUCKETS_PER_OCTAVE + above % BUCKETS_PER_OCTAVE) as u64) << (above / BUCKETS_PER_OCTAVE)
}

fn upper(bucket: usize) -> u64 {
    if bucket + 1 >= BUCKETS { u64::MAX } else { lower(bucket + 1) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_contiguous() {
        for at in 0..BUCKETS {
            assert_eq!(bucket(lower(at)), at);
            assert_eq!(bucket(upper(at)), at);
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
        let wide = (EXACT_BELOW as usize..BUCKETS - 1).all(|at| upper(at) - lower(at) < lower(at) / 16 + 1);
        assert!(wide, "a bucket's width is at most 1/16 of its value");
    }

    #[test]
    fn reads_back_what_was_recorded() {
        let mut histogram = SizeHistogram::new();
        assert_eq!((histogram.quantile(0.5), histogram.min(), histogram.max()), (None, None, None));
        for bytes in [0, 7, 300, 300, 40_000] {
            histogram.record(bytes);
        }
        assert_eq!(
            (histogram.count(), histogram.sum(), histogram.min(), histogram.max()),
            (5, 40_607, Some(0), Some(40_000))
        );
        assert_eq!([0.0, 0.2, 0.4, 1.0].map(|q| histogram.quantile(q)), [0, 0, 7, 40_000].map(Some));
        assert!((300..=319).contains(&histogram.quantile(0.5).expect("the histogram has samples")));
        assert_eq!([6, 7, 299, 400, 50_000].map(|at| histogram.count_at_most(at)), [1, 2, 4, 4, 5]);
        let again = SizeHistogram::from_parts(histogram.buckets(), histogram.sum(), 0, 40_000);
        assert_eq!(again.as_ref(), Some(&histogram));
        let mut twice = histogram.clone();
        twice.merge(&histogram);
        assert_eq!(twice.count(), 10);
        twice.clear();
        assert_eq!(twice, SizeHistogram::new());
        assert_eq!(SizeHistogram::from_parts([(BUCKETS, 1)].into_iter(), 0, 0, 0), None);
        assert_eq!(SizeHistogram::from_parts(std::iter::empty(), 0, 0, 0), None);
    }

    #[test]
    fn statements_of_different_kinds_are_mixed() {
        let rows = |kind, sizes: &[u64]| {
            let mut answers = AnswerSizes::new((0, 0));
            sizes.iter().for_each(|size| answers.record(SizeUnit::Rows(kind), *size));
            answers
        };
        let mut all = vec![rows(StatementKind::Update, &[])];
        for (addend, kind) in [
            (rows(StatementKind::Select, &[1]), StatementKind::Select),
            (rows(StatementKind::Update, &[]), StatementKind::Select),
            (rows(StatementKind::Select, &[0, 2]), StatementKind::Select),
            (rows(StatementKind::Update, &[1]), StatementKind::Mixed),
            (rows(StatementKind::Update, &[1]), StatementKind::Mixed),
        ] {
            AnswerSizes::merge(&mut all, &[addend]);
            assert_eq!(all[0].statement(), Some(kind));
        }
        assert_eq!((all[0].sizes.count(), all[0].sizes.count_at_most(0)), (5, 1));
    }
}
