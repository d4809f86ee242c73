//! Kinds of PostgreSQL locks

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kind of a lock for which sessions wait, except row locks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum LockKind {
    /// Advisory locks, which an application takes itself.
    Advisory,
    /// Locks of whole tables.
    Relation,
    /// Locks that serialise the extension of a table or index by new pages.
    Extend,
    /// Locks of database objects other than tables.
    Object,
    /// Buffers that other sessions have pinned.
    BufferPin,
    /// Heavyweight locks of another kind, by the name of their wait event, such as `virtualxid`.
    Heavyweight { name: String },
    /// Lightweight lock, by the name of its wait event, such as `WALInsert`.
    Lightweight { name: String },
}
