//! Plans and diagnostics of experiment files, with the diagnostics in English

mod common;
mod failover;
mod find;
mod generators;
mod plan;
mod replication;
