//! Messages between agents and their coordinator
//!
//! All subjects begin with `pgdyno.`. Each message is one JSON document; assignments and reports are split into chunks.
//! Agents and coordinator must be the same build, so that the same plan yields the same arrivals; the version in the
//! announcement is compared before a lease.

use crate::interval::{SentHistogram, SentInterval};
use model::message::Message;
use model::{Nanos, ThreadUsage};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Subject at which all agents answer with their [`Announcement`].
pub const DISCOVER: &str = "pgdyno.discover";

/// Time without a heartbeat after which an agent stops its load, and after which the coordinator gives up an agent.
pub const SILENCE_MAX: Nanos = Nanos::from_secs(3);

/// Time between two heartbeats to one of `agents` agents: a coordinator sends at most about a thousand per second.
pub fn heartbeat_period(agents: u16) -> Nanos {
    Nanos::from_millis(u64::from(agents).clamp(200, 1000))
}

/// Maximum number of bytes of an assignment in one chunk.
pub const CHUNK: usize = 512 << 10;

/// Subject of the requests to one agent.
pub fn agent_subject(agent: &str) -> String {
    format!("pgdyno.agent.{agent}.request")
}

/// Subject of the heartbeats to one agent.
pub fn heartbeat_subject(agent: &str) -> String {
    format!("pgdyno.agent.{agent}.heartbeat")
}

/// Subject at which the coordinator answers with chunks of the assignments of a lease.
pub fn chunk_subject(lease: &str) -> String {
    format!("pgdyno.lease.{lease}.chunk")
}

/// Subject at which the coordinator takes the reports of agent number `agent` of a lease.
pub fn report_subject(lease: &str, agent: u16) -> String {
    format!("pgdyno.lease.{lease}.report.{agent}")
}

/// Capabilities of an agent, and its current lease.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Announcement {
    /// Unique identifier, one word of a NATS subject.
    pub agent: String,
    pub version: String,
    pub host: String,
    /// Identifier of the running system. Agents with the same one share a machine.
    pub machine: String,
    pub pid: u32,
    pub cpus: u32,
    /// Maximum number of open files; `None` for no limit.
    pub files: Option<u64>,
    /// Number of local ports for connections to one address.
    pub ports: u32,
    /// Timer lateness of the idle agent at the 99th percentile; `None` with too few samples.
    pub jitter: Option<Nanos>,
    pub drivers: Vec<String>,
    pub labels: BTreeMap<String, String>,
    /// Hosts that the agent loads.
    pub allow: Vec<String>,
    /// Coordinator that has leased the agent.
    pub leased_by: Option<String>,
    /// True if several agents have this identifier. Only the receiver of announcements sets it.
    #[serde(skip)]
    pub duplicate: bool,
}

/// Request to one agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum AgentRequest {
    /// Reserves the agent. `key` is the coordinator's half of the key agreement.
    Lease {
        lease: String,
        coordinator: String,
        version: String,
        key: String,
    },
    /// Begins a trial: the agent fetches the assignment, connects its clients and waits for the start.
    Assign(Assign),
    /// Begins the window at this time of the agent's clock.
    Start {
        lease: String,
        trial: u32,
        at: Nanos,
    },
    /// Ends the window. With `abandon`, transactions in flight are cancelled.
    Stop {
        lease: String,
        trial: u32,
        abandon: bool,
    },
    Release {
        lease: String,
    },
}

/// Trial of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assign {
    pub lease: String,
    pub trial: u32,
    /// Number of this agent among `agents` agents, from 0.
    pub agent: u16,
    pub agents: u16,
    /// Lengths of the assignment's documents, in bytes. The number of the first one is `first_document`.
    pub documents: Vec<u64>,
    pub first_document: u32,
}

/// Answer of an agent to a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum AgentAnswer {
    /// The agent is leased. `key` is its half of the key agreement.
    Leased {
        key: String,
    },
    /// Another coordinator has leased the agent.
    Busy {
        coordinator: String,
    },
    /// The agent is another build.
    OtherVersion {
        version: String,
    },
    Accepted,
    /// The time of the start was in the past, so the agent begins late.
    Late {
        late: Nanos,
    },
    /// The lease or trial is not the agent's.
    NotLeased,
}

/// Heartbeat of the coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    pub lease: String,
}

/// Answer of an agent to a heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pulse {
    /// Reading of the agent's clock.
    pub now: Nanos,
    /// False if the agent is not leased by the sender, for example because it heard nothing for [`SILENCE_MAX`].
    pub leased: bool,
}

/// Request of an agent for a part of its assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkRequest {
    pub agent: u16,
    pub document: u32,
    pub chunk: u64,
}

/// Report of an agent about trial `trial`. `E` is the type of an event, `I` that of an interval.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report<E, I = Box<SentInterval>> {
    pub trial: u32,
    pub body: ReportBody<E, I>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportBody<E, I = Box<SentInterval>> {
    /// All clients were connected or refused.
    Settled {
        connected: u32,
    },
    /// The trial cannot take place.
    Failed(Message),
    /// The load ended before the window began.
    Stopped,
    /// Measurement of one second. Times are relative to the start of the window. `cpu` is the CPU time of the agent's
    /// process in this second.
    Second {
        interval: I,
        cpu: Nanos,
    },
    /// Measurement of the last, partial second.
    Rest(I),
    Event(E),
    /// The load has ended. Nothing follows.
    Done(Box<AgentMeasurement>),
}

impl<E, I> ReportBody<E, I> {
    /// Converts the interval of a report; `None` if `convert` returns none.
    pub fn with_interval<T>(self, convert: impl FnOnce(I) -> Option<T>) -> Option<ReportBody<E, T>> {
        Some(match self {
            ReportBody::Settled { connected } => ReportBody::Settled { connected },
            ReportBody::Failed(reason) => ReportBody::Failed(reason),
            ReportBody::Stopped => ReportBody::Stopped,
            ReportBody::Second { interval, cpu } => ReportBody::Second { interval: convert(interval)?, cpu },
            ReportBody::Rest(interval) => ReportBody::Rest(convert(interval)?),
            ReportBody::Event(event) => ReportBody::Event(event),
            ReportBody::Done(measurement) => ReportBody::Done(measurement),
        })
    }
}

/// Measurement of a whole window besides its intervals, as in `model::Measurement`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AgentMeasurement {
    pub window: Nanos,
    pub clients: Vec<u64>,
    pub thread_usage: Vec<ThreadUsage>,
    pub connect_time: Nanos,
    pub aborted_clients: u32,
    pub jitter: SentHistogram,
    pub suspended: Nanos,
    pub steal_time: Option<Nanos>,
    pub exhausted_connects: u64,
}

/// Bytes of a message.
pub fn to_bytes(message: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(message).expect("plain data can be serialised")
}

/// Message in these bytes; `None` if they are none.
pub fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    serde_json::from_slice(bytes).ok()
}
