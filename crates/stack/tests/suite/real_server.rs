//! Tests with real servers and real processes
//!
//! Tests that damage nothing share one temporary server; tests that kill servers start their own. They require an
//! installed PostgreSQL with pgbench; `./x test` installs it.

mod ask;
mod capture;
mod chain;
mod chain_faults;
mod datasets;
mod datasets_load;
mod dump;
mod embedded;
mod ends;
mod ends_proof;
mod faults;
mod freshness;
mod limits;
mod pages;
mod patroni;
mod plans;
pub mod replicas;
mod restore;
mod roles;
mod sampler;
mod scratch;
pub mod server;
mod service_programs;
mod services;
mod services_built;
mod tiny;
