//! What follows from the run?
//!
//! Pure functions from what was measured to facts with their evidence. No sentence is formed here, no clock is read.

pub mod account;
pub mod advice;
mod aggregate;
pub mod cause;
pub mod chart;
pub mod compare;
mod condition;
pub mod durability;
pub mod finding;
#[cfg(test)]
mod fixture;
pub mod freshness;
pub mod history;
pub mod little;
pub mod live;
pub mod matrix;
pub mod objective;
pub mod outage;
pub mod plateau;
mod progress;
pub mod reach;
mod repeated;
pub mod repeats;
pub mod replication;
pub mod rule;
pub mod search;
pub mod setting;
pub mod sizes;
pub mod slopes;
pub mod soak;
pub mod steady;
pub mod strategy;
mod summary;
pub mod survival;
mod tally;
pub mod totals;
pub mod usl;
mod validity;

pub use aggregate::LogAggregator;
pub use progress::progress;
pub use summary::summarise;
pub use validity::{add_clock_step, add_throttling, outage_doubt, remove_outage_doubt};
