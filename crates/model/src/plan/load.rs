//! How is the system loaded?

use crate::{Nanos, Spacing};
use serde::{Deserialize, Serialize};

/// How the system is loaded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    pub model: LoadModel,
    /// What is measured; `None` where the schedule says it.
    pub duration: Option<Nanos>,
    /// The same load before it, which is not measured.
    pub warmup: Nanos,
    /// Threads of the generator, at least 1.
    pub threads: u16,
    pub query_mode: crate::summary::QueryMode,
    /// Each transaction opens a connection of its own.
    #[serde(rename = "connect_each")]
    pub reconnect: bool,
    /// A connection that takes longer to open, its log-in included, is given up; 30 s when `None`.
    #[serde(default)]
    pub connect_timeout: Option<Nanos>,
    /// A service's answer that has not begun so long after its request was to leave is given up.
    #[serde(default)]
    pub first_byte_timeout: Option<Nanos>,
    /// Each client keeps the cookies that a service sets, and sends them back.
    #[serde(default)]
    pub cookies: bool,
    /// A transaction that takes longer from its send is given up, and its connection closed.
    pub timeout: Option<Nanos>,
    /// Tries where a serialization failure or deadlock allows another; 1: no retry.
    pub max_tries: u16,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadModel {
    /// So many clients from begin to end.
    Closed { clients: u32, think: Nanos },
    /// The closed model where it says more: how many users there are at a time, and how they behave.
    Users {
        /// One after the other, at least one; [`Load::duration`] is as long as all of them.
        stages: Vec<UserStage>,
        /// From a transaction's end to the user's next one.
        think: ThinkTime,
        /// From one start to the same user's next one at least; the longer of both waits counts.
        pacing: Option<Nanos>,
        /// Transactions per second of all users together, above 0: a start waits for its turn.
        rate_max: Option<f64>,
    },
    Open {
        /// In Yandex.Tank's grammar.
        schedule: String,
        #[serde(with = "crate::summary::spacing")]
        arrivals: Spacing,
        /// Clients, each with one transaction at a time.
        max_in_flight: u32,
    },
}

/// A time with so many users.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserStage {
    pub users: u32,
    /// Users per second, above 0, that come until there are so many, or that leave after their transaction where there
    /// were more; all at once when `None`.
    pub spawn_rate: Option<f64>,
    /// Until the next stage begins: those that come or leave within it.
    #[serde(rename = "lasting")]
    pub duration: Nanos,
}

/// What a user's pause is drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkTime {
    Constant(Nanos),
    Exponential {
        mean: Nanos,
    },
    /// The exponential of a normal distribution whose mean is the median's logarithm.
    LogNormal {
        median: Nanos,
        /// The normal distribution's standard deviation: 0.5 has 95 % of all between 0.38 and 2.7 medians.
        sigma: f64,
    },
}

impl ThinkTime {
    pub const NONE: ThinkTime = ThinkTime::Constant(Nanos::ZERO);
}

impl LoadModel {
    /// Transactions that can be under way at once: clients, or what may be in flight.
    pub fn clients(&self) -> u32 {
        match self {
            LoadModel::Closed { clients, .. } => *clients,
            LoadModel::Users { stages, .. } => stages.iter().map(|it| it.users).max().unwrap_or(1).max(1),
            LoadModel::Open { max_in_flight, .. } => *max_in_flight,
        }
    }

    /// Arrivals do not wait for answers.
    pub fn is_open(&self) -> bool {
        matches!(self, LoadModel::Open { .. })
    }
}
