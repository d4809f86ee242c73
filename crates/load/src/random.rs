//! Pseudorandom numbers and distributions with the same results as PostgreSQL 15's pgbench
//!
//! The generator is xoroshiro128** seeded through splitmix64 (Blackman and Vigna, prng.di.unimi.it; `pg_prng.c`). The
//! distributions repeat pgbench's arithmetic operation by operation, so that the same `--random-seed` gives the same
//! run. This module and pgbench use the same `libm`. This module neither allocates nor reads a clock.

use model::SplitMix64;
use std::f64::consts::PI;
use std::hint::black_box;

/// Minimum parameter of `random_gaussian`; a smaller parameter would reject too many draws.
pub const GAUSSIAN_MIN: f64 = 2.0;
/// Minimum parameter of `random_zipfian`; [`ZIPFIAN_MAX`] is the maximum.
pub const ZIPFIAN_MIN: f64 = 1.001;
pub const ZIPFIAN_MAX: f64 = 1000.0;

/// Random number generator with 128 bits of state, which are never all zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prng {
    s0: u64,
    s1: u64,
}

impl Prng {
    /// Generator in the state that `pg_prng_seed(seed)` sets.
    pub fn seeded(seed: u64) -> Prng {
        let mut seeds = SplitMix64(seed);
        let (s0, s1) = (seeds.next_u64(), seeds.next_u64());
        if s0 == 0 && s1 == 0 {
            // The all-zero state would remain zero forever. Like PostgreSQL, replace it with a pair of constants by
            // Knuth.
            return Prng { s0: 0x5851_F42D_4C95_7F2D, s1: 0x1405_7B7E_F767_814F };
        }
        Prng { s0, s1 }
    }

    /// Uniform 64-bit number.
    #[inline]
    pub fn u64(&mut self) -> u64 {
        let s0 = self.s0;
        let mixed = self.s1 ^ s0;
        let value = s0.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        self.s0 = s0.rotate_left(24) ^ mixed ^ (mixed << 16);
        self.s1 = mixed.rotate_left(37);
        value
    }

    /// Uniform number in `min..=max`. If `max <= min`, returns `min` without a draw.
    #[inline]
    pub fn u64_range(&mut self, min: u64, max: u64) -> u64 {
        if max <= min {
            return min;
        }
        let range = max - min;
        let shift = range.leading_zeros();
        loop {
            let value = self.u64() >> shift;
            if value <= range {
                return min + value;
            }
        }
    }

    /// Uniform number in [0, 1), in steps of 2⁻⁵².
    #[inline]
    pub fn f64(&mut self) -> f64 {
        (self.u64() >> 12) as f64 * (1.0 / (1u64 << 52) as f64)
    }
}

/// Generators of one run, all derived from `--random-seed`, in pgbench's order.
///
/// Call [`client_rng`](SeedSequence::client_rng) once per client, in the order of their ids. Then call
/// [`default_seed`](SeedSequence::default_seed), unless `-D default_seed=…` was given. Then call
/// [`thread_rngs`](SeedSequence::thread_rngs) once per thread. In any other order, the numbers differ from pgbench's
/// numbers.
#[derive(Clone, Copy, Debug)]
pub struct SeedSequence(Prng);

/// Random number generators of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadRngs {
    /// Generator that draws the next script of a client (`Program::choose`).
    pub choose: Prng,
    /// Generator that draws the time of the next arrival ([`poisson`]).
    pub throttle: Prng,
    /// Generator that draws the transactions which `--sampling-rate` logs.
    pub sample: Prng,
}

impl SeedSequence {
    pub fn new(seed: u64) -> SeedSequence {
        SeedSequence(Prng::seeded(seed))
    }

    /// Generator for the next client's expressions.
    pub fn client_rng(&mut self) -> Prng {
        Prng::seeded(self.0.u64())
    }

    /// Value of `:default_seed`, the default seed of `hash` and `permute`.
    pub fn default_seed(&mut self) -> i64 {
        self.0.u64() as i64
    }

    pub fn thread_rngs(&mut self) -> ThreadRngs {
        let mut sequence = || Prng::seeded(self.0.u64());
        ThreadRngs { choose: sequence(), throttle: sequence(), sample: sequence() }
    }
}

/// Error in the arguments of a distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DrawError {
    /// The range is empty: min > max.
    EmptyRange,
    /// The range is too large: max − min + 1 does not fit into 63 bits.
    RangeTooLarge,
    Gaussian(f64),
    Exponential(f64),
    Zipfian(f64),
}

/// Checks that `min..=max` is a valid range for draws.
#[inline]
pub fn check_range(min: i64, max: i64) -> Result<(), DrawError> {
    if min > max {
        return Err(DrawError::EmptyRange);
    }
    match max.checked_sub(min).and_then(|delta| delta.checked_add(1)) {
        Some(_) => Ok(()),
        None => Err(DrawError::RangeTooLarge),
    }
}

/// `random(min, max)`: uniform integer in `min..=max`.
#[inline]
pub fn uniform(rng: &mut Prng, min: i64, max: i64) -> Result<i64, DrawError> {
    check_range(min, max)?;
    Ok(min + rng.u64_range(0, (max - min) as u64) as i64)
}

/// `random_exponential`: the density decreases from `min` to `max` by the factor e^−`parameter`.
pub fn exponential(rng: &mut Prng, min: i64, max: i64, parameter: f64) -> Result<i64, DrawError> {
    check_range(min, max)?;
    if parameter <= 0.0 {
        return Err(DrawError::Exponential(parameter));
    }
    let cut = (-parameter).exp();
    let uniform = 1.0 - rng.f64();
    let fraction = -(cut + (1.0 - cut) * uniform).ln() / parameter;
    Ok(at_fraction(min, max, fraction))
}

/// `random_gaussian`: normal distribution around the middle of the range, truncated at `parameter` standard deviations.
pub fn gaussian(rng: &mut Prng, min: i64, max: i64, parameter: f64) -> Result<i64, DrawError> {
    check_range(min, max)?;
    if parameter < GAUSSIAN_MIN {
        return Err(DrawError::Gaussian(parameter));
    }
    // Basic Box–Muller transform. Repeat draws outside of ±parameter (at most 8.6 % of the draws).
    let deviation = loop {
        let (first, second) = (1.0 - rng.f64(), 1.0 - rng.f64());
        let deviation = (-2.0 * first.ln()).sqrt() * (2.0 * PI * second).sin();
        if !(deviation < -parameter || deviation >= parameter) {
            break deviation;
        }
    };
    Ok(at_fraction(min, max, (deviation + parameter) / (parameter * 2.0)))
}

/// `random_zipfian`: `min` + k with a probability proportional to 1 / (k + 1)^`s`.
///
/// Rejection method: L. Devroye, "Non-Uniform Random Variate Generation" (1986), pages 550–551. The number of draws
/// increases as `s` approaches 1 (about 400 at 1.001).
pub fn zipfian(rng: &mut Prng, min: i64, max: i64, s: f64) -> Result<i64, DrawError> {
    check_range(min, max)?;
    // pgbench accepts NaN here and then never returns.
    if !(ZIPFIAN_MIN..=ZIPFIAN_MAX).contains(&s) {
        return Err(DrawError::Zipfian(s));
    }
    let count = max - min + 1;
    if count <= 1 {
        return Ok(min);
    }
    // Without `black_box`, the optimiser would replace 2^x by exp2(x), which differs in the last bit.
    let b = black_box(2.0f64).powf(s - 1.0);
    loop {
        let (u, v) = (rng.f64(), rng.f64());
        let x = u.powf(-1.0 / (s - 1.0)).floor();
        let t = (1.0 + 1.0 / x).powf(s - 1.0);
        if v * x * (t - 1.0) / (b - 1.0) <= t / b && x <= count as f64 {
            return Ok((min - 1).wrapping_add(truncate_to_i64(x)));
        }
    }
}

/// Interval before the next arrival of a Poisson process with mean interval `center`: an integer ≥ 0, in `center`'s
/// unit.
#[inline]
pub fn poisson(rng: &mut Prng, center: f64) -> i64 {
    let uniform = 1.0 - rng.f64();
    truncate_to_i64(-uniform.ln() * center + 0.5)
}

fn at_fraction(min: i64, max: i64, fraction: f64) -> i64 {
    min.wrapping_add(truncate_to_i64((max - min + 1) as f64 * fraction))
}

/// Truncates to an integer. Values out of range become the smallest i64, as in pgbench on x86-64. Only an infinite or
/// undefined parameter produces such values.
fn truncate_to_i64(x: f64) -> i64 {
    if x >= -(2f64.powi(63)) && x < 2f64.powi(63) { x as i64 } else { i64::MIN }
}

/// `hash_fnv1a`: FNV-1a over the eight bytes of `value`, low byte first.
pub fn hash_fnv1a(value: i64, seed: i64) -> i64 {
    let mut hash = 0xcbf2_9ce4_8422_2325 ^ seed as u64;
    for octet in value.to_le_bytes() {
        hash = (hash ^ u64::from(octet)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash as i64
}

/// `hash_murmur2`, also called `hash`: MurmurHash64A of one 64-bit word (A. Appleby, smhasher).
pub fn hash_murmur2(value: i64, seed: i64) -> i64 {
    const MULTIPLIER: u64 = 0xc6a4_a793_5bd1_e995;
    const ROTATION: u32 = 47;
    let scramble = |x: u64| (x ^ (x >> ROTATION)).wrapping_mul(MULTIPLIER);
    let word = scramble((value as u64).wrapping_mul(MULTIPLIER));
    let mut hash = seed as u64 ^ MULTIPLIER.wrapping_mul(8);
    hash = scramble((hash ^ word).wrapping_mul(MULTIPLIER));
    (hash ^ (hash >> ROTATION)) as i64
}

/// `permute`: position of `value` modulo `size` in a pseudorandom permutation of 0..`size`, chosen by `seed`.
///
/// 2^k is the largest power of two up to `size`. Each of six rounds permutes the lowest 2^k numbers, then the highest
/// 2^k (odd multiplier, xor, rotation), and then rotates all numbers modulo `size`. Returns 0 if `size` is below 2.
pub fn permute(value: i64, size: i64, seed: i64) -> i64 {
    if size < 2 {
        return 0;
    }
    let size = size as u64;
    let mut rng = Prng::seeded(seed as u64);
    let bits = size.ilog2();
    let mask = (1u64 << bits) - 1;
    let half = |rng: &mut Prng, x: u64| {
        let (multiplier, flip) = ((rng.u64() & mask) | 1, rng.u64() & mask);
        if x > mask {
            return x;
        }
        let x = (x.wrapping_mul(multiplier) ^ flip) & mask;
        ((x << 1) & mask) | (x >> (bits - 1))
    };
    let mut place = value as u64 % size;
    for _ in 0..6 {
        place = half(&mut rng, place);
        place = size - 1 - half(&mut rng, size - 1 - place);
        place = (place + rng.u64_range(0, size - 1)) % size;
    }
    place as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values are the output of pgbench 15 with `--random-seed=5432`, as in its test suite.
    #[test]
    fn draws_match_pgbench_for_seed_5432() {
        let rng = &mut SeedSequence::new(5432).client_rng();
        assert_eq!(uniform(rng, 10, 19), Ok(17));
        assert_eq!(exponential(rng, 100, 199, 10.0), Ok(104));
        assert_eq!(gaussian(rng, 1000, 1999, 10.0), Ok(1498));
        assert_eq!(zipfian(rng, 1, 9, 1.3), Ok(3));
    }

    #[test]
    fn hashes_match_pgbench() {
        assert_eq!(hash_murmur2(10, 5432), -5_817_877_081_768_721_676);
        assert_eq!(hash_fnv1a(10, 5432), -7_793_829_335_365_542_153);
    }

    #[test]
    fn permute_matches_pgbench() {
        let size = i64::MAX - 10;
        let expected: [i64; 7] = [
            520_382_784_483_822_430,
            1_143_715_004_660_802_862,
            447_293_596_416_496_998,
            916_527_772_266_572_956,
            2_763_809_008_686_028_849,
            8_648_551_549_198_294_572,
            4_542_876_852_200_565_125,
        ];
        for (i, expected) in (1..).zip(expected) {
            assert_eq!(permute(size - i, size, 5432), expected);
        }
        assert_eq!([permute(0, 2, 5431), permute(1, 2, 5431)], [0, 1]);
        assert_eq!([permute(0, 2, 5433), permute(1, 2, 5433)], [1, 0]);
        for size in 1..200 {
            let mut places: Vec<i64> = (0..size).map(|value| permute(value, size, 7)).collect();
            places.sort_unstable();
            assert!(places.into_iter().eq(0..size), "permute is not one-to-one for size {size}");
        }
    }

    #[test]
    fn rejects_invalid_draw_parameters() {
        let rng = &mut Prng::seeded(1);
        let untouched = *rng;
        assert_eq!(uniform(rng, 5, 3), Err(DrawError::EmptyRange));
        assert_eq!(uniform(rng, 0, i64::MAX), Err(DrawError::RangeTooLarge));
        assert_eq!(gaussian(rng, 0, 9, 1.9), Err(DrawError::Gaussian(1.9)));
        assert_eq!(exponential(rng, 0, 9, 0.0), Err(DrawError::Exponential(0.0)));
        assert_eq!(zipfian(rng, 0, 9, 1.0), Err(DrawError::Zipfian(1.0)));
        assert!(zipfian(rng, 0, 9, f64::NAN).is_err());
        assert_eq!(uniform(rng, 4, 4), Ok(4));
        assert_eq!(
            *rng, untouched,
            "a draw that fails or has one possible value must not advance the sequence"
        );
    }
}
