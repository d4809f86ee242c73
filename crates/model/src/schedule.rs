//! When arrivals are wanted.

use crate::plan::{ThinkTime, UserStage};
use crate::{Nanos, PerSecond, ScriptId};
use std::ops::Add;

/// What makes the next transaction start.
#[derive(Clone, Debug, PartialEq)]
pub enum Schedule {
    /// The end of the client's previous one, plus `think`.
    Closed { think: Nanos },
    /// The same for users who come and leave, and behave as users do.
    Users(UserRamp),
    /// A moment, whether or not anything has been answered.
    Open { curve: Curve, spacing: Spacing },
    /// The same by several curves at once.
    Streams(Vec<Stream>),
}

/// How many users there are, and what each waits for.
#[derive(Clone, Debug, PartialEq)]
pub struct UserRamp {
    /// One after the other; the window is as long as all of them.
    pub stages: Vec<UserStage>,
    /// From a transaction's end to the user's next one.
    pub think: ThinkTime,
    /// From one start to the same user's next one at least.
    pub pacing: Option<Nanos>,
    /// Transactions that all users together begin in a second, above 0.
    pub rate_max: Option<PerSecond>,
}

impl UserRamp {
    /// From the first stage's begin to the last one's end.
    pub fn duration(&self) -> Nanos {
        self.stages.iter().map(|it| it.duration).fold(Nanos::ZERO, Nanos::add)
    }

    /// Users who are there at the same time, at most.
    pub fn peak(&self) -> u32 {
        self.stages.iter().map(|it| it.users).max().unwrap_or(0)
    }
}

/// Arrivals of one operation, or of all that have none of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    pub curve: Curve,
    pub spacing: Spacing,
    /// `None`: drawn by weight for each arrival.
    pub script: Option<ScriptId>,
}

impl Schedule {
    /// How long it brings arrivals, or has users; `None` where it does not say.
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

/// A rate over time.
#[derive(Clone, Debug, PartialEq)]
pub enum Curve {
    /// From one rate to another, linearly; constant when they are equal; a pause when both are 0.
    Ramp { from: PerSecond, to: PerSecond, duration: Nanos },
    /// One after the other.
    Chain(Vec<Curve>),
}

impl Curve {
    /// From the first ramp's begin to the last one's end.
    pub fn duration(&self) -> Nanos {
        match self {
            Curve::Ramp { duration: lasting, .. } => *lasting,
            Curve::Chain(parts) => parts.iter().map(Curve::duration).fold(Nanos::ZERO, Nanos::add),
        }
    }
}

/// How arrivals lie within the curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// In each ramp, the n-th arrival (from 0) at the moment at which the ramp's integral reaches n. As Yandex.Tank
    /// counts: a ramp begins with an arrival and has as many as the whole part of its integral.
    Even,
    /// A Poisson process whose intensity is the curve: independent users.
    Poisson,
}
