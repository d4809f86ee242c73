//! What did each cell bring, where was its time, and which statements took it?
//!
//! Everything here is of valid trials together: quantiles of merged histograms, figures as medians.

mod brought;
mod hops;
mod statements;

pub use brought::{TrialPart, operation_results};
pub use hops::{TailLoad, TrialPassage, hops, replicas};
pub use statements::{STATEMENTS, Statements, statements};

/// Median; `None` without values.
fn median(values: &[f64]) -> Option<f64> {
    crate::repeats::estimate(values).map(|it| it.median)
}

#[cfg(test)]
mod tests;
