//! What is sent when, and what came of it?
//!
//! One thread's world is a [`Shard`]: sans I/O, given every moment as an argument. Drivers (epoll, io_uring) carry its
//! bytes; the simulator runs it against invented servers on an invented clock.

pub mod driver;
pub mod feed;
mod http_service;
pub mod ledger;
pub mod random;
pub mod recorder;
pub mod schedule;
pub mod script;
pub mod shard;
pub mod sim;
pub mod workload;

pub use http_service::Service;
pub use recorder::{IntervalRecorder, Recorder, TransactionLog};
pub use shard::{AbortReason, Action, ConnId, LoadEvent, Shard};
pub use workload::{Hosts, InitialValue, LoadPlan, PostgresEndpoint, RngSeeds, Target, Workload};
