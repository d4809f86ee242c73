//! Part of one agent in a measurement.

use crate::Nanos;
use crate::message::Message;
use serde::{Deserialize, Serialize};

/// Part of one agent in a measurement by several agents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentPart {
    /// Identifier of the agent.
    pub agent: String,
    pub host: String,
    pub threads: u16,
    /// Number of successful transactions, and of all arrivals.
    pub ok: u64,
    pub arrivals: u64,
    /// 99th percentile of the response times, and of the send lag; `None` with too few samples.
    #[serde(rename = "p99_ns")]
    pub p99: Option<Nanos>,
    #[serde(rename = "send_lag_ns")]
    pub send_lag: Option<Nanos>,
    /// Share of the window in which the agent's busiest thread worked, 0..=1; `None` if the agent was lost.
    pub busy: Option<f64>,
    /// 99th percentile of the timer lateness of the agent's host; `None` with too few samples.
    #[serde(rename = "jitter_ns")]
    pub jitter: Option<Nanos>,
    /// Maximum error of the offset between the agent's clock and the coordinator's clock during the trial. The window of
    /// the agent began that much earlier or later at most. `None` if the offset is unknown.
    #[serde(rename = "clock_uncertainty_ns")]
    pub clock_uncertainty: Option<Nanos>,
    /// Time by which the agent learned too late when the window begins.
    #[serde(rename = "late_ns")]
    pub late: Nanos,
    /// Reason why the agent did not complete its part; `None` if it did.
    pub lost: Option<Message>,
}
