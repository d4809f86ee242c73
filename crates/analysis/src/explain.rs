//! Explanations of the figures: findings, causes, advice

pub mod advice;
pub mod cause;
pub mod finding;
pub mod soak;
