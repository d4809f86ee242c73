//! Tests of the system under test from outside of the crate

mod probes;
mod real_server;
