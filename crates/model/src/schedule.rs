//! When arrivals are wanted.

use crate::{Nanos, PerSecond};
use std::ops::Add;

/// What makes the next transaction start.
#[derive(Clone, Debug, PartialEq)]
pub enum Schedule {
    /// The end of the client's previous one, plus `think`.
    Closed { think: Nanos },
    /// A moment, whether or not anything has been answered.
    Open { curve: Curve, spacing: Spacing },
}

/// A rate over time.
#[derive(Clone, Debug, PartialEq)]
pub enum Curve {
    /// From one rate to another, linearly; constant when they are equal; a pause when both are 0.
    Ramp { from: PerSecond, to: PerSecond, lasting: Nanos },
    /// One after the other.
    Chain(Vec<Curve>),
}

impl Curve {
    /// From the first ramp's begin to the last one's end.
    pub fn lasting(&self) -> Nanos {
        match self {
            Curve::Ramp { lasting, .. } => *lasting,
            Curve::Chain(parts) => parts.iter().map(Curve::lasting).fold(Nanos::ZERO, Nanos::add),
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
