//! Schedule of arrivals.

use crate::plan::{ThinkTime, UserStage};
use crate::{Nanos, PerSecond, ScriptId, Spacing};
use std::ops::Add;
use std::sync::Arc;

/// Schedule of transactions: the condition for the start of the next transaction.
#[derive(Clone, Debug, PartialEq)]
pub enum Schedule {
    /// Closed model: a client's next transaction starts `think` after the end of the client's previous transaction.
    Closed { think: Nanos },
    /// Closed model with users that arrive and leave, with think time and pacing.
    Users(UserRamp),
    /// Open model: transactions start at the times of the curve, regardless of responses.
    Open { curve: Curve, spacing: Spacing },
    /// Open model with several curves at once.
    Streams(Vec<Stream>),
    /// Open model in which each transaction has a time and a row of a feed.
    Listed(Arc<ArrivalList>),
    /// Sessions of a recording, whose requests are sent at their recorded times. `duration` is the time from the start
    /// of the recording to its end, divided by the speed.
    Recorded { duration: Nanos },
}

/// Number of users over time, with their think time and pacing.
#[derive(Clone, Debug, PartialEq)]
pub struct UserRamp {
    /// Consecutive stages; their total duration is the window.
    pub stages: Vec<UserStage>,
    /// Time from the end of a user's transaction to the start of the user's next transaction.
    pub think: ThinkTime,
    /// Minimum time between the starts of two consecutive transactions of a user.
    pub pacing: Option<Nanos>,
    /// Maximum rate of transactions per second of all users together, above 0.
    pub rate_max: Option<PerSecond>,
}

impl UserRamp {
    /// Total duration of all stages.
    pub fn duration(&self) -> Nanos {
        self.stages.iter().map(|it| it.duration).fold(Nanos::ZERO, Nanos::add)
    }

    /// Maximum number of simultaneous users.
    pub fn peak(&self) -> u32 {
        self.stages.iter().map(|it| it.users).max().unwrap_or(0)
    }
}

/// Arrivals of one operation, or of all operations without a separate schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    pub curve: Curve,
    pub spacing: Spacing,
    /// Script that the arrivals run; `None` draws a script by weight for each arrival.
    pub script: Option<ScriptId>,
}

/// Arrivals in time order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArrivalList {
    /// Duration of the window. All arrivals are earlier.
    pub duration: Nanos,
    pub arrivals: Vec<ListedArrival>,
}

/// Transaction with its time and its row. Long logs have millions of them, so a row number has only four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedArrival {
    pub at: Nanos,
    pub row: u32,
    pub script: ScriptId,
}

impl Schedule {
    /// Duration of the arrivals or users; `None` if the schedule does not determine it.
    pub fn duration(&self) -> Option<Nanos> {
        match self {
            Schedule::Closed { .. } => None,
            Schedule::Users(it) => Some(it.duration()),
            Schedule::Open { curve, .. } => Some(curve.duration()),
            Schedule::Listed(list) => Some(list.duration),
            Schedule::Recorded { duration } => Some(*duration),
            Schedule::Streams(all) => {
                Some(all.iter().map(|it| it.curve.duration()).max().unwrap_or(Nanos::ZERO))
            }
        }
    }
}

/// Arrival rate over time.
#[derive(Clone, Debug, PartialEq)]
pub enum Curve {
    /// Linear change from one rate to another. Equal rates mean a constant load; two rates of 0 mean a pause.
    Ramp { from: PerSecond, to: PerSecond, duration: Nanos },
    /// Curves that follow one another.
    Chain(Vec<Curve>),
}

impl Curve {
    /// Total duration of the curve.
    pub fn duration(&self) -> Nanos {
        match self {
            Curve::Ramp { duration, .. } => *duration,
            Curve::Chain(parts) => parts.iter().map(Curve::duration).fold(Nanos::ZERO, Nanos::add),
        }
    }
}
