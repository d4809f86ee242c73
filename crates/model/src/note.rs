//! Notes about a run or a trial

use crate::message;
use crate::message::Message;
use serde::{Deserialize, Serialize};

/// Note about a trial or about the whole run, such as a note about a missing privilege of a probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Subject of the note: a node, probe, operation or stop rule.
    pub subject: Message,
    pub message: Message,
}

/// Fact that was too long to be stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OmittedFact {
    /// Kind of the fact.
    pub kind: String,
    /// Length of its payload.
    pub bytes: u64,
}

impl From<OmittedFact> for Note {
    fn from(OmittedFact { kind, bytes }: OmittedFact) -> Note {
        let message = message!("note-omitted", mebibytes = bytes >> 20);
        Note { subject: Message::text(kind), message }
    }
}
