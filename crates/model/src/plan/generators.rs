//! Agents that generate the load instead of pgdyno itself.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Number of agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AgentCount {
    /// Constant number, at least 1.
    Fixed(u16),
    /// One agent at first. Idle agents are added while the agents limit the load.
    Auto(AutoKeyword),
}

/// The word `auto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AutoKeyword {
    Auto,
}

impl AgentCount {
    pub const AUTO: AgentCount = AgentCount::Auto(AutoKeyword::Auto);

    /// Number of agents of the first trial.
    pub fn first(self) -> u16 {
        match self {
            AgentCount::Fixed(count) => count,
            AgentCount::Auto(_) => 1,
        }
    }
}

impl Default for AgentCount {
    fn default() -> AgentCount {
        AgentCount::Fixed(1)
    }
}

/// Agents on other machines that generate the load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generators {
    pub agents: AgentCount,
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
