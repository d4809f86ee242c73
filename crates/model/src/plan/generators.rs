//! Agents that generate the load instead of pgdyno itself.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Agents on other machines that generate the load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generators {
    /// Number of agents, at least 1.
    pub agents: u16,
    /// Address of the NATS servers without a password; `None` for the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nats: Option<String>,
    /// Values of labels that agents must have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub select: BTreeMap<String, Vec<String>>,
    /// True if a temporary NATS server and the agents are started on this machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub local: bool,
}
