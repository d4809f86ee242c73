//! What was measured, and is it still there?
//!
//! One SQLite file per run, written while it happens: [`create`] gives a [`Writer`], [`Run::open`] reads. What a tick was
//! when it was written, it is when it is read; nothing here is computed from it. `docs/store.md` describes the file for
//! those who read it with other programs.

mod bounds;
mod error;
mod file;
mod guard;
pub mod ledger;
mod list;
mod process;
mod progress;
mod read;
mod record;
mod replay;
mod rows;
mod schema;
mod seconds;
mod stop_request;
mod write;
mod writer;

pub use error::{Error, ErrorCause, Result};
pub use file::format_utc;
pub use list::{RunEntry, RunOverview, find, find_exact, list, remove};
pub use progress::RunProgress;
pub use read::{Run, State, TrialRecord};
pub use record::{
    Configuration, NodeRecord, Note, RunHeader, RunOutcome, RunStatus, TrialEnd, TrialHeader, TrialId,
};
pub use replay::Ticks;
pub use schema::VERSION;
pub use seconds::{HistogramSelection, Seconds};
pub use stop_request::{is_stop_requested, request_stop};
pub use writer::{WriteError, Writer, create, resume};
