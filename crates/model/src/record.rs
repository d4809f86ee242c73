//! Record of one arrival and its outcome.

use crate::{Code, Nanos};
use serde::{Deserialize, Serialize};

/// Index of a script in the mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ScriptId(pub u16);

/// Index of a client in the run, over all threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ClientId(pub u32);

/// Outcome of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Acknowledged: ReadyForQuery without an error.
    Ok,
    /// Failed: the server rejected the transaction, or no connection was opened. It has no effect.
    Failed(Code),
    /// Unknown: the connection broke after the request was sent, so the transaction may have had an effect.
    Unknown(Code),
    /// Dropped: never sent, for example because the backlog was full or the latency limit had passed.
    Dropped,
}

/// Arrival with its outcome. Times are readings of the run's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    pub script: ScriptId,
    pub client: ClientId,
    pub outcome: Outcome,
    /// Intended start: the time at which the arrival was due. In a closed model, it is the time at which the client
    /// became ready.
    pub intended: Nanos,
    /// Time at which the first byte was passed to the kernel; equals `finished` for `Dropped`.
    pub started: Nanos,
    /// Time at which the outcome was known.
    pub finished: Nanos,
    /// Number of attempts, at least 1 unless dropped. Only serialization failures and deadlocks cause further attempts.
    pub tries: u16,
}

impl Record {
    /// Response time: from the intended start to the outcome, as a user experiences it.
    pub fn response(&self) -> Nanos {
        self.finished - self.intended
    }

    /// Service time: from sending to the outcome.
    pub fn service(&self) -> Nanos {
        self.finished - self.started
    }
}
