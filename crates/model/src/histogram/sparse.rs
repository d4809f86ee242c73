//! How are thousands of distributions added up in a moment?
//!
//! A [`Latency`] is 270 KiB, of which a second's samples fill some hundred places. Here only those are looked at.

use super::packed::{COMPRESSED, HEADER, LONGEST, is_ours};
use super::{Damaged, Latency, Packed};
use crate::Nanos;
use flate2::{Decompress, FlushDecompress, Status};

/// Values below 2¹¹ have a place of their own, further ones share: each doubling has 2¹⁰ places.
/// Source: `AbstractHistogram.java` of HdrHistogram, for three digits from 1.
const HALF: u64 = 1 << 10;
/// Of a histogram with our bounds.
const PLACES: usize = 33 * HALF as usize;
/// Places whose sum is kept too.
const BLOCK: usize = 64;

/// A distribution by the places of its histogram that hold samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Sparse {
    /// Place and count, ascending.
    places: Vec<(u32, u64)>,
    count: u64,
    sum: u128,
    sum_of_squares: f64,
    min: u64,
    max: u64,
}

impl Default for Sparse {
    fn default() -> Sparse {
        Sparse { places: Vec::new(), count: 0, sum: 0, sum_of_squares: 0.0, min: u64::MAX, max: 0 }
    }
}

impl Sparse {
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sum of all samples in nanoseconds.
    pub fn sum(&self) -> u128 {
        self.sum
    }
}

impl From<&Latency> for Sparse {
    fn from(it: &Latency) -> Sparse {
        let recorded = it.histogram.iter_recorded();
        let places = recorded.map(|it| (place(it.value_iterated_to()), it.count_at_value()));
        Sparse {
            places: if it.count() == 0 { Vec::new() } else { places.collect() },
            count: it.count(),
            sum: it.sum,
            sum_of_squares: it.sum_of_squares,
            min: it.min,
            max: it.max,
        }
    }
}

/// Unpacks one distribution after the other, with the same buffers.
#[derive(Debug)]
pub struct Unpacker {
    inflater: Decompress,
    /// Room for the longest: what is inflated at one stroke is not copied once more.
    bytes: Vec<u8>,
}

impl Unpacker {
    pub fn new() -> Unpacker {
        Unpacker { inflater: Decompress::new(true), bytes: vec![0; HEADER + LONGEST as usize] }
    }

    /// The distribution that was packed. Bytes from anywhere may be tried: they cost bounded time and memory.
    pub fn unpack(&mut self, it: &Packed) -> Result<Sparse, Damaged> {
        let (cookie, rest) = it.v2.split_first_chunk().ok_or(Damaged)?;
        let (length, packed) = rest.split_first_chunk().ok_or(Damaged)?;
        if u32::from_be_bytes(*cookie) != COMPRESSED || u32::from_be_bytes(*length) as usize != packed.len() {
            return Err(Damaged);
        }
        self.inflater.reset(true);
        let done = self.inflater.decompress(packed, &mut self.bytes, FlushDecompress::Finish);
        if !matches!(done, Ok(Status::StreamEnd)) || self.inflater.total_in() as usize != packed.len() {
            return Err(Damaged);
        }
        let bytes = &self.bytes[..self.inflater.total_out() as usize];
        let (header, mut rest) = bytes.split_at_checked(HEADER).ok_or(Damaged)?;
        if !is_ours(header, rest.len()) {
            return Err(Damaged);
        }
        let (mut places, mut at, mut count) = (Vec::new(), 0, 0u64);
        while !rest.is_empty() {
            match number(&mut rest).ok_or(Damaged)? {
                // So many places without a sample.
                it @ i64::MIN..0 => at += usize::try_from(it.unsigned_abs()).map_err(|_| Damaged)?,
                0 => at += 1,
                it => {
                    places.push((at as u32, it as u64));
                    count = count.checked_add(it as u64).ok_or(Damaged)?;
                    at += 1;
                }
            }
            if at > PLACES {
                return Err(Damaged);
            }
        }
        if count != it.count || (count > 0 && it.min > it.max) {
            return Err(Damaged);
        }
        let Packed { sum, sum_of_squares, min, max, .. } = *it;
        Ok(Sparse { places, count, sum, sum_of_squares, min, max })
    }
}

impl Default for Unpacker {
    fn default() -> Unpacker {
        Unpacker::new()
    }
}

/// Zig-zag LEB128; the ninth byte has all of its eight bits. `None` when the bytes end before the number.
fn number(rest: &mut &[u8]) -> Option<i64> {
    let (mut it, mut shift) = (0u64, 0);
    loop {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        let is_last = shift == 56 || byte < 0x80;
        it |= u64::from(if shift == 56 { byte } else { byte & 0x7f }) << shift;
        shift += 7;
        if is_last {
            return Some((it >> 1) as i64 ^ -((it & 1) as i64));
        }
    }
}

/// Where a value is counted.
fn place(value: u64) -> u32 {
    let doublings = (64 - (value | (2 * HALF - 1)).leading_zeros()) - 11;
    doublings * HALF as u32 + (value >> doublings) as u32
}

/// The greatest value that is counted there.
fn greatest_at(place: usize) -> u64 {
    let place = place as u64;
    if place < 2 * HALF {
        return place;
    }
    let doublings = place / HALF - 1;
    ((place % HALF + HALF + 1) << doublings) - 1
}

/// Distributions added up: what a [`Latency`] of all their samples would be.
#[derive(Clone, Debug)]
pub struct Gathered {
    counts: Vec<u64>,
    /// Sums of [`BLOCK`] counts each.
    blocks: Vec<u64>,
    count: u64,
    sum: u128,
    sum_of_squares: f64,
    min: u64,
    max: u64,
}

impl Gathered {
    pub fn new() -> Gathered {
        Gathered {
            counts: vec![0; PLACES],
            blocks: vec![0; PLACES / BLOCK],
            count: 0,
            sum: 0,
            sum_of_squares: 0.0,
            min: u64::MAX,
            max: 0,
        }
    }

    pub fn add(&mut self, it: &Sparse) {
        for &(place, count) in &it.places {
            self.counts[place as usize] += count;
            self.blocks[place as usize / BLOCK] += count;
        }
        self.count += it.count;
        self.sum += it.sum;
        self.sum_of_squares += it.sum_of_squares;
        self.min = self.min.min(it.min);
        self.max = self.max.max(it.max);
    }

    pub fn clear(&mut self) {
        let counts = self.counts.chunks_exact_mut(BLOCK);
        for (block, counts) in self.blocks.iter_mut().zip(counts).filter(|it| *it.0 > 0) {
            *block = 0;
            counts.fill(0);
        }
        (self.count, self.sum, self.sum_of_squares, self.min, self.max) = (0, 0, 0.0, u64::MAX, 0);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// `None` without samples.
    pub fn max(&self) -> Option<Nanos> {
        (self.count > 0).then_some(Nanos(self.max))
    }

    /// `None` without samples.
    pub fn mean(&self) -> Option<Nanos> {
        (self.count > 0).then(|| Nanos((self.sum / u128::from(self.count)) as u64))
    }

    /// As [`Latency::quantile`].
    pub fn quantile(&self, q: f64) -> Option<Nanos> {
        self.quantile_with(q, 0)
    }

    /// As [`Latency::quantile_with`].
    pub fn quantile_with(&self, q: f64, unanswered: u64) -> Option<Nanos> {
        let all = self.count + unanswered;
        let beyond = (all as f64 * (1.0 - q)).round() as u64;
        let rank = super::rank(q, all);
        if beyond < Latency::TAIL || rank > self.count {
            return None;
        }
        let mut seen = 0;
        let full = |it: &u64| {
            seen += it;
            seen >= rank
        };
        let block = self.blocks.iter().position(full)?;
        seen -= self.blocks[block];
        let first = block * BLOCK;
        let place = self.counts[first..first + BLOCK].iter().position(|it| {
            seen += it;
            seen >= rank
        })?;
        Some(Nanos(greatest_at(first + place).min(self.max)))
    }

    /// As [`Latency::above`].
    pub fn above(&self, limit: Nanos) -> u64 {
        let last = (place(limit.0) as usize).min(PLACES - 1);
        let (blocks, rest) = (last / BLOCK, last / BLOCK * BLOCK);
        let within: u64 =
            self.blocks[..blocks].iter().sum::<u64>() + self.counts[rest..=last].iter().sum::<u64>();
        self.count - within.min(self.count)
    }
}

impl Default for Gathered {
    fn default() -> Gathered {
        Gathered::new()
    }
}

impl From<&Gathered> for Sparse {
    fn from(it: &Gathered) -> Sparse {
        let filled = it.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let places = filled.map(|(place, count)| (place as u32, *count)).collect();
        let Gathered { count, sum, sum_of_squares, min, max, .. } = *it;
        Sparse { places, count, sum, sum_of_squares, min, max }
    }
}

impl From<&Sparse> for Latency {
    fn from(it: &Sparse) -> Latency {
        let mut all = Latency::new();
        for &(place, count) in &it.places {
            all.histogram.saturating_record_n(greatest_at(place as usize), count);
        }
        let Sparse { sum, sum_of_squares, min, max, .. } = *it;
        Latency { sum, sum_of_squares, min, max, ..all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Packer;

    /// So many values of up to `bits` bits, from xorshift64 with this seed.
    fn latency(seed: u64, count: usize, bits: u32) -> Latency {
        let mut state = seed;
        let mut it = Latency::new();
        for _ in 0..count {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            it.record(Nanos(state >> (64 - 1 - (state % u64::from(bits)) as u32)));
        }
        it
    }

    fn told(it: &Latency) -> String {
        format!("{:?}", Packer::new().pack(it))
    }

    #[test]
    fn what_is_gathered_is_what_is_merged() {
        let mut gathered = Gathered::new();
        let mut unpacker = Unpacker::new();
        for (seed, count, bits) in [(1, 0, 20), (2, 1, 20), (3, 40, 12), (4, 5000, 30), (5, 20_000, 46)] {
            gathered.clear();
            let mut merged = Latency::new();
            for part in 0..3 {
                let it = latency(seed * 10 + part, count, bits);
                let sparse = unpacker.unpack(&Packer::new().pack(&it)).expect("it was packed");
                assert_eq!(sparse, Sparse::from(&it), "seed {seed}");
                gathered.add(&sparse);
                merged.merge(&it);
            }
            let quantiles = [0.0, 0.001, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0];
            for q in quantiles {
                assert_eq!(gathered.quantile(q), merged.quantile(q), "seed {seed}, quantile {q}");
            }
            for limit in [0, 5, 2047, 2048, 1_000_000, 123_456_789_012, u64::MAX >> 1] {
                assert_eq!(gathered.above(Nanos(limit)), merged.above(Nanos(limit)), "seed {seed}, {limit}");
            }
            assert_eq!((gathered.count(), gathered.max()), (merged.count(), merged.max()));
            assert_eq!(gathered.mean(), merged.mean());
            assert_eq!(told(&Latency::from(&Sparse::from(&gathered))), told(&merged), "seed {seed}");
        }
    }

    #[test]
    fn damage_is_noticed_and_is_no_panic() {
        let good = Packer::new().pack(&latency(7, 300, 30));
        let mut unpacker = Unpacker::new();
        let rows = [
            Packed { count: 299, ..good.clone() },
            Packed { min: 5, max: 4, ..good.clone() },
            Packed { v2: Vec::new(), ..good.clone() },
            Packed { v2: good.v2[..good.v2.len() / 2].to_vec(), ..good.clone() },
        ];
        for row in rows {
            assert_eq!(unpacker.unpack(&row), Err(Damaged), "{row:?}");
        }
        for at in 0..good.v2.len() {
            for bit in 0..8 {
                let mut v2 = good.v2.clone();
                v2[at] ^= 1 << bit;
                // It may be a distribution yet; it must not be a panic.
                let _ = unpacker.unpack(&Packed { v2, ..good.clone() });
            }
        }
        assert!(unpacker.unpack(&good).is_ok(), "it goes on after damage");
    }
}
