//! Random number generator of datasets, simulations and resampling

/// SplitMix64; G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators" (2014).
#[derive(Clone, Copy, Debug)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// Difference between successive states: the odd number nearest to 2⁶⁴ ÷ the golden ratio.
    pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

    /// Uniform 64-bit number.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(SplitMix64::STEP);
        SplitMix64::mix(self.0)
    }

    /// Number that the generator returns in this state. The function permutes the 64-bit numbers and maps 0 to 0.
    #[inline]
    pub fn mix(state: u64) -> u64 {
        let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        state ^ (state >> 31)
    }

    /// Uniform number in [0, 1), in steps of 2⁻⁵³.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Normally distributed number with mean 0 and deviation 1. Source: Box and Muller (1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Uniform number below `n`; the bias is below n / 2⁶⁴.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: the output of `splitmix64.c` (S. Vigna, prng.di.unimi.it) for the seed 1234567.
    #[test]
    fn equals_the_published_generator() {
        let mut rng = SplitMix64(1_234_567);
        let numbers: Vec<u64> = (0..5).map(|_| rng.next_u64()).collect();
        assert_eq!(
            numbers,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821
            ]
        );
    }
}
