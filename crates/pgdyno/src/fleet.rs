//! Agents that a run has leased, as its load generators
//!
//! An agent runs threads of the load, and is to the coordinator what a thread is to a process: it reports one interval
//! per second, and the intervals of all agents are merged without loss.

mod agent_samples;
pub mod assignment;
mod decode;
mod discovery;
pub mod event;
mod lease;
mod load;
mod local;
mod merge;
pub mod options;

pub use discovery::discover;
pub use lease::{Fleet, machine_id, version};
pub use load::FleetLoad;
