//! Nodes of the system under test: processes, data and samples
//!
//! This crate finds, starts, stops and samples the processes under test, and fills their tables. It depends neither on
//! the load nor on the analysis.

pub mod chain;
pub mod client;
pub mod component;
pub mod data_cache;
pub mod dataset;
pub mod embedded;
pub mod exposition;
pub mod features;
mod file_hash;
mod file_lock;
pub mod find;
pub mod freshness;
pub mod hook;
pub mod host;
pub mod http;
pub mod https_client;
pub mod interrupt;
pub mod invariants;
pub mod limits;
mod listener;
pub mod location;
pub mod log_parser;
pub mod other_runs;
pub mod page;
pub mod plans;
pub mod probe;
pub mod read_back;
pub mod replication;
pub mod restore;
pub mod roles;
pub mod sampler;
pub mod source;
pub mod statement_counts;
pub mod supervisor;
pub mod tls_files;
