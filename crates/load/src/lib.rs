//! Load generator: sends transactions on schedule and records their outcomes
//!
//! A [`Shard`] contains the clients and connections of one thread. It does no I/O and receives the time as an argument.
//! Drivers (epoll, io_uring) transfer its bytes. The simulator runs shards against simulated servers in simulated time.

pub mod driver;
pub mod feed;
mod http_service;
pub mod ledger;
mod load_plan;
pub mod random;
mod recorded_mix;
pub mod recorder;
mod replay;
pub mod schedule;
pub mod script;
pub mod shard;
pub mod sim;
mod sql_request;
pub mod workload;

pub use http_service::Service;
pub use load_plan::{InitialValue, LoadPlan, MeasuredCommands, RngSeeds};
pub use recorded_mix::{MixTransaction, RecordedMix};
pub use recorder::{IntervalRecorder, Recorder, TraceEvent, TransactionLog};
pub use replay::{Replay, ReplayRequest, ReplaySession, ReplaySource};
pub use shard::{AbortReason, Action, ClientStep, ConnId, LoadEvent, Shard};
pub use workload::{Hosts, PostgresEndpoint, Target, Workload};
