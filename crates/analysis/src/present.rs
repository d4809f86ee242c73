//! Figures as they are shown: matrix, charts, comparisons

pub(crate) mod aggregate;
pub mod chart;
pub mod compare;
pub mod history;
pub mod live;
pub mod matrix;
pub mod run_result;
pub mod totals;

pub use aggregate::LogAggregator;
