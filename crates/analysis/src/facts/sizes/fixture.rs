//! Histograms of random response sizes, for tests

use model::SplitMix64;

pub(crate) fn log_normal(rng: &mut SplitMix64, median: f64, sigma: f64) -> u64 {
    (median * (sigma * rng.normal()).exp()) as u64
}
