//! What did each cell bring, where was its time, and which statements took it?
//!
//! Everything here is of valid trials together: quantiles of merged histograms, figures as medians.

mod hops;
mod operations;
mod statements;

pub use hops::{TailLoad, TrialPassage, hops, replicas};
pub use operations::{TrialPart, operation_results};
pub use statements::{STATEMENTS, Statements, statements};

/// Median; `None` without values.
fn median(values: &[f64]) -> Option<f64> {
    crate::repeats::estimate(values).map(|it| it.median)
}

#[cfg(test)]
mod tests;
