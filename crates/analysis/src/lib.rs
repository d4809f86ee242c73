//! What follows from the run?
//!
//! Pure functions from what was measured to facts with their evidence. No sentence is formed here, no clock is read.

mod aggregate;
mod condition;
#[cfg(test)]
mod fixture;
pub mod objective;
mod progress;
pub mod rule;
pub mod strategy;
mod summary;
mod validity;

pub use aggregate::Aggregates;
pub use progress::progress;
pub use summary::summarise;
