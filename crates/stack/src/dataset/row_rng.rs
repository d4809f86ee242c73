//! Random generator per row
//!
//! Every row has a separate random sequence. The rows are therefore the same for any number of workers and any order.

use model::SplitMix64;

/// Creates the generator for row `row` with `seed`, which may come from [`derive_seed`].
pub(super) fn row_rng(seed: u64, row: u64) -> SplitMix64 {
    // Mix the seed, because the sequence of a row and the row numbers advance by the same step. Without mixing, the
    // second number of one row would be the first number of the next row.
    SplitMix64(SplitMix64::mix(SplitMix64::mix(seed) ^ row.wrapping_mul(SplitMix64::STEP)))
}

/// Derives a separate seed from `seed` and `names`.
pub(super) fn derive_seed(seed: u64, names: &[&str]) -> u64 {
    let mut rng = SplitMix64::mix(seed);
    for name in names {
        name.bytes().for_each(|byte| rng = SplitMix64::mix(rng ^ u64::from(byte)));
        // This step ends the name, so that ("ab", "c") differs from ("a", "bc").
        rng = SplitMix64::mix(rng ^ 0x100);
    }
    rng
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_sequences_do_not_overlap() {
        for seed in [0, 1, 42, u64::MAX] {
            let mut drawn = std::collections::HashSet::new();
            for row in 0..10_000 {
                let mut chance = row_rng(seed, row);
                for draw in 0..8 {
                    assert!(drawn.insert(chance.next_u64()), "seed {seed}, row {row}, draw {draw}");
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
        for (at, seed) in seeds.iter().enumerate() {
            assert!(!seeds[..at].contains(seed), "{seeds:?}");
        }
    }
}
