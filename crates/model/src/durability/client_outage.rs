//! Periods in which clients of one kind were not served

use crate::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest period around a fault in which no client of one kind was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClientOutage {
    /// Number of the fault.
    pub fault: usize,
    #[serde(default)]
    pub client: ClientKind,
    #[serde(default)]
    pub access: AccessKind,
    /// Start of the longest period without a success that contains the fault or lies between the fault and the next
    /// fault. If no success ends the period, it ends with the load.
    #[serde(rename = "from_ns", alias = "from")]
    pub from: Nanos,
    #[serde(rename = "to_ns", alias = "to")]
    pub to: Nanos,
    /// Longest period without a success before the first fault. A period of this length is usual for this load.
    #[serde(rename = "usual_ns", default)]
    pub usual: Nanos,
    /// True if no success ended the period, so that the outage may have lasted longer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ongoing: bool,
}

/// Kind of a client, by its connections.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ClientKind {
    /// Client that opens a connection for each transaction.
    New,
    /// Client that keeps its connection until the connection breaks or times out.
    #[default]
    Connected,
}

/// Kind of access that a client needs.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum AccessKind {
    #[default]
    Write,
    Read,
}

/// Shortest outage: two attempts of a new client, which opens a connection every 50 ms.
const OUTAGE_MIN: Nanos = Nanos::from_millis(100);

impl ClientOutage {
    /// Length of the outage; zero if the period is not clearly longer than those before the first fault.
    pub fn duration(&self) -> Nanos {
        let duration = self.to - self.from;
        let is_outage = duration > OUTAGE_MIN && duration.0 > self.usual.0.saturating_mul(2);
        if is_outage { duration } else { Nanos::ZERO }
    }

    /// True if the outage had not ended at the end of the load. Its duration is then a lower bound.
    pub fn is_ongoing(&self) -> bool {
        self.ongoing && self.duration() > Nanos::ZERO
    }
}
