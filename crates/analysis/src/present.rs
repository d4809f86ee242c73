//! Figures in the form in which reports show them: matrix, charts, comparisons

pub(crate) mod aggregate;
pub mod chart;
pub mod compare;
pub mod history;
pub mod live;
pub mod matrix;
pub mod remaining;
pub mod run_result;
pub mod totals;

pub use aggregate::LogAggregator;
