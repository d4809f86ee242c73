//! Sparse histograms and their fast summation.
//!
//! A [`LatencyHistogram`] takes 270 KiB. The samples of one second fill about a hundred of its buckets, and this code
//! visits only these buckets.

use super::encoding::{COMPRESSED_COOKIE, HEADER_LENGTH, MAX_LENGTH, has_our_bounds};
use super::{DecodeError, EncodedHistogram, LatencyHistogram};
use crate::Nanos;
use flate2::{Decompress, FlushDecompress, Status};

/// Number of buckets per doubling of the value, for values from 2¹¹. Each smaller value has a separate bucket. Source:
/// `AbstractHistogram.java` of HdrHistogram, for three significant digits and values from 1.
const BUCKETS_PER_DOUBLING: u64 = 1 << 10;
/// Number of buckets of a [`LatencyHistogram`].
const BUCKETS: usize = 33 * BUCKETS_PER_DOUBLING as usize;
/// Number of buckets in a block; the sum of each block is also stored.
const BLOCK_SIZE: usize = 64;

/// Histogram that stores only the buckets with samples.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseHistogram {
    /// Index and count of each bucket, in ascending order of the index.
    buckets: Vec<(u32, u64)>,
    count: u64,
    sum: u128,
    sum_of_squares: f64,
    min: u64,
    max: u64,
}

impl Default for SparseHistogram {
    fn default() -> SparseHistogram {
        SparseHistogram { buckets: Vec::new(), count: 0, sum: 0, sum_of_squares: 0.0, min: u64::MAX, max: 0 }
    }
}

impl SparseHistogram {
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sum of all samples in nanoseconds.
    pub fn sum(&self) -> u128 {
        self.sum
    }
}

impl LatencyHistogram {
    /// Adds all samples of `other`.
    pub fn merge_sparse(&mut self, other: &SparseHistogram) {
        for &(place, count) in &other.buckets {
            // Any value of a bucket counts in it.
            let value = bucket_upper_bound(place as usize);
            self.histogram.record_n(value, count).expect("both histograms have the same bounds");
        }
        self.sum += other.sum;
        self.sum_of_squares += other.sum_of_squares;
        self.max = self.max.max(other.max);
        self.min = self.min.min(other.min);
    }
}

impl From<&LatencyHistogram> for SparseHistogram {
    fn from(histogram: &LatencyHistogram) -> SparseHistogram {
        let recorded = histogram.histogram.iter_recorded();
        let places = recorded.map(|it| (bucket_index(it.value_iterated_to()), it.count_at_value()));
        SparseHistogram {
            buckets: if histogram.count() == 0 { Vec::new() } else { places.collect() },
            count: histogram.count(),
            sum: histogram.sum,
            sum_of_squares: histogram.sum_of_squares,
            min: histogram.min,
            max: histogram.max,
        }
    }
}

/// Decoder that reuses its buffers.
#[derive(Debug)]
pub struct HistogramDecoder {
    inflater: Decompress,
    /// Buffer for the longest histogram, so that one call inflates it without a further copy.
    bytes: Vec<u8>,
}

impl HistogramDecoder {
    pub fn new() -> HistogramDecoder {
        HistogramDecoder {
            inflater: Decompress::new(true),
            bytes: vec![0; HEADER_LENGTH + MAX_LENGTH as usize],
        }
    }

    /// Decodes a histogram. The bytes may be untrusted, because time and memory are bounded.
    pub fn decode(&mut self, encoded: &EncodedHistogram) -> Result<SparseHistogram, DecodeError> {
        let (cookie, rest) = encoded.v2.split_first_chunk().ok_or(DecodeError)?;
        let (length, packed) = rest.split_first_chunk().ok_or(DecodeError)?;
        if u32::from_be_bytes(*cookie) != COMPRESSED_COOKIE
            || u32::from_be_bytes(*length) as usize != packed.len()
        {
            return Err(DecodeError);
        }
        self.inflater.reset(true);
        let done = self.inflater.decompress(packed, &mut self.bytes, FlushDecompress::Finish);
        if !matches!(done, Ok(Status::StreamEnd)) || self.inflater.total_in() as usize != packed.len() {
            return Err(DecodeError);
        }
        let bytes = &self.bytes[..self.inflater.total_out() as usize];
        let (header, mut rest) = bytes.split_at_checked(HEADER_LENGTH).ok_or(DecodeError)?;
        if !has_our_bounds(header, rest.len()) {
            return Err(DecodeError);
        }
        let (mut places, mut at, mut count) = (Vec::new(), 0, 0u64);
        while !rest.is_empty() {
            match read_zigzag(&mut rest).ok_or(DecodeError)? {
                // A negative number is the length of a run of empty buckets.
                empty @ i64::MIN..0 => {
                    at += usize::try_from(empty.unsigned_abs()).map_err(|_| DecodeError)?;
                }
                0 => at += 1,
                samples => {
                    places.push((at as u32, samples as u64));
                    count = count.checked_add(samples as u64).ok_or(DecodeError)?;
                    at += 1;
                }
            }
            if at > BUCKETS {
                return Err(DecodeError);
            }
        }
        if count != encoded.count || (count > 0 && encoded.min > encoded.max) {
            return Err(DecodeError);
        }
        let EncodedHistogram { sum, sum_of_squares, min, max, .. } = *encoded;
        Ok(SparseHistogram { buckets: places, count, sum, sum_of_squares, min, max })
    }
}

impl Default for HistogramDecoder {
    fn default() -> HistogramDecoder {
        HistogramDecoder::new()
    }
}

/// Reads a zig-zag LEB128 number whose ninth byte has eight value bits. Returns `None` if the bytes end within the
/// number.
fn read_zigzag(rest: &mut &[u8]) -> Option<i64> {
    let (mut number, mut shift) = (0u64, 0);
    loop {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        let is_last = shift == 56 || byte < 0x80;
        number |= u64::from(if shift == 56 { byte } else { byte & 0x7f }) << shift;
        shift += 7;
        if is_last {
            return Some((number >> 1) as i64 ^ -((number & 1) as i64));
        }
    }
}

/// Bucket index of a value.
fn bucket_index(value: u64) -> u32 {
    let doublings = (64 - (value | (2 * BUCKETS_PER_DOUBLING - 1)).leading_zeros()) - 11;
    doublings * BUCKETS_PER_DOUBLING as u32 + (value >> doublings) as u32
}

/// Largest value of a bucket.
fn bucket_upper_bound(place: usize) -> u64 {
    let place = place as u64;
    if place < 2 * BUCKETS_PER_DOUBLING {
        return place;
    }
    let doublings = place / BUCKETS_PER_DOUBLING - 1;
    ((place % BUCKETS_PER_DOUBLING + BUCKETS_PER_DOUBLING + 1) << doublings) - 1
}

/// Sum of histograms. Its results equal those of a [`LatencyHistogram`] of all samples.
#[derive(Clone, Debug)]
pub struct HistogramSum {
    counts: Vec<u64>,
    /// Sums of the counts of [`BLOCK_SIZE`] buckets each.
    blocks: Vec<u64>,
    count: u64,
    sum: u128,
    sum_of_squares: f64,
    min: u64,
    max: u64,
}

impl HistogramSum {
    pub fn new() -> HistogramSum {
        HistogramSum {
            counts: vec![0; BUCKETS],
            blocks: vec![0; BUCKETS / BLOCK_SIZE],
            count: 0,
            sum: 0,
            sum_of_squares: 0.0,
            min: u64::MAX,
            max: 0,
        }
    }

    pub fn add(&mut self, histogram: &SparseHistogram) {
        for &(place, count) in &histogram.buckets {
            self.counts[place as usize] += count;
            self.blocks[place as usize / BLOCK_SIZE] += count;
        }
        self.count += histogram.count;
        self.sum += histogram.sum;
        self.sum_of_squares += histogram.sum_of_squares;
        self.min = self.min.min(histogram.min);
        self.max = self.max.max(histogram.max);
    }

    pub fn clear(&mut self) {
        let counts = self.counts.chunks_exact_mut(BLOCK_SIZE);
        for (block, counts) in self.blocks.iter_mut().zip(counts).filter(|it| *it.0 > 0) {
            *block = 0;
            counts.fill(0);
        }
        (self.count, self.sum, self.sum_of_squares, self.min, self.max) = (0, 0, 0.0, u64::MAX, 0);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// Longest sample; `None` without samples.
    pub fn max(&self) -> Option<Nanos> {
        (self.count > 0).then_some(Nanos(self.max))
    }

    /// Mean of all samples; `None` without samples.
    pub fn mean(&self) -> Option<Nanos> {
        (self.count > 0).then(|| Nanos((self.sum / u128::from(self.count)) as u64))
    }

    /// Quantile; equals the result of [`LatencyHistogram::quantile`].
    pub fn quantile(&self, q: f64) -> Option<Nanos> {
        self.quantile_with_unanswered(q, 0)
    }

    /// Quantile; equals the result of [`LatencyHistogram::quantile_with_unanswered`].
    pub fn quantile_with_unanswered(&self, q: f64, unanswered: u64) -> Option<Nanos> {
        let all = self.count + unanswered;
        let beyond = (all as f64 * (1.0 - q)).round() as u64;
        let rank = super::rank(q, all);
        if beyond < LatencyHistogram::MIN_TAIL_SAMPLES || rank > self.count {
            return None;
        }
        let mut cumulative = 0;
        let full = |count: &u64| {
            cumulative += count;
            cumulative >= rank
        };
        let block = self.blocks.iter().position(full)?;
        cumulative -= self.blocks[block];
        let first = block * BLOCK_SIZE;
        let place = self.counts[first..first + BLOCK_SIZE].iter().position(|count| {
            cumulative += count;
            cumulative >= rank
        })?;
        Some(Nanos(bucket_upper_bound(first + place).min(self.max)))
    }

    /// Count; equals the result of [`LatencyHistogram::count_above`].
    pub fn count_above(&self, limit: Nanos) -> u64 {
        let last = (bucket_index(limit.0) as usize).min(BUCKETS - 1);
        let (blocks, rest) = (last / BLOCK_SIZE, last / BLOCK_SIZE * BLOCK_SIZE);
        let within: u64 =
            self.blocks[..blocks].iter().sum::<u64>() + self.counts[rest..=last].iter().sum::<u64>();
        self.count - within.min(self.count)
    }
}

impl Default for HistogramSum {
    fn default() -> HistogramSum {
        HistogramSum::new()
    }
}

impl From<&HistogramSum> for SparseHistogram {
    fn from(total: &HistogramSum) -> SparseHistogram {
        let filled = total.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let places = filled.map(|(place, count)| (place as u32, *count)).collect();
        let HistogramSum { count, sum, sum_of_squares, min, max, .. } = *total;
        SparseHistogram { buckets: places, count, sum, sum_of_squares, min, max }
    }
}

impl From<&SparseHistogram> for LatencyHistogram {
    fn from(sparse: &SparseHistogram) -> LatencyHistogram {
        let mut all = LatencyHistogram::new();
        for &(place, count) in &sparse.buckets {
            all.histogram.saturating_record_n(bucket_upper_bound(place as usize), count);
        }
        let SparseHistogram { sum, sum_of_squares, min, max, .. } = *sparse;
        LatencyHistogram { sum, sum_of_squares, min, max, ..all }
    }
}

impl LatencyHistogram {
    /// Decodes a histogram. The bytes may be untrusted, because time and memory are bounded.
    pub fn decode(encoded: &EncodedHistogram) -> Result<LatencyHistogram, DecodeError> {
        HistogramDecoder::new().decode(encoded).map(|it| (&it).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HistogramEncoder, SplitMix64};

    /// Histogram of `count` random values of up to `bits` bits, generated from `seed`.
    fn latency(seed: u64, count: usize, bits: u32) -> LatencyHistogram {
        let mut rng = SplitMix64(seed);
        let mut histogram = LatencyHistogram::new();
        for _ in 0..count {
            let number = rng.next_u64();
            histogram.record(Nanos(number >> (64 - 1 - (number % u64::from(bits)) as u32)));
        }
        histogram
    }

    fn encoded(histogram: &LatencyHistogram) -> String {
        format!("{:?}", HistogramEncoder::new().encode(histogram))
    }

    #[test]
    fn sum_equals_merge() {
        let mut gathered = HistogramSum::new();
        let mut unpacker = HistogramDecoder::new();
        for (seed, count, bits) in [(1, 0, 20), (2, 1, 20), (3, 40, 12), (4, 5000, 30), (5, 20_000, 46)] {
            gathered.clear();
            let mut merged = LatencyHistogram::new();
            for part in 0..3 {
                let histogram = latency(seed * 10 + part, count, bits);
                let sparse = unpacker
                    .decode(&HistogramEncoder::new().encode(&histogram))
                    .expect("the histogram was encoded");
                assert_eq!(sparse, SparseHistogram::from(&histogram), "seed {seed}");
                gathered.add(&sparse);
                merged.merge(&histogram);
            }
            let quantiles = [0.0, 0.001, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0];
            for q in quantiles {
                assert_eq!(gathered.quantile(q), merged.quantile(q), "seed {seed}, quantile {q}");
            }
            for limit in [0, 5, 2047, 2048, 1_000_000, 123_456_789_012, u64::MAX >> 1] {
                assert_eq!(
                    gathered.count_above(Nanos(limit)),
                    merged.count_above(Nanos(limit)),
                    "seed {seed}, {limit}"
                );
            }
            assert_eq!((gathered.count(), gathered.max()), (merged.count(), merged.max()));
            assert_eq!(gathered.mean(), merged.mean());
            assert_eq!(
                encoded(&LatencyHistogram::from(&SparseHistogram::from(&gathered))),
                encoded(&merged),
                "seed {seed}"
            );
        }
    }

    #[test]
    fn rejects_damaged_bytes_without_panic() {
        let good = HistogramEncoder::new().encode(&latency(7, 300, 30));
        let mut unpacker = HistogramDecoder::new();
        let rows = [
            EncodedHistogram { count: 299, ..good.clone() },
            EncodedHistogram { min: 5, max: 4, ..good.clone() },
            EncodedHistogram { v2: Vec::new(), ..good.clone() },
            EncodedHistogram { v2: good.v2[..good.v2.len() / 2].to_vec(), ..good.clone() },
        ];
        for row in rows {
            assert_eq!(unpacker.decode(&row), Err(DecodeError), "{row:?}");
        }
        for at in 0..good.v2.len() {
            for bit in 0..8 {
                let mut v2 = good.v2.clone();
                v2[at] ^= 1 << bit;
                // The result may still be a histogram, but decoding must not panic.
                let _ = unpacker.decode(&EncodedHistogram { v2, ..good.clone() });
            }
        }
        assert!(unpacker.decode(&good).is_ok(), "decoding continues after damage");
    }
}
