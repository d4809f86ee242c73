//! Judgements on measurements: validity, objectives, stop rules

pub mod failover_objective;
pub mod objective;
pub(crate) mod objective_summary;
pub mod rule;
pub(crate) mod several_trials;
pub(crate) mod summary;
pub mod trial_failure;
pub(crate) mod validity;

pub use summary::{distribution, summarise};
pub use validity::{
    add_agents, add_clock_step, add_feed_end, add_incomplete_log, add_mix_difference, add_result_differences,
    add_throttling, add_unused_nodes, doubts_in_verdict, remove_outage_doubt,
};
