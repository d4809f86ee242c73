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

pub use error::{Error, Result, Wrong};
pub use file::utc;
pub use glance::Glance;
pub use list::{Content, Listed, exact, find, list, remove};
pub use read::{Recorded, Run, State};
pub use replay::Ticks;
pub use request::{ask_to_end, is_asked_to_end};
pub use schema::VERSION;
pub use seconds::{Seconds, Wanted};
pub use words::{Configuration, End, Header, Node, Note, Outcome, Status, Trial, TrialId};
pub use writer::{Trouble, Writer, create, go_on};
