//! What was measured, and is it still there?
//!
//! One SQLite file per run, written while it happens: [`create`] gives a [`Writer`], [`Run::open`] reads. What a tick was
//! when it was written, it is when it is read; nothing here is computed from it. `docs/store.md` describes the file for
//! those who read it with other programs.

mod alive;
mod bounds;
mod error;
mod file;
mod glance;
mod guard;
pub mod ledger;
mod list;
mod read;
mod replay;
mod request;
mod rows;
mod schema;
mod seconds;
mod words;
mod write;
mod writer;

pub use error::{Error, ErrorCause, Result};
pub use file::format_utc;
pub use glance::RunProgress;
pub use list::{RunEntry, RunOverview, find, find_exact, list, remove};
pub use read::{Run, State, TrialRecord};
pub use replay::Ticks;
pub use request::{is_stop_requested, request_stop};
pub use schema::VERSION;
pub use seconds::{HistogramSelection, Seconds};
pub use words::{
    Configuration, NodeRecord, Note, RunHeader, RunOutcome, RunStatus, TrialEnd, TrialHeader, TrialId,
};
pub use writer::{WriteError, Writer, create, resume};
