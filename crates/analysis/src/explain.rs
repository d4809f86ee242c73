//! Explanations of a run's figures: findings, causes of the maximum, advice on indexes

pub mod advice;
pub mod cause;
pub mod finding;
pub mod soak;
