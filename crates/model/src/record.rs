//! What came of one arrival.

use crate::{Code, Nanos};

/// Which script of the mix, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScriptId(pub u16);

/// Which client of the run, counted from 0 over all threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientId(pub u32);

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Acknowledged: ReadyForQuery came, without an error.
    Ok,
    /// The server refused it; it has no effect.
    Failed(Code),
    /// The connection broke after the request left; its effect may or may not exist.
    Unknown(Code),
    /// Never sent: the backlog was full, or the latency limit had passed before its turn.
    Dropped,
}

/// One arrival and what came of it. All moments are of the run's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    pub script: ScriptId,
    pub client: ClientId,
    pub outcome: Outcome,
    /// When it was due. In a closed model: when its client was ready for it.
    pub intended: Nanos,
    /// When its first byte was handed to the kernel; equals `finished` for `Dropped`.
    pub started: Nanos,
    /// When its outcome was known.
    pub finished: Nanos,
    /// Attempts made, at least 1 unless dropped; more only when serialization failures or deadlocks are retried.
    pub tries: u16,
}

impl Record {
    /// From the intended start to the outcome: what a user waits.
    pub fn response(&self) -> Nanos {
        self.finished - self.intended
    }

    /// From the send to the outcome: what the server takes.
    pub fn service(&self) -> Nanos {
        self.finished - self.started
    }
}
