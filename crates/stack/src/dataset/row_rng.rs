//! Random generator per row.
//!
//! Every row has its own sequence. Any number of workers can generate rows in any order, and the rows are the same.

/// SplitMix64: G. Steele et al., "Fast splittable pseudorandom number generators" (2014).
#[derive(Clone, Copy, Debug)]
pub(super) struct RowRng(u64);

/// The odd number nearest to 2⁶⁴ ÷ the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl RowRng {
    /// Sequence of row `row` for `seed`, which may come from [`derive_seed`].
    pub fn for_row(seed: u64, row: u64) -> RowRng {
        // Mixed, because sequences advance by the same step as rows: unmixed, one row's second number would be the
        // next row's first.
        RowRng(mix(mix(seed) ^ row.wrapping_mul(STEP)))
    }

    /// Any 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// Uniform in 0..n, with a bias below n / 2⁶⁴.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// Uniform in [0, 1), in steps of 2⁻⁵³.
    #[inline]
    pub fn fraction(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

/// Derives a separate seed for anything that has a name.
pub(super) fn derive_seed(seed: u64, names: &[&str]) -> u64 {
    let mut it = mix(seed);
    for name in names {
        name.bytes().for_each(|byte| it = mix(it ^ u64::from(byte)));
        // Terminates the name, so that ("ab", "c") differs from ("a", "bc").
        it = mix(it ^ 0x100);
    }
    it
}

#[inline]
fn mix(mut it: u64) -> u64 {
    it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    it ^ (it >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_sequences_do_not_overlap() {
        for seed in [0, 1, 42, u64::MAX] {
            let mut seen = std::collections::HashSet::new();
            for row in 0..10_000 {
                let mut chance = RowRng::for_row(seed, row);
                for draw in 0..8 {
                    assert!(seen.insert(chance.bits()), "seed {seed}, row {row}, draw {draw}");
                }
            }
        }
    }

    #[test]
    fn different_names_give_different_seeds() {
        let seeds = [
            derive_seed(1, &["ab", "c"]),
            derive_seed(1, &["a", "bc"]),
            derive_seed(2, &["ab", "c"]),
            derive_seed(1, &["ab"]),
        ];
        for (at, it) in seeds.iter().enumerate() {
            assert!(!seeds[..at].contains(it), "{seeds:?}");
        }
    }
}
