//! Schedule of arrivals.

use crate::plan::{ThinkTime, UserStage};
use crate::{Nanos, PerSecond, ScriptId, Spacing};
use std::ops::Add;

/// Condition that starts the next transaction.
#[derive(Clone, Debug, PartialEq)]
pub enum Schedule {
    /// End of the client's previous transaction, plus `think`.
    Closed { think: Nanos },
    /// Closed model with users that arrive and leave, with think time and pacing.
    Users(UserRamp),
    /// Time of the curve, regardless of responses.
    Open { curve: Curve, spacing: Spacing },
    /// Several curves at once.
    Streams(Vec<Stream>),
}

/// Number of users over time, and their think time and pacing.
#[derive(Clone, Debug, PartialEq)]
pub struct UserRamp {
    /// Consecutive stages; their total is the window.
    pub stages: Vec<UserStage>,
    /// Time from the end of a transaction to the user's next one.
    pub think: ThinkTime,
    /// Minimum time from one start to the same user's next one.
    pub pacing: Option<Nanos>,
    /// Maximum transactions per second of all users together, above 0.
    pub rate_max: Option<PerSecond>,
}

impl UserRamp {
    /// Time from the first stage's start to the last one's end.
    pub fn duration(&self) -> Nanos {
        self.stages.iter().map(|it| it.duration).fold(Nanos::ZERO, Nanos::add)
    }

    /// Maximum number of simultaneous users.
    pub fn peak(&self) -> u32 {
        self.stages.iter().map(|it| it.users).max().unwrap_or(0)
    }
}

/// Arrivals of one operation, or of all operations without a schedule of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    pub curve: Curve,
    pub spacing: Spacing,
    /// Script of the arrivals; `None` draws one by weight for each arrival.
    pub script: Option<ScriptId>,
}

impl Schedule {
    /// Duration of the arrivals or users; `None` if the schedule does not determine it.
    pub fn duration(&self) -> Option<Nanos> {
        match self {
            Schedule::Closed { .. } => None,
            Schedule::Users(it) => Some(it.duration()),
            Schedule::Open { curve, .. } => Some(curve.duration()),
            Schedule::Streams(all) => {
                Some(all.iter().map(|it| it.curve.duration()).max().unwrap_or(Nanos::ZERO))
            }
        }
    }
}

/// Arrival rate over time.
#[derive(Clone, Debug, PartialEq)]
pub enum Curve {
    /// Linear change from one rate to another; constant if they are equal, a pause if both are 0.
    Ramp { from: PerSecond, to: PerSecond, duration: Nanos },
    /// Consecutive curves.
    Chain(Vec<Curve>),
}

impl Curve {
    /// Time from the first ramp's start to the last one's end.
    pub fn duration(&self) -> Nanos {
        match self {
            Curve::Ramp { duration, .. } => *duration,
            Curve::Chain(parts) => parts.iter().map(Curve::duration).fold(Nanos::ZERO, Nanos::add),
        }
    }
}
