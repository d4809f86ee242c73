//! Agents: load generators on other machines, and their communication with a coordinator over NATS
//!
//! The coordinator is the process that the user started. It leases agents for a run, assigns threads of its load to them,
//! and merges their measurements. This crate knows the messages, but neither loads nor measurements beyond
//! [`model::Interval`].

pub mod clock_offset;
pub mod frame;
pub mod interval;
pub mod nats;
pub mod protocol;
pub mod seal;
