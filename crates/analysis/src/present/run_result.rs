//! Results of each cell: operations, time per hop, and statements
//!
//! All results combine the valid trials. Quantiles come from merged histograms. Figures are medians.

mod connects;
mod fault_phases;
mod hops;
mod logs;
mod operations;
mod period_sum;
mod quantiles;
mod stages;
mod statements;
mod states;
mod steps;
mod table_growth;
mod time_parts;

pub use connects::initial_connects;
pub use fault_phases::{FaultPhaseCollector, FaultPhaseSum, fault_phase_results};
pub use hops::{TailLoad, TrialPassage, hops, replicas};
pub use logs::{deadlocks, logs};
pub use operations::{TrialPart, operation_results};
pub use stages::{PlannedStage, StageCollector, StageSum, planned_stages, stage_break, stage_results};
pub use statements::{STATEMENTS, Statements, statements};
pub use states::states;
pub use table_growth::table_growths;
pub use time_parts::time_parts;

#[cfg(test)]
mod tests;
