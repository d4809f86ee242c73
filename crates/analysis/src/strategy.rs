//! Choice of the next trial

pub mod search;
pub mod step_setup;
pub mod sweep;
