//! Tests of the load generator from outside of the crate, most of them in simulated time

mod english;
mod keyed;
mod keyed_web;
mod script_arbitrary;
mod script_commands;
mod script_expressions;
mod script_undefined;
mod simulated;
mod simulated_endings;
mod simulated_hops;
mod simulated_listed;
mod simulated_mix;
mod simulated_outage;
mod simulated_pause;
mod simulated_recorded_mix;
mod simulated_replay;
mod simulated_rows;
mod simulated_start;
mod simulated_users;
mod simulated_web;
mod two_endpoints;
mod web_faults;
