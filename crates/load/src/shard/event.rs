//! What is worth telling a person while it happens?

use crate::script::Value;
use model::{ClientId, Code, ScriptId};

/// Something that happened to a client, told once per kind unless the plan is verbose.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadEvent {
    /// It could not connect; the server's or the system's words.
    Refused { client: ClientId, code: Code, message: String },
    /// A command failed; `again` when the transaction is tried once more.
    Failed { client: ClientId, script: ScriptId, command: u16, code: Code, message: String, again: bool },
    /// It does no more transactions.
    Aborted { client: ClientId, script: ScriptId, command: u16, reason: AbortReason },
    /// The feed of this number, whose rows are drawn once each, has none left: nothing more begins here.
    Exhausted { feed: u16 },
    /// The function `debug` was called.
    Debug { script: ScriptId, command: u16, value: Value },
}

/// Why a client cannot go on: each is a mistake of the script, which every repetition would meet again.
#[derive(Clone, Debug, PartialEq)]
pub enum AbortReason {
    /// An expression has no value; in pgbench's words.
    Expression(String),
    /// `\gset` wants one row.
    RowCount {
        got: u32,
    },
    /// A column's name with the prefix is no variable's name.
    InvalidColumnName(String),
    /// The script ended within a transaction block.
    OpenTransaction,
    /// The script ended within a pipeline.
    OpenPipeline,
    /// A pipeline was begun within a pipeline, or ended outside one.
    Pipeline,
    /// A pipeline of simple queries, each of which the server answers on its own.
    SimplePipeline,
    /// `\gset`, or with `every` `\aset`, within a pipeline.
    StoreInPipeline {
        every: bool,
    },
    /// The server does not understand the statement, and this script has never succeeded.
    PermanentError {
        code: Code,
        message: String,
    },
    Shell(String),
    /// COPY is not for scripts.
    Copy,
}
