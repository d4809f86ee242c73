//! Storage of runs
//!
//! Each run is one SQLite file, written while the run is in progress. [`create`] returns a [`Writer`]; [`Run::open`]
//! returns a reader. Ticks are stored and returned as they were measured. `docs/store.md` describes the file for users
//! of other programs.

mod bounds;
mod error;
mod fact;
mod file;
mod find;
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
mod service_minutes;
mod steps;
mod stop_request;
mod write;
mod writer;

pub use error::{Error, ErrorCause, FactError, Result};
pub use file::{format_utc, is_valid_name};
pub use find::{FindError, FoundRun, find, find_in};
pub use list::{RunEntry, RunOverview, find_exact, list, remove, run_names};
pub use progress::RunProgress;
pub use read::{Run, State, TrialRecord};
pub use record::{
    Configuration, FactRecord, NodeRecord, RunHeader, RunOutcome, RunStatus, TrialEnd, TrialHeader, TrialId,
};
pub use replay::Ticks;
pub use schema::VERSION;
pub use seconds::{HistogramSelection, Seconds};
pub use stop_request::{is_stop_requested, request_stop};
pub use writer::{WriteError, Writer, create, resume};

/// Version of SQLite, such as `3.50.2`.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}
