//! Pure functions from measurements to facts with their evidence
//!
//! This crate forms no sentences and reads no clocks.

pub mod advice;
mod aggregate;
pub mod cause;
pub mod chart;
pub mod compare;
pub mod durability;
mod error_name;
mod event_count;
pub mod feed_coverage;
pub mod finding;
#[cfg(test)]
mod fixture;
pub mod freshness;
pub mod history;
pub mod littles_law;
pub mod live;
pub mod matrix;
pub mod objective;
mod objective_summary;
pub mod outage;
pub mod plateau;
mod progress;
pub mod repeats;
pub mod replication;
pub mod rule;
pub mod run_result;
pub mod search;
pub mod sizes;
pub mod slopes;
pub mod soak;
pub mod steady;
pub mod step_setup;
pub mod strategy;
mod summary;
pub mod survival;
pub mod totals;
pub mod usl;
mod validity;

pub use aggregate::LogAggregator;
pub use progress::progress;
pub use summary::summarise;
pub use validity::{add_clock_step, add_throttling, outage_doubt, remove_outage_doubt};
