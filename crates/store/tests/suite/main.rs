//! Tests of run files from outside of the crate

mod disk_full;
mod docs;
mod facts;
mod foreign;
mod go_on;
mod hostile;
#[path = "../invent/mod.rs"]
mod invent;
mod round_trip;
