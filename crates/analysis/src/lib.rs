//! Pure functions from measurements to facts with their evidence
//!
//! This crate produces no text for users and reads no clocks.

pub mod durability;
pub mod explain;
pub mod facts;
#[cfg(test)]
mod fixture;
pub mod present;
pub mod stats;
pub mod strategy;
pub mod verdict;
