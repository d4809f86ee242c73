//! Tests of the program as its users run it

mod bench;
mod check;
mod ci;
mod compare;
mod deployment;
mod distil;
mod docs;
mod exit_statuses;
mod experiment_file;
mod experiments;
mod export;
mod folder;
mod import;
mod outage;
mod output;
mod pytest;
mod real_server;
mod report;
mod saved_bench;
mod schema;
mod schemas;
mod standby_names;
mod width;
