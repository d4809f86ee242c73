//! Events of the load, in the form in which agents send them
//!
//! The crate `load` has no serialised form, so these types repeat its definitions; the compiler checks that they agree.

use load::script::Value;
use load::{AbortReason, ClientStep, LoadEvent};
use model::message::Message;
use model::{ClientId, Code, ScriptId};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SentEvent(#[serde(with = "EventForm")] pub LoadEvent);

#[derive(Serialize, Deserialize)]
#[serde(remote = "LoadEvent", rename_all = "snake_case")]
enum EventForm {
    Refused {
        client: ClientId,
        code: Code,
        message: String,
    },
    Failed {
        client: ClientId,
        script: ScriptId,
        command: u16,
        code: Code,
        message: String,
        body: Vec<u8>,
        again: bool,
    },
    Notice {
        client: ClientId,
        message: String,
    },
    Aborted {
        client: ClientId,
        script: ScriptId,
        command: u16,
        #[serde(with = "ReasonForm")]
        reason: AbortReason,
    },
    Exhausted {
        feed: u16,
    },
    Debug {
        script: ScriptId,
        command: u16,
        #[serde(with = "ValueForm")]
        value: Value,
    },
    Step {
        client: ClientId,
        #[serde(with = "StepForm")]
        step: ClientStep,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ClientStep", rename_all = "snake_case")]
enum StepForm {
    Begin { script: ScriptId },
    Send { statement: String },
    Receive,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "AbortReason", rename_all = "snake_case")]
enum ReasonForm {
    Expression(Message),
    RowCount { got: u32 },
    InvalidColumnName(String),
    OpenTransaction,
    OpenPipeline,
    Pipeline,
    SimplePipeline,
    StoreInPipeline { every: bool },
    PermanentError { code: Code, message: String },
    Shell(Message),
    Copy,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Value", rename_all = "snake_case")]
enum ValueForm {
    Null,
    Bool(bool),
    Int(i64),
    /// Serialised by its bits, because JSON has neither infinity nor NaN.
    Double(#[serde(serialize_with = "write_bits", deserialize_with = "read_bits")] f64),
}

fn write_bits<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    value.to_bits().serialize(serializer)
}

fn read_bits<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    u64::deserialize(deserializer).map(f64::from_bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_arrive_unchanged() {
        let (client, script) = (ClientId(3), ScriptId(1));
        for event in [
            LoadEvent::Refused { client, code: Code::REFUSED, message: "no".into() },
            LoadEvent::Failed {
                client,
                script,
                command: 2,
                code: Code::SqlState(*b"40001"),
                message: "again".into(),
                body: vec![0, 255],
                again: true,
            },
            LoadEvent::Aborted { client, script, command: 0, reason: AbortReason::RowCount { got: 2 } },
            LoadEvent::Exhausted { feed: 1 },
            LoadEvent::Step { client, step: ClientStep::Send { statement: "SELECT 'ж'".into() } },
            LoadEvent::Step { client, step: ClientStep::Begin { script } },
            LoadEvent::Step { client, step: ClientStep::Receive },
            LoadEvent::Debug { script, command: 1, value: Value::Double(-0.125) },
            LoadEvent::Debug { script, command: 1, value: Value::Double(f64::INFINITY) },
        ] {
            let text = serde_json::to_string(&SentEvent(event.clone())).expect("plain data");
            let SentEvent(read) = serde_json::from_str(&text).expect("it was written");
            assert_eq!(read, event);
        }
    }
}
