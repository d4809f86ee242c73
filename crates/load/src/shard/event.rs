//! Events that are reported to the user during a run

use crate::script::Value;
use model::message::Message;
use model::{ClientId, Code, ScriptId};

/// Event of a client, reported once per kind unless the plan is verbose.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadEvent {
    /// A client could not connect; `message` is the text of the server or of the operating system.
    Refused { client: ClientId, code: Code, message: String },
    /// A command failed; `again` is true if the transaction is retried. `body` is the beginning of the HTTP response's
    /// body; empty without a response.
    Failed {
        client: ClientId,
        script: ScriptId,
        command: u16,
        code: Code,
        message: String,
        body: Vec<u8>,
        again: bool,
    },
    /// The server sent a message about a transaction that is no error, such as a warning.
    Notice { client: ClientId, message: String },
    /// A client begins no further transactions.
    Aborted { client: ClientId, script: ScriptId, command: u16, reason: AbortReason },
    /// A feed whose rows are drawn only once has no row left, so no further transaction begins.
    Exhausted { feed: u16 },
    /// The function `debug` was called.
    Debug { script: ScriptId, command: u16, value: Value },
    /// A client took a step. Reported only if the plan reports steps.
    Step { client: ClientId, step: ClientStep },
}

/// Step of a client's transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientStep {
    /// The script begins, also for another try.
    Begin { script: ScriptId },
    /// A statement is sent, with the values of its variables.
    Send { statement: String },
    /// The whole result of a statement was received.
    Receive,
}

/// Reason why a client cannot continue: an error in the script, which would recur in every transaction.
#[derive(Clone, Debug, PartialEq)]
pub enum AbortReason {
    /// An expression cannot be evaluated.
    Expression(Message),
    /// The statement before `\gset` did not return exactly one row.
    RowCount { got: u32 },
    /// The prefix and the column's name together are not a valid variable name.
    InvalidColumnName(String),
    /// The script ended within a transaction block.
    OpenTransaction,
    /// The script ended within a pipeline.
    OpenPipeline,
    /// A pipeline was started within a pipeline, or ended outside of a pipeline.
    Pipeline,
    /// A pipeline contained simple queries, which the server answers one by one.
    SimplePipeline,
    /// The script has `\gset`, or `\aset` if `every` is true, within a pipeline.
    StoreInPipeline { every: bool },
    /// The server rejects the statement in every transaction, and no transaction of the script has succeeded.
    PermanentError { code: Code, message: String },
    /// A shell command failed.
    Shell(Message),
    /// The script contains COPY, which is not supported.
    Copy,
}
